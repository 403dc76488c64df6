//! The steps of agents that work on sub-tasks.
//!
//! AppAgents and agents of other kinds share these steps and one transition table; [`super::app_view`] has the differences.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    agent_desk::AgentDesk,
    app_agent::AppAgent,
    app_prompt::{marks_of, marks_shown_to, pictures_of, prompt_of},
    app_view::{
        commands_of, look_of, picture_of, read_app_reply, reply_schema_of, sight_of, steps_of, tools_of,
    },
    commands::{tells_marks, unknown_tool},
    effect::{AskedBy, StepRef},
    event::IncomingEvent,
    gate::Proposal,
    healing::{heal_asking, is_healing},
    ledgers::Ledgers,
    nested::{app_runs, instructed_instead, is_interrupted, unfit_workflow},
    phases::{ActedStep, ObservedStep, RecordedStep},
    questions::{NotApproved, note_not_approved},
    recording::{StepRecorder, StepStatement},
    round::{SubtaskRecord, SubtaskStatus},
    small::{app_offer, small_app_asking},
    stall::{Did, ObservationFingerprint, is_stalled, repetition_notice, stalled},
    step::{self, StepEnd, StepPhase, StepTurn, question},
    step_agent::{ProposalEvent, StepAgent, StepPrompt},
    subtask::{back_to_host, subtask_failed, subtask_finished, subtask_result},
    turn::{MachineTurn, NextMove},
    verify::{Doubt, doubt_of},
    workflow::{workflow_acts, workflow_recorded},
    zoomed::zoomed_of,
};
use crate::{
    agent::SubtaskWorker,
    blackboard::SavedPicture,
    command::{CallResult, ToolCommand, ToolSpec},
    model::ReplyKind,
    observation::{Observation, ObservationTarget},
    prompt::PromptError,
    reference::refusal,
    reply::{AppReply, KeptPicture, ReplyError, heal_reply_schema},
    retrieval::Lookup,
    small::{SmallModelDecision, SmallModelOffer, small_app_schema},
    states::{AppStatus, AppTrigger},
};

/// State of the machine of a worker's agent after an event.
pub(super) type AppTurn = MachineTurn<StepPhase<AppReply>>;

/// An agent that works on sub-tasks, as an agent with steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct App(pub(super) SubtaskWorker);

/// Starts the next step of a worker's agent, unless its sub-task has reached its limit.
pub(super) fn begin(ledgers: &mut Ledgers, worker: SubtaskWorker) -> AppTurn {
    if let Some(next) = subtask_steps_exhausted(ledgers, worker) {
        return next.into();
    }
    let turn = step::begin(App(worker), ledgers);
    follow(ledgers, worker, turn)
}

/// Handles an event for a step of a worker's agent.
pub(super) fn apply(
    ledgers: &mut Ledgers,
    worker: SubtaskWorker,
    phase: StepPhase<AppReply>,
    incoming: IncomingEvent,
) -> AppTurn {
    let turn = step::apply(App(worker), ledgers, phase, incoming);
    follow(ledgers, worker, turn)
}

/// Goes on after a step has ended.
pub(super) fn follow(ledgers: &mut Ledgers, worker: SubtaskWorker, turn: StepTurn<AppReply>) -> AppTurn {
    let end = match turn {
        StepTurn::Wait(phase, step, effect) => return MachineTurn::Wait(phase, step, effect),
        StepTurn::End(end) => end,
    };
    match end {
        StepEnd::Exhausted(reason) => NextMove::Exhaust(reason).into(),
        StepEnd::Lost(reason) => lost(ledgers, worker, &reason).into(),
        StepEnd::LookFailed(failure) => match worker {
            SubtaskWorker::Window(window) => {
                broke(ledgers, worker, format!("failed to observe {window}: {failure}")).into()
            }
            // A failing device does not end the work of other agents.
            SubtaskWorker::Agent(_) => lost(ledgers, worker, &failure.message).into(),
        },
        StepEnd::Broke(reason) => broke(ledgers, worker, reason).into(),
        StepEnd::BrokeOff(reason) => NextMove::BreakOff(reason).into(),
        StepEnd::Closed(goes_on) => {
            let trigger = if goes_on { AppTrigger::Answered } else { AppTrigger::Unanswered };
            if ledgers.agents.app_moves(worker, trigger) == AppStatus::Fail {
                let reason = "a required question was not answered";
                return app_failed(ledgers, worker, SubtaskStatus::Failed, reason).into();
            }
            NextMove::AppStep(worker).into()
        }
        StepEnd::Acted(acted) => app_acted(ledgers, worker, acted),
        StepEnd::NotApproved(acted, what, why) => not_approved(ledgers, worker, acted, &what, why).into(),
    }
}

/// Ends a sub-task whose window or device is gone.
pub(super) fn lost(ledgers: &mut Ledgers, worker: SubtaskWorker, reason: &str) -> NextMove {
    let closed_as_meant = ledgers.agents.app(worker).is_some_and(AppAgent::closed_as_meant);
    if closed_as_meant {
        ledgers.agents.app_moves(worker, AppTrigger::WindowClosed);
        archive_app(ledgers, worker, SubtaskStatus::Finished, reason.to_owned());
        ledgers.agents.dismiss(worker);
        return subtask_finished(ledgers, Some(Doubt::WindowClosed), reason.to_owned());
    }
    ledgers.agents.app_moves(worker, AppTrigger::WindowGone);
    let next = app_failed(ledgers, worker, SubtaskStatus::Failed, reason);
    ledgers.agents.dismiss(worker);
    next
}

/// Ends the round because an agent cannot continue.
fn broke(ledgers: &mut Ledgers, worker: SubtaskWorker, reason: String) -> NextMove {
    ledgers.agents.app_moves(worker, AppTrigger::Broke);
    archive_app(ledgers, worker, SubtaskStatus::Error, reason.clone());
    NextMove::BreakOff(reason)
}

/// Ends a sub-task whose agent has reached its step limit.
fn subtask_steps_exhausted(ledgers: &mut Ledgers, worker: SubtaskWorker) -> Option<NextMove> {
    let limit = steps_of(ledgers, worker).and_then(|steps| steps.subtask_steps_max)?;
    let first = ledgers.agents.app(worker).map_or(0, AppAgent::first_step);
    let taken = ledgers.budget.steps().saturating_add(1).saturating_sub(first);
    if taken < limit {
        return None;
    }
    ledgers.agents.app_moves(worker, AppTrigger::Stalled);
    Some(app_failed(
        ledgers,
        worker,
        SubtaskStatus::Failed,
        &format!("the limit of {limit} steps per sub-task is reached"),
    ))
}

impl StepAgent for App {
    type Reply = AppReply;

    fn desk(self, ledgers: &Ledgers) -> Option<&AgentDesk> {
        ledgers.agents.app(self.0).map(AppAgent::desk)
    }

    fn desk_mut(self, ledgers: &mut Ledgers) -> Option<&mut AgentDesk> {
        ledgers.agents.app_mut(self.0).map(AppAgent::desk_mut)
    }

    fn step(self, ledgers: &Ledgers, number: u32) -> Option<StepRef> {
        let app = ledgers.agents.app(self.0)?;
        let taken = app.desk().memory().steps();
        Some(ledgers.step_ref(number, app.agent(), app.subtask().to_owned(), taken))
    }

    fn moves(self, ledgers: &mut Ledgers, event: ProposalEvent<'_>) {
        let trigger = match event {
            ProposalEvent::Waits(AskedBy::Model) => AppTrigger::Said(AppStatus::Confirm),
            ProposalEvent::Waits(AskedBy::Policy { .. }) => AppTrigger::PolicyAsks,
            ProposalEvent::Withdrawn => AppTrigger::Instructed,
        };
        ledgers.agents.app_moves(self.0, trigger);
    }

    fn look(self, ledgers: &Ledgers) -> ObservationTarget {
        look_of(ledgers, self.0)
    }

    fn lookup(self, ledgers: &Ledgers) -> Option<Lookup> {
        let is_asked = ledgers.plans.performing().is_none();
        let app = ledgers.agents.app(self.0).filter(|app| is_asked && !app.desk().is_looked_up())?;
        let application = app.window().map(|window| &window.app);
        ledgers.config.retrieval.lookup(app.subtask(), &app.agent(), application)
    }

    fn decide_without_model(self, ledgers: &mut Ledgers, observation: &Observation) -> Option<AppReply> {
        workflow_acts(ledgers, self.0, observation)
    }

    fn offer(self, ledgers: &Ledgers, observation: &Observation) -> Option<SmallModelOffer> {
        if is_healing(ledgers, self.0) {
            return None;
        }
        app_offer(ledgers, self.0, observation)
    }

    fn asking(
        self,
        ledgers: &mut Ledgers,
        observation: &Observation,
        offer: Option<&SmallModelOffer>,
    ) -> Result<StepPrompt, PromptError> {
        let marks = ledgers.agents.app(self.0).map(|app| marks_of(ledgers, app));
        if let Some(asking) = marks.and_then(|marks| heal_asking(ledgers, self.0, observation, &marks)) {
            return asking;
        }
        if let Some(offer) = offer {
            let asking = small_app_asking(ledgers, self.0, observation, offer)?;
            if let Some(desk) = self.desk_mut(ledgers) {
                desk.set_notice(String::new());
            }
            return Ok(asking);
        }
        let step = ledgers.budget.steps();
        let sight = sight_of(ledgers, self.0, observation, step);
        let pictures = pictures_of(ledgers, self.0);
        let zoomed = zoomed_of(ledgers, self.0);
        let shown: Vec<_> = zoomed.shown.iter().map(|one| one.picture.clone()).collect();
        let (system, user) = prompt_of(ledgers, self.0, observation, (&sight, &pictures, zoomed))?;
        if let Some(desk) = self.desk_mut(ledgers) {
            desk.set_notice(String::new());
            desk.shows_pictures_to(step);
        }
        let kept = pictures.into_iter().map(|saved| saved.picture).chain(shown).collect();
        Ok(StepPrompt { system, examples: Vec::new(), user, kept, picture: sight.picture })
    }

    fn schema(self, ledgers: &Ledgers, offer: Option<&SmallModelOffer>) -> (ReplyKind, Value) {
        match offer {
            _ if is_healing(ledgers, self.0) => (ReplyKind::Heal, heal_reply_schema()),
            Some(offer) => (ReplyKind::SmallApp, small_app_schema(offer)),
            None => reply_schema_of(ledgers, self.0),
        }
    }

    fn parse(
        self,
        ledgers: &Ledgers,
        observed: &ObservedStep,
        text: &str,
    ) -> Result<SmallModelDecision<AppReply>, ReplyError> {
        read_app_reply(ledgers, self.0, observed, text).map(SmallModelDecision::Finally)
    }

    fn tools(self, ledgers: &Ledgers) -> Cow<'_, [ToolSpec]> {
        tools_of(ledgers, self.0)
    }

    fn proposal(self, _: &Ledgers, reply: &AppReply) -> Proposal {
        Proposal {
            commands: self.commands(reply),
            confirm: reply.status == AppStatus::Confirm,
            reason: reply.thought.clone(),
        }
    }

    fn refusal(self, ledgers: &Ledgers, tools: &[ToolSpec], command: &ToolCommand) -> Option<CallResult> {
        let reference = command.window.and_then(|_| refusal(command));
        let marks = ledgers.agents.app(self.0).map(|app| marks_shown_to(ledgers, app));
        reference
            .or_else(|| unknown_tool(command, tools))
            .or_else(|| unfit_workflow(ledgers, command))
            .or_else(|| marks.and_then(|marks| tells_marks(command, &marks)))
    }

    fn progress(
        self,
        _: &Ledgers,
        observation: &Observation,
        reply: &AppReply,
    ) -> (ObservationFingerprint, Did) {
        (ObservationFingerprint::of(observation), Did { commands: self.commands(reply), subtask: None })
    }
}

impl App {
    fn commands(self, reply: &AppReply) -> Vec<ToolCommand> {
        match reply.status {
            AppStatus::Pending | AppStatus::Fail | AppStatus::Error => Vec::new(),
            AppStatus::Continue | AppStatus::Screenshot | AppStatus::Finish | AppStatus::Confirm => {
                commands_of(reply, self.0)
            }
        }
    }
}

fn app_record(
    ledgers: &mut Ledgers,
    worker: SubtaskWorker,
    acted: ActedStep<AppReply>,
    word: String,
) -> Option<RecordedStep<AppReply>> {
    let said = StepStatement::by_app(&acted.replied.reply, word);
    let app = ledgers.agents.app_mut(worker)?;
    let keeping = StepRecorder {
        memory: app.desk_mut().memory_mut(),
        blackboard: &mut ledgers.blackboard,
        keys: &ledgers.config.history_keys,
        wording: ledgers.wording,
        round: ledgers.round.number(),
    };
    Some(acted.record(said, keeping))
}

/// Keeps the picture of a step if its reply asks for that.
fn keep_picture(ledgers: &mut Ledgers, worker: SubtaskWorker, acted: &ActedStep<AppReply>) {
    let (picture, application) = picture_of(ledgers, worker, &acted.replied.observation);
    if let (Some(kept), Some(picture)) = (acted.replied.reply.save_picture.clone(), picture) {
        let KeptPicture { reason, audience } = kept;
        let StepRef { number: step, agent, .. } = acted.replied.step.clone();
        let saved = SavedPicture { step, agent, audience, picture, application, reason };
        ledgers.blackboard.add_picture(saved);
    }
}

fn app_acted(ledgers: &mut Ledgers, worker: SubtaskWorker, acted: ActedStep<AppReply>) -> AppTurn {
    let word = acted.replied.reply.word.clone();
    keep_picture(ledgers, worker, &acted);
    let (seen, did) = App(worker).progress(ledgers, &acted.replied.observation, &acted.replied.reply);
    let limits = ledgers.config.limits.clone();
    let healed = acted.replied.reply.heal.clone().zip(acted.replied.observation.window().cloned());
    let recorded = app_record(ledgers, worker, acted, word);
    if let Some(recorded) = &recorded {
        let healed = healed.as_ref().map(|(reply, view)| (reply, view));
        workflow_recorded(ledgers, healed, &recorded.actions);
    }
    if let (Some(run), Some(recorded)) = (ledgers.plans.nesting_mut().take_called(), &recorded) {
        return app_runs(ledgers, worker, run, recorded).into();
    }
    let doubt = recorded
        .as_ref()
        .filter(|step| !step.actions.is_empty())
        .map(|step| doubt_of(&step.reply.actions, &step.actions, &tools_of(ledgers, worker)));
    let acted = recorded.as_ref().is_some_and(|recorded| !recorded.actions.is_empty());
    let is_stuck = acted && ledgers.plans.is_stuck();
    let (Some(recorded), Some(app)) = (recorded, ledgers.agents.app_mut(worker)) else {
        return NextMove::BreakOff(format!("agent {worker} is gone")).into();
    };
    if let Some(doubt) = doubt {
        app.doubt(doubt);
    }
    let doubt = app.last_doubt().cloned();
    let failure = recorded.failure().is_some() || is_stuck;
    let asks = app.note(&recorded, &limits);
    let repeats = app.desk_mut().note_step(seen, did);
    if let Some(repetition_notice) = repetition_notice(repeats) {
        app.desk_mut().set_notice(repetition_notice);
    }
    let exhausted = app.only_looks(&limits);
    let said = recorded.reply.status;
    let goes_on = failure || said == AppStatus::Continue;
    let stalls = goes_on && is_stalled(repeats, &limits);
    let trigger = match () {
        () if recorded.approved => AppTrigger::Approved,
        () if stalls => AppTrigger::Stalled,
        () if failure || asks => AppTrigger::ActionFailed,
        () if exhausted => AppTrigger::LooksExhausted,
        () => AppTrigger::Said(said),
    };
    let status = ledgers.agents.app_moves(worker, trigger);
    concluded(ledgers, worker, recorded, status, (doubt, stalls.then_some(repeats)))
}

/// Goes on by the status that an agent has after a recorded step.
fn concluded(
    ledgers: &mut Ledgers,
    worker: SubtaskWorker,
    recorded: RecordedStep<AppReply>,
    status: AppStatus,
    (doubt, stalls): (Option<Doubt>, Option<u32>),
) -> AppTurn {
    let next = match status {
        AppStatus::Continue | AppStatus::Screenshot => NextMove::AppStep(worker),
        AppStatus::Finish => {
            let result = recorded.reply.result.clone().unwrap_or_else(|| recorded.reply.thought.clone());
            let words = subtask_result(&recorded, ledgers.wording);
            hear_result(ledgers, worker, recorded.reply.result.as_deref());
            archive_app(ledgers, worker, SubtaskStatus::Finished, words);
            subtask_finished(ledgers, doubt, result)
        }
        AppStatus::Fail => match stalls {
            Some(repeats) => app_failed(ledgers, worker, SubtaskStatus::Failed, &stalled(repeats)),
            None => {
                let reason = recorded.reply.result.as_ref().unwrap_or(&recorded.reply.thought);
                hear_result(ledgers, worker, recorded.reply.result.as_deref());
                app_failed(ledgers, worker, SubtaskStatus::Failed, reason)
            }
        },
        AppStatus::Pending => {
            let turn = question(ledgers, recorded.reply.questions);
            return follow(ledgers, worker, turn);
        }
        AppStatus::Confirm => {
            // No approval was needed: the guard is off, or an earlier grant covers it.
            ledgers.agents.app_moves(worker, AppTrigger::Approved);
            NextMove::AppStep(worker)
        }
        AppStatus::Error => {
            NextMove::BreakOff("unexpected state of the AppAgent after a recorded step".to_owned())
        }
    };
    next.into()
}

/// Goes on after a proposal that was not approved.
fn not_approved(
    ledgers: &mut Ledgers,
    worker: SubtaskWorker,
    acted: ActedStep<AppReply>,
    what: &str,
    why: NotApproved,
) -> NextMove {
    if app_record(ledgers, worker, acted, "REJECTED".to_owned()).is_none() {
        return NextMove::BreakOff("the agent of the rejected action no longer exists".to_owned());
    }
    match note_not_approved(ledgers, what, why) {
        Ok(instruction) => {
            ledgers.agents.app_moves(worker, AppTrigger::Instructed);
            if instructed_instead(ledgers, &instruction) {
                back_to_host(ledgers)
            } else {
                NextMove::AppStep(worker)
            }
        }
        Err(reason) => {
            ledgers.agents.app_moves(worker, AppTrigger::Rejected);
            app_failed(ledgers, worker, SubtaskStatus::Rejected, &reason)
        }
    }
}

fn app_failed(ledgers: &mut Ledgers, worker: SubtaskWorker, status: SubtaskStatus, reason: &str) -> NextMove {
    archive_app(ledgers, worker, status, reason.to_owned());
    subtask_failed(ledgers, status, reason)
}

/// Takes in what an agent says that it found: a model wrote it, after it had read. Not our sentences about results.
fn hear_result(ledgers: &mut Ledgers, worker: SubtaskWorker, result: Option<&str>) {
    let owner = ledgers.agents.app(worker).map(|app| app.agent().to_string());
    if let (Some(owner), Some(result)) = (owner, result) {
        ledgers.sources.told_by(&owner, result);
    }
}

fn archive_app(ledgers: &mut Ledgers, worker: SubtaskWorker, status: SubtaskStatus, result: String) {
    if let Some(app) = ledgers.agents.app(worker) {
        let (subtask, agent) = (app.subtask().to_owned(), app.agent());
        let (round, goes_on) = (ledgers.round.number(), is_interrupted(ledgers, worker));
        if let Some(app) = ledgers.agents.app_mut(worker).filter(|_| !goes_on) {
            app.desk_mut().memory_mut().end(round, &subtask, &status.to_string(), &result);
        }
        // A workflow that an agent runs is one sub-task, whatever windows it works in.
        if !ledgers.plans.is_nested() {
            ledgers.round.archive(SubtaskRecord { subtask, agent, status, result });
        }
    }
}
