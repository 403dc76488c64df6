//! The HostAgent's steps: decompose, select, assign, judge.

use std::{borrow::Cow, collections::VecDeque};

use serde_json::{Map, Value};

use super::{
    agent_state::Owner,
    commands::unknown_tool,
    effect::{AskedBy, StepRef},
    event::NoAnswer,
    gate::Proposal,
    hands::{UNHEARD, add_line},
    phases::{ActedStep, ObservedStep, OneTimePromptParts, RecordedStep},
    plan::PlanProgress,
    recording::{StepRecorder, StepStatement},
    stall::{Did, ObservationFingerprint, Stall, is_stalled, repetition_notice, stalled},
    state::{Session, SessionStage, StepPhase},
    step::{NotApproved, StepActor, StepDecider, StepPrompt, Steps},
};
use crate::{
    agent::AgentRef,
    command::{CallResult, ToolCommand, ToolSpec},
    intent::Does,
    known_tools::{LAUNCH, RUN_WORKFLOW, SELECT_WINDOW},
    model::ReplyKind,
    observation::{Observation, ObservationTarget, ObserveFailure},
    outcome::OutcomeKind,
    prompt::{HostInput, PromptError, host_user_text, system_message},
    reply::{
        HostReply, ProposedAction, ReplyError, host_reply_schema, parse_host_reply, parse_small_host_reply,
        parse_small_values_reply,
    },
    retrieval::{Hit, Lookup},
    small::{SmallModelDecision, SmallModelOffer, small_host_schema, small_values_schema},
    states::{HostStatus, HostTrigger},
};
use deskhand_ui::{WindowInfo, action::Verdict, text::one_line};

/// The HostAgent, as an agent kind ([`super::step::AgentKind`]).
#[derive(Debug, Clone, Copy)]
pub(super) struct HostAgentKind;

impl Steps for HostAgentKind {
    type Reply = HostReply;

    fn stage(self, phase: StepPhase<HostReply>) -> SessionStage {
        SessionStage::Host(phase)
    }

    fn step(self, session: &Session, number: u32) -> Option<StepRef> {
        Some(session.step_ref(number, AgentRef::HostAgent, String::new(), session.host.memory.steps()))
    }

    fn exhausted(self, _: &mut Session) -> bool {
        false
    }

    fn look(self, session: &Session) -> ObservationTarget {
        ObservationTarget::Desktop { picture: session.config.pictures && !session.performs_without_model() }
    }

    fn lost(self, session: &mut Session, reason: &str) {
        session.break_off(format!("failed to observe the desktop: {reason}"));
    }

    fn observation_failed(self, session: &mut Session, failure: &ObserveFailure) {
        session.break_off(format!("failed to observe the desktop: {failure}"));
    }

    fn broke(self, session: &mut Session, reason: String) {
        session.break_off(reason);
    }
}

impl StepDecider for HostAgentKind {
    fn lookup(self, session: &Session) -> Option<Lookup> {
        // A plan is followed without a question to the HostAgent, as long as it can be.
        let is_planned = session.round.following.is_some() || session.round.performing.is_some();
        if session.host.hits.is_some() || is_planned {
            return None;
        }
        session.config.retrieval.lookup(&session.round.request, &AgentRef::HostAgent, None)
    }

    fn found(self, session: &mut Session, hits: Vec<Hit>) {
        session.host.hits = Some(hits);
    }

    fn decide_without_model(self, session: &mut Session, observation: &Observation) -> Option<HostReply> {
        if let Observation::Desktop(view) = observation {
            session.targets.set_windows(view.windows.clone());
            session.targets.set_dialogs(view.dialogs.clone());
        }
        let windows = session.targets.windows();
        session.apps.retain(|app| match &app.owner {
            Owner::Window(window) => windows.iter().any(|known| known.id == window.id),
            Owner::Agent(..) => true,
        });
        session.workflow_decides().or_else(|| session.plan_decides())
    }

    fn offer(self, session: &Session, _: &Observation) -> Option<SmallModelOffer> {
        session.host_offer()
    }

    fn asking(
        self,
        session: &mut Session,
        observation: &Observation,
        offer: Option<&SmallModelOffer>,
    ) -> Result<StepPrompt, PromptError> {
        let plan = session.round.following.as_ref().map(PlanProgress::notice).unwrap_or_default();
        let notice = [session.host.notice.as_str(), &plan].join("\n").trim().to_owned();
        session.round.unverified = false;
        session.round.unheard = false;
        if let Some(offer) = offer {
            return match offer.workflow() {
                Some(workflow) => session.small_values_asking(workflow),
                None => session.small_host_asking(&notice, offer),
            };
        }
        let marks = session.marks(&format!("HostAgent {}", session.steps));
        let prompts = &session.prompts;
        let tools = &session.config.host_tools;
        let system = system_message("host_system", &prompts.host_system, tools, &prompts.host_examples)?;
        let pictures = session.pictures_for(&AgentRef::HostAgent, None, session.host.pictures_to);
        let kept = pictures.iter().map(|saved| saved.picture.clone()).collect();
        let input = HostInput {
            request: &session.round.request,
            targets: &session.targets,
            subtasks: &session.round.subtasks,
            blackboard: &session.blackboard,
            memory: &session.host.memory,
            wording: session.wording,
            notice: &notice,
            hits: session.host.hits.as_deref().unwrap_or_default(),
            hits_tokens: session.config.retrieval.tokens_max,
            pictures: &pictures,
            applications: session.config.applications.as_deref(),
            marks: &marks,
        };
        let (picture, user) = (observation.picture().cloned(), host_user_text(&session.prompts, &input)?);
        session.host.pictures_to = session.steps;
        Ok(StepPrompt { system, examples: Vec::new(), user, kept, picture })
    }

    fn once(self, session: &Session) -> OneTimePromptParts {
        OneTimePromptParts { notice: session.host.notice.clone(), pictures_to: session.host.pictures_to }
    }

    fn not_asked(self, session: &mut Session, once: OneTimePromptParts) {
        session.host.notice = once.notice;
        session.host.pictures_to = once.pictures_to;
    }

    fn schema(self, _: &Session, offer: Option<&SmallModelOffer>) -> (ReplyKind, Value) {
        match offer {
            Some(offer) if let Some(workflow) = offer.workflow() => {
                (ReplyKind::SmallValues, small_values_schema(workflow))
            }
            Some(offer) => (ReplyKind::SmallHost, small_host_schema(offer)),
            None => (ReplyKind::HostAgent, host_reply_schema()),
        }
    }

    fn parse(
        self,
        session: &Session,
        observed: &ObservedStep,
        text: &str,
    ) -> Result<SmallModelDecision<HostReply>, ReplyError> {
        let Some(offer) = &observed.offer else {
            return parse_host_reply(text).map(SmallModelDecision::Finally);
        };
        match offer.workflow() {
            Some(workflow) => {
                parse_small_values_reply(text)?.decided(workflow).map(SmallModelDecision::Finally)
            }
            None => parse_small_host_reply(text)?.decided(offer, &session.round.request),
        }
    }

    fn questions_closed(self, session: &mut Session, goes_on: bool) {
        let trigger = if goes_on { HostTrigger::Answered } else { HostTrigger::Unanswered };
        if session.host.moves(trigger) == HostStatus::Fail {
            session.finish(OutcomeKind::Failed, "a required question was not answered");
        } else {
            session.begin_step(self);
        }
    }
}

impl StepActor for HostAgentKind {
    fn tools(self, session: &Session) -> Cow<'_, [ToolSpec]> {
        Cow::Borrowed(&session.config.host_tools)
    }

    /// The commands of a reply: its action, then the selection of its target if that is a window, or the delegation to it.
    fn proposal(self, session: &Session, reply: &HostReply) -> Proposal {
        let mut commands = session.host_commands(reply);
        commands.extend(session.delegation_to_judge(reply));
        Proposal { commands, confirm: reply.status == HostStatus::Confirm, reason: reply.thought.clone() }
    }

    fn reviewable(self, session: &Session, reply: &HostReply) -> Vec<ToolCommand> {
        let mut commands = session.host_commands(reply);
        commands.extend(session.delegation(reply));
        commands
    }

    fn refusal(self, session: &Session, tools: &[ToolSpec], command: &ToolCommand) -> Option<CallResult> {
        if command.intent.does == Does::Delegate {
            return None;
        }
        if let Some(refusal) = unknown_tool(command, tools).or_else(|| session.unfit_workflow(command)) {
            return Some(refusal);
        }
        if command.tool != SELECT_WINDOW {
            return None;
        }
        let text = |name: &str| command.arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let id = text("id");
        if let Some(window) = id.parse().ok().and_then(|id| session.targets.window(id)) {
            return other_target(window, text("name"));
        }
        let targets = session.targets.targets();
        let lines: Vec<String> =
            targets.iter().map(|target| format!("{} ({})", target.id, target.name)).collect();
        let text = format!("`{id}` is not a target; the targets are {}", lines.join(", "));
        Some(CallResult::failure(None, text))
    }

    fn progress(
        self,
        session: &Session,
        _: &Observation,
        reply: &HostReply,
    ) -> (ObservationFingerprint, Did) {
        let windows = session.targets.windows().iter().map(|window| (window.into(), window.active));
        let seen = ObservationFingerprint::Desktop {
            windows: windows.collect(),
            failures: session.round.failures_in_row,
        };
        (seen, Did { commands: session.host_commands(reply), subtask: reply.subtask.clone() })
    }

    fn stall(self, session: &Session) -> Option<&Stall> {
        Some(&session.host.stall)
    }

    fn waits(self, session: &mut Session, asked_by: &AskedBy) {
        session.host.moves(match asked_by {
            AskedBy::Model => HostTrigger::Said(HostStatus::Confirm),
            AskedBy::Policy { .. } => HostTrigger::PolicyAsks,
        });
    }

    fn withdraws(self, session: &mut Session) {
        session.host.moves(HostTrigger::Instructed);
        session.host.stall = Stall::default();
    }

    fn notified(self, session: &mut Session, notice: &str) {
        add_line(&mut session.host.notice, notice);
    }

    fn acted(self, session: &mut Session, acted: ActedStep<HostReply>) {
        session.host_acted(acted);
    }

    fn not_approved(self, session: &mut Session, acted: ActedStep<HostReply>, what: &str, why: NotApproved) {
        let said = StepStatement::by_host(&acted.replied.reply, "REJECTED".to_owned());
        session.host_record(said, acted);
        match session.note_not_approved(what, why) {
            Ok(instruction) => {
                session.instructed_instead(&instruction);
                session.host.moves(HostTrigger::Instructed);
                session.begin_step(self);
            }
            Err(reason) => {
                session.host.moves(HostTrigger::Rejected);
                session.finish(OutcomeKind::Rejected, reason);
            }
        }
    }
}

/// The refusal of a window that is not called as the model says.
fn other_target(window: &WindowInfo, name: &str) -> Option<CallResult> {
    if window.may_be_called(name) {
        return None;
    }
    let label = window.label();
    let text = format!("{label} is not “{}”; give the id of the window that you mean", one_line(name));
    Some(CallResult::failure(Some(Verdict::Refused), text))
}

impl From<&ProposedAction> for ToolCommand {
    fn from(action: &ProposedAction) -> Self {
        let (tool, arguments) = (action.function.clone(), action.arguments.clone());
        Self { tool, arguments, carries: action.carries.clone(), ..Self::default() }
    }
}

/// Returns `true` if a step hands a sub-task to a delegate agent, as the gate released it.
fn delegates(recorded: &RecordedStep<HostReply>) -> bool {
    recorded.actions.iter().any(|action| action.command.intent.does == Does::Delegate)
}

impl NotApproved {
    /// The question and the instruction for the blackboard; without an instruction, the reason to end.
    fn instruction(self, what: &str) -> Result<(String, String), String> {
        match self {
            Self::Rejected(Some(instruction)) | Self::Refused(instruction) => {
                Ok((format!("May I run {what}?"), format!("No. {instruction}")))
            }
            Self::Rejected(None) => Err(format!("{what} was not approved")),
            Self::Unanswered(NoAnswer::NoChannel) => {
                Err(format!("{what} was not approved: there is nobody to ask"))
            }
            Self::Unanswered(NoAnswer::TimedOut) => {
                Err(format!("{what} was not approved: the request timed out"))
            }
        }
    }
}

impl Session {
    /// Notes what the agents learn of an action that was not approved; returns the instruction, or the reason to end.
    pub(super) fn note_not_approved(&mut self, what: &str, why: NotApproved) -> Result<String, String> {
        let is_said = matches!(why, NotApproved::Rejected(_));
        let (question, instruction) = why.instruction(what)?;
        self.blackboard.add_answer(&question, &instruction);
        if is_said {
            self.said.add(&instruction);
        }
        Ok(instruction)
    }
}

/// Why a round fails whose plan was left before its end.
const PLAN_LEFT: &str = "the HostAgent replied FINISH before a step of the plan was done";

impl Session {
    fn host_commands(&self, reply: &HostReply) -> Vec<ToolCommand> {
        if matches!(reply.status, HostStatus::Pending | HostStatus::Fail | HostStatus::Error) {
            return Vec::new();
        }
        let mut commands: Vec<ToolCommand> = Vec::new();
        let mut launches = false;
        if let Some(command) = self.workflow_command(reply) {
            let other = reply.action.as_ref().filter(|action| action.function != RUN_WORKFLOW);
            return other.map(ToolCommand::from).into_iter().chain([command]).collect();
        }
        if let Some(action) = &reply.action {
            launches = action.function == LAUNCH;
            commands.push(ToolCommand::from(action));
        }
        let selects = matches!(reply.status, HostStatus::Assign | HostStatus::Continue | HostStatus::Confirm);
        let target = reply.target.as_ref().filter(|id| {
            // An agent has no window to select.
            selects && !launches && self.agent_target(id).is_none()
        });
        if let Some(target) = target {
            let mut arguments = Map::new();
            arguments.insert("id".to_owned(), Value::String(target.clone()));
            if let Some(name) = &reply.target_name {
                arguments.insert("name".to_owned(), Value::String(name.clone()));
            }
            commands.push(ToolCommand {
                tool: SELECT_WINDOW.to_owned(),
                arguments,
                ..ToolCommand::default()
            });
        }
        commands
    }

    fn host_record(&mut self, said: StepStatement, acted: ActedStep<HostReply>) -> RecordedStep<HostReply> {
        let keeping = StepRecorder {
            memory: &mut self.host.memory,
            blackboard: &mut self.blackboard,
            keys: &self.config.history_keys,
            wording: self.wording,
            round: self.rounds,
        };
        acted.record(said, keeping)
    }

    /// Which windows the user's words led to.
    fn went_to(&mut self, recorded: &RecordedStep<HostReply>, is_trusted: bool) {
        for window in recorded.actions.iter().filter_map(|info| info.result.window.as_ref()) {
            if is_trusted || recorded.approved {
                self.heard.went_to(window);
            }
        }
    }

    fn host_acted(&mut self, acted: ActedStep<HostReply>) {
        let reply = &acted.replied.reply;
        let (seen, did) = HostAgentKind.progress(self, &acted.replied.observation, reply);
        let said = StepStatement::by_host(reply, reply.status.to_string());
        let is_trusted = self.heard.is_empty() && self.foreign.is_empty();
        if is_trusted {
            self.heard.plan(reply);
        }
        let recorded = self.host_record(said, acted);
        self.workflow_recorded(None, &recorded.actions);
        self.went_to(&recorded, is_trusted);
        let failed = recorded.failure().is_some();
        let repeats = self.host.stall.note(seen, did);
        if let Some(run) = self.begun_workflow() {
            self.host_runs(run, &recorded, is_trusted);
            return;
        }
        let too_early = self.round.following.as_ref().is_some_and(PlanProgress::is_waiting)
            && recorded.reply.status == HostStatus::Finish;
        let goes_on = failed || matches!(recorded.reply.status, HostStatus::Continue | HostStatus::Assign);
        let stalls = goes_on && is_stalled(repeats, &self.config.limits);
        self.host.notice = repetition_notice(repeats).unwrap_or_default();
        // The user said something that the decision to end does not know. The end of a workflow is decided by no model.
        let ends = recorded.reply.status.is_terminal() && self.round.performing.is_none();
        let unheard = self.round.unheard && ends;
        if unheard {
            add_line(&mut self.host.notice, UNHEARD);
        }
        let status = self.host.moves(match () {
            () if recorded.approved => HostTrigger::Approved,
            () if stalls => HostTrigger::Stalled,
            () if failed => HostTrigger::ActionFailed,
            () if unheard => HostTrigger::ActionFailed,
            () if too_early => HostTrigger::PlanFailed,
            () => HostTrigger::Said(recorded.reply.status),
        });
        match status {
            // A person approved exactly this delegation, or this window for a workflow, so it is not decided on again.
            HostStatus::Continue if !failed && self.assigns_approved(&recorded) => {
                self.host.moves(HostTrigger::Said(HostStatus::Assign));
                self.host_assigns(recorded);
            }
            HostStatus::Continue => self.begin_step(HostAgentKind),
            HostStatus::Assign => self.host_assigns(recorded),
            HostStatus::Finish => {
                let reply = recorded.reply;
                let result = reply.result.filter(|text| !text.is_empty()).unwrap_or(reply.comment);
                self.finish(OutcomeKind::Finished, result);
            }
            HostStatus::Fail if stalls => self.finish(OutcomeKind::Failed, stalled(repeats)),
            HostStatus::Fail if too_early => self.finish(OutcomeKind::Failed, PLAN_LEFT),
            HostStatus::Fail => {
                let reply = recorded.reply;
                self.finish(OutcomeKind::Failed, reply.result.unwrap_or(reply.thought));
            }
            HostStatus::Pending => self.question(HostAgentKind, recorded.reply.questions),
            HostStatus::Confirm => {
                // No approval was needed: the guard is off, or an earlier grant covers it.
                self.host.moves(HostTrigger::Approved);
                self.begin_step(HostAgentKind);
            }
            HostStatus::Error => {
                self.break_off("unexpected state of the HostAgent after a recorded step");
            }
        }
    }

    /// Returns `true` if a person approved a step that hands on the work: to a delegate agent, or to the window in which the workflow of the round
    /// goes on, which would decide the same again.
    fn assigns_approved(&self, recorded: &RecordedStep<HostReply>) -> bool {
        let places_workflow = self.round.performing.is_some() && recorded.reply.status == HostStatus::Assign;
        recorded.approved && (delegates(recorded) || places_workflow)
    }

    /// Assigns the sub-task to the window that the step selected or opened.
    fn host_assigns(&mut self, recorded: RecordedStep<HostReply>) {
        let window: Option<WindowInfo> =
            recorded.actions.iter().rev().find_map(|info| info.result.window.clone());
        let reply = recorded.reply;
        let agent = reply.target.as_deref().and_then(|id| self.agent_target(id));
        if let Some(window) = &window {
            self.targets.add_window(window.clone());
        }
        let picked = window.is_some() || agent.is_some();
        if picked && self.plan_begins(window.clone(), agent.as_ref().map(|agent| agent.id)) {
            return;
        }
        self.round.next = reply.next.map(VecDeque::from);
        if let Some(agent) = agent {
            self.assign_to_agent(agent, reply.subtask.unwrap_or_default(), reply.message);
            return;
        }
        match window {
            Some(window) => {
                let id = window.id;
                self.assign(Owner::Window(window), reply.subtask.unwrap_or_default(), reply.message);
                self.returned_to(id);
            }
            None => {
                self.host.moves(HostTrigger::ActionFailed);
                self.begin_step(HostAgentKind);
            }
        }
    }
}
