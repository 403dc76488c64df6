//! `cargo xtask bench survival` in its short form: the service of the page is killed while sessions run.
//!
//! Skipped without a built `deskhand` or the programs of a desktop, unless `DESKHAND_ALL_TESTS` is set.

use std::{path::Path, process::Command};

/// Returns `true` if the runs can be made; required where all tests must run.
fn has_programs(binary: &Path) -> bool {
    let found = |name: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
    };
    let programs = ["Xvfb", "openbox", "dbus-daemon", "mousepad"].into_iter().all(found);
    programs && binary.is_file() || std::env::var_os("DESKHAND_ALL_TESTS").is_some()
}

#[test]
fn the_service_is_killed_and_no_session_stops_and_no_record_is_lost() {
    let xtask = Path::new(env!("CARGO_BIN_EXE_xtask"));
    let binary = xtask.with_file_name("deskhand");
    if !has_programs(&binary) {
        return;
    }
    let output = Command::new(xtask)
        .args(["bench", "survival", "--kills", "5", "--sessions", "2", "--binary"])
        .arg(binary)
        .output()
        .unwrap();
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", shown(&output.stdout), shown(&output.stderr));
    assert!(shown(&output.stdout).contains("2 of 2 sessions finished"), "{}", shown(&output.stdout));
}
