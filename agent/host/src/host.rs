//! The host: one configuration, and the operations under it.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_desktop::Natives;
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_linux::{LinuxDesktop, Openers};
use deskhand_machine::{
    agent::AgentRef,
    command::ToolSpec,
    workflow::{WorkflowMatch, fitting},
};
use deskhand_model::RelayModel;
use deskhand_runtime::{
    Catalogue, InstructionKind, PolicyReview, Query, Replay, ReportFormat, RetrievalResult, SealFolder,
    SessionFolder, SessionStore, SessionTable, Toolbox, UnsealedJournalPolicy, Verification,
    agents::AgentRegistry,
    catalogue::Day,
    comparison::SessionComparison,
    learn::WorkflowDraft,
    moments::{FollowedMoments, MomentParts},
    retention::Retention,
    sources::EnabledSources,
    tools::FileSettings,
};
use deskhand_secret::Veil;
use deskhand_ui::{AppInfo, ids::SessionId};
use futures_util::future::join_all;
use tokio::time::timeout;

use crate::{
    AttachedDesktop, BatchRequest, ForkRequest, HostError, KeptDesktop, PreparedSession, Removal,
    RemovalMode, SecretInfo, SessionRequest, Task, TaskBatch, TaskFiles, WorkspacePlan,
    agents::HostResources,
    batch,
    batch::Batches,
    config::{self, Config, LoadedConfig, Sources, knowledge_dir, session_store, workflows_dir},
    knowledge::{Knowledge, retrievers},
    live::{self, LiveDesktop},
    secrets,
    session::{self, SessionPlan},
    sources::sources,
    workflows::{Learn, Perform, WorkflowFolder, learn_from},
};

/// The most workflows that a request is compared with.
const FITTING_MAX: usize = 500;

/// Starts, resumes and forks sessions under one configuration. Cheap to create; holds no resources.
#[derive(Debug, Clone)]
pub struct Host {
    loaded: LoadedConfig,
    helper: Option<PathBuf>,
    /// Kinds of agents besides those of its own.
    kinds: AgentRegistry,
}

impl Host {
    /// Reads the configuration.
    ///
    /// # Errors
    /// [`HostError::Config`] if a source cannot be read or is not valid.
    pub fn load(sources: &Sources) -> Result<Self, HostError> {
        Ok(Self { loaded: config::load(sources)?, helper: None, kinds: AgentRegistry::default() })
    }

    /// A host with a configuration made by the caller.
    pub fn new(config: &Config) -> Self {
        Self { loaded: LoadedConfig::of(config), helper: None, kinds: AgentRegistry::default() }
    }

    /// The same with a helper program that keeps desktops after this process dies and runs programs of agents in a
    /// sandbox: `deskhand`, or one that understands [`KEEPER_ARGUMENTS`](crate::workspace::KEEPER_ARGUMENTS) and
    /// [`SANDBOX_ARGUMENT`](crate::SANDBOX_ARGUMENT). Without it, desktops end with this process, and agents
    /// whose sandbox is required cannot be opened.
    #[must_use]
    pub fn with_helper(self, program: impl Into<PathBuf>) -> Self {
        Self { helper: Some(program.into()), ..self }
    }

    /// The same with further kinds of agents. Those that `agents.enabled` names take part in sessions.
    #[must_use]
    pub fn with_kinds(self, kinds: AgentRegistry) -> Self {
        Self { kinds, ..self }
    }

    /// The configuration with the sources of its values.
    pub fn loaded(&self) -> &LoadedConfig {
        &self.loaded
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.loaded.config
    }

    /// The tools that workflows call.
    pub fn workflow_tools(&self) -> Vec<ToolSpec> {
        let toolbox = Toolbox::<LinuxDesktop>::standard(ActLimits::default());
        let host = toolbox.map(|tools| tools.host_specs()).unwrap_or_default();
        host.into_iter().chain(self.app_tools()).collect()
    }

    /// The tools of AppAgents.
    pub fn app_tools(&self) -> Vec<ToolSpec> {
        Toolbox::<LinuxDesktop>::standard(ActLimits::default())
            .and_then(|tools| tools.with_natives(Natives { documents: true, pages: true }))
            .and_then(|tools| tools.with_files(FileSettings::default()))
            .map(|tools| tools.app_specs())
            .unwrap_or_default()
    }

    /// The ids of the desktop entries that a person would start from a menu. Blocking.
    pub fn installed_applications(&self) -> Vec<String> {
        Openers::of_this_system().applications().into_iter().map(|application| application.id).collect()
    }

    /// The stored sessions.
    pub fn sessions(&self) -> SessionStore {
        session_store(self.config())
    }

    /// Finds a session by its id, the start or end of the id, or `last`.
    ///
    /// # Errors
    /// No session or several sessions match.
    pub fn find(&self, name: &str) -> Result<SessionFolder, HostError> {
        Ok(session::find(&self.sessions(), name)?)
    }

    /// The desktop of a session as it is now; `None` if it has none that others can reach.
    ///
    /// # Errors
    /// There is no such session, or its display does not answer.
    pub async fn live_desktop(&self, name: &str) -> Result<Option<LiveDesktop>, HostError> {
        live::of(&self.find(name)?).await
    }

    /// Returns `true` if a session has a desktop that [`Self::live_desktop`] can reach: a private one, held by a keeper.
    pub fn has_live_desktop(&self, name: &str) -> bool {
        self.find(name).is_ok_and(|folder| live::is_there(&folder))
    }

    /// Creates a session. Checks everything that can be checked now, and starts nothing.
    ///
    /// # Errors
    /// No model is configured, a document cannot be opened, or the current desktop has no display.
    pub fn start(&self, request: impl Into<SessionRequest>) -> Result<PreparedSession, HostError> {
        let plan = SessionPlan::new(self.config(), self.means(), request.into())?;
        Ok(PreparedSession::new(plan.kept(self.config(), self.helper())))
    }

    /// Creates a session that the holder of a relay steers: it answers as HostAgent and AppAgents do, behind the same gate and into the
    /// same journal. The limits on steps, repetitions and model calls of a round do not apply; those of the session do. The models of the
    /// configuration are not asked, and none has to be configured; a session that was left is resumed with them.
    ///
    /// # Errors
    /// A document cannot be opened, or the current desktop has no display.
    pub fn steer(
        &self,
        request: impl Into<SessionRequest>,
        relay: RelayModel,
    ) -> Result<PreparedSession, HostError> {
        let plan = SessionPlan::steered(self.config(), self.means(), request.into(), relay)?;
        Ok(PreparedSession::new(plan.kept(self.config(), self.helper())))
    }

    /// Resumes a session where its journal ends. `unsealed` says whether its journal has to be proven.
    ///
    /// # Errors
    /// There is no such session, it is in use, its journal was modified or is not proven, or there is nothing to resume.
    pub fn resume(
        &self,
        name: &str,
        unsealed: UnsealedJournalPolicy,
        request: impl Into<SessionRequest>,
    ) -> Result<PreparedSession, HostError> {
        session::resume(&self.loaded, self.means(), &self.sessions(), (name, unsealed), request.into())
    }

    /// Creates a session with the first records of another one.
    ///
    /// # Errors
    /// There is no such session or record, an effect was in progress there, or there is nothing to do.
    pub fn fork(&self, request: ForkRequest) -> Result<PreparedSession, HostError> {
        session::fork(&self.loaded, self.means(), &self.sessions(), request)
    }

    /// Checks a stored session against its hashes, its seals and its anchor.
    ///
    /// # Errors
    /// There is no such session, or its journal cannot be read. Modified records are findings, not errors.
    pub fn verify(&self, name: &str) -> Result<(SessionFolder, Verification), HostError> {
        let folder = self.find(name)?;
        let verification = session::verify(&folder)?;
        Ok((folder, verification))
    }

    /// Replays a stored session offline and compares the effects.
    ///
    /// # Errors
    /// There is no such session, or its journal or prompts cannot be read.
    pub fn replay(&self, name: &str) -> Result<Replay, HostError> {
        Ok(session::replay(&self.find(name)?)?)
    }

    /// Judges what the agents of a stored session proposed by the policy of the configuration. Offline; the session went the way
    /// that it went.
    ///
    /// # Errors
    /// There is no such session, or its journal or prompts cannot be read.
    pub fn review(&self, name: &str) -> Result<PolicyReview, HostError> {
        let policy = session::policy(&self.loaded.config.policy, &session::places());
        Ok(session::review(&self.find(name)?, policy)?)
    }

    /// Writes the report of a session and returns its path. Without `output`, it goes into the folder of the session.
    ///
    /// # Errors
    /// There is no such session, its journal cannot be read, or the report cannot be written.
    pub fn report(
        &self,
        name: &str,
        format: ReportFormat,
        output: Option<&Path>,
    ) -> Result<PathBuf, HostError> {
        Ok(session::report(&self.find(name)?, format, output)?)
    }

    /// Removes old sessions, and says for each session, newest first, what happened to it.
    ///
    /// # Errors
    /// The folder of the sessions cannot be read. A session that cannot be removed is reported in its [`Removal`].
    pub fn remove_sessions(
        &self,
        retention: Retention,
        mode: RemovalMode,
    ) -> Result<Vec<Removal>, HostError> {
        Ok(session::remove(&self.sessions(), retention, mode)?)
    }

    /// The catalogue of the stored sessions, for callers that ask it more than once: in memory, it reads only what is new. It is out of
    /// date until it is refreshed.
    pub fn catalogue(&self) -> Catalogue {
        Catalogue::open(self.sessions())
    }

    /// The page of stored sessions that a query asks for. Blocking.
    ///
    /// # Errors
    /// The folder of the sessions cannot be read.
    pub fn session_table(&self, query: &Query) -> Result<SessionTable, HostError> {
        Ok(session::table(self.sessions(), query)?)
    }

    /// The stored sessions that fit a query, by the day on which they began. Blocking.
    ///
    /// # Errors
    /// The folder of the sessions cannot be read.
    pub fn session_series(&self, query: &Query) -> Result<Vec<Day>, HostError> {
        Ok(session::series(self.sessions(), query)?)
    }

    /// Two stored sessions side by side, such as a fork and its origin. Blocking.
    ///
    /// # Errors
    /// There is no such session, or its journal cannot be read.
    pub fn compare_sessions(&self, left: &str, right: &str) -> Result<SessionComparison, HostError> {
        Ok(session::side_by_side(&self.find(left)?, &self.find(right)?)?)
    }

    /// The moments of a stored session, or of one that is in progress.
    ///
    /// # Errors
    /// There is no such session.
    pub fn session_moments(&self, name: &str) -> Result<FollowedMoments, HostError> {
        Ok(FollowedMoments::of(&self.find(name)?))
    }

    /// Everything about the moment of a record: prompt, reply, elements and calls; `None` if there is no such record. Blocking.
    ///
    /// # Errors
    /// There is no such session, or its journal cannot be read.
    pub fn session_moment(&self, name: &str, record: u64) -> Result<Option<MomentParts>, HostError> {
        Ok(session::moment(&self.find(name)?, record)?)
    }

    /// Reads the tasks of a batch or a fleet, or plans.
    ///
    /// # Errors
    /// The folder or a file cannot be read, or has too many tasks.
    pub fn read_tasks(&self, path: &Path, kind: InstructionKind) -> Result<TaskFiles, HostError> {
        Ok(TaskFiles::read(path, kind, Some(self.sessions().seals()))?)
    }

    /// The seals of files that the user made or trusts.
    pub fn seals(&self) -> SealFolder {
        self.sessions().seals().clone()
    }

    /// Creates one session for each task.
    ///
    /// # Errors
    /// A task cannot be read or run, or there are already results.
    pub fn batch(&self, request: &BatchRequest, files: &TaskFiles) -> Result<TaskBatch, HostError> {
        let tasks = files.tasks()?;
        let base = SessionPlan::new(self.config(), self.means(), request.session.clone())?;
        batch::batch(request, tasks, &base, &self.batches())
    }

    /// Creates the session of one task.
    ///
    /// # Errors
    /// A document cannot be opened, or no model is configured.
    pub fn start_task(&self, task: &Task, id: SessionId) -> Result<PreparedSession, HostError> {
        let base = SessionPlan::new(self.config(), self.means(), SessionRequest::default())?;
        let plan = task.plan(&base)?.called(id);
        Ok(PreparedSession::new(plan.kept(self.config(), self.helper())))
    }

    /// The batches that were begun, beside the folder of the sessions.
    pub fn batches(&self) -> Batches {
        Batches::at(config::beside(&self.sessions(), config::BATCHES))
    }

    /// The folder of workflows.
    pub fn workflows(&self) -> WorkflowFolder {
        WorkflowFolder::at(workflows_dir(self.config())).with_seals(self.seals())
    }

    /// The workflow that does what a request asks for, with the values that the request gives; `None` if none does.
    pub fn fitting(&self, request: &str) -> Option<WorkflowMatch> {
        fitting(&self.workflows().offers(FITTING_MAX), request)
    }

    /// Learns a workflow from a stored session. Nothing is written yet.
    ///
    /// # Errors
    /// There is no such session, or nothing can be learnt from it.
    pub fn learn(&self, session: &str, wanted: &Learn) -> Result<WorkflowDraft, HostError> {
        let folder = self.find(session)?;
        let documents = session::documents_of(&folder)?;
        Ok(learn_from(&folder, &documents, wanted)?)
    }

    /// Creates a session that runs a workflow. A model is only needed if steps may be healed by one.
    ///
    /// # Errors
    /// A parameter is missing, a document cannot be opened, the current desktop has no display, or no model is configured although
    /// steps may be healed.
    pub fn perform(&self, perform: Perform) -> Result<PreparedSession, HostError> {
        let heal = perform.heal;
        let request = perform.into_session()?;
        let plan = SessionPlan::performing(self.config(), self.means(), request, heal)?;
        Ok(PreparedSession::new(plan.kept(self.config(), self.helper())))
    }

    /// The index of help, and the experiences.
    pub fn knowledge(&self) -> Knowledge {
        Knowledge::at(knowledge_dir(self.config()))
    }

    /// Returns the results of the retrievers for an agent that works in an application, as a session would get them;
    /// `None` if no retriever applies to the agent.
    ///
    /// # Errors
    /// The search engine is not configured correctly.
    pub async fn look_up(
        &self,
        wanted: &str,
        agent: &AgentRef,
        application: Option<&AppInfo>,
    ) -> Result<Option<RetrievalResult>, HostError> {
        let policy = session::policy(&self.config().policy, &session::places());
        let retrievers = retrievers(self.config(), self.helper(), &policy)?;
        let lookup = retrievers.retrieval.lookup(wanted, agent, application);
        Ok(match lookup.zip(retrievers.ask) {
            Some((lookup, ask)) => Some(ask(lookup).await),
            None => None,
        })
    }

    /// Creates one session for each plan of a file or folder; each follows its plan step by step.
    ///
    /// # Errors
    /// A plan cannot be read, or a document cannot be opened.
    pub fn follow(
        &self,
        plans: &TaskFiles,
        request: impl Into<SessionRequest>,
    ) -> Result<TaskBatch, HostError> {
        let tasks = plans.tasks()?;
        let base = SessionPlan::new(self.config(), self.means(), request.into())?;
        batch::follow(tasks, &base)
    }

    /// A desktop to inspect or to act on by hand.
    ///
    /// # Errors
    /// A document cannot be opened, or the current desktop has no display.
    pub fn workspace(&self, open: &[PathBuf], launch: Option<&str>) -> Result<WorkspacePlan, HostError> {
        WorkspacePlan::by_hand(self.config(), open, launch)
    }

    /// Returns information about the configured secrets without reading them.
    ///
    /// # Errors
    /// A secret has no name, no source, or more than one.
    pub fn secrets(&self) -> Result<Vec<SecretInfo>, HostError> {
        secrets::infos(self.config())
    }

    /// Reads a configured secret, to try it; its value is dropped.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub async fn try_secret(&self, name: &str) -> Result<(), String> {
        let secrets =
            secrets::secrets(self.config(), &Veil::of_process()).map_err(|error| error.to_string())?;
        secrets.reveal(name).await.map(drop)
    }

    /// The desktops of sessions that are still there, those of the newest sessions first.
    ///
    /// # Errors
    /// The folder of the sessions cannot be read.
    pub fn kept_desktops(&self) -> Result<Vec<KeptDesktop>, HostError> {
        Ok(session::kept_desktops(&self.sessions())?)
    }

    /// The desktop of a session, if it is still there.
    ///
    /// # Errors
    /// There is no such session, or its desktop has ended.
    pub fn kept_desktop(&self, name: &str) -> Result<KeptDesktop, HostError> {
        Ok(session::kept_desktop(&self.sessions(), name)?)
    }

    /// Takes hold of the desktop of a session; `None` if another process uses it.
    ///
    /// # Errors
    /// There is no such session, its journal cannot be read, or its desktop has ended.
    pub async fn attach(&self, name: &str) -> Result<Option<AttachedDesktop>, HostError> {
        session::attach(self.config(), &self.sessions(), name).await
    }

    /// Opens each configured source of tools as a session would, all at once, and closes it again; each within `bound`. What it is, with
    /// its tools or what is wrong.
    ///
    /// # Errors
    /// A source is incomplete, or one of its tokens cannot be read.
    pub async fn try_sources(
        &self,
        bound: Duration,
    ) -> Result<Vec<(String, Result<String, String>)>, HostError> {
        let sources = sources(self.config(), self.helper())?;
        let tries = sources.each().map(|(name, source)| async move {
            let outcome = match tempfile::tempdir() {
                Ok(folder) => {
                    let tried = timeout(bound, try_source(&source, folder.path())).await;
                    tried.unwrap_or_else(|_| Err(format!("not opened within {} s", bound.as_secs())))
                }
                Err(error) => Err(error.to_string()),
            };
            (name, outcome)
        });
        Ok(join_all(tries).await)
    }

    pub(crate) fn helper(&self) -> Option<&Path> {
        self.helper.as_deref()
    }

    pub(crate) fn means(&self) -> HostResources<'_> {
        HostResources { helper: self.helper(), kinds: &self.kinds }
    }
}

/// Opens a source and closes it again: its tools, or what is wrong.
async fn try_source(source: &EnabledSources, folder: &Path) -> Result<String, String> {
    let open = source.open(folder, &[]).await;
    let mut tools: Vec<String> = Vec::new();
    for tool in open.host_specs().into_iter().chain(open.app_specs()) {
        if !tools.contains(&tool.name) {
            tools.push(tool.name);
        }
    }
    let problems = open.problems().join("; ");
    open.close().await;
    if problems.is_empty() { Ok(format!("tools: {}", tools.join(", "))) } else { Err(problems) }
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
