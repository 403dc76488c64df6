//! Metrics of sessions.

use std::collections::BTreeMap;

use deskhand_runtime::{
    Catalogue,
    catalogue::{ModelTotals, REQUEST_BOUNDS_MS, STEP_BOUNDS_MS, SessionFacts},
};

use super::figures::{MetricFamily, number};

/// The most models with figures of their own: those that cost most. What others used is added up.
const MODELS_MAX: usize = 30;
const OTHERS: &str = "others";
/// The longest name of a model, in characters.
const NAME_MAX: usize = 100;

/// The figures of all sessions that there are.
pub(crate) fn sessions(catalogue: &Catalogue) -> Vec<MetricFamily> {
    let mut stored =
        MetricFamily::gauge("deskhand_sessions", "Sessions that are stored, by state and last outcome");
    let mut requests =
        MetricFamily::counter("deskhand_requests", "Requests of users that are done, by outcome");
    let mut steps = MetricFamily::counter("deskhand_steps", "Steps of all agents");
    let mut calls = MetricFamily::counter("deskhand_calls", "Calls of tools, by what became of them");
    let mut phases = MetricFamily::counter("deskhand_phase_seconds", "Time of steps, by phase");
    let mut waited =
        MetricFamily::counter("deskhand_waited_seconds", "Time that sessions waited for their user");
    let mut step_counts = [0_u64; STEP_BOUNDS_MS.len() + 1];
    let mut request_counts = [0_u64; REQUEST_BOUNDS_MS.len() + 1];
    let (mut step_seconds, mut request_seconds) = (0.0, 0.0);
    let mut models = BTreeMap::<&str, ModelTotals>::new();
    steps.add(&[], 0.0);
    waited.add(&[], 0.0);
    for row in catalogue.rows() {
        let facts = row.facts;
        let outcome = facts.outcome.map_or("none", |outcome| outcome.word());
        stored.add(&[("state", row.state.word()), ("outcome", outcome)], 1.0);
        steps.add(&[], f64::from(facts.steps));
        waited.add(&[], seconds(facts.waited_ms));
        calls_of(&mut calls, facts);
        for (phase, ms) in phases_of(facts) {
            phases.add(&[("phase", phase)], seconds(ms));
            step_seconds += seconds(ms);
        }
        add_counts(&mut step_counts, &facts.step_times);
        add_counts(&mut request_counts, &facts.request_times);
        request_seconds += seconds(facts.request_ms);
        for (outcome, count) in &facts.outcomes {
            requests.add(&[("outcome", outcome)], f64::from(*count));
        }
        facts.used.iter().for_each(|used| add_model(models.entry(&used.model).or_default(), used));
    }
    let (step_bounds, request_bounds) = (STEP_BOUNDS_MS.map(seconds), REQUEST_BOUNDS_MS.map(seconds));
    let of_requests = "Time of a request with an outcome";
    let mut figures = vec![
        stored,
        requests,
        steps,
        calls,
        phases,
        waited,
        MetricFamily::histogram(
            "deskhand_step_seconds",
            "Time of a step",
            &step_bounds,
            &step_counts,
            step_seconds,
        ),
        MetricFamily::histogram(
            "deskhand_request_seconds",
            of_requests,
            &request_bounds,
            &request_counts,
            request_seconds,
        ),
    ];
    figures.extend(models_of(models));
    figures
}

fn add_counts(all: &mut [u64], more: &[u32]) {
    for (count, more) in all.iter_mut().zip(more) {
        *count = count.saturating_add(u64::from(*more));
    }
}

/// Milliseconds as seconds.
fn seconds(ms: u64) -> f64 {
    number(ms) / 1e3
}

fn phases_of(facts: &SessionFacts) -> [(&'static str, u64); 4] {
    let phases = &facts.phases;
    [("observe", phases.observe), ("ask", phases.ask), ("act", phases.act), ("record", phases.record)]
}

fn calls_of(calls: &mut MetricFamily, facts: &SessionFacts) {
    let verdicts = &facts.verdicts;
    for (verdict, count) in [
        ("seen", verdicts.seen),
        ("not_seen", verdicts.not_seen),
        ("refused", verdicts.refused),
        ("unknown", verdicts.unknown),
        ("read", verdicts.read),
        ("failed", verdicts.failed),
    ] {
        calls.add(&[("verdict", verdict)], f64::from(count));
    }
}

fn add_model(all: &mut ModelTotals, used: &ModelTotals) {
    all.model_calls = all.model_calls.saturating_add(used.model_calls);
    all.prompt_tokens = all.prompt_tokens.saturating_add(used.prompt_tokens);
    all.completion_tokens = all.completion_tokens.saturating_add(used.completion_tokens);
    all.cost.known.0 = all.cost.known.0.saturating_add(used.cost.known.0);
}

fn models_of(models: BTreeMap<&str, ModelTotals>) -> [MetricFamily; 3] {
    let mut calls =
        MetricFamily::counter("deskhand_model_calls", "Requests to models, with failed ones and retries");
    let mut tokens = MetricFamily::counter("deskhand_tokens", "Tokens of models, as far as reported");
    let mut cost =
        MetricFamily::counter("deskhand_cost_dollars", "Cost of models in US dollars, as far as it is known");
    let mut models: Vec<(&str, ModelTotals)> = models.into_iter().collect();
    models.sort_by_key(|(_, totals)| std::cmp::Reverse((totals.cost.known.0, totals.model_calls)));
    for (place, (name, totals)) in models.into_iter().enumerate() {
        let name: String =
            if place < MODELS_MAX { name.chars().take(NAME_MAX).collect() } else { OTHERS.to_owned() };
        let model = ("model", name.as_str());
        calls.add(&[model], f64::from(totals.model_calls));
        tokens.add(&[model, ("kind", "prompt")], number(totals.prompt_tokens));
        tokens.add(&[model, ("kind", "completion")], number(totals.completion_tokens));
        cost.add(&[model], number(totals.cost.known.0) / 1e6);
    }
    [calls, tokens, cost]
}
