//! Models that compute on the CPU of this machine: text in pictures, and the meaning of texts.
//!
//! - [`ocr`]: reads labels in pictures of windows with a PP-OCR model.
//! - [`embed`]: embeddings by a model of the form of all-MiniLM-L6-v2.
//! - [`serve`]: answers the calls of `deskhand-local-client` on streams, which the program `deskhand-local` does on its standard ones.
//!
//! It opens no connection, writes no file, and knows nothing of windows, agents or desktops.

mod archive;
pub mod embed;
pub mod ocr;
mod serve;

pub use archive::ArchiveError;
pub use serve::serve;
