//! The words for proofs, shortfalls and uncertainties.

use super::{Said, condition_label, refusal::because, target, waited::waited};
use crate::action::{
    Act, Action, ElementRef, Mismatch, Now, PostCondition, Proof, Shortfall, Uncertainty, Way, WindowRef,
};

/// The most cells with another content that are named.
const MISMATCHES_SHOWN: usize = 5;

pub(super) fn seen(action: &Action, proof: &Proof) -> Said {
    let label = || target(&action.aim);
    match proof {
        Proof::WindowOpened { window } => {
            if let Act::Launch { program } = &action.act {
                return Said::statement(format!("{program} opened {}", window.label())).timed();
            }
            let title =
                if window.title.is_empty() { String::new() } else { format!(" “{}”", window.title) };
            Said::about(action, format!("{}{title} opened", window.kind_word())).timed()
        }
        Proof::WindowClosed { window } if action.act == Act::Close => {
            Said::statement(format!("{} is closed", window.label()))
        }
        Proof::WindowClosed { window } => Said::about(action, format!("“{}” closed", window.title)).timed(),
        Proof::TitleChanged { title } => {
            Said::about(action, format!("the title changed to “{title}”")).timed()
        }
        Proof::Gone { element } => Said::about(action, format!("{} disappeared", element.label())).timed(),
        Proof::Changed { element, now } => Said::about(action, changed(element, now)).timed(),
        Proof::Holds { .. } if matches!(action.act, Act::WaitFor { .. }) => {
            Said::statement(holds(action)).timed()
        }
        Proof::Holds { already } => {
            Said::statement(format!("{}{}", holds(action), if *already { " already" } else { "" }))
        }
        Proof::Active { window } => Said::statement(format!("{} has the focus", window.label())),
        Proof::Reads { text, corrected } => reads(action, text, *corrected),
        Proof::Number { value } => Said::statement(format!("{} is {value}", label())),
        Proof::Cells { cells, corrected } => {
            Said::about(action, read_as_meant(*cells, *cells, *corrected, &[]))
        }
        Proof::Moved => Said::statement("scrolled: elements moved"),
        Proof::TextRead { characters, given } => {
            let cut =
                if given < characters { format!("; the first {given} are returned") } else { String::new() };
            Said::statement(format!("{} has {characters} characters of text{cut}", label()))
        }
        Proof::CellsRead { range } => {
            let shape = range.shape();
            Said::about(action, format!("{} × {} cells ({range})", shape.rows, shape.columns))
        }
        Proof::ClipboardRead { characters } => Said::statement(match characters {
            Some(characters) => format!("the clipboard holds {characters} characters of text"),
            None => "the clipboard holds no text".to_owned(),
        }),
        Proof::Summarized { titles, elements } => Said::statement(format!(
            "{} surfaces with {elements} elements: {}",
            titles.len(),
            titles.join(", ")
        )),
        Proof::Waited { drawn, quiet } => waited(action, *drawn, *quiet),
    }
}

fn reads(action: &Action, text: &str, corrected: bool) -> Said {
    if matches!(action.act, Act::Type { .. }) {
        return Said::about(
            action,
            if corrected { "reads as typed after a correction" } else { "reads as typed" },
        );
    }
    Said::statement(present_text(action, text))
}

/// The text that is there, after an action that replaced it.
fn present_text(action: &Action, text: &str) -> String {
    if matches!(action.act, Act::WriteClipboard { .. }) {
        return format!("the clipboard holds {text:?}");
    }
    let pasted = if matches!(action.act, Act::Paste { .. }) { " after a paste" } else { "" };
    format!("{} reads {text:?}{pasted}", target(&action.aim))
}

/// The post-condition of an action, as a statement.
fn holds(action: &Action) -> String {
    let label = target(&action.aim);
    match action.act.postcondition() {
        Some(PostCondition::Checked(true)) => format!("{label} is checked"),
        Some(PostCondition::Checked(false)) => format!("{label} is not checked"),
        Some(PostCondition::Expanded(true)) => format!("{label} is expanded"),
        Some(PostCondition::Expanded(false)) => format!("{label} is collapsed"),
        Some(PostCondition::Focused | PostCondition::WindowActive) => format!("{label} has the focus"),
        Some(PostCondition::InView) => format!("{label} is in view"),
        Some(PostCondition::ItemSelected(item)) => format!("{} in {label} is selected", item.label()),
        Some(PostCondition::CellsSelected(range)) => format!("{range} of {label} is selected"),
        Some(PostCondition::TextSelected(text)) => format!("{text:?} is selected"),
        Some(PostCondition::Text(text)) => format!("{label} reads {text:?}"),
        Some(PostCondition::Number(value)) => format!("{label} is {value}"),
        Some(PostCondition::Cells(range)) => format!("{range} of {label} is written"),
        Some(PostCondition::WindowOpen(program)) => format!("{program} is open"),
        Some(PostCondition::WindowClosed) => format!("{label} is closed"),
        Some(PostCondition::Condition(condition)) => condition_label(condition),
        None => format!("{} is done", super::subject(action)),
    }
}

fn changed(element: &ElementRef, now: &Now) -> String {
    let label = element.label();
    match now {
        Now::State { state, on } => {
            format!("{label} is {} {}", if *on { "now" } else { "no longer" }, state.name())
        }
        Now::Enabled { on } => format!("{label} became {}", if *on { "enabled" } else { "disabled" }),
        Now::Named { name } => format!("{label} was renamed to \"{name}\""),
        Now::Value { value: Some(value) } => format!("{label} is now {value}"),
        Now::Value { value: None } => format!("{label} no longer has a value"),
        Now::Reads { text } => format!("{label} now reads \"{text}\""),
        Now::Came => format!("{label} appeared"),
        Now::Went => format!("{label} disappeared"),
        Now::Focused => "it took the focus".to_owned(),
        Now::FocusMovedHere => format!("the focus moved to {label}"),
        Now::Changed => format!("{label} changed"),
    }
}

fn read_as_meant(cells: u64, right: u64, corrected: u64, mismatches: &[Mismatch]) -> String {
    let mut text = format!("{right} of {cells} cells read as written");
    if corrected > 0 {
        text.push_str(&format!(", {corrected} corrected once"));
    }
    for mismatch in mismatches.iter().take(MISMATCHES_SHOWN) {
        let Mismatch { cell, wanted, found } = mismatch;
        text.push_str(&format!("; {cell} shows {found:?}, expected {wanted:?}"));
    }
    text
}

pub(super) fn not_seen(action: &Action, shortfall: &Shortfall) -> Said {
    let label = || target(&action.aim);
    let waited_ms = action.waited_ms;
    match shortfall {
        Shortfall::NothingChanged { pixels, then } => {
            let mut text = if *pixels {
                format!("only pixels changed within {waited_ms} ms; check a picture of the window")
            } else {
                format!("nothing changed within {waited_ms} ms")
            };
            if let Some(refusal) = then {
                text.push_str(&format!("; then {}", because(refusal)));
            }
            Said::about(action, text)
        }
        Shortfall::NotReached { way } => Said::statement(not_reached(action, *way)),
        Shortfall::OtherActive { active, error } => {
            let has = active.as_ref().map_or_else(|| "no window".to_owned(), WindowRef::label);
            let why = error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
            Said::statement(format!("{} did not take the focus; {has} has it{why}", label()))
        }
        Shortfall::ReadsOtherwise { text, corrected } if matches!(action.act, Act::Type { .. }) => {
            let again = if *corrected { ", even after a correction" } else { "" };
            Said::about(action, format!("reads {text:?} instead{again}"))
        }
        Shortfall::ReadsOtherwise { text, .. } => Said::statement(present_text(action, text)),
        Shortfall::Cells { cells, corrected, mismatches } => {
            let right = cells.saturating_sub(u64::try_from(mismatches.len()).unwrap_or(u64::MAX));
            Said::about(action, read_as_meant(*cells, right, *corrected, mismatches))
        }
        Shortfall::CellTakesNothing { cell } => Said::statement(format!(
            "{cell} of {} does not accept typed text (tried twice); nothing else was written",
            label()
        )),
        Shortfall::NothingMoved => Said::statement("nothing moved; it may already be scrolled to the end"),
        Shortfall::NoWindow { ended: Some(how) } => {
            Said::statement(format!("{} exited without showing a window ({how})", super::subject(action)))
        }
        Shortfall::NoWindow { ended: None } => Said::statement(format!(
            "{} started but showed no window within {waited_ms} ms",
            super::subject(action)
        )),
        Shortfall::Asks { dialog } => Said::statement(format!(
            "{} is still open: dialog {} needs an answer first",
            label(),
            dialog.label()
        )),
        Shortfall::StillOpen => Said::statement(format!("{} did not close within {waited_ms} ms", label())),
        Shortfall::NotFulfilled => {
            Said::statement(format!("condition not met within {waited_ms} ms: {}", holds(action)))
        }
    }
}

fn not_reached(action: &Action, way: Option<Way>) -> String {
    let (label, subject) = (target(&action.aim), super::subject(action));
    match (way, action.act.postcondition()) {
        (Some(Way::Click), _) => format!("{subject} was clicked but is not selected"),
        (Some(Way::Keys), _) => format!("{subject} was not reached with keys"),
        (Some(Way::OpenedList), _) => {
            format!("{subject} was chosen with keys, but the box does not show it")
        }
        (None, Some(PostCondition::Checked(on))) => {
            format!("{label} did not become {}", if on { "checked" } else { "unchecked" })
        }
        (None, Some(PostCondition::Expanded(open))) => {
            format!("{label} did not become {}", if open { "expanded" } else { "collapsed" })
        }
        (None, Some(PostCondition::Focused)) => format!("{label} did not take the focus"),
        (None, Some(PostCondition::InView)) => {
            format!("{label} did not scroll into view; scroll with the wheel instead")
        }
        (None, Some(PostCondition::CellsSelected(range))) => format!("{range} of {label} was not selected"),
        (None, Some(PostCondition::TextSelected(text))) => {
            format!("{label} does not report that {text:?} is selected")
        }
        (None, _) => format!("{subject} had no effect"),
    }
}

pub(super) fn unknown(action: &Action, uncertainty: &Uncertainty) -> Said {
    match (uncertainty, &action.act) {
        (Uncertainty::Pixels { in_picture: true }, _) => Said::about(
            action,
            "pixels changed, which proves nothing; the target was found in a picture, so check the next one",
        ),
        (Uncertainty::Pixels { in_picture: false }, Act::Scroll { .. }) => {
            Said::statement("pixels changed, but no element moved")
        }
        (Uncertainty::Pixels { in_picture: false }, _) => {
            Said::about(action, "pixels changed, but the application exposes no change")
        }
        (Uncertainty::Unreadable { error }, _) => {
            Said::statement(format!("{} can no longer be read: {error}", target(&action.aim)))
        }
    }
}
