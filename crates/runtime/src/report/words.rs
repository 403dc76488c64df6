//! What happened, in the sentences of reports, and how it is to be taken.

use deskhand_core::{
    command::Command,
    evaluation::Judgement,
    session::{ApprovalScope, AskedBy, NoAnswer, StopReason},
    states::{AppStatus, HostStatus},
};
use serde::Serialize;

use crate::story::{Asked, Doing, End, Heard, Meaning, Note, Talk};

/// How something is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Tone {
    Plain,
    Good,
    Doubtful,
    Bad,
}

/// Something to know, in words.
#[derive(Debug, Clone, Serialize)]
pub(super) struct NoteLine {
    pub(super) tone: Tone,
    pub(super) text: String,
}

impl NoteLine {
    pub(super) fn of(note: &Note) -> Self {
        let (tone, text) = match note {
            Note::Changed { model, desktop, program } => (
                Tone::Plain,
                format!("from here on the session runs with model {model} on desktop {desktop} ({program})"),
            ),
            Note::LookFailed(failure) => (Tone::Bad, format!("nothing could be seen: {failure}")),
            Note::Stopped(reason) => (Tone::Bad, stop_words(*reason).to_owned()),
            Note::Resumed { desktop_kept } => {
                let desktop = if *desktop_kept { "kept" } else { "gone with all its windows" };
                let text = format!(
                    "the process had ended here, and the session was resumed; the desktop was {desktop}"
                );
                (Tone::Doubtful, text)
            }
        };
        Self { tone, text }
    }
}

const fn stop_words(reason: StopReason) -> &'static str {
    match reason {
        StopReason::WallTime => "the time of the round ran out",
        StopReason::User => "the user stopped it",
        StopReason::Signal => "the process was told to end",
    }
}

/// A question or an approval, in words.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TalkLine {
    /// `question` or `approval`.
    pub(super) kind: &'static str,
    /// The step it belongs to or follows; 0 before the first.
    pub(super) step: u32,
    /// The questions, or the commands that would be run.
    pub(super) asked: Vec<String>,
    /// Why it is asked.
    pub(super) reason: String,
    pub(super) tone: Tone,
    /// What the user said, or what stood in for it; an answer for each question.
    pub(super) answers: Vec<String>,
    pub(super) waited_ms: u64,
}

impl TalkLine {
    pub(super) fn of(talk: &Talk) -> Self {
        let (kind, asked, reason) = match &talk.asked {
            Asked::Questions(questions) => {
                let asked = questions.iter().map(|question| question.text.clone()).collect();
                ("question", asked, String::new())
            }
            Asked::Approval(approval) => {
                let reason = match &approval.asked_by {
                    AskedBy::Model => approval.reason.clone(),
                    AskedBy::Policy { rule } => format!("{} (rule: {rule})", approval.reason),
                };
                ("approval", approval.commands.iter().map(Command::to_line).collect(), reason)
            }
        };
        let answers = talk.heard.as_ref().map_or_else(|| vec!["no answer yet".to_owned()], heard_words);
        let (step, waited_ms) = (talk.step, talk.waited_ms);
        Self { kind, step, asked, reason, tone: talk_tone(talk), answers, waited_ms }
    }
}

fn heard_words(heard: &Heard) -> Vec<String> {
    let one = match heard {
        Heard::Answers(answers) => return answers.clone(),
        Heard::Nobody(NoAnswer::NoChannel) => "nobody could be asked".to_owned(),
        Heard::Nobody(NoAnswer::TimedOut) => "no answer came in time".to_owned(),
        Heard::Approved(ApprovalScope::Once) => "approved".to_owned(),
        Heard::Approved(ApprovalScope::Session) => "approved for the whole session".to_owned(),
        Heard::Rejected(None) => "rejected".to_owned(),
        Heard::Rejected(Some(instruction)) => format!("rejected: {instruction}"),
    };
    vec![one]
}

/// How what came of a question is to be taken.
pub(super) const fn talk_tone(talk: &Talk) -> Tone {
    match &talk.heard {
        Some(Heard::Answers(_)) => Tone::Plain,
        Some(Heard::Approved(_)) => Tone::Good,
        Some(Heard::Rejected(_)) => Tone::Bad,
        Some(Heard::Nobody(_)) | None => Tone::Doubtful,
    }
}

/// How a note is to be taken.
pub(super) const fn note_tone(note: &Note) -> Tone {
    match note {
        Note::Changed { .. } => Tone::Plain,
        Note::LookFailed(_) | Note::Stopped(_) => Tone::Bad,
        Note::Resumed { .. } => Tone::Doubtful,
    }
}

/// How the status of a reply is to be taken.
pub(super) const fn status_tone(meaning: Option<Meaning>) -> Tone {
    match meaning {
        Some(
            Meaning::Host(HostStatus::Finish)
            | Meaning::App(AppStatus::Finish)
            | Meaning::Judged(Judgement::Yes),
        ) => Tone::Good,
        Some(
            Meaning::Host(HostStatus::Fail | HostStatus::Error)
            | Meaning::App(AppStatus::Fail | AppStatus::Error)
            | Meaning::Judged(Judgement::No),
        ) => Tone::Bad,
        Some(
            Meaning::Host(HostStatus::Pending | HostStatus::Confirm)
            | Meaning::App(AppStatus::Pending | AppStatus::Confirm)
            | Meaning::Judged(Judgement::Unsure),
        ) => Tone::Doubtful,
        Some(
            Meaning::Host(HostStatus::Continue | HostStatus::Assign)
            | Meaning::App(AppStatus::Continue | AppStatus::Screenshot),
        )
        | None => Tone::Plain,
    }
}

/// How a journal ends that does not come to the end of its session; empty for one that does.
pub(super) fn end_words(end: &End) -> String {
    if end.complete {
        return String::new();
    }
    let doing = end.doing.as_ref().map(|doing| format!(", {}", doing_words(doing))).unwrap_or_default();
    format!("The journal ends here, with record {}{doing}.", end.seq)
}

fn doing_words(doing: &Doing) -> String {
    match doing {
        Doing::AwaitingRequest => "while it waited for the next request".to_owned(),
        Doing::Looking => "while it looked".to_owned(),
        Doing::AskingModel => "while the model was asked".to_owned(),
        Doing::Calling(tool) => format!("while `{tool}` ran; whether that took effect is not known"),
        Doing::Delegating(agent) => {
            format!("while agent {agent} worked; whether that took effect is not known")
        }
        Doing::AskingUser => "while the user was asked a question".to_owned(),
        Doing::AwaitingApproval => "while an approval was awaited; nothing of it was carried out".to_owned(),
        Doing::Finishing => "right after the outcome was known".to_owned(),
    }
}
