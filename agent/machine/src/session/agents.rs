//! Differences between agents that work on sub-tasks: observation, prompt, statuses and tools.
//!
//! An AppAgent is the built-in kind, with the prompts and tools of the session; an agent of another kind
//! defines its own. A delegate agent takes no steps here: it receives the sub-task and reports.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    agent_state::{AppAgent, Delegation, Owner},
    effect::Effect,
    event::SessionEvent,
    round::{SubtaskRecord, SubtaskStatus},
    state::{Session, SessionStage},
    verify::Doubt,
    words::AtHand,
};
use crate::{
    agent::{AgentDefinition, AgentHome, AgentRef, AgentReport, AgentSteps, SubtaskWorker},
    blackboard::SavedPicture,
    command::{ToolCommand, ToolSpec},
    intent::{CommandAim, Does, Intent},
    known_tools::{DELEGATE, RECALL, ZOOM},
    model::ReplyKind,
    observation::{DesktopView, Observation, ObservationTarget},
    operator::refine,
    policy::{PolicyDecision, Subject, ValueContext},
    prompt::{
        AgentInput, AppInput, Marks, PromptError, SubtaskInput, WindowPromptView, ZoomedPictures,
        agent_system_text, agent_user_text, app_user_text, context_for, operator_texts, relevant_words,
        system_message,
    },
    reply::{
        AppReply, HostReply, ReplyError, agent_reply_schema, app_reply_schema, operator_reply_schema,
        parse_agent_reply, parse_app_reply, parse_operator_reply,
    },
    secret,
    states::{AppTrigger, HostStatus},
};
use deskhand_ui::PictureRef;

/// The most pictures of others in one question.
const KEPT_PICTURES_MAX: usize = 3;

impl Session {
    /// The definition of an agent of another kind; `None` for AppAgents and delegate agents.
    fn steps_of(&self, worker: SubtaskWorker) -> Option<&AgentSteps> {
        let SubtaskWorker::Agent(id) = worker else { return None };
        match &self.targets.agent(id)?.home {
            AgentHome::Steps(steps) => Some(steps),
            AgentHome::Delegate | AgentHome::Machine => None,
        }
    }

    /// Returns `true` if an agent works in pictures of its window.
    pub(super) fn operates(&self, worker: SubtaskWorker) -> bool {
        let Some(owner @ Owner::Window(window)) = self.app(worker).map(|app| &app.owner) else {
            return false;
        };
        self.config.pictures && self.config.roles.operates(&owner.agent(), Some(&window.app.name))
    }

    pub(super) fn look_of(&self, worker: SubtaskWorker) -> ObservationTarget {
        let picture = self.config.pictures && !self.acts_without_model();
        match worker {
            // Its picture shows the window as it is.
            SubtaskWorker::Window(window) if self.operates(worker) => {
                ObservationTarget::Window { window, picture, marks: Some(Vec::new()), words: Vec::new() }
            }
            SubtaskWorker::Window(window) => {
                let app = self.app(worker);
                let marks = app.and_then(|app| app.marks.clone());
                // Only listed elements are annotated, and these keywords decide what is listed.
                let marks_listed = picture && self.config.view.marks && marks.is_none();
                let words = app.filter(|_| marks_listed).map(AppAgent::words).unwrap_or_default();
                ObservationTarget::Window { window, picture, marks, words }
            }
            SubtaskWorker::Agent(agent) => ObservationTarget::Agent { agent, picture },
        }
    }

    /// The tools of an agent: for an AppAgent those of its application, and none that shows pictures where there are none.
    pub(super) fn tools_of(&self, worker: SubtaskWorker) -> Cow<'_, [ToolSpec]> {
        if let Some(steps) = self.steps_of(worker) {
            return Cow::Borrowed(&steps.tools);
        }
        let all = &self.config.app_tools;
        let Some(Owner::Window(window)) = self.app(worker).map(|app| &app.owner) else {
            return Cow::Borrowed(all);
        };
        let sees = self.config.pictures;
        let has = |tool: &ToolSpec| tool.is_for(&window.app) && (sees || tool.name != ZOOM);
        if all.iter().all(has) {
            return Cow::Borrowed(all);
        }
        Cow::Owned(all.iter().filter(|tool| has(tool)).cloned().collect())
    }

    pub(super) fn reply_schema_of(&self, worker: SubtaskWorker) -> (ReplyKind, Value) {
        match (self.steps_of(worker), self.app(worker)) {
            (Some(steps), Some(app)) => {
                (ReplyKind::Agent, agent_reply_schema(&steps.words_after(app.word.as_deref())))
            }
            (None, Some(_)) if self.operates(worker) => (ReplyKind::Operator, operator_reply_schema()),
            (Some(_) | None, _) => (ReplyKind::AppAgent, app_reply_schema()),
        }
    }

    /// Reads the reply to a question about `seen`.
    pub(super) fn read_reply(
        &self,
        worker: SubtaskWorker,
        seen: &Observation,
        text: &str,
    ) -> Result<AppReply, ReplyError> {
        let before = self.app(worker).and_then(|app| app.word.as_deref());
        match (self.steps_of(worker), seen) {
            (Some(steps), _) => parse_agent_reply(text, steps, before),
            (None, Observation::Window(view)) if self.operates(worker) => {
                let reply = parse_operator_reply(text)?;
                let actions = refine(&reply, view)?;
                Ok(reply.deciding(actions))
            }
            (None, _) => parse_app_reply(text),
        }
    }

    /// Returns the view of an agent's observation at `step`: all of it, or the changes.
    pub(super) fn sight_of(
        &mut self,
        worker: SubtaskWorker,
        observation: &Observation,
        step: u32,
    ) -> WindowPromptView {
        let config = self.config.view.clone();
        let operates = self.operates(worker);
        let Some(app) = self.app_mut(worker) else { return WindowPromptView::default() };
        match observation {
            // Each question shows it the picture: what it sees is nowhere else.
            Observation::Window(view) if operates => WindowPromptView {
                picture: view.picture.clone(),
                notices: view.notices.clone(),
                ..WindowPromptView::default()
            },
            Observation::Window(view) => {
                let words = app.words();
                app.shown.see(view, step, words, &config, app.picture_wanted)
            }
            Observation::Agent(view) => {
                WindowPromptView { picture: view.picture.clone(), ..WindowPromptView::default() }
            }
            Observation::Desktop(_) => WindowPromptView::default(),
        }
    }

    pub(super) fn prompt_of(
        &self,
        worker: SubtaskWorker,
        observation: &Observation,
        (sight, pictures, zoomed): (&WindowPromptView, &[SavedPicture], ZoomedPictures),
    ) -> Result<(String, String), PromptError> {
        let gone = || PromptError { name: "app_user", problem: format!("agent {worker} is gone") };
        let app = self.app(worker).ok_or_else(gone)?;
        let marks = self.marks_of(app);
        match observation {
            Observation::Window(view) if matches!(worker, SubtaskWorker::Window(_)) => {
                let shown = view.surfaces.first().map(|surface| &surface.window.app);
                let application = shown.map_or("", |app| &app.name);
                let secrets = shown.map(|app| secret::listing(&self.secrets(), &app.name, &app.root));
                let secrets = secrets.unwrap_or_default();
                let common = SubtaskInput { pictures, zoomed, ..self.input_of(app, &marks) };
                let input = AppInput { common, application, secrets, sight };
                if self.operates(worker) {
                    return operator_texts(&self.prompts, &input);
                }
                let tools = self.tools_of(worker);
                let prompts = self.prompts.app(shown);
                let system = system_message("app_system", prompts.system, &tools, prompts.examples)?;
                Ok((system, app_user_text(prompts.user, &input)?))
            }
            Observation::Agent(view) => {
                let steps = self.steps_of(worker).ok_or_else(gone)?;
                let common = SubtaskInput { pictures, ..self.input_of(app, &marks) };
                let word = app.word.as_deref();
                let input = AgentInput { common, word, steps, view };
                Ok((agent_system_text(&app.owner.agent().to_string(), steps)?, agent_user_text(&input)?))
            }
            Observation::Window(_) | Observation::Desktop(_) => Err(gone()),
        }
    }

    /// The picture of an observation and its application.
    pub(super) fn picture_of(
        &self,
        worker: SubtaskWorker,
        seen: &Observation,
    ) -> (Option<PictureRef>, String) {
        match seen {
            Observation::Window(view) => {
                let name = view.surfaces.first().map(|surface| surface.window.app.name.clone());
                (view.picture.clone(), name.unwrap_or_default())
            }
            Observation::Agent(view) => {
                let app = self.app(worker);
                (view.picture.clone(), app.map(|app| app.owner.agent().to_string()).unwrap_or_default())
            }
            Observation::Desktop(_) => (None, String::new()),
        }
    }

    /// The pictures that others kept for an agent after a step, the newest ones.
    pub(super) fn pictures_for(
        &self,
        agent: &AgentRef,
        application: Option<&str>,
        after: u32,
    ) -> Vec<SavedPicture> {
        if !self.config.pictures {
            return Vec::new();
        }
        let is_for = |saved: &&SavedPicture| {
            saved.step > after && saved.agent != *agent && saved.audience.is(agent, application)
        };
        let all: Vec<&SavedPicture> = self.blackboard.pictures().filter(is_for).collect();
        all.into_iter().rev().take(KEPT_PICTURES_MAX).rev().cloned().collect()
    }

    /// The pictures that are kept for an agent with a sub-task, and that it was not shown yet.
    pub(super) fn pictures_of(&self, worker: SubtaskWorker) -> Vec<SavedPicture> {
        let Some(app) = self.app(worker).filter(|_| !self.operates(worker)) else { return Vec::new() };
        let application = match &app.owner {
            Owner::Window(window) => Some(window.app.name.as_str()),
            Owner::Agent(..) => None,
        };
        self.pictures_for(&app.owner.agent(), application, app.pictures_to)
    }

    /// Ends a sub-task whose agent has reached its step limit.
    pub(super) fn subtask_steps_exhausted(&mut self, worker: SubtaskWorker) -> bool {
        let Some(limit) = self.steps_of(worker).and_then(|steps| steps.subtask_steps_max) else {
            return false;
        };
        let first = self.app(worker).map_or(0, |app| app.first_step);
        let taken = self.steps.saturating_add(1).saturating_sub(first);
        if taken < limit {
            return false;
        }
        self.app_moves(worker, AppTrigger::Stalled);
        self.app_failed(
            worker,
            SubtaskStatus::Failed,
            &format!("the limit of {limit} steps per sub-task is reached"),
        );
        true
    }

    /// The agent that a target names; `None` if it names a window or nothing.
    pub(super) fn agent_target(&self, id: &str) -> Option<AgentDefinition> {
        self.targets.agent(id.trim().parse().ok()?).cloned()
    }

    /// The command that stands for handing a sub-task to a delegate agent, unless the policy allows that without a question: what
    /// such an agent does is not seen here, so this is the only time that rules can decide on it.
    pub(super) fn delegation_to_judge(&self, reply: &HostReply) -> Option<ToolCommand> {
        let command = self.delegation(reply)?;
        let observation = Observation::Desktop(DesktopView::default());
        let subject = Subject::of(&command, &observation);
        let texts = &AtHand::new(self, &observation);
        let (tools, places) = (self.config.host_tools.as_slice(), &self.config.places);
        let reading =
            ValueContext { tools, before: &[], observation: &observation, places, applications: None, texts };
        let subject = subject.with_values(&command, &reading);
        (self.config.policy.decide(&subject).decision != PolicyDecision::Allow).then_some(command)
    }

    /// The command that stands for handing a sub-task to a delegate agent.
    pub(super) fn delegation(&self, reply: &HostReply) -> Option<ToolCommand> {
        let target = reply.target.as_deref().filter(|_| reply.status == HostStatus::Assign)?;
        let agent = self.agent_target(target).filter(|agent| agent.home.reports())?;
        let subtask = reply.subtask.clone().unwrap_or_default();
        let context = self.delegation_context(&subtask, &reply.message);
        let arguments = [
            ("agent", Value::from(agent.name.clone())),
            ("subtask", Value::from(subtask.clone())),
            ("message", Value::from(reply.message.clone())),
        ];
        // Who approves sees all that is handed over.
        let context = (!context.is_empty()).then(|| ("context", Value::from(context)));
        Some(ToolCommand {
            tool: DELEGATE.to_owned(),
            arguments: arguments
                .into_iter()
                .chain(context)
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            intent: Intent {
                does: Does::Delegate,
                aims: vec![
                    CommandAim::Program { name: agent.name },
                    CommandAim::Files { files: vec![subtask] },
                ],
            },
            ..ToolCommand::default()
        })
    }

    /// Returns the blackboard's entries on a sub-task, for an agent that works on its own.
    fn delegation_context(&self, subtask: &str, message: &[String]) -> Vec<String> {
        let said = std::iter::once(subtask).chain(message.iter().map(String::as_str));
        context_for(&self.blackboard, &self.round.subtasks, &relevant_words(said))
    }

    /// Assigns a sub-task to an agent without a window.
    pub(super) fn assign_to_agent(&mut self, agent: AgentDefinition, subtask: String, message: Vec<String>) {
        match agent.home {
            AgentHome::Steps(_) => self.assign(Owner::Agent(agent.id, agent.name), subtask, message),
            AgentHome::Delegate | AgentHome::Machine => {
                let Some(number) = self.next_step() else { return };
                let worker = AgentRef::Agent { name: agent.name.clone() };
                let earlier = self.round.subtasks.iter().filter(|record| record.agent == worker).count();
                let earlier = u32::try_from(earlier).unwrap_or(u32::MAX);
                let context = self.delegation_context(&subtask, &message);
                let step = self.step_ref(number, worker, subtask.clone(), earlier);
                let delegation = Delegation { agent: agent.id, name: agent.name, subtask: subtask.clone() };
                let request = self.round.request.clone();
                self.want(
                    SessionStage::Delegated(delegation),
                    Some(step),
                    Effect::Delegate { agent: agent.id, subtask, message, request, context },
                );
            }
        }
    }

    pub(super) fn delegation_event(&mut self, delegation: Delegation, event: SessionEvent) {
        let SessionEvent::Delegated { report } = event else {
            self.break_off(format!("unexpected answer of {}: not a report", delegation.name));
            return;
        };
        let AgentReport { status, result } = report;
        let reason = result.clone();
        self.returned.add_report(&delegation.name, result.clone());
        self.heard.add_report(&delegation.name, &result);
        let agent = AgentRef::Agent { name: delegation.name };
        self.archive(SubtaskRecord { subtask: delegation.subtask, agent, status, result });
        match status {
            // The effects of a delegate agent were not observed here.
            SubtaskStatus::Finished => self.subtask_finished(Some(Doubt::NothingDone), reason),
            SubtaskStatus::Failed | SubtaskStatus::Rejected => self.subtask_failed(status, &reason),
            SubtaskStatus::Error => self.break_off(reason),
        }
    }

    /// The marks in the prompts of an agent: the same ones for a whole sub-task, because what its prompts begin with is cached.
    pub(super) fn marks_of(&self, app: &AppAgent) -> Marks {
        self.marks(&format!("{} {}", app.owner.worker(), app.first_step))
    }

    /// The marks in the last prompt of an agent.
    pub(super) fn marks_shown_to(&self, app: &AppAgent) -> Marks {
        let Owner::Window(window) = &app.owner else { return self.marks_of(app) };
        let is_small = self.config.roles.is_small(&app.owner.agent(), Some(&window.app.name));
        if is_small { self.small_marks() } else { self.marks_of(app) }
    }

    /// The marks of prompts on this occasion.
    pub(super) fn marks(&self, occasion: &str) -> Marks {
        Marks::of(&self.config.marks_secret, occasion)
    }

    pub(super) fn input_of<'a>(&'a self, app: &'a AppAgent, marks: &'a Marks) -> SubtaskInput<'a> {
        SubtaskInput {
            agent: app.owner.agent(),
            request: &self.round.request,
            subtask: &app.subtask,
            message: &app.message,
            subtasks: &self.round.subtasks,
            blackboard: &self.blackboard,
            memory: &app.memory,
            wording: self.wording,
            first_step: app.first_step,
            notice: &app.notice,
            hits: app.hits.as_deref().unwrap_or_default(),
            hits_tokens: self.config.retrieval.tokens_max,
            pictures: &[],
            zoomed: ZoomedPictures::default(),
            recalls: self.tools_of(app.owner.worker()).iter().any(|tool| tool.name == RECALL),
            marks,
        }
    }
}

/// The commands of a reply, attributed to its agent.
pub(super) fn commands_of(reply: &AppReply, worker: SubtaskWorker) -> Vec<ToolCommand> {
    let (window, agent) = match worker {
        SubtaskWorker::Window(id) => (Some(id), None),
        SubtaskWorker::Agent(id) => (None, Some(id)),
    };
    reply
        .actions
        .iter()
        .map(|action| ToolCommand {
            tool: action.function.clone(),
            arguments: action.arguments.clone(),
            window,
            agent,
            carries: action.carries.clone(),
            ..ToolCommand::default()
        })
        .collect()
}
