//! A model behind an HTTP endpoint: requests, retries, failures. How they look on the wire is the part of [`crate::wire`].

mod breaker;
mod client;
mod config;
mod dialect;
mod failure;
mod recorded;
mod transport;
mod wait;

pub use client::Endpoint;
pub use config::{ApiKeyHeader, EndpointConfig, EndpointSetupError, normalise_base_url};
pub use recorded::{ExchangeSummary, recorded};
