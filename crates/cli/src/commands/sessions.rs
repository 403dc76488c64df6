//! `deskhand sessions`: lists the sessions.

use deskhand_core::record::Record;
use deskhand_host::session::SessionError;
use deskhand_runtime::{Journal, SessionFolder, for_people, now_ms};

use super::host::load;
use crate::{
    args::SessionsArgs,
    exit::{CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
    render::{SessionRow, session_lines},
};

/// The most unreadable sessions to name; older versions may have left many.
const UNREAD_SHOWN: usize = 3;

pub(crate) fn sessions(args: &SessionsArgs) -> CommandResult {
    let store = load(args.store.overrides())?.sessions();
    let out = Output::to(Stream::Out);
    let notes = Output::to(Stream::Error);
    let mut rows = Vec::new();
    let mut unread = Vec::new();
    for id in store.list().map_err(SessionError::from)? {
        let read = |folder: SessionFolder| Ok((for_people(folder.read()?, &folder)?, folder.is_in_use()?));
        match store.find(&id.0).and_then(read) {
            Ok((journal, in_use)) if holds(&journal, &args.words) => {
                rows.push(SessionRow::of(&journal, in_use));
            }
            Ok(_) => {}
            // One unreadable journal must not hide the others.
            Err(error) => unread.push(format!("{id}: {}", SessionError::from(error))),
        }
    }
    for problem in unread.iter().take(UNREAD_SHOWN) {
        notes.line(&Line::of(Tone::Doubtful, problem));
    }
    if unread.len() > UNREAD_SHOWN {
        let more = unread.len() - UNREAD_SHOWN;
        notes.line(&Line::of(
            Tone::Doubtful,
            format!(
                "{more} more cannot be read; `deskhand verify ID` says why, `deskhand gc` removes old ones"
            ),
        ));
    }
    if args.json {
        for row in &rows {
            out.json(row);
        }
    } else if rows.is_empty() && !args.words.is_empty() {
        notes.text(format!("no session contains {}", args.words.join(" and ")));
    } else if rows.is_empty() && unread.is_empty() {
        notes.text(format!("no sessions in {} yet", store.root().display()));
    } else {
        out.pages(&session_lines(&rows, now_ms(), out.width()));
    }
    Ok(Exit::Success)
}

/// Whether each of the words occurs in what came to a session: requests, what applications showed, replies, results. What was asked of
/// the model holds the words of the prompts, which are the same everywhere.
fn holds(journal: &Journal, words: &[String]) -> bool {
    let mut missing: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    for line in &journal.lines {
        if missing.is_empty() {
            break;
        }
        if let Record::Event(record) = &line.record
            && let Ok(text) = serde_json::to_string(&record.event)
        {
            let text = text.to_lowercase();
            missing.retain(|word| !text.contains(word));
        }
    }
    missing.is_empty()
}
