//! Language model clients: one request, one reply.
//!
//! [`Model`] is the port; [`OpenAi`] talks to any OpenAI-compatible endpoint, [`Script`] replies from a file.
//! `deskhand_core` builds requests and parses replies; this crate does neither. It writes no files, and no message
//! contains a key.

mod openai;
mod port;
mod prices;
mod script;

pub use deskhand_http::SecretSource;
pub use openai::{
    ImageDetail, OpenAi, OpenAiConfig, OpenAiSetupError, StructuredOutput, TokenLimitField,
    normalise_base_url,
};
pub use port::{AnyModel, Model, ModelSign, ModelSigns, NoPictures, PictureError, PictureSource, Unwatched};
pub use prices::{DollarPrice, SCRIPT_MODEL, known_prices};
pub use script::{Script, ScriptError};
