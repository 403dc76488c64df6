//! Who goes first when several programs start at once.
//!
//! A browser keeps all processors busy while it starts; an office suite needs one, for longer. If they share, both are late. So the
//! browser starts with a small share, and gets an equal one a little later. A nice value cannot be lowered again without privileges, but that
//! of an autogroup can: the processes of a session share one (sched(7)). Where the kernel has none, or shares by control groups, nothing
//! of this has an effect.

use std::{collections::BTreeSet, ffi::OsStr, fs, io, path::Path, process::Child, time::Duration};

use deskhand_process::await_ended;

/// Time for which a browser gives precedence to other programs: about as long as an office suite starts.
const YIELDS: Duration = Duration::from_secs(3);
/// Sets the share of the session of this process to the smallest and becomes the program.
const BEGIN_SMALL: &str = r#"echo 19 2>/dev/null >/proc/self/autogroup; exec "$@""#;

/// The words before a program that starts with a small share: it leads a session of its own, by `setsid`.
pub(super) fn yielding(set_session: &Path) -> [&OsStr; 5] {
    let [shell, option, script, name] = ["/bin/sh", "-c", BEGIN_SMALL, "sh"].map(OsStr::new);
    [set_session.as_os_str(), shell, option, script, name]
}

/// Waits until the others have had their time, then gives the program an equal share. Blocking; returns at once when it ends.
pub(super) fn share_equally_later(child: &Child) {
    await_ended(&BTreeSet::from([child.id()]), YIELDS);
    // It is not awaited yet: the number still names it, even if it has ended.
    let equal = own_share().and_then(|share| fs::write(format!("/proc/{}/autogroup", child.id()), share));
    if let Err(error) = equal {
        tracing::debug!(%error, "the share of the processors cannot be set");
    }
}

/// The nice value of the autogroup of this process: whoever runs it may have given it a smaller share than others.
fn own_share() -> io::Result<String> {
    let group = fs::read_to_string("/proc/self/autogroup")?;
    let (_, nice) = group.trim_end().rsplit_once(' ').unwrap_or(("", "0"));
    Ok(nice.to_owned())
}
