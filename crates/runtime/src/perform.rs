//! Performs the effects that core requests, one at a time.

use std::{
    collections::VecDeque,
    path::PathBuf,
    time::{Duration, Instant},
};

use deskhand_core::{
    command::{CallResult, Command, Verdict},
    duration::milliseconds,
    ids::AgentId,
    known_tools::RECALL,
    outcome::Outcome,
    retrieval::Lookup,
    session::{Effect, EffectRecord, Event, Session, StopReason},
};
use deskhand_desktop::Desktop;
use futures_util::future::BoxFuture;
use tracing::Instrument as _;

use crate::{
    agents::{Assignment, OpenAgents, Progress},
    camera::{Camera, Pictures},
    journal::SessionFolder,
    observe::observe,
    options::RunOptions,
    people::Request,
    rank::scores,
    retrieve::Found,
    sources::OpenSources,
    tools::Circumstances,
    waiting::{ModelWaits, Wait},
};

/// What effects are performed with.
pub(crate) struct Performer<'a, D: Desktop> {
    pub(crate) options: RunOptions<'a, D>,
    pub(crate) agents: OpenAgents,
    pub(crate) sources: OpenSources,
    pub(crate) folder: SessionFolder,
    pub(crate) camera: Camera,
    pub(crate) session: Session,
    requests: VecDeque<Request>,
    pub(crate) outcome: Option<Outcome>,
    /// The deadline of the current round.
    pub(crate) deadline: Option<tokio::time::Instant>,
}

impl<'a, D: Desktop> Performer<'a, D> {
    pub(crate) fn new(
        mut options: RunOptions<'a, D>,
        (agents, sources): (OpenAgents, OpenSources),
        folder: SessionFolder,
        session: Session,
    ) -> Self {
        let requests = std::mem::take(&mut options.requests).into();
        let camera = Camera::new(folder.clone(), options.config.view.clone());
        Self { options, agents, sources, folder, camera, session, requests, outcome: None, deadline: None }
    }

    pub(crate) async fn close(&self) {
        tokio::join!(self.agents.close(), self.sources.close());
    }

    /// Performs an effect; returns what came of it.
    pub(crate) async fn perform(&mut self, record: &EffectRecord) -> Event {
        let (waits, model) = (self.options.waits.clone(), self.options.model.display_name().to_owned());
        let agent = record.step.as_ref().map(|step| &step.agent);
        let _waiting = Wait::of(&record.effect, agent, &model).map(|on| waits.begin(on));
        match &record.effect {
            Effect::AwaitRequest => self.next_request().await,
            Effect::Observe { look } => {
                let look = observe(self.options.desktop, &self.agents, &self.camera, look);
                let looked = self.unless_stopped(look.instrument(tracing::info_span!("observe"))).await;
                match looked {
                    Ok(Ok(observation)) => Event::Observed { observation: observation.clipped() },
                    Ok(Err(failure)) => Event::ObserveFailed { failure: failure.clipped() },
                    Err(reason) => Event::Stopped { reason },
                }
            }
            Effect::Rank { wanted, texts } => {
                let scores = scores(self.options.ranker.clone(), wanted.clone(), texts.clone());
                match self.unless_stopped(scores.instrument(tracing::info_span!("rank"))).await {
                    Ok(scores) => Event::Ranked { scores },
                    Err(reason) => Event::Stopped { reason },
                }
            }
            Effect::Retrieve { lookup } => self.retrieve(lookup.clone()).await,
            Effect::Ask { request } => {
                let pictures = Pictures(&self.folder);
                let veil = self.options.tools.secrets.veil().clone();
                let signs = ModelWaits { waits: &waits, model: &model, veil };
                let ask = self.options.model.ask_boxed(request, &pictures, &signs);
                match self.unless_stopped(ask.instrument(tracing::info_span!("ask"))).await {
                    Ok(Ok(reply)) => Event::replied(reply),
                    Ok(Err(failure)) => Event::ModelFailed { failure },
                    Err(reason) => Event::Stopped { reason },
                }
            }
            Effect::Call { command } => self.call(command).await,
            Effect::AskUser { questions } => {
                let asked = self.options.people.ask(record.id, questions);
                self.unless_stopped(asked).await.unwrap_or_else(|reason| Event::Stopped { reason })
            }
            Effect::AwaitApproval { approval } => {
                let decided = self.options.people.decide(record, approval, self.session.planned());
                self.unless_stopped(decided).await.unwrap_or_else(|reason| Event::Stopped { reason })
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
                Event::Acknowledged { picture }
            }
        }
    }

    async fn delegate(&self, agent: AgentId, assignment: Assignment) -> Event {
        let (waits, subtask) = (self.options.waits.clone(), assignment.subtask.clone());
        let progress = Progress::new(move |state| {
            waits.set(Wait::Agent { subtask: subtask.clone(), state: state.to_owned() });
        });
        let number = assignment.number.clone();
        let work = self.agents.work(agent, assignment, progress).instrument(tracing::info_span!("delegate"));
        match self.unless_stopped(work).await {
            Ok(report) => Event::Delegated { report: report.clipped() },
            // A session that is suspended asks again.
            Err(reason @ StopReason::Signal) => Event::Stopped { reason },
            Err(reason @ (StopReason::WallTime | StopReason::User)) => {
                self.agents.withdraw(agent, &number).await;
                Event::Stopped { reason }
            }
        }
    }

    async fn retrieve(&self, lookup: Lookup) -> Event {
        let found = async {
            match &self.options.retrieve {
                Some(retrieve) => retrieve(lookup).await,
                None => Found::default(),
            }
        };
        match self.unless_stopped(found.instrument(tracing::info_span!("retrieve"))).await {
            Ok(found) => {
                let Found { hits, problems } = found.clipped();
                Event::Retrieved { hits, problems }
            }
            Err(reason) => Event::Stopped { reason },
        }
    }

    async fn next_request(&mut self) -> Event {
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
        let Some(Request { text, plan }) = next else { return Event::Ended };
        self.deadline = deadline(&self.session);
        Event::Requested { text, plan }
    }

    /// The agent that a command is run by; `None` for what the runtime runs, for an agent's looking up as well.
    fn agent_of(&self, command: &Command) -> Option<AgentId> {
        command.agent.filter(|agent| command.tool != RECALL || self.agents.has_tool(*agent, RECALL))
    }

    /// Runs one command. The first stop lets it complete; an immediate stop or the deadline of the round drops it. Commands
    /// that only read or wait have no side effects and are dropped by any stop.
    fn call<'b>(&'b self, command: &'b Command) -> BoxFuture<'b, Event> {
        Box::pin(async move {
            if let Some(reason) = self.options.stop.reason() {
                return Event::Stopped { reason };
            }
            let started = Instant::now();
            let span = tracing::info_span!("call", tool = command.tool);
            let run = async {
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
            .instrument(span);
            let bounded = async {
                match self.deadline {
                    Some(deadline) => tokio::time::timeout_at(deadline, run).await.ok(),
                    None => Some(run.await),
                }
            };
            let stop = &self.options.stop;
            let reads = match self.agent_of(command) {
                Some(_) => false,
                None if self.sources.has(command) => self.sources.only_reads(command),
                None => self.options.tools.only_reads(command),
            };
            let stopped = async { if reads { stop.wait().await } else { std::future::pending().await } };
            let mut result = tokio::select! {
                reason = stopped => return Event::Stopped { reason },
                result = bounded => match result {
                    Some(result) => result,
                    None => CallResult::failure(
                        Some(Verdict::Unknown),
                        "interrupted by the wall-time budget of the round; it may be half done",
                    ),
                },
                reason = stop.wait_now() => {
                    tracing::info!(?reason, "dropped a running call");
                    CallResult::failure(
                        Some(Verdict::Unknown),
                        "interrupted by the stop; it may be half done",
                    )
                }
            };
            result.elapsed_ms = milliseconds(started.elapsed());
            Event::Returned { result: result.clipped() }
        })
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

/// The deadline of the current or next round.
pub(crate) fn deadline(session: &Session) -> Option<tokio::time::Instant> {
    session.wall_ms_left().map(|ms| tokio::time::Instant::now() + Duration::from_millis(ms))
}
