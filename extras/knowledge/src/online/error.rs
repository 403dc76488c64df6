//! Online errors. No message contains a key or the query of an address.

use std::{net::IpAddr, time::Duration};

/// A search that failed. The messages continue "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OnlineError {
    /// The engine is not configured as it must be.
    #[error("use the search engine {engine}: {problem}; correct its configuration")]
    Configuration {
        /// The engine.
        engine: String,
        /// Description of the problem.
        problem: String,
    },
    /// No connection.
    #[error("reach the search engine {engine} at {host}: {reason}; check its address and the network")]
    Unreachable {
        /// The engine.
        engine: String,
        /// Its host.
        host: String,
        /// The cause.
        reason: String,
    },
    /// No reply in time.
    #[error("get a reply of the search engine {engine} within {} s; try again, or raise the limit", .limit.as_secs())]
    TimedOut {
        /// The engine.
        engine: String,
        /// The limit.
        limit: Duration,
    },
    /// The engine refuses to answer.
    #[error("search with {engine}: it answered {status}; {next}")]
    Refused {
        /// The engine.
        engine: String,
        /// The HTTP status.
        status: u16,
        /// Suggested next step.
        next: String,
    },
    /// The engine failed.
    #[error(
        "search with {engine}: it answered {status} (`{quote}`); try again, or check the state of the engine"
    )]
    Status {
        /// The engine.
        engine: String,
        /// The HTTP status.
        status: u16,
        /// The beginning of what it said.
        quote: String,
    },
    /// The reply is none that this engine sends.
    #[error(
        "read the reply of the search engine {engine}: {reason}; check that its address is that of the API"
    )]
    Reply {
        /// The engine.
        engine: String,
        /// Description of the problem.
        reason: String,
    },
}

/// A page that was not read. The messages continue "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageReadError {
    /// The text is no address of a page.
    #[error("open `{address}`: {problem}; give an http or https address")]
    Address {
        /// The address.
        address: String,
        /// Description of the problem.
        problem: String,
    },
    /// The host may not be asked.
    #[error("open a page of {host}: the host is not allowed; allow it in the configuration if it is needed")]
    NotAllowed {
        /// The host.
        host: String,
    },
    /// The host is in a private network.
    #[error(
        "open a page of {host}: {address} is no public address; allow this host explicitly if it is meant"
    )]
    Private {
        /// The host.
        host: String,
        /// Its address.
        address: IpAddr,
    },
    /// The host has an address that pages are never read from, such as that of the metadata of a cloud.
    #[error("open a page of {host}: {address} is never asked for pages; use another address")]
    Forbidden {
        /// The host.
        host: String,
        /// Its address.
        address: IpAddr,
    },
    /// No connection.
    #[error("reach {host}: {reason}; check the address and the network")]
    Unreachable {
        /// The host.
        host: String,
        /// The cause.
        reason: String,
    },
    /// Too many redirects.
    #[error("open a page of {host}: it redirects more than {limit} times; use another page")]
    Redirects {
        /// The last host.
        host: String,
        /// The limit.
        limit: usize,
    },
    /// The page was not given.
    #[error("open a page of {host}: it answered {status}; use another page")]
    Status {
        /// The host.
        host: String,
        /// The HTTP status.
        status: u16,
    },
    /// The reply is no page.
    #[error(
        "read what {host} sent: it is `{found}`, and only HTML, text, Markdown and PDF are read; use another page"
    )]
    ContentType {
        /// The host.
        host: String,
        /// The media type.
        found: String,
    },
    /// The page is longer than the limit.
    #[error("read a page of {host}: it has more than {limit} bytes; use another page, or raise the limit")]
    TooLong {
        /// The host.
        host: String,
        /// The limit.
        limit: usize,
    },
    /// The page did not arrive in time.
    #[error("read {host} within {} s; try again, or raise the limit", .limit.as_secs())]
    TimedOut {
        /// The host that was asked first.
        host: String,
        /// The limit.
        limit: Duration,
    },
    /// The page cannot be converted to text.
    #[error("read the text of a page of {host}: {reason}; use another page")]
    Text {
        /// The host.
        host: String,
        /// The cause.
        reason: String,
    },
}
