//! `deskhand sessions`: lists the sessions.

use deskhand_machine::record::JournalRecord;
use deskhand_runtime::{
    Query, SessionJournal, SessionStore, SessionTable,
    catalogue::{self, Direction, LIMIT_MAX},
    for_people, now_ms,
};
use deskhand_ui::ids::SessionId;

use super::host::load;
use crate::{
    args::SessionsArgs,
    exit::{CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
    render::{SessionListRow, session_lines},
};

/// The most unreadable sessions to name; older versions may have left many.
const UNREAD_SHOWN: usize = 3;

pub(crate) fn sessions(args: &SessionsArgs) -> CommandResult {
    let host = load(args.store.overrides())?;
    let store = host.sessions();
    let out = Output::to(OutputStream::Out);
    let notes = Output::to(OutputStream::Error);
    let table = host.session_table(&query(args))?;
    let rows = rows(&store, &table, args);
    tell_unread(&table, &notes);
    if args.json {
        for row in &rows {
            out.json(row);
        }
    } else if rows.is_empty() && !args.words.is_empty() {
        notes.text(format!("no session contains {}", args.words.join(" and ")));
    } else if rows.is_empty() && table.all > 0 {
        notes.text("no session fits");
    } else if rows.is_empty() && table.unreadable.is_empty() {
        notes.text(format!("no sessions in {} yet", store.root().display()));
    } else {
        out.pages(&session_lines(&rows, now_ms(), out.width()));
    }
    Ok(Exit::Success)
}

fn query(args: &SessionsArgs) -> Query {
    // Which sessions hold words is found out below.
    let limit = args.limit.filter(|_| args.words.is_empty());
    Query {
        words: args.search.clone(),
        outcomes: args.outcome.clone(),
        applications: args.application.clone(),
        sort: args.sort,
        direction: if args.ascending { Direction::Ascending } else { Direction::Descending },
        limit: limit.unwrap_or(LIMIT_MAX),
        ..Query::default()
    }
}

/// The rows to list. Journals are read until there are enough that hold the words.
fn rows(store: &SessionStore, table: &SessionTable, args: &SessionsArgs) -> Vec<SessionListRow> {
    let fits =
        |row: &&catalogue::SessionRow| args.words.is_empty() || holds_words(store, &row.id, &args.words);
    let rows = table.rows.iter().filter(fits).take(args.limit.unwrap_or(usize::MAX));
    rows.map(|row| SessionListRow::of(&row.as_row())).collect()
}

/// Names sessions that cannot be read: they must not hide the others.
fn tell_unread(table: &SessionTable, notes: &Output) {
    for unread in table.unreadable.iter().take(UNREAD_SHOWN) {
        notes.line(&StyledLine::of(
            OutputTone::Doubtful,
            format!("{}: failed to {}", unread.id, unread.problem),
        ));
    }
    if table.unreadable_total > UNREAD_SHOWN {
        let more = table.unreadable_total - UNREAD_SHOWN;
        notes.line(&StyledLine::of(
            OutputTone::Doubtful,
            format!(
                "{more} more cannot be read; `deskhand verify ID` says why, `deskhand gc` removes old ones"
            ),
        ));
    }
}

/// Returns `true` if each of the words occurs in what came to a session; false if it was removed meanwhile.
fn holds_words(store: &SessionStore, id: &str, words: &[String]) -> bool {
    let folder = store.folder(&SessionId(id.to_owned()));
    let journal = folder.and_then(|folder| for_people(folder.read().ok()?, &folder).ok());
    journal.is_some_and(|journal| holds(&journal, words))
}

/// Returns `true` if each of the words occurs in what came to a session: requests, what applications showed, replies, results. What was asked of
/// the model holds the words of the prompts, which are the same everywhere.
fn holds(journal: &SessionJournal, words: &[String]) -> bool {
    let mut missing: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    for line in &journal.lines {
        if missing.is_empty() {
            break;
        }
        if let JournalRecord::Event(record) = &line.record
            && let Ok(text) = serde_json::to_string(&record.event)
        {
            let text = text.to_lowercase();
            missing.retain(|word| !text.contains(word));
        }
    }
    missing.is_empty()
}
