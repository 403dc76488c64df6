//! Session cost does not grow with length or number of sessions: a small `cargo xtask bench sessions`. Compares only
//! measurements of one run, with wide limits.

#[path = "../../examples/sessions_bench/measure.rs"]
mod measure;

use measure::{Figures, measure};

/// The ratio above which a difference counts as growth.
const GROWTH_MAX: f64 = 4.0;
/// Memory differences below this are noise, in KiB; a retained step would take about 30.
const NOISE_KIB: f64 = 1024.0;

fn compare(what: &str, run: Figures, base: Figures) {
    let shown = format!("{what}: {run:?}, baseline {base:?}");
    let memory = run.kib_per_session.max(NOISE_KIB) / base.kib_per_session.max(NOISE_KIB);
    assert!(memory < GROWTH_MAX, "memory × {memory:.2}: {shown}");
    let time = run.processor_us_per_step / base.processor_us_per_step;
    assert!(time < GROWTH_MAX, "time × {time:.2}: {shown}");
}

#[tokio::test]
async fn memory_per_session_and_time_per_step_do_not_grow() {
    let short = measure(1, 50).await.unwrap();
    let long = measure(1, 500).await.unwrap();
    let many = measure(10, 50).await.unwrap();
    compare("ten times as long", long, short);
    compare("ten at once", many, short);
}
