//! A short run of the benchmark of actions on what the required packages bring: every application starts, its oracle
//! answers, the observer sees the input, and no verdict claims what did not happen. `cargo xtask bench actions` is the long form.
//!
//! `DESKHAND_ACTIONS` sets how many actions each application gets, `DESKHAND_ACTIONS_SEED` another run than the usual one.

#[path = "../../examples/actions/suite/mod.rs"]
mod suite;

use serde_json::json;

use crate::fixture_tools::has_programs;

/// The applications of the short run.
const NAMES: [&str; 3] = ["gtk3", "qt-teeth", "mousepad"];
/// How many actions each has.
const ACTIONS: usize = 6;

fn number<T: std::str::FromStr>(variable: &str, default: T) -> T {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn actions_are_measured_and_judged_by_oracles() {
    if !has_programs(&["python3", "mousepad"]) {
        return;
    }
    let mut measured = suite::Measured::start();
    let share = number("DESKHAND_ACTIONS", ACTIONS);
    for (at, name) in NAMES.into_iter().enumerate() {
        let application = suite::APPLICATIONS.iter().find(|one| one.name == name).unwrap();
        assert!(application.is_installed(), "{name}");
        let mut dice = suite::Dice::new(number("DESKHAND_ACTIONS_SEED", 7) + at as u64);
        let played = suite::play(application, &mut dice, share, &mut measured).await;
        assert!(played >= share, "{name}: only {played} actions: {:#}", measured.to_json());
    }
    let figures = measured.to_json();
    println!("{figures:#}");
    assert_eq!(figures["restarts"], json!([]));
    assert!(figures["judged"].as_u64() > Some(0), "no oracle answered: {figures:#}");
    let all = &figures["actions"];
    assert!(all["over_p50_ms"].as_f64() < all["p90_ms"].as_f64(), "no input was observed: {figures:#}");
    assert_eq!(json!([figures["false_seen"], figures["damage"]]), json!([0, []]), "{:#}", figures["wrong"]);
}
