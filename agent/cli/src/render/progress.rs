//! The live view of a run, line by line.

use deskhand_host::DesktopEnd;
use deskhand_machine::{
    agent::AgentRef,
    command::{CallResult, ToolCommand},
    evaluation::Judgement,
    known_tools::SELECT_WINDOW,
    model::{ModelFailure, ModelReply},
    observation::Observation,
    outcome::{Outcome, OutcomeKind},
    record::JournalEntry as JournalLine,
    reply::{AgentReply, AppReply, EvaluationReply, HostReply, ReplyError},
    session::{ApprovalScope, StepRef},
    states::{AppStatus, HostStatus},
};
use deskhand_runtime::{
    RunSummary, Story,
    story::{
        Chapter, CommandTarget, Moment, RoundStart, SessionNote, StoryUpdate, SubtaskEnd, UserInquiry,
        UserReply,
    },
};
use deskhand_ui::text::{clip, one_line};

use super::describe::{
    cached_words, column, command_words, cost_words, count, effect_tone, effect_word, evaluation_words,
    hands_words, number, result_words, seconds, short_name, uses_of_models, whole_action, wrap,
};
use crate::output::{OutputTone, StyledLine};

/// Amount of printed output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Only the outcome.
    Quiet,
    /// Sub-tasks and actions.
    Normal,
    /// Also what agents think.
    Thoughts,
    /// Also what they look at, and what each model call costs.
    Everything,
}

/// Columns: the agent, the action, its result. The rest of the line is the detail.
const AGENT_WIDTH: usize = 12;
const WHAT_WIDTH: usize = 36;
const EFFECT_WIDTH: usize = 10;
/// The most characters of what a model thought that are shown.
const REASONING_CHARS: usize = 600;
const TIME_WIDTH: usize = 9;

/// The live view, with the state needed for the next line.
#[derive(Debug)]
pub(crate) struct RunProgressView {
    verbosity: Verbosity,
    width: usize,
    story: Story,
    /// The plan that was shown last.
    plan: Vec<String>,
    /// `true` if the terminal prints questions and approvals itself.
    prompts_elsewhere: bool,
}

impl RunProgressView {
    /// A view whose lines are at most `width` columns wide.
    pub(crate) fn new(verbosity: Verbosity, width: usize) -> Self {
        Self { verbosity, width, story: Story::default(), plan: Vec::new(), prompts_elsewhere: false }
    }

    /// Leaves questions and approvals to the terminal, so that they are not printed twice.
    pub(crate) fn leave_prompts_to_the_terminal(&mut self) {
        self.prompts_elsewhere = true;
    }

    /// The summary so far.
    pub(crate) fn summary(&self) -> &RunSummary {
        self.story.summary()
    }

    /// Reads the next journal line and returns the lines to print.
    pub(crate) fn read(&mut self, line: &JournalLine) -> Vec<StyledLine> {
        let updates = self.story.read(line);
        let mut lines = Vec::new();
        for update in updates {
            lines.extend(match update {
                StoryUpdate::Moment(moment) => self.moment(*moment),
                StoryUpdate::Chapter(Chapter::Begun(begun)) => self.begun(&begun),
                StoryUpdate::Chapter(Chapter::Ended { outcome, .. }) => self.finished(&outcome),
                // Already printed when they happened.
                StoryUpdate::Chapter(
                    Chapter::Step(_) | Chapter::Talk(_) | Chapter::Note(_) | Chapter::Left { .. },
                ) => Vec::new(),
            });
        }
        lines.into_iter().map(|line| line.cut(self.width)).collect()
    }

    fn when(&self, least: Verbosity, line: impl FnOnce() -> StyledLine) -> Vec<StyledLine> {
        if self.verbosity >= least { vec![line()] } else { Vec::new() }
    }

    fn begun(&mut self, begun: &RoundStart) -> Vec<StyledLine> {
        self.plan.clear();
        self.when(Verbosity::Thoughts, || note("request", &format!("“{}”", one_line(&begun.request))))
    }

    fn moment(&mut self, moment: Moment) -> Vec<StyledLine> {
        match moment {
            Moment::Opened => self.opened(),
            Moment::Assigned(step) => self.when(Verbosity::Normal, || {
                let name = self.story.application_of(&step.agent).map(str::to_owned);
                let name = name.unwrap_or_else(|| step.agent.to_string());
                note("assign", &format!("“{}” → {name}", one_line(&step.subtask)))
            }),
            Moment::SubtaskEnded { subtask, end } => self.when(Verbosity::Normal, || match end {
                Some(SubtaskEnd { finished: true, words }) => note("finish", &one_line(&words)),
                Some(SubtaskEnd { finished: false, words }) => bad("fail", &one_line(&words)),
                None => bad("ended", &format!("“{}” was not finished", one_line(&subtask))),
            }),
            Moment::Looked => self.when(Verbosity::Everything, || {
                note("sees", &self.story.observation().map(seen_words).unwrap_or_default())
            }),
            Moment::Replied { step, reply, said } => self.replied(&step, &reply, said),
            // The outcome repeats this in full.
            Moment::ModelFailed(failure) => {
                self.when(Verbosity::Thoughts, || bad("model", &one_line(&failure.to_string())))
            }
            Moment::Acted { step, command, target, result } => {
                // The line of the assignment names the window.
                let selected = command.tool == SELECT_WINDOW && result.is_success();
                let least = if selected { Verbosity::Everything } else { Verbosity::Normal };
                self.when(least, || self.call_line(&step, &command, target.as_ref(), &result))
            }
            // The end of the sub-task says the same.
            Moment::Delegated(_) => Vec::new(),
            Moment::Asked(_) if self.prompts_elsewhere => Vec::new(),
            Moment::Asked(UserInquiry::Questions(questions)) => questions
                .iter()
                .flat_map(|question| {
                    self.when(Verbosity::Normal, || note("question", &one_line(&question.text)))
                })
                .collect(),
            Moment::Asked(UserInquiry::Approval(approval)) => approval
                .commands
                .iter()
                .flat_map(|command| self.when(Verbosity::Normal, || note("approve?", &whole_action(command))))
                .collect(),
            Moment::UserReply(reply) => self.user_replied(&reply),
            Moment::Noted(noted) => self.noted(&noted),
        }
    }

    fn opened(&self) -> Vec<StyledLine> {
        let Some(header) = self.story.header() else { return Vec::new() };
        let mut lines = self.when(Verbosity::Thoughts, || {
            note("session", &format!("{} · {} · {}", header.session, header.model, header.desktop))
        });
        for missing in &header.config.missing_tools {
            lines.extend(self.when(Verbosity::Normal, || bad("missing", &one_line(missing))));
        }
        lines
    }

    fn user_replied(&self, reply: &UserReply) -> Vec<StyledLine> {
        self.when(Verbosity::Normal, || match reply {
            UserReply::Answers(answers) => note("answer", &one_line(&answers.join(" · "))),
            UserReply::Nobody(_) => note("answer", "none; the agent decides"),
            UserReply::Approved(ApprovalScope::Once) => note("approved", ""),
            UserReply::Approved(ApprovalScope::Session) => note("approved", "for this session"),
            UserReply::Rejected(instruction) => bad("rejected", instruction.as_deref().unwrap_or_default()),
        })
        .into_iter()
        // The user typed them.
        .filter(|_| !(self.prompts_elsewhere && matches!(reply, UserReply::Answers(_))))
        .collect()
    }

    fn noted(&self, noted: &SessionNote) -> Vec<StyledLine> {
        self.when(Verbosity::Normal, || match noted {
            SessionNote::Changed { model, desktop, program: _ } => {
                note("changed", &format!("continues with {model}, on {desktop}"))
            }
            SessionNote::LookFailed(failure) => bad("look", &failure.to_string()),
            SessionNote::NotRetrieved(problems) => bad("help", &problems.join("; ")),
            SessionNote::Stopped(_) => note("stop", "the request is being stopped"),
            SessionNote::Suspended(reason) => bad("suspended", &reason.to_string()),
            SessionNote::Told(text) => note("said", text),
            SessionNote::TakenOver => note("taken over", "by you; h and Enter hands back"),
            SessionNote::HandedBack { acts, unwatched, words } => {
                note("handed back", &hands_words(acts, unwatched, words.as_deref()))
            }
            SessionNote::Resumed { desktop_kept: true } => note("resumed", "on the same desktop"),
            SessionNote::Resumed { desktop_kept: false } => note("resumed", "on a new desktop"),
        })
    }

    fn replied(
        &mut self,
        step: &StepRef,
        reply: &ModelReply,
        said: Result<AgentReply, ReplyError>,
    ) -> Vec<StyledLine> {
        let in_vain = |failure: &ModelFailure| {
            let name = failure.by.as_deref().unwrap_or_default();
            bad(
                "model",
                &format!("{name} did not answer, so another one did: {}", one_line(&failure.message)),
            )
        };
        let mut lines: Vec<StyledLine> = reply.failed.iter().map(in_vain).collect();
        lines.extend(self.when(Verbosity::Everything, || {
            let tokens = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), number);
            let (read, written) = (tokens(reply.usage.prompt_tokens), tokens(reply.usage.completion_tokens));
            note("model", &format!("{} · {read} + {written} tokens · {} ms", reply.model, reply.elapsed_ms))
        }));
        if !reply.reasoning.trim().is_empty() {
            let reasoning = one_line(&clip(&reply.reasoning, REASONING_CHARS));
            lines.extend(self.when(Verbosity::Everything, || note("reasoning", &reasoning)));
        }
        lines.extend(match said {
            Ok(AgentReply::Evaluation(reply)) => self.evaluated(step, &reply),
            Ok(AgentReply::Heal(reply)) => self.when(Verbosity::Normal, || {
                self.agent(step)
                    .with(OutputTone::Plain, format!("heals the step: {}", one_line(&reply.thought)))
            }),
            Ok(AgentReply::Host(reply)) => self.host_decided(step, &reply),
            Ok(AgentReply::App(reply)) => self.app_decided(step, &reply),
            Err(error) => self.when(Verbosity::Normal, || bad("reply", &format!("not usable: {error}"))),
        });
        lines
    }

    fn evaluated(&self, step: &StepRef, reply: &EvaluationReply) -> Vec<StyledLine> {
        self.when(Verbosity::Normal, || {
            let words = format!("{}: {}", reply.complete, one_line(&reply.reason));
            self.agent(step).with(OutputTone::Plain, words)
        })
    }

    fn host_decided(&mut self, step: &StepRef, reply: &HostReply) -> Vec<StyledLine> {
        let mut lines = Vec::new();
        let goes_on = matches!(reply.status, HostStatus::Continue | HostStatus::Assign);
        let mut plan: Vec<String> = reply.subtask.iter().chain(&reply.plan).cloned().collect();
        plan.dedup();
        if goes_on && !plan.is_empty() && plan != self.plan {
            let known = self.plan.len() > plan.len() && self.plan.ends_with(&plan);
            if !known {
                let windows = count(self.story.windows() as u64, "window");
                let words: Vec<String> = plan.iter().map(|step| clip(&one_line(step), 60)).collect();
                lines.extend(self.when(Verbosity::Normal, || {
                    self.agent(step)
                        .with(OutputTone::Plain, format!("{windows} · plan: {}", words.join(" · ")))
                }));
            }
            self.plan = plan;
        }
        lines.extend(self.thought(&reply.thought));
        // With FINISH it becomes the result if there is no other.
        if reply.status != HostStatus::Finish {
            lines.extend(self.comment(&reply.comment));
        }
        lines
    }

    fn app_decided(&self, step: &StepRef, reply: &AppReply) -> Vec<StyledLine> {
        let mut lines = self.thought(&reply.thought);
        if reply.status == AppStatus::Screenshot {
            lines.extend(
                self.when(Verbosity::Normal, || self.agent(step).with(OutputTone::Plain, "look again")),
            );
        }
        lines.extend(self.comment(&reply.comment));
        lines
    }

    fn thought(&self, thought: &str) -> Vec<StyledLine> {
        self.when(Verbosity::Thoughts, || note("thought", &one_line(thought)))
    }

    /// A comment of an agent to the user.
    fn comment(&self, comment: &str) -> Vec<StyledLine> {
        if comment.trim().is_empty() {
            return Vec::new();
        }
        self.when(Verbosity::Normal, || note("says", &one_line(comment)))
    }

    fn call_line(
        &self,
        step: &StepRef,
        command: &ToolCommand,
        target: Option<&CommandTarget>,
        result: &CallResult,
    ) -> StyledLine {
        // A table without an id is named in the result.
        let target = target
            .filter(|_| command.arguments.contains_key("id"))
            .map(|target| if target.is_window { format!("“{}”", target.name) } else { target.label.clone() });
        let what = command_words(command, target.as_deref());
        let time = format!("{} ms", number(result.elapsed_ms));
        let taken = AGENT_WIDTH + WHAT_WIDTH + EFFECT_WIDTH + TIME_WIDTH + 3;
        let detail = column(&result_words(result), self.width.saturating_sub(taken).max(16));
        self.agent(step)
            .with(OutputTone::Plain, format!("{} ", column(&what, WHAT_WIDTH)))
            .with(effect_tone(result), column(effect_word(result), EFFECT_WIDTH))
            .with(OutputTone::Plain, format!(" {detail} "))
            .with(OutputTone::Faint, format!("{time:>TIME_WIDTH$}"))
    }

    fn agent(&self, step: &StepRef) -> StyledLine {
        StyledLine::of(OutputTone::Strong, column(&self.agent_name(step), AGENT_WIDTH - 1))
            .with(OutputTone::Plain, " ")
    }

    fn agent_name(&self, step: &StepRef) -> String {
        match (self.story.application_of(&step.agent), &step.agent) {
            (Some(name), _) => short_name(name).to_owned(),
            (None, AgentRef::AppAgent { application, .. }) => application.clone(),
            (
                None,
                AgentRef::HostAgent | AgentRef::Agent { .. } | AgentRef::EvaluationAgent | AgentRef::Unnamed,
            ) => step.agent.to_string(),
        }
    }

    fn finished(&self, outcome: &Outcome) -> Vec<StyledLine> {
        let mut lines = Vec::new();
        if !outcome.reason.is_empty() {
            match outcome.kind {
                OutcomeKind::Finished if self.verbosity == Verbosity::Quiet => {}
                OutcomeKind::Finished => lines.extend(self.wrapped(note, "result", &outcome.reason)),
                OutcomeKind::Failed
                | OutcomeKind::Rejected
                | OutcomeKind::BudgetExhausted
                | OutcomeKind::Cancelled
                | OutcomeKind::Error => lines.extend(self.wrapped(bad, "because", &outcome.reason)),
            }
        }
        if !outcome.unsaved.is_empty() {
            lines.push(bad("unsaved", &unsaved_words(&outcome.unsaved.join(", "))));
        }
        if let Some(evaluation) = outcome.evaluation.as_ref().filter(|_| self.verbosity != Verbosity::Quiet) {
            let say = if evaluation.complete == Judgement::Yes { note } else { bad };
            lines.extend(self.wrapped(say, "judged", &evaluation_words(evaluation)));
        }
        lines.push(self.totals(outcome_word(outcome.kind), outcome.kind));
        lines.extend(self.uses());
        lines
    }

    /// The last lines of a session that ended before its round was over: why, and how to go on.
    pub(crate) fn suspended(&self, outcome: &Outcome) -> Vec<StyledLine> {
        let session = self.session();
        let mut lines = self.wrapped(bad, "because", &outcome.reason);
        lines.push(note("go on", &format!("deskhand resume {session}")));
        lines.push(self.totals("Suspended", outcome.kind));
        lines.extend(self.uses());
        lines
    }

    /// Renders the final state of the desktop, where that is worth a line. Unsaved changes that the outcome names
    /// are not repeated.
    pub(crate) fn left_behind(&self, desktop: &DesktopEnd, outcome: &Outcome) -> Vec<StyledLine> {
        let Some(kept) = desktop.kept else { return Vec::new() };
        let session = self.session();
        let new = desktop.unsaved_besides(outcome);
        let mut lines: Vec<StyledLine> = new.map(|what| bad("unsaved", &unsaved_words(what))).collect();
        if self.verbosity > Verbosity::Quiet || !desktop.unsaved.is_empty() {
            let kept = count(kept.as_secs().div_ceil(60), "minute");
            lines.push(note("kept", &format!("the desktop stays for {kept}")));
            lines.push(note("", &format!("deskhand desktop attach {session}   shows it")));
            lines.push(note("", &format!("deskhand resume {session} \"…\"       goes on there")));
            lines.push(note("", &format!("deskhand desktop end {session}      ends it")));
        }
        lines
    }

    /// A text on as many lines as it needs, the first one after a word.
    fn wrapped(&self, say: fn(&str, &str) -> StyledLine, word: &str, text: &str) -> Vec<StyledLine> {
        let words = std::iter::once(word).chain(std::iter::repeat(""));
        let text = wrap(text, self.width.saturating_sub(AGENT_WIDTH));
        words.zip(&text).map(|(word, text)| say(word, text)).collect()
    }

    fn session(&self) -> &str {
        short_session(self.story.header().map_or("", |header| header.session.0.as_str()))
    }

    /// Renders the usage of each model by each agent, if several models share the work.
    fn uses(&self) -> Vec<StyledLine> {
        if self.story.header().is_none_or(|header| header.config.roles.is_empty()) {
            return Vec::new();
        }
        let summary = self.story.summary();
        let line = |text: String| {
            StyledLine::of(OutputTone::Faint, column("", AGENT_WIDTH)).with(OutputTone::Faint, text)
        };
        uses_of_models(summary).into_iter().map(line).collect()
    }

    fn totals(&self, word: &str, kind: OutcomeKind) -> StyledLine {
        let round = self.story.summary().rounds.last().cloned().unwrap_or_default();
        let tally = round.tally;
        let tokens = tally.prompt_tokens.saturating_add(tally.completion_tokens);
        let tone = if kind == OutcomeKind::Finished { OutputTone::Good } else { OutputTone::Bad };
        StyledLine::of(tone, column(word, AGENT_WIDTH)).with(
            OutputTone::Plain,
            format!(
                "{} (framework {}) · {} · {} · deskhand show {} · {}",
                seconds(round.elapsed_ms),
                seconds(round.phases.framework()),
                count(u64::from(tally.model_calls), "model call"),
                count(tokens, "token") + &cached_words(&tally),
                self.session(),
                cost_words(tally.cost),
            ),
        )
    }
}

fn unsaved_words(what: &str) -> String {
    format!("{what} has unsaved changes")
}

/// A count of what was observed.
fn seen_words(observation: &Observation) -> String {
    match observation {
        Observation::Desktop(view) => count(view.windows.len() as u64, "window"),
        Observation::Window(view) => count(view.elements().count() as u64, "element"),
        Observation::Agent(view) if view.text.is_empty() => "nothing".to_owned(),
        Observation::Agent(view) => one_line(&view.text),
    }
}

/// The last part of a session id: short and practically unique, unlike its start, which is the time.
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

pub(super) fn note(word: &str, text: &str) -> StyledLine {
    StyledLine::of(OutputTone::Faint, format!("  {}", column(word, AGENT_WIDTH - 2)))
        .with(OutputTone::Plain, text)
}

pub(super) fn bad(word: &str, text: &str) -> StyledLine {
    StyledLine::of(OutputTone::Bad, format!("  {}", column(word, AGENT_WIDTH - 2)))
        .with(OutputTone::Plain, text)
}
