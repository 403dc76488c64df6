//! The HostAgent's steps: decompose, select, assign, judge.

use std::{borrow::Cow, collections::VecDeque};

use serde_json::Value;

use super::{
    agent_desk::AgentDesk,
    app_prompt::pictures_for,
    delegation::{agent_target, delegation, delegation_to_judge},
    effect::{AskedBy, StepRef},
    event::IncomingEvent,
    gate::Proposal,
    host_commands::{host_commands, host_refusal},
    ledgers::Ledgers,
    nested::{host_runs, instructed_instead, returned_to},
    owner::SubtaskOwner,
    phases::{ActedStep, ObservedStep, RecordedStep, RepliedStep},
    plan::PlanProgress,
    questions::{NotApproved, note_not_approved},
    recording::{StepRecorder, StepStatement},
    small::{host_offer, small_host_asking, small_values_asking},
    sources::SourceLedger,
    stall::{Did, ObservationFingerprint, is_stalled, repetition_notice, stalled},
    step::{self, StepEnd, StepPhase, StepTurn, question},
    step_agent::{ProposalEvent, StepAgent, StepPrompt},
    subtask::{assign, assign_to_agent, plan_begins, plan_decides},
    turn::{MachineTurn, NextMove},
    workflow::{workflow_decides, workflow_recorded},
};
use crate::{
    agent::AgentRef,
    command::{CallResult, ToolCommand, ToolSpec},
    intent::Does,
    model::ReplyKind,
    observation::{Observation, ObservationTarget},
    outcome::OutcomeKind,
    prompt::{HostInput, PromptError, host_user_text, system_message},
    reply::{
        HostReply, ReplyError, host_reply_schema, parse_host_reply, parse_small_host_reply,
        parse_small_values_reply,
    },
    retrieval::Lookup,
    small::{SmallModelDecision, SmallModelOffer, small_host_schema, small_values_schema},
    states::{HostStatus, HostTrigger},
};
use deskhand_ui::WindowInfo;

/// State of the HostAgent's machine after an event.
pub(super) type HostTurn = MachineTurn<StepPhase<HostReply>>;

/// The HostAgent, as an agent with steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct HostAgentKind;

/// Notice to the HostAgent if the user spoke or acted while it ended the round.
const UNHEARD: &str = "The user said or did something while you decided, so the round goes on. It is told with the answers of the user.";

/// Why a round fails whose plan was left before its end.
const PLAN_LEFT: &str = "the HostAgent replied FINISH before a step of the plan was done";

/// Starts the HostAgent's next step.
pub(super) fn begin(ledgers: &mut Ledgers) -> HostTurn {
    let turn = step::begin(HostAgentKind, ledgers);
    follow(ledgers, turn)
}

/// Handles an event for the HostAgent's step.
pub(super) fn apply(ledgers: &mut Ledgers, phase: StepPhase<HostReply>, incoming: IncomingEvent) -> HostTurn {
    let turn = step::apply(HostAgentKind, ledgers, phase, incoming);
    follow(ledgers, turn)
}

/// Goes on with a step that was decided without a model.
pub(super) fn decided(ledgers: &mut Ledgers, replied: RepliedStep<HostReply>) -> HostTurn {
    let turn = step::decided(HostAgentKind, ledgers, replied);
    follow(ledgers, turn)
}

/// Goes on after a step has ended.
pub(super) fn follow(ledgers: &mut Ledgers, turn: StepTurn<HostReply>) -> HostTurn {
    let end = match turn {
        StepTurn::Wait(phase, step, effect) => return MachineTurn::Wait(phase, step, effect),
        StepTurn::End(end) => end,
    };
    match end {
        StepEnd::Exhausted(reason) => NextMove::Exhaust(reason).into(),
        StepEnd::Lost(reason) => {
            NextMove::BreakOff(format!("failed to observe the desktop: {reason}")).into()
        }
        StepEnd::LookFailed(failure) => {
            NextMove::BreakOff(format!("failed to observe the desktop: {failure}")).into()
        }
        StepEnd::Broke(reason) | StepEnd::BrokeOff(reason) => NextMove::BreakOff(reason).into(),
        StepEnd::Closed(goes_on) => {
            let trigger = if goes_on { HostTrigger::Answered } else { HostTrigger::Unanswered };
            if ledgers.agents.host_mut().moves(trigger) == HostStatus::Fail {
                let reason = "a required question was not answered".to_owned();
                return NextMove::Finish(OutcomeKind::Failed, reason).into();
            }
            NextMove::HostStep.into()
        }
        StepEnd::Acted(acted) => host_acted(ledgers, acted),
        StepEnd::NotApproved(acted, what, why) => not_approved(ledgers, acted, &what, why).into(),
    }
}

impl StepAgent for HostAgentKind {
    type Reply = HostReply;

    fn desk(self, ledgers: &Ledgers) -> Option<&AgentDesk> {
        Some(ledgers.agents.host().desk())
    }

    fn desk_mut(self, ledgers: &mut Ledgers) -> Option<&mut AgentDesk> {
        Some(ledgers.agents.host_mut().desk_mut())
    }

    fn step(self, ledgers: &Ledgers, number: u32) -> Option<StepRef> {
        let taken = ledgers.agents.host().desk().memory().steps();
        Some(ledgers.step_ref(number, AgentRef::HostAgent, String::new(), taken))
    }

    fn moves(self, ledgers: &mut Ledgers, event: ProposalEvent<'_>) {
        ledgers.agents.host_mut().moves(match event {
            ProposalEvent::Waits(AskedBy::Model) => HostTrigger::Said(HostStatus::Confirm),
            ProposalEvent::Waits(AskedBy::Policy { .. }) => HostTrigger::PolicyAsks,
            ProposalEvent::Withdrawn => HostTrigger::Instructed,
        });
    }

    fn look(self, ledgers: &Ledgers) -> ObservationTarget {
        ObservationTarget::Desktop { picture: ledgers.config.pictures }
    }

    fn lookup(self, ledgers: &Ledgers) -> Option<Lookup> {
        // A plan is followed without a question to the HostAgent, as long as it can be.
        let is_planned = ledgers.plans.plan().is_some() || ledgers.plans.performing().is_some();
        if ledgers.agents.host().desk().is_looked_up() || is_planned {
            return None;
        }
        ledgers.config.retrieval.lookup(ledgers.round.request(), &AgentRef::HostAgent, None)
    }

    fn decide_without_model(self, ledgers: &mut Ledgers, observation: &Observation) -> Option<HostReply> {
        if let Observation::Desktop(view) = observation {
            ledgers.targets.set_windows(view.windows.clone());
            ledgers.targets.set_dialogs(view.dialogs.clone());
        }
        let windows = ledgers.targets.windows();
        ledgers.agents.keep_windows(|id| windows.iter().any(|known| known.id == id));
        workflow_decides(ledgers).or_else(|| plan_decides(ledgers))
    }

    fn offer(self, ledgers: &Ledgers, _: &Observation) -> Option<SmallModelOffer> {
        host_offer(ledgers)
    }

    fn asking(
        self,
        ledgers: &mut Ledgers,
        observation: &Observation,
        offer: Option<&SmallModelOffer>,
    ) -> Result<StepPrompt, PromptError> {
        let plan = ledgers.plans.plan().map(PlanProgress::notice).unwrap_or_default();
        let notice = [ledgers.agents.host().desk().notice(), &plan].join("\n").trim().to_owned();
        ledgers.round.checked();
        if let Some(offer) = offer {
            return match offer.workflow() {
                Some(workflow) => small_values_asking(ledgers, workflow),
                None => small_host_asking(ledgers, &notice, offer),
            };
        }
        let marks = ledgers.marks(&format!("HostAgent {}", ledgers.budget.steps()));
        let prompts = &ledgers.prompts;
        let tools = &ledgers.config.host_tools;
        let system = system_message("host_system", &prompts.host_system, tools, &prompts.host_examples)?;
        let pictures =
            pictures_for(ledgers, &AgentRef::HostAgent, None, ledgers.agents.host().desk().pictures_to());
        let kept = pictures.iter().map(|saved| saved.picture.clone()).collect();
        let input = HostInput {
            request: ledgers.round.request(),
            targets: &ledgers.targets,
            subtasks: ledgers.round.subtasks(),
            blackboard: &ledgers.blackboard,
            memory: ledgers.agents.host().desk().memory(),
            wording: ledgers.wording,
            notice: &notice,
            hits: ledgers.agents.host().desk().hits(),
            hits_tokens: ledgers.config.retrieval.tokens_max,
            pictures: &pictures,
            applications: ledgers.config.applications.as_deref(),
            marks: &marks,
        };
        let (picture, user) = (observation.picture().cloned(), host_user_text(&ledgers.prompts, &input)?);
        let step = ledgers.budget.steps();
        ledgers.agents.host_mut().desk_mut().shows_pictures_to(step);
        Ok(StepPrompt { system, examples: Vec::new(), user, kept, picture })
    }

    fn schema(self, _: &Ledgers, offer: Option<&SmallModelOffer>) -> (ReplyKind, Value) {
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
        ledgers: &Ledgers,
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
            None => parse_small_host_reply(text)?.decided(offer, ledgers.round.request()),
        }
    }

    fn tools(self, ledgers: &Ledgers) -> Cow<'_, [ToolSpec]> {
        Cow::Borrowed(&ledgers.config.host_tools)
    }

    /// The commands of a reply: its action, then the selection of its target if that is a window, or the delegation to it.
    fn proposal(self, ledgers: &Ledgers, reply: &HostReply) -> Proposal {
        let mut commands = host_commands(ledgers, reply);
        commands.extend(delegation_to_judge(ledgers, reply));
        Proposal { commands, confirm: reply.status == HostStatus::Confirm, reason: reply.thought.clone() }
    }

    fn reviewable(self, ledgers: &Ledgers, reply: &HostReply) -> Vec<ToolCommand> {
        let mut commands = host_commands(ledgers, reply);
        commands.extend(delegation(ledgers, reply));
        commands
    }

    fn refusal(self, ledgers: &Ledgers, tools: &[ToolSpec], command: &ToolCommand) -> Option<CallResult> {
        host_refusal(ledgers, tools, command)
    }

    fn progress(
        self,
        ledgers: &Ledgers,
        _: &Observation,
        reply: &HostReply,
    ) -> (ObservationFingerprint, Did) {
        let windows = ledgers.targets.windows().iter().map(|window| (window.into(), window.active));
        let seen = ObservationFingerprint::Desktop {
            windows: windows.collect(),
            failures: ledgers.round.failures_in_row(),
        };
        (seen, Did { commands: host_commands(ledgers, reply), subtask: reply.subtask.clone() })
    }
}

/// Goes on after a proposal that was not approved.
fn not_approved(
    ledgers: &mut Ledgers,
    acted: ActedStep<HostReply>,
    what: &str,
    why: NotApproved,
) -> NextMove {
    let said = StepStatement::by_host(&acted.replied.reply, "REJECTED".to_owned());
    host_record(ledgers, said, acted);
    match note_not_approved(ledgers, what, why) {
        Ok(instruction) => {
            instructed_instead(ledgers, &instruction);
            ledgers.agents.host_mut().moves(HostTrigger::Instructed);
            NextMove::HostStep
        }
        Err(reason) => {
            ledgers.agents.host_mut().moves(HostTrigger::Rejected);
            NextMove::Finish(OutcomeKind::Rejected, reason)
        }
    }
}

/// Returns `true` if a step hands a sub-task to a delegate agent, as the gate released it.
fn delegates(recorded: &RecordedStep<HostReply>) -> bool {
    recorded.actions.iter().any(|action| action.command.intent.does == Does::Delegate)
}

fn host_record(
    ledgers: &mut Ledgers,
    said: StepStatement,
    acted: ActedStep<HostReply>,
) -> RecordedStep<HostReply> {
    let keeping = StepRecorder {
        memory: ledgers.agents.host_mut().desk_mut().memory_mut(),
        blackboard: &mut ledgers.blackboard,
        keys: &ledgers.config.history_keys,
        wording: ledgers.wording,
        round: ledgers.round.number(),
    };
    acted.record(said, keeping)
}

/// Which windows the user's words led to.
fn went_to(sources: &mut SourceLedger, recorded: &RecordedStep<HostReply>, is_trusted: bool) {
    for window in recorded.actions.iter().filter_map(|info| info.result.window.as_ref()) {
        if is_trusted || recorded.approved {
            sources.went_to(window);
        }
    }
}

fn host_acted(ledgers: &mut Ledgers, acted: ActedStep<HostReply>) -> HostTurn {
    let reply = &acted.replied.reply;
    let (seen, did) = HostAgentKind.progress(ledgers, &acted.replied.observation, reply);
    let said = StepStatement::by_host(reply, reply.status.to_string());
    let is_trusted = ledgers.sources.is_trusted();
    if is_trusted {
        ledgers.sources.plan(reply);
    }
    let recorded = host_record(ledgers, said, acted);
    workflow_recorded(ledgers, None, &recorded.actions);
    went_to(&mut ledgers.sources, &recorded, is_trusted);
    let failed = recorded.failure().is_some();
    let repeats = ledgers.agents.host_mut().desk_mut().note_step(seen, did);
    if let Some(run) = ledgers.plans.nesting_mut().take_called() {
        return host_runs(ledgers, run, &recorded, is_trusted).into();
    }
    let too_early = ledgers.plans.plan().is_some_and(PlanProgress::is_waiting)
        && recorded.reply.status == HostStatus::Finish;
    let goes_on = failed || matches!(recorded.reply.status, HostStatus::Continue | HostStatus::Assign);
    let stalls = goes_on && is_stalled(repeats, &ledgers.config.limits);
    let desk = ledgers.agents.host_mut().desk_mut();
    desk.set_notice(repetition_notice(repeats).unwrap_or_default());
    // The user said something that the decision to end does not know. The end of a workflow is decided by no model.
    let ends = recorded.reply.status.is_terminal() && ledgers.plans.performing().is_none();
    let unheard = ledgers.round.is_unheard() && ends;
    if unheard {
        ledgers.agents.host_mut().desk_mut().add_notice(UNHEARD);
    }
    let status = ledgers.agents.host_mut().moves(match () {
        () if recorded.approved => HostTrigger::Approved,
        () if stalls => HostTrigger::Stalled,
        () if failed => HostTrigger::ActionFailed,
        () if unheard => HostTrigger::ActionFailed,
        () if too_early => HostTrigger::PlanFailed,
        () => HostTrigger::Said(recorded.reply.status),
    });
    concluded(ledgers, recorded, status, (failed, too_early), stalls.then_some(repeats))
}

/// Goes on by the status that the HostAgent has after a recorded step.
fn concluded(
    ledgers: &mut Ledgers,
    recorded: RecordedStep<HostReply>,
    status: HostStatus,
    (failed, too_early): (bool, bool),
    stalls: Option<u32>,
) -> HostTurn {
    let next = match status {
        // A person approved exactly this delegation, or this window for a workflow, so it is not decided on again.
        HostStatus::Continue if !failed && assigns_approved(ledgers, &recorded) => {
            ledgers.agents.host_mut().moves(HostTrigger::Said(HostStatus::Assign));
            host_assigns(ledgers, recorded)
        }
        HostStatus::Continue => NextMove::HostStep,
        HostStatus::Assign => host_assigns(ledgers, recorded),
        HostStatus::Finish => {
            let reply = recorded.reply;
            let result = reply.result.filter(|text| !text.is_empty()).unwrap_or(reply.comment);
            NextMove::Finish(OutcomeKind::Finished, result)
        }
        HostStatus::Fail => {
            let reply = recorded.reply;
            let reason = match stalls {
                Some(repeats) => stalled(repeats),
                None if too_early => PLAN_LEFT.to_owned(),
                None => reply.result.unwrap_or(reply.thought),
            };
            NextMove::Finish(OutcomeKind::Failed, reason)
        }
        HostStatus::Pending => {
            let turn = question(ledgers, recorded.reply.questions);
            return follow(ledgers, turn);
        }
        HostStatus::Confirm => {
            // No approval was needed: the guard is off, or an earlier grant covers it.
            ledgers.agents.host_mut().moves(HostTrigger::Approved);
            NextMove::HostStep
        }
        HostStatus::Error => {
            NextMove::BreakOff("unexpected state of the HostAgent after a recorded step".to_owned())
        }
    };
    next.into()
}

/// Returns `true` if a person approved a step that hands on the work: to a delegate agent, or to the window in which the workflow of the round
/// goes on, which would decide the same again.
fn assigns_approved(ledgers: &Ledgers, recorded: &RecordedStep<HostReply>) -> bool {
    let places_workflow = ledgers.plans.performing().is_some() && recorded.reply.status == HostStatus::Assign;
    recorded.approved && (delegates(recorded) || places_workflow)
}

/// Assigns the sub-task to the window that the step selected or opened.
fn host_assigns(ledgers: &mut Ledgers, recorded: RecordedStep<HostReply>) -> NextMove {
    let window: Option<WindowInfo> =
        recorded.actions.iter().rev().find_map(|info| info.result.window.clone());
    let reply = recorded.reply;
    let agent = reply.target.as_deref().and_then(|id| agent_target(ledgers, id));
    if let Some(window) = &window {
        ledgers.targets.add_window(window.clone());
    }
    if (window.is_some() || agent.is_some())
        && let Some(next) = plan_begins(ledgers, window.clone(), agent.as_ref().map(|agent| agent.id))
    {
        return next;
    }
    ledgers.plans.set_next(reply.next.map(VecDeque::from));
    let subtask = reply.subtask.unwrap_or_default();
    if let Some(agent) = agent {
        return assign_to_agent(ledgers, agent, subtask, reply.message);
    }
    match window {
        Some(window) => {
            let id = window.id;
            let next = assign(ledgers, SubtaskOwner::Window(window), subtask, reply.message);
            returned_to(ledgers, id);
            next
        }
        None => {
            ledgers.agents.host_mut().moves(HostTrigger::ActionFailed);
            NextMove::HostStep
        }
    }
}
