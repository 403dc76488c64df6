//! The protocol, without knowledge of what is served: requests become [`Call`]s that outlive their request, so that one can be cancelled,
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
mod server;
mod wait;

pub use call::{ANSWER_BOUND, Call, ClientInfo, Delivery, Unanswered};
pub use catalog::{Catalog, Change, Served, Wanted};
pub use connection::ClientId;
pub use logs::{Level, with_logs};

pub(super) use calls::Calls;
pub(super) use connection::Departures;
pub(super) use lines::Lines;
pub(super) use message::{Refusal, check};
pub(super) use server::{SESSION, Server};
