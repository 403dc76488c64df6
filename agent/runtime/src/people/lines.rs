//! Input lines from a person or a program.

use std::{
    io::{self, BufRead, BufReader, Read},
    thread,
};

use tokio::sync::mpsc;

/// The maximum length of a line, in bytes; longer ones become [`InputLine::TooLong`].
pub const LINE_BYTES_MAX: usize = 1024 * 1024;

/// The capacity of the line queue.
pub(super) const LINES_WAITING_MAX: usize = 64;

/// One line of input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputLine {
    /// Its text without the line break; invalid UTF-8 is replaced.
    Text(String),
    /// The line exceeded [`LINE_BYTES_MAX`] and was discarded.
    TooLong,
}

/// A stream of lines. The reader thread exits with the input or with this process: a blocking read of a terminal cannot
/// be interrupted.
#[derive(Debug)]
pub struct InputLines(mpsc::Receiver<InputLine>);

impl InputLines {
    /// Reads an input on its own thread.
    ///
    /// # Errors
    /// If the thread cannot be spawned.
    pub fn of(input: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, receiver) = mpsc::channel(LINES_WAITING_MAX);
        thread::Builder::new().name("input".to_owned()).spawn(move || {
            let mut reader = BufReader::new(input);
            while let Some(line) = read_line(&mut reader) {
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self(receiver))
    }

    /// An input that somebody else reads.
    pub(super) fn channel() -> (mpsc::Sender<InputLine>, Self) {
        let (sender, lines) = mpsc::channel(LINES_WAITING_MAX);
        (sender, Self(lines))
    }

    /// An input that has already ended.
    pub fn none() -> Self {
        Self(mpsc::channel(1).1)
    }

    /// A line that has already arrived.
    pub(super) fn waiting(&mut self) -> Option<InputLine> {
        self.0.try_recv().ok()
    }

    /// The next line; `None` at the end of the input.
    pub async fn next(&mut self) -> Option<InputLine> {
        self.0.recv().await
    }
}

/// The next line; `None` at the end or after a read error.
fn read_line(reader: &mut impl BufRead) -> Option<InputLine> {
    let mut bytes = Vec::new();
    let mut too_long = false;
    loop {
        let room = (LINE_BYTES_MAX - bytes.len()) as u64;
        match reader.by_ref().take(room.max(1)).read_until(b'\n', &mut bytes) {
            Err(_) => return None,
            Ok(0) if bytes.is_empty() && !too_long => return None,
            Ok(read) if read == 0 || bytes.ends_with(b"\n") => break,
            // The rest of an overlong line is read and discarded.
            Ok(_) if bytes.len() >= LINE_BYTES_MAX => {
                too_long = true;
                bytes.clear();
            }
            Ok(_) => {}
        }
    }
    if too_long {
        return Some(InputLine::TooLong);
    }
    let text = String::from_utf8_lossy(&bytes);
    Some(InputLine::Text(text.trim_end_matches(['\n', '\r']).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn reads_long_and_invalid_lines() {
        let mut input = b"one\r\n\n\xff bad\n".to_vec();
        input.extend(vec![b'x'; LINE_BYTES_MAX + 10]);
        input.extend(b"\nlast");
        let mut lines = InputLines::of(io::Cursor::new(input)).unwrap();
        let text = |text: &str| Some(InputLine::Text(text.to_owned()));
        assert_eq!(lines.next().await, text("one"));
        assert_eq!(lines.next().await, text(""));
        assert_eq!(lines.next().await, text("\u{fffd} bad"));
        assert_eq!(lines.next().await, Some(InputLine::TooLong));
        assert_eq!(lines.next().await, text("last"));
        assert_eq!(lines.next().await, None);
    }
}
