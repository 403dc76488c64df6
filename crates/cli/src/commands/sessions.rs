//! `deskhand sessions`: lists the sessions.

use deskhand_host::session::SessionError;
use deskhand_runtime::{SessionFolder, now_ms};

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
        let read = |folder: SessionFolder| Ok((folder.read()?, folder.is_in_use()?));
        match store.find(&id.0).and_then(read) {
            Ok((journal, in_use)) => rows.push(SessionRow::of(&journal, in_use)),
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
    } else if rows.is_empty() && unread.is_empty() {
        notes.text(format!("no sessions in {} yet", store.root().display()));
    } else {
        for line in session_lines(&rows, now_ms(), out.width()) {
            out.line(&line);
        }
    }
    Ok(Exit::Success)
}
