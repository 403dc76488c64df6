//! The wall clock; the only place that reads it.

use std::time::{SystemTime, UNIX_EPOCH};

use deskhand_ui::duration::milliseconds;

/// Milliseconds since 1970-01-01 UTC.
pub fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, milliseconds)
}
