//! Actions that are cancelled at random moments: over the terminal, the API and MCP. The log of an application judges.
//!
//! The long form is `cargo xtask bench cancellations`.

use std::process::Command;

use deskhand_testkit::programs::can_run;
use serde_json::{Value, json};

use crate::support::has_desktop;

/// How many actions are cancelled in each way.
const COUNT: u32 = 8;
/// What comes later after a cancellation is late. The bench asks for a tenth of it, on a machine that does nothing else.
const LATE_MS: u32 = 1_000;

/// Cancels in one way; nothing may be late, and every report must be what the application has.
fn cancelled(way: &str) {
    if !has_desktop() || !can_run(Vec::new(), &["python3"]) {
        return;
    }
    let judge = concat!(env!("CARGO_MANIFEST_DIR"), "/../../driver/testkit/fixtures/cancellations.py");
    let mut command = Command::new("python3");
    command.args([judge, "--binary", env!("CARGO_BIN_EXE_deskhand"), "--only", way, "--verbose"]);
    command.args(["--count", &COUNT.to_string(), "--late-ms", &LATE_MS.to_string()]);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let figures: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert_eq!(figures, json!({"cancellations": COUNT, "late_inputs": 0, "wrong_reports": 0}), "{said}");
}

#[test]
fn an_interrupt_on_the_terminal_ends_an_action_in_its_middle() {
    cancelled("terminal");
}

#[test]
fn a_stop_by_the_api_ends_an_action_in_its_middle() {
    cancelled("api");
}

#[test]
fn a_cancelled_call_over_mcp_ends_in_its_middle() {
    cancelled("mcp");
}
