//! Times as people write them, and the time now.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::{SignedDuration, Timestamp, Zoned, civil::DateTime, tz::TimeZone};

/// A time that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    /// The text is no length of time.
    #[error("`{text}` is no length of time; write it as `30s`, `15m` or `2h 30m`")]
    Duration {
        /// The text.
        text: String,
    },
    /// The text is no point in time.
    #[error("`{text}` is no time; write it as `2026-12-24T18:00Z` or, in local time, `2026-12-24T18:00`")]
    Deadline {
        /// The text.
        text: String,
    },
}

/// A length of time such as `30s`, `15m` or `2h 30m`, in milliseconds.
///
/// # Errors
/// [`TimeError::Duration`] if it is none.
pub fn duration_ms(text: &str) -> Result<u64, TimeError> {
    let read = text.trim().parse::<SignedDuration>().ok();
    let milliseconds = read.and_then(|read| u64::try_from(read.as_millis()).ok()).filter(|ms| *ms > 0);
    milliseconds.ok_or_else(|| TimeError::Duration { text: text.to_owned() })
}

/// A time such as `2026-12-24T18:00Z`, in milliseconds since 1970. Without a zone it is a local time.
///
/// # Errors
/// [`TimeError::Deadline`] if it is none.
pub fn deadline_ms(text: &str) -> Result<u64, TimeError> {
    let text = text.trim();
    let read = || {
        let timestamp = if let Ok(zoned) = text.parse::<Zoned>() {
            zoned.timestamp()
        } else if let Ok(timestamp) = text.parse::<Timestamp>() {
            timestamp
        } else {
            text.parse::<DateTime>().ok()?.to_zoned(TimeZone::system()).ok()?.timestamp()
        };
        u64::try_from(timestamp.as_millisecond()).ok()
    };
    read().ok_or_else(|| TimeError::Deadline { text: text.to_owned() })
}

/// Now, in milliseconds since 1970. Machines of a fleet need clocks that agree as far as deadlines are to be kept.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A time in milliseconds since 1970 as people read it.
pub fn time_words(time_ms: u64) -> String {
    let read = i64::try_from(time_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    read.map_or_else(|| time_ms.to_string(), |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        assert_eq!(duration_ms("30s"), Ok(30_000));
        assert_eq!(duration_ms("2h 30m"), Ok(9_000_000));
        for wrong in ["", "30", "-5s", "soon", "0s"] {
            assert!(duration_ms(wrong).unwrap_err().to_string().contains("`30s`"), "{wrong}");
        }
        assert_eq!(deadline_ms("1970-01-01T00:01Z"), Ok(60_000));
        assert_eq!(deadline_ms("1970-01-01T01:01+01:00"), Ok(60_000));
        assert!(deadline_ms("2026-12-24T18:00").is_ok() && deadline_ms("2026-12-24 18:00").is_ok());
        assert!(deadline_ms("tomorrow").unwrap_err().to_string().contains("2026-12-24T18:00Z"));
        assert_eq!(time_words(60_000), "1970-01-01 00:01:00 UTC");
    }
}
