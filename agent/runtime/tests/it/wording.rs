//! No decision depends on a sentence: with every sentence about results changed, a session decides the same.

use deskhand_machine::{
    prompt::PromptSet,
    record::{JournalEntry, JournalRecord},
    session::{Effect, EffectRecord, Session, SessionConfig},
};
use deskhand_ui::action::{CallReport, words::CallReportFormatter};
use serde_json::{Value, json};

use crate::support::{office_script, run_office};

/// The sentence backwards, between letters that no rule knows: every word and every punctuation mark changes.
fn scrambled(report: &CallReport) -> String {
    let backwards: String = report.sentence().chars().rev().collect();
    format!("ж{}ж", backwards.replace([':', '"', ';', '“', '”'], "ж"))
}

/// What an effect decides: everything but texts for models and people.
fn decision(record: &EffectRecord) -> Value {
    let mut effect = serde_json::to_value(record).unwrap();
    match &record.effect {
        Effect::Ask { .. } => effect["effect"]["request"]["messages"] = Value::Null,
        Effect::Finish { outcome } => effect["effect"]["outcome"] = json!(outcome.kind),
        // It has the results of sub-tasks.
        Effect::Delegate { .. } => effect["effect"]["context"] = Value::Null,
        Effect::AwaitRequest
        | Effect::Observe { .. }
        | Effect::Rank { .. }
        | Effect::Retrieve { .. }
        | Effect::Call { .. }
        | Effect::AskUser { .. }
        | Effect::AwaitApproval { .. } => {}
    }
    effect
}

/// Replays the events of a session with its own sentences and with others, and compares each decision. Returns how many
/// requests to models differ in their text.
pub(crate) fn assert_decides_the_same(
    config: &SessionConfig,
    prompts: &PromptSet,
    lines: &[JournalEntry],
) -> usize {
    let session = || Session::new(config.clone(), prompts.clone());
    let (mut usual, mut changed) =
        (session(), session().with_wording(CallReportFormatter { whole: scrambled, beside: scrambled }));
    let mut differing = 0;
    for line in lines {
        match &line.record {
            JournalRecord::Header(_) => {}
            JournalRecord::Changed(change) => {
                for session in [&mut usual, &mut changed] {
                    session.change(change.config.clone(), change.prompts.clone());
                }
            }
            JournalRecord::Effect(_) => {
                let (one, other) = (usual.next().unwrap(), changed.next().unwrap());
                assert_eq!(decision(one), decision(other), "record {}", line.seq);
                differing += usize::from(one != other);
            }
            JournalRecord::Event(event) => {
                usual.apply(event).unwrap();
                changed.apply(event).unwrap();
            }
        }
    }
    assert_eq!(usual.next().is_none(), changed.next().is_none());
    differing
}

#[tokio::test]
async fn no_decision_depends_on_the_sentences_about_results() {
    let ran = run_office(&office_script()).await;
    let Some(JournalRecord::Header(header)) = ran.lines.first().map(|line| &line.record) else {
        panic!("a journal begins with its header")
    };
    let differing = assert_decides_the_same(&header.config, &PromptSet::default(), &ran.lines);
    assert!(differing > 0, "the changed sentences must reach the prompts");
}
