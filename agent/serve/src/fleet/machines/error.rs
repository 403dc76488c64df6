//! Why a sub-task cannot be handed to another machine.

use std::{io, path::PathBuf};

use deskhand_fleet::{
    nats::NatsError,
    signed::KeyError,
    store::StoreError,
    task::{IdError, TaskId},
};

/// A sub-task was not handed over, or its outcome is not known.
#[derive(Debug, thiserror::Error)]
pub(super) enum MachineError {
    #[error("nothing was handed over")]
    NotSent(#[source] Box<Self>),
    #[error("no fleet is configured; name its servers with `fleet.servers` or DESKHAND_FLEET")]
    NoFleet,
    #[error("{error}; {}", error.help())]
    Connect { error: NatsError },
    #[error("the key {} that signs cannot be used; `fleet.key` names it, and `deskhand fleet key` makes one", file.display())]
    Key {
        file: PathBuf,
        #[source]
        source: KeyFileError,
    },
    #[error("the number of the sub-task is not a valid task id")]
    Id(#[from] IdError),
    #[error("{0}")]
    NobodyTakesIt(String),
    #[error("the document {} cannot go along: {problem}", path.display())]
    Document { path: PathBuf, problem: String },
    #[error(
        "several documents are called {name}; write the whole path of the one that is meant into the sub-task"
    )]
    SameName { name: String },
    #[error("write down what is handed over in {}", path.display())]
    Note {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the fleet has another task {0}, which somebody else sent; the sub-task was not handed over")]
    Another(TaskId),
    #[error(
        "the fleet does not answer; `deskhand fleet status {id}` says later what became of the sub-task, which it may have"
    )]
    Silent {
        id: TaskId,
        #[source]
        source: StoreError,
    },
    #[error(
        "{id} has no outcome although its time is over, and was cancelled; {last}; what was done of it is in `deskhand fleet results {id}`"
    )]
    Late { id: TaskId, last: String },
    #[error("what is handed over cannot be written as JSON")]
    Json(#[from] serde_json::Error),
}

/// A key that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum KeyFileError {
    #[error(transparent)]
    Read(#[from] io::Error),
    #[error(transparent)]
    Key(#[from] KeyError),
}
