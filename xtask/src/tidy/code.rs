//! Rules for Rust sources.

use super::files::{Finding, SourceFile};

/// Unwanted code, and what to do instead.
const UNWANTED: &[(&str, &str)] = &[
    ("#[allow(", "use #[expect(lint, reason = \"…\")]"),
    ("#![allow(", "use #[expect(lint, reason = \"…\")]"),
    ("#[ignore", "run the test or delete it"),
    ("todo!(", "implement it"),
    ("unimplemented!(", "implement it"),
    ("dbg!(", "use tracing"),
];

/// Fixed waits; the product waits for events, with a timeout.
const FIXED_WAITS: &[&str] = &[
    "thread::sleep",
    "time::sleep",
    "sleep(",
    "sleep_until(",
    "sleep_ms(",
    "time::interval",
    "interval_at(",
];

/// Product files with a justified fixed wait, and the reason.
const FIXED_WAITS_ALLOWED: &[(&str, &str)] = &[
    ("driver/testkit/src/portals.rs", "no event tells when the programs of a session have come up"),
    ("driver/testkit/src/nats_server.rs", "a server of another project does not announce that it listens"),
    (
        "extras/fleet/src/pace.rs",
        "a lease runs out by the clock, and a server does not announce that it can be asked again",
    ),
    ("agent/model/src/endpoint/wait.rs", "an endpoint does not announce when it is ready for a retry"),
    ("driver/linux/src/settling/pages.rs", "the kernel does not announce that a process came to rest"),
    (
        "driver/linux/src/screen/dragging.rs",
        "an application does not announce that the time of a double click is over",
    ),
    (
        "driver/linux/src/wayland/input.rs",
        "nothing announces that a process came to rest, nor that the time of a click is over",
    ),
    ("driver/linux/src/ui_tree.rs", "a page does not announce that it has announced all it drew"),
];

/// Target conditions belong to the back end crate.
const SYSTEM_CONDITIONS: &[&str] = &["target_os", "target_family", "cfg(unix)", "cfg(windows)"];
const SYSTEM_CONDITIONS_HOME: &str = "driver/linux/src/lib.rs";
/// The tests of that crate select back ends the same way.
const SYSTEM_CONDITIONS_TESTS: &str = "driver/linux/tests/it/main.rs";

/// Checks one file.
pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    if !file.is_rust() {
        return Vec::new();
    }
    let code = file.code();
    [module_documentation(file), unwanted(file, code), fixed_waits(file, code), systems(file, code)].concat()
}

fn module_documentation(file: &SourceFile) -> Vec<Finding> {
    let first = file.text().lines().find(|line| !line.trim().is_empty() && !line.starts_with("#!["));
    if first.is_some_and(|line| line.starts_with("//!")) {
        return Vec::new();
    }
    vec![file.finding(1, "start the module with `//!` documentation")]
}

fn unwanted(file: &SourceFile, code: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in numbered(code) {
        for (pattern, advice) in UNWANTED {
            if line.contains(pattern) {
                findings.push(file.finding(number, format!("`{pattern}`: {advice}")));
            }
        }
    }
    findings
}

fn fixed_waits(file: &SourceFile, code: &str) -> Vec<Finding> {
    let product = file.is_in_workspace() && file.path.contains("/src/") && !file.is_test();
    if !product || FIXED_WAITS_ALLOWED.iter().any(|(path, _)| *path == file.path) {
        return Vec::new();
    }
    numbered(code)
        .take_while(|(number, _)| *number < first_test_line(file.text()))
        .filter(|(_, line)| FIXED_WAITS.iter().any(|pattern| line.contains(pattern)))
        .map(|(number, _)| file.finding(number, "fixed wait: wait for an event, with a timeout"))
        .collect()
}

fn systems(file: &SourceFile, code: &str) -> Vec<Finding> {
    let home = [SYSTEM_CONDITIONS_HOME, SYSTEM_CONDITIONS_TESTS].contains(&file.path.as_str());
    if home || !file.is_in_workspace() {
        return Vec::new();
    }
    numbered(code)
        .filter(|(_, line)| SYSTEM_CONDITIONS.iter().any(|pattern| line.contains(pattern)))
        .map(|(number, _)| {
            file.finding(number, format!("target condition outside of {SYSTEM_CONDITIONS_HOME}"))
        })
        .collect()
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

/// The first line of the test module of a file; past the end if there is none.
pub(super) fn first_test_line(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let is_start = |index: &usize| {
        let mut following = lines.iter().skip(*index).map(|line| line.trim());
        following.next() == Some("#[cfg(test)]")
            && following
                .find(|line| !line.starts_with("#["))
                .is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
    };
    (0..lines.len()).find(is_start).map_or(usize::MAX, |index| index + 1)
}

#[cfg(test)]
#[path = "code_tests.rs"]
mod tests;
