//! `cargo xtask bench endurance` in its short form: real sessions with random faults.
//!
//! Skipped without a built `deskhand`, the programs of a desktop, or namespaces, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    path::Path,
    process::{Command, Stdio},
};

/// Each seed is one run; together they have every kind of fault that matters most.
const RUNS: &str = "16";

/// Returns `true` if a process can have namespaces of its own.
fn has_namespaces() -> bool {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", "true"]);
    command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Returns `true` if the runs can be made; required where all tests must run.
fn has_programs(binary: &Path) -> bool {
    let found = |name: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
    };
    let programs = ["Xvfb", "openbox", "dbus-daemon", "mousepad"].into_iter().all(found);
    programs && binary.is_file() && has_namespaces() || std::env::var_os("DESKHAND_ALL_TESTS").is_some()
}

#[test]
fn sessions_with_random_faults_leave_nothing_behind_and_lose_nothing() {
    let xtask = Path::new(env!("CARGO_BIN_EXE_xtask"));
    let binary = xtask.with_file_name("deskhand");
    if !has_programs(&binary) {
        return;
    }
    let output = Command::new(xtask)
        .args(["bench", "endurance", "--seed", "9000", "--runs", RUNS, "--binary"])
        .arg(binary)
        .output()
        .unwrap();
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", shown(&output.stdout), shown(&output.stderr));
    assert!(shown(&output.stdout).contains("16 runs"), "{}", shown(&output.stdout));
}
