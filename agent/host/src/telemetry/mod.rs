//! Traces of sessions for a collector of OpenTelemetry (OTLP over HTTP, as JSON). Off unless an address is configured.
//!
//! Spans are made of the lines of the journal, so that they have its times, and sent by a task beside the session: what the collector
//! does not take in time is dropped.
//!
//! - [`target`](self::target): where to, and what of it: configuration and environment.
//! - [`spans`](self::spans): from lines to spans. [`otlp`](self::otlp): how they are written.
//! - [`send`](self::send): the task that sends them.

mod otlp;
mod send;
mod spans;
mod target;

use deskhand_machine::record::JournalEntry;

pub(crate) use self::target::TraceCollector;
use self::{send::Sender, spans::Spans};

/// The trace of a session that runs.
pub(crate) struct SessionTrace {
    spans: Spans,
    sender: Sender,
}

impl SessionTrace {
    /// Begins a trace; `None` if none is wanted, or it cannot be sent.
    pub(crate) fn begin(target: Option<&TraceCollector>) -> Option<Self> {
        let target = target?;
        let sender = Sender::new(target)?;
        Some(Self { spans: Spans::new(target), sender })
    }

    /// Reads a line of an earlier run of the session.
    pub(crate) fn past(&mut self, line: &JournalEntry) {
        self.spans.past(line);
    }

    /// Reads a line as it is written.
    pub(crate) fn record(&mut self, line: &JournalEntry) {
        for span in self.spans.read(line) {
            self.sender.send(span);
        }
    }

    /// Sends what is left, for a moment.
    pub(crate) async fn end(mut self) {
        for span in self.spans.end() {
            self.sender.send(span);
        }
        self.sender.end().await;
    }
}

#[cfg(test)]
mod telemetry_tests;
