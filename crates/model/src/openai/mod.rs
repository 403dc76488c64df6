//! Any OpenAI-compatible chat-completions endpoint.

mod client;
mod config;
mod failure;
mod stream;
mod wait;
mod wire;

pub use client::OpenAi;
pub use config::{
    ImageDetail, OpenAiConfig, OpenAiSetupError, StructuredOutput, TokenLimitField, normalise_base_url,
};
