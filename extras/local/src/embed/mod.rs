//! Embeddings of texts by a model on this machine: how near two texts are in meaning.
//!
//! [`Embedder`] reads a model of the form of all-MiniLM-L6-v2 (a BERT of six layers with its WordPiece tokenizer) out of one archive and
//! computes on the CPU. It opens no connection and writes no file; what the numbers are good for is up to the caller.

mod embedder;
mod kept;

pub use embedder::{EmbedError, Embedder};
