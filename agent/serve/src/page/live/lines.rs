//! The lines of a session as `deskhand run --json` prints them, from any record on and as they come.
//!
//! Records are read from the journal on disk when whoever reads the lines asks for the next one: nothing waits in memory for a reader
//! that is slow, and the session does not wait for it either. Its control socket, which cuts off who does not read, is then connected to
//! again.

use std::{collections::VecDeque, sync::Arc};

use deskhand_machine::{outcome::OutcomeKind, record::JournalEntry, session::RoundTally};
use deskhand_runtime::{JournalTail, SessionFolder, people::protocol::FromSession, story::Story};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::{sync::Mutex, task::spawn_blocking};

use super::attending::{ControlLines, ControlWriter, connect};
use crate::page::error::PageApiError;

/// The most records that are read at once, and their most bytes.
const RECORDS_AT_ONCE: usize = 32;
const BYTES_AT_ONCE: usize = 1 << 20;

/// The message to a client beyond the limit.
const FULL: &str = "the session takes no more clients in at the moment; come again after the last record";

/// The writer of lines to the session; `None` while it does not run.
pub(crate) type ToSession = Arc<Mutex<Option<ControlWriter>>>;

/// The lines of a session.
pub(crate) struct SessionLines {
    folder: SessionFolder,
    /// `None` while it reads.
    journal: Option<JournalLineStream>,
    /// `true` if there may be records that were not read.
    behind: bool,
    /// Lines to hand out.
    ready: VecDeque<String>,
    /// A line that the session said after those records.
    said: Option<Value>,
    control: Option<ControlLines>,
    to_session: ToSession,
    over: bool,
}

/// The journal, and what follows from it.
struct JournalLineStream {
    tail: JournalTail,
    story: Story,
    /// The last record that is known already.
    after: u64,
}

/// The last line.
#[derive(Serialize)]
struct SessionSummaryLine<'a> {
    kind: &'static str,
    session_id: String,
    outcome: Option<OutcomeKind>,
    reason: &'a str,
    rounds: usize,
    used: RoundTally,
    exit_code: Option<u8>,
}

impl JournalLineStream {
    /// Reads some records that were written since. Blocking.
    fn read_some(mut self) -> Result<(Self, Vec<String>, bool), PageApiError> {
        let (mut texts, mut bytes) = (Vec::new(), 0_usize);
        for _ in 0..RECORDS_AT_ONCE {
            let line =
                self.tail.next_so_far().map_err(|error| PageApiError::failed("read the journal", &error))?;
            let Some(line) = line else { return Ok((self, texts, false)) };
            for text in self.lines_of(&line) {
                bytes = bytes.saturating_add(text.len());
                texts.push(text);
            }
            if bytes > BYTES_AT_ONCE {
                break;
            }
        }
        Ok((self, texts, true))
    }

    /// Returns the lines for a record. The outcome has no number: a client that has the record may not have the
    /// outcome.
    fn lines_of(&mut self, line: &JournalEntry) -> Vec<String> {
        self.story.read(line);
        let record = (line.seq > self.after).then(|| FromSession::journal(line));
        let outcome = FromSession::outcome(line, self.story.summary()).filter(|_| line.seq >= self.after);
        let texts =
            record.into_iter().chain(outcome).map(|line| serde_json::to_string(&line).unwrap_or_default());
        texts.collect()
    }

    fn summary(&self, folder: &SessionFolder) -> String {
        let summary = self.story.summary();
        let outcome = summary.rounds.last().and_then(|round| round.outcome.as_ref());
        let line = SessionSummaryLine {
            kind: "summary",
            session_id: folder.name(),
            outcome: outcome.map(|outcome| outcome.kind),
            reason: outcome.map(|outcome| outcome.reason.as_str()).unwrap_or_default(),
            rounds: summary.rounds.len(),
            used: summary.tally,
            exit_code: outcome.map(|outcome| outcome.kind.exit_code()),
        };
        serde_json::to_string(&line).unwrap_or_default()
    }
}

impl SessionLines {
    /// The lines after a record; all with 0.
    pub(crate) async fn of(folder: SessionFolder, after: u64) -> Self {
        let journal = JournalLineStream { tail: JournalTail::of(&folder), story: Story::default(), after };
        let mut lines = Self {
            folder,
            journal: Some(journal),
            behind: true,
            ready: VecDeque::new(),
            said: None,
            control: None,
            to_session: Arc::default(),
            over: false,
        };
        lines.connect().await;
        lines
    }

    /// Returns the writer of lines to the session.
    pub(crate) fn to_session(&self) -> ToSession {
        Arc::clone(&self.to_session)
    }

    /// The next line; `None` after the last one of a session that does not run. If this is dropped before it is done, no further line
    /// may be asked for.
    pub(crate) async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(text) = self.ready.pop_front() {
                return Some(text);
            }
            if self.behind {
                self.read().await?;
            } else if let Some(line) = self.said.take() {
                return Some(line.to_string());
            } else if self.over {
                return None;
            } else if self.control.is_some() {
                self.hear().await;
            } else {
                self.over = true;
                return self.journal.as_ref().map(|journal| journal.summary(&self.folder));
            }
        }
    }

    async fn read(&mut self) -> Option<()> {
        let journal = self.journal.take()?;
        let read = spawn_blocking(move || journal.read_some()).await;
        match read.map_err(|error| PageApiError::failed("read the journal", &error)).and_then(|read| read) {
            Ok((journal, texts, behind)) => {
                self.journal = Some(journal);
                self.ready.extend(texts);
                self.behind = behind;
            }
            Err(error) => {
                (self.behind, self.over) = (false, true);
                self.said = Some(json!({"kind": "error", "message": error.words(), "line": 0}));
            }
        }
        Some(())
    }

    /// Waits for what the session says, which comes after what it has recorded by then.
    async fn hear(&mut self) {
        let line = match &mut self.control {
            Some(control) => control.next().await,
            None => None,
        };
        self.behind = true;
        match line {
            Some(line) if line.get("kind").is_some_and(|kind| kind == "recorded") => {}
            Some(line) => self.said = Some(line),
            // It has ended, or this was too slow and comes again.
            None => self.connect().await,
        }
    }

    async fn connect(&mut self) {
        let (mut control, mut writer) = connect(&self.folder).await.unzip();
        if let Some(lines) = &mut control {
            // Who gets no first line is one too many; to try again at once would keep the session busy.
            self.said =
                lines.next().await.or_else(|| Some(json!({"kind": "error", "message": FULL, "line": 0})));
            if self.said.as_ref().is_some_and(|line| line.get("kind").is_some_and(|kind| kind == "error")) {
                (self.over, control, writer) = (true, None, None);
            }
        }
        self.control = control;
        *self.to_session.lock().await = writer;
    }
}
