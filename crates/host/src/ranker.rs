//! Ranks what a small model could be offered, by a model for embeddings on this machine.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use deskhand_embed::{EmbedError, Embedder};
use deskhand_runtime::Ranker;

/// A ranker with the model in an archive, which is read when it is first used.
pub(crate) fn ranker(archive: PathBuf) -> Ranker {
    let opened: OnceLock<Result<Embedder, EmbedError>> = OnceLock::new();
    Arc::new(move |wanted, texts| {
        let embedder =
            opened.get_or_init(|| Embedder::open(&archive)).as_ref().map_err(ToString::to_string)?;
        embedder.nearness(wanted, texts).map_err(|error| error.to_string())
    })
}
