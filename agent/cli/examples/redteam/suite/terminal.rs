//! A person at a terminal: what the program writes there, as a terminal would show it.

use std::{fs::File, io::Read as _, os::unix::fs::chown, process::Stdio, time::Duration};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tokio::process::Command;

use super::{Failure, mode::Mode};

/// The longest that a run may take.
const RUN_MAX: Duration = Duration::from_secs(60);
/// The rows that are in view.
const ROWS: usize = 40;
/// The most rows that are kept.
const ROWS_MAX: usize = 10_000;

/// The lines that a terminal has shown, the ones in view last.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Screen {
    /// Shows what a program wrote.
    pub(crate) fn show(&mut self, text: &str) {
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                '\u{1b}' => self.escape(&mut characters),
                '\u{9b}' => self.control(&mut characters),
                '\r' => self.column = 0,
                '\n' => (self.row, self.column) = ((self.row + 1).min(ROWS_MAX), 0),
                '\u{8}' => self.column = self.column.saturating_sub(1),
                _ if character.is_control() => {}
                _ => self.put(character),
            }
        }
    }

    /// The lines.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.lines.iter().map(|line| line.iter().collect())
    }

    fn put(&mut self, character: char) {
        if self.lines.len() <= self.row {
            self.lines.resize(self.row + 1, Vec::new());
        }
        if let Some(line) = self.lines.get_mut(self.row) {
            if line.len() <= self.column {
                line.resize(self.column + 1, ' ');
            }
            if let Some(cell) = line.get_mut(self.column) {
                *cell = character;
            }
        }
        self.column += 1;
    }

    fn escape(&mut self, characters: &mut std::str::Chars<'_>) {
        match characters.next() {
            Some('[') => self.control(characters),
            // A title or link, up to its end.
            Some(']') => drop(characters.find(|character| ['\u{7}', '\\'].contains(character))),
            Some('c') => self.clear_from(self.top()),
            Some(_) | None => {}
        }
    }

    /// A control sequence after its introducer.
    fn control(&mut self, characters: &mut std::str::Chars<'_>) {
        let mut parameters = String::new();
        let Some(last) = characters.find(|character| {
            let is_last = ('@'..='~').contains(character);
            if !is_last {
                parameters.push(*character);
            }
            is_last
        }) else {
            return;
        };
        let mut numbers = parameters.split(';').map(|number| number.parse::<usize>().unwrap_or(0));
        let (first, second) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let count = first.clamp(1, ROWS);
        match last {
            'A' => self.row = self.row.saturating_sub(count).max(self.top()),
            'B' => self.row += count,
            'C' => self.column += count,
            'D' => self.column = self.column.saturating_sub(count),
            'E' => (self.row, self.column) = (self.row + count, 0),
            'F' => (self.row, self.column) = (self.row.saturating_sub(count).max(self.top()), 0),
            'G' => self.column = first.saturating_sub(1),
            'H' | 'f' => (self.row, self.column) = (self.top() + first.clamp(1, ROWS) - 1, second.max(1) - 1),
            'J' => self.clear_from(if first == 0 { self.row } else { self.top() }),
            'K' => self.clear_line(first),
            _ => {}
        }
    }

    /// The first row in view.
    fn top(&self) -> usize {
        self.lines.len().saturating_sub(ROWS)
    }

    fn clear_from(&mut self, row: usize) {
        self.lines.iter_mut().skip(row).for_each(Vec::clear);
    }

    fn clear_line(&mut self, how: usize) {
        let column = self.column;
        if let Some(line) = self.lines.get_mut(self.row) {
            match how {
                0 => line.truncate(column),
                _ => line.clear(),
            }
        }
    }
}

/// Runs a program at a terminal, without an answer to anything; what it shows.
pub(crate) async fn watch(mut command: Command, mode: Mode) -> Result<Screen, Failure> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    if let Some(user) = mode.user() {
        chown(name.to_str()?, Some(user), Some(user))?;
    }
    let side = File::options().read(true).write(true).open(name.to_str()?)?;
    command
        .stdin(Stdio::from(side.try_clone()?))
        .stdout(Stdio::from(side.try_clone()?))
        .stderr(Stdio::from(side));
    command.env("TERM", "xterm-256color").kill_on_drop(true);
    let mut child = command.spawn()?;
    // Only the child holds the other side, so that reading ends with it.
    drop(command);
    let mut reader = File::from(master);
    let reading = tokio::task::spawn_blocking(move || {
        let mut all = Vec::new();
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = reader.read(&mut bytes) {
            all.extend(bytes.iter().take(read));
        }
        all
    });
    if tokio::time::timeout(RUN_MAX, child.wait()).await.is_err() {
        child.kill().await?;
    }
    let mut screen = Screen::default();
    screen.show(&String::from_utf8_lossy(&reading.await?));
    Ok(screen)
}
