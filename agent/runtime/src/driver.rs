//! Drives a session: performs the effects that core requests, one at a time, and journals each first.

use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

use deskhand_desktop::Desktop;
use deskhand_machine::{
    command::ToolSpec,
    record::{JOURNAL_VERSION, JournalEntry, JournalHeader, JournalRecord, SettingsChange},
    session::{
        Effect, EffectRecord, EventRecord, Session, SessionEvent, StopReason, Suspension, WORDS_CHARS_MAX,
    },
};
use deskhand_secret::Veil;
use deskhand_ui::{
    duration::milliseconds,
    ids::{EffectId, SessionId},
    text::clip,
};
use futures_util::{FutureExt as _, future::BoxFuture};
use tokio::sync::oneshot;

use crate::{
    agents::OpenAgents,
    clock::now_ms,
    held::{HeldSession, InForce},
    hidden::{concealed, disclosed, hide_typed},
    journal::{JournalWriter, SessionFolder, SessionOwnershipLost},
    options::{RunEnd, RunError, SessionRunOptions},
    people::{PauseNotice, People, hands::watch_hands, held_by_hands, held_by_pause},
    perform::{Performer, deadline},
    sources::OpenSources,
};

/// The most words of the user that a run takes in. More wait until their queue is full and are refused there.
const WORDS_MAX: u32 = 1_000;

/// Placeholder for a password that a person typed while in control.
const TYPED_BY_HAND: &str = "typed by hand";

/// Runs a session to its end. Each journal line is passed to `observer` right after it is written.
///
/// # Errors
/// [`RunError`] if the journal cannot be written. All other failures end in an outcome.
pub fn run<'a, D: Desktop>(
    mut options: SessionRunOptions<'a, D>,
    observer: &'a mut (dyn FnMut(&JournalEntry) + Send),
) -> BoxFuture<'a, Result<RunEnd, RunError>> {
    Box::pin(async move {
        let id = options.id.take().unwrap_or_else(new_id);
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
            options.config.marks_secret = uuid::Uuid::new_v4().simple().to_string();
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
        let header = JournalHeader {
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
        let driven = match driver.recorder.append(JournalRecord::Header(Box::new(header))) {
            Ok(()) => driver.drive().await,
            Err(error) => Err(error),
        };
        driver.close().await;
        if driver.recorder.journal.is_empty() {
            driver.work.folder.discard();
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
    mut options: SessionRunOptions<'a, D>,
    observer: &'a mut (dyn FnMut(&JournalEntry) + Send),
) -> BoxFuture<'a, Result<RunEnd, RunError>> {
    Box::pin(async move {
        let secrets = &options.tools.secrets;
        hide_typed(&held.passwords, &held.typed, secrets).await?;
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
        driver.work.outcome = outcome;
        let changed = (in_force != before).then_some(in_force);
        let driven = driver.continue_session(changed, interrupted, desktop_kept).await;
        driver.close().await;
        driven?;
        Ok(driver.end(id))
    })
}

/// An id that no other session has; later ones sort after earlier ones.
pub fn new_id() -> SessionId {
    SessionId(uuid::Uuid::now_v7().to_string())
}

/// Opens the sources of tools, and puts all tools into the configuration. What is missing is said to the user.
async fn open_sources<D: Desktop>(
    options: &mut SessionRunOptions<'_, D>,
    folder: &SessionFolder,
) -> OpenSources {
    let (mut host, mut app) = (options.tools.host_specs(), options.tools.app_specs());
    let taken: Vec<ToolSpec> = host.iter().chain(&app).cloned().collect();
    let sources = options.tools.sources.open(&folder.agents_path(), &taken).await;
    options.config.missing_tools = sources.problems().to_vec();
    host.extend(sources.host_specs());
    app.extend(sources.app_specs());
    (options.config.host_tools, options.config.app_tools) = (host, app);
    sources
}

/// Writes the journal.
struct SessionRecorder<'a> {
    journal: JournalWriter,
    /// The mutex is never locked: it makes the driver `Sync`, so that sessions can be spawned.
    observer: Mutex<&'a mut (dyn FnMut(&JournalEntry) + Send)>,
    /// Number of user messages received.
    words: u32,
}

impl SessionRecorder<'_> {
    fn append(&mut self, record: JournalRecord) -> Result<(), RunError> {
        let at_ms = match &record {
            JournalRecord::Event(event) => event.at_ms,
            JournalRecord::Header(_) | JournalRecord::Effect(_) | JournalRecord::Changed(_) => now_ms(),
        };
        let line = self.journal.append(at_ms, record)?;
        (self.observer.get_mut().unwrap_or_else(PoisonError::into_inner))(&line);
        Ok(())
    }

    /// Returns `true` if further words of the user are taken in.
    const fn hears(&self) -> bool {
        self.words < WORDS_MAX
    }

    /// Journals words of the user at once, also while an effect is in progress. The session gets them before anything else.
    fn heard(
        &mut self,
        text: &str,
        during: Option<EffectId>,
        veil: &Veil,
    ) -> Result<Option<EventRecord>, RunError> {
        let text = veil.hide(&clip(text.trim(), WORDS_CHARS_MAX)).into_owned();
        if text.is_empty() {
            return Ok(None);
        }
        self.words += 1;
        let event = EventRecord { effect: None, at_ms: now_ms(), event: SessionEvent::Told { text, during } };
        self.append(JournalRecord::Event(Box::new(event.clone())))?;
        Ok(Some(event))
    }
}

struct Driver<'a, D: Desktop> {
    work: Performer<'a, D>,
    recorder: SessionRecorder<'a>,
    suspended: Option<Suspension>,
}

impl<'a, D: Desktop> Driver<'a, D> {
    fn new(
        options: SessionRunOptions<'a, D>,
        opened: (OpenAgents, OpenSources),
        folder: SessionFolder,
        journal: JournalWriter,
        session: Session,
        observer: &'a mut (dyn FnMut(&JournalEntry) + Send),
    ) -> Self {
        Self {
            work: Performer::new(options, opened, folder, session),
            recorder: SessionRecorder { journal, observer: Mutex::new(observer), words: 0 },
            suspended: None,
        }
    }

    async fn close(&self) {
        self.work.close().await;
    }

    fn end(self, session: SessionId) -> RunEnd {
        let Self { work, suspended, .. } = self;
        let outcome = work.outcome.filter(|_| suspended.is_none());
        RunEnd { session, folder: work.folder, outcome, suspended }
    }

    /// Continues a resumed session, recording new settings if they `changed`.
    async fn continue_session(
        &mut self,
        changed: Option<InForce>,
        interrupted: Option<EffectId>,
        desktop_kept: bool,
    ) -> Result<(), RunError> {
        let program = self.work.options.program.clone();
        if let Some(InForce { config, prompts, model, desktop, setup }) = changed {
            self.work.session.change(config.clone(), prompts.clone());
            let change = SettingsChange { config, prompts, model, desktop, program, setup };
            self.recorder.append(JournalRecord::Changed(Box::new(change)))?;
        }
        let is_next = |id: &EffectId| self.work.session.next().is_some_and(|wanted| wanted.id == *id);
        let interrupted = interrupted.filter(is_next);
        self.take_in(interrupted, SessionEvent::Resumed { desktop_kept })?;
        if self.work.session.in_round() {
            self.work.deadline = deadline(&self.work.session);
        }
        self.drive().await
    }

    fn drive(&mut self) -> BoxFuture<'_, Result<(), RunError>> {
        Box::pin(async move {
            while let Some(record) = self.work.session.next().cloned() {
                if self.hold(&record).await? {
                    continue;
                }
                let ends = matches!(record.effect, Effect::AwaitRequest | Effect::Finish { .. });
                if !ends && self.work.options.stop.reason() == Some(StopReason::Signal) {
                    return self.take_in(None, SessionEvent::Suspended { reason: Suspension::Signal });
                }
                // Journaled before it is performed: a command without a result was dispatched.
                self.recorder.append(JournalRecord::Effect(Box::new(record.clone())))?;
                if matches!(record.effect, Effect::Call { .. })
                    && let Some(fence) = self.work.options.store.fence()
                    && let Err(SessionOwnershipLost) = fence.may_act().await
                {
                    return self
                        .take_in(Some(record.id), SessionEvent::Suspended { reason: Suspension::Elsewhere });
                }
                let Some(event) = self.carry_out(&record).await? else {
                    let before = held_by_hands(&record.effect).unwrap_or_default();
                    self.handed_over(Some(record.id), before).await?;
                    continue;
                };
                let secrets = &self.work.options.tools.secrets;
                let event = self.suspends(concealed(event, &self.work.session, secrets));
                if let Some(disclosed) = disclosed(&event, &self.work.session, secrets) {
                    self.take_in(None, disclosed)?;
                }
                self.take_in(Some(record.id), event)?;
                if self.suspended.is_some() {
                    return Ok(());
                }
            }
            Ok(())
        })
    }

    /// Takes in what people said and did before an effect, and waits while the session is paused or taken over. Whether the effect that
    /// is next may be another one now. In a pause the wall-time budget of the round keeps running.
    async fn hold(&mut self, record: &EffectRecord) -> Result<bool, RunError> {
        let (people, is_stopped) =
            (self.work.options.people.clone(), self.work.options.stop.reason().is_some());
        if let Some(before) = held_by_hands(&record.effect)
            && people.pause.was_taken_over()
            && !is_stopped
        {
            self.handed_over(None, before).await?;
            return Ok(true);
        }
        let veil = self.veil();
        if self.recorder.hears()
            && let Some(text) = people.channel.heard_boxed().now_or_never()
        {
            let told = self.recorder.heard(&text, None, &veil)?;
            told.iter().try_for_each(|told| self.work.session.apply(told))?;
            return Ok(true);
        }
        // A stop ends a pause, and the hold of a person who has not handed back.
        match held_by_pause(&record.effect).filter(|_| people.pause.is_paused() && !is_stopped) {
            Some(before) => self.paused(&people, before).await,
            None => Ok(false),
        }
    }

    /// Waits while the session is paused. Returns `true` if the next effect may have changed.
    async fn paused(&mut self, people: &People<'a>, before: &str) -> Result<bool, RunError> {
        let (begun, veil, mut told) = (Instant::now(), self.veil(), Vec::new());
        people.channel.notify_boxed(PauseNotice::Paused { before: before.to_owned() }).await;
        let is_stopped = {
            let stopped = self.work.unless_stopped(std::future::pending::<()>());
            tokio::pin!(stopped);
            loop {
                tokio::select! {
                    biased;
                    () = people.pause.wait_until_taken_over() => break false,
                    () = people.pause.wait_until_resumed() => break false,
                    _ = &mut stopped => break true,
                    text = people.channel.heard_boxed(), if self.recorder.hears() => {
                        told.extend(self.recorder.heard(&text, None, &veil)?);
                    }
                }
            }
        };
        if !people.pause.is_taken_over() {
            people.channel.notify_boxed(PauseNotice::Resumed).await;
        }
        self.recorder.journal.paused(milliseconds(begun.elapsed()));
        told.iter().try_for_each(|told| self.work.session.apply(told))?;
        Ok(!is_stopped || !told.is_empty())
    }

    /// A person has the desktop until they hand back, or the session is stopped. `during` is the prompt to the user that it withdraws.
    async fn handed_over(&mut self, during: Option<EffectId>, before: &str) -> Result<(), RunError> {
        self.take_in(None, SessionEvent::TakenOver { during })?;
        let (begun_at, veil, mut told) = (Instant::now(), self.veil(), Vec::new());
        let (people, stop) = (self.work.options.people.clone(), self.work.options.stop.clone());
        let notice = |watched: bool| PauseNotice::TakenOver { before: before.to_owned(), watched };
        let (mut is_known, mut done) = (false, None);
        {
            let (begun, watched) = oneshot::channel();
            let until = async {
                tokio::select! {
                    () = people.pause.wait_until_resumed() => {}
                    _ = stop.wait() => {}
                }
            };
            let (desktop, tools) = (self.work.options.desktop, &self.work.options.config.app_tools);
            let watching = watch_hands(desktop, people.hands, tools, begun, until);
            let telling = async {
                let watched = watched.await.unwrap_or(false);
                people.channel.notify_boxed(notice(watched)).await;
            };
            tokio::pin!(watching, telling);
            while done.is_none() {
                tokio::select! {
                    biased;
                    () = &mut telling, if !is_known => is_known = true,
                    text = people.channel.heard_boxed(), if self.recorder.hears() => {
                        told.extend(self.recorder.heard(&text, None, &veil)?);
                    }
                    by_hand = &mut watching => done = Some(by_hand),
                }
            }
        }
        if !is_known {
            people.channel.notify_boxed(notice(false)).await;
        }
        self.recorder.journal.paused(milliseconds(begun_at.elapsed()));
        told.iter().try_for_each(|told| self.work.session.apply(told))?;
        let done = done.unwrap_or_default();
        for password in &done.passwords {
            veil.add_typed(TYPED_BY_HAND, password, /*everywhere*/ true);
        }
        let plain = |text: String| veil.hide(&text).into_owned();
        let note = people.pause.dealt_with().map(|note| plain(clip(note.trim(), WORDS_CHARS_MAX)));
        let event = SessionEvent::HandedBack {
            acts: done.acts.into_iter().map(plain).collect(),
            unwatched: done.unwatched.into_iter().map(plain).collect(),
            note: note.filter(|note| !note.is_empty()),
        };
        self.take_in(None, event)?;
        people.channel.notify_boxed(PauseNotice::HandedBack).await;
        // The time of the person is not the agents'.
        if self.work.session.in_round() {
            self.work.deadline = deadline(&self.work.session);
        }
        Ok(())
    }

    fn veil(&self) -> Veil {
        self.work.options.tools.secrets.veil().clone()
    }

    /// Performs an effect, and takes in what the user says meanwhile. `None` if a person took over instead of replying to a prompt.
    async fn carry_out(&mut self, record: &EffectRecord) -> Result<Option<SessionEvent>, RunError> {
        let (people, veil, mut told) = (self.work.options.people.clone(), self.veil(), Vec::new());
        let asks = matches!(record.effect, Effect::AskUser { .. } | Effect::AwaitApproval { .. });
        let event = {
            let performing = self.work.perform(record);
            tokio::pin!(performing);
            loop {
                tokio::select! {
                    biased;
                    event = &mut performing => break Some(event),
                    () = people.pause.wait_until_taken_over(), if asks => break None,
                    text = people.channel.heard_boxed(), if self.recorder.hears() => {
                        told.extend(self.recorder.heard(&text, Some(record.id), &veil)?);
                    }
                }
            }
        };
        told.iter().try_for_each(|told| self.work.session.apply(told))?;
        Ok(event)
    }

    /// Journals an event, then applies it.
    fn take_in(&mut self, effect: Option<EffectId>, event: SessionEvent) -> Result<(), RunError> {
        let effect = effect.filter(|_| !event.is_unsolicited());
        let event = EventRecord { effect, at_ms: now_ms(), event };
        self.recorder.append(JournalRecord::Event(Box::new(event.clone())))?;
        self.work.session.apply(&event)?;
        if let SessionEvent::Suspended { reason } = event.event {
            // A model failure can use up the budget, which ends the round.
            let next = self.work.session.next();
            let is_over = next.is_some_and(|next| matches!(next.effect, Effect::Finish { .. }));
            self.suspended = Some(reason).filter(|_| !is_over);
        }
        Ok(())
    }

    /// Suspends the session where it would otherwise give up its round although the round can go on later: the process was told
    /// to end, or the model does not answer. In a conversation the user decides what to do without the model.
    fn suspends(&self, event: SessionEvent) -> SessionEvent {
        let session = &self.work.session;
        if matches!(event, SessionEvent::Stopped { reason: StopReason::Signal }) && session.in_round() {
            return SessionEvent::Suspended { reason: Suspension::Signal };
        }
        let goes_on = session.needs_model() && !self.work.options.people.converse;
        if let SessionEvent::ModelFailed { failure } = &event
            && goes_on
        {
            return SessionEvent::Suspended { reason: Suspension::Model { failure: failure.clone() } };
        }
        event
    }
}
