//! The stop switch.

use std::time::{Duration, Instant};

use deskhand_desktop::ElementPatterns as _;
use deskhand_desktop_fake::office;
use deskhand_machine::{
    command::CallStatus,
    model::{ModelFailure, ModelReply, ModelRequest},
    outcome::OutcomeKind,
    record::JournalRecord,
    session::{Effect, SessionEvent, StopReason, Suspension},
};
use deskhand_model::{Model, ModelSigns, PictureSource};
use deskhand_runtime::{StopSwitch, replay};
use deskhand_ui::action::Verdict;

use crate::support::{Ran, commands, config, office_script, results, run_with, script};

#[tokio::test]
async fn no_call_is_dispatched_after_a_stop() {
    let stop = StopSwitch::new();
    let ran = run_with(&office_script(), config(), office(), &stop, |line, _| {
        if let JournalRecord::Effect(record) = &line.record
            && matches!(&record.effect, Effect::Call { command } if command.tool == "write_table")
        {
            stop.cancel(StopReason::User);
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
        if matches!(&line.record, JournalRecord::Effect(record) if matches!(record.effect, Effect::Ask { .. })) {
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
    stop.cancel(StopReason::Signal);
    assert_eq!(stop.wait_now().await, StopReason::User);
    stop.now(StopReason::Signal);
    assert_eq!(stop.wait().await, StopReason::Signal);
}

/// Two tables are to be written, with a selection between them.
const WRITES: &str = r#"
[[turn]]
title = "launch Calc"
agent = "HostAgent"
reply = '''
{"thought": "t", "status": "ASSIGN", "current_subtask": "write", "function": "launch_application",
 "arguments": {"name": "LibreOffice Calc"}}
'''

[[turn]]
title = "write"
agent = "AppAgent"
reply = '''
{"thought": "t", "status": "CONTINUE", "action": [
  {"function": "write_table", "arguments": {"start": "A1", "rows": [["21", "22"], ["23", "24"]]}},
  {"function": "select_cells", "arguments": {"range": "A1:B2"}}]}
'''

[[turn]]
title = "write again"
agent = "AppAgent"
reply = '''
{"thought": "t", "status": "FINISH", "action": [
  {"function": "write_table", "arguments": {"start": "A1", "rows": [["1", "2"], ["3", "4"]]}}], "result": "done"}
'''

[[turn]]
title = "done"
agent = "HostAgent"
reply = '''{"thought": "t", "status": "FINISH", "result": "done"}'''
"#;

/// Runs it, and does something after so many inputs of the first table.
async fn writing(inputs: u64, stop: &StopSwitch, does: fn(&StopSwitch)) -> Ran {
    let mut tables = 0;
    run_with(&script(WRITES), config(), office(), stop, |line, desktop| {
        let JournalRecord::Effect(record) = &line.record else { return };
        if matches!(&record.effect, Effect::Call { command } if command.tool == "write_table") {
            tables += 1;
            if tables == 1 {
                let stop = stop.clone();
                desktop.after_inputs(inputs, move || does(&stop));
            }
        } else if matches!(record.effect, Effect::Ask { .. }) {
            // Who interrupted asks for something else.
            stop.end_interruption();
        }
    })
    .await
}

fn replays(ran: &Ran) {
    let journal = ran.end.folder.read().unwrap();
    assert_eq!(journal.problems, []);
    let prompts = ran.end.folder.prompts(&journal.header.prompts_sha256).unwrap();
    assert_eq!(replay(&journal, prompts).difference, None);
}

#[tokio::test]
async fn a_stop_ends_a_call_in_its_middle_and_what_it_did_is_recorded() {
    for inputs in [4, 9, 13] {
        let stop = StopSwitch::new();
        let ran = writing(inputs, &stop, |stop| stop.cancel(StopReason::User)).await;
        assert_eq!(ran.end.outcome.as_ref().unwrap().kind, OutcomeKind::Cancelled);
        let tools: Vec<&str> = commands(&ran.lines).map(|(_, command)| command.tool.as_str()).collect();
        assert_eq!(tools, ["launch_application", "write_table"], "no later call is dispatched");
        let result = results(&ran.lines).last().unwrap();
        assert_eq!(result.status, CallStatus::Failure);
        assert_ne!(result.effect, Some(Verdict::Seen));
        let range = "A1:B2".parse().unwrap();
        let table = ran.desktop.find_key("sheet").unwrap();
        let cells = ran.desktop.cells(table, range).await.unwrap().rows;
        let right =
            cells.iter().flatten().zip(["21", "22", "23", "24"]).filter(|(is, meant)| is == meant).count();
        let words = format!("cancelled: {right} of 4 cells read as written");
        assert!(result.summary().contains(&words), "{inputs}: {cells:?}: {}", result.summary());
        replays(&ran);
    }
}

#[tokio::test]
async fn an_interruption_ends_the_calls_of_a_reply_and_the_session_goes_on() {
    let stop = StopSwitch::new();
    let ran = writing(7, &stop, StopSwitch::interrupt).await;
    let all: Vec<_> = results(&ran.lines).collect();
    assert!(all[1].summary().contains("cancelled: "), "{}", all[1].summary());
    assert_ne!(all[1].effect, Some(Verdict::Seen));
    let tools: Vec<&str> = commands(&ran.lines).map(|(_, command)| command.tool.as_str()).collect();
    assert_eq!(
        tools,
        ["launch_application", "write_table", "write_table"],
        "the selection was not dispatched"
    );
    assert_eq!(all[2].effect, Some(Verdict::Seen), "{}", all[2].summary());
    assert_eq!(ran.end.outcome.as_ref().unwrap().kind, OutcomeKind::Finished);
    replays(&ran);
}

#[tokio::test]
async fn a_call_that_is_interrupted_before_it_begins_sends_nothing() {
    let stop = StopSwitch::new();
    let ran = run_with(&script(WRITES), config(), office(), &stop, |line, _| {
        if matches!(&line.record, JournalRecord::Event(record) if matches!(record.event, SessionEvent::Replied { .. })) {
            stop.interrupt();
        } else if matches!(&line.record, JournalRecord::Effect(record) if matches!(record.effect, Effect::Ask { .. })) {
            stop.end_interruption();
        }
    })
    .await;
    assert_eq!(ran.desktop.inputs(), 0);
    assert!(results(&ran.lines).all(|result| result.effect == Some(Verdict::Refused)));
    assert!(results(&ran.lines).next().unwrap().summary().contains("before anything was sent"));
}
