//! The column of LibreOffice in the table of applications: a sheet, its dialogs, and a text.

use std::time::Duration;

use deskhand_desktop::{
    DesktopResult, ElementPatterns as _, LaunchRequest, PointerChord, TreeLimits, UiTree, WindowManagement,
};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionReport, ActionTarget, Click, NewValue, TableTarget};
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_ui::{Element, ElementQuery, Role, State, geometry::Size, ids::WindowId};

use crate::{
    applications::{Column, Outcome, ROWS},
    programs::has_programs,
};

struct Office {
    desktop: LinuxDesktop,
    calc: WindowId,
    limits: ActLimits,
}

impl Office {
    async fn find(&self, fits: impl Fn(&Element) -> bool) -> Option<Element> {
        for window in self.desktop.windows().await.unwrap().into_iter().rev() {
            let tree = self.desktop.tree(window.id, TreeLimits::default()).await.unwrap_or_default();
            if let Some(found) = tree.elements.into_iter().find(|element| fits(element)) {
                return Some(found);
            }
        }
        None
    }

    /// What the element of that role and name, in the front-most window that has it, is now.
    async fn now(&self, element: &Element) -> Option<Element> {
        self.desktop.element(element.id).await.ok()
    }

    async fn keys(&self, chord: &str) {
        let chords = [chord.parse().unwrap()];
        Box::pin(act::press_keys(&self.desktop, self.calc, &chords, &self.limits)).await.unwrap();
    }

    async fn tab(&self, name: &str) -> DesktopResult<ActionReport> {
        Box::pin(act::visit(&self.desktop, self.calc, &[name.to_owned()], &self.limits)).await
    }

    /// Opens the dialog that has most kinds of controls.
    async fn format_cells(&self) {
        if !self.desktop.windows().await.unwrap().iter().any(|window| window.title == "Format Cells") {
            self.keys("ctrl+1").await;
            let title = deskhand_ui::action::Condition::TitleContains("Format Cells".into());
            Box::pin(act::wait_for(&self.desktop, self.calc, &title, Duration::from_secs(20))).await.unwrap();
        }
    }

    async fn row(&self, row: &str) -> Outcome {
        let (desktop, window, limits) = (&self.desktop, self.calc, &self.limits);
        let sheet = TableTarget::Largest;
        match row {
            "table cell range" => {
                let rows = [["East", "77"], ["Far East", "88"]].map(|row| row.map(str::to_owned).to_vec());
                let report =
                    Box::pin(act::write_table(desktop, window, &sheet, "A1".parse().unwrap(), &rows, limits))
                        .await;
                let read = Box::pin(act::read_table(desktop, window, &sheet, Some("A1:B2".parse().unwrap())))
                    .await
                    .unwrap();
                let truth = read.output["rows"] == serde_json::json!(rows);
                Outcome::of(report, truth)
            }
            "menu path" => {
                let path = ["Insert", "Chart…"].map(str::to_owned);
                let report = Box::pin(act::visit(desktop, window, &path, limits)).await;
                let windows = desktop.windows().await.unwrap();
                Outcome::of(report, windows.iter().any(|window| window.title == "Chart Type"))
            }
            "tree item" => {
                let bar = ElementQuery::new(Role::TABLE_CELL, "Bar");
                let Some((_, bar)) = Box::pin(act::find_element(desktop, window, &bar)).await.unwrap() else {
                    return Outcome::none("the chart assistant shows no kinds of charts");
                };
                let target = ActionTarget::Element { id: bar.id, name: Some(bar.name.clone()) };
                let report = Box::pin(act::click(desktop, window, &Click::once(target), limits)).await;
                let now = self.now(&bar).await;
                let truth = now.is_some_and(|now| now.states.has(State::Selected));
                if let Some((_, cancel)) = Box::pin(act::find_element(
                    desktop,
                    window,
                    &ElementQuery::new(Role::PUSH_BUTTON, "Cancel"),
                ))
                .await
                .unwrap()
                {
                    Box::pin(act::click(
                        desktop,
                        window,
                        &Click::once(ActionTarget::element(cancel.id)),
                        limits,
                    ))
                    .await
                    .unwrap();
                }
                Outcome::of(report, truth)
            }
            "drag and drop" => self.drag().await,
            "text selection" => self.text_selection().await,
            other => self.dialog_row(other).await,
        }
    }

    /// The rows that the dialog for the format of cells has.
    async fn dialog_row(&self, row: &str) -> Outcome {
        let (desktop, window, limits) = (&self.desktop, self.calc, &self.limits);
        match row {
            "tab" => {
                self.format_cells().await;
                let report = self.tab("Alignment").await;
                let tab =
                    self.find(|element| element.role == Role::PAGE_TAB && element.name == "Alignment").await;
                Outcome::of(report, tab.is_some_and(|tab| tab.states.has(State::Selected)))
            }
            "check box" => {
                self.format_cells().await;
                self.tab("Alignment").await.unwrap();
                let box_ = self
                    .find(|element| element.role == Role::CHECK_BOX && element.name.starts_with("Wrap text"))
                    .await;
                let Some(element) = box_ else { return Outcome::none("the dialog shows no check box") };
                let report =
                    Box::pin(act::set_checked(desktop, window, element.id, None, true, limits)).await;
                let now = self.now(&element).await;
                Outcome::of(report, now.is_some_and(|now| now.states.has(State::Checked)))
            }
            "combo box" => {
                self.format_cells().await;
                self.tab("Alignment").await.unwrap();
                let is_combo =
                    |element: &Element| element.role == Role::COMBO_BOX && element.states.has(State::Showing);
                match self.find(is_combo).await {
                    Some(combo) => {
                        let report = Box::pin(act::select(desktop, window, combo.id, "Center", limits)).await;
                        let now = self.now(&combo).await;
                        Outcome::of(report, now.is_some_and(|now| now.text.as_deref() == Some("Center")))
                    }
                    None => Outcome::none(
                        "LibreOffice has no combo box. Its drop-downs are toggle buttons without names; `select` chooses in them, too",
                    ),
                }
            }
            "spin button" => {
                self.format_cells().await;
                self.tab("Alignment").await.unwrap();
                let takes = |element: &Element| {
                    element.role == Role::SPIN_BUTTON
                        && element.states.takes_input()
                        && element.value.is_some()
                };
                let Some(spin) = self.find(takes).await else {
                    return Outcome::none("the dialog shows no spin button");
                };
                let new = NewValue::Number(30.0);
                let report = Box::pin(act::set_value(desktop, window, spin.id, None, &new, limits)).await;
                let now = self.now(&spin).await;
                let truth =
                    now.and_then(|now| now.value).is_some_and(|value| (value.current - 30.0).abs() < 0.5);
                Outcome::of(report, truth)
            }
            _ => {
                self.keys("Escape").await;
                let Some(slider) = self.find(|element| element.role == Role::SLIDER).await else {
                    return Outcome::none(
                        "LibreOffice shows no slider: the one for the zoom is drawn and has no element",
                    );
                };
                let new = NewValue::Number(120.0);
                let report = Box::pin(act::set_value(desktop, window, slider.id, None, &new, limits)).await;
                let now = self.now(&slider).await.and_then(|now| now.value);
                Outcome::of(report, now.is_some_and(|value| (value.current - 120.0).abs() < 0.5))
            }
        }
    }

    async fn drag(&self) -> Outcome {
        let (desktop, window, limits) = (&self.desktop, self.calc, &self.limits);
        let sheet = TableTarget::Largest;
        let (range, to) = ("A1:A2".parse().unwrap(), "D6".parse().unwrap());
        Box::pin(act::select_cells(desktop, window, &sheet, &range, limits)).await.unwrap();
        let Some((_, table)) = self.sheet().await else { return Outcome::none("the sheet does not show") };
        let from = desktop.cell(table.id, "A1".parse().unwrap()).await.unwrap();
        let to_cell = desktop.cell(table.id, to).await.unwrap();
        let (Some(from), Some(onto)) = (from.bounds, to_cell.bounds) else {
            return Outcome::none("the cells have no place on the screen");
        };
        let (from, onto) = (ActionTarget::Point(from.center()), ActionTarget::Point(onto.center()));
        let report =
            Box::pin(act::drag(desktop, window, (&from, &onto), &PointerChord::default(), limits)).await;
        let read =
            Box::pin(act::read_table(desktop, window, &sheet, Some("D6:D7".parse().unwrap()))).await.unwrap();
        Outcome::of(report, read.output["rows"] == serde_json::json!([["East"], ["Far East"]]))
    }

    async fn sheet(&self) -> Option<(WindowId, Element)> {
        let table = self.find(|element| element.table.is_some_and(|shape| shape.rows > 10_000)).await?;
        Some((self.calc, table))
    }

    async fn text_selection(&self) -> Outcome {
        let writer = open(&self.desktop, "libreoffice-writer", &self.limits).await;
        let text = "Alpha beta gamma";
        let request = act::TypeTextOptions { element: None, name: None, text: text.to_owned(), clear: false };
        Box::pin(act::type_text(&self.desktop, writer, &request, &self.limits)).await.unwrap();
        let paragraph = self.find(|element| element.text.as_deref() == Some(text)).await;
        let Some(paragraph) = paragraph else {
            return Outcome::none("the text does not show as a paragraph");
        };
        let target = (paragraph.id, None);
        let report = Box::pin(act::select_text(&self.desktop, writer, target, "beta", &self.limits)).await;
        let selected = self.desktop.text_selection(paragraph.id).await.unwrap();
        Outcome::of(report, selected == Some((6, 10)))
    }
}

async fn open(desktop: &LinuxDesktop, program: &str, limits: &ActLimits) -> WindowId {
    let request = LaunchRequest { program: program.to_owned(), arguments: Vec::new() };
    let launched = Box::pin(act::launch(desktop, &request, limits)).await.unwrap();
    launched.window.clone().unwrap_or_else(|| panic!("{}", launched.summary())).id
}

/// None where LibreOffice is not installed.
pub(crate) async fn column() -> Option<Column> {
    if !has_programs(&["soffice"]) {
        return None;
    }
    let size = Size { width: 1280, height: 900 };
    let desktop =
        LinuxDesktop::start_virtual(VirtualOptions { size, ..VirtualOptions::default() }).await.unwrap();
    let limits = ActLimits::default();
    let calc = open(&desktop, "libreoffice-calc", &limits).await;
    let office = Office { desktop, calc, limits };
    let mut column = Column::new();
    let order = [
        "table cell range",
        "menu path",
        "tree item",
        "tab",
        "check box",
        "combo box",
        "spin button",
        "slider",
        "drag and drop",
        "text selection",
    ];
    assert_eq!(order.len(), ROWS.len());
    for row in order {
        let outcome = office.row(row).await;
        println!("LibreOffice {row}: {} ({})", outcome.entry(), outcome.summary);
        column.insert(row, outcome.entry());
    }
    office.desktop.shut_down().await;
    Some(column)
}
