//! Speaks to language models: one question, one reply.
//!
//! [`Model`] is the port; [`OpenAi`] speaks to any OpenAI-compatible endpoint, [`Script`] answers from a file. What is asked
//! and what the reply means is decided in `deskhand_core`; nothing here reads a reply. Nothing is written
//! anywhere, and a key never gets into a message.

mod openai;
mod port;
mod prices;
mod script;

pub use openai::{
    ImageDetail, KeySource, OpenAi, OpenAiConfig, OpenAiSetupError, StructuredOutput, TokenLimitField,
    install_tls, normalise_base_url,
};
pub use port::{AnyModel, Model, NoPictures, PictureError, PictureSource};
pub use prices::{DollarPrice, SCRIPT_MODEL, known_prices};
pub use script::{Script, ScriptError};
