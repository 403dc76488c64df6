//! The sentences about actions: a pure function of the data. Nothing reads them back.

mod cancelled;
mod evidence;
mod refusal;
mod waited;

use super::{
    ActionKind, ActionOutcome, ActionRefusal, Aim, Button, CallReport, Cancellation, Condition, Evidence,
    WaitedFor,
};
use crate::text::one_line;

/// From this time on a wait is explained.
const SLOW_MS: u64 = 1_000;

/// Makes the sentence of a report. A session takes it as a value, so that a test can show that no decision depends on it.
#[derive(Debug, Clone, Copy)]
pub struct CallReportFormatter {
    /// The sentence of a report.
    pub whole: fn(&CallReport) -> String,
    /// Formats the outcome for places with the command beside it.
    pub beside: fn(&CallReport) -> String,
}

impl Default for CallReportFormatter {
    fn default() -> Self {
        Self { whole: sentence, beside: beside_command }
    }
}

impl PartialEq for CallReportFormatter {
    /// Sessions that differ in words alone are equal.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl CallReportFormatter {
    /// The sentence of a report.
    pub fn of(self, report: &CallReport) -> String {
        (self.whole)(report)
    }

    /// Formats the outcome of a report for places with the command beside it.
    pub fn beside_command(self, report: &CallReport) -> String {
        (self.beside)(report)
    }
}

/// The sentence for model and person: what happened, or why not and what to do.
pub fn sentence(report: &CallReport) -> String {
    match report {
        CallReport::Action { action } => whole(action),
        CallReport::Sequence { actions } => actions.iter().map(whole).collect::<Vec<_>>().join("; "),
        CallReport::Native { did, read_back } => match read_back {
            Some(proof) => format!("{did}; {proof}"),
            None => did.clone(),
        },
        CallReport::Text { text } => text.clone(),
    }
}

/// Describes the outcome of a call for a model that reads its command beside it. Times are omitted: no model
/// decides by them.
fn beside_command(report: &CallReport) -> String {
    match report {
        CallReport::Action { action } => said(action).outcome + &in_place_of(action),
        CallReport::Sequence { actions } => match actions.as_slice() {
            // The last one says what came of all, unless one before it went wrong.
            [.., last] if actions.iter().all(|action| matches!(action.evidence, Evidence::Seen { .. })) => {
                said(last).outcome + &in_place_of(last)
            }
            _ => sentence(report),
        },
        CallReport::Native { .. } | CallReport::Text { .. } => sentence(report),
    }
}

/// Describes the completed part of a cancelled action.
pub(super) fn interrupted(cancellation: &Cancellation) -> String {
    cancelled::interrupted(cancellation)
}

/// The words for a refusal alone.
pub(super) fn reason(refusal: &ActionRefusal) -> String {
    refusal::because(refusal)
}

/// Describes the outcome of a call on one line, for places that display the command and the duration beside it.
pub fn outcome(report: &CallReport) -> String {
    match report {
        CallReport::Action { action } => one_line(&said(action).outcome),
        CallReport::Sequence { .. } | CallReport::Native { .. } | CallReport::Text { .. } => {
            one_line(&sentence(report))
        }
    }
}

/// A sentence in its parts.
struct ReportSentence {
    /// Description of the action, where the outcome does not name it.
    subject: Option<String>,
    outcome: String,
    /// `true` if the wait is worth mentioning.
    timed: bool,
}

impl ReportSentence {
    /// A statement that names its subject.
    fn statement(outcome: impl Into<String>) -> Self {
        Self { subject: None, outcome: outcome.into(), timed: false }
    }

    fn about(action: &ActionOutcome, outcome: impl Into<String>) -> Self {
        Self { subject: Some(subject(action)), outcome: outcome.into(), timed: false }
    }

    fn timed(self) -> Self {
        Self { timed: true, ..self }
    }
}

fn whole(action: &ActionOutcome) -> String {
    let said = said(action);
    let mut text = said.subject.map(|subject| format!("{subject}: ")).unwrap_or_default();
    text.push_str(&said.outcome);
    if said.timed {
        let busy = action.waited_ms >= SLOW_MS && action.waited_for.contains(&WaitedFor::Answer);
        let because = if busy { ", because it was busy" } else { "" };
        text.push_str(&format!(" after {} ms{because}", action.waited_ms));
    }
    text + &in_place_of(action)
}

/// Which element was taken instead of one that is gone.
fn in_place_of(action: &ActionOutcome) -> String {
    let element = action.aim.named_element();
    let gone = element.and_then(|element| Some((element.instead_of?, element.id)));
    gone.map(|(gone, id)| format!(" ({gone} is gone; {id} took its place)")).unwrap_or_default()
}

fn said(action: &ActionOutcome) -> ReportSentence {
    match &action.evidence {
        Evidence::Seen { proof } => evidence::seen(action, proof),
        Evidence::NotSeen { shortfall } => evidence::not_seen(action, shortfall),
        Evidence::Unknown { uncertainty } => evidence::unknown(action, uncertainty),
        Evidence::Refused { refusal } => refused(action, refusal),
    }
}

fn refused(action: &ActionOutcome, refusal: &ActionRefusal) -> ReportSentence {
    let because = refusal::because(refusal);
    if let ActionKind::Visit { path } = &action.act
        && !path.is_empty()
    {
        return ReportSentence::statement(format!("{}: {because}", path.join(" › ")));
    }
    if let ActionKind::Press { chord } = &action.act {
        return ReportSentence::statement(format!("{because}; {chord} was not pressed"));
    }
    ReportSentence::statement(because)
}

/// Describes the action: `click push button "Finish"`.
fn subject(action: &ActionOutcome) -> String {
    let target = target(&action.aim);
    match &action.act {
        ActionKind::Click { button, count, held } => {
            let keys: String = held.iter().map(|key| format!("{key}+")).collect();
            format!("{keys}{} {target}", click_verb(*button, *count))
        }
        ActionKind::Drag { to } => {
            let to = to.map(|to| format!(" to ({}, {})", to.x, to.y)).unwrap_or_default();
            match &action.aim {
                Aim::Point { point, .. } => format!("drag from ({}, {}){to}", point.x, point.y),
                Aim::Element { .. }
                | Aim::Window { .. }
                | Aim::Focus { .. }
                | Aim::Desktop
                | Aim::Unresolved => format!("drag {target}{to}"),
            }
        }
        ActionKind::Press { chord } => format!("press {chord}"),
        ActionKind::Type { text } => format!("type {text:?} into {target}"),
        ActionKind::Invoke { action } => format!("{action} {target}"),
        ActionKind::Visit { path } => format!("{}: click {target}", path.join(" › ")),
        ActionKind::WriteCells { range } => format!("write {range} of {target}"),
        ActionKind::SelectItem { item } => format!("{} in {target}", item.label()),
        ActionKind::SelectItems { items } => format!("{} in {target}", items.join(", ")),
        ActionKind::Launch { program } => program.clone(),
        ActionKind::Save => format!("save {target}"),
        ActionKind::SaveAs { path } => format!("save {target} as {path}"),
        ActionKind::ChooseFile { path } => format!("choose {path} in {target}"),
        ActionKind::Hover => format!("hover over {target}"),
        ActionKind::ScrollTo { text } => format!("scroll {target} to {text:?}"),
        ActionKind::Paste { .. }
        | ActionKind::SetText { .. }
        | ActionKind::SetNumber { .. }
        | ActionKind::Check { .. }
        | ActionKind::Expand { .. }
        | ActionKind::SelectCells { .. }
        | ActionKind::SelectText { .. }
        | ActionKind::Focus
        | ActionKind::Scroll { .. }
        | ActionKind::ScrollIntoView
        | ActionKind::ReadText
        | ActionKind::ReadCells
        | ActionKind::ReadSummary
        | ActionKind::ReadClipboard
        | ActionKind::WriteClipboard { .. }
        | ActionKind::Activate
        | ActionKind::Close
        | ActionKind::Wait { .. }
        | ActionKind::WaitFor { .. } => target,
    }
}

fn target(aim: &Aim) -> String {
    match aim {
        Aim::Element { element } => element.label(),
        Aim::Point { point, on: Some(element) } => {
            format!("({}, {}) on {}", point.x, point.y, element.label())
        }
        Aim::Point { point, on: None } => format!("({}, {})", point.x, point.y),
        Aim::Window { window } => window.label(),
        Aim::Focus { window } => format!("the focus of {}", window.label()),
        Aim::Desktop => "the desktop".to_owned(),
        Aim::Unresolved => "the target".to_owned(),
    }
}

const fn click_verb(button: Button, count: u8) -> &'static str {
    match (button, count) {
        (Button::Left, 2) => "double click",
        (Button::Left, 3) => "triple click",
        (Button::Left, _) => "click",
        (Button::Middle, _) => "middle click",
        (Button::Right, _) => "right click",
    }
}

fn condition_label(condition: &Condition) -> String {
    match condition {
        Condition::Appears(wanted) => format!("{} shows", wanted.label()),
        Condition::Disappears(wanted) => format!("{} does not show", wanted.label()),
        Condition::TitleContains(text) => format!("a title contains \"{text}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ElementQuery, Role, WindowKind,
        action::{ActionProof, Among, ElementDelta, ElementRef, Shortfall, WindowRef},
        ids::{ElementId, WindowId},
    };

    fn element(role: Role, name: &str) -> ElementRef {
        ElementRef { id: ElementId(5), role, name: name.to_owned(), instead_of: None }
    }

    fn on(role: Role, name: &str) -> Aim {
        Aim::Element { element: element(role, name) }
    }

    fn check(act: ActionKind, aim: Aim, evidence: impl Into<Evidence>, sentence: &str, outcome: &str) {
        let report = CallReport::from(ActionOutcome::new(act, aim, evidence).after(12));
        assert_eq!((report.sentence().as_str(), super::outcome(&report).as_str()), (sentence, outcome));
    }

    #[test]
    fn a_long_wait_for_a_busy_application_is_explained() {
        let check = |waited_ms: u64, expected: &str| {
            let act = ActionKind::Click { button: Button::Left, count: 1, held: Vec::new() };
            let proof = ActionProof::TitleChanged { title: "Saved".to_owned() };
            let action = ActionOutcome::new(act, on(Role::PUSH_BUTTON, "Save"), proof).after(waited_ms);
            let report = CallReport::from(action.waiting_for(vec![WaitedFor::Answer]));
            let sentence =
                format!("click push button \"Save\": the title changed to “Saved” after {expected}");
            assert_eq!(report.sentence(), sentence);
        };
        check(40, "40 ms");
        check(4_000, "4000 ms, because it was busy");
    }

    #[test]
    fn sentences_name_what_was_done_and_what_came_of_it() {
        let click = || ActionKind::Click { button: Button::Left, count: 1, held: Vec::new() };
        let finish = || on(Role::PUSH_BUTTON, "Finish");
        let dialog = WindowRef { id: WindowId(2), kind: WindowKind::Dialog, title: "Save As".to_owned() };
        check(
            click(),
            finish(),
            ActionProof::WindowOpened { window: dialog.clone() },
            "click push button \"Finish\": dialog “Save As” opened after 12 ms",
            "dialog “Save As” opened",
        );
        let now = ElementDelta::Enabled { on: false };
        check(
            click(),
            finish(),
            ActionProof::Changed { element: element(Role::LABEL, "Next"), now },
            "click push button \"Finish\": label \"Next\" became disabled after 12 ms",
            "label \"Next\" became disabled",
        );
        check(
            click(),
            finish(),
            Shortfall::NothingChanged { pixels: false, then: None },
            "click push button \"Finish\": nothing changed within 12 ms",
            "nothing changed within 12 ms",
        );
        check(
            ActionKind::Launch { program: "Calc".to_owned() },
            Aim::Window { window: dialog.clone() },
            ActionProof::WindowOpened { window: dialog },
            "Calc opened w2 “Save As” after 12 ms",
            "Calc opened w2 “Save As”",
        );
        check(
            ActionKind::SelectItem { item: ElementQuery::new(Role::LIST_ITEM, "A4") },
            on(Role::LIST, "Size"),
            ActionProof::Holds { already: true },
            "list item \"A4\" in list \"Size\" is selected already",
            "list item \"A4\" in list \"Size\" is selected already",
        );
        check(
            ActionKind::Visit { path: vec!["General".to_owned()] },
            on(Role::PAGE_TAB, "General"),
            ActionProof::Holds { already: true },
            "page tab \"General\" is selected already",
            "page tab \"General\" is selected already",
        );
        let items = vec!["A5".to_owned(), "A3".to_owned()];
        let among = Among::Items { list: element(Role::LIST, "Size"), items };
        check(
            ActionKind::SelectItem { item: ElementQuery::named("A4") },
            Aim::Unresolved,
            ActionRefusal::NotFound { name: "A4".to_owned(), among },
            "list \"Size\" has no item \"A4\"; it has: A5, A3",
            "list \"Size\" has no item \"A4\"; it has: A5, A3",
        );
    }
}
