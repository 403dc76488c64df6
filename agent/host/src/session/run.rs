//! One session from the start of its desktop to its end.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use deskhand_desktop::{Capture as _, Native as _};
use deskhand_desktop_act::{ActLimits, VeiledDesktop};
use deskhand_desktop_detect::DetectingDesktop;
use deskhand_desktop_linux::LinuxDesktop;
use deskhand_machine::{
    outcome::OutcomeKind,
    record::{JournalEntry, JournalRecord},
    workflow::WorkflowEnd,
};
use deskhand_model::ModelTeam;
use deskhand_runtime::{
    Fence, HeldSession, RunEnd, RunSummary, SessionRunOptions, StopSwitch, Toolbox, WaitReason, Waits,
    people::{AnyUserChannel, ControlSocket, Everybody, Nobody, PauseSwitch, People, SessionControls},
    private,
    tools::DuplicateTool,
};
use deskhand_ui::{duration::milliseconds, ids::SessionId, text::error_chain};
use futures_util::future::BoxFuture;

use super::{
    DesktopEnd, EndedSession, SessionError, following::SessionFollower, hands::HandsOn, plan::SessionPlan,
    script::skip_answered,
};
use crate::{
    HostError, Notice, Observer, WorkEndNotification,
    config::DesktopKind,
    live::ScreenPlace,
    notify::tell,
    ranker::ranker,
    telemetry::SessionTrace,
    workspace::{MissingFilePolicy, OpenableDocument, Workspace, WorkspaceError, check_documents},
};

/// The desktop that agents of a session see.
type SessionDesktop = DetectingDesktop<VeiledDesktop<LinuxDesktop>>;

/// Maximum time for the final screenshot.
const PICTURE_BOUND: Duration = Duration::from_secs(5);

/// The user channel of a session, its pause and stop switches, and what it waits for. Clones share them.
#[derive(Clone)]
pub struct Control {
    /// The channel for requests, questions and approvals.
    pub user: Arc<dyn AnyUserChannel>,
    /// Pauses the session.
    pub pause: PauseSwitch,
    /// Stops the session.
    pub stop: StopSwitch,
    /// Says what the session waits for.
    pub waits: Waits,
    /// Says where its screen can be seen.
    pub screen: ScreenPlace,
}

impl Control {
    /// No user.
    pub fn unattended() -> Self {
        Self {
            user: Arc::new(Nobody),
            pause: PauseSwitch::default(),
            stop: StopSwitch::new(),
            waits: Waits::default(),
            screen: ScreenPlace::default(),
        }
    }
}

/// A session to run. Everything that can be checked before its desktop starts has been checked.
pub struct PreparedSession {
    pub(crate) plan: SessionPlan,
    held: Option<HeldSession>,
    /// `true` if the script is the same as before, so that its first replies are skipped.
    same_script: bool,
    /// The request of its last round, if it goes on with that.
    again: Option<String>,
}

impl PreparedSession {
    pub(crate) fn new(plan: SessionPlan) -> Self {
        Self { plan, held: None, same_script: false, again: None }
    }

    pub(super) fn resumed(
        plan: SessionPlan,
        held: HeldSession,
        same_script: bool,
        again: Option<String>,
    ) -> Self {
        Self { plan, held: Some(held), same_script, again }
    }

    /// Its id, if it is resumed or forked. A new session gets its id when it begins.
    pub fn id(&self) -> Option<SessionId> {
        self.held.as_ref().map(HeldSession::id)
    }

    /// The same for a session that another machine may take over: each command waits for `fence`, and the desktop ends with this process.
    #[must_use]
    pub fn with_fence(self, fence: Arc<dyn Fence>) -> Self {
        Self { plan: self.plan.fenced(fence), ..self }
    }

    /// The record that was cut off when the previous process died; it has been removed.
    pub fn cut_off(&self) -> Option<u64> {
        self.held.as_ref().and_then(HeldSession::cut_off)
    }

    /// Runs the session from the start of its desktop to its end; `None` if it was stopped before it began. Dropping the
    /// future ends the desktop and everything on it.
    ///
    /// # Errors
    /// The model cannot be used, the desktop or a program does not start, or the journal cannot be written. All other
    /// failures become an outcome.
    pub fn run<'a>(
        self,
        control: &'a Control,
        observer: &'a mut dyn Observer,
    ) -> BoxFuture<'a, Result<Option<EndedSession>, HostError>> {
        // Boxed here, so that not every program that runs sessions compiles all of this once more.
        Box::pin(self.run_through(control, observer))
    }

    async fn run_through(
        self,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Result<Option<EndedSession>, HostError> {
        let Self { plan, held, same_script, again } = self;
        let opened = plan.model.open()?;
        let mut trace = SessionTrace::begin(plan.telemetry.as_ref());
        if let Some(held) = &held {
            if same_script {
                skip_answered(&opened.model, held.folder())?;
            }
            let past = held.folder().read_lines(&mut |line| {
                observer.past(line);
                trace.as_mut().into_iter().for_each(|trace| trace.past(line));
            });
            past.map_err(SessionError::Journal)?;
        }
        if let Some(request) = again {
            observer.notice(&Notice::Again { request });
        }
        if opened.has_server() {
            let _waiting = control.waits.begin(WaitReason::LocalModel);
            tokio::select! {
                started = opened.start() => started?,
                _ = control.stop.wait() => return Ok(None),
            }
        }
        let run = SessionRun {
            plan: &plan,
            model: &opened.model,
            control,
            observer: &mut *observer,
            trace: trace.as_mut(),
        };
        let ended = run.run(held).await;
        if let Some(trace) = trace {
            trace.end().await;
        }
        opened.end().await;
        if let Ok(Some(ended)) = &ended {
            tell_that_it_ended(&plan, ended, observer).await;
        }
        ended
    }
}

/// Tells who wants to know that a session has ended. One that had no request is nobody's.
async fn tell_that_it_ended(plan: &SessionPlan, ended: &EndedSession, observer: &mut dyn Observer) {
    let Some(settings) = &plan.notify else { return };
    if ended.outcome.is_none() && ended.suspended.is_none() {
        return;
    }
    for problem in tell(settings, &WorkEndNotification::of_session(ended, plan.schedule.as_ref())).await {
        observer.notice(&Notice::NotTold { problem });
    }
}

/// Result of a session, before its desktop ends.
struct SessionRunResult {
    end: RunEnd,
    workflows: Vec<WorkflowEnd>,
    summary: RunSummary,
    screenshot: Option<PathBuf>,
}

/// A running session.
struct SessionRun<'a> {
    plan: &'a SessionPlan,
    model: &'a ModelTeam,
    control: &'a Control,
    observer: &'a mut dyn Observer,
    trace: Option<&'a mut SessionTrace>,
}

impl SessionRun<'_> {
    /// Boxed, as are the futures within it: together they have 100 KB, and the stack of who runs it may be small.
    fn run<'a>(mut self, held: Option<HeldSession>) -> BoxFuture<'a, Result<Option<EndedSession>, HostError>>
    where
        Self: 'a,
    {
        Box::pin(async move {
            let begun = Instant::now();
            let (stop, waits) = (&self.control.stop, &self.control.waits);
            // Before the session begins there is nothing to record: a stop just ends it.
            let waiting = waits.begin(WaitReason::Desktop);
            let (mut workspace, kept) = tokio::select! {
                started = start(self.plan, held.as_ref()) => started?,
                _ = stop.wait() => return Ok(None),
            };
            drop(waiting);
            self.control.screen.note(workspace.back_end());
            self.observer.notice(&works_on(self.plan, &workspace, kept));
            if self.plan.workspace.kind() == DesktopKind::Virtual
                && !self.plan.workspace.confines_applications()
            {
                self.observer.notice(&Notice::Unconfined { socket: self.plan.people.socket });
            }
            let again = if held.is_some() && !kept { self.documents_of_before() } else { Vec::new() };
            let waiting = {
                let more = again.iter().map(OpenableDocument::argument);
                waits
                    .begin(WaitReason::Opening(self.plan.workspace.opens().into_iter().chain(more).collect()))
            };
            let opened = tokio::select! {
                opened = self.plan.workspace.open_with(&mut workspace, &again) => opened.map(|()| true),
                _ = stop.wait() => Ok(false),
            };
            drop(waiting);
            if !matches!(opened, Ok(true)) {
                self.close(workspace).await;
                return Ok(opened.map(|_| None)?);
            }
            let desktop_start_ms = workspace.back_end().startup().total_ms;
            let SessionRunResult { end, workflows, summary, screenshot } =
                match self.work_on(&workspace, held, kept).await {
                    Ok(ended) => ended,
                    Err(error) => {
                        self.close(workspace).await;
                        return Err(error);
                    }
                };
            let _waiting = waits.begin(WaitReason::Closing);
            let (desktop, notices) =
                DesktopEnd::of(&self.plan.workspace, workspace, &end, summary.tally.calls).await;
            notices.iter().for_each(|notice| self.observer.notice(notice));
            let elapsed_ms = milliseconds(begun.elapsed());
            let RunEnd { session, folder, outcome, suspended } = end;
            Ok(Some(EndedSession {
                session,
                folder,
                outcome,
                suspended,
                desktop,
                summary,
                desktop_start_ms,
                elapsed_ms,
                screenshot,
                workflows,
            }))
        })
    }

    /// Reopens the documents of the session on a new desktop. A document that cannot be opened is reported and skipped; the
    /// agents see what is open.
    fn documents_of_before(&mut self) -> Vec<OpenableDocument> {
        let opened = &self.plan.workspace.documents;
        let before = self.plan.setup.documents.iter();
        let missing = before.filter(|path| opened.iter().all(|document| document.named != **path));
        let mut documents = Vec::new();
        for path in missing {
            match check_documents(std::slice::from_ref(path), MissingFilePolicy::Refused) {
                Ok(checked) => documents.extend(checked),
                Err(error) => {
                    let problem = error_chain(&error);
                    self.observer.notice(&Notice::NotReopened { path: path.clone(), problem });
                }
            }
        }
        documents
    }

    async fn close(&mut self, workspace: Workspace) {
        for notice in workspace.close().await {
            self.observer.notice(&notice);
        }
    }

    fn work_on<'a>(
        &'a mut self,
        workspace: &'a Workspace,
        held: Option<HeldSession>,
        kept: bool,
    ) -> BoxFuture<'a, Result<SessionRunResult, HostError>> {
        Box::pin(async move {
            let plan = self.plan;
            let tools = toolbox(plan, workspace).map_err(|error| HostError::Tools(error.into()))?;
            let mut following = SessionFollower::of(held.as_ref())?;
            let socket = self.socket();
            let user = self.user(socket.as_ref());
            let hands = HandsOn::of(workspace);
            let options = SessionRunOptions {
                id: plan.id.clone(),
                store: &plan.store,
                desktop: &workspace.desktop,
                desktop_name: workspace.name.clone(),
                model: self.model,
                tools: &tools,
                agents: plan.agents(),
                config: plan.config.clone(),
                prompts: plan.prompts.clone(),
                requests: plan.requests.clone(),
                people: People {
                    channel: &*user,
                    converse: plan.converse,
                    approvals: plan.people.approvals,
                    question_timeout: plan.people.question_timeout,
                    approval_timeout: plan.people.approval_timeout,
                    pause: self.control.pause.clone(),
                    hands: Some(&hands),
                },
                stop: self.control.stop.clone(),
                waits: self.control.waits.clone(),
                ranker: plan.model.embeddings.clone().map(ranker),
                retrieve: plan.retrievers.ask.clone(),
                program: concat!("deskhand ", env!("CARGO_PKG_VERSION")).to_owned(),
                setup: plan.setup.to_json(),
            };
            if let Some(held) = &held {
                note(plan, workspace, held.folder().path(), self.observer);
                listen(socket.as_deref(), &held.id(), held.folder().path());
            }
            let observer = &mut *self.observer;
            let mut trace = self.trace.as_deref_mut();
            let mut on_line = |line: &JournalEntry| {
                if let JournalRecord::Header(header) = &line.record {
                    let folder = plan.store.root().join(&header.session.0);
                    note(plan, workspace, &folder, observer);
                    listen(socket.as_deref(), &header.session, &folder);
                }
                following.read(line);
                observer.record(line);
                if let Some(trace) = &mut trace {
                    trace.record(line);
                }
                if let Some(socket) = &socket {
                    socket.recorded(line.seq);
                }
            };
            let ran = match held {
                None => deskhand_runtime::run(options, &mut on_line).await,
                Some(held) => deskhand_runtime::resume(held, kept, options, &mut on_line).await,
            };
            let end = ran.map_err(HostError::Run)?;
            if end.outcome.as_ref().is_some_and(|outcome| outcome.kind == OutcomeKind::Finished) {
                workspace.settle().await;
            }
            let screenshot = self.picture(workspace).await;
            let workflows = following.take_workflows();
            let (summary, problem) = following.end(&end.session.0, plan.teaches.clone()).await;
            problem.iter().for_each(|problem| self.observer.notice(problem));
            Ok(SessionRunResult { end, workflows, summary, screenshot })
        })
    }

    /// Who is asked: who started the session, and who is at its control socket.
    fn user(&self, socket: Option<&Arc<ControlSocket>>) -> Arc<dyn AnyUserChannel> {
        let own = Arc::clone(&self.control.user);
        match socket.cloned() {
            Some(socket) if own.is_nobody_boxed() => socket,
            Some(socket) => Arc::new(Everybody::of(own, socket)),
            None => own,
        }
    }

    /// Returns the control socket, at which clients watch and steer the session.
    fn socket(&self) -> Option<Arc<ControlSocket>> {
        let Control { stop, pause, waits, .. } = self.control.clone();
        let patience = self.plan.people.patience?;
        let steering = self.plan.people.steering(self.plan.workspace.confines_applications());
        Some(Arc::new(ControlSocket::new(SessionControls { stop, pause, waits }, patience, steering)))
    }

    /// Saves a screenshot. A failure is reported but does not change the outcome.
    async fn picture(&mut self, workspace: &Workspace) -> Option<PathBuf> {
        let file = self.plan.screenshot.as_deref()?;
        let problem = match tokio::time::timeout(PICTURE_BOUND, save(workspace, file)).await {
            Ok(Ok(())) => return Some(std::path::absolute(file).unwrap_or_else(|_| file.to_owned())),
            Ok(Err(error)) => Notice::no_screenshot(&error),
            Err(_) => Notice::NoScreenshot {
                problem: format!("the screen could not be captured within {} s", PICTURE_BOUND.as_secs()),
            },
        };
        self.observer.notice(&problem);
        None
    }
}

/// The tools of the agents of a session.
fn toolbox(plan: &SessionPlan, workspace: &Workspace) -> Result<Toolbox<SessionDesktop>, DuplicateTool> {
    let mut tools = Toolbox::standard(ActLimits::default())?
        .with_secrets(workspace.secrets.clone())
        .with_sources(plan.sources())
        .with_natives(workspace.desktop.natives())?;
    if let Some(mut files) = plan.files.clone() {
        files.hidden.extend(plan.workspace.hidden_places());
        tools = tools.with_files(files)?;
    }
    match plan.workflows.clone() {
        Some(workflows) => tools.with_workflows(workflows),
        None => Ok(tools),
    }
}

/// The desktop, and whether it is the one that was kept for the session.
fn start<'a>(
    plan: &'a SessionPlan,
    held: Option<&'a HeldSession>,
) -> BoxFuture<'a, Result<(Workspace, bool), WorkspaceError>> {
    Box::pin(async move {
        let Some(held) = held else { return Ok((plan.workspace.start().await?, false)) };
        if let Some(workspace) = plan.workspace.take_over(held).await {
            // An action in progress when the process died may take effect only now.
            workspace.settle().await;
            return Ok((workspace, true));
        }
        let workspace = plan.workspace.start().await?;
        workspace.back_end().start_ids_above(held.ids());
        Ok((workspace, false))
    })
}

async fn save(workspace: &Workspace, file: &Path) -> Result<(), HostError> {
    let picture = workspace.desktop.screen().await.map_err(WorkspaceError::Desktop)?;
    let png = picture.to_png().map_err(WorkspaceError::Desktop)?;
    private::write_file(file, &png).map_err(|source| HostError::Picture { path: file.to_owned(), source })
}

/// Keeps the desktop for a resumed session. A failure is only reported; a resumed session can start a new one.
fn note(plan: &SessionPlan, workspace: &Workspace, folder: &Path, observer: &mut dyn Observer) {
    let duration = plan.workspace.keep.as_ref().map_or(Duration::ZERO, |keep| keep.duration);
    if let Err(error) = workspace.note_in(folder, duration) {
        observer.notice(&Notice::not_kept(&error));
    }
}

/// Opens the control socket of a session. Without it the session runs all the same.
fn listen(socket: Option<&ControlSocket>, session: &SessionId, folder: &Path) {
    if let Some(Err(error)) = socket.map(|socket| socket.listen(session, folder)) {
        tracing::warn!(%error, "the session has no control socket");
    }
}

fn works_on(plan: &SessionPlan, workspace: &Workspace, kept: bool) -> Notice {
    Notice::WorksOn {
        desktop: plan.workspace.kind,
        size: plan.workspace.size.to_string(),
        display: workspace.back_end().display_name().to_owned(),
        kept,
    }
}
