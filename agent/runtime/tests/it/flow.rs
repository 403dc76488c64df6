//! Whole sessions, from the request to the outcome.

use deskhand_desktop_fake::{FakeSheet, OFFICE_SALES, office, office_with};
use deskhand_machine::{command::CallStatus, outcome::OutcomeKind, session::SessionEvent};
use deskhand_runtime::{RunSummary, StopSwitch, replay};
use deskhand_ui::action::Verdict;

use crate::support::{REQUEST, config, office_script, results, run_office, run_with, script};

#[tokio::test]
async fn the_main_job_saves_a_chart_and_replays_equal() {
    let model = office_script();
    let ran = run_office(&model).await;
    let outcome = ran.end.outcome.clone().unwrap();
    assert_eq!((outcome.kind, outcome.reason.as_str()), (OutcomeKind::Finished, "charted and saved"));
    let expected = OFFICE_SALES.map(|row| row.join(",")).join("\n");
    assert_eq!(ran.desktop.files(), [("/tmp/sales.ods".to_owned(), expected)]);
    for result in results(&ran.lines) {
        assert_eq!(result.status, CallStatus::Success, "{}", result.summary());
        assert!(result.effect.is_none_or(|effect| effect == Verdict::Seen), "{}", result.summary());
    }
    let summary = RunSummary::of(&ran.lines);
    assert_eq!((summary.tally.steps, summary.tally.model_calls), (7, 7));
    assert_eq!(summary.requests, [REQUEST]);
    assert!(summary.tally.prompt_tokens > 1_000);

    let journal = ran.end.folder.read().unwrap();
    assert_eq!(journal.lines, ran.lines, "the file equals the observed lines");
    let prompts = ran.end.folder.prompts(&journal.header.prompts_sha256).unwrap();
    let replayed = replay(&journal, prompts);
    assert_eq!(replayed.difference, None);
    assert!(replayed.complete && replayed.effects_equal > 20, "{replayed:?}");
}

#[tokio::test]
async fn a_script_mismatch_is_an_error_that_names_the_turn() {
    let text = include_str!("office.script.toml").replace("table \"Sales", "table \"Umsatz");
    let ran = run_office(&script(&text)).await;
    let suspended = ran.end.suspended.unwrap().to_string();
    assert!(suspended.contains("Umsatz") && suspended.contains("turn 2"), "{suspended}");
}

#[tokio::test]
async fn a_dead_display_is_an_error_with_a_complete_journal() {
    let mut calls = 0;
    let ran = run_with(&office_script(), config(), office(), &StopSwitch::new(), |line, desktop| {
        if let deskhand_machine::record::JournalRecord::Event(record) = &line.record
            && matches!(record.event, SessionEvent::Returned { .. })
        {
            calls += 1;
            if calls == 3 {
                desktop.break_display();
            }
        }
    })
    .await;
    let outcome = ran.end.outcome.unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Error);
    assert!(outcome.reason.contains("failed to observe"), "{}", outcome.reason);
    let journal = ran.end.folder.read().unwrap();
    assert_eq!(journal.problems, []);
    let prompts = ran.end.folder.prompts(&journal.header.prompts_sha256).unwrap();
    assert_eq!(replay(&journal, prompts).difference, None);
}

#[tokio::test]
async fn the_document_is_not_saved_if_verification_fails() {
    let mut sheet = FakeSheet::empty(1_048_576, 16_384);
    sheet.locked.insert("B3".parse().unwrap());
    let stop = StopSwitch::new();
    let ran = run_with(&office_script(), config(), office_with(sheet), &stop, |_, _| {}).await;
    let written = results(&ran.lines).find(|result| result.output.get("mismatches").is_some()).unwrap();
    assert_eq!((written.status, written.effect), (CallStatus::Failure, Some(Verdict::NotSeen)));
    assert!(
        written.summary().contains("14 of 15") && written.summary().contains("B3"),
        "{}",
        written.summary()
    );
    // The chart is not started: the script has no turn for an incomplete table.
    assert!(ran.end.suspended.is_some(), "the script has no turn for that");
    assert_eq!(ran.desktop.files(), []);
}

#[tokio::test]
async fn budgets_are_enforced() {
    let mut config = config();
    config.limits.steps_max = 3;
    let ran = run_with(&office_script(), config, office(), &StopSwitch::new(), |_, _| {}).await;
    assert_eq!(ran.end.outcome.unwrap().kind, OutcomeKind::BudgetExhausted);
    assert_eq!(RunSummary::of(&ran.lines).tally.steps, 3);
}
