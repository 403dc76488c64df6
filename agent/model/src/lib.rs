//! Language model clients: one request, one reply.
//!
//! [`Model`] is the port; [`Endpoint`] talks to a server in one of several [`Wire`] formats, [`Script`] replies from a file,
//! [`RelayModel`] hands each question to somebody else.
//! `deskhand_machine` builds requests and parses replies; this crate does neither. It writes no
//! file except a cassette, and no message contains a key.

mod cassette;
mod endpoint;
mod port;
mod prices;
mod relay;
mod script;
mod team;
mod wire;

pub use cassette::{Cassette, CassetteError};
pub use deskhand_http::SecretSource;
pub use endpoint::{
    ApiKeyHeader, Endpoint, EndpointConfig, EndpointSetupError, ExchangeSummary, normalise_base_url, recorded,
};
pub use port::{
    AnyModel, Asked, DynModel, Model, ModelSign, ModelSigns, NoModelSigns, NoPictures, PictureError,
    PictureSource, STREAMED_CHARS_MAX,
};
pub use prices::{DollarPrice, SCRIPT_MODEL, known_prices};
pub use relay::{RelayModel, RelayQuestion, RelayQuestions};
pub use script::{Script, ScriptError};
pub use team::ModelTeam;
pub use wire::{
    ComputerUse, EndpointModel, ImageDetail, ReasoningEffort, StructuredOutput, TokenLimitField, Wire,
};
