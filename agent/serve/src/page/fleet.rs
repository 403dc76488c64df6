//! The sessions of a fleet among those of this machine.
//!
//! The records of the fleet are followed as long as the service runs: rows of the table. What else there is of a session is fetched when
//! somebody looks at it ([`SessionMirror`]), and kept for a while.

use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::http::StatusCode;
use deskhand_fleet::{
    journal::TaskOutcome,
    nats::{NatsOptions, NatsStore},
    pace::pause,
    signed::FleetSigningKey,
    task::TaskId,
};
use deskhand_host::{Host, config::Config};
use deskhand_runtime::{SessionFolder, catalogue::SessionState};
use deskhand_ui::text::error_chain;

use super::error::PageApiError;
use crate::fleet::{
    FLEET,
    again::{AgainError, once_more},
    followed::OverviewFollower,
    mirror::{MirrorError, SessionMirror},
    view::TaskState,
    wish::{FleetSteering, WishError},
};

/// The folder of the copies, in that of the service.
const COPIES: &str = "fleet";
/// The most copies that are kept while nobody looks at them.
const KEPT_MAX: usize = 16;
/// Delay before the server is tried again.
const AGAIN: Duration = Duration::from_secs(2);

/// Which fleet is shown, and by whom.
#[derive(Debug, Clone)]
pub struct FleetView {
    /// The connection to the server of the fleet.
    pub server: NatsOptions,
    /// Signs cancellations, answers and further tries of signed tasks.
    pub key: Option<Arc<FleetSigningKey>>,
}

/// A copy that is made for one who comes first; who comes meanwhile waits.
type Copy = Arc<tokio::sync::Mutex<Option<Arc<SessionMirror>>>>;

/// A fleet.
pub(crate) struct FleetService {
    options: NatsOptions,
    /// Signs what is wanted of signed tasks.
    key: Option<Arc<FleetSigningKey>>,
    config: Config,
    folder: PathBuf,
    followed: Arc<OverviewFollower>,
    connection: Mutex<FleetStoreConnection>,
    /// The one that was looked at last at the end.
    copies: Mutex<VecDeque<(TaskId, Copy)>>,
}

#[derive(Default)]
struct FleetStoreConnection {
    store: Option<NatsStore>,
    /// Why there is none.
    problem: Option<String>,
}

/// A session, and what reads it.
#[derive(Clone)]
pub(crate) struct SessionLocation {
    pub(crate) host: Host,
    pub(crate) folder: SessionFolder,
    /// The copy, if it is one of a fleet.
    pub(crate) mirror: Option<Arc<SessionMirror>>,
}

impl SessionLocation {
    /// The id on the page.
    pub(crate) fn id(&self) -> String {
        self.folder.name()
    }
}

/// The task that an id of a session names, if it names one of a fleet.
pub(crate) fn task_of(id: &str) -> Option<TaskId> {
    TaskId::new(id.strip_prefix(FLEET)?).ok()
}

impl FleetService {
    /// A fleet whose server is asked from [`Self::keep_up`] on.
    pub(super) fn new(FleetView { server, key }: FleetView, config: &Config, folder: &Path) -> Self {
        let folder = folder.join(COPIES);
        // What a service left that was killed.
        fs::remove_dir_all(&folder).ok();
        Self {
            options: server,
            key,
            config: config.clone(),
            folder,
            followed: Arc::default(),
            connection: Mutex::default(),
            copies: Mutex::default(),
        }
    }

    fn connection(&self) -> MutexGuard<'_, FleetStoreConnection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects, and follows what the records say. Whatever happens, it tries again.
    pub(super) async fn keep_up(&self) -> std::convert::Infallible {
        loop {
            let problem = match NatsStore::connect(&self.options).await {
                Ok(store) => {
                    self.connection().store = Some(store.clone());
                    let ended = self.followed.follow(&store, || self.connection().problem = None).await;
                    ended.map_or_else(|error| error.to_string(), |never| match never {})
                }
                Err(error) => error.to_string(),
            };
            tracing::warn!("the fleet is not followed: {problem}");
            self.connection().problem = Some(problem);
            pause(AGAIN).await;
        }
    }

    /// Returns the records of the fleet.
    pub(crate) fn followed(&self) -> &Arc<OverviewFollower> {
        &self.followed
    }

    /// Why its sessions may not be as they are shown.
    pub(crate) fn problem(&self) -> Option<String> {
        self.connection().problem.clone()
    }

    /// Its server.
    ///
    /// # Errors
    /// It has not answered yet.
    pub(crate) fn store(&self) -> Result<NatsStore, PageApiError> {
        let FleetStoreConnection { store, problem } = &*self.connection();
        let silent = || {
            let problem = problem.as_deref().unwrap_or("the server of the fleet has not answered yet");
            PageApiError::new(StatusCode::SERVICE_UNAVAILABLE, problem)
        };
        store.clone().ok_or_else(silent)
    }

    /// The session of a task.
    ///
    /// # Errors
    /// There is no such task, or the server does not answer.
    pub(crate) async fn locate(&self, task: &TaskId) -> Result<SessionLocation, PageApiError> {
        let copy = self.copy_of(task);
        let mut copy = copy.lock().await;
        let known = copy.take().filter(|mirror| !mirror.is_stale());
        let mirror = match known {
            Some(mirror) => mirror,
            None => {
                let followed = Arc::clone(&self.followed);
                let opened =
                    SessionMirror::open(self.steering(task)?, followed, &self.config, &self.folder).await;
                Arc::new(opened.map_err(|error| failed(&error))?)
            }
        };
        *copy = Some(Arc::clone(&mirror));
        Ok(SessionLocation { host: mirror.host.clone(), folder: mirror.folder.clone(), mirror: Some(mirror) })
    }

    fn steering(&self, task: &TaskId) -> Result<FleetSteering, PageApiError> {
        Ok(FleetSteering { store: self.store()?, task: task.clone(), key: self.key.clone() })
    }

    /// The place of the copy of a task.
    fn copy_of(&self, task: &TaskId) -> Copy {
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let known = copies.iter().position(|(known, _)| known == task).and_then(|at| copies.remove(at));
        let (_, copy) = known.unwrap_or_else(|| (task.clone(), Copy::default()));
        let mut over = copies.len().saturating_sub(KEPT_MAX);
        copies.retain(|(_, copy)| {
            let is_used =
                copy.try_lock().map_or(true, |copy| copy.as_ref().is_some_and(|copy| copy.is_used()));
            let goes = over > 0 && !is_used;
            over = over.saturating_sub(usize::from(goes));
            !goes
        });
        copies.push_back((task.clone(), Arc::clone(&copy)));
        copy
    }

    /// Carries out what somebody wants of a session.
    ///
    /// # Errors
    /// It is nothing that a worker takes, or the server does not answer.
    pub(crate) async fn wish(&self, task: &TaskId, line: &str) -> Result<(), PageApiError> {
        self.is_there(task)?;
        self.steering(task)?.wish(line).await.map_err(|error| match error {
            WishError::NotHere => PageApiError::wrong(error.to_string()),
            WishError::Signed(_) => PageApiError::conflict(format!(
                "{error}; start the page with it: `deskhand serve --key FILE`"
            )),
            WishError::NotAsked(_) | WishError::Answered | WishError::Key(_) => {
                PageApiError::conflict(error.to_string())
            }
            WishError::Store(error) => PageApiError::failed("ask the server of the fleet", &error),
        })
    }

    fn is_there(&self, task: &TaskId) -> Result<(), PageApiError> {
        let known = self.followed.whereabouts(task).map(|_| ());
        known.ok_or_else(|| PageApiError::missing(MirrorError::Missing(task.clone()).to_string()))
    }

    /// Sends a task once more; returns the id of its session.
    ///
    /// # Errors
    /// It has finished or no outcome yet, or the server does not answer.
    pub(crate) async fn once_more(&self, task: &TaskId) -> Result<String, PageApiError> {
        let located = self.locate(task).await?;
        let state = self.followed.overview().row(task).map(|row| row.state);
        let outcome = located.mirror.and_then(|mirror| mirror.outcome());
        let state = match (outcome, state) {
            (Some(outcome), _) => TaskState::Ended { outcome },
            // It ended before anybody had it.
            (None, Some(SessionState::Ended)) => TaskState::Ended { outcome: TaskOutcome::Cancelled },
            (None, Some(SessionState::Queued | SessionState::Running | SessionState::Interrupted) | None) => {
                TaskState::Queued
            }
        };
        let again = once_more(&self.store()?, task, &state, self.key.as_deref()).await;
        let again = again.map_err(|error| match error {
            AgainError::Finished(_)
            | AgainError::Open(_)
            | AgainError::Rows(_)
            | AgainError::Unsigned(_)
            | AgainError::Damaged { .. } => PageApiError::conflict(with_help(&error)),
            AgainError::Store(error) => PageApiError::failed("ask the server of the fleet", &error),
        })?;
        Ok(format!("{FLEET}{again}"))
    }
}

fn with_help(error: &AgainError) -> String {
    error.help().map_or_else(|| error.to_string(), |help| format!("{error}; {help}"))
}

/// Returns the error for a session that cannot be displayed.
pub(crate) fn failed(error: &MirrorError) -> PageApiError {
    match error {
        MirrorError::Missing(_) => PageApiError::missing(error.to_string()),
        MirrorError::Store(_) => PageApiError::new(StatusCode::BAD_GATEWAY, error_chain(error)),
        MirrorError::Folder(_) => PageApiError::failed("show the session", error),
    }
}
