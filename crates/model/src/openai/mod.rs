//! Any OpenAI-compatible chat-completions endpoint.

mod client;
mod config;
mod failure;
mod wait;
mod wire;

pub use client::{OpenAi, install_tls};
pub use config::{
    ImageDetail, KeySource, OpenAiConfig, OpenAiSetupError, StructuredOutput, TokenLimitField,
    normalise_base_url,
};
