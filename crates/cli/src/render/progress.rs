//! The live view of a run: a reader of the journal's lines and of nothing else.

use std::collections::BTreeMap;

use deskhand_core::{
    agent::{AgentDefinition, AgentRef},
    command::{CallResult, Command},
    evaluation::Judgement,
    ids::WindowId,
    known_tools::SELECT_WINDOW,
    model::ModelReply,
    observation::{Look, Observation},
    outcome::{Outcome, OutcomeKind},
    record::{Line as JournalLine, Record},
    reply::{AppReply, EvaluationReply, HostReply, Reply},
    session::{ApprovalScope, Effect, EffectRecord, Event, EventRecord, StepRef, SubtaskStatus},
    states::{AppStatus, HostStatus},
    text::{clip, one_line},
    ui::WindowInfo,
};
use deskhand_runtime::RunSummary;

use super::describe::{
    column, command_words, cost_words, count, effect_tone, effect_word, evaluation_words, number,
    result_words, seconds, short_name, wrap,
};
use crate::output::{Line, Tone};

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Nothing but the end.
    Quiet,
    /// Sub-tasks and actions.
    Normal,
    /// What the agents think as well.
    Thoughts,
    /// What they look at and what each question costs, too.
    Everything,
}

/// Columns: the agent, what it did, what came of it. The rest of the line is the detail.
const AGENT_WIDTH: usize = 12;
const WHAT_WIDTH: usize = 36;
const EFFECT_WIDTH: usize = 10;
const TIME_WIDTH: usize = 9;

/// What was read so far, as much as the next line needs.
#[derive(Debug)]
pub(crate) struct Progress {
    verbosity: Verbosity,
    width: usize,
    session: String,
    agents: Vec<AgentDefinition>,
    windows: BTreeMap<WindowId, WindowInfo>,
    labels: BTreeMap<String, String>,
    effect: Option<EffectRecord>,
    plan: Vec<String>,
    /// The agent and sub-task that were announced last.
    assigned: Option<(AgentRef, String)>,
    /// How the AppAgent said that its sub-task ends; told when the machine agrees.
    said: Option<(AppStatus, String)>,
    summary: RunSummary,
    /// Questions and approvals are shown by whoever asks them.
    prompts_elsewhere: bool,
}

impl Progress {
    /// A view whose lines are at most `width` columns wide.
    pub(crate) fn new(verbosity: Verbosity, width: usize) -> Self {
        Self {
            verbosity,
            width,
            session: String::new(),
            agents: Vec::new(),
            windows: BTreeMap::new(),
            labels: BTreeMap::new(),
            effect: None,
            plan: Vec::new(),
            assigned: None,
            said: None,
            summary: RunSummary::default(),
            prompts_elsewhere: false,
        }
    }

    /// Questions and approvals are shown on the terminal by the one who asks them, and not once more here.
    pub(crate) fn leave_prompts_to_the_terminal(&mut self) {
        self.prompts_elsewhere = true;
    }

    /// What the lines add up to so far.
    pub(crate) fn summary(&self) -> &RunSummary {
        &self.summary
    }

    /// Reads the next line and says what a person should see of it.
    pub(crate) fn read(&mut self, line: &JournalLine) -> Vec<Line> {
        self.summary.add(line);
        match &line.record {
            Record::Header(header) => {
                self.session.clone_from(&header.session.0);
                self.agents.clone_from(&header.config.agents);
                self.when(Verbosity::Thoughts, || {
                    note("session", &format!("{} · {} · {}", header.session, header.model, header.desktop))
                })
            }
            Record::Effect(effect) => {
                let lines = self.wanted(effect);
                self.effect = Some(effect.as_ref().clone());
                lines
            }
            Record::Event(event) => self.came(event),
            Record::Changed(change) => self.when(Verbosity::Normal, || {
                note("changed", &format!("from here on with {}, on {}", change.model, change.desktop))
            }),
        }
        .into_iter()
        .map(|line| line.cut(self.width))
        .collect()
    }

    fn when(&self, least: Verbosity, line: impl FnOnce() -> Line) -> Vec<Line> {
        if self.verbosity >= least { vec![line()] } else { Vec::new() }
    }

    fn wanted(&mut self, record: &EffectRecord) -> Vec<Line> {
        let mut lines = Vec::new();
        let owner = record.step.as_ref().map(|step| (step.agent.clone(), step.subtask.clone()));
        let changes = match &record.effect {
            Effect::Finish { .. } => true,
            Effect::AskUser { .. } | Effect::AwaitRequest => false,
            Effect::Observe { .. }
            | Effect::Ask { .. }
            | Effect::Call { .. }
            | Effect::Delegate { .. }
            | Effect::AwaitApproval { .. } => owner.is_some() && owner != self.assigned,
        };
        if changes {
            lines.extend(self.subtask_ended());
            self.assigned = owner;
            if let (Effect::Observe { look: Look::Window { window, .. } }, Some(step)) =
                (&record.effect, &record.step)
            {
                let named = self.windows.get(window).map(|window| window.app.name.clone());
                let app = named.unwrap_or_else(|| step.agent.to_string());
                lines.extend(self.when(Verbosity::Normal, || {
                    note("assign", &format!("“{}” → {app}", one_line(&step.subtask)))
                }));
            }
            if let (Effect::Observe { look: Look::Agent { .. } }, Some(step)) = (&record.effect, &record.step)
            {
                lines.extend(self.when(Verbosity::Normal, || {
                    note("assign", &format!("“{}” → {}", one_line(&step.subtask), step.agent))
                }));
            }
        }
        match &record.effect {
            Effect::AskUser { .. } | Effect::AwaitApproval { .. } if self.prompts_elsewhere => {}
            Effect::AskUser { questions } => {
                for question in questions {
                    lines
                        .extend(self.when(Verbosity::Normal, || note("question", &one_line(&question.text))));
                }
            }
            Effect::AwaitApproval { approval } => {
                let commands: Vec<String> = approval.commands.iter().map(Command::to_line).collect();
                lines.extend(self.when(Verbosity::Normal, || note("approve?", &commands.join("; "))));
            }
            Effect::Finish { outcome } => lines.extend(self.finished(outcome)),
            Effect::Delegate { subtask, .. } => {
                let agent = record.step.as_ref().map_or(AgentRef::Unnamed, |step| step.agent.clone());
                lines.extend(self.when(Verbosity::Normal, || {
                    note("assign", &format!("“{}” → {agent}", one_line(subtask)))
                }));
            }
            Effect::AwaitRequest | Effect::Observe { .. } | Effect::Ask { .. } | Effect::Call { .. } => {}
        }
        lines
    }

    fn came(&mut self, record: &EventRecord) -> Vec<Line> {
        let Some(effect) = self.effect.clone() else { return Vec::new() };
        match &record.event {
            Event::Requested { text, plan: _ } => {
                self.plan.clear();
                self.when(Verbosity::Thoughts, || note("request", &format!("“{}”", one_line(text))))
            }
            Event::Observed { observation } => self.observed(observation),
            Event::ObserveFailed { failure } => {
                self.when(Verbosity::Normal, || bad("looking", &failure.to_string()))
            }
            Event::Replied { reply } => self.replied(&effect, reply),
            Event::ModelFailed { failure } => {
                // The outcome says the same, in full.
                self.when(Verbosity::Thoughts, || bad("model", &one_line(&failure.to_string())))
            }
            Event::Returned { result } => self.returned(&effect, result),
            // Who typed them need not be told.
            Event::Answered { .. } if self.prompts_elsewhere => Vec::new(),
            Event::Answered { answers } => {
                self.when(Verbosity::Normal, || note("answer", &one_line(&answers.join(" · "))))
            }
            Event::Unanswered { .. } => {
                self.when(Verbosity::Normal, || note("answer", "none; the agent decides"))
            }
            Event::Approved { scope } => self.when(Verbosity::Normal, || {
                note("approved", if *scope == ApprovalScope::Session { "for this session" } else { "" })
            }),
            Event::Rejected { instruction } => {
                self.when(Verbosity::Normal, || bad("rejected", instruction.as_deref().unwrap_or_default()))
            }
            Event::Stopped { .. } => {
                self.when(Verbosity::Normal, || note("stop", "the request is being stopped"))
            }
            Event::Delegated { report } => self.when(Verbosity::Normal, || match report.status {
                SubtaskStatus::Finished => note("report", &one_line(&report.result)),
                SubtaskStatus::Failed | SubtaskStatus::Rejected | SubtaskStatus::Error => {
                    bad("report", &one_line(&report.result))
                }
            }),
            Event::Resumed { desktop_kept } => self.when(Verbosity::Normal, || {
                note("resumed", if *desktop_kept { "on the same desktop" } else { "on a new desktop" })
            }),
            Event::Ended | Event::Acknowledged => Vec::new(),
        }
    }

    fn observed(&mut self, observation: &Observation) -> Vec<Line> {
        self.labels.clear();
        let seen = match observation {
            Observation::Desktop(view) => {
                self.windows = view.windows.iter().map(|window| (window.id, window.clone())).collect();
                for window in &view.windows {
                    self.labels.insert(window.id.to_string(), format!("“{}”", window.title));
                }
                count(view.windows.len() as u64, "window")
            }
            Observation::Window(view) => {
                for surface in &view.surfaces {
                    self.windows.insert(surface.window.id, surface.window.clone());
                }
                for element in view.elements() {
                    self.labels.insert(element.id.to_string(), element.label());
                }
                count(view.elements().count() as u64, "element")
            }
            Observation::Agent(view) if view.text.is_empty() => "nothing".to_owned(),
            Observation::Agent(view) => one_line(&view.text),
        };
        self.when(Verbosity::Everything, || note("sees", &seen))
    }

    fn replied(&mut self, effect: &EffectRecord, reply: &ModelReply) -> Vec<Line> {
        let (Effect::Ask { request }, Some(step)) = (&effect.effect, &effect.step) else { return Vec::new() };
        let mut lines = self.when(Verbosity::Everything, || {
            let tokens = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), number);
            let (read, written) = (tokens(reply.usage.prompt_tokens), tokens(reply.usage.completion_tokens));
            note("model", &format!("{} · {read} + {written} tokens · {} ms", reply.model, reply.elapsed_ms))
        });
        match Reply::read(request.reply, &request.agent, &self.agents, &reply.text) {
            Ok(Reply::Evaluation(reply)) => lines.extend(self.evaluated(step, &reply)),
            Ok(Reply::Host(reply)) => lines.extend(self.host_decided(step, &reply)),
            Ok(Reply::App(reply)) => lines.extend(self.app_decided(step, reply)),
            Err(error) => lines
                .extend(self.when(Verbosity::Normal, || bad("reply", &format!("cannot be used: {error}")))),
        }
        lines
    }

    fn evaluated(&self, step: &StepRef, reply: &EvaluationReply) -> Vec<Line> {
        self.when(Verbosity::Normal, || {
            let words = format!("{}: {}", reply.complete, one_line(&reply.reason));
            self.agent(step).with(Tone::Plain, words)
        })
    }

    fn host_decided(&mut self, step: &StepRef, reply: &HostReply) -> Vec<Line> {
        let mut lines = Vec::new();
        let goes_on = matches!(reply.status, HostStatus::Continue | HostStatus::Assign);
        let mut plan: Vec<String> = reply.subtask.iter().chain(&reply.plan).cloned().collect();
        plan.dedup();
        if goes_on && !plan.is_empty() && plan != self.plan {
            let known = self.plan.len() > plan.len() && self.plan.ends_with(&plan);
            if !known {
                let windows = count(self.windows.len() as u64, "window");
                let words: Vec<String> = plan.iter().map(|step| clip(&one_line(step), 60)).collect();
                lines.extend(self.when(Verbosity::Normal, || {
                    self.agent(step).with(Tone::Plain, format!("{windows} · plan: {}", words.join(" · ")))
                }));
            }
            self.plan = plan;
        }
        lines.extend(self.thought(&reply.thought));
        lines
    }

    fn app_decided(&mut self, step: &StepRef, reply: AppReply) -> Vec<Line> {
        let mut lines = self.thought(&reply.thought);
        self.said = None;
        match reply.status {
            AppStatus::Finish | AppStatus::Fail | AppStatus::Error => {
                let words = reply.result.filter(|text| !text.is_empty()).unwrap_or(reply.thought);
                self.said = Some((reply.status, words));
            }
            AppStatus::Screenshot => lines
                .extend(self.when(Verbosity::Normal, || self.agent(step).with(Tone::Plain, "look again"))),
            AppStatus::Continue | AppStatus::Pending | AppStatus::Confirm => {}
        }
        lines
    }

    fn thought(&self, thought: &str) -> Vec<Line> {
        self.when(Verbosity::Thoughts, || note("thought", &one_line(thought)))
    }

    fn returned(&mut self, effect: &EffectRecord, result: &CallResult) -> Vec<Line> {
        let (Effect::Call { command }, Some(step)) = (&effect.effect, &effect.step) else {
            return Vec::new();
        };
        if let Some(window) = &result.window {
            self.windows.insert(window.id, window.clone());
        }
        // Which window was picked stands in the line of the assignment.
        let least = if command.tool == SELECT_WINDOW && result.is_success() {
            Verbosity::Everything
        } else {
            Verbosity::Normal
        };
        self.when(least, || self.call_line(step, command, result))
    }

    fn call_line(&self, step: &StepRef, command: &Command, result: &CallResult) -> Line {
        let id = command.arguments.get("id").and_then(serde_json::Value::as_str).unwrap_or_default();
        let what = command_words(command, self.labels.get(id.trim()).map(String::as_str));
        let time = format!("{} ms", number(result.elapsed_ms));
        let taken = AGENT_WIDTH + WHAT_WIDTH + EFFECT_WIDTH + TIME_WIDTH + 3;
        let detail = column(&result_words(result), self.width.saturating_sub(taken).max(16));
        self.agent(step)
            .with(Tone::Plain, format!("{} ", column(&what, WHAT_WIDTH)))
            .with(effect_tone(result), column(effect_word(result), EFFECT_WIDTH))
            .with(Tone::Plain, format!(" {detail} "))
            .with(Tone::Faint, format!("{time:>TIME_WIDTH$}"))
    }

    fn agent(&self, step: &StepRef) -> Line {
        Line::of(Tone::Strong, column(&self.agent_name(step), AGENT_WIDTH - 1)).with(Tone::Plain, " ")
    }

    fn agent_name(&self, step: &StepRef) -> String {
        let AgentRef::AppAgent { application, .. } = &step.agent else { return step.agent.to_string() };
        self.windows
            .values()
            .find(|window| window.app.root == *application)
            .map_or(application.as_str(), |window| short_name(&window.app.name))
            .to_owned()
    }

    /// The line of a sub-task whose agent is done, if there was one.
    fn subtask_ended(&mut self) -> Vec<Line> {
        let said = self.said.take();
        let Some((_, subtask)) = self.assigned.take() else { return Vec::new() };
        if subtask.is_empty() {
            return Vec::new();
        }
        self.when(Verbosity::Normal, || match said {
            Some((AppStatus::Finish, words)) => note("finish", &one_line(&words)),
            Some((_, words)) => bad("fail", &one_line(&words)),
            None => bad("ended", &format!("“{}” was not finished", one_line(&subtask))),
        })
    }

    fn finished(&mut self, outcome: &Outcome) -> Vec<Line> {
        let mut lines = Vec::new();
        if !outcome.reason.is_empty() {
            let reason = wrap(&outcome.reason, self.width.saturating_sub(AGENT_WIDTH));
            let told = |say: fn(&str, &str) -> Line, word: &str| {
                let words = std::iter::once(word).chain(std::iter::repeat(""));
                words.zip(&reason).map(|(word, text)| say(word, text)).collect::<Vec<_>>()
            };
            match outcome.kind {
                OutcomeKind::Finished if self.verbosity == Verbosity::Quiet => {}
                OutcomeKind::Finished => lines.extend(told(note, "result")),
                OutcomeKind::Failed
                | OutcomeKind::Rejected
                | OutcomeKind::BudgetExhausted
                | OutcomeKind::Cancelled
                | OutcomeKind::Error => lines.extend(told(bad, "because")),
            }
        }
        if let Some(evaluation) = outcome.evaluation.as_ref().filter(|_| self.verbosity != Verbosity::Quiet) {
            let words = evaluation_words(evaluation);
            let text = wrap(&words, self.width.saturating_sub(AGENT_WIDTH));
            let say = if evaluation.complete == Judgement::Yes { note } else { bad };
            let heads = std::iter::once("judged").chain(std::iter::repeat(""));
            lines.extend(heads.zip(&text).map(|(head, text)| say(head, text)));
        }
        let round = self.summary.rounds.last().cloned().unwrap_or_default();
        let tally = round.tally;
        let tokens = tally.prompt_tokens.saturating_add(tally.completion_tokens);
        let tone = if outcome.kind == OutcomeKind::Finished { Tone::Good } else { Tone::Bad };
        let line = Line::of(tone, column(outcome_word(outcome.kind), AGENT_WIDTH)).with(
            Tone::Plain,
            format!(
                "{} (framework {}) · {} · {} · deskhand show {} · {}",
                seconds(round.elapsed_ms),
                seconds(round.phases.framework()),
                count(u64::from(tally.model_calls), "model call"),
                count(tokens, "token"),
                short_session(&self.session),
                cost_words(tally.cost),
            ),
        );
        lines.push(line);
        lines
    }
}

/// The end of a session's id: short, and as good as unique, where its beginning is the time.
fn short_session(id: &str) -> &str {
    id.rsplit('-').next().unwrap_or(id)
}

const fn outcome_word(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Finished => "Finished",
        OutcomeKind::Failed => "Failed",
        OutcomeKind::Rejected => "Rejected",
        OutcomeKind::BudgetExhausted => "Exhausted",
        OutcomeKind::Cancelled => "Cancelled",
        OutcomeKind::Error => "Error",
    }
}

fn note(word: &str, text: &str) -> Line {
    Line::of(Tone::Faint, format!("  {}", column(word, AGENT_WIDTH - 2))).with(Tone::Plain, text)
}

fn bad(word: &str, text: &str) -> Line {
    Line::of(Tone::Bad, format!("  {}", column(word, AGENT_WIDTH - 2))).with(Tone::Plain, text)
}
