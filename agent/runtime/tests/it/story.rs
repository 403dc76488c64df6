//! The one reader of the journal: its chapters, moments and sums agree, wherever the journal ends.

use deskhand_machine::{
    command::CallResult,
    prompt::PromptSet,
    record::{JournalEntry, JournalRecord, SettingsChange},
    session::{Effect, EventRecord, SessionEvent, StopReason},
};
use deskhand_runtime::{
    PhaseTimes, RunSummary, Story,
    story::{Chapter, Moment, StepStory, StoryUpdate},
};
use deskhand_ui::action::Verdict;

use crate::support::{office_script, run_office};

/// What the lines bring, and the rest once they end.
fn told(lines: &[JournalEntry]) -> (Vec<Moment>, Vec<Chapter>, bool) {
    let mut story = Story::default();
    let (mut moments, mut chapters) = (Vec::new(), Vec::new());
    for line in lines {
        for update in story.read(line) {
            match update {
                StoryUpdate::Moment(moment) => moments.push(*moment),
                StoryUpdate::Chapter(chapter) => chapters.push(chapter),
            }
        }
    }
    let (rest, end) = story.end();
    chapters.extend(rest);
    (moments, chapters, end.complete)
}

fn steps(chapters: &[Chapter]) -> Vec<&StepStory> {
    chapters
        .iter()
        .filter_map(|chapter| if let Chapter::Step(step) = chapter { Some(step.as_ref()) } else { None })
        .collect()
}

#[tokio::test]
async fn chapters_moments_and_sums_agree() {
    let ran = run_office(&office_script()).await;
    let summary = RunSummary::of(&ran.lines);
    let (moments, chapters, complete) = told(&ran.lines);
    assert!(complete);
    let steps = steps(&chapters);
    assert_eq!(steps.len(), summary.tally.steps as usize);
    let mut times = PhaseTimes::default();
    for (step, known) in steps.iter().zip(&summary.steps) {
        assert_eq!(step.times, *known, "step {}", step.number);
        times.observe += step.times.observe;
        times.ask += step.times.ask;
        times.act += step.times.act;
        times.record += step.times.record;
    }
    assert_eq!(times, summary.phases);
    let count = |is: fn(&Moment) -> bool| moments.iter().filter(|moment| is(moment)).count();
    assert_eq!(count(|moment| matches!(moment, Moment::Replied { .. })), summary.tally.model_calls as usize);
    assert_eq!(count(|moment| matches!(moment, Moment::Acted { .. })), summary.tally.calls as usize);
    let acts: usize = steps.iter().map(|step| step.acts.len()).sum();
    assert_eq!(acts, summary.tally.calls as usize);
    assert_eq!(
        count(|moment| matches!(moment, Moment::Assigned(_))),
        count(|moment| matches!(moment, Moment::SubtaskEnded { end: Some(end), .. } if end.finished)),
    );
}

#[tokio::test]
async fn what_failed_at_the_end_is_not_said_to_be_finished() {
    let ran = run_office(&office_script()).await;
    let ends = |lines: &[JournalEntry]| -> Vec<bool> {
        let mut ends = Vec::new();
        for moment in told(lines).0 {
            if let Moment::SubtaskEnded { end, .. } = moment {
                ends.push(end.is_some_and(|end| end.finished));
            }
        }
        ends
    };
    assert_eq!(ends(&ran.lines), [true, true]);
    // The first sub-task ends with its only action.
    let mut lines = ran.lines.clone();
    let reads = |effect: &Effect| matches!(effect, Effect::Call { command } if command.tool == "read_table");
    let read = lines.iter().position(|line| wants(line, reads)).unwrap();
    let returned = lines.iter_mut().skip(read).find_map(|line| {
        let JournalRecord::Event(event) = &mut line.record else { return None };
        if let SessionEvent::Returned { result } = &mut event.event { Some(result) } else { None }
    });
    *returned.unwrap() = CallResult::failure(Some(Verdict::Refused), "not run");
    assert_eq!(ends(&lines), [false, true]);
}

#[tokio::test]
async fn any_line_can_be_the_last() {
    let ran = run_office(&office_script()).await;
    for length in 1..=ran.lines.len() {
        let (_, chapters, complete) = told(&ran.lines[..length]);
        assert_eq!(complete, length == ran.lines.len(), "after {length} lines");
        let numbers: Vec<u32> = steps(&chapters).iter().map(|step| step.number).collect();
        let expected: Vec<u32> = (1..=RunSummary::of(&ran.lines[..length]).tally.steps).collect();
        assert_eq!(numbers, expected, "after {length} lines");
    }
}

#[tokio::test]
async fn time_without_a_process_counts_for_nothing() {
    const AWAY_MS: u64 = 3_600_000;
    let ran = run_office(&office_script()).await;
    let middle = ran.lines.len() / 2;
    let (before, after) = ran.lines.split_at(middle);
    let last = before.last().unwrap();
    let resumed = EventRecord {
        effect: None,
        at_ms: last.at_ms + AWAY_MS,
        event: SessionEvent::Resumed { desktop_kept: true },
    };
    let mut lines = before.to_vec();
    lines.push(JournalEntry {
        at_ms: last.at_ms + AWAY_MS,
        record: JournalRecord::Event(Box::new(resumed)),
        ..last.clone()
    });
    lines.extend(after.iter().map(|line| JournalEntry { at_ms: line.at_ms + AWAY_MS, ..line.clone() }));
    let (whole, interrupted) = (RunSummary::of(&ran.lines), RunSummary::of(&lines));
    assert_eq!(interrupted.elapsed_ms, whole.elapsed_ms);
    assert_eq!(interrupted.phases, whole.phases);
    let rounds =
        |summary: &RunSummary| summary.rounds.iter().map(|round| round.elapsed_ms).collect::<Vec<_>>();
    assert_eq!(rounds(&interrupted), rounds(&whole));
}

/// The lines of a session up to the first line that fits, and that line.
fn cut_at(lines: &[JournalEntry], fits: impl Fn(&JournalEntry) -> bool) -> Vec<JournalEntry> {
    let end = lines.iter().position(fits).unwrap();
    lines[..=end].to_vec()
}

fn wants(line: &JournalEntry, fits: impl Fn(&Effect) -> bool) -> bool {
    matches!(&line.record, JournalRecord::Effect(record) if fits(&record.effect))
}

#[tokio::test]
async fn a_model_call_that_was_stopped_was_made() {
    let ran = run_office(&office_script()).await;
    let mut lines = cut_at(&ran.lines, |line| wants(line, |effect| matches!(effect, Effect::Ask { .. })));
    let before = RunSummary::of(&lines).tally.model_calls;
    let last = lines.last().unwrap().clone();
    let event = SessionEvent::Stopped { reason: StopReason::User };
    let stopped = EventRecord { effect: None, at_ms: last.at_ms, event };
    lines.push(JournalEntry { record: JournalRecord::Event(Box::new(stopped)), ..last });
    let after = RunSummary::of(&lines).tally;
    assert_eq!((after.model_calls, after.cost.unknown_calls), (before + 1, 1));
}

#[tokio::test]
async fn a_pause_is_no_time_of_the_framework() {
    const PAUSED_MS: u64 = 90_000;
    let ran = run_office(&office_script()).await;
    let at = ran.lines.iter().position(|line| wants(line, |one| matches!(one, Effect::Call { .. }))).unwrap();
    let later = |line: &JournalEntry| JournalEntry { at_ms: line.at_ms + PAUSED_MS, ..line.clone() };
    let mut lines: Vec<JournalEntry> = ran.lines[..at].to_vec();
    lines.extend(ran.lines[at..].iter().map(later));
    lines[at].paused_ms = PAUSED_MS;
    let (whole, paused) = (RunSummary::of(&ran.lines), RunSummary::of(&lines));
    assert_eq!(paused.phases, whole.phases);
    assert_eq!(paused.elapsed_ms, whole.elapsed_ms + PAUSED_MS);
}

#[tokio::test]
async fn a_fork_of_an_old_session_counts_its_own_time() {
    const YEARS_MS: u64 = 100_000_000_000;
    let ran = run_office(&office_script()).await;
    let at = ran.lines.iter().position(|line| wants(line, |one| matches!(one, Effect::Call { .. }))).unwrap();
    let JournalRecord::Header(header) = &ran.lines[0].record else { panic!("no header") };
    let change = SettingsChange {
        config: header.config.clone(),
        prompts: PromptSet::default(),
        model: header.model.clone(),
        desktop: header.desktop.clone(),
        program: header.program.clone(),
        setup: header.setup.clone(),
    };
    let mut lines: Vec<JournalEntry> = ran.lines[..at].to_vec();
    let last = lines.last().unwrap().clone();
    let changed = JournalEntry {
        at_ms: last.at_ms + YEARS_MS,
        record: JournalRecord::Changed(Box::new(change)),
        ..last
    };
    lines.push(changed);
    lines.extend(
        ran.lines[at..].iter().map(|line| JournalEntry { at_ms: line.at_ms + YEARS_MS, ..line.clone() }),
    );
    let (whole, forked) = (RunSummary::of(&ran.lines), RunSummary::of(&lines));
    assert_eq!(forked.elapsed_ms, whole.elapsed_ms);
    let rounds =
        |summary: &RunSummary| summary.rounds.iter().map(|round| round.elapsed_ms).collect::<Vec<_>>();
    assert_eq!(rounds(&forked), rounds(&whole));
}
