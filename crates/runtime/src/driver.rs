//! Drives a session: performs the effects that core requests, one at a time, and journals each first.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use deskhand_core::{
    command::{CallResult, Command, ToolSpec, Verdict},
    duration::milliseconds,
    ids::{AgentId, EffectId, SessionId},
    known_tools::RECALL,
    outcome::Outcome,
    prompt::marks_secret,
    record::{Change, Header, JOURNAL_VERSION, Line, Record},
    retrieval::Lookup,
    session::{Effect, EffectRecord, Event, EventRecord, Session, StopReason, Suspension},
};
use deskhand_desktop::Desktop;
use futures_util::future::BoxFuture;
use tracing::Instrument as _;

use crate::{
    agents::{Assignment, OpenAgents},
    camera::{Camera, Pictures},
    clock::now_ms,
    held::{HeldSession, InForce},
    hidden::{concealed, hide_typed},
    journal::{JournalWriter, SessionFolder},
    observe::observe,
    options::{RunEnd, RunError, RunOptions},
    people::Request,
    rank::scores,
    retrieve::Found,
    sources::OpenSources,
    tools::Circumstances,
    waiting::{ModelWaits, Wait},
};

/// Runs a session to its end. Each journal line is passed to `observer` right after it is written.
///
/// # Errors
/// [`RunError`] if the journal cannot be written. All other failures end in an outcome.
pub fn run<'a, D: Desktop>(
    mut options: RunOptions<'a, D>,
    observer: &'a mut (dyn FnMut(&Line) + Send),
) -> BoxFuture<'a, Result<RunEnd, RunError>> {
    Box::pin(async move {
        let id = SessionId(uuid::Uuid::now_v7().to_string());
        let folder = options.store.create(&id)?;
        let agents = match options.agents.open(&folder.agents_path()).await {
            Ok(agents) => agents,
            Err(error) => {
                folder.discard();
                return Err(error.into());
            }
        };
        let sources = open_sources(&mut options, &folder).await;
        options.config.agents = agents.definitions_with(&options.tools.recall_specs());
        options.config.applications = Some(options.desktop.applications());
        if options.config.marks_secret.is_empty() {
            options.config.marks_secret = marks_secret(&uuid::Uuid::new_v4().simple().to_string());
        }
        let begun = folder.keep_prompts(&options.prompts).and_then(|prompts| Ok((prompts, folder.begin()?)));
        let (prompts_sha256, journal) = match begun {
            Ok(begun) => begun,
            Err(error) => {
                agents.close().await;
                sources.close().await;
                folder.discard();
                return Err(error.into());
            }
        };
        let header = Header {
            version: JOURNAL_VERSION,
            session: id.clone(),
            created_ms: now_ms(),
            config: options.config.clone(),
            prompts_sha256,
            model: options.model.display_name().to_owned(),
            desktop: options.desktop_name.clone(),
            program: options.program.clone(),
            setup: options.setup.clone(),
            forked_from: None,
        };
        let session = Session::new(options.config.clone(), options.prompts.clone());
        let mut driver = Driver::new(options, (agents, sources), folder, journal, session, observer);
        let driven = match driver.append(Record::Header(Box::new(header))) {
            Ok(()) => driver.drive().await,
            Err(error) => Err(error),
        };
        driver.close().await;
        if driver.journal.is_empty() {
            driver.folder.discard();
        }
        driven?;
        Ok(driver.end(id))
    })
}

/// Resumes a session whose process exited, or that was forked, and runs it to its end. Differences between `options` and
/// the recorded settings are journaled first and apply from there on. `desktop_kept` says whether this is the same
/// desktop as before, with the same window ids.
///
/// # Errors
/// [`RunError`] if the journal cannot be written. All other failures end in an outcome.
pub fn resume<'a, D: Desktop>(
    held: HeldSession,
    desktop_kept: bool,
    mut options: RunOptions<'a, D>,
    observer: &'a mut (dyn FnMut(&Line) + Send),
) -> BoxFuture<'a, Result<RunEnd, RunError>> {
    Box::pin(async move {
        let secrets = &options.tools.secrets;
        hide_typed(&held, secrets).await?;
        let agents = options.agents.open(&held.folder.agents_path()).await?;
        let sources = open_sources(&mut options, &held.folder).await;
        options.config.agents = agents.definitions_with(&options.tools.recall_specs());
        options.config.applications = Some(options.desktop.applications());
        options.config.marks_secret.clone_from(&held.in_force.config.marks_secret);
        let in_force = InForce {
            config: options.config.clone(),
            prompts: options.prompts.clone(),
            model: options.model.display_name().to_owned(),
            desktop: options.desktop_name.clone(),
            setup: options.setup.clone(),
        };
        let id = held.id();
        let HeldSession { folder, journal, session, in_force: before, begun: interrupted, outcome, .. } =
            held;
        let mut driver = Driver::new(options, (agents, sources), folder, journal, session, observer);
        driver.outcome = outcome;
        let changed = (in_force != before).then_some(in_force);
        let driven = driver.continue_session(changed, interrupted, desktop_kept).await;
        driver.close().await;
        driven?;
        Ok(driver.end(id))
    })
}

/// Opens the sources of tools, and puts all tools into the configuration. What is missing is said to the user.
async fn open_sources<D: Desktop>(options: &mut RunOptions<'_, D>, folder: &SessionFolder) -> OpenSources {
    let (mut host, mut app) = (options.tools.host_specs(), options.tools.app_specs());
    let taken: Vec<ToolSpec> = host.iter().chain(&app).cloned().collect();
    let sources = options.tools.sources.open(&folder.agents_path(), &taken).await;
    options.config.missing_tools = sources.problems().to_vec();
    host.extend(sources.host_specs());
    app.extend(sources.app_specs());
    (options.config.host_tools, options.config.app_tools) = (host, app);
    sources
}

struct Driver<'a, D: Desktop> {
    options: RunOptions<'a, D>,
    agents: OpenAgents,
    sources: OpenSources,
    folder: SessionFolder,
    camera: Camera,
    journal: JournalWriter,
    session: Session,
    requests: VecDeque<Request>,
    /// The mutex is never locked: it makes the driver `Sync`, so that sessions can be spawned.
    observer: Mutex<&'a mut (dyn FnMut(&Line) + Send)>,
    outcome: Option<Outcome>,
    suspended: Option<Suspension>,
    /// The deadline of the current round.
    deadline: Option<tokio::time::Instant>,
}

impl<'a, D: Desktop> Driver<'a, D> {
    fn new(
        mut options: RunOptions<'a, D>,
        (agents, sources): (OpenAgents, OpenSources),
        folder: SessionFolder,
        journal: JournalWriter,
        session: Session,
        observer: &'a mut (dyn FnMut(&Line) + Send),
    ) -> Self {
        let requests = std::mem::take(&mut options.requests).into();
        let camera = Camera::new(folder.clone(), options.config.view.clone());
        Self {
            options,
            agents,
            sources,
            folder,
            camera,
            journal,
            session,
            requests,
            observer: Mutex::new(observer),
            outcome: None,
            suspended: None,
            deadline: None,
        }
    }

    async fn close(&self) {
        tokio::join!(self.agents.close(), self.sources.close());
    }

    fn end(self, session: SessionId) -> RunEnd {
        let outcome = self.outcome.filter(|_| self.suspended.is_none());
        RunEnd { session, folder: self.folder, outcome, suspended: self.suspended }
    }

    /// Continues a resumed session, recording new settings if they `changed`.
    async fn continue_session(
        &mut self,
        changed: Option<InForce>,
        interrupted: Option<EffectId>,
        desktop_kept: bool,
    ) -> Result<(), RunError> {
        let program = self.options.program.clone();
        if let Some(InForce { config, prompts, model, desktop, setup }) = changed {
            self.session.change(config.clone(), prompts.clone());
            let change = Change { config, prompts, model, desktop, program, setup };
            self.append(Record::Changed(Box::new(change)))?;
        }
        let interrupted = interrupted.filter(|id| self.session.next().is_some_and(|wanted| wanted.id == *id));
        self.take_in(interrupted, Event::Resumed { desktop_kept })?;
        if self.session.in_round() {
            self.deadline = deadline(&self.session);
        }
        self.drive().await
    }

    fn drive(&mut self) -> BoxFuture<'_, Result<(), RunError>> {
        Box::pin(async move {
            while let Some(record) = self.session.next().cloned() {
                let before = Instant::now();
                let is_held = self
                    .options
                    .people
                    .hold(&record.effect, self.unless_stopped(std::future::pending::<()>()));
                if is_held.await {
                    self.journal.paused(milliseconds(before.elapsed()));
                }
                let ends = matches!(record.effect, Effect::AwaitRequest | Effect::Finish { .. });
                if !ends && self.options.stop.reason() == Some(StopReason::Signal) {
                    return self.take_in(None, Event::Suspended { reason: Suspension::Signal });
                }
                // Journaled before it is performed: a command without a result was dispatched.
                self.append(Record::Effect(Box::new(record.clone())))?;
                let event = self.perform(&record).await;
                let event = self.suspends(concealed(event, &self.session, &self.options.tools.secrets));
                self.take_in(Some(record.id), event)?;
                if self.suspended.is_some() {
                    return Ok(());
                }
            }
            Ok(())
        })
    }

    /// Journals an event, then applies it.
    fn take_in(&mut self, effect: Option<EffectId>, event: Event) -> Result<(), RunError> {
        let effect = effect.filter(|_| !event.is_unsolicited());
        let event = EventRecord { effect, at_ms: now_ms(), event };
        self.append(Record::Event(Box::new(event.clone())))?;
        self.session.apply(&event)?;
        if let Event::Suspended { reason } = event.event {
            // A model failure can use up the budget, which ends the round.
            let is_over =
                self.session.next().is_some_and(|next| matches!(next.effect, Effect::Finish { .. }));
            self.suspended = Some(reason).filter(|_| !is_over);
        }
        Ok(())
    }

    /// Suspends the session where it would otherwise give up its round although the round can go on later: the process was told
    /// to end, or the model does not answer. In a conversation the user decides what to do without the model.
    fn suspends(&self, event: Event) -> Event {
        if matches!(event, Event::Stopped { reason: StopReason::Signal }) && self.session.in_round() {
            return Event::Suspended { reason: Suspension::Signal };
        }
        let goes_on = self.session.needs_model() && !self.options.people.converse;
        if let Event::ModelFailed { failure } = &event
            && goes_on
        {
            return Event::Suspended { reason: Suspension::Model { failure: failure.clone() } };
        }
        event
    }

    fn append(&mut self, record: Record) -> Result<(), RunError> {
        let at_ms = match &record {
            Record::Event(event) => event.at_ms,
            Record::Header(_) | Record::Effect(_) | Record::Changed(_) => now_ms(),
        };
        let line = self.journal.append(at_ms, record)?;
        (self.observer.get_mut().unwrap_or_else(PoisonError::into_inner))(&line);
        Ok(())
    }

    async fn perform(&mut self, record: &EffectRecord) -> Event {
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
                let signs = ModelWaits { waits: &waits, model: &model };
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
                    subtask: subtask.clone(),
                    message: message.clone(),
                    request: request.clone(),
                    context: context.clone(),
                };
                let work = self.agents.work(*agent, assignment).instrument(tracing::info_span!("delegate"));
                match self.unless_stopped(work).await {
                    Ok(report) => Event::Delegated { report: report.clipped() },
                    Err(reason) => Event::Stopped { reason },
                }
            }
            Effect::Finish { outcome } => {
                self.outcome = Some(outcome.clone());
                let last = self.camera.last_look(self.options.desktop);
                let picture = self.unless_stopped(last).await.ok().flatten();
                Event::Acknowledged { picture }
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
                            Circumstances { policy, places, secrets: &secrets, session: Some(&self.folder) };
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
    async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T, StopReason> {
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
fn deadline(session: &Session) -> Option<tokio::time::Instant> {
    session.wall_ms_left().map(|ms| tokio::time::Instant::now() + Duration::from_millis(ms))
}
