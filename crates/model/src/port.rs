//! The port to language models.

use deskhand_core::{
    model::{ModelFailure, ModelReply, ModelRequest},
    ui::PictureRef,
};

use crate::{OpenAi, Script};

/// Something that answers questions.
pub trait Model: Send + Sync {
    /// Asks once, with the retries that make sense. Dropping the future stops it, also while it waits for a retry.
    fn ask(
        &self,
        request: &ModelRequest,
        pictures: &dyn PictureSource,
    ) -> impl Future<Output = Result<ModelReply, ModelFailure>> + Send;

    /// How people know it: `openai gpt-5-mini at http://localhost:8000/v1`.
    fn name(&self) -> &str;
}

/// Where the bytes of the pictures in a request come from.
pub trait PictureSource: Send + Sync {
    /// The file of a picture, of the media type that it says.
    ///
    /// # Errors
    ///
    /// When it is not there or cannot be read.
    fn file(&self, picture: &PictureRef) -> Result<Vec<u8>, PictureError>;
}

/// A picture that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("picture {sha256} could not be read: {reason}")]
pub struct PictureError {
    /// Which picture.
    pub sha256: String,
    /// Why.
    pub reason: String,
}

/// A source without pictures, for requests that have none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPictures;

impl PictureSource for NoPictures {
    fn file(&self, picture: &PictureRef) -> Result<Vec<u8>, PictureError> {
        Err(PictureError {
            sha256: picture.sha256.clone(),
            reason: "there is no store of pictures".to_owned(),
        })
    }
}

/// Any of the models that can be configured.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one in a process, and it is never moved in a loop")]
pub enum AnyModel {
    /// An OpenAI-compatible endpoint.
    OpenAi(OpenAi),
    /// A file of turns.
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
