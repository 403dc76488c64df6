//! The stop switch.

use std::time::{Duration, Instant};

use deskhand_core::{
    model::{ModelFailure, ModelReply, ModelRequest},
    outcome::OutcomeKind,
    record::Record,
    session::{Effect, StopReason, Suspension},
};
use deskhand_desktop_fake::office;
use deskhand_model::{Model, ModelSigns, PictureSource};
use deskhand_runtime::StopSwitch;

use crate::support::{commands, config, office_script, run_with};

#[tokio::test]
async fn no_call_is_dispatched_after_a_stop() {
    let stop = StopSwitch::new();
    let ran = run_with(&office_script(), config(), office(), &stop, |line, _| {
        if let Record::Effect(record) = &line.record
            && matches!(&record.effect, Effect::Call { command } if command.tool == "write_table")
        {
            stop.after_call(StopReason::User);
        }
    })
    .await;
    assert_eq!(ran.end.outcome.unwrap().kind, OutcomeKind::Cancelled);
    let calls: Vec<&str> = commands(&ran.lines).map(|(_, command)| command.tool.as_str()).collect();
    // The stop came between the record and the dispatch, so not even that call was made.
    assert_eq!(calls.last(), Some(&"write_table"));
    assert_eq!(ran.desktop.files(), []);
}

/// A model that never answers.
struct Silent;

impl Model for Silent {
    async fn ask(
        &self,
        _: &ModelRequest,
        _: &dyn PictureSource,
        _: &dyn ModelSigns,
    ) -> Result<ModelReply, ModelFailure> {
        std::future::pending().await
    }

    fn name(&self) -> &'static str {
        "silent"
    }
}

#[tokio::test]
async fn a_model_request_is_dropped_at_once() {
    let stop = StopSwitch::new();
    let began = Instant::now();
    let ran = run_with(&Silent, config(), office(), &stop, |line, _| {
        if matches!(&line.record, Record::Effect(record) if matches!(record.effect, Effect::Ask { .. })) {
            stop.now(StopReason::Signal);
        }
    })
    .await;
    assert_eq!((ran.end.outcome, ran.end.suspended), (None, Some(Suspension::Signal)), "it can go on later");
    assert!(began.elapsed() < Duration::from_secs(30), "it did not wait for the model");
}

#[tokio::test]
async fn the_wall_time_budget_bounds_a_silent_model() {
    let mut config = config();
    config.limits.wall_ms_max = Some(200);
    let ran = run_with(&Silent, config, office(), &StopSwitch::new(), |_, _| {}).await;
    assert_eq!(ran.end.outcome.unwrap().kind, OutcomeKind::BudgetExhausted);
}

#[tokio::test]
async fn a_stronger_reason_outranks_a_weaker_one() {
    let stop = StopSwitch::new();
    assert_eq!(stop.reason(), None);
    stop.now(StopReason::User);
    stop.after_call(StopReason::Signal);
    assert_eq!(stop.wait_now().await, StopReason::User);
    stop.now(StopReason::Signal);
    assert_eq!(stop.wait().await, StopReason::Signal);
}
