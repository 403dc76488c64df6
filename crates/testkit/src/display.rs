//! What X servers leave behind.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Whether the lock of a display, such as `:3`, is left of a server that has ended. Another server may have taken that
/// number by now, and holds the lock for itself.
#[must_use]
pub fn is_left_behind(display: &str) -> bool {
    let lock = PathBuf::from(format!("/tmp/.X{}-lock", display.trim_start_matches(':')));
    let Ok(holder) = fs::read_to_string(&lock) else { return false };
    let has_ended = !Path::new("/proc").join(holder.trim()).exists();
    // The other server, too, may have ended between the two looks, and have removed its lock.
    has_ended && fs::read_to_string(&lock).is_ok_and(|again| again == holder)
}
