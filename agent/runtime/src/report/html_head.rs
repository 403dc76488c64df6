//! The head of the page: outcome, facts, timeline, sub-tasks and the list of steps.

use deskhand_machine::evaluation::{Evaluation, Judge, Judgement};
use deskhand_ui::text::{clip, one_line};
use serde::Serialize;

use super::{
    html_parts::{OutcomePage, RoundPage, TalkPage, outcome_page, round_page},
    overview::{OverviewStep, ReportOverview, SubtaskLine, total},
    render::CSS,
    times::{BarSegment, parts},
    words::{NoteLine, ReportTone, end_words},
};
use crate::{
    journal::JournalProblem,
    story::PhaseTimes,
    words::{agent_words, cached_words, count, duration, local_time, number, uses_of_models},
};

/// The most steps drawn separately in the timeline; longer sessions show groups.
const STRIP_MAX: usize = 160;
/// The most steps in the sidebar.
const NAV_MAX: usize = 500;

#[derive(Serialize)]
struct Fact {
    name: &'static str,
    value: String,
    more: String,
    /// If `true`, the fact spans two columns.
    wide: bool,
}

#[derive(Serialize)]
struct EvaluationPage {
    complete: &'static str,
    tone: ReportTone,
    reason: String,
    scores: Vec<ScorePage>,
    by: String,
}

#[derive(Serialize)]
struct ScorePage {
    name: String,
    evaluation: &'static str,
    tone: ReportTone,
}

#[derive(Serialize)]
struct StripStep {
    number: u32,
    weight: u64,
    title: String,
    tone: ReportTone,
    label: String,
    parts: Vec<BarSegment>,
}

#[derive(Serialize)]
struct NavStep {
    number: u32,
    agent: String,
    title: String,
    tone: ReportTone,
}

#[derive(Serialize)]
struct SubtaskPage {
    subtask: String,
    agent: String,
    status: String,
    tone: ReportTone,
    result: String,
    first_step: u32,
    steps: String,
    time: String,
}

/// The head of the page.
#[derive(Serialize)]
pub(super) struct ReportPageHead<'a> {
    css: &'static str,
    program: &'a str,
    title: String,
    session: &'a str,
    request: String,
    outcome: OutcomePage,
    notes: Vec<NoteLine>,
    evaluation: Option<EvaluationPage>,
    facts: Vec<Fact>,
    phases: Vec<BarSegment>,
    strip: Vec<StripStep>,
    rounds: Vec<RoundPage>,
    subtasks: Vec<SubtaskPage>,
    talks: Vec<TalkPage>,
    nav: Vec<NavStep>,
    nav_left_out: String,
    trouble: bool,
}

const fn judgement_tone(judgement: Judgement) -> ReportTone {
    match judgement {
        Judgement::Yes => ReportTone::Good,
        Judgement::No => ReportTone::Bad,
        Judgement::Unsure => ReportTone::Doubtful,
    }
}

fn evaluation_page(evaluation: &Evaluation) -> EvaluationPage {
    let by = match evaluation.by {
        Judge::Rules => "Evaluated by rules over the record, without a model.",
        Judge::Model => "Evaluated by the model; the rules found no problem.",
    };
    let repaired = if evaluation.repaired { " The round was reopened once before." } else { "" };
    EvaluationPage {
        complete: evaluation.complete.word(),
        tone: judgement_tone(evaluation.complete),
        reason: evaluation.reason.clone(),
        scores: evaluation
            .sub_scores
            .iter()
            .map(|score| ScorePage {
                name: score.name.clone(),
                evaluation: score.evaluation.word(),
                tone: judgement_tone(score.evaluation),
            })
            .collect(),
        by: format!("{by}{repaired}"),
    }
}

/// The start of the page.
pub(super) fn head<'a>(overview: &'a ReportOverview, notes: [String; 2]) -> ReportPageHead<'a> {
    let header = &overview.header;
    let first = overview.rounds.first().map_or("No request", |line| line.request.as_str());
    let request = match overview.rounds.len() {
        0 | 1 => first.to_owned(),
        several => format!("{first} (and {})", count(several as u64 - 1, "more request")),
    };
    let (nav, nav_left_out) = nav(overview);
    let plain = notes
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(|text| NoteLine { tone: ReportTone::Plain, text });
    let several = overview.rounds.len() > 1;
    ReportPageHead {
        css: CSS,
        program: &header.program,
        title: format!("{} · Deskhand", clip(&one_line(first), 60)),
        session: &header.session.0,
        request,
        outcome: outcome_page(overview.outcome()),
        notes: problems(overview).into_iter().chain(plain).collect(),
        evaluation: overview.outcome().and_then(|outcome| outcome.evaluation.as_ref()).map(evaluation_page),
        facts: facts(overview),
        phases: parts(&overview.summary.phases, overview.waited_ms),
        strip: strip(&overview.steps),
        rounds: if several { overview.rounds.iter().map(round_page).collect() } else { Vec::new() },
        subtasks: overview.subtasks.iter().map(subtask_page).collect(),
        talks: overview.talks.iter().map(TalkPage::of).collect(),
        nav,
        nav_left_out,
        trouble: overview.steps.iter().any(|step| step.tone >= ReportTone::Doubtful),
    }
}

fn subtask_page(line: &SubtaskLine) -> SubtaskPage {
    let steps = match line.last_step - line.first_step {
        0 => line.first_step.to_string(),
        _ => format!("{}–{}", line.first_step, line.last_step),
    };
    SubtaskPage {
        subtask: line.subtask.clone(),
        agent: agent_words(&line.agent),
        status: line.status.replace('_', " "),
        tone: line.tone,
        result: line.result.clone(),
        first_step: line.first_step,
        steps,
        time: duration(line.elapsed_ms),
    }
}

fn problems(overview: &ReportOverview) -> Vec<NoteLine> {
    let end = end_words(&overview.end);
    let end = (!end.is_empty()).then_some(NoteLine { tone: ReportTone::Doubtful, text: end });
    let problem =
        |problem: &JournalProblem| NoteLine { tone: ReportTone::Bad, text: format!("Journal: {problem}.") };
    overview.problems.iter().map(problem).chain(end).collect()
}

fn facts(overview: &ReportOverview) -> Vec<Fact> {
    let (header, summary) = (&overview.header, &overview.summary);
    let tally = &summary.tally;
    let fact = |name: &'static str, value: String, more: String| Fact { name, value, more, wide: false };
    let wide =
        |name: &'static str, value: &str| Fact { wide: true, ..fact(name, value.to_owned(), String::new()) };
    let tokens = tally.prompt_tokens.saturating_add(tally.completion_tokens);
    let verdicts = &overview.verdicts;
    let effects = [
        (verdicts.seen, "seen"),
        (verdicts.not_seen, "not seen"),
        (verdicts.refused, "refused"),
        (verdicts.unknown, "unknown"),
        (verdicts.failed, "failed"),
        (verdicts.read, "read"),
    ];
    let effects: Vec<String> = effects
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let forked = header.forked_from.as_ref();
    let forked = forked.map(|origin| format!("{}, after record {}", origin.session, origin.record));
    let median = summary.framework_ms_per_step_p50();
    let mut facts = vec![
        fact(
            "took",
            duration(summary.elapsed_ms),
            format!("framework {} per step (median)", duration(median)),
        ),
        fact("steps", number(u64::from(tally.steps)), String::new()),
        fact("actions", number(u64::from(tally.calls)), effects.join(", ")),
        fact("model calls", number(u64::from(tally.model_calls)), String::new()),
        fact(
            "tokens",
            number(tokens),
            format!(
                "{} read{}, {} written",
                number(tally.prompt_tokens),
                cached_words(tally),
                number(tally.completion_tokens)
            ),
        ),
        fact("cost", tally.cost.to_string(), String::new()),
        wide("model", &header.model),
        wide("by agent", &uses_of_models(summary).join("; ")),
        wide("desktop", &header.desktop),
        wide("started", &local_time(header.created_ms)),
    ];
    facts.extend(forked.map(|origin| wide("forked from", &origin)));
    facts
}

/// The timeline: steps with widths by duration, grouped if there are many.
fn strip(steps: &[OverviewStep]) -> Vec<StripStep> {
    let group = steps.len().div_ceil(STRIP_MAX).max(1);
    let whole: u64 = steps.iter().map(|step| total(&step.times) + step.waited_ms).sum();
    let mut strip = Vec::new();
    for steps in steps.chunks(group) {
        let (Some(first), Some(last)) = (steps.first(), steps.last()) else { continue };
        let mut times = PhaseTimes::default();
        let mut waited_ms = 0;
        for step in steps {
            times.observe += step.times.observe;
            times.ask += step.times.ask;
            times.act += step.times.act;
            times.record += step.times.record;
            waited_ms += step.waited_ms;
        }
        let ms = total(&times) + waited_ms;
        let title = match group {
            1 => format!("Step {}, {}: {} ({})", first.number, first.agent, first.title, duration(ms)),
            _ => format!("Steps {} to {} ({})", first.number, last.number, duration(ms)),
        };
        strip.push(StripStep {
            number: first.number,
            // A zero-length step must still be visible and clickable.
            weight: ms.max(whole / 150).max(1),
            title,
            tone: steps.iter().map(|step| step.tone).max().unwrap_or(ReportTone::Plain),
            label: if group == 1 && steps_fit(whole, ms) { first.number.to_string() } else { String::new() },
            parts: parts(&times, waited_ms),
        });
    }
    strip
}

/// Returns `true` if a step is wide enough in the timeline for its number.
const fn steps_fit(whole: u64, ms: u64) -> bool {
    ms * 50 >= whole
}

/// The list of steps; long sessions list only problems and a sample of the others.
fn nav(overview: &ReportOverview) -> (Vec<NavStep>, String) {
    let steps = &overview.steps;
    let every = steps.len().div_ceil(NAV_MAX).max(1);
    let mut left_out = 0_u64;
    let mut nav = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let wanted = index % every == 0 || (step.tone >= ReportTone::Doubtful && nav.len() < 4 * NAV_MAX);
        if !wanted {
            left_out += 1;
            continue;
        }
        nav.push(NavStep {
            number: step.number,
            agent: agent_words(&step.agent),
            title: step.title.clone(),
            tone: step.tone,
        });
    }
    let note =
        if left_out == 0 { String::new() } else { format!("{} more not listed.", count(left_out, "step")) };
    (nav, note)
}
