//! A small office suite: a text with a table, and a spreadsheet that can be launched.

use deskhand_ui::{ElementCapability, Role, State};

use crate::{
    desktop::FakeDesktop,
    plan::{Behaviour, FakeApp, FakeElement, FakeWindow},
    sheet::FakeSheet,
};

/// The rows of the table “Sales” in the text of [`office`].
pub const OFFICE_SALES: [[&str; 3]; 5] = [
    ["Region", "2024", "2025"],
    ["North", "1200", "1350"],
    ["South", "980", "1105"],
    ["East", "1430", "1290"],
    ["West", "760", "940"],
];

fn menu(name: &str, items: impl IntoIterator<Item = FakeElement>) -> FakeElement {
    FakeElement::new(Role::MENU, name).children(items)
}

fn item(name: &str, behaviour: Behaviour) -> FakeElement {
    FakeElement::new(Role::MENU_ITEM, name).on_click(behaviour)
}

fn button(name: &str, behaviour: Behaviour) -> FakeElement {
    FakeElement::new(Role::PUSH_BUTTON, name).on_click(behaviour)
}

fn save_dialog() -> FakeWindow {
    let save = Behaviour::Save { entry: "file name".into(), title: "{file} — LibreOffice Calc".into() };
    FakeWindow::dialog("Save As")
        .elements([
            FakeElement::new(Role::LABEL, "Name:"),
            FakeElement::new(Role::ENTRY, "Name:").key("file name"),
            button("Save", save.after(120)).key("save"),
            button("Cancel", Behaviour::CloseWindow),
        ])
        .focus("file name")
        .default_button("save")
}

fn chart_wizard() -> FakeWindow {
    let types = ["Column", "Bar", "Pie", "Area", "Line"];
    let items = types.iter().map(|name| FakeElement::new(Role::LIST_ITEM, name));
    let finish = Behaviour::All(vec![
        Behaviour::Enable { key: Some("chart".into()), enabled: true },
        Behaviour::Rename { key: Some("chart".into()), name: "Chart 1".into() },
        Behaviour::CloseWindow,
    ]);
    FakeWindow::dialog("Chart Type").elements([
        FakeElement::new(Role::LIST, "Choose a Chart Type").children(items),
        button("Next >", Behaviour::Nothing),
        button("Finish", finish),
        button("Cancel", Behaviour::CloseWindow),
    ])
}

fn calc_window(sheet: FakeSheet) -> FakeWindow {
    let mut name_box = FakeElement::new(Role::ENTRY, "Name Box").key("name box").text("A1");
    name_box.on_enter = Some(Behaviour::GoToCell { sheet: "sheet".into() });
    let sheet = FakeElement::new(Role::TABLE, "Sheet Sheet1")
        .key("sheet")
        .state(State::Focusable)
        .at(10, 300, 720, 480)
        .sheet(sheet);
    let mut chart = FakeElement::new(Role::new("embedded"), "").key("chart").disabled();
    chart.patterns = vec![ElementCapability::Action];
    FakeWindow::normal("Untitled 1 — LibreOffice Calc")
        .elements([
            FakeElement::new(Role::MENU_BAR, "").children([
                menu(
                    "File",
                    [
                        item("Open…", Behaviour::Nothing),
                        item("Save As…", Behaviour::Open(Box::new(save_dialog())).after(80)),
                    ],
                ),
                menu(
                    "Insert",
                    [
                        item("Image…", Behaviour::Nothing),
                        item("Chart…", Behaviour::Open(Box::new(chart_wizard())).after(150)),
                    ],
                ),
            ]),
            name_box,
            sheet,
            chart,
        ])
        .chord("ctrl+shift+s", Behaviour::Open(Box::new(save_dialog())).after(80))
        .focus("sheet")
}

/// A desktop with a Writer, whose text contains the table “Sales” ([`OFFICE_SALES`]; exposed as `Sales-1`, as Writer
/// does), and a Calc that can be launched as “LibreOffice Calc”. Its menu Insert › Chart… opens the dialog “Chart
/// Type”; ctrl+shift+s opens “Save As”, which writes into [`FakeDesktop::files`].
pub fn office() -> FakeDesktop {
    office_with(FakeSheet::empty(1_048_576, 16_384))
}

/// The same with a custom sheet in Calc, such as one with locked cells.
pub fn office_with(sheet: FakeSheet) -> FakeDesktop {
    let rows: Vec<&[&str]> = OFFICE_SALES.iter().map(|row| &row[..]).collect();
    let table = FakeElement::new(Role::TABLE, "Sales-1")
        .key("sales")
        .sheet(FakeSheet::of(&rows))
        .at(10, 200, 300, 100);
    let document = FakeElement::new(Role::DOCUMENT_TEXT, "sales").at(10, 100, 1000, 700).children([
        FakeElement::new(Role::HEADING, "").text("Quarterly report"),
        FakeElement::new(Role::PARAGRAPH, "").text("The sales by region:"),
        table,
    ]);
    let writer_window = FakeWindow::normal("sales.odt — LibreOffice Writer").elements([
        FakeElement::new(Role::MENU_BAR, "").children([
            menu("File", [item("Save", Behaviour::Nothing)]),
            menu("Table", [item("Properties…", Behaviour::Nothing)]),
        ]),
        document,
    ]);
    let writer = FakeApp::new("LibreOffice Writer", "libreoffice-writer", [writer_window]);
    let mut calc = FakeApp::new("LibreOffice Calc", "libreoffice-calc", [calc_window(sheet)]);
    calc.programs.extend(["libreoffice-calc".to_owned(), "localc".to_owned()]);
    calc.launch_ms = 780;
    calc.splash_ms = Some(400);
    FakeDesktop::new([writer], [calc])
}
