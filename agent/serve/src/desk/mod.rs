//! A desktop that a client steers.
//!
//! The client takes the place of the model in a session: what it wants done becomes a reply of the HostAgent or of the AppAgent of a
//! window. So the gate, the verdicts, the journal, reports and replay are those of any session.

mod error;
mod reply;
mod turn;
mod user;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use deskhand_host::{Control, EndedSession, Host, HostError, SessionRequest};
use deskhand_machine::{
    agent::AgentRef,
    observation::{DesktopView, Observation},
};
use deskhand_model::{RelayModel, RelayQuestion, RelayQuestions};
use deskhand_runtime::people::UserRequest;
use deskhand_ui::{PictureRef, WindowView, ids::WindowId, text::untrusted};
use serde_json::{Map, Value};
use tokio::{
    sync::mpsc::{self, error::TrySendError},
    task::JoinSet,
};

pub(crate) use error::DeskError;
pub(crate) use turn::{CompletedCommand, DeskTurn};
use turn::{DeskJournalListener, DeskTurnState};
pub(crate) use user::{Attending, ClientAnswer, ClientQuestion, DeskUserChannel};

/// An action that the client requests in a window: a tool and its arguments.
pub(crate) type Action = (String, Map<String, Value>);

/// Tells what is being done.
pub(crate) type Telling = Arc<dyn Fn(String) + Send + Sync>;

/// A session's connection to its client and the client's user.
pub(crate) struct ClientCallbacks {
    /// Asks the user.
    pub(crate) attending: Attending,
    /// Tells the client what is being done.
    pub(crate) telling: Telling,
}

/// A session that a client steers.
pub(crate) struct Desk {
    task: String,
    /// Interrupts what is being done.
    control: Control,
    questions: RelayQuestions,
    /// Receives when a round is over, so that the next request can be given.
    idle: mpsc::Receiver<()>,
    requests: mpsc::Sender<Option<UserRequest>>,
    shared: Arc<Mutex<DeskTurnState>>,
    /// The session; it ends with this.
    running: JoinSet<Result<Option<EndedSession>, HostError>>,
    at: At,
    /// The last view of the HostAgent.
    pub(crate) desktop: DesktopView,
    /// The last view of each window that was sent to the client.
    shown: HashMap<WindowId, WindowView>,
    /// The window that the client worked in or opened last.
    focus: Option<WindowId>,
}

/// The input that the session waits for.
enum At {
    /// The client's word as HostAgent.
    Host(RelayQuestion),
    /// The client's word as the AppAgent of a window.
    Window(WindowId, RelayQuestion),
    /// The next request: its round is over.
    Idle,
    /// Nothing: it has ended.
    Ended,
}

impl Desk {
    /// Starts a session for a client and its desktop, opens the documents, and waits until the session asks.
    ///
    /// # Errors
    /// The desktop does not start, or a document cannot be opened.
    pub(crate) async fn start(
        host: &Host,
        client: &str,
        task: String,
        request: SessionRequest,
        ClientCallbacks { attending, telling }: ClientCallbacks,
    ) -> Result<(Self, DeskTurn), DeskError> {
        let (relay, questions) = RelayModel::new(client);
        let request = SessionRequest { requests: vec![task.as_str().into()], converse: true, ..request };
        let session = host.steer(request, relay)?;
        let (user, idle, requests) = DeskUserChannel::new(attending);
        let control = Control { user: Arc::new(user), ..Control::unattended() };
        let shared = Arc::new(Mutex::new(DeskTurnState::new(host.sessions(), telling)));
        let mut listener = DeskJournalListener(Arc::clone(&shared));
        let mut running = JoinSet::new();
        let controlled = control.clone();
        running.spawn(async move { session.run(&controlled, &mut listener).await });
        let mut desk = Self {
            task,
            control,
            questions,
            idle,
            requests,
            shared,
            running,
            at: At::Idle,
            desktop: DesktopView::default(),
            shown: HashMap::new(),
            focus: None,
        };
        let turn = desk.wait().await?;
        desk.focus = newest(&desk.desktop, &[]);
        Ok((desk, turn))
    }

    /// The id of the session.
    pub(crate) fn session(&self) -> Option<String> {
        self.lock()
            .folder()
            .and_then(|folder| Some(folder.path().file_name()?.to_string_lossy().into_owned()))
    }

    /// The window that the client works in.
    pub(crate) fn window(&self) -> Option<WindowId> {
        match &self.at {
            At::Window(window, _) => Some(*window),
            At::Host(_) | At::Idle | At::Ended => None,
        }
    }

    /// The window that is meant where none is named: the one that the client works in, or opened or worked in last, or the only one.
    pub(crate) fn usual_window(&self) -> Option<WindowId> {
        let is_open = |id: &WindowId| self.open_windows().any(|known| known == *id);
        let only = || match self.desktop.windows.as_slice() {
            [only] => Some(only.id),
            _ => None,
        };
        self.window().or(self.focus.filter(is_open)).or_else(only)
    }

    fn open_windows(&self) -> impl Iterator<Item = WindowId> {
        self.desktop.windows.iter().chain(&self.desktop.dialogs).map(|window| window.id)
    }

    /// A switch that interrupts what is being done: no input follows, the rest is skipped, and what was done is answered.
    pub(crate) fn interrupter(&self) -> Interrupter {
        Interrupter(self.control.clone())
    }

    /// Runs actions in a window, one after the other; the first that fails ends them.
    ///
    /// # Errors
    /// The window is gone or may not be selected, the session refuses the form of an action, or it has ended.
    pub(crate) async fn act(
        &mut self,
        window: WindowId,
        why: &str,
        actions: Vec<Action>,
    ) -> Result<DeskTurn, DeskError> {
        let text = reply::act(why, actions)?;
        self.go_to(window).await?;
        self.answer(text).await
    }

    /// Looks at a window as it is now.
    ///
    /// # Errors
    /// The window is gone or may not be selected, or the session has ended.
    pub(crate) async fn look(&mut self, window: WindowId) -> Result<WindowView, DeskError> {
        let turn = match self.go_to(window).await? {
            Some(turn) => turn,
            None => self.answer(reply::look()).await?,
        };
        match turn.seen {
            Some(Observation::Window(view)) => Ok(view),
            Some(Observation::Desktop(_) | Observation::Agent(_)) | None => Err(DeskError::Gone { window }),
        }
    }

    /// Lists the windows as they are now.
    ///
    /// # Errors
    /// The session has ended.
    pub(crate) async fn windows(&mut self) -> Result<&DesktopView, DeskError> {
        if self.leave().await?.is_none() {
            self.answer(reply::look_at_desktop()).await?;
        }
        Ok(&self.desktop)
    }

    /// Takes a picture of the whole screen.
    ///
    /// # Errors
    /// The session takes no pictures, or has ended.
    pub(crate) async fn screen(&mut self) -> Result<PictureRef, DeskError> {
        self.windows().await?.picture.clone().ok_or(DeskError::NoPictures)
    }

    /// Runs a tool of the HostAgent.
    ///
    /// # Errors
    /// The session refuses the form of the action, or it has ended.
    pub(crate) async fn host_act(&mut self, action: Action) -> Result<DeskTurn, DeskError> {
        let text = reply::host_act(action)?;
        self.leave().await?;
        let before: Vec<WindowId> = self.open_windows().collect();
        let turn = self.answer(text).await?;
        self.focus = newest(&self.desktop, &before).or(self.focus);
        Ok(turn)
    }

    /// Ends the session as a finished one, and its desktop with it.
    ///
    /// # Errors
    /// The session failed at its end.
    pub(crate) async fn end(&mut self, result: &str) -> Result<EndedSession, DeskError> {
        if !matches!(self.at, At::Ended) {
            self.leave().await?;
        }
        if matches!(self.at, At::Host(_)) {
            self.answer(reply::finish(result)).await?;
        }
        // A session that has ended takes no request, and one that does not is not waited for.
        self.requests.try_send(None).ok();
        let ended = self.running.join_next().await.ok_or(DeskError::Ended)?;
        self.at = At::Ended;
        ended.map_err(|error| DeskError::broke(&error))??.ok_or(DeskError::Ended)
    }

    /// Notes what the client was shown of a window, so that `act` lists only the changes.
    pub(crate) fn shown(&mut self, window: WindowId, view: WindowView) {
        self.shown.insert(window, view);
    }

    /// Returns the last view of a window that was sent to the client.
    pub(crate) fn shown_before(&self, window: WindowId) -> Option<&WindowView> {
        self.shown.get(&window)
    }

    /// The file of a picture.
    pub(crate) fn picture(&self, picture: &PictureRef) -> Result<Vec<u8>, DeskError> {
        let folder = self.lock().folder().cloned().ok_or(DeskError::Ended)?;
        folder.picture(picture).map_err(|error| DeskError::broke(&error))
    }

    /// Makes the client the AppAgent of a window. What was seen of it, unless it already was.
    async fn go_to(&mut self, window: WindowId) -> Result<Option<DeskTurn>, DeskError> {
        if self.window() == Some(window) {
            return Ok(None);
        }
        let knows =
            |view: &DesktopView| view.windows.iter().chain(&view.dialogs).any(|known| known.id == window);
        if self.leave().await?.is_none() && !knows(&self.desktop) {
            self.answer(reply::look_at_desktop()).await?;
        }
        if !knows(&self.desktop) {
            return Err(DeskError::Gone { window });
        }
        let turn = self.answer(reply::assign(window, &self.task)).await?;
        match self.window() {
            Some(now) if now == window => {
                self.focus = Some(window);
                Ok(Some(turn))
            }
            _ => Err(DeskError::NotSelected { window, why: untrusted("results", &turn.failures()) }),
        }
    }

    /// Makes the client the HostAgent. What was seen of the desktop, unless it already was.
    async fn leave(&mut self) -> Result<Option<DeskTurn>, DeskError> {
        match &self.at {
            At::Host(_) => Ok(None),
            At::Window(..) => self.answer(reply::done()).await.map(Some),
            At::Idle => {
                match self.requests.try_send(Some(self.task.as_str().into())) {
                    // The session has not taken earlier ones yet: any of them begins the round.
                    Ok(()) | Err(TrySendError::Full(_)) => {}
                    Err(TrySendError::Closed(_)) => return Err(DeskError::Ended),
                }
                self.wait().await.map(Some)
            }
            At::Ended => Err(DeskError::Ended),
        }
    }

    /// Replies to the session, and waits until it asks again.
    async fn answer(&mut self, text: String) -> Result<DeskTurn, DeskError> {
        match std::mem::replace(&mut self.at, At::Idle) {
            At::Host(question) | At::Window(_, question) => question.answer(text),
            At::Idle | At::Ended => return Err(DeskError::Ended),
        }
        self.wait().await
    }

    /// Waits until the session asks, or its round or it itself is over.
    async fn wait(&mut self) -> Result<DeskTurn, DeskError> {
        tokio::select! {
            // The end of a round comes before the end of the session.
            biased;
            Some(question) = self.questions.next() => {
                self.at = match &question.request.agent {
                    AgentRef::AppAgent { window: Some(window), .. } => At::Window(*window, question),
                    AgentRef::HostAgent
                    | AgentRef::AppAgent { window: None, .. }
                    | AgentRef::Agent { .. }
                    | AgentRef::EvaluationAgent
                    | AgentRef::Unnamed => At::Host(question),
                };
            }
            Some(()) = self.idle.recv() => self.at = At::Idle,
            Some(ended) = self.running.join_next() => {
                self.at = At::Ended;
                return match ended.map_err(|error| DeskError::broke(&error))? {
                    Ok(Some(ended)) => Err(DeskError::Over { reason: turn::outcome_words(&ended.outcome()) }),
                    Ok(None) => Err(DeskError::Ended),
                    Err(error) => Err(error.into()),
                };
            }
            else => return Err(DeskError::Ended),
        }
        let turn = self.lock().take();
        if let Some(Observation::Desktop(view)) = &turn.seen {
            self.desktop = view.clone();
        }
        Ok(turn)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, DeskTurnState> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Interrupts what is being done on a desktop.
pub(crate) struct Interrupter(Control);

impl Interrupter {
    /// Interrupts what is being done, until the guard is dropped.
    pub(crate) fn interrupt(&self) -> Interruption<'_> {
        self.0.stop.interrupt();
        Interruption(self)
    }
}

/// As long as it lives, nothing more is done.
pub(crate) struct Interruption<'a>(&'a Interrupter);

impl Drop for Interruption<'_> {
    fn drop(&mut self) {
        self.0.0.stop.end_interruption();
    }
}

/// The window that was opened last: one that was not there before, else the active one.
fn newest(desktop: &DesktopView, before: &[WindowId]) -> Option<WindowId> {
    let new = desktop.windows.iter().filter(|window| !before.contains(&window.id));
    let newest = new.max_by_key(|window| (window.active, window.id)).map(|window| window.id);
    let active = || desktop.windows.iter().find(|window| window.active).map(|window| window.id);
    newest.or_else(active)
}
