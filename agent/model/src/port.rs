//! The port to language models.

use std::{pin::Pin, time::Duration};

use deskhand_machine::model::{ModelFailure, ModelReply, ModelRequest};
use deskhand_ui::PictureRef;

use crate::{Endpoint, RelayModel, Script};

/// A language model.
pub trait Model: Send + Sync {
    /// Sends a request, with retries, and tells `signs` how far it is. Dropping the future cancels it, retry delays included.
    fn ask(
        &self,
        request: &ModelRequest,
        pictures: &dyn PictureSource,
        signs: &dyn ModelSigns,
    ) -> impl Future<Output = Result<ModelReply, ModelFailure>> + Send;

    /// The display name: `openai gpt-5-mini at http://localhost:8000/v1`.
    fn name(&self) -> &str;
}

/// The future of a question to any model.
pub type Asked<'a> = Pin<Box<dyn Future<Output = Result<ModelReply, ModelFailure>> + Send + 'a>>;

/// [`Model`] as a trait object: a session is compiled once, and not for each kind of model.
pub trait DynModel: Send + Sync {
    /// As [`Model::ask`].
    fn ask_boxed<'a>(
        &'a self,
        request: &'a ModelRequest,
        pictures: &'a dyn PictureSource,
        signs: &'a dyn ModelSigns,
    ) -> Asked<'a>;

    /// As [`Model::name`].
    fn display_name(&self) -> &str;
}

impl<M: Model> DynModel for M {
    fn ask_boxed<'a>(
        &'a self,
        request: &'a ModelRequest,
        pictures: &'a dyn PictureSource,
        signs: &'a dyn ModelSigns,
    ) -> Asked<'a> {
        Box::pin(self.ask(request, pictures, signs))
    }

    fn display_name(&self) -> &str {
        self.name()
    }
}

/// The most characters of a streamed reply that are reported while it arrives: its last ones.
pub const STREAMED_CHARS_MAX: usize = 6_000;

/// Progress of a request to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelSign {
    /// A request was sent.
    Asked {
        /// The display name of the model.
        model: String,
    },
    /// A part of the response has arrived.
    Receiving {
        /// The bytes so far.
        bytes: usize,
        /// The last words of the reply so far, without the key; empty if it is not streamed. At most [`STREAMED_CHARS_MAX`] characters.
        words: String,
    },
    /// A request failed and is sent again.
    Retrying {
        /// Why it failed. Contains no key.
        reason: String,
        /// Delay before the retry.
        after: Duration,
        /// The number of the next request of this question, from 2.
        attempt: u32,
        /// The most requests of a question.
        attempts_max: u32,
    },
}

/// Is told how far a question to a model is.
pub trait ModelSigns: Send + Sync {
    /// Takes the next sign; must return at once.
    fn sign(&self, sign: ModelSign);
}

/// Ignores the signs.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoModelSigns;

impl ModelSigns for NoModelSigns {
    fn sign(&self, _: ModelSign) {}
}

/// Loads the pictures that a request refers to.
pub trait PictureSource: Send + Sync {
    /// The encoded picture, of the media type in `picture`.
    ///
    /// # Errors
    ///
    /// If it is missing or cannot be read.
    fn file(&self, picture: &PictureRef) -> Result<Vec<u8>, PictureError>;
}

/// A picture that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read picture {sha256}: {reason}")]
pub struct PictureError {
    /// The hash of the picture.
    pub sha256: String,
    /// The cause.
    pub reason: String,
}

/// A source without pictures.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPictures;

impl PictureSource for NoPictures {
    fn file(&self, picture: &PictureRef) -> Result<Vec<u8>, PictureError> {
        Err(PictureError { sha256: picture.sha256.clone(), reason: "no picture store".to_owned() })
    }
}

/// Any configured model.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one per process, never moved in a loop")]
pub enum AnyModel {
    /// An endpoint.
    Endpoint(Endpoint),
    /// A script file.
    Script(Script),
    /// Somebody else.
    Relay(RelayModel),
}

impl AnyModel {
    /// Returns the time for which requests are not worthwhile, because the model keeps failing; `None` if it may be
    /// used.
    pub(crate) fn rests(&self) -> Option<Duration> {
        match self {
            Self::Endpoint(endpoint) => endpoint.rests(),
            Self::Script(_) | Self::Relay(_) => None,
        }
    }
}

impl Model for AnyModel {
    async fn ask(
        &self,
        request: &ModelRequest,
        pictures: &dyn PictureSource,
        signs: &dyn ModelSigns,
    ) -> Result<ModelReply, ModelFailure> {
        match self {
            Self::Endpoint(model) => model.ask(request, pictures, signs).await,
            Self::Script(model) => model.ask(request, pictures, signs).await,
            Self::Relay(model) => model.ask(request, pictures, signs).await,
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Endpoint(model) => model.name(),
            Self::Script(model) => model.name(),
            Self::Relay(model) => model.name(),
        }
    }
}
