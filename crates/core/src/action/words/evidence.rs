//! The words for proofs, shortfalls and uncertainties.

use super::{Said, condition_label, refusal::because, target, waited::waited};
use crate::{
    action::{Act, Action, ElementRef, Mismatch, Now, Proof, Shortfall, Uncertainty, Way, WindowRef},
    ui::WindowKind,
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
            Said::about(action, format!("{}{title} opened", kind_word(window.kind))).timed()
        }
        Proof::WindowClosed { window } if action.act == Act::Close => {
            Said::statement(format!("{} is closed", window.label()))
        }
        Proof::WindowClosed { window } => Said::about(action, format!("“{}” closed", window.title)).timed(),
        Proof::TitleChanged { title } => Said::about(action, format!("the title became “{title}”")).timed(),
        Proof::Gone { element } => Said::about(action, format!("{} went away", element.label())).timed(),
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
            let cut = if given < characters {
                format!(", of which the first {given} are given")
            } else {
                String::new()
            };
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

const fn kind_word(kind: WindowKind) -> &'static str {
    match kind {
        WindowKind::Normal => "window",
        WindowKind::Dialog => "dialog",
        WindowKind::Popup => "menu",
    }
}

fn reads(action: &Action, text: &str, corrected: bool) -> Said {
    if matches!(action.act, Act::Type { .. }) {
        return Said::about(action, if corrected { "it reads so after a correction" } else { "it reads so" });
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

/// The state that an action is meant to bring about.
fn holds(action: &Action) -> String {
    let label = target(&action.aim);
    match &action.act {
        Act::SelectItem { item } => format!("{} in {label} is selected", item.label()),
        Act::SelectCells { range } => format!("{range} of {label} is selected"),
        Act::SelectText { text } => format!("{text:?} is selected"),
        Act::WaitFor { condition } => condition_label(condition),
        Act::Check { on: true } => format!("{label} is checked"),
        Act::Check { on: false } => format!("{label} is not checked"),
        Act::Expand { open: true } => format!("{label} is expanded"),
        Act::Expand { open: false } => format!("{label} is collapsed"),
        Act::Focus => format!("{label} has the focus"),
        Act::ScrollIntoView => format!("{label} is in view"),
        Act::Click { .. }
        | Act::Drag { .. }
        | Act::Press { .. }
        | Act::Type { .. }
        | Act::Paste { .. }
        | Act::SetText { .. }
        | Act::SetNumber { .. }
        | Act::Invoke { .. }
        | Act::Scroll { .. }
        | Act::Visit { .. }
        | Act::WriteCells { .. }
        | Act::ReadText
        | Act::ReadCells
        | Act::ReadSummary
        | Act::ReadClipboard
        | Act::WriteClipboard { .. }
        | Act::Launch { .. }
        | Act::Activate
        | Act::Close
        | Act::Wait { .. } => format!("{label} is as it was meant"),
    }
}

fn changed(element: &ElementRef, now: &Now) -> String {
    let label = element.label();
    match now {
        Now::State { state, on } => {
            format!("{label} is {} {}", if *on { "now" } else { "no longer" }, state.name())
        }
        Now::Enabled { on } => format!("{label} became {}", if *on { "enabled" } else { "disabled" }),
        Now::Named { name } => format!("{label} is now called \"{name}\""),
        Now::Value { value: Some(value) } => format!("{label} is now {value}"),
        Now::Value { value: None } => format!("{label} has no value any more"),
        Now::Reads { text } => format!("{label} now reads \"{text}\""),
        Now::Came => format!("{label} came"),
        Now::Went => format!("{label} went"),
        Now::Focused => "it is now focused".to_owned(),
        Now::FocusMovedHere => format!("the focus moved to {label}"),
        Now::Changed => format!("{label} changed"),
    }
}

fn read_as_meant(cells: u64, right: u64, corrected: u64, mismatches: &[Mismatch]) -> String {
    let mut text = format!("{right} of {cells} cells read as meant");
    if corrected > 0 {
        text.push_str(&format!(", {corrected} corrected once"));
    }
    for mismatch in mismatches.iter().take(MISMATCHES_SHOWN) {
        let Mismatch { cell, wanted, found } = mismatch;
        text.push_str(&format!("; {cell} shows {found:?} and not {wanted:?}"));
    }
    text
}

pub(super) fn not_seen(action: &Action, shortfall: &Shortfall) -> Said {
    let label = || target(&action.aim);
    let waited_ms = action.waited_ms;
    match shortfall {
        Shortfall::NothingChanged { pixels, then } => {
            let mut text = format!("nothing changed within {waited_ms} ms");
            if *pixels {
                text.push_str(" but pixels; look at a picture of the window");
            }
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
            let again = if *corrected { ", also after a correction" } else { "" };
            Said::about(action, format!("it reads {text:?} instead{again}"))
        }
        Shortfall::ReadsOtherwise { text, .. } => Said::statement(present_text(action, text)),
        Shortfall::Cells { cells, corrected, mismatches } => {
            let right = cells.saturating_sub(u64::try_from(mismatches.len()).unwrap_or(u64::MAX));
            Said::about(action, read_as_meant(*cells, right, *corrected, mismatches))
        }
        Shortfall::CellTakesNothing { cell } => Said::statement(format!(
            "{cell} of {} does not take what is typed, tried twice; nothing else was written",
            label()
        )),
        Shortfall::NothingMoved => Said::statement("nothing moved; it may be at its end"),
        Shortfall::NoWindow { ended: Some(how) } => {
            Said::statement(format!("{} ended without a window ({how})", super::subject(action)))
        }
        Shortfall::NoWindow { ended: None } => Said::statement(format!(
            "{} runs and showed no window within {waited_ms} ms",
            super::subject(action)
        )),
        Shortfall::Asks { dialog } => {
            Said::statement(format!("{} is still open: {} asks something first", label(), dialog.label()))
        }
        Shortfall::StillOpen => Said::statement(format!("{} did not close within {waited_ms} ms", label())),
        Shortfall::NotFulfilled => {
            Said::statement(format!("not fulfilled within {waited_ms} ms: {}", holds(action)))
        }
    }
}

fn not_reached(action: &Action, way: Option<Way>) -> String {
    let (label, subject) = (target(&action.aim), super::subject(action));
    match (&action.act, way) {
        (_, Some(Way::Click)) => format!("{subject} was clicked and is not selected"),
        (_, Some(Way::Keys)) => format!("{subject} was not reached by keys"),
        (_, Some(Way::OpenedList)) => format!("{subject} was chosen by keys, and the box does not show it"),
        (Act::Check { on }, None) => {
            format!("{label} did not become {}", if *on { "checked" } else { "unchecked" })
        }
        (Act::Expand { open }, None) => {
            format!("{label} did not become {}", if *open { "expanded" } else { "collapsed" })
        }
        (Act::Focus, None) => format!("{label} did not take the focus"),
        (Act::ScrollIntoView, None) => {
            format!("{label} did not come into view; turn the wheel instead")
        }
        (Act::SelectCells { range }, None) => format!("{range} of {label} was not selected"),
        (Act::SelectText { text }, None) => format!("{label} does not report that {text:?} is selected"),
        (_, None) => format!("{subject} did not become as it was meant"),
    }
}

pub(super) fn unknown(action: &Action, uncertainty: &Uncertainty) -> Said {
    match (uncertainty, &action.act) {
        (Uncertainty::Pixels { in_picture: true }, _) => Said::about(
            action,
            "pixels changed, and nothing that proves it; it was found in a picture, so look at the next one",
        ),
        (Uncertainty::Pixels { in_picture: false }, Act::Scroll { .. }) => {
            Said::statement("pixels changed, and no element moved")
        }
        (Uncertainty::Pixels { in_picture: false }, _) => {
            Said::about(action, "pixels changed, and the application exposes nothing about them")
        }
        (Uncertainty::Unreadable { error }, _) => {
            Said::statement(format!("{} cannot be read any more: {error}", target(&action.aim)))
        }
    }
}
