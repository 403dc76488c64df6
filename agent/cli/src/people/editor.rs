//! Input at a terminal: plain lines while a request runs, and an editor with history and completion for the next request.
//!
//! The editor works on its own thread, in the place of a blocking read. It holds the terminal only between [`EditSwitch::begin`] and
//! the end of the line, so that output is never mixed with what is being edited.

use std::{
    io::{self, Read},
    os::fd::OwnedFd,
    path::PathBuf,
    sync::Arc,
};

use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, eventfd, poll},
    process::{Signal, getpid, kill_process},
    termios::{OptionalActions, Termios, tcgetattr, tcsetattr},
};
use rustyline::{
    Config, Context, Editor, Helper,
    completion::{Completer, FilenameCompleter, Pair},
    error::ReadlineError,
    highlight::Highlighter,
    hint::Hinter,
    history::FileHistory,
    validate::Validator,
};

/// The most requests that are remembered.
const HISTORY_MAX: usize = 1_000;

/// Asks for the next line with the editor, and restores the terminal when it is dropped: the process may end while a line is edited.
pub(super) struct EditSwitch {
    wake: Arc<OwnedFd>,
    before: Termios,
}

impl EditSwitch {
    /// Shows the prompt and edits a line, as soon as the input is read again.
    pub(super) fn begin(&self) {
        if let Err(error) = rustix::io::write(&*self.wake, &1_u64.to_ne_bytes()) {
            tracing::warn!(%error, "the line editor cannot be started");
        }
    }
}

impl Drop for EditSwitch {
    fn drop(&mut self) {
        tcsetattr(io::stdin(), OptionalActions::Now, &self.before).ok();
    }
}

/// The input of a terminal; what is edited is read as if it had been typed in one go.
pub(super) struct EditedInput {
    wake: Arc<OwnedFd>,
    prompt: &'static str,
    editor: Editor<Paths, FileHistory>,
    history: PathBuf,
    /// An edited line that was not read yet.
    line: Vec<u8>,
}

impl EditedInput {
    /// An input whose editor shows `prompt` and keeps what was typed in the file `history`, which only its owner can read.
    ///
    /// # Errors
    /// Standard input is no terminal.
    pub(super) fn open(prompt: &'static str, history: PathBuf) -> io::Result<(Self, EditSwitch)> {
        let before = tcgetattr(io::stdin())?;
        let config = Config::builder()
            .max_history_size(HISTORY_MAX)
            .and_then(|config| config.history_ignore_dups(true))
            .map_err(io::Error::other)?
            .history_ignore_space(true)
            .auto_add_history(true)
            .build();
        let mut editor = Editor::with_config(config).map_err(io::Error::other)?;
        editor.set_helper(Some(Paths(FilenameCompleter::new())));
        // The first conversation has no history.
        editor.load_history(&history).ok();
        let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let switch = EditSwitch { wake: Arc::clone(&wake), before };
        Ok((Self { wake, prompt, editor, history, line: Vec::new() }, switch))
    }

    /// Edits one line. Returns whether there is more input.
    fn edit(&mut self) -> io::Result<bool> {
        match self.editor.readline(self.prompt) {
            Ok(line) => {
                // The completion of a path escapes its spaces, as a shell needs it and a model does not.
                self.line = line.replace('\n', " ").replace("\\ ", " ").into_bytes();
                self.line.push(b'\n');
                if let Err(error) = self.editor.append_history(&self.history) {
                    tracing::warn!(%error, file = %self.history.display(), "the history is not kept");
                }
                Ok(true)
            }
            // The editor reads the key; the process handles it as everywhere else.
            Err(ReadlineError::Interrupted) => {
                kill_process(getpid(), Signal::INT)?;
                Ok(true)
            }
            Err(ReadlineError::Eof) => Ok(false),
            Err(ReadlineError::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

impl Read for EditedInput {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.line.is_empty() {
                let count = self.line.len().min(into.len());
                let rest = self.line.split_off(count);
                into.iter_mut().zip(&self.line).for_each(|(to, from)| *to = *from);
                self.line = rest;
                return Ok(count);
            }
            let stdin = io::stdin();
            let mut ready = [PollFd::new(&self.wake, PollFlags::IN), PollFd::new(&stdin, PollFlags::IN)];
            match poll(&mut ready, None) {
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            let [wake, _] = ready.map(|one| !one.revents().is_empty());
            if wake {
                rustix::io::read(&*self.wake, &mut [0; 8])?;
                if !self.edit()? {
                    return Ok(0);
                }
            } else {
                return Ok(rustix::io::read(&stdin, into)?);
            }
        }
    }
}

/// Completes the paths of documents.
struct Paths(FilenameCompleter);

impl Completer for Paths {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Self::Candidate>)> {
        self.0.complete_path(line, at)
    }
}

impl Helper for Paths {}
impl Highlighter for Paths {}
impl Hinter for Paths {
    type Hint = String;
}
impl Validator for Paths {}
