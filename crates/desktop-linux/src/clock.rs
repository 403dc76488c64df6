//! Spans of time as they are reported.

use tokio::time::Instant;

/// Milliseconds since `begun`.
pub(crate) fn elapsed_ms(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}
