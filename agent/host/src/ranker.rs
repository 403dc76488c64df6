//! Ranks what a small model could be offered, by a model for embeddings on this machine.

use std::{path::PathBuf, sync::Arc};

use deskhand_local_client::{
    LocalCall, LocalProgram,
    protocol::{LocalOutput, LocalRequest},
};
use deskhand_runtime::Ranker;

use crate::config::find_local;

/// A ranker with the model in an archive, which is loaded when it is first used.
pub fn ranker(archive: PathBuf) -> Ranker {
    let program = LocalProgram::shared(find_local().as_deref());
    Arc::new(move |wanted, texts| {
        let (archive, query, texts) = (archive.clone(), wanted.to_owned(), texts.to_vec());
        let call = program.call(LocalRequest::Nearness { archive, query, texts }, &[]);
        match call.and_then(LocalCall::wait).map_err(|error| error.to_string())? {
            LocalOutput::Nearness(nearness) => Ok(nearness),
            LocalOutput::Loaded | LocalOutput::Texts(_) => Err("the answer is not one to texts".to_owned()),
        }
    })
}
