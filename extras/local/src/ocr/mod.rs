//! Text in pictures of windows, read by a model on this machine.
//!
//! [`OcrTextReader`] reads a PP-OCR model out of one archive and computes on the CPU. A detector marks the pixels of text
//! (`detector`), these become boxes of lines (`boxes`), lines are cut where a wide gap separates two labels (`ink`), and a
//! recogniser reads each piece (`recogniser`). It opens no connection and writes no file, and knows nothing of windows.

mod boxes;
mod detector;
mod error;
mod ink;
mod letters;
mod reader;
mod recogniser;
mod sides;
mod squeeze;
mod tensor;
mod workers;

pub use boxes::PixelRect;
pub use deskhand_local_client::protocol::Letters;
pub use error::OcrError;
pub use reader::{OcrTextReader, Pixels, RecognisedText};
