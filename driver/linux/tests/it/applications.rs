//! What works on which toolkit: each row of `docs/reference/toolkits.md` is done for real and compared with what the
//! application says. `UPDATE_DOCS=1` writes the page anew.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use deskhand_desktop::{DesktopResult, PointerChord};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionReport, ActionTarget, NewValue, TableTarget};
use deskhand_testkit::fixture::{Screen, Toolkit};
use deskhand_ui::{Element, Role, Tree, action::Verdict, ids::ElementId};
use serde_json::{Value, json};

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
    pub(crate) verdict: Verdict,
    pub(crate) summary: String,
    truth: bool,
}

impl Outcome {
    pub(crate) fn of(result: DesktopResult<ActionReport>, truth: bool) -> Self {
        let (verdict, summary) = match result {
            Ok(report) => (report.effect(), report.summary()),
            Err(error) => (Verdict::Unknown, error.chain()),
        };
        Self { verdict, summary, truth }
    }

    /// What the toolkit does not offer.
    pub(crate) fn none(reason: &str) -> Self {
        Self { verdict: Verdict::Refused, summary: reason.to_owned(), truth: false }
    }

    pub(crate) fn entry(&self) -> String {
        match (self.verdict, self.truth) {
            (Verdict::Seen, true) => "works".to_owned(),
            (Verdict::Seen, false) => format!("FALSE: {}", self.summary),
            (verdict, _) => {
                let reason = without_ids(&self.summary);
                format!("{}: {reason}", verdict.word().replace('_', " "))
            }
        }
    }
}

/// A reason without what differs between two runs, as a sentence: numbers of elements and windows, and times.
fn without_ids(reason: &str) -> String {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut words: Vec<String> = Vec::new();
    let mut rest = reason.split(' ').peekable();
    while let Some(word) = rest.next() {
        if word == "within" && rest.peek().is_some_and(|next| digits(next)) {
            // `within 1803 ms`
            words.push("in time".to_owned());
            rest.nth(1);
            continue;
        }
        let core = word.trim_matches(|c: char| !c.is_alphanumeric());
        let kind = [("e", "element"), ("w", "window")]
            .into_iter()
            .find(|(letter, _)| core.strip_prefix(letter).is_some_and(digits));
        let Some((_, kind)) = kind else {
            words.push(word.to_owned());
            continue;
        };
        let after: String = word.chars().rev().take_while(|c| !c.is_alphanumeric() && *c != ')').collect();
        if word.starts_with('(') {
            // The label before it says which one.
            if let Some(before) = words.last_mut() {
                before.push_str(&after);
            }
            continue;
        }
        if words.last().is_some_and(|before| before == kind) {
            words.pop();
        }
        words.push(format!("the {kind}{after}"));
    }
    words.join(" ").replace('|', "/")
}

#[test]
fn reasons_read_as_sentences() {
    let check = |reason: &str, expected: &str| assert_eq!(without_ids(reason), expected);
    check("no \"Shapes\" in w1; available: Name", "no \"Shapes\" in the window; available: Name");
    check("find element e12: it no longer exists", "find the element: it no longer exists");
    check("push button \"OK\" (e5) is disabled", "push button \"OK\" is disabled");
    check("drag: nothing changed within 1803 ms", "drag: nothing changed in time");
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
        let result = action.await;
        let state = self.stage.fixture.state().await.unwrap();
        Outcome::of(result, is_so(&state[control]))
    }

    async fn row(&self, row: &str, toolkit: Toolkit) -> Outcome {
        let (desktop, window, limits) = (&self.stage.desktop, self.stage.window.id, &self.limits);
        match row {
            "menu path" => {
                let path = ["Insert", "Shapes", "Square"].map(str::to_owned);
                let action = Box::pin(act::visit(desktop, window, &path, limits));
                self.truth("Counted", action, |value| *value == "Chosen Square").await
            }
            "tree item" => self.tree_item(toolkit).await,
            "combo box" => {
                let combo = self.find(|element| element.role == Role::COMBO_BOX);
                let Some(combo) = combo else { return self.none("there is no combo box").await };
                let action = Box::pin(act::select(desktop, window, combo, "Large", limits));
                self.truth("Size", action, |value| *value == "Large").await
            }
            "tab" => {
                let path = ["Details".to_owned()];
                let action = Box::pin(act::visit(desktop, window, &path, limits));
                self.truth("Tabs", action, |value| *value == "Details").await
            }
            "check box" => {
                let action =
                    Box::pin(act::set_checked(desktop, window, self.named("Agree"), None, true, limits));
                self.truth("Agree", action, |value| *value == true).await
            }
            "slider" => {
                let new = NewValue::Number(7.0);
                let action =
                    Box::pin(act::set_value(desktop, window, self.named("Volume"), None, &new, limits));
                self.truth("Volume", action, |value| value.as_f64() == Some(7.0)).await
            }
            "spin button" => {
                let new = NewValue::Number(42.0);
                let action =
                    Box::pin(act::set_value(desktop, window, self.named("Amount"), None, &new, limits));
                self.truth("Amount", action, |value| value.as_f64() == Some(42.0)).await
            }
            "text selection" => {
                let notes = self.named("Notes");
                let action = Box::pin(act::select_text(desktop, window, (notes, None), "beta", limits));
                let mut outcome = self.truth("Notes", action, |_| true).await;
                let with = json!({ "control": "Notes" });
                outcome.truth = self.stage.fixture.ask("selection", with).await.unwrap() == "beta";
                outcome
            }
            "table cell range" => self.cell_range(toolkit).await,
            _ => {
                let (from, to) = (self.named("Drag me"), self.named("Drop here"));
                let (from, to) = (ActionTarget::element(from), ActionTarget::element(to));
                let held = PointerChord::default();
                let action = Box::pin(act::drag(desktop, window, (&from, &to), &held, limits));
                self.truth("Drop here", action, |value| value.as_str().unwrap().starts_with("Dropped")).await
            }
        }
    }

    /// Expands a branch of the tree and chooses a leaf in it.
    async fn tree_item(&self, toolkit: Toolkit) -> Outcome {
        let (desktop, window, limits) = (&self.stage.desktop, self.stage.window.id, &self.limits);
        let plants = self.find(|element| {
            element.name == "Fruit"
                && [Role::TREE_ITEM, Role::TABLE_CELL, Role::LIST_ITEM].contains(&element.role)
        });
        let Some(fruit) = plants else {
            return self
                .none(match toolkit {
                    Toolkit::Gtk4 => "GTK 4.8 gives the rows of a tree view no elements: they are drawn",
                    Toolkit::Gtk3 | Toolkit::Qt | Toolkit::Page => "the tree shows no items",
                })
                .await;
        };
        let expanded = Box::pin(act::expand(desktop, window, (fruit, None), true, limits)).await;
        match expanded {
            Ok(report) if report.effect() == Verdict::Seen => {}
            Ok(report) => return Outcome::of(Ok(report), false),
            Err(error) => return self.none(&error.chain()).await,
        }
        let tree = self.stage.tree().await;
        let apple = tree.elements.iter().find(|element| element.name == "Apple");
        let Some(apple) = apple else { return self.none("the leaves of the tree do not show").await };
        let (id, name) = (apple.id, apple.name.clone());
        let target = ActionTarget::Element { id, name: Some(name) };
        let click = act::Click::once(target);
        let action = Box::pin(act::click(desktop, window, &click, limits));
        self.truth("Plants", action, |value| *value == "Apple").await
    }

    /// Writes two rows into the middle of a table.
    async fn cell_range(&self, toolkit: Toolkit) -> Outcome {
        let (desktop, window, limits) = (&self.stage.desktop, self.stage.window.id, &self.limits);
        if toolkit == Toolkit::Gtk4 && self.find(|element| element.table.is_some()).is_none() {
            return self.none("GTK 4.8 gives the cells of a table no elements: they are drawn").await;
        }
        let target = TableTarget::Named("Sales".to_owned());
        let rows = [["East", "77"], ["Far East", "88"]].map(|row| row.map(str::to_owned).to_vec());
        // The header of a page's table is its first row.
        let start = if toolkit == Toolkit::Page { "A2" } else { "A1" };
        let action =
            Box::pin(act::write_table(desktop, window, &target, start.parse().unwrap(), &rows, limits));
        let wanted = json!([["East", "77", "4800"], ["Far East", "88", "3800"]]);
        self.truth("Sales", action, |value| {
            value.as_array().is_some_and(|all| all.starts_with(wanted.as_array().unwrap()))
        })
        .await
    }

    async fn none(&self, reason: &str) -> Outcome {
        Outcome::none(reason)
    }
}

/// None where the toolkit is not installed.
async fn column(toolkit: Toolkit) -> Option<Column> {
    let stage = Stage::start(toolkit, Screen::Form).await?;
    let tree = stage.tree().await;
    let mut form = Form { stage, tree, limits: ActLimits::default() };
    let mut column = Column::new();
    for row in ROWS {
        let outcome = form.row(row, toolkit).await;
        println!("{toolkit} {row}: {} ({})", outcome.entry(), outcome.summary);
        column.insert(row, outcome.entry());
        form.tree = form.stage.tree().await;
    }
    form.stage.desktop.shut_down().await;
    Some(column)
}

/// The entries of the page, by row and column.
type Entries = BTreeMap<(String, String), String>;

const COLUMNS: [&str; 5] = ["GTK3", "GTK4", "Qt", "LibreOffice", "Chromium page"];

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/toolkits.md")
}

fn render(entries: &Entries) -> String {
    let mut text = String::from(
        "# Toolkits\n\nWhat works on which toolkit. Each entry was done for real by the verified actions, on the fixture\n\
         applications and on LibreOffice, and compared with what the application says that happened. Written by\n\
         `UPDATE_DOCS=1 cargo nextest run -p deskhand-desktop-linux applications`; a test fails when an entry is not true any more.\n\n",
    );
    writeln!(text, "| | {} |", COLUMNS.join(" | ")).unwrap();
    writeln!(text, "| --- |{}", " --- |".repeat(COLUMNS.len())).unwrap();
    for row in ROWS {
        let entry =
            |name: &&str| entries.get(&(row.to_owned(), (*name).to_owned())).map_or("", String::as_str);
        writeln!(text, "| {row} | {} |", COLUMNS.iter().map(entry).collect::<Vec<_>>().join(" | ")).unwrap();
    }
    text
}

fn parse(text: &str) -> Entries {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = text.lines().filter(|line| line.starts_with('|')).map(cells);
    let names = lines.next().unwrap_or_default();
    let mut entries = Entries::new();
    for line in lines.skip(1) {
        for (name, entry) in names.iter().zip(&line).skip(1) {
            entries.insert((line[0].clone(), name.clone()), entry.clone());
        }
    }
    entries
}

/// Compares what was found with the column of the page; with `UPDATE_DOCS=1` writes it there instead.
fn compare(name: &str, column: &Column) {
    let wrong: Vec<_> = column.iter().filter(|(_, entry)| entry.starts_with("FALSE")).collect();
    assert!(wrong.is_empty(), "{name}: verdicts that are not true: {wrong:#?}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        // Each column is a test, and a process, of its own.
        let lock = std::fs::File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join("applications.lock"));
        let lock = lock.unwrap();
        lock.lock().unwrap();
        let mut entries = parse(&std::fs::read_to_string(path()).unwrap_or_default());
        for (row, entry) in column {
            entries.insert(((*row).to_owned(), name.to_owned()), entry.clone());
        }
        std::fs::write(path(), render(&entries)).unwrap();
        return;
    }
    let committed = parse(&std::fs::read_to_string(path()).unwrap());
    let is_as_told = |row: &str, entry: &str| {
        let told = committed.get(&(row.to_owned(), name.to_owned()));
        told.is_some_and(|told| (told == "works") == (entry == "works"))
    };
    let other: Vec<_> = column.iter().filter(|(row, entry)| !is_as_told(row, entry)).collect();
    assert!(
        other.is_empty(),
        "{name} is not as docs/reference/toolkits.md says (UPDATE_DOCS=1 renews it): {other:#?}"
    );
}

#[test]
fn the_page_has_every_row_and_column() {
    let text = std::fs::read_to_string(path()).unwrap();
    let entries = parse(&text);
    assert_eq!(entries.len(), ROWS.len() * COLUMNS.len());
    assert!(entries.values().all(|entry| !entry.is_empty()), "{text}");
    assert_eq!(render(&entries), text, "UPDATE_DOCS=1 renews docs/reference/toolkits.md");
}

async fn compare_toolkit(toolkit: Toolkit) {
    if let Some(column) = column(toolkit).await {
        compare(&toolkit.to_string(), &column);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_table_is_true_of_gtk_3() {
    compare_toolkit(Toolkit::Gtk3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_table_is_true_of_gtk_4() {
    compare_toolkit(Toolkit::Gtk4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_table_is_true_of_qt() {
    compare_toolkit(Toolkit::Qt).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_table_is_true_of_a_page() {
    compare_toolkit(Toolkit::Page).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_table_is_true_of_libre_office() {
    if let Some(column) = office::column().await {
        compare("LibreOffice", &column);
    }
}
