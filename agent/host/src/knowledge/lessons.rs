//! Lessons of a session: each request that was evaluated becomes an experience.
//!
//! Experiences go into the prompts of later agents, so nothing that a document or page may have written becomes
//! advice in them: of the typed text, only what is in the user's request is stored; the plan is the one that was
//! made before anything was read.

use deskhand_knowledge::experience::{
    Experience, ExperienceKind, ExperienceOutcome as Taught, FailedApproach, Uses,
};
use deskhand_machine::{
    agent::AgentRef,
    command::ToolCommand,
    evaluation::Judgement,
    outcome::{Outcome, OutcomeKind},
    reply::{AgentReply, HostReply},
    retrieval::Retriever,
};
use deskhand_runtime::story::{ActStory, Chapter, Moment, RoundStart, StepStory, StoryUpdate};
use deskhand_ui::{action::Verdict, text::excerpt};
use serde_json::Value;

/// The most characters of the name of an element, and of why something failed.
const NAME_MAX: usize = 60;
const WHY_MAX: usize = 160;

/// Collects what a session teaches, from its story.
#[derive(Debug, Default)]
pub(crate) struct Lessons {
    round: Option<ExperienceRound>,
    experiences: Vec<Experience>,
    used: Vec<(String, bool)>,
}

/// A request in progress.
#[derive(Debug, Default)]
struct ExperienceRound {
    number: u32,
    request: String,
    at_ms: u64,
    plan: Option<Vec<String>>,
    applications: Vec<String>,
    steps: Vec<String>,
    worked: Vec<String>,
    failed: Vec<FailedApproach>,
    /// Last failure, until something worked.
    stuck: Option<String>,
    /// The experiences that agents were shown.
    shown: Vec<String>,
}

impl Lessons {
    /// Forgets the requests that are over, such as those of an earlier run of the session.
    pub(crate) fn begin_here(&mut self) {
        self.experiences.clear();
        self.used.clear();
    }

    /// Returns `true` if there is something to keep.
    pub(crate) fn has_taught(&self) -> bool {
        !self.experiences.is_empty() || !self.used.is_empty()
    }

    /// The experiences of a session, and what came of those that were used.
    pub(crate) fn into_taught(self, session: &str) -> (Vec<Experience>, Vec<(String, bool)>) {
        let named = |experience: Experience| Experience {
            id: format!("{session}-{}", experience.id),
            session: session.to_owned(),
            ..experience
        };
        (self.experiences.into_iter().map(named).collect(), self.used)
    }

    /// Takes in what the story says.
    pub(crate) fn read(&mut self, updates: &[StoryUpdate], at_ms: u64) {
        for update in updates {
            match update {
                StoryUpdate::Chapter(Chapter::Begun(begun)) => {
                    self.round = Some(ExperienceRound::of(begun, at_ms));
                }
                StoryUpdate::Chapter(Chapter::Step(step)) => {
                    if let Some(round) = &mut self.round {
                        round.step(step);
                    }
                }
                StoryUpdate::Chapter(Chapter::Ended { outcome, .. }) => {
                    if let Some(round) = self.round.take() {
                        self.end(round, outcome);
                    }
                }
                StoryUpdate::Moment(moment) => self.moment(moment),
                StoryUpdate::Chapter(Chapter::Talk(_) | Chapter::Note(_) | Chapter::Left { .. }) => {}
            }
        }
    }

    fn moment(&mut self, moment: &Moment) {
        if let Moment::Replied { said: Ok(AgentReply::Host(reply)), .. } = moment
            && let Some(round) = &mut self.round
        {
            round.plan.get_or_insert_with(|| planned(reply));
        }
    }

    fn end(&mut self, round: ExperienceRound, outcome: &Outcome) {
        let worked = match (&outcome.evaluation, outcome.kind) {
            (Some(evaluation), _) => match evaluation.complete {
                Judgement::Yes => Some(true),
                Judgement::No => Some(false),
                Judgement::Unsure => None,
            },
            (None, OutcomeKind::Failed) => Some(false),
            (
                None,
                OutcomeKind::Finished
                | OutcomeKind::Rejected
                | OutcomeKind::BudgetExhausted
                | OutcomeKind::Cancelled
                | OutcomeKind::Error,
            ) => None,
        };
        let Some(worked) = worked.filter(|_| outcome.workflow.is_none()) else { return };
        self.used.extend(round.shown.iter().map(|id| (id.clone(), worked)));
        // A request that nobody evaluated is no example.
        if outcome.evaluation.is_some() && !round.request.trim().is_empty() {
            self.experiences.push(round.into_experience(worked, outcome));
        }
    }
}

/// The sub-tasks that a reply names.
fn planned(reply: &HostReply) -> Vec<String> {
    let next = reply.next.iter().flatten().map(|next| next.subtask.clone());
    let after = if reply.next.is_some() { Vec::new() } else { reply.plan.clone() };
    reply.subtask.clone().into_iter().chain(next).chain(after).collect()
}

impl ExperienceRound {
    fn of(begun: &RoundStart, at_ms: u64) -> Self {
        let plan = (!begun.plan.is_empty()).then(|| begun.plan.clone());
        Self { number: begun.round, request: begun.request.clone(), at_ms, plan, ..Self::default() }
    }

    fn step(&mut self, step: &StepStory) {
        for hit in &step.found {
            let is_experience = matches!(hit.retriever, Retriever::Experience | Retriever::Demonstration);
            if is_experience && !self.shown.contains(&hit.origin) {
                self.shown.push(hit.origin.clone());
            }
        }
        if let AgentRef::AppAgent { application, .. } = &step.agent
            && !self.applications.contains(application)
        {
            self.applications.push(application.clone());
        }
        step.acts.iter().for_each(|act| self.act(act));
    }

    fn act(&mut self, act: &ActStory) {
        let Some(result) = &act.result else { return };
        let what = words_of(act, &self.request);
        let failed = !result.is_success() || result.effect == Some(Verdict::NotSeen);
        if failed {
            let why = excerpt(&result.summary(), WHY_MAX);
            if self.failed.iter().all(|lesson| lesson.what != what) {
                self.failed.push(FailedApproach { what: what.clone(), why });
            }
            self.stuck = Some(what);
            return;
        }
        if let Some(stuck) = self.stuck.take().filter(|stuck| *stuck != what) {
            self.worked.push(format!("after {stuck} had failed: {what}"));
        }
        if self.steps.last() != Some(&what) {
            self.steps.push(what);
        }
    }

    /// Its experience, whose id is the number of the request.
    fn into_experience(self, worked: bool, outcome: &Outcome) -> Experience {
        let mut failed = self.failed;
        if !worked {
            let reason = outcome.evaluation.as_ref().map_or(&outcome.reason, |judged| &judged.reason);
            failed
                .insert(0, FailedApproach { what: "the request".to_owned(), why: excerpt(reason, WHY_MAX) });
        }
        Experience {
            version: 0,
            id: self.number.to_string(),
            session: String::new(),
            at_ms: self.at_ms,
            request: self.request,
            applications: self.applications,
            agent: AgentRef::HostAgent.to_string(),
            plan: self.plan.unwrap_or_default(),
            steps: self.steps,
            worked: self.worked,
            failed,
            outcome: if worked { Taught::Worked } else { Taught::Failed },
            kind: ExperienceKind::Session,
            workflow: None,
            uses: Uses::default(),
        }
    }
}

fn words_of(act: &ActStory, request: &str) -> String {
    let target = act.target.as_ref().map(|target| (target.kind.as_str(), target.name.as_str()));
    what_was_done(&act.command, target, request)
}

/// Describes an action: the tool, the kind and name of its target, and the arguments that are in the user's
/// request.
pub(crate) fn what_was_done(command: &ToolCommand, target: Option<(&str, &str)>, request: &str) -> String {
    let request = request.to_lowercase();
    let is_said = |text: &str| {
        let text = text.trim().to_lowercase();
        !text.is_empty() && request.contains(&text)
    };
    let given = command.arguments.iter().filter_map(|(name, value)| match value {
        Value::String(text) if is_said(text) && name != "id" => Some(format!("{name} “{}”", text.trim())),
        Value::Bool(flag) => Some(format!("{name} {flag}")),
        Value::String(_) | Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    });
    let given: Vec<String> = given.collect();
    let target = target.map(|(kind, name)| match excerpt(name, NAME_MAX) {
        name if name.is_empty() => format!(" on a {kind}"),
        name => format!(" on {kind} “{name}”"),
    });
    let given = if given.is_empty() { String::new() } else { format!(" ({})", given.join(", ")) };
    format!("{}{}{given}", command.tool, target.unwrap_or_default())
}
