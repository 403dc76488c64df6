//! Talks to a running binary as a program over pipes, or as a user at a terminal. Every wait is bounded.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

/// The timeout of every wait, long enough for a busy machine.
const BOUND: Duration = Duration::from_secs(60);

/// Waits until a process exits and returns its exit code; kills it after the timeout.
fn end<T>(child: &mut Child, output: &mpsc::Receiver<T>) -> Option<i32> {
    let begun = Instant::now();
    loop {
        match output.recv_timeout(BOUND.saturating_sub(begun.elapsed())) {
            Ok(_) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => return child.wait().unwrap().code(),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                child.kill().ok();
                panic!("the process did not end");
            }
        }
    }
}

/// A program that speaks JSON lines with the binary.
pub(crate) struct Program {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
    seen: Vec<Value>,
}

impl Program {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in output.lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { input: child.stdin.take(), child, lines, seen: Vec::new() }
    }

    pub(crate) fn write(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn say(&mut self, line: &Value) {
        self.write(&line.to_string());
    }

    /// The next line of a kind; others are skipped.
    pub(crate) fn wait_for(&mut self, kind: &str) -> Value {
        let begun = Instant::now();
        loop {
            let left = BOUND.saturating_sub(begun.elapsed());
            let Ok(line) = self.lines.recv_timeout(left) else {
                self.child.kill().ok();
                let tail: Vec<String> = self.seen.iter().rev().take(8).map(ToString::to_string).collect();
                panic!("no line of kind `{kind}` came; the last ones, newest first:\n{}", tail.join("\n"));
            };
            let line: Value = serde_json::from_str(&line).unwrap();
            self.seen.push(line.clone());
            if line["kind"] == kind {
                return line;
            }
        }
    }

    /// The number of lines of a kind so far.
    pub(crate) fn count(&self, kind: &str) -> usize {
        self.seen.iter().filter(|line| line["kind"] == kind).count()
    }

    /// Waits for the exit code.
    pub(crate) fn end(&mut self) -> Option<i32> {
        drop(self.input.take());
        end(&mut self.child, &self.lines)
    }
}

/// A user at a terminal with the binary.
pub(crate) struct Terminal {
    pub(crate) child: Child,
    master: File,
    chunks: mpsc::Receiver<String>,
    /// Output that was not waited for yet.
    shown: String,
}

impl Terminal {
    /// A terminal without any abilities, so that its output is plain.
    pub(crate) fn start(command: Command) -> Self {
        Self::start_as("dumb", command)
    }

    /// A terminal of a kind, as `TERM` names it.
    pub(crate) fn start_as(kind: &str, mut command: Command) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let side = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        command.stdin(side.try_clone().unwrap()).stdout(side.try_clone().unwrap()).stderr(side);
        command.env("COLUMNS", "100").env("TERM", kind);
        let child = command.spawn().unwrap();
        // Only the child holds the other side, so that reading ends with it.
        drop(command);
        let master = File::from(master);
        let mut reader = master.try_clone().unwrap();
        let (sender, chunks) = mpsc::channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read) = reader.read(&mut bytes) {
                if read == 0 || sender.send(String::from_utf8_lossy(&bytes[..read]).into_owned()).is_err() {
                    return;
                }
            }
        });
        Self { child, master, chunks, shown: String::new() }
    }

    /// Types a line.
    pub(crate) fn write(&mut self, line: &str) {
        writeln!(self.master, "{line}").unwrap();
    }

    /// Presses keys.
    pub(crate) fn keys(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for a text after the previous one.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let begun = Instant::now();
        loop {
            if let Some(at) = self.shown.find(text) {
                self.shown.drain(..at + text.len());
                return;
            }
            let left = BOUND.saturating_sub(begun.elapsed());
            match self.chunks.recv_timeout(left) {
                Ok(chunk) => self.shown.push_str(&chunk),
                Err(_) => {
                    self.child.kill().ok();
                    panic!("`{text}` was not shown; after what was shown before came:\n{}", self.shown);
                }
            }
        }
    }

    /// Waits for the exit code.
    pub(crate) fn end(&mut self) -> Option<i32> {
        end(&mut self.child, &self.chunks)
    }
}
