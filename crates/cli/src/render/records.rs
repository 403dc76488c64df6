//! Renders the numbered records of a journal, for `fork --at`.

use deskhand_core::{
    record::Record,
    session::{Effect, Event},
    text::{clip, one_line},
};
use deskhand_runtime::Journal;

use super::describe::command_words;
use crate::{
    args::Numbers,
    output::{Line, Tone},
};

/// The most characters of a text.
const SHOWN: usize = 80;

/// The records with their numbers. A session can be forked at events.
pub(crate) fn record_lines(journal: &Journal, shown: Numbers) -> Vec<Line> {
    let width = journal.lines.len().to_string().len();
    let lines = journal.lines.iter().filter(|line| shown.contains(line.seq)).map(|line| {
        let (tone, words) = words(&line.record);
        Line::of(Tone::Faint, format!("{:>width$}  ", line.seq)).with(tone, one_line(&words))
    });
    lines.collect()
}

fn words(record: &Record) -> (Tone, String) {
    match record {
        Record::Header(header) => (Tone::Plain, format!("session {} · {}", header.session, header.model)),
        Record::Changed(change) => (Tone::Doubtful, format!("from here on with {}", change.model)),
        Record::Effect(record) => {
            let step = record.step.as_ref().map(|step| format!(" (step {}, {})", step.number, step.agent));
            (Tone::Faint, format!("want {}{}", wanted(&record.effect), step.unwrap_or_default()))
        }
        Record::Event(record) => (Tone::Plain, came(&record.event)),
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

fn came(event: &Event) -> String {
    match event {
        Event::Requested { text, .. } => format!("requested: {}", clip(text, SHOWN)),
        Event::Ended => "the session ended".to_owned(),
        Event::Observed { .. } => "looked".to_owned(),
        Event::ObserveFailed { failure } => format!("could not look: {}", clip(&failure.message, SHOWN)),
        Event::Ranked { scores } => format!("sorted {} texts", scores.len()),
        Event::Retrieved { hits, .. } => format!("found {} texts", hits.len()),
        Event::Replied { reply, .. } => format!("replied: {}", clip(reply.text.trim(), SHOWN)),
        Event::ModelFailed { failure } => format!("no reply: {}", clip(&failure.message, SHOWN)),
        Event::Returned { result } => format!("returned: {}", clip(&result.summary(), SHOWN)),
        Event::Answered { answers } => format!("answered: {}", clip(&answers.join(" · "), SHOWN)),
        Event::Unanswered { .. } => "nobody answered".to_owned(),
        Event::Approved { .. } => "approved".to_owned(),
        Event::Rejected { .. } => "rejected".to_owned(),
        Event::Delegated { report } => format!("reported: {}", clip(&report.result, SHOWN)),
        Event::Acknowledged { .. } => "acknowledged".to_owned(),
        Event::Stopped { .. } => "stopped".to_owned(),
        Event::Suspended { reason } => format!("suspended: {}", clip(&reason.to_string(), SHOWN)),
        Event::Told { text, .. } => format!("the user said: {}", clip(text, SHOWN)),
        Event::TakenOver { .. } => "taken over by the user".to_owned(),
        Event::HandedBack { acts, .. } => {
            format!("handed back by the user: {}", clip(&acts.join("; "), SHOWN))
        }
        Event::Disclosed { texts, passwords } => {
            let count = texts.len().saturating_add(passwords.len());
            format!("fields of {count} withheld texts known: {} for passwords", passwords.len())
        }
        Event::Resumed { desktop_kept: true } => "resumed on the same desktop".to_owned(),
        Event::Resumed { desktop_kept: false } => "resumed on a new desktop".to_owned(),
    }
}
