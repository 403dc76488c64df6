//! Lines that a person or a program writes to this process.

use std::{
    io::{self, BufRead, BufReader, Read},
    thread,
};

use tokio::sync::mpsc;

/// The longest line, in bytes; a longer one is cut and told as [`InputLine::TooLong`].
pub const LINE_BYTES_MAX: usize = 1024 * 1024;

/// The most lines that wait to be read.
pub(super) const LINES_WAITING_MAX: usize = 64;

/// One line of input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputLine {
    /// Its text, without the line break; what is not UTF-8 in it is replaced.
    Text(String),
    /// It was longer than [`LINE_BYTES_MAX`] and was thrown away.
    TooLong,
}

/// Lines as they come. The thread that reads them ends with the input or with this process: nothing can interrupt
/// a read of a terminal.
#[derive(Debug)]
pub struct InputLines(mpsc::Receiver<InputLine>);

impl InputLines {
    /// Reads an input on a thread of its own.
    ///
    /// # Errors
    /// When there can be no further thread.
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

    /// Input that has ended already.
    pub fn none() -> Self {
        Self(mpsc::channel(1).1)
    }

    /// A line that is there already.
    pub(super) fn waiting(&mut self) -> Option<InputLine> {
        self.0.try_recv().ok()
    }

    /// The next line; none at the end of the input.
    pub async fn next(&mut self) -> Option<InputLine> {
        self.0.recv().await
    }
}

/// The next line; none at the end, or when the input broke.
fn read_line(reader: &mut impl BufRead) -> Option<InputLine> {
    let mut bytes = Vec::new();
    let mut too_long = false;
    loop {
        let room = (LINE_BYTES_MAX - bytes.len()) as u64;
        match reader.by_ref().take(room.max(1)).read_until(b'\n', &mut bytes) {
            Err(_) => return None,
            Ok(0) if bytes.is_empty() && !too_long => return None,
            Ok(read) if read == 0 || bytes.ends_with(b"\n") => break,
            // The rest of a line that is too long is read and forgotten.
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
    async fn lines_come_whole_whatever_they_hold() {
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
