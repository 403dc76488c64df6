//! Messages for the log of a client. The protocol gave them up with 2026-07-28, but has them still.
#![expect(deprecated, reason = "the protocol has messages for logs still")]

use rmcp::{
    Peer, RoleServer,
    model::{
        JsonObject, LoggingLevel, LoggingMessageNotificationParam, RequestMetaObject, ServerCapabilities,
    },
};
use serde_json::Value;

/// The name of this server in logs of clients.
const LOGGER: &str = "deskhand";

/// The severity of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// An informational message.
    Info,
    /// Something is not as it should be.
    Warning,
}

impl Level {
    const fn to_protocol(self) -> LoggingLevel {
        match self {
            Self::Info => LoggingLevel::Info,
            Self::Warning => LoggingLevel::Warning,
        }
    }
}

/// The same capabilities, with messages for the log of a client.
pub fn with_logs(mut capabilities: ServerCapabilities) -> ServerCapabilities {
    capabilities.logging = Some(JsonObject::new());
    capabilities
}

/// The least level that a client wants to read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Least(LoggingLevel);

impl Least {
    /// The default level, for a client that set none.
    pub(super) const USUAL: Self = Self(LoggingLevel::Info);

    pub(super) const fn new(level: LoggingLevel) -> Self {
        Self(level)
    }

    /// The level in a request since 2026-07-28.
    pub(super) fn of(meta: &RequestMetaObject) -> Option<Self> {
        meta.log_level().map(Self)
    }

    pub(super) const fn admits(self, level: Level) -> bool {
        level.to_protocol() as u8 >= self.0 as u8
    }
}

/// Writes into the log of a client.
pub(super) async fn write(peer: &Peer<RoleServer>, level: Level, text: String) {
    let message = LoggingMessageNotificationParam::new(level.to_protocol(), Value::String(text));
    // A client that has gone ends its requests.
    peer.notify_logging_message(message.with_logger(LOGGER)).await.ok();
}
