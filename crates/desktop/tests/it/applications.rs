//! What works on which toolkit: each row of `docs/applications.md` is done for real and compared with what the
//! application says. `UPDATE_DOCS=1` writes the page anew.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use deskhand_core::{
    command::Verdict,
    ids::ElementId,
    ui::{Element, Role, Tree},
};
use deskhand_desktop::{
    DesktopResult,
    act::{self, ActLimits, ActionReport, NewValue, TableTarget, Target},
};
use deskhand_testkit::fixture::{Screen, Toolkit};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    fixtures::{Stage, outline},
    office,
};

pub(crate) const ROWS: [&str; 10] = [
    "menu path",
    "tree item",
    "combo box",
    "tab",
    "check box",
    "slider",
    "spin button",
    "text selection",
    "table cell range",
    "drag and drop",
];

/// What came of one row: the verdict with what was told, and whether the application says that it is so.
pub(crate) struct Outcome {
    pub(crate) report: ActionReport,
    pub(crate) truth: bool,
}

impl Outcome {
    pub(crate) fn entry(&self) -> String {
        match (self.report.effect, self.truth) {
            (Verdict::Seen, true) => "works".to_owned(),
            (Verdict::Seen, false) => format!("FALSE: {}", self.report.summary),
            (verdict, _) => {
                let reason = without_ids(&self.report.summary);
                format!("{}: {reason}", verdict.word().replace('_', " "))
            }
        }
    }
}

/// A reason without what differs between two runs: numbers of elements, and times.
fn without_ids(reason: &str) -> String {
    let words = reason.split(' ').filter(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let digits = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
        let is_id = ["e", "w"].iter().any(|letter| word.strip_prefix(letter).is_some_and(digits));
        !is_id && !digits(word)
    });
    words.collect::<Vec<_>>().join(" ").replace('|', "/")
}

pub(crate) type Column = BTreeMap<&'static str, String>;

/// The application in one toolkit.
struct Form {
    stage: Stage,
    tree: Tree,
    limits: ActLimits,
}

impl Form {
    fn find(&self, fits: impl Fn(&Element) -> bool) -> Option<ElementId> {
        self.tree.elements.iter().find(|element| fits(element)).map(|element| element.id)
    }

    fn named(&self, name: &str) -> ElementId {
        let interactive = |element: &Element| element.name == name && element.role.is_interactive();
        self.find(interactive)
            .or_else(|| self.find(|element| element.name == name))
            .or_else(|| self.find(|element| element.text.as_deref() == Some(name)))
            .unwrap_or_else(|| panic!("no {name} in\n{}", outline(&self.tree)))
    }

    /// Does something and asks the application what became of `control`.
    async fn truth(
        &self,
        control: &str,
        action: impl Future<Output = DesktopResult<ActionReport>>,
        is_so: impl Fn(&Value) -> bool,
    ) -> Outcome {
        let report = action.await.unwrap_or_else(|error| {
            ActionReport::new(Verdict::Unknown, deskhand_desktop::act::Route::None, error.chain())
        });
        let state = self.stage.fixture.state().await.unwrap();
        Outcome { report, truth: is_so(&state[control]) }
    }

    async fn row(&self, row: &str, toolkit: Toolkit) -> Outcome {
        let (desktop, window, limits) = (&self.stage.desktop, self.stage.window.id, &self.limits);
        match row {
            "menu path" => {
                let path = ["Insert", "Shapes", "Square"].map(str::to_owned);
                let action = act::visit(desktop, window, &path, limits);
                self.truth("Counted", action, |value| *value == "Chosen Square").await
            }
            "tree item" => {
                let plants = self.find(|element| {
                    element.name == "Fruit"
                        && [Role::TREE_ITEM, Role::TABLE_CELL, Role::LIST_ITEM].contains(&element.role)
                });
                let Some(fruit) = plants else { return self.none("the tree shows no items").await };
                let expanded = act::expand(desktop, window, (fruit, None), true, limits).await;
                match expanded {
                    Ok(report) if report.effect == Verdict::Seen => {}
                    Ok(report) => return Outcome { report, truth: false },
                    Err(error) => return self.none(&error.chain()).await,
                }
                let tree = self.stage.tree().await;
                let apple = tree.elements.iter().find(|element| element.name == "Apple");
                let Some(apple) = apple else { return self.none("the leaves of the tree do not show").await };
                let (id, name) = (apple.id, apple.name.clone());
                let target = Target::Element { id, name: Some(name) };
                let click = act::Click::once(target);
                let action = act::click(desktop, window, &click, limits);
                self.truth("Plants", action, |value| *value == "Apple").await
            }
            "combo box" => {
                let combo = self.find(|element| element.role == Role::COMBO_BOX);
                let Some(combo) = combo else { return self.none("there is no combo box").await };
                let action = act::select(desktop, window, combo, "Large", limits);
                self.truth("Size", action, |value| *value == "Large").await
            }
            "tab" => {
                let path = ["Details".to_owned()];
                let action = act::visit(desktop, window, &path, limits);
                self.truth("Tabs", action, |value| *value == "Details").await
            }
            "check box" => {
                let action = act::set_checked(desktop, window, self.named("Agree"), None, true, limits);
                self.truth("Agree", action, |value| *value == true).await
            }
            "slider" => {
                let new = NewValue::Number(7.0);
                let action = act::set_value(desktop, window, self.named("Volume"), None, &new, limits);
                self.truth("Volume", action, |value| value.as_f64() == Some(7.0)).await
            }
            "spin button" => {
                let new = NewValue::Number(42.0);
                let action = act::set_value(desktop, window, self.named("Amount"), None, &new, limits);
                self.truth("Amount", action, |value| value.as_f64() == Some(42.0)).await
            }
            "text selection" => {
                let notes = self.named("Notes");
                let action = act::select_text(desktop, window, (notes, None), "beta", limits);
                let mut outcome = self.truth("Notes", action, |_| true).await;
                let with = json!({ "control": "Notes" });
                outcome.truth = self.stage.fixture.ask("selection", with).await.unwrap() == "beta";
                outcome
            }
            "table cell range" => {
                let target = TableTarget::Named("Sales".to_owned());
                let rows = [["East", "77"], ["Far East", "88"]].map(|row| row.map(str::to_owned).to_vec());
                // The header of a page's table is its first row.
                let start = if toolkit == Toolkit::Page { "A2" } else { "A1" };
                let action =
                    act::write_table(desktop, window, &target, start.parse().unwrap(), &rows, limits);
                let wanted = json!([["East", "77", "4800"], ["Far East", "88", "3800"]]);
                self.truth("Sales", action, |value| {
                    value.as_array().is_some_and(|all| all.starts_with(wanted.as_array().unwrap()))
                })
                .await
            }
            _ => {
                let (from, to) = (self.named("Drag me"), self.named("Drop here"));
                let (from, to) = (Target::element(from), Target::element(to));
                let action = act::drag(desktop, window, &from, &to, limits);
                self.truth("Drop here", action, |value| value.as_str().unwrap().starts_with("Dropped")).await
            }
        }
    }

    async fn none(&self, reason: &str) -> Outcome {
        Outcome { report: ActionReport::refused(reason), truth: false }
    }
}

async fn column(toolkit: Toolkit) -> Option<Column> {
    let stage = Stage::start(toolkit, Screen::Form).await?;
    let tree = stage.tree().await;
    let mut form = Form { stage, tree, limits: ActLimits::default() };
    let mut column = Column::new();
    for row in ROWS {
        let mut outcome = form.row(row, toolkit).await;
        if outcome.entry() != "works" {
            // Once more, from what shows then: a busy machine is no matter of the toolkit.
            form.tree = form.stage.tree().await;
            outcome = form.row(row, toolkit).await;
        }
        println!("{toolkit} {row}: {} ({})", outcome.entry(), outcome.report.summary);
        column.insert(row, outcome.entry());
        form.tree = form.stage.tree().await;
    }
    form.stage.desktop.shut_down().await;
    Some(column)
}

fn page(columns: &[(String, Column)]) -> String {
    let mut text = String::from(
        "# Applications\n\nWhat works on which toolkit. Each entry was done for real by the verified actions, on the fixture\n\
         applications and on LibreOffice, and compared with what the application says that happened. Written by\n\
         `UPDATE_DOCS=1 cargo nextest run -p deskhand-desktop applications`; the test fails when something stops working.\n\n",
    );
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    writeln!(text, "| | {} |", names.join(" | ")).unwrap();
    writeln!(text, "| --- |{}", " --- |".repeat(columns.len())).unwrap();
    for row in ROWS {
        let entries: Vec<&str> = columns.iter().map(|(_, column)| column[row].as_str()).collect();
        writeln!(text, "| {row} | {} |", entries.join(" | ")).unwrap();
    }
    text
}

fn is_work(entry: &str) -> bool {
    entry.trim_end_matches(" |") == "works"
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_table_of_applications_is_true() {
    let mut running = JoinSet::new();
    for (at, toolkit) in Toolkit::ALL.into_iter().enumerate() {
        running.spawn(async move { (at, toolkit.to_string(), column(toolkit).await) });
    }
    running.spawn(async move { (3, "LibreOffice".to_owned(), office::column().await) });
    let mut found = Vec::new();
    while let Some(one) = running.join_next().await {
        let (at, name, column) = one.unwrap();
        // Not installed: nothing to compare.
        let Some(column) = column else { return };
        let place = if name == "Chromium page" { 4 } else { at };
        found.push((place, name, column));
    }
    found.sort_by_key(|(place, _, _)| *place);
    let columns: Vec<(String, Column)> = found.into_iter().map(|(_, name, column)| (name, column)).collect();
    let written = page(&columns);
    assert!(!written.contains("FALSE"), "a verdict that is not true:\n{written}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/applications.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &written).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let lost: Vec<(&str, &str)> = committed
        .lines()
        .zip(written.lines())
        .filter(|(then, now)| {
            let (then, now) = (then.split(" | "), now.split(" | "));
            then.zip(now).any(|(then, now)| is_work(then) && !is_work(now))
        })
        .collect();
    assert!(lost.is_empty(), "what docs/applications.md says works does not any more: {lost:#?}");
    assert_eq!(
        committed.lines().count(),
        written.lines().count(),
        "UPDATE_DOCS=1 renews docs/applications.md"
    );
}
