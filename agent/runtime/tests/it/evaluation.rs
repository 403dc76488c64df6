//! A finished round that is evaluated, reopened, and evaluated again.

use std::fs;

use deskhand_desktop_fake::office;
use deskhand_machine::{
    evaluation::{Judge, Judgement},
    outcome::OutcomeKind,
    session::{Evaluate, SessionConfig},
};
use deskhand_runtime::{ReportFormat, RunSummary, StopSwitch, replay, write_report};
use serde_json::Value;

use crate::support::{Ran, config, run_with, script};

const JUDGED: &str = r#"
[[turn]]
title = "judged for the first time"
agent = "EvaluationAgent"
expect = ['Extract the sales table', 'the last sub-task finished: yes', 'charted and saved']
reply = '{"reason": "the chart has no title", "complete": "no", "sub_scores": [{"name": "a bar chart", "evaluation": "unsure"}]}'

[[turn]]
title = "taken up again"
agent = "HostAgent"
expect = 'the chart has no title'
reply = '{"observation": "o", "thought": "nobody asked for a title", "status": "FINISH", "result": "charted and saved"}'

[[turn]]
title = "judged again"
agent = "EvaluationAgent"
reply = '{"reason": "the request names no title", "complete": "yes", "sub_scores": [{"name": "a bar chart", "evaluation": "yes"}]}'
"#;

async fn judged() -> Ran {
    let text = format!("{}{JUDGED}", include_str!("office.script.toml"));
    let config = SessionConfig { evaluate: Some(Evaluate { repair: true }), ..config() };
    run_with(&script(&text), config, office(), &StopSwitch::new(), |_, _| {}).await
}

#[tokio::test]
async fn the_evaluation_is_in_journal_summary_and_reports() {
    let ran = judged().await;
    let outcome = ran.end.outcome.clone().unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Finished, "{}", outcome.reason);
    let evaluation = outcome.evaluation.clone().unwrap();
    assert_eq!((evaluation.complete, evaluation.by), (Judgement::Yes, Judge::Model));
    assert!(evaluation.repaired);
    let journal = ran.end.folder.read().unwrap();
    let prompts = ran.end.folder.prompts(&journal.header.prompts_sha256).unwrap();
    let replayed = replay(&journal, prompts);
    assert_eq!(replayed.difference, None);
    assert!(replayed.complete);
    assert_eq!(RunSummary::of(&ran.lines).outcome, Some(outcome));

    let page = write_report(&ran.end.folder, ReportFormat::Html, None).unwrap();
    let page = fs::read_to_string(page).unwrap();
    for word in [
        "the request names no title",
        "Evaluated by the model",
        "reopened once",
        "EvaluationAgent",
        "the chart has no title",
    ] {
        assert!(page.contains(word), "{word}");
    }
    let folder = write_report(&ran.end.folder, ReportFormat::Ufo, None).unwrap();
    let log: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("evaluation.log")).unwrap()).unwrap();
    assert_eq!((&log["complete"], &log["reason"]), (&"yes".into(), &"the request names no title".into()));
    assert_eq!(log["sub_scores"].as_array().unwrap().len(), 3);
    assert!(log["request"].as_str().unwrap().starts_with("Extract the sales table"));
    let markdown = write_report(&ran.end.folder, ReportFormat::Markdown, None).unwrap();
    assert!(
        fs::read_to_string(markdown).unwrap().contains("- **Evaluation**: yes — the request names no title")
    );
}
