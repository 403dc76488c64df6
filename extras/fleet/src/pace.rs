//! Waits that no event ends.

use std::time::Duration;

/// Waits for this long: until a lease has run out by the own clock, or a call that failed may be tried again.
pub async fn pause(duration: Duration) {
    tokio::time::sleep(duration).await;
}
