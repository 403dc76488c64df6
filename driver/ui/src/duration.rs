//! Durations as numbers, for journals and protocols.

use std::time::Duration;

/// Whole milliseconds; at most `u64::MAX`.
pub fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_durations_are_bounded() {
        assert_eq!(milliseconds(Duration::from_micros(1_999)), 1);
        assert_eq!(milliseconds(Duration::MAX), u64::MAX);
    }
}
