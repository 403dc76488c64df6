//! Waits that no event ends.

use std::{sync::mpsc::channel, time::Duration};

/// Waits: what is measured lasts for a time, and nothing says when servers and processes of others have something new.
pub(crate) fn pause(time: Duration) {
    let (_open, silent) = channel::<()>();
    // It is open, so it ends by its bound.
    let _ = silent.recv_timeout(time);
}
