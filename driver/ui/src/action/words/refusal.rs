//! The words for refusals.

use super::whole;
use crate::action::{
    ActionKind, ActionOutcome, ActionRefusal, Aim, Among, ArgumentProblem, Button, ElementRef, Evidence,
    LastLook, TargetObstruction, UnsupportedCapability,
};

/// The most names in a refusal.
const CANDIDATES_MAX: usize = 8;

fn no_file(path: &str, folder: bool, near: &[String]) -> String {
    match near {
        _ if folder => format!("the folder of {path} does not exist"),
        [] => format!("{path} does not exist"),
        near => format!("{path} does not exist; nearest: {}", near.join(", ")),
    }
}

fn file_exists(path: &str, is_folder: bool) -> String {
    match is_folder {
        true => format!("{path} is a folder"),
        false => format!("{path} exists already; `overwrite` replaces it"),
    }
}

fn not_opened(element: &ElementRef, path: &[String], evidence: &Evidence, waited_ms: u64) -> String {
    let button = if path.is_empty() { Button::Right } else { Button::Left };
    let aim = Aim::Element { element: element.clone() };
    let act = ActionKind::Click { button, count: 1, held: Vec::new() };
    let click = whole(&ActionOutcome::new(act, aim, evidence.clone()).after(waited_ms));
    match path {
        [] => format!("{} has no context menu: {click}", element.label()),
        path => format!("{} did not open: {click}", path.join(" › ")),
    }
}

/// Why nothing was sent.
pub(super) fn because(refusal: &ActionRefusal) -> String {
    match refusal {
        ActionRefusal::Missing { id, nearest } => format!("{id} no longer exists{}", near(nearest)),
        ActionRefusal::OtherName { element, expected, nearest } => {
            format!("{} is {}, not \"{expected}\"{}", element.id, element.label(), near(nearest))
        }
        ActionRefusal::OtherWindow { element, window } => {
            format!("{} is not in {window} or its dialogs", labelled(element))
        }
        ActionRefusal::DialogInFront { dialog, of: Some(window) } => format!(
            "the dialog {} is in front of {} and must be answered first",
            dialog.label(),
            window.label()
        ),
        ActionRefusal::DialogInFront { dialog, of: None } => {
            format!("the dialog {} is in front and must be answered first", dialog.label())
        }
        ActionRefusal::Moving { element } => format!("{} keeps moving", labelled(element)),
        ActionRefusal::Disabled { element } => format!("{} is disabled", labelled(element)),
        ActionRefusal::NotOnScreen { element } => format!("{} is not on screen", labelled(element)),
        ActionRefusal::Covered { element, by } => {
            format!("{} is covered by {}", labelled(element), cover(by))
        }
        ActionRefusal::NoLongerDrawn { element } => {
            format!("{} is no longer drawn there; observe the window again", labelled(element))
        }
        ActionRefusal::DrawnOtherwise { element, shows } => format!(
            "the picture shows “{shows}” at the place of {}: the application tells names that are out of date; look at a \
             picture of the window and click the point where it is drawn",
            labelled(element)
        ),
        ActionRefusal::PointOutside { point, window, bounds } => {
            let bounds =
                bounds.map(|bounds| format!(" (left, top, width, height: {:?})", <[i32; 4]>::from(bounds)));
            format!("({}, {}) is outside {window}{}", point.x, point.y, bounds.unwrap_or_default())
        }
        ActionRefusal::PointCovered { point, by } => {
            format!("({}, {}) is covered by {}", point.x, point.y, by.label())
        }
        ActionRefusal::LastLook { found } => last_look(found),
        ActionRefusal::WindowClosed => "the window closed before".to_owned(),
        ActionRefusal::Cancelled => "cancelled before anything was sent".to_owned(),
        ActionRefusal::CellNotOnScreen { cell } => format!("{cell} is not on screen"),
        ActionRefusal::Unsupported { element, what } => unsupported(element, *what),
        ActionRefusal::NotFound { name, among } => not_found(name, among),
        ActionRefusal::CellsOutside { range, table, shape } => format!(
            "{range} is outside {}, which has {} rows and {} columns",
            table.label(),
            shape.rows,
            shape.columns
        ),
        ActionRefusal::CursorStays { table, cell } => {
            format!("the cursor of {} cannot be moved to {cell}", table.label())
        }
        ActionRefusal::NoNameBox { window } => format!("{} has no name box", window.label()),
        ActionRefusal::NotOpened { element, path, evidence, waited_ms } => {
            not_opened(element, path, evidence, *waited_ms)
        }
        ActionRefusal::NoFile { path, folder, near } => no_file(path, *folder, near),
        ActionRefusal::NoFileDialog => "no dialog for a file is open; press what opens it first".to_owned(),
        ActionRefusal::FileExists { path, is_folder } => file_exists(path, *is_folder),
        ActionRefusal::Arguments { problem } => arguments(*problem),
    }
}

/// Describes the finding of a last look just before the input.
fn last_look(found: &LastLook) -> String {
    match found {
        LastLook::Replaced { judged, found } => format!(
            "it was decided for {}, and {} is there now; look again and decide anew",
            labelled(judged),
            labelled(found)
        ),
        LastLook::OtherWindowActive { active, window } => {
            format!("{} has the keyboard, not {}", active.label(), window.label())
        }
        LastLook::NeedsApproval { element, rule } => format!(
            "{} is there now, which needs an approval ({rule}); propose it by this name to have it asked for",
            labelled(element)
        ),
        LastLook::Secret { element, reason } => format!("{} is there now, and {reason}", labelled(element)),
        LastLook::Denied { element, rule } => {
            format!("{} is there now, which the policy denies ({rule})", labelled(element))
        }
    }
}

fn unsupported(element: &ElementRef, what: UnsupportedCapability) -> String {
    let label = element.label();
    match what {
        UnsupportedCapability::Focus => format!("{label} cannot take the focus"),
        UnsupportedCapability::Text => format!("{label} accepts no text"),
        UnsupportedCapability::Value => format!("{label} accepts neither text nor numbers"),
        UnsupportedCapability::Number { value, minimum, maximum } => {
            format!("{value} is outside the range of {label}, {minimum} to {maximum}")
        }
        UnsupportedCapability::NoDate => format!(
            "{label} takes a date as 2025-12-31, a month as 2025-12, a time as 08:30, and both as 2025-12-31T08:30"
        ),
        UnsupportedCapability::Checking => format!("{label} cannot be checked"),
        UnsupportedCapability::Expanding => format!("{label} cannot be expanded"),
        UnsupportedCapability::ScrollingTo => {
            format!("{label} cannot be scrolled into view; scroll with the wheel instead")
        }
        UnsupportedCapability::ReachingItem => {
            format!("the item in {label} cannot be reached by mouse or keys")
        }
        UnsupportedCapability::SelectingText => {
            format!("{label} does not support selecting text, and the text is too long to select with keys")
        }
        UnsupportedCapability::Clearing => format!("{label} cannot be cleared without touching other text"),
        UnsupportedCapability::Table => format!("{} is not a table", labelled(element)),
        UnsupportedCapability::Cells => format!("{label} has no cells"),
    }
}

fn not_found(name: &str, among: &Among) -> String {
    match among {
        Among::Actions { element, offered } if offered.is_empty() => {
            format!("{} offers no action; click it instead", element.label())
        }
        Among::Actions { element, offered } => {
            format!("{} has no action \"{name}\"; it has: {}", element.label(), names(offered))
        }
        Among::Items { list, items } => {
            format!("{} has no item \"{name}\"; it has: {}", list.label(), names(items))
        }
        Among::Text { element } => format!("{} does not contain {name:?}", element.label()),
        Among::Tables { window, tables } => {
            let called = if name.is_empty() { String::new() } else { format!(" \"{name}\"") };
            let there = if tables.is_empty() {
                "it shows no tables".to_owned()
            } else {
                format!("tables: {}", names(tables))
            };
            format!("{window} shows no table{called}; {there}")
        }
        Among::Entries { inside, window, entries } => {
            let (place, listed) = match inside {
                Some(menu) => (menu.label(), entries.join(", ")),
                None => (window.to_string(), names(entries)),
            };
            format!("no \"{name}\" in {place}; available: {listed}")
        }
    }
}

fn arguments(problem: ArgumentProblem) -> String {
    match problem {
        ArgumentProblem::Chords { given, max } => format!("expected 1 to {max} key chords, got {given}"),
        ArgumentProblem::Times { max } => format!("keys can be pressed 1 to {max} times"),
        ArgumentProblem::Notches { max } => format!("scroll by 1 to {max} notches per direction"),
        ArgumentProblem::Path { max } => format!("expected a path of 1 to {max} names"),
        ArgumentProblem::Items { max } => format!("1 to {max} items can be selected at once"),
        ArgumentProblem::Ranges { max } => format!("1 to {max} ranges can be selected at once"),
        ArgumentProblem::Rows => "expected at least one row, and rows of equal length".to_owned(),
        ArgumentProblem::Cells { given, max } => {
            format!("cannot write {given} cells at once; write at most {max}")
        }
        ArgumentProblem::LineBreakInCell => "a cell cannot contain line breaks or tabs".to_owned(),
    }
}

fn cover(by: &TargetObstruction) -> String {
    match by {
        TargetObstruction::Window(window) => window.label(),
        TargetObstruction::Element(element) => element.label(),
        TargetObstruction::Unnamed => "something".to_owned(),
    }
}

/// `push button "Finish" (e5)`.
fn labelled(element: &ElementRef) -> String {
    format!("{} ({})", element.label(), element.id)
}

/// `; nearest: push button "Finish" (e5), …`; empty if there are no candidates.
fn near(nearest: &[ElementRef]) -> String {
    let named: Vec<String> = nearest.iter().take(CANDIDATES_MAX).map(labelled).collect();
    if named.is_empty() { String::new() } else { format!("; nearest: {}", named.join(", ")) }
}

fn names(names: &[String]) -> String {
    names.iter().take(CANDIDATES_MAX).map(String::as_str).collect::<Vec<_>>().join(", ")
}
