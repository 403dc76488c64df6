//! Leftovers of X servers.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Returns `true` if the lock of a display, such as `:3`, belongs to a server that has exited. Another server may have taken the
/// number since and hold the lock.
#[must_use]
pub fn is_left_behind(display: &str) -> bool {
    let lock = PathBuf::from(format!("/tmp/.X{}-lock", display.trim_start_matches(':')));
    let Ok(holder) = fs::read_to_string(&lock) else { return false };
    let has_ended = !Path::new("/proc").join(holder.trim()).exists();
    // The other server may also have exited and removed its lock in between.
    has_ended && fs::read_to_string(&lock).is_ok_and(|again| again == holder)
}
