//! A whole session, step by step, for `deskhand show`.

use deskhand_core::{
    agent::AgentDefinition,
    command::CallResult,
    evaluation::Judgement,
    model::ModelReply,
    outcome::OutcomeKind,
    record::Record,
    reply::Reply,
    session::{ApprovalScope, Effect, EffectRecord, Event, StepRef, SubtaskStatus},
    text::{clip, one_line},
};
use deskhand_runtime::{Journal, JournalProblem, PhaseTimes, RunSummary};

use super::describe::{
    column, cost_words, count, effect_tone, effect_word, evaluation_words, number, result_words, seconds,
};
use crate::output::{Line, Tone};

/// The steps of a session with what was thought, done and seen, and what it cost.
pub(crate) fn trajectory_lines(journal: &Journal) -> Vec<Line> {
    let summary = RunSummary::of(&journal.lines);
    let mut view = View {
        agents: &journal.header.config.agents,
        summary: &summary,
        lines: Vec::new(),
        step: 0,
        effect: None,
    };
    view.lines.extend(head(journal, &summary));
    for line in &journal.lines {
        match &line.record {
            Record::Header(_) => {}
            Record::Changed(change) => {
                view.push(
                    "changed",
                    Tone::Doubtful,
                    &format!("from here on with {}, on {}", change.model, change.desktop),
                );
            }
            Record::Effect(effect) => view.wanted(effect),
            Record::Event(event) => view.came(&event.event),
        }
    }
    view.lines.push(Line::default());
    view.lines.extend(foot(journal, &summary));
    view.lines
}

struct View<'a> {
    agents: &'a [AgentDefinition],
    summary: &'a RunSummary,
    lines: Vec<Line>,
    step: u32,
    effect: Option<&'a EffectRecord>,
}

impl<'a> View<'a> {
    fn push(&mut self, word: &str, tone: Tone, text: &str) {
        self.lines.push(Line::of(Tone::Faint, format!("  {}", column(word, 9))).with(tone, one_line(text)));
    }

    fn wanted(&mut self, record: &'a EffectRecord) {
        if let Some(step) = record.step.as_ref().filter(|step| step.number != self.step) {
            self.step = step.number;
            self.lines.push(Line::default());
            self.lines.push(step_heading(step, self.summary));
        }
        if let Effect::Finish { outcome } = &record.effect {
            let tone = if outcome.kind == OutcomeKind::Finished { Tone::Good } else { Tone::Bad };
            self.lines.push(Line::default());
            self.lines.push(
                Line::of(tone, format!("Outcome: {}", outcome.kind))
                    .with(Tone::Plain, format!("  {}", one_line(&outcome.reason))),
            );
            if let Some(evaluation) = &outcome.evaluation {
                let tone = if evaluation.complete == Judgement::Yes { Tone::Good } else { Tone::Doubtful };
                self.lines
                    .push(Line::of(tone, format!("Judged: {}", one_line(&evaluation_words(evaluation)))));
            }
        }
        self.effect = Some(record);
    }

    fn came(&mut self, event: &Event) {
        match event {
            Event::Requested { text, .. } => {
                self.lines.push(Line::default());
                self.lines.push(Line::of(Tone::Strong, format!("Request: {}", one_line(text))));
            }
            Event::Replied { reply } => self.replied(reply),
            Event::ModelFailed { failure } => self.push("model", Tone::Bad, &failure.to_string()),
            Event::ObserveFailed { failure } => self.push("looking", Tone::Bad, &failure.to_string()),
            Event::Returned { result } => self.returned(result),
            Event::Answered { answers } => self.push("answer", Tone::Plain, &answers.join(" · ")),
            Event::Unanswered { .. } => self.push("answer", Tone::Doubtful, "nobody answered"),
            Event::Approved { scope: ApprovalScope::Once } => self.push("approval", Tone::Good, "given"),
            Event::Approved { scope: ApprovalScope::Session } => {
                self.push("approval", Tone::Good, "given for the session");
            }
            Event::Rejected { instruction } => {
                self.push("approval", Tone::Bad, instruction.as_deref().unwrap_or("refused"));
            }
            Event::Stopped { reason } => self.push("stopped", Tone::Bad, &format!("{reason:?}")),
            Event::Delegated { report } => {
                let good = report.status == SubtaskStatus::Finished;
                let tone = if good { Tone::Good } else { Tone::Bad };
                self.push("report", tone, &format!("{}: {}", report.status, report.result));
            }
            Event::Resumed { desktop_kept } => {
                let on = if *desktop_kept { "on the same desktop" } else { "on a new desktop" };
                self.push("resumed", Tone::Doubtful, on);
            }
            Event::Observed { .. } | Event::Acknowledged | Event::Ended => {}
        }
    }

    fn replied(&mut self, reply: &ModelReply) {
        let Some(Effect::Ask { request }) = self.effect.map(|record| &record.effect) else { return };
        let (thought, status) = match Reply::read(request.reply, &request.agent, self.agents, &reply.text) {
            Ok(Reply::Evaluation(reply)) => (reply.reason, reply.complete.to_string()),
            Ok(Reply::Host(reply)) => {
                let subtask = reply.subtask.map(|subtask| format!(" “{subtask}”")).unwrap_or_default();
                (reply.thought, format!("{}{subtask}", reply.status))
            }
            Ok(Reply::App(reply)) => {
                let result =
                    reply.result.map(|result| format!(": {}", clip(&result, 200))).unwrap_or_default();
                (reply.thought, format!("{}{result}", reply.word))
            }
            Err(error) => (String::new(), format!("the reply cannot be used: {error}")),
        };
        if !thought.is_empty() {
            self.push("thought", Tone::Plain, &thought);
        }
        let tokens = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), number);
        let cost = format!(
            "{} · {} read + {} written · {} ms",
            status,
            tokens(reply.usage.prompt_tokens),
            tokens(reply.usage.completion_tokens),
            number(reply.elapsed_ms)
        );
        self.push("says", Tone::Plain, &cost);
    }

    fn returned(&mut self, result: &CallResult) {
        let Some(Effect::Call { command }) = self.effect.map(|record| &record.effect) else { return };
        self.lines.push(
            Line::of(Tone::Faint, format!("  {}", column("does", 9)))
                .with(Tone::Plain, format!("{}  ", one_line(&command.to_line())))
                .with(effect_tone(result), effect_word(result))
                .with(Tone::Plain, format!("  {}", clip(&result_words(result), 160)))
                .with(Tone::Faint, format!("  {} ms", number(result.elapsed_ms))),
        );
    }
}

fn step_heading(step: &StepRef, summary: &RunSummary) -> Line {
    let index = usize::try_from(step.number).unwrap_or(usize::MAX).saturating_sub(1);
    let times = summary.steps.get(index).copied().unwrap_or_default();
    let subtask = if step.subtask.is_empty() {
        String::new()
    } else {
        format!(" · “{}”", one_line(&step.subtask))
    };
    Line::of(Tone::Strong, format!("Step {} · {}{subtask}", step.number, step.agent))
        .with(Tone::Faint, format!("  {}", phase_words(&times)))
}

fn phase_words(times: &PhaseTimes) -> String {
    let PhaseTimes { observe, ask, act, record } = *times;
    format!("observe {observe} · ask {ask} · act {act} · record {record} ms")
}

fn head(journal: &Journal, summary: &RunSummary) -> Vec<Line> {
    let header = &journal.header;
    let when = i64::try_from(header.created_ms)
        .ok()
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
        .map_or_else(String::new, |when| when.strftime("%Y-%m-%d %H:%M:%S UTC").to_string());
    let row = |word: &str, text: &str| Line::of(Tone::Faint, column(word, 11)).with(Tone::Plain, text);
    let mut lines = vec![
        row("session", &header.session.0),
        row("began", &when),
        row("model", &header.model),
        row("desktop", &header.desktop),
        row("program", &header.program),
    ];
    if summary.requests.len() > 1 {
        lines.push(row("requests", &summary.requests.len().to_string()));
    }
    lines
}

fn foot(journal: &Journal, summary: &RunSummary) -> Vec<Line> {
    let tally = summary.tally;
    let tokens = tally.prompt_tokens.saturating_add(tally.completion_tokens);
    let mut lines = vec![
        Line::of(
            Tone::Strong,
            format!(
                "{} · {} · {} · {} · {} · {} (framework {})",
                count(u64::from(tally.steps), "step"),
                count(u64::from(tally.calls), "action"),
                count(u64::from(tally.model_calls), "model call"),
                count(tokens, "token"),
                cost_words(tally.cost),
                seconds(summary.elapsed_ms),
                seconds(summary.phases.framework()),
            ),
        ),
        Line::of(Tone::Faint, phase_words(&summary.phases)),
    ];
    if summary.outcome.is_none() {
        lines.push(Line::of(
            Tone::Doubtful,
            "the session did not come to an end: it runs still, or its process was killed",
        ));
    }
    for problem in &journal.problems {
        lines.push(Line::of(
            Tone::Bad,
            match problem {
                JournalProblem::CutOff { seq } => format!("record {seq} was cut off while it was written"),
                JournalProblem::Changed { seq } => format!("record {seq} was changed after it was written"),
            },
        ));
    }
    lines
}
