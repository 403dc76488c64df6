//! Errors of MCP servers.

/// An error of a server. Each message continues "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    /// The server could not be started or reached, or did not list its tools.
    #[error("{0}")]
    Start(String),
    /// The server did not answer in time. Its process was ended, or its connection is no longer read.
    #[error("answer within {0} s; its work may be half done")]
    Timeout(u64),
    /// The server answered with a protocol error: nothing was done, as far as it reports.
    #[error("do it: it answered “{0}”")]
    Refused(String),
    /// The connection is gone.
    #[error("keep the connection ({0}); its work may be half done")]
    Lost(String),
}
