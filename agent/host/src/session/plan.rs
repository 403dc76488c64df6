//! The plan of a session, checked before anything starts.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

use deskhand_machine::{
    policy::{PathRoots, Policy},
    prompt::PromptSet,
    session::{RoundLimits, SessionConfig, Verify},
    workflow::Heal,
};
use deskhand_model::RelayModel;
use deskhand_runtime::{
    Fence, HeldSession, SessionStore,
    agents::EnabledAgents,
    people::UserRequest,
    sources::EnabledSources,
    tools::{FileSettings, Workflows},
};
use deskhand_ui::ids::SessionId;

use super::{people::PeopleRules, setup::Setup};
use crate::{
    HostError,
    agents::{HostResources, enable},
    config::{
        Config, LoadedConfig, NotifySettings, PolicySettings, knowledge_dir, price_table, session_store,
    },
    knowledge::{Knowledge, Retrievers, retrievers},
    model::{ModelError, ModelSetup, TeamChoice},
    prompts::prompts,
    secrets::permits,
    sources::{files, sources},
    telemetry::TraceCollector,
    workflows::workflows,
    workspace::{Keep, WorkspacePlan, hosts_of},
};

/// A request for a session. Everything else is configuration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionRequest {
    /// The id of a new session; `None` for one of its own choice.
    pub id: Option<SessionId>,
    /// The requests, in order.
    pub requests: Vec<UserRequest>,
    /// If `true`, the user is prompted for more requests after these.
    pub converse: bool,
    /// Documents to open first.
    pub open: Vec<PathBuf>,
    /// The variables of a script.
    pub script_variables: BTreeMap<String, String>,
    /// File for a final screenshot.
    pub screenshot: Option<PathBuf>,
    /// The schedule that begins it.
    pub schedule: Option<String>,
    /// Of a session to resume: it comes from another machine. Its documents are `open` alone, and its model is that of this machine.
    pub moved: bool,
}

impl From<&str> for SessionRequest {
    fn from(request: &str) -> Self {
        Self { requests: vec![request.into()], ..Self::default() }
    }
}

/// Everything that a session needs to run.
#[derive(Clone)]
pub(crate) struct SessionPlan {
    /// The id of a new session.
    pub(super) id: Option<SessionId>,
    pub(crate) requests: Vec<UserRequest>,
    pub(super) converse: bool,
    pub(crate) model: TeamChoice,
    pub(crate) workspace: WorkspacePlan,
    /// Part of the plan that the journal stores.
    pub(super) setup: Setup,
    pub(crate) config: SessionConfig,
    pub(super) prompts: PromptSet,
    agents: EnabledAgents,
    sources: EnabledSources,
    /// The workflows that agents can run.
    pub(super) workflows: Option<Workflows>,
    /// Settings for reading files; `None` if agents cannot read files.
    pub(super) files: Option<FileSettings>,
    pub(super) store: SessionStore,
    pub(super) people: PeopleRules,
    pub(super) screenshot: Option<PathBuf>,
    /// Retrievers that agents use.
    pub(super) retrievers: Retrievers,
    /// Store for the lessons of the session; `None` if they are not stored.
    pub(super) teaches: Option<Knowledge>,
    /// Who is told that it has ended; `None` for a part of something that tells it.
    pub(super) notify: Option<NotifySettings>,
    pub(super) schedule: Option<String>,
    /// Target of its trace; `None` if it is not traced.
    pub(super) telemetry: Option<TraceCollector>,
}

impl SessionPlan {
    /// A new session.
    ///
    /// # Errors
    /// No model is configured, a document cannot be opened, or the current desktop has no display.
    pub(crate) fn new(
        config: &Config,
        means: HostResources<'_>,
        request: SessionRequest,
    ) -> Result<Self, HostError> {
        let model = ModelSetup::of(config, request.script_variables.clone())?;
        Self::with_model(config, means, request, model)
    }

    /// A new session that somebody else steers: see [`crate::Host::steer`].
    ///
    /// # Errors
    /// A document cannot be opened, or the current desktop has no display.
    pub(crate) fn steered(
        config: &Config,
        means: HostResources<'_>,
        request: SessionRequest,
        relay: RelayModel,
    ) -> Result<Self, HostError> {
        let setup = ModelSetup::of(config, request.script_variables.clone())?;
        let mut plan = Self::with_team(config, means, request, setup, TeamChoice::relay(relay))?;
        let session = &mut plan.config;
        // What is repeated, looked at or given up is decided by who steers.
        session.limits = RoundLimits {
            steps_max: u32::MAX,
            model_calls_max: u32::MAX,
            tokens_max: None,
            money_max: None,
            wall_ms_max: None,
            repairs_max: u32::MAX,
            screenshots_max: u32::MAX,
            repeats_max: u32::MAX,
            subtask_failures_max: u32::MAX,
            ..session.limits.clone()
        };
        session.session_limits.money_max = None;
        session.verify = Verify::Always;
        session.evaluate = None;
        session.ask_questions = false;
        session.action_sequences = true;
        session.agents.clear();
        plan.agents = EnabledAgents::default();
        plan.setup.steered = true;
        // Who steers knows.
        plan.notify = None;
        Ok(plan)
    }

    /// A new session that runs a workflow. Its steps are as many as they are; a model is only there to heal them.
    ///
    /// # Errors
    /// A document cannot be opened, the current desktop has no display, or no model is configured although steps may be healed.
    pub(crate) fn performing(
        config: &Config,
        means: HostResources<'_>,
        request: SessionRequest,
        heal: Heal,
    ) -> Result<Self, HostError> {
        let mut plan = if heal == Heal::Off {
            let setup = ModelSetup::of(config, request.script_variables.clone())?;
            Self::without_model(config, means, request, setup)?
        } else {
            let plan = Self::new(config, means, request)?;
            // A model that is asked about a step decides on that alone.
            let config = SessionConfig { workflows: Vec::new(), ..plan.config };
            Self { config, workflows: None, ..plan }
        };
        plan.config.limits.steps_max = u32::MAX;
        plan.config.evaluate = None;
        Ok(plan)
    }

    /// A session that asks no model, and none has to be configured.
    fn without_model(
        config: &Config,
        means: HostResources<'_>,
        request: SessionRequest,
        setup: ModelSetup,
    ) -> Result<Self, HostError> {
        // Nobody holds the other end: a question would fail, and none is asked.
        let (relay, _) = RelayModel::new("no model");
        let mut plan = Self::with_team(config, means, request, setup, TeamChoice::relay(relay))?;
        plan.sources = sources(config, means.helper)?;
        plan.setup.steered = true;
        Ok(plan)
    }

    fn with_model(
        config: &Config,
        means: HostResources<'_>,
        request: SessionRequest,
        model: ModelSetup,
    ) -> Result<Self, HostError> {
        let team = model.clone().team()?;
        let plan = Self::with_team(config, means, request, model, team)?;
        check_price(&plan.config)?;
        let retrievers = retrievers(config, means.helper, &plan.config.policy)?;
        let workflows = workflows(config);
        let retrieval = retrievers.retrieval.clone();
        let session = SessionConfig { retrieval, workflows: workflows.offers.clone(), ..plan.config };
        let teaches = config.knowledge.learn.then(|| Knowledge::at(knowledge_dir(config)));
        let (sources, workflows) = (sources(config, means.helper)?, Some(workflows));
        Ok(Self { sources, workflows, config: session, retrievers, teaches, ..plan })
    }

    fn with_team(
        config: &Config,
        means: HostResources<'_>,
        request: SessionRequest,
        setup: ModelSetup,
        model: TeamChoice,
    ) -> Result<Self, HostError> {
        let setup = setup.absolute();
        let mut session = session_config(config, &model)?;
        let workspace = WorkspacePlan::for_requests(config, &request.open)?;
        session.opened = hosts_of(&workspace.documents);
        Ok(Self {
            id: request.id,
            requests: request.requests,
            converse: request.converse,
            setup: Setup {
                model: setup,
                desktop: workspace.kind,
                size: workspace.size,
                documents: workspace.documents.iter().map(|document| document.named.clone()).collect(),
                steered: false,
                batch: None,
            },
            workspace,
            prompts: prompts(config)?,
            model,
            config: session,
            agents: enable(config, means, &config.agents.enabled)?,
            // Who asks a model has them; who steers has tools of its own.
            sources: EnabledSources::default(),
            workflows: None,
            files: files(config, means.helper),
            store: session_store(config),
            people: PeopleRules::of(&config.people),
            screenshot: request.screenshot,
            retrievers: Retrievers::default(),
            teaches: None,
            notify: Some(config.notify.clone()),
            schedule: request.schedule,
            telemetry: TraceCollector::of(&config.telemetry),
        })
    }

    /// A resumed session: its own settings, and the overrides of this run.
    ///
    /// # Errors
    /// The model of the session is unknown and no other is named, or a document cannot be opened.
    pub(super) fn resumed(
        loaded: &LoadedConfig,
        means: HostResources<'_>,
        request: SessionRequest,
        held: &HeldSession,
    ) -> Result<Self, HostError> {
        let moved = request.moved;
        let before = Setup::of(held);
        let merged = before.as_ref().map(|before| loaded.for_session(&before.layer(held))).transpose()?;
        let loaded = merged.as_ref().unwrap_or(loaded);
        let config = &loaded.config;
        let mut model = ModelSetup::of(config, request.script_variables.clone())?;
        if let Some(before) = before.as_ref().filter(|_| !moved && !loaded.chooses_model()) {
            model = model.going_on_from(&before.model);
        }
        // What is left of a workflow needs no model, as its beginning did not.
        let is_alone = held.performs_without_model() && request.requests.is_empty() && !request.converse;
        let plan = match is_alone {
            true => Self::without_model(config, means, request, model)?,
            false => Self::with_model(config, means, request, model)?,
        };
        let mut plan = plan.kept(config, means.helper);
        let in_force = held.in_force();
        let names: Vec<String> = in_force.config.agents.iter().map(|agent| agent.name.clone()).collect();
        plan.agents = enable(config, means, &names)?;
        let now = plan.config;
        plan.config = overridden(&in_force.config, &now, loaded);
        if before.as_ref().is_some_and(|before| before.steered && !is_alone) {
            // A model that goes on with what somebody else began has the limits of any other.
            plan.config.limits = now.limits;
            plan.config.session_limits = now.session_limits;
            plan.config.verify = now.verify;
            plan.config.evaluate = now.evaluate;
        }
        check_price(&plan.config)?;
        plan.prompts = in_force.prompts.clone();
        if moved {
            return Ok(plan);
        }
        // Those that it began with, and those that it made or opened.
        let before = before.map(|before| before.documents).unwrap_or_default();
        let made = held.documents().iter().filter(|document| document.is_file()).cloned();
        for document in before.into_iter().chain(made) {
            if !plan.setup.documents.contains(&document) {
                plan.setup.documents.push(document);
            }
        }
        Ok(plan)
    }

    /// The same on a desktop that outlives this process, if configured and if there is a helper program to hold it. The helper also
    /// holds the browsers, for their pages.
    pub(crate) fn kept(mut self, config: &Config, helper: Option<&Path>) -> Self {
        self.workspace.browsers = helper.filter(|_| config.desktop.pages).map(Path::to_owned);
        let duration = config.desktop.kept_for();
        let helper = helper.filter(|_| !duration.is_zero());
        self.workspace.keep =
            helper.map(|helper| Keep { helper: helper.to_owned(), duration, when: config.desktop.keep });
        self
    }

    /// The same for a session with this id.
    pub(crate) fn called(self, id: SessionId) -> Self {
        Self { id: Some(id), ..self }
    }

    /// The same for a session that another machine may take over. Its desktop ends with this process.
    pub(super) fn fenced(mut self, fence: Arc<dyn Fence>) -> Self {
        self.workspace.keep = None;
        Self { store: self.store.with_fence(fence), notify: None, ..self }
    }

    /// The same as a part of the batch with this results folder.
    pub(crate) fn in_batch(&self, results: &Path) -> Self {
        let mut plan = Self { notify: None, ..self.clone() };
        plan.setup.batch = Some(std::path::absolute(results).unwrap_or_else(|_| results.to_owned()));
        plan
    }

    pub(super) fn agents(&self) -> EnabledAgents {
        let opened = self.workspace.documents.iter().map(|document| &document.named);
        let before = self.setup.documents.iter();
        let all: BTreeSet<&PathBuf> = opened.chain(before).filter(|path| path.is_absolute()).collect();
        self.agents.clone().with_documents(all.into_iter().cloned().collect())
    }

    pub(super) fn sources(&self) -> EnabledSources {
        self.sources.clone()
    }
}

/// The configuration for the session machine.
fn session_config(config: &Config, model: &TeamChoice) -> Result<SessionConfig, HostError> {
    let places = places();
    let mut limits = config.limits.to_limits()?;
    limits.completion_tokens_max = limits.completion_tokens_max.saturating_add(model.reasoning_tokens);
    Ok(SessionConfig {
        limits,
        session_limits: config.session_limits.to_limits()?,
        evaluate: config.evaluation.to_evaluate(),
        policy: policy(&config.policy, &places),
        places,
        model: model.price_name().to_owned(),
        roles: model.roles.clone(),
        ranks: model.embeddings.is_some(),
        prices: price_table(&config.prices)?,
        verify: config.work.verify.to_verify(),
        history_keys: config.work.history_keys.iter().map(|key| key.to_key()).collect(),
        pictures: model.sees() && config.view.pictures,
        ask_questions: config.people.ask_questions,
        view: config.view.to_view(),
        action_sequences: config.view.action_sequences,
        secrets: permits(config),
        ..SessionConfig::default()
    })
}

/// The policy of these settings, with the words of this machine's languages for what cannot be undone.
pub(crate) fn policy(settings: &PolicySettings, places: &PathRoots) -> Policy {
    let mut policy = settings.to_policy(places);
    if policy.safe_guard {
        let words = &mut policy.words;
        deskhand_desktop_linux::each_translation(&mut |label, translation| words.learn(label, translation));
    }
    policy
}

/// Returns the places of this process that paths are relative to.
pub(crate) fn places() -> PathRoots {
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let folder = env::current_dir().ok();
    let programs = run_from().filter(|one| Some(one) != home.as_ref() && Some(one) != folder.as_ref());
    PathRoots {
        programs: programs.map(text).collect(),
        home: home.map(text).unwrap_or_default(),
        folder: folder.map(text).unwrap_or_default(),
    }
}

/// The folders that programs are looked for in, and those of `XDG_…_HOME` whose files are run or read when something starts.
fn run_from() -> impl Iterator<Item = PathBuf> {
    const BELOW: &[(&str, &[&str])] = &[
        ("XDG_CONFIG_HOME", &["autostart", "systemd", "environment.d", "deskhand", "git", "fish"]),
        ("XDG_DATA_HOME", &["applications", "dbus-1", "systemd"]),
        ("XDG_STATE_HOME", &["deskhand"]),
    ];
    let path = env::var_os("PATH").unwrap_or_default();
    let path: Vec<PathBuf> = env::split_paths(&path).collect();
    let below = BELOW.iter().flat_map(|(name, below)| {
        let home = env::var_os(name).map(PathBuf::from);
        below.iter().filter_map(move |one| Some(home.as_ref()?.join(one)))
    });
    path.into_iter().chain(below).filter(|folder| folder.is_absolute() && folder.components().count() > 2)
}

/// A cost limit can be enforced only if the price is known.
fn check_price(config: &SessionConfig) -> Result<(), ModelError> {
    let limited = config.limits.money_max.or(config.session_limits.money_max).is_some();
    let mut models = std::iter::once(&config.model).chain(config.roles.names.values());
    match models.find(|model| limited && config.prices.find(model).is_none()) {
        Some(model) => Err(ModelError::NoPrice { model: model.clone() }),
        None => Ok(()),
    }
}

/// The configuration of a resumed session: unchanged, except for overrides of this run and for what depends on its model
/// and users.
fn overridden(before: &SessionConfig, now: &SessionConfig, loaded: &LoadedConfig) -> SessionConfig {
    let mut session = before.clone();
    let (limits, wanted) = (&mut session.limits, &now.limits);
    let is_set = |key: &str| loaded.overrides(key);
    if is_set("limits.steps_max") {
        limits.steps_max = wanted.steps_max;
    }
    if is_set("limits.model_calls_max") {
        limits.model_calls_max = wanted.model_calls_max;
    }
    if is_set("limits.tokens_max") {
        limits.tokens_max = wanted.tokens_max;
    }
    if is_set("limits.cost_max") {
        limits.money_max = wanted.money_max;
    }
    if is_set("limits.minutes_max") {
        limits.wall_ms_max = wanted.wall_ms_max;
    }
    if is_set("work.verify") {
        session.verify = now.verify;
    }
    if is_set("policy.file") {
        session.policy.clone_from(&now.policy);
    } else if is_set("policy.safe_guard") {
        session.policy.safe_guard = now.policy.safe_guard;
    }
    if is_set("evaluation.enabled") {
        session.evaluate.clone_from(&now.evaluate);
    }
    session.ranks = now.ranks;
    session.workflows.clone_from(&now.workflows);
    session.retrieval.clone_from(&now.retrieval);
    session.secrets.clone_from(&now.secrets);
    session.opened.extend(now.opened.iter().cloned());
    session.pictures &= now.pictures;
    session.model.clone_from(&now.model);
    session.roles.clone_from(&now.roles);
    session.ask_questions = now.ask_questions;
    session.prices.clone_from(&now.prices);
    session
}
