//! The protocol, without knowledge of what is served: requests become [`McpCall`]s that outlive their request, so that one can be cancelled,
//! wait for an answer of the client's user over several round trips, and be repeated without being done twice.
//!
//! What is served is a [`Catalog`].

mod answers;
mod begin;
mod call;
mod calls;
mod catalog;
mod changes;
mod connection;
mod lines;
mod logs;
mod message;
mod pages;
mod requests;
mod server;
mod wait;

pub use call::{ANSWER_BOUND, AnswerDelivery, ClientInfo, McpCall, QuestionError};
pub use catalog::Catalog;
pub use connection::ClientId;
pub use logs::{Level, with_logs};
pub use requests::{CatalogChange, CatalogReply, CatalogRequest};

pub(super) use calls::Calls;
pub(super) use connection::Departures;
pub(super) use lines::JsonRpcLineReader;
pub(super) use message::{InvalidJsonRpcMessage, check};
pub(super) use server::{CatalogServer, SESSION};
