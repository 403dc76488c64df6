//! The messages between `deskhand-local` and a client: a line of JSON each, on its standard input and output. The pixels of a picture follow
//! the line of their call.

use std::{
    io::{self, BufRead, Read as _, Write},
    path::PathBuf,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// The longest line of a message, in bytes.
const LINE_MAX: u64 = 64 * 1024 * 1024;
/// The largest picture, in bytes.
pub const PICTURE_MAX: usize = 512 * 1024 * 1024;

/// The first line of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of the program, which has to be that of the client.
    pub version: String,
}

/// A message to the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientMessage {
    /// A call, which is answered once.
    Call {
        /// Its number, which no other call has.
        id: u64,
        /// The work.
        request: LocalRequest,
        /// The size of the picture that follows the line, in bytes.
        picture_bytes: usize,
    },
    /// Nobody waits for a call any more. It is answered nevertheless.
    Stop {
        /// Its number.
        id: u64,
    },
}

/// Work of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LocalRequest {
    /// Loads an OCR model, ahead of its first picture.
    LoadReader {
        /// The archive of the model.
        archive: PathBuf,
    },
    /// Reads the text in a picture: rows from the top, without padding, red, green and blue of each pixel.
    ReadText {
        /// The archive of the model.
        archive: PathBuf,
        /// The width of the picture in pixels.
        width: u32,
        /// The height of the picture in pixels.
        height: u32,
        /// The letters to look for.
        letters: Letters,
    },
    /// Compares the meaning of texts with that of a query.
    Nearness {
        /// The archive of the model for embeddings.
        archive: PathBuf,
        /// The query.
        query: String,
        /// The texts.
        texts: Vec<String>,
    },
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LocalResponse {
    /// The number of the call.
    pub id: u64,
    /// The result, or why there is none.
    pub result: Result<LocalOutput, String>,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LocalOutput {
    /// The model is loaded.
    Loaded,
    /// The texts in a picture, from the top.
    Texts(Vec<PictureText>),
    /// For each text, the cosine of the angle between its embedding and that of the query, -1 to 1.
    Nearness(Vec<f32>),
}

/// A text in a picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PictureText {
    /// The text; never empty.
    pub text: String,
    /// The leftmost column of its letters.
    pub left: u32,
    /// Their topmost row.
    pub top: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// The mean certainty of its letters, 0 to 1.
    pub certainty: f32,
}

/// The letters that a text may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Letters {
    /// Latin letters with all their marks, digits and signs: what is drawn as a sign is not taken for a Chinese letter.
    #[default]
    Latin,
    /// All that the model knows.
    All,
}

/// Writes a message or an answer as a line, with what follows it.
///
/// # Errors
/// The other end has closed, or writing fails.
pub fn write(to: &mut impl Write, message: &impl Serialize, picture: &[u8]) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.write_all(picture)?;
    to.flush()
}

/// Reads a line; `None` at the end. A picture after it is for the caller to read, see [`read_picture`].
///
/// # Errors
/// The line is not a `T`, or reading fails.
pub fn read<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    from.by_ref().take(LINE_MAX).read_until(b'\n', &mut line)?;
    if line.is_empty() { Ok(None) } else { Ok(Some(serde_json::from_slice(&line)?)) }
}

/// Reads the picture that follows a line.
///
/// # Errors
/// It is larger than [`PICTURE_MAX`], ends early, or reading fails.
pub fn read_picture(from: &mut impl BufRead, bytes: usize) -> io::Result<Vec<u8>> {
    if bytes > PICTURE_MAX {
        return Err(io::Error::other(format!("a picture of {bytes} bytes, more than {PICTURE_MAX}")));
    }
    let mut picture = vec![0; bytes];
    from.read_exact(&mut picture)?;
    Ok(picture)
}
