//! What a person sees of a session, from the journal alone.

use std::collections::BTreeMap;

use deskhand_desktop_act::ActLimits;
use deskhand_desktop_fake::office;
use deskhand_machine::{
    outcome::{Outcome, OutcomeKind},
    prompt::PromptSet,
    record::JournalEntry as JournalLine,
    session::{RoundLimits, SessionConfig},
};
use deskhand_model::Script;
use deskhand_runtime::{
    SessionRunOptions, SessionStore, StopSwitch, Toolbox, Waits,
    catalogue::{CatalogueRow, SessionFacts, SessionState},
    people::{People, protocol::FromSession},
};
use deskhand_testkit::forgeries;

use super::{
    RunProgressView, SessionListRow, Verbosity, number, record_lines, session_lines, trajectory_lines,
};
use crate::args::NumberRange;

const OFFICE_SCRIPT: &str = include_str!("../../../runtime/tests/it/office.script.toml");

/// The lines of the main job on the office suite in memory.
fn journal_of(script: &str, limits: RoundLimits) -> (Vec<JournalLine>, deskhand_runtime::SessionJournal) {
    let folder = tempfile::tempdir().unwrap();
    let store = SessionStore::at(folder.path().join("sessions"), folder.path().join("seals"));
    let desktop = office();
    let variables = BTreeMap::from([("output".to_owned(), "/tmp/sales.ods".to_owned())]);
    let model = Script::parse("office.script.toml", script, variables).unwrap();
    let tools = Toolbox::standard(ActLimits::default()).unwrap();
    let mut lines = Vec::new();
    let options = SessionRunOptions {
        id: None,
        store: &store,
        desktop: &desktop,
        desktop_name: "fake".to_owned(),
        model: &model,
        tools: &tools,
        agents: deskhand_runtime::agents::EnabledAgents::default(),
        config: SessionConfig { limits, ..SessionConfig::default() },
        prompts: PromptSet::default(),
        requests: vec!["Chart the sales table in Calc".into()],
        people: People::nobody(),
        stop: StopSwitch::new(),
        waits: Waits::default(),
        ranker: None,
        retrieve: None,
        program: "test 1".to_owned(),
        setup: serde_json::Value::Null,
    };
    let mut observer = |line: &JournalLine| lines.push(line.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let end = runtime.block_on(deskhand_runtime::run(options, &mut observer)).unwrap();
    (lines, end.folder.read().unwrap())
}

/// A journal in the list of sessions.
fn row_of(journal: &deskhand_runtime::SessionJournal) -> SessionListRow {
    let facts = SessionFacts::of(&journal.lines);
    SessionListRow::of(&CatalogueRow {
        id: &journal.header.session.0,
        state: SessionState::Ended,
        place: "",
        facts: &facts,
    })
}

fn text_of(lines: &[crate::output::StyledLine]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Times, tokens and ids differ from run to run.
fn filters() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "[id]");
    settings.add_filter(r"show [0-9a-f]{12}", "show [id]");
    settings.add_filter(r" +[\d,]+ ms", " [ms] ms");
    settings.add_filter(r"(observe|ask|act|record) \d+", "$1 [ms]");
    settings.add_filter(r"[\d.]+ s\b", "[s] s");
    settings.add_filter(r"[\d,]+ tokens", "[n] tokens");
    settings.add_filter(r"[\d,]+ read \+ \d+ written", "[n] read + [n] written");
    settings.add_filter(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d", "[time]");
    settings
}

fn progress_of(lines: &[JournalLine], verbosity: Verbosity, width: usize) -> String {
    let mut progress = RunProgressView::new(verbosity, width);
    let shown: Vec<_> = lines.iter().flat_map(|line| progress.read(line)).collect();
    text_of(&shown)
}

#[test]
fn a_run_as_it_goes() {
    let (lines, _) = journal_of(OFFICE_SCRIPT, RoundLimits::default());
    filters().bind(|| insta::assert_snapshot!(progress_of(&lines, Verbosity::Normal, 120)));
}

#[test]
fn a_run_with_thoughts() {
    let (lines, _) = journal_of(OFFICE_SCRIPT, RoundLimits::default());
    filters().bind(|| insta::assert_snapshot!(progress_of(&lines, Verbosity::Thoughts, 120)));
}

#[test]
fn quiet_says_how_it_ended_and_why() {
    let (lines, _) = journal_of(OFFICE_SCRIPT, RoundLimits::default());
    assert_eq!(progress_of(&lines, Verbosity::Quiet, 120).lines().count(), 1);
    let (lines, _) = journal_of(OFFICE_SCRIPT, RoundLimits { steps_max: 2, ..RoundLimits::default() });
    filters().bind(|| {
        insta::assert_snapshot!(progress_of(&lines, Verbosity::Quiet, 120), @r"
          because   the limit of 2 steps is reached
        Exhausted   [s] s (framework [s] s) · 2 model calls · [n] tokens · deskhand show [id] · cost unknown
        ");
    });
}

#[test]
fn a_script_that_does_not_fit() {
    let (lines, _) =
        journal_of(&OFFICE_SCRIPT.replace("table \"Sales", "table \"Umsatz"), RoundLimits::default());
    let mut progress = RunProgressView::new(Verbosity::Normal, 120);
    let shown: Vec<_> = lines.iter().flat_map(|line| progress.read(line)).collect();
    let shown = text_of(&shown);
    assert!(shown.contains("\n  suspended the model call failed"), "{shown}");
    let outcome = Outcome::new(OutcomeKind::Error, "the model call failed: turn 2 does not match");
    let end = text_of(&progress.suspended(&outcome));
    assert!(end.contains("  because   the model call failed") && end.contains("\nSuspended   "), "{end}");
    assert!(end.contains("\n  go on     deskhand resume "), "{end}");
}

#[test]
fn lines_fit_the_terminal() {
    let (lines, _) = journal_of(OFFICE_SCRIPT, RoundLimits::default());
    for width in [60, 80, 110, 200] {
        for line in progress_of(&lines, Verbosity::Everything, width).lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn a_session_step_by_step() {
    let (_, journal) = journal_of(OFFICE_SCRIPT, RoundLimits::default());
    filters().bind(|| insta::assert_snapshot!(text_of(&trajectory_lines(&journal, NumberRange::ALL))));
}

#[test]
fn the_list_of_sessions() {
    let (_, journal) = journal_of(OFFICE_SCRIPT, RoundLimits::default());
    let now_ms = journal.header.created_ms + 3 * 60_000;
    let mut row = row_of(&journal);
    row.id = "0199aaaa".to_owned();
    row.tokens = 14_210;
    let crashed = SessionListRow { id: "0199".to_owned(), outcome: None, resumable: true, ..row.clone() };
    let lines = session_lines(&[row, crashed], now_ms, 100);
    insta::assert_snapshot!(text_of(&lines), @r"
    id        when       outcome          steps    tokens  request
    0199aaaa  3 min ago  finished             7    14,210  Chart the sales table in Calc
    0199      3 min ago  resumable            7    14,210  Chart the sales table in Calc
    ");
}

#[test]
fn numbers_are_grouped() {
    assert_eq!([0, 999, 1_000, 14_210, 1_234_567].map(number), ["0", "999", "1,000", "14,210", "1,234,567"]);
}

#[test]
fn no_forgery_is_more_than_text_on_a_terminal() {
    let (_, whole) = journal_of(OFFICE_SCRIPT, RoundLimits::default());
    let shown = |text: &str| -> Vec<(&str, Vec<crate::output::StyledLine>)> {
        let mut journal = whole.clone();
        let mut count = 0;
        for line in &mut journal.lines {
            let mut value = serde_json::to_value(&*line).unwrap();
            count += forgeries::put_into(&mut value, text);
            *line = serde_json::from_value(value).unwrap();
        }
        assert!(count > 200, "{count} places");
        let mut progress = RunProgressView::new(Verbosity::Everything, 120);
        let row = row_of(&journal);
        vec![
            ("run", journal.lines.iter().flat_map(|line| progress.read(line)).collect()),
            ("show", trajectory_lines(&journal, NumberRange::ALL)),
            ("records", record_lines(&journal, NumberRange::ALL)),
            ("sessions", session_lines(&[row], journal.header.created_ms, 100)),
        ]
    };
    let honest = shown("honest");
    for (what, text) in forgeries::all() {
        for ((which, lines), (_, honest)) in shown(&text).iter().zip(&honest) {
            // Only a result has several lines, below its word. A reply that is too long is not shown.
            let begun = |lines: &[crate::output::StyledLine]| {
                let is_more = |line: &str| line.is_empty() || line.starts_with(&" ".repeat(12));
                lines.iter().filter(|line| !is_more(&line.to_string())).count()
            };
            let shown = text_of(lines);
            assert!(begun(lines) <= begun(honest), "{what} in {which}: {shown}");
            for line in lines {
                let line = line.to_string();
                assert_eq!(forgeries::hidden_in(&line), None, "{what} in {which}: {line:?}");
                assert!(line.lines().count() <= 1, "{what} in {which}: {line:?}");
            }
        }
        for line in &whole.lines {
            let mut value = serde_json::to_value(line).unwrap();
            forgeries::put_into(&mut value, &text);
            let line: JournalLine = serde_json::from_value(value).unwrap();
            let json = serde_json::to_string(&FromSession::journal(&line)).unwrap();
            let json = deskhand_ui::text::escape_hidden_json(&json);
            assert!(!json.chars().any(forgeries::is_hidden), "{what}: {json}");
            let told: serde_json::Value = serde_json::from_str(&json).unwrap();
            assert_eq!(told, serde_json::to_value(FromSession::journal(&line)).unwrap(), "{what}");
        }
    }
}
