//! Retry delays.

use std::time::Duration;

use jiff::{Timestamp, fmt::rfc2822};

/// The delay after attempt `attempt` (from 1): doubles with each attempt, up to `max`. `chance`, from 0 to 1, takes up to half of it
/// away.
pub(super) fn back_off(first: Duration, attempt: u32, max: Duration, chance: f64) -> Duration {
    let factor = 1_u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
    first.saturating_mul(factor).min(max).mul_f64(1.0 - chance.clamp(0.0, 1.0) / 2.0)
}

/// Parses `Retry-After`: seconds or a date. A past date means no delay.
pub(super) fn retry_after(header: &str, now: Timestamp) -> Option<Duration> {
    let text = header.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(Duration::try_from(date.duration_since(now)).unwrap_or(Duration::ZERO))
}

/// Waits before a retry: the product's only fixed wait, since a server does not announce when it is ready. Dropping the
/// future cancels it.
pub(super) async fn before_retry(time: Duration) {
    tokio::time::sleep(time).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_off_doubles_up_to_the_limit() {
        let of = |attempt, chance| {
            back_off(Duration::from_millis(500), attempt, Duration::from_secs(3), chance).as_millis()
        };
        let wait = |attempt| of(attempt, 0.0);
        assert_eq!([wait(1), wait(2), wait(3), wait(4), wait(200)], [500, 1000, 2000, 3000, 3000]);
        assert_eq!([of(2, 1.0), of(2, 0.5), of(200, 1.0)], [500, 750, 1500], "chance takes up to half");
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now: Timestamp = "1994-11-06T08:49:00Z".parse().unwrap();
        let check = |header, expected: Option<u64>| {
            assert_eq!(retry_after(header, now), expected.map(Duration::from_secs), "{header:?}");
        };
        check("7", Some(7));
        check(" 0 ", Some(0));
        check("Sun, 06 Nov 1994 08:49:37 GMT", Some(37));
        check("Sun, 06 Nov 1994 08:48:00 GMT", Some(0));
        check("soon", None);
        check("-3", None);
        check("NaN", None);
        check("1e300", None);
        assert_eq!(retry_after("1.5", now), Some(Duration::from_millis(1500)));
    }
}
