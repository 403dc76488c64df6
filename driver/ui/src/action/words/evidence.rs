//! The words for proofs, shortfalls and uncertainties.

use super::{
    ReportSentence, cancelled::interrupted, condition_label, refusal::because, target, waited::waited,
};
use crate::action::{
    ActionKind, ActionOutcome, ActionProof, Blindness, CellMismatch, ElementDelta, ElementRef, PostCondition,
    SelectionMethod, Shortfall, TextContextDiff, Uncertainty, WindowRef,
};

/// The most cells with another content that are named.
const MISMATCHES_SHOWN: usize = 5;

pub(super) fn seen(action: &ActionOutcome, proof: &ActionProof) -> ReportSentence {
    let label = || target(&action.aim);
    match proof {
        ActionProof::WindowOpened { window } => {
            if let ActionKind::Launch { program } = &action.act {
                return ReportSentence::statement(format!("{program} opened {}", window.label())).timed();
            }
            let title =
                if window.title.is_empty() { String::new() } else { format!(" “{}”", window.title) };
            ReportSentence::about(action, format!("{}{title} opened", window.kind_word())).timed()
        }
        ActionProof::WindowClosed { window } if action.act == ActionKind::Close => {
            ReportSentence::statement(format!("{} is closed", window.label()))
        }
        ActionProof::WindowClosed { window } => {
            ReportSentence::about(action, format!("“{}” closed", window.title)).timed()
        }
        ActionProof::PageAsks { message } => {
            ReportSentence::about(action, format!("the page asks “{message}”; `answer_dialog` answers"))
                .timed()
        }
        ActionProof::TitleChanged { title } => {
            ReportSentence::about(action, format!("the title changed to “{title}”")).timed()
        }
        ActionProof::Gone { element } => {
            ReportSentence::about(action, format!("{} disappeared", element.label())).timed()
        }
        ActionProof::Changed { element, now } => ReportSentence::about(action, changed(element, now)).timed(),
        ActionProof::Says { element, text } => ReportSentence::about(action, says(element, text)).timed(),
        ActionProof::Holds { .. } if matches!(action.act, ActionKind::WaitFor { .. }) => {
            ReportSentence::statement(holds(action)).timed()
        }
        ActionProof::Holds { already } => {
            ReportSentence::statement(format!("{}{}", holds(action), if *already { " already" } else { "" }))
        }
        ActionProof::Active { window } => {
            ReportSentence::statement(format!("{} has the focus", window.label()))
        }
        ActionProof::InFront { window } => {
            ReportSentence::statement(format!("{} is in front", window.label()))
        }
        ActionProof::Reads { text, completion } => reads(action, text, completion.as_deref()),
        ActionProof::HasLength => ReportSentence::about(
            action,
            "the field shows as many dots as it should; it shows no more of its text",
        ),
        ActionProof::Number { value } => ReportSentence::statement(format!("{} is {value}", label())),
        ActionProof::Cells { cells, corrected, shown } => ReportSentence::about(
            action,
            format!("{}{}", read_as_meant(*cells, *cells, *corrected, &[]), shown_cells(shown)),
        ),
        ActionProof::Moved => ReportSentence::statement("scrolled: elements moved"),
        ActionProof::TextRead { characters, given } => {
            let cut =
                if given < characters { format!("; the first {given} are returned") } else { String::new() };
            ReportSentence::statement(format!("{} has {characters} characters of text{cut}", label()))
        }
        ActionProof::CellsRead { range } => {
            let shape = range.shape();
            ReportSentence::about(action, format!("{} × {} cells ({range})", shape.rows, shape.columns))
        }
        ActionProof::ClipboardRead { characters } => ReportSentence::statement(match characters {
            Some(characters) => format!("the clipboard holds {characters} characters of text"),
            None => "the clipboard holds no text".to_owned(),
        }),
        ActionProof::Summarized { titles, elements } => ReportSentence::statement(format!(
            "{} surfaces with {elements} elements: {}",
            titles.len(),
            titles.join(", ")
        )),
        ActionProof::Saved { path, bytes, already: true } => {
            ReportSentence::statement(format!("{} has no unsaved changes; {path} has {bytes} bytes", label()))
        }
        ActionProof::Saved { path, bytes, already: false } => {
            ReportSentence::statement(format!("{path} is saved ({bytes} bytes)")).timed()
        }
        ActionProof::Waited { drawn, quiet } => waited(action, *drawn, *quiet),
    }
}

fn reads(action: &ActionOutcome, text: &str, completion: Option<&str>) -> ReportSentence {
    if matches!(action.act, ActionKind::Type { .. }) {
        let outcome = match completion {
            Some(completion) => {
                format!("reads as typed, and the application completes it with {completion:?} (selected)")
            }
            None => "reads as typed".to_owned(),
        };
        return ReportSentence::about(action, outcome);
    }
    ReportSentence::statement(present_text(action, text))
}

/// Describes cells that show something else than the value written.
fn shown_cells(shown: &[CellMismatch]) -> String {
    let mut text = String::new();
    for CellMismatch { cell, wanted, found } in shown.iter().take(MISMATCHES_SHOWN) {
        text.push_str(&format!("; {cell} with {wanted:?} shows {found:?}"));
    }
    if shown.len() > MISMATCHES_SHOWN {
        text.push_str(&format!("; {} more show another format or result", shown.len() - MISMATCHES_SHOWN));
    }
    text
}

/// The text that is there, after an action that replaced it.
fn present_text(action: &ActionOutcome, text: &str) -> String {
    if matches!(action.act, ActionKind::WriteClipboard { .. }) {
        return format!("the clipboard holds {text:?}");
    }
    let pasted = if matches!(action.act, ActionKind::Paste { .. }) { " after a paste" } else { "" };
    format!("{} reads {text:?}{pasted}", target(&action.aim))
}

/// The post-condition of an action, as a statement.
fn holds(action: &ActionOutcome) -> String {
    let label = target(&action.aim);
    match action.act.postcondition() {
        Some(PostCondition::Checked(true)) => format!("{label} is checked"),
        Some(PostCondition::Checked(false)) => format!("{label} is not checked"),
        Some(PostCondition::Expanded(true)) => format!("{label} is expanded"),
        Some(PostCondition::Expanded(false)) => format!("{label} is collapsed"),
        Some(PostCondition::Focused | PostCondition::WindowActive) => format!("{label} has the focus"),
        Some(PostCondition::TextInView(text)) => format!("{text:?} is in view"),
        Some(PostCondition::FileTaken(path)) => format!("{path} is chosen"),
        Some(PostCondition::InView) => format!("{label} is in view"),
        Some(PostCondition::ItemSelected(item)) => format!("{} in {label} is selected", item.label()),
        Some(PostCondition::ItemsSelected(items)) => {
            format!("{} in {label}, and nothing else there, are selected", items.join(", "))
        }
        Some(PostCondition::CellsSelected(range)) => format!("{range} of {label} is selected"),
        Some(PostCondition::TextSelected(text)) => format!("{text:?} is selected"),
        Some(PostCondition::Text(text)) => format!("{label} reads {text:?}"),
        Some(PostCondition::Number(value)) => format!("{label} is {value}"),
        Some(PostCondition::Cells(range)) => format!("{range} of {label} is written"),
        Some(PostCondition::WindowOpen(program)) => format!("{program} is open"),
        Some(PostCondition::Saved(path)) => format!("{} is saved", path.unwrap_or(&label)),
        Some(PostCondition::WindowClosed) => format!("{label} is closed"),
        Some(PostCondition::Condition(condition)) => condition_label(condition),
        // Only a page tab is found to be where the path leads already.
        None if matches!(action.act, ActionKind::Visit { .. }) => format!("{label} is selected"),
        None => format!("{} is done", super::subject(action)),
    }
}

fn says(element: &ElementRef, text: &str) -> String {
    let who = if element.name.contains(text) { element.role.to_string() } else { element.label() };
    format!("{who} says {text:?}")
}

fn changed(element: &ElementRef, now: &ElementDelta) -> String {
    let label = element.label();
    match now {
        ElementDelta::State { state, on } => {
            format!("{label} is {} {}", if *on { "now" } else { "no longer" }, state.name())
        }
        ElementDelta::Enabled { on } => {
            format!("{label} became {}", if *on { "enabled" } else { "disabled" })
        }
        ElementDelta::Named { name } => format!("{label} was renamed to \"{name}\""),
        ElementDelta::Value { value: Some(value) } => format!("{label} is now {value}"),
        ElementDelta::Value { value: None } => format!("{label} no longer has a value"),
        ElementDelta::Reads { text } => format!("{label} now reads \"{text}\""),
        ElementDelta::Came => format!("{label} appeared"),
        ElementDelta::Went => format!("{label} disappeared"),
        ElementDelta::Focused => "it took the focus".to_owned(),
        ElementDelta::FocusMovedHere => format!("the focus moved to {label}"),
        ElementDelta::Caret { at } => format!("the caret of {label} moved to {at}"),
        ElementDelta::TextSelected { characters: 0 } => format!("nothing of {label} is selected any more"),
        ElementDelta::TextSelected { characters } => {
            format!("{characters} characters of {label} are selected")
        }
        ElementDelta::Changed => format!("{label} changed"),
    }
}

fn read_as_meant(cells: u64, right: u64, corrected: u64, mismatches: &[CellMismatch]) -> String {
    let mut text = format!("{right} of {cells} cells read as written");
    if corrected > 0 {
        text.push_str(&format!(", {corrected} written again"));
    }
    for mismatch in mismatches.iter().take(MISMATCHES_SHOWN) {
        let CellMismatch { cell, wanted, found } = mismatch;
        text.push_str(&format!("; {cell} shows {found:?}, expected {wanted:?}"));
    }
    text
}

pub(super) fn not_seen(action: &ActionOutcome, shortfall: &Shortfall) -> ReportSentence {
    let label = || target(&action.aim);
    let waited_ms = action.waited_ms;
    match shortfall {
        Shortfall::NothingChanged { pixels, then } => {
            let text = nothing_changed(waited_ms, *pixels);
            let then = then.as_ref().map(|refusal| format!("; then {}", because(refusal)));
            ReportSentence::about(action, text + &then.unwrap_or_default())
        }
        Shortfall::NotReached { way } => ReportSentence::statement(not_reached(action, *way)),
        Shortfall::OtherActive { active, error } => {
            let has = active.as_ref().map_or_else(|| "no window".to_owned(), WindowRef::label);
            let why = error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
            ReportSentence::statement(format!("{} did not take the focus; {has} has it{why}", label()))
        }
        Shortfall::ReadsOtherwise { text, around } => otherwise(action, text, around.as_ref()),
        Shortfall::OtherLength { characters, expected } => ReportSentence::about(
            action,
            format!("the field holds {characters} characters, expected {expected}"),
        ),
        Shortfall::NotCleared { text } => ReportSentence::statement(format!(
            "{} could not be cleared and still reads {text:?}; nothing was written",
            label()
        )),
        Shortfall::OtherNumber { value, text } => {
            let shows = text.as_ref().map(|text| format!(" and shows {text:?}")).unwrap_or_default();
            let is = value.map_or_else(|| "has no value any more".to_owned(), |value| format!("is {value}"));
            ReportSentence::statement(format!("{} {is}{shows}, expected {}", label(), meant_number(action)))
        }
        Shortfall::Cells { cells, corrected, mismatches } => {
            let right = cells.saturating_sub(u64::try_from(mismatches.len()).unwrap_or(u64::MAX));
            ReportSentence::about(action, read_as_meant(*cells, right, *corrected, mismatches))
        }
        Shortfall::CellTakesNothing { cell } => ReportSentence::statement(format!(
            "{cell} of {} does not accept typed text (tried twice); nothing else was written",
            label()
        )),
        Shortfall::NothingMoved => {
            ReportSentence::statement("nothing moved; it may already be scrolled to the end")
        }
        Shortfall::NoWindow { ended, said } => {
            let how = no_window(ended.as_deref(), waited_ms, said);
            ReportSentence::statement(format!("{} {how}", super::subject(action)))
        }
        Shortfall::Asks { dialog } => ReportSentence::statement(format!(
            "{} is still open: dialog {} needs an answer first",
            label(),
            dialog.label()
        )),
        Shortfall::StillOpen => {
            ReportSentence::statement(format!("{} did not close within {waited_ms} ms", label()))
        }
        Shortfall::NotSaved { path, modified, changed } => {
            ReportSentence::about(action, not_saved(path.as_deref(), *modified, *changed))
        }
        Shortfall::Behind { window } => ReportSentence::statement(format!(
            "{} has the focus, but {} is in front of it",
            label(),
            window.label()
        )),
        Shortfall::StoppedTyping { extent, around } => ReportSentence::about(
            action,
            format!(
                "stopped after {} of {} characters, which do not read as typed: there it was {:?} before and is {:?} now",
                extent.done, extent.total, around.before, around.after
            ),
        ),
        Shortfall::Cancelled { cancellation } => ReportSentence::about(action, interrupted(cancellation)),
        Shortfall::NotFulfilled => {
            ReportSentence::statement(format!("condition not met within {waited_ms} ms: {}", holds(action)))
        }
    }
}

fn nothing_changed(waited_ms: u64, pixels: bool) -> String {
    if pixels {
        format!("only pixels changed within {waited_ms} ms; check a picture of the window")
    } else {
        format!("nothing changed within {waited_ms} ms")
    }
}

fn otherwise(action: &ActionOutcome, text: &str, around: Option<&TextContextDiff>) -> ReportSentence {
    let typed = matches!(action.act, ActionKind::Type { .. });
    match around {
        Some(TextContextDiff { before, after }) => ReportSentence::about(
            action,
            format!("does not read as written: there it was {before:?} before and is {after:?} now"),
        ),
        None if typed => ReportSentence::about(action, format!("reads {text:?} instead")),
        None => ReportSentence::statement(present_text(action, text)),
    }
}

/// The number that an action was to set.
fn meant_number(action: &ActionOutcome) -> String {
    if let Some(PostCondition::Number(value)) = action.act.postcondition() {
        return value.to_string();
    }
    "another".to_owned()
}

/// Describes a program that showed no window, with its last output.
fn no_window(ended: Option<&str>, waited_ms: u64, said: &str) -> String {
    let how = match ended {
        Some(how) => format!("exited without showing a window ({how})"),
        None => format!("started but showed no window within {waited_ms} ms"),
    };
    match said {
        "" => how,
        said => format!("{how}; it said {:?}", said.replace('\n', "; ")),
    }
}

fn not_saved(path: Option<&str>, modified: Option<bool>, changed: bool) -> String {
    let path = path.unwrap_or("the document");
    match (modified, changed) {
        (Some(true), true) => {
            format!("{path} was written, but the document still has unsaved changes")
        }
        (Some(true), false) => format!("{path} was not written, and the document still has unsaved changes"),
        (_, true) => format!("{path} was not written completely"),
        (_, false) => format!("{path} was not written"),
    }
}

fn not_reached(action: &ActionOutcome, way: Option<SelectionMethod>) -> String {
    let (label, subject) = (target(&action.aim), super::subject(action));
    match (way, action.act.postcondition()) {
        (Some(SelectionMethod::Click), _) => format!("{subject} was clicked but is not selected"),
        (Some(SelectionMethod::Keys), _) => format!("{subject} was not reached with keys"),
        (Some(SelectionMethod::OpenedList), _) => {
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
        (None, Some(PostCondition::TextInView(text))) => {
            format!(
                "{text:?} did not come into view in {label}, which is scrolled as far as it goes in that direction"
            )
        }
        (None, Some(PostCondition::CellsSelected(ranges))) if ranges.single().is_none() => {
            format!("{ranges} of {label} were not selected together; act on one range after the other")
        }
        (None, Some(PostCondition::CellsSelected(range))) => format!("{range} of {label} was not selected"),
        (None, Some(PostCondition::TextSelected(text))) => {
            format!("{label} does not report that {text:?} is selected")
        }
        (None, _) => format!("{subject} had no effect"),
    }
}

pub(super) fn unknown(action: &ActionOutcome, uncertainty: &Uncertainty) -> ReportSentence {
    match (uncertainty, &action.act) {
        (Uncertainty::Elsewhere { element, now }, _) => ReportSentence::about(
            action,
            format!("{}, which does not show whether it worked", changed(element, now)),
        ),
        (Uncertainty::NothingShown, _) => {
            ReportSentence::about(action, "it was sent, and nothing shows whether it had an effect")
        }
        (Uncertainty::Pixels { in_picture: true }, _) => ReportSentence::about(
            action,
            "pixels changed, which proves nothing; the target was found in a picture, so check the next one",
        ),
        (Uncertainty::Pixels { in_picture: false }, ActionKind::Scroll { .. }) => {
            ReportSentence::statement("pixels changed, but no element moved")
        }
        (Uncertainty::Pixels { in_picture: false }, _) => {
            ReportSentence::about(action, "pixels changed, but the application exposes no change")
        }
        (Uncertainty::Blind { why: Blindness::Terminal }, _) => {
            ReportSentence::about(action, "typed once; a terminal is not read back, so look at what it shows")
        }
        (Uncertainty::Blind { why: Blindness::Password }, _) => {
            ReportSentence::about(action, "written once; a password is not read back")
        }
        (Uncertainty::Blind { why: Blindness::Century }, _) => ReportSentence::about(
            action,
            "it reads back as written, but its year shows two digits: nothing shows the century",
        ),
        (Uncertainty::FileUnchanged { path }, _) => ReportSentence::about(
            action,
            match path {
                Some(path) => format!("{path} did not change; it may have been saved before"),
                None => "the file of the document is not known, so that nothing shows whether it was saved"
                    .to_owned(),
            },
        ),
        (Uncertainty::Cancelled { cancellation }, _) => {
            ReportSentence::about(action, interrupted(cancellation))
        }
        (Uncertainty::Unreadable { error }, _) => {
            ReportSentence::statement(format!("{} can no longer be read: {error}", target(&action.aim)))
        }
    }
}
