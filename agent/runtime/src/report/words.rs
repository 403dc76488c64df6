//! The text and tone of events in reports.

use deskhand_machine::{
    command::ToolCommand,
    evaluation::Judgement,
    session::{ApprovalScope, AskedBy, NoAnswer, StopReason},
    states::{AppStatus, HostStatus},
};
use serde::Serialize;

use crate::{
    story::{JournalEnd, Meaning, SessionActivity, SessionNote, Talk, UserInquiry, UserReply},
    words::{action_details, hands_words},
};

/// The tone of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReportTone {
    Plain,
    Good,
    Doubtful,
    Bad,
}

/// A note as text.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct NoteLine {
    pub(crate) tone: ReportTone,
    pub(crate) text: String,
}

impl NoteLine {
    pub(crate) fn of(note: &SessionNote) -> Self {
        let (tone, text) = match note {
            SessionNote::Changed { model, desktop, program } => (
                ReportTone::Plain,
                format!("the session continues with model {model} on desktop {desktop} ({program})"),
            ),
            SessionNote::NotRetrieved(problems) => {
                (ReportTone::Bad, format!("retrievers found nothing: {}", problems.join("; ")))
            }
            SessionNote::LookFailed(failure) => {
                (ReportTone::Bad, format!("the observation failed: {failure}"))
            }
            SessionNote::Stopped(reason) => (ReportTone::Bad, stop_words(*reason).to_owned()),
            SessionNote::Suspended(reason) => {
                (ReportTone::Bad, format!("the session was suspended: {reason}"))
            }
            SessionNote::Told(text) => (ReportTone::Plain, format!("the user said: {text}")),
            SessionNote::TakenOver => {
                (ReportTone::Doubtful, "the user took over mouse and keyboard".to_owned())
            }
            SessionNote::HandedBack { acts, unwatched, words } => {
                (ReportTone::Plain, hands_words(acts, unwatched, words.as_deref()))
            }
            SessionNote::Resumed { desktop_kept } => {
                let desktop = if *desktop_kept { "kept" } else { "gone with all its windows" };
                let text =
                    format!("the session was resumed after its process ended; the desktop was {desktop}");
                (ReportTone::Doubtful, text)
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
    pub(crate) tone: ReportTone,
    /// One answer per question, or a substitute.
    pub(crate) answers: Vec<String>,
    pub(crate) waited_ms: u64,
}

impl TalkLine {
    pub(crate) fn of(talk: &Talk) -> Self {
        let (kind, asked, reason) = match &talk.asked {
            UserInquiry::Questions(questions) => {
                let asked = questions.iter().map(|question| question.text.clone()).collect();
                ("question", asked, String::new())
            }
            UserInquiry::Approval(approval) => {
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
fn whole_action(command: &ToolCommand) -> String {
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
pub(super) const fn talk_tone(talk: &Talk) -> ReportTone {
    match &talk.reply {
        Some(UserReply::Answers(_)) => ReportTone::Plain,
        Some(UserReply::Approved(_)) => ReportTone::Good,
        Some(UserReply::Rejected(_)) => ReportTone::Bad,
        Some(UserReply::Nobody(_)) | None => ReportTone::Doubtful,
    }
}

/// Returns `true` if a note tells what a person said or did of their own accord.
pub(super) const fn is_of_person(note: &SessionNote) -> bool {
    match note {
        SessionNote::Told(_) | SessionNote::TakenOver | SessionNote::HandedBack { .. } => true,
        SessionNote::Changed { .. }
        | SessionNote::LookFailed(_)
        | SessionNote::NotRetrieved(_)
        | SessionNote::Stopped(_)
        | SessionNote::Suspended(_)
        | SessionNote::Resumed { .. } => false,
    }
}

/// The tone of a note.
pub(super) const fn note_tone(note: &SessionNote) -> ReportTone {
    match note {
        SessionNote::Changed { .. } | SessionNote::Told(_) | SessionNote::HandedBack { .. } => {
            ReportTone::Plain
        }
        SessionNote::LookFailed(_)
        | SessionNote::NotRetrieved(_)
        | SessionNote::Stopped(_)
        | SessionNote::Suspended(_) => ReportTone::Bad,
        SessionNote::Resumed { .. } | SessionNote::TakenOver => ReportTone::Doubtful,
    }
}

/// The tone of a status.
pub(super) const fn status_tone(meaning: Option<Meaning>) -> ReportTone {
    match meaning {
        Some(
            Meaning::Host(HostStatus::Finish)
            | Meaning::App(AppStatus::Finish)
            | Meaning::Judged(Judgement::Yes),
        ) => ReportTone::Good,
        Some(
            Meaning::Host(HostStatus::Fail | HostStatus::Error)
            | Meaning::App(AppStatus::Fail | AppStatus::Error)
            | Meaning::Judged(Judgement::No),
        ) => ReportTone::Bad,
        Some(
            Meaning::Host(HostStatus::Pending | HostStatus::Confirm)
            | Meaning::App(AppStatus::Pending | AppStatus::Confirm)
            | Meaning::Judged(Judgement::Unsure),
        ) => ReportTone::Doubtful,
        Some(
            Meaning::Host(HostStatus::Continue | HostStatus::Assign)
            | Meaning::App(AppStatus::Continue | AppStatus::Screenshot)
            | Meaning::Healed,
        )
        | None => ReportTone::Plain,
    }
}

/// Describes how a journal ends before the end of its session; empty if it is complete.
pub(super) fn end_words(end: &JournalEnd) -> String {
    if end.complete {
        return String::new();
    }
    let doing = end.doing.as_ref().map(|doing| format!(", {}", doing_words(doing))).unwrap_or_default();
    format!("The journal ends here, at record {}{doing}.", end.seq)
}

fn doing_words(doing: &SessionActivity) -> String {
    match doing {
        SessionActivity::AwaitingRequest => "while waiting for the next request".to_owned(),
        SessionActivity::Looking => "while observing".to_owned(),
        SessionActivity::LookingUp => "while asking retrievers".to_owned(),
        SessionActivity::AskingModel => "while querying the model".to_owned(),
        SessionActivity::Calling(tool) => format!("while `{tool}` ran; whether it took effect is unknown"),
        SessionActivity::Delegating(agent) => {
            format!("while agent {agent} worked; whether it took effect is unknown")
        }
        SessionActivity::AskingUser => "while asking the user".to_owned(),
        SessionActivity::AwaitingApproval => {
            "while waiting for an approval; the action was not performed".to_owned()
        }
        SessionActivity::Finishing => "right after the outcome".to_owned(),
    }
}
