//! All output of commands goes through here.

use std::{
    env, fmt,
    io::{self, IsTerminal, Write},
    sync::atomic::{AtomicBool, Ordering},
};

use clap::builder::styling::{AnsiColor, Style};
use deskhand_secret::Veil;
use deskhand_ui::text::{escape_hidden, escape_hidden_json};
use serde::Serialize;

use crate::pager;

/// An output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputStream {
    /// Standard output: the result of the command.
    Out,
    /// Standard error: everything else.
    Error,
}

/// The meaning of a piece of a line, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputTone {
    /// Plain text.
    Plain,
    /// An agent or a heading.
    Strong,
    /// Success.
    Good,
    /// Uncertain.
    Doubtful,
    /// Failure.
    Bad,
    /// Not important.
    Faint,
}

impl OutputTone {
    const fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Strong => Style::new().bold(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Doubtful => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
            Self::Faint => Style::new().dimmed(),
        }
    }
}

/// A line of pieces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct StyledLine(Vec<(OutputTone, String)>);

impl StyledLine {
    /// Appends a piece. What could move the cursor, change colours, reorder the line or start another one is shown as an escape:
    /// titles, names and documents come from outside.
    #[must_use]
    pub(crate) fn with(mut self, tone: OutputTone, text: impl Into<String>) -> Self {
        self.0.push((tone, escape_hidden(&text.into()).replace('\n', "⏎")));
        self
    }

    /// A line of one piece.
    pub(crate) fn of(tone: OutputTone, text: impl Into<String>) -> Self {
        Self::default().with(tone, text)
    }

    /// The line cut to `width` columns.
    #[must_use]
    pub(crate) fn cut(self, width: usize) -> Self {
        let mut left = width;
        let whole: usize = self.0.iter().map(|(_, text)| text.chars().count()).sum();
        if whole <= width {
            return self;
        }
        let mut pieces = Vec::new();
        for (tone, text) in self.0 {
            let length = text.chars().count();
            if length < left {
                left -= length;
                pieces.push((tone, text));
            } else {
                pieces.push((tone, deskhand_ui::text::clip(&text, left.saturating_sub(1))));
                break;
            }
        }
        Self(pieces)
    }

    /// The text with colours.
    pub(crate) fn coloured(&self) -> String {
        self.0
            .iter()
            .map(|(tone, text)| match tone {
                OutputTone::Plain => text.clone(),
                tone @ (OutputTone::Strong
                | OutputTone::Good
                | OutputTone::Doubtful
                | OutputTone::Bad
                | OutputTone::Faint) => {
                    format!("{0}{text}{0:#}", tone.style())
                }
            })
            .collect::<String>()
            .trim_end()
            .to_owned()
    }
}

impl fmt::Display for StyledLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = self.0.iter().map(|(_, text)| text.as_str()).collect();
        f.write_str(text.trim_end())
    }
}

/// Set while the last line of the terminal is a prompt with the cursor behind it. A process has one terminal.
static PROMPT_STANDS: AtomicBool = AtomicBool::new(false);

/// Set while the last line of the terminal is a wait status, which the next output replaces.
static STATUS_STANDS: AtomicBool = AtomicBool::new(false);

/// Returns to the start of the line of a terminal and clears it (ECMA-48, CR and EL).
const CLEAR_LINE: &str = "\r\u{1b}[2K";

/// A stream to write to. A closed pipe (`deskhand … | head`) is not an error.
#[derive(Debug)]
pub(crate) struct Output {
    stream: OutputStream,
    /// `true` if it is a terminal that can clear a line.
    terminal: bool,
    coloured: bool,
}

impl Output {
    /// A stream; coloured if it is a terminal.
    pub(crate) fn to(stream: OutputStream) -> Self {
        let terminal = match stream {
            OutputStream::Out => io::stdout().is_terminal(),
            OutputStream::Error => io::stderr().is_terminal(),
        };
        let terminal = terminal && env::var_os("TERM").is_none_or(|term| term != "dumb");
        let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { stream, terminal, coloured: terminal && !refused }
    }

    /// Returns `true` if it is a terminal that can replace its last line; see [`Output::status`].
    pub(crate) const fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Returns `true` if what is written may have colours.
    pub(crate) const fn is_coloured(&self) -> bool {
        self.coloured
    }

    /// Shows a line on a terminal until the next output replaces it. A prompt that stands stays.
    pub(crate) fn status(&self, line: &StyledLine) {
        if !self.terminal || PROMPT_STANDS.load(Ordering::Acquire) {
            return;
        }
        STATUS_STANDS.store(true, Ordering::Release);
        let line = line.clone().cut(self.width().saturating_sub(1));
        self.put(&format!("{CLEAR_LINE}{}", self.shown(&line)));
    }

    /// Removes the line of [`Output::status`].
    pub(crate) fn clear_status(&self) {
        if STATUS_STANDS.swap(false, Ordering::AcqRel) {
            self.put(CLEAR_LINE);
        }
    }

    /// The most columns of a line: those of the terminal, else `COLUMNS`, else a large number.
    pub(crate) fn width(&self) -> usize {
        const NARROW: usize = 60;
        const NO_TERMINAL: usize = 120;
        let size = match self.stream {
            OutputStream::Out => rustix::termios::tcgetwinsize(io::stdout()),
            OutputStream::Error => rustix::termios::tcgetwinsize(io::stderr()),
        };
        let columns = || env::var("COLUMNS").ok()?.parse::<usize>().ok();
        size.ok()
            .map(|size| usize::from(size.ws_col))
            .filter(|width| *width > 0)
            .or_else(columns)
            .map_or(NO_TERMINAL, |width| width.max(NARROW))
    }

    /// Writes a line.
    pub(crate) fn line(&self, line: &StyledLine) {
        self.write(&self.shown(line));
    }

    /// Writes lines to standard output; through a pager if it is a terminal and they do not fit. The pager takes the place of this
    /// process, so that keys and signals reach it alone; this is the last thing a command does.
    pub(crate) fn pages(&self, lines: &[StyledLine]) {
        let fit = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_row));
        if self.terminal && lines.len() >= fit && fit > 0 {
            let text = lines.iter().map(|line| self.shown(line) + "\n").collect::<String>();
            match pager::become_pager(&Veil::of_process().hide(&text)) {
                // There is none.
                Ok(()) => {}
                Err(error) => tracing::info!(%error, "the pager does not start"),
            }
        }
        lines.iter().for_each(|line| self.line(line));
    }

    fn shown(&self, line: &StyledLine) -> String {
        if self.coloured { line.coloured() } else { line.to_string() }
    }

    /// Writes a prompt and leaves the cursor behind it. The next output starts on a new line.
    pub(crate) fn prompt(&self, mark: &StyledLine) {
        self.leave_line();
        let text: String = mark.0.iter().map(|(_, text)| text.as_str()).collect();
        if self.coloured {
            self.put(&format!("{0}{text}{0:#}", OutputTone::Strong.style()));
        } else {
            self.put(&text);
        }
        PROMPT_STANDS.store(true, Ordering::Release);
    }

    /// The terminal echoed a key such as `^C` and left the cursor behind it.
    pub(crate) fn key_was_shown() {
        if io::stdin().is_terminal() {
            PROMPT_STANDS.store(true, Ordering::Release);
        }
    }

    /// A typed line moved the cursor to the next line.
    pub(crate) fn cursor_moved_on() {
        STATUS_STANDS.store(false, Ordering::Release);
        PROMPT_STANDS.store(false, Ordering::Release);
    }

    /// Writes one or more lines without colours.
    pub(crate) fn text(&self, text: impl fmt::Display) {
        self.write(&escape_hidden(&text.to_string()));
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn json<T: Serialize>(&self, value: &T) {
        match serde_json::to_string(value) {
            Ok(text) => self.write(&escape_hidden_json(&text)),
            Err(error) => tracing::error!(%error, "failed to encode a value as JSON"),
        }
    }

    /// Writes a value as indented JSON.
    pub(crate) fn pretty_json<T: Serialize>(&self, value: &T) {
        match serde_json::to_string_pretty(value) {
            Ok(text) => self.write(&escape_hidden_json(&text)),
            Err(error) => tracing::error!(%error, "failed to encode a value as JSON"),
        }
    }

    fn write(&self, text: &str) {
        self.put(&format!("{}{text}\n", Self::next_line()));
    }

    /// Moves the cursor to an empty line.
    pub(crate) fn leave_line(&self) {
        self.put(Self::next_line());
    }

    /// Returns the control text that moves the cursor to an empty line.
    fn next_line() -> &'static str {
        let (status, prompt) = (&STATUS_STANDS, &PROMPT_STANDS);
        match (status.swap(false, Ordering::AcqRel), prompt.swap(false, Ordering::AcqRel)) {
            (true, true | false) => CLEAR_LINE,
            (false, true) => "\n",
            (false, false) => "",
        }
    }

    fn put(&self, text: &str) {
        let veil = Veil::of_process();
        let text = &*veil.hide(text);
        // Flushed at once, so that a pipe gets each line immediately.
        let written = match self.stream {
            OutputStream::Out => {
                let mut stream = io::stdout().lock();
                stream.write_all(text.as_bytes()).and_then(|()| stream.flush())
            }
            OutputStream::Error => io::stderr().lock().write_all(text.as_bytes()),
        };
        if let Err(error) = written {
            tracing::debug!(%error, "the output was closed");
        }
    }
}

#[cfg(test)]
mod tests {
    use deskhand_testkit::forgeries;

    use super::*;

    #[test]
    fn nothing_from_outside_moves_the_cursor_or_starts_a_line() {
        for (what, text) in forgeries::all() {
            let line = StyledLine::of(OutputTone::Strong, &text).with(OutputTone::Plain, &text);
            let own = line.coloured().replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
            for shown in [line.to_string(), own, line.clone().cut(70).to_string(), escape_hidden(&text)] {
                assert_eq!(forgeries::hidden_in(&shown), None, "{what}: {shown:?}");
            }
            assert_eq!(line.to_string().lines().count(), 1, "{what}");
        }
    }
}
