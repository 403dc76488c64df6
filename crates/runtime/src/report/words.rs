//! The text and tone of events in reports.

use deskhand_core::{
    command::Command,
    evaluation::Judgement,
    session::{ApprovalScope, AskedBy, NoAnswer, StopReason},
    states::{AppStatus, HostStatus},
};
use serde::Serialize;

use crate::{
    story::{Asked, Doing, End, Meaning, Note, Talk, UserReply},
    words::{action_details, hands_words},
};

/// The tone of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tone {
    Plain,
    Good,
    Doubtful,
    Bad,
}

/// A note as text.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct NoteLine {
    pub(crate) tone: Tone,
    pub(crate) text: String,
}

impl NoteLine {
    pub(crate) fn of(note: &Note) -> Self {
        let (tone, text) = match note {
            Note::Changed { model, desktop, program } => (
                Tone::Plain,
                format!("the session continues with model {model} on desktop {desktop} ({program})"),
            ),
            Note::NotRetrieved(problems) => {
                (Tone::Bad, format!("retrievers found nothing: {}", problems.join("; ")))
            }
            Note::LookFailed(failure) => (Tone::Bad, format!("the observation failed: {failure}")),
            Note::Stopped(reason) => (Tone::Bad, stop_words(*reason).to_owned()),
            Note::Suspended(reason) => (Tone::Bad, format!("the session was suspended: {reason}")),
            Note::Told(text) => (Tone::Plain, format!("the user said: {text}")),
            Note::TakenOver => (Tone::Doubtful, "the user took over mouse and keyboard".to_owned()),
            Note::HandedBack { acts, unwatched, words } => {
                (Tone::Plain, hands_words(acts, unwatched, words.as_deref()))
            }
            Note::Resumed { desktop_kept } => {
                let desktop = if *desktop_kept { "kept" } else { "gone with all its windows" };
                let text =
                    format!("the session was resumed after its process ended; the desktop was {desktop}");
                (Tone::Doubtful, text)
            }
        };
        Self { tone, text }
    }
}

const fn stop_words(reason: StopReason) -> &'static str {
    match reason {
        StopReason::WallTime => "the wall-time budget of the round ran out",
        StopReason::User => "stopped by the user",
        StopReason::Signal => "the process received a signal",
    }
}

/// A question or an approval as text.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TalkLine {
    /// `question` or `approval`.
    pub(crate) kind: &'static str,
    /// The step that it belongs to or follows; 0 before the first.
    pub(crate) step: u32,
    /// The questions, or the commands to approve.
    pub(crate) asked: Vec<String>,
    /// The reason.
    pub(crate) reason: String,
    pub(crate) tone: Tone,
    /// One answer per question, or a substitute.
    pub(crate) answers: Vec<String>,
    pub(crate) waited_ms: u64,
}

impl TalkLine {
    pub(crate) fn of(talk: &Talk) -> Self {
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
                ("approval", approval.commands.iter().map(whole_action).collect(), reason)
            }
        };
        let answers = talk.reply.as_ref().map_or_else(|| vec!["no answer yet".to_owned()], reply_words);
        let (step, waited_ms) = (talk.step, talk.waited_ms);
        Self { kind, step, asked, reason, tone: talk_tone(talk), answers, waited_ms }
    }
}

/// A command with everything that was approved.
fn whole_action(command: &Command) -> String {
    let details = action_details(command).into_iter().map(|(name, text)| format!("{name}: {text}"));
    format!("{} ({})", command.tool, details.collect::<Vec<_>>().join("; "))
}

/// Renders the reply of the user as text.
pub(crate) fn reply_words(reply: &UserReply) -> Vec<String> {
    let one = match reply {
        UserReply::Answers(answers) => return answers.clone(),
        UserReply::Nobody(NoAnswer::NoChannel) => "no user to ask".to_owned(),
        UserReply::Nobody(NoAnswer::TimedOut) => "timed out".to_owned(),
        UserReply::Approved(ApprovalScope::Once) => "approved".to_owned(),
        UserReply::Approved(ApprovalScope::Session) => "approved for the whole session".to_owned(),
        UserReply::Rejected(None) => "rejected".to_owned(),
        UserReply::Rejected(Some(instruction)) => format!("rejected: {instruction}"),
    };
    vec![one]
}

/// The tone of a reply.
pub(super) const fn talk_tone(talk: &Talk) -> Tone {
    match &talk.reply {
        Some(UserReply::Answers(_)) => Tone::Plain,
        Some(UserReply::Approved(_)) => Tone::Good,
        Some(UserReply::Rejected(_)) => Tone::Bad,
        Some(UserReply::Nobody(_)) | None => Tone::Doubtful,
    }
}

/// Returns `true` if a note tells what a person said or did of their own accord.
pub(super) const fn is_of_person(note: &Note) -> bool {
    match note {
        Note::Told(_) | Note::TakenOver | Note::HandedBack { .. } => true,
        Note::Changed { .. }
        | Note::LookFailed(_)
        | Note::NotRetrieved(_)
        | Note::Stopped(_)
        | Note::Suspended(_)
        | Note::Resumed { .. } => false,
    }
}

/// The tone of a note.
pub(super) const fn note_tone(note: &Note) -> Tone {
    match note {
        Note::Changed { .. } | Note::Told(_) | Note::HandedBack { .. } => Tone::Plain,
        Note::LookFailed(_) | Note::NotRetrieved(_) | Note::Stopped(_) | Note::Suspended(_) => Tone::Bad,
        Note::Resumed { .. } | Note::TakenOver => Tone::Doubtful,
    }
}

/// The tone of a status.
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
            | Meaning::App(AppStatus::Continue | AppStatus::Screenshot)
            | Meaning::Healed,
        )
        | None => Tone::Plain,
    }
}

/// Describes how a journal ends before the end of its session; empty if it is complete.
pub(super) fn end_words(end: &End) -> String {
    if end.complete {
        return String::new();
    }
    let doing = end.doing.as_ref().map(|doing| format!(", {}", doing_words(doing))).unwrap_or_default();
    format!("The journal ends here, at record {}{doing}.", end.seq)
}

fn doing_words(doing: &Doing) -> String {
    match doing {
        Doing::AwaitingRequest => "while waiting for the next request".to_owned(),
        Doing::Looking => "while observing".to_owned(),
        Doing::LookingUp => "while asking retrievers".to_owned(),
        Doing::AskingModel => "while querying the model".to_owned(),
        Doing::Calling(tool) => format!("while `{tool}` ran; whether it took effect is unknown"),
        Doing::Delegating(agent) => {
            format!("while agent {agent} worked; whether it took effect is unknown")
        }
        Doing::AskingUser => "while asking the user".to_owned(),
        Doing::AwaitingApproval => "while waiting for an approval; the action was not performed".to_owned(),
        Doing::Finishing => "right after the outcome".to_owned(),
    }
}
