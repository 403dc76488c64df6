//! The port to language models.

use deskhand_core::{
    model::{ModelFailure, ModelReply, ModelRequest},
    ui::PictureRef,
};

use crate::{OpenAi, Script};

/// A language model.
pub trait Model: Send + Sync {
    /// Sends a request, with retries. Dropping the future cancels it, retry delays included.
    fn ask(
        &self,
        request: &ModelRequest,
        pictures: &dyn PictureSource,
    ) -> impl Future<Output = Result<ModelReply, ModelFailure>> + Send;

    /// The display name: `openai gpt-5-mini at http://localhost:8000/v1`.
    fn name(&self) -> &str;
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
    /// An OpenAI-compatible endpoint.
    OpenAi(OpenAi),
    /// A script file.
    Script(Script),
}

impl Model for AnyModel {
    async fn ask(
        &self,
        request: &ModelRequest,
        pictures: &dyn PictureSource,
    ) -> Result<ModelReply, ModelFailure> {
        match self {
            Self::OpenAi(model) => model.ask(request, pictures).await,
            Self::Script(model) => model.ask(request, pictures).await,
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::OpenAi(model) => model.name(),
            Self::Script(model) => model.name(),
        }
    }
}
