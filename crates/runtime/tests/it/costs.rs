//! What a session costs does not grow with its length or with the number of sessions: a small `cargo xtask bench
//! sessions`. Only what was measured in the same run is compared, with wide bounds.

#[path = "../../examples/sessions_bench/measure.rs"]
mod measure;

use measure::{Figures, measure};

/// How much more may be measured before it is growth.
const GROWTH_MAX: f64 = 4.0;
/// What memory is rounded up to, in KiB; a step that was kept whole would take about 30.
const NOISE_KIB: f64 = 1024.0;

fn compare(what: &str, run: Figures, base: Figures) {
    let shown = format!("{what}: {run:?} beside {base:?}");
    let memory = run.kib_per_session.max(NOISE_KIB) / base.kib_per_session.max(NOISE_KIB);
    assert!(memory < GROWTH_MAX, "memory × {memory:.2}: {shown}");
    let time = run.processor_us_per_step / base.processor_us_per_step;
    assert!(time < GROWTH_MAX, "time × {time:.2}: {shown}");
}

#[tokio::test]
async fn memory_of_a_session_and_time_of_a_step_do_not_grow() {
    let short = measure(1, 50).await.unwrap();
    let long = measure(1, 500).await.unwrap();
    let many = measure(10, 50).await.unwrap();
    compare("ten times as long", long, short);
    compare("ten at once", many, short);
}
