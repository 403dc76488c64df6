//! Performs the effects that core requests, one at a time.

use std::{
    collections::VecDeque,
    path::PathBuf,
    time::{Duration, Instant},
};

use deskhand_desktop::{CancelScope, Desktop};
use deskhand_machine::{
    command::{CallResult, ToolCommand},
    known_tools::RECALL,
    outcome::Outcome,
    retrieval::Lookup,
    session::{Effect, EffectRecord, NoAnswer, Session, SessionEvent, StopReason},
};
use deskhand_ui::{
    action::{ActionRefusal, Cancellation, Verdict},
    duration::milliseconds,
    ids::AgentId,
};
use futures_util::future::BoxFuture;
use tracing::Instrument as _;

use crate::{
    agents::{Assignment, DelegateProgress, OpenAgents},
    camera::{PictureProcessor, SessionPictureSource},
    journal::SessionFolder,
    observe::observe,
    options::SessionRunOptions,
    people::UserRequest,
    rank::scores,
    retrieve::RetrievalResult,
    sources::OpenSources,
    stop::CallEnd,
    tools::Circumstances,
    waiting::{ModelWaits, WaitReason},
};

/// Maximum time for a cancelled call to report what it did. The call sends nothing meanwhile.
const REPORT_BOUND: Duration = Duration::from_secs(5);
/// The message to an agent whose approval request was abandoned.
const INTERRUPTED: &str = "the call was cancelled before it was approved";

/// The state and dependencies for performing effects.
pub(crate) struct Performer<'a, D: Desktop> {
    pub(crate) options: SessionRunOptions<'a, D>,
    pub(crate) agents: OpenAgents,
    pub(crate) sources: OpenSources,
    pub(crate) folder: SessionFolder,
    pub(crate) camera: PictureProcessor,
    pub(crate) session: Session,
    requests: VecDeque<UserRequest>,
    pub(crate) outcome: Option<Outcome>,
    /// The deadline of the current round.
    pub(crate) deadline: Option<tokio::time::Instant>,
}

impl<'a, D: Desktop> Performer<'a, D> {
    pub(crate) fn new(
        mut options: SessionRunOptions<'a, D>,
        (agents, sources): (OpenAgents, OpenSources),
        folder: SessionFolder,
        session: Session,
    ) -> Self {
        let requests = std::mem::take(&mut options.requests).into();
        let camera = PictureProcessor::new(folder.clone(), options.config.view.clone());
        Self { options, agents, sources, folder, camera, session, requests, outcome: None, deadline: None }
    }

    pub(crate) async fn close(&self) {
        tokio::join!(self.agents.close(), self.sources.close());
    }

    /// Performs an effect; returns what came of it.
    pub(crate) async fn perform(&mut self, record: &EffectRecord) -> SessionEvent {
        let (waits, model) = (self.options.waits.clone(), self.options.model.display_name().to_owned());
        let agent = record.step.as_ref().map(|step| &step.agent);
        let _waiting = WaitReason::of(&record.effect, agent, &model).map(|on| waits.begin(on));
        match &record.effect {
            Effect::AwaitRequest => self.next_request().await,
            Effect::Observe { look } => {
                let look = observe(self.options.desktop, &self.agents, &self.camera, look);
                let looked = self.unless_stopped(look.instrument(tracing::info_span!("observe"))).await;
                match looked {
                    Ok(Ok(observation)) => SessionEvent::Observed { observation: observation.clipped() },
                    Ok(Err(failure)) => SessionEvent::ObserveFailed { failure: failure.clipped() },
                    Err(reason) => SessionEvent::Stopped { reason },
                }
            }
            Effect::Rank { wanted, texts } => {
                let scores = scores(self.options.ranker.clone(), wanted.clone(), texts.clone());
                match self.unless_stopped(scores.instrument(tracing::info_span!("rank"))).await {
                    Ok(scores) => SessionEvent::Ranked { scores },
                    Err(reason) => SessionEvent::Stopped { reason },
                }
            }
            Effect::Retrieve { lookup } => self.retrieve(lookup.clone()).await,
            Effect::Ask { request } => {
                let pictures = SessionPictureSource(&self.folder);
                let veil = self.options.tools.secrets.veil().clone();
                let signs = ModelWaits { waits: &waits, model: &model, veil };
                let ask = self.options.model.ask_boxed(request, &pictures, &signs);
                match self.unless_stopped(ask.instrument(tracing::info_span!("ask"))).await {
                    Ok(Ok(reply)) => SessionEvent::replied(reply),
                    Ok(Err(failure)) => SessionEvent::ModelFailed { failure },
                    Err(reason) => SessionEvent::Stopped { reason },
                }
            }
            Effect::Call { command } => self.call(command).await,
            Effect::AskUser { questions } => {
                let asked = self.options.people.ask(record.id, questions);
                self.unless_interrupted(asked, SessionEvent::Unanswered { why: NoAnswer::TimedOut }).await
            }
            Effect::AwaitApproval { approval } => {
                let decided = self.options.people.decide(record, approval, self.session.planned());
                let rejected =
                    SessionEvent::Rejected { instruction: Some(INTERRUPTED.to_owned()), is_message: true };
                self.unless_interrupted(decided, rejected).await
            }
            Effect::Delegate { agent, subtask, message, request, context } => {
                let assignment = Assignment {
                    number: format!("{}-{}", self.folder.name(), record.id),
                    subtask: subtask.clone(),
                    message: message.clone(),
                    request: request.clone(),
                    context: context.clone(),
                    saved: self.session.saved_files().map(PathBuf::from).collect(),
                };
                self.delegate(*agent, assignment).await
            }
            Effect::Finish { outcome } => {
                self.outcome = Some(outcome.clone());
                let last = self.camera.last_look(self.options.desktop);
                let picture = self.unless_stopped(last).await.ok().flatten();
                SessionEvent::Acknowledged { picture }
            }
        }
    }

    async fn delegate(&self, agent: AgentId, assignment: Assignment) -> SessionEvent {
        let (waits, subtask) = (self.options.waits.clone(), assignment.subtask.clone());
        let progress = DelegateProgress::new(move |state| {
            waits.set(WaitReason::Agent { subtask: subtask.clone(), state: state.to_owned() });
        });
        let number = assignment.number.clone();
        let work = self.agents.work(agent, assignment, progress).instrument(tracing::info_span!("delegate"));
        match self.unless_stopped(work).await {
            Ok(report) => SessionEvent::Delegated { report: report.clipped() },
            // A session that is suspended asks again.
            Err(reason @ StopReason::Signal) => SessionEvent::Stopped { reason },
            Err(reason @ (StopReason::WallTime | StopReason::User)) => {
                self.agents.withdraw(agent, &number).await;
                SessionEvent::Stopped { reason }
            }
        }
    }

    async fn retrieve(&self, lookup: Lookup) -> SessionEvent {
        let found = async {
            match &self.options.retrieve {
                Some(retrieve) => retrieve(lookup).await,
                None => RetrievalResult::default(),
            }
        };
        match self.unless_stopped(found.instrument(tracing::info_span!("retrieve"))).await {
            Ok(found) => {
                let RetrievalResult { hits, problems } = found.clipped();
                SessionEvent::Retrieved { hits, problems }
            }
            Err(reason) => SessionEvent::Stopped { reason },
        }
    }

    async fn next_request(&mut self) -> SessionEvent {
        let (people, stop) = (&self.options.people, &self.options.stop);
        self.deadline = None;
        if people.converse {
            stop.clear_user_stop();
        }
        let next = async {
            match self.requests.pop_front() {
                Some(request) => Some(request),
                None => people.next_request().await,
            }
        };
        let next = if stop.reason().is_some() {
            None
        } else {
            tokio::select! {
                request = next => request,
                _ = stop.wait() => None,
            }
        };
        let Some(UserRequest { text, plan }) = next else { return SessionEvent::Ended };
        self.deadline = deadline(&self.session);
        SessionEvent::Requested { text, plan }
    }

    /// The agent that a command is run by; `None` for what the runtime runs, for an agent's looking up as well.
    fn agent_of(&self, command: &ToolCommand) -> Option<AgentId> {
        command.agent.filter(|agent| command.tool != RECALL || self.agents.has_tool(*agent, RECALL))
    }

    /// Runs one command until it returns, or is to end: by a stop, by an interruption, or at the deadline of the round. Then a command
    /// on the desktop is cancelled and returns with what it did; what only reads or runs elsewhere is dropped.
    fn call<'b>(&'b self, command: &'b ToolCommand) -> BoxFuture<'b, SessionEvent> {
        Box::pin(async move {
            let stop = &self.options.stop;
            if let Some(reason) = stop.reason() {
                return SessionEvent::Stopped { reason };
            }
            let acts = !self.only_reads(command);
            if stop.is_interrupted() {
                return SessionEvent::Returned { result: not_sent(acts) };
            }
            let (started, scope) = (Instant::now(), stop.call_scope());
            let span = tracing::info_span!("call", tool = command.tool);
            let running = scope.run(self.run(command).instrument(span));
            tokio::pin!(running);
            let end = tokio::select! {
                biased;
                end = self.call_end() => Ok(end),
                result = &mut running => Err(result),
            };
            let mut result = match end {
                Err(result) => result,
                Ok(Some(CallEnd::Stopped(reason))) if !acts => return SessionEvent::Stopped { reason },
                Ok(Some(CallEnd::Interrupted)) if !acts => not_sent(acts),
                Ok(end) => {
                    scope.cancel();
                    tracing::info!(?end, "cancelled a running call");
                    let reports = self.is_on_desktop(command);
                    let cancelled = async { if reports { Some(running.await) } else { None } };
                    tokio::select! {
                        result = tokio::time::timeout(REPORT_BOUND, cancelled) => result.ok().flatten(),
                        _ = stop.wait_now() => None,
                    }
                    .unwrap_or_else(|| dropped(end, &scope))
                }
            };
            result.elapsed_ms = milliseconds(started.elapsed());
            SessionEvent::Returned { result: result.clipped() }
        })
    }

    /// Runs one command to its end.
    async fn run(&self, command: &ToolCommand) -> CallResult {
        let (policy, places) = (self.session.policy(), self.session.places());
        match self.agent_of(command) {
            Some(agent) => self.agents.call(agent, command).await,
            None if self.sources.has(command) => self.sources.call(command, policy, places).await,
            None => {
                let secrets = self.session.secrets();
                let circumstances =
                    Circumstances { policy, places, secrets: &secrets, camera: Some(&self.camera) };
                self.options.tools.run_with(self.options.desktop, command, &circumstances).await
            }
        }
    }

    /// Returns `true` if a command changes nothing, so that it can be dropped.
    fn only_reads(&self, command: &ToolCommand) -> bool {
        match self.agent_of(command) {
            Some(_) => false,
            None if self.sources.has(command) => self.sources.only_reads(command),
            None => self.options.tools.only_reads(command),
        }
    }

    /// Returns `true` if a command is run by a tool of ours, which reports what it did when it is cancelled.
    fn is_on_desktop(&self, command: &ToolCommand) -> bool {
        self.agent_of(command).is_none() && !self.sources.has(command)
    }

    /// Waits for what ends a running call; `None` for the deadline of the round.
    async fn call_end(&self) -> Option<CallEnd> {
        let end = self.options.stop.wait_for_call_end();
        match self.deadline {
            Some(deadline) => tokio::time::timeout_at(deadline, end).await.ok(),
            None => Some(end.await),
        }
    }

    /// Waits for a person, unless calls are interrupted: then nobody wants to know any more.
    async fn unless_interrupted(
        &self,
        asked: impl Future<Output = SessionEvent>,
        interrupted: SessionEvent,
    ) -> SessionEvent {
        let answered = async {
            tokio::select! {
                biased;
                () = self.options.stop.wait_for_interruption() => interrupted,
                event = asked => event,
            }
        };
        self.unless_stopped(answered).await.unwrap_or_else(|reason| SessionEvent::Stopped { reason })
    }

    /// Runs `work`, dropping it if the session is stopped.
    pub(crate) async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T, StopReason> {
        if let Some(reason) = self.options.stop.reason() {
            return Err(reason);
        }
        let bounded = async {
            match self.deadline {
                Some(deadline) => {
                    tokio::time::timeout_at(deadline, work).await.map_err(|_| StopReason::WallTime)
                }
                None => Ok(work.await),
            }
        };
        tokio::select! {
            result = bounded => result,
            reason = self.options.stop.wait() => Err(reason),
        }
    }
}

/// The result of a call that was interrupted before it sent anything.
fn not_sent(acts: bool) -> CallResult {
    CallResult::failure(acts.then_some(Verdict::Refused), ActionRefusal::Cancelled.reason())
}

/// The result of a call that was dropped.
fn dropped(end: Option<CallEnd>, scope: &CancelScope) -> CallResult {
    let why = match end {
        None => "the wall-time budget of the round",
        Some(CallEnd::Stopped(_)) => "the stop",
        Some(CallEnd::Interrupted) => "the cancellation",
    };
    let inputs = scope.inputs();
    let done = if inputs.is_empty() {
        "it may be half done".to_owned()
    } else {
        Cancellation { inputs, extent: None }.sentence()
    };
    CallResult::failure(Some(Verdict::Unknown), format!("interrupted by {why}; {done}"))
}

/// The deadline of the current or next round.
pub(crate) fn deadline(session: &Session) -> Option<tokio::time::Instant> {
    session.wall_ms_left().map(|ms| tokio::time::Instant::now() + Duration::from_millis(ms))
}
