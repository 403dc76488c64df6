//! Renders the numbered records of a journal, for `fork --at`.

use deskhand_machine::{
    record::JournalRecord,
    session::{Effect, SessionEvent},
};
use deskhand_runtime::SessionJournal;
use deskhand_ui::text::{clip, one_line};

use super::describe::command_words;
use crate::{
    args::NumberRange,
    output::{OutputTone, StyledLine},
};

/// The most characters of a text.
const SHOWN: usize = 80;

/// The records with their numbers. A session can be forked at events.
pub(crate) fn record_lines(journal: &SessionJournal, shown: NumberRange) -> Vec<StyledLine> {
    let width = journal.lines.len().to_string().len();
    let lines = journal.lines.iter().filter(|line| shown.contains(line.seq)).map(|line| {
        let (tone, words) = words(&line.record);
        StyledLine::of(OutputTone::Faint, format!("{:>width$}  ", line.seq)).with(tone, one_line(&words))
    });
    lines.collect()
}

fn words(record: &JournalRecord) -> (OutputTone, String) {
    match record {
        JournalRecord::Header(header) => {
            (OutputTone::Plain, format!("session {} · {}", header.session, header.model))
        }
        JournalRecord::Changed(change) => {
            (OutputTone::Doubtful, format!("from here on with {}", change.model))
        }
        JournalRecord::Effect(record) => {
            let step = record.step.as_ref().map(|step| format!(" (step {}, {})", step.number, step.agent));
            (OutputTone::Faint, format!("want {}{}", wanted(&record.effect), step.unwrap_or_default()))
        }
        JournalRecord::Event(record) => (OutputTone::Plain, came(&record.event)),
    }
}

fn wanted(effect: &Effect) -> String {
    match effect {
        Effect::AwaitRequest => "a request".to_owned(),
        Effect::Observe { .. } => "a look".to_owned(),
        Effect::Rank { texts, .. } => format!("the nearness of {} texts", texts.len()),
        Effect::Retrieve { lookup } => {
            let words: Vec<&str> = lookup.retrievers.iter().map(|retriever| retriever.word()).collect();
            format!("what may help, from {}", words.join(", "))
        }
        Effect::Ask { .. } => "the model's reply".to_owned(),
        Effect::Call { command } => command_words(command, None),
        Effect::AskUser { .. } => "an answer of the user".to_owned(),
        Effect::AwaitApproval { .. } => "an approval".to_owned(),
        Effect::Delegate { agent, .. } => format!("the work of agent {agent}"),
        Effect::Finish { outcome } => format!("the end of the request: {}", outcome.kind.word()),
    }
}

fn came(event: &SessionEvent) -> String {
    match event {
        SessionEvent::Requested { text, .. } => format!("requested: {}", clip(text, SHOWN)),
        SessionEvent::Ended => "the session ended".to_owned(),
        SessionEvent::Observed { .. } => "looked".to_owned(),
        SessionEvent::ObserveFailed { failure } => {
            format!("could not look: {}", clip(&failure.message, SHOWN))
        }
        SessionEvent::Ranked { scores } => format!("sorted {} texts", scores.len()),
        SessionEvent::Retrieved { hits, .. } => format!("found {} texts", hits.len()),
        SessionEvent::Replied { reply, .. } => format!("replied: {}", clip(reply.text.trim(), SHOWN)),
        SessionEvent::ModelFailed { failure } => format!("no reply: {}", clip(&failure.message, SHOWN)),
        SessionEvent::Returned { result } => format!("returned: {}", clip(&result.summary(), SHOWN)),
        SessionEvent::Answered { answers } => format!("answered: {}", clip(&answers.join(" · "), SHOWN)),
        SessionEvent::Unanswered { .. } => "nobody answered".to_owned(),
        SessionEvent::Approved { .. } => "approved".to_owned(),
        SessionEvent::Rejected { .. } => "rejected".to_owned(),
        SessionEvent::Delegated { report } => format!("reported: {}", clip(&report.result, SHOWN)),
        SessionEvent::Acknowledged { .. } => "acknowledged".to_owned(),
        SessionEvent::Stopped { .. } => "stopped".to_owned(),
        SessionEvent::Suspended { reason } => format!("suspended: {}", clip(&reason.to_string(), SHOWN)),
        SessionEvent::Told { text, .. } => format!("the user said: {}", clip(text, SHOWN)),
        SessionEvent::TakenOver { .. } => "taken over by the user".to_owned(),
        SessionEvent::HandedBack { acts, .. } => {
            format!("handed back by the user: {}", clip(&acts.join("; "), SHOWN))
        }
        SessionEvent::Disclosed { texts, passwords } => {
            let count = texts.len().saturating_add(passwords.len());
            format!("fields of {count} withheld texts known: {} for passwords", passwords.len())
        }
        SessionEvent::Resumed { desktop_kept: true } => "resumed on the same desktop".to_owned(),
        SessionEvent::Resumed { desktop_kept: false } => "resumed on a new desktop".to_owned(),
    }
}
