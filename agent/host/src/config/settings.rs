//! All settings. `deskhand config explain` and the schema show the doc comments.

use std::{collections::BTreeMap, path::PathBuf};

use deskhand_desktop_detect::DetectOptions;
use deskhand_machine::{session::Evaluate, workflow::Heal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::local::LocalModels;

use super::{
    ConfigError,
    agents::AgentSettings,
    desktop::DesktopSettings,
    detection::{self, ControlBackend, DetectionSettings, OcrSettings, OmniparserSettings},
    fleet::FleetSettings,
    knowledge::KnowledgeSettings,
    limits::{LimitSettings, PriceSettings, SessionLimitSettings, WorkSettings},
    local::{LocalModelSettings, LocalSettings},
    model::ModelSettings,
    notify::NotifySettings,
    people::PeopleSettings,
    policy::PolicySettings,
    roles::RoleSettings,
    secrets::SecretSettings,
    servers::{McpServerSection, ToolSettings},
    telemetry::TelemetrySettings,
    view::ViewSettings,
};

/// The configuration of Deskhand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Sources of the elements of windows. The findings of several back ends are merged.
    #[schemars(extend("x-expects" = "a list of \"at-spi\", \"ocr\", \"omniparser\""))]
    pub control_backend: Vec<ControlBackend>,
    /// The model to use, unless a request names another one.
    pub model: ModelSettings,
    /// More models by name, for requests to choose from.
    pub models: BTreeMap<String, ModelSettings>,
    /// The server of the provider `local`, and where its models are stored.
    pub local: LocalSettings,
    /// More models that `deskhand model pull` can get, by name.
    pub local_models: BTreeMap<String, LocalModelSettings>,
    /// Models, prompts and examples by who asks.
    pub roles: RoleSettings,
    /// The desktop to work on.
    pub desktop: DesktopSettings,
    /// View that agents have of their windows, and the way they act in them.
    pub view: ViewSettings,
    /// Settings for reading text from pictures of windows (OCR).
    pub ocr: OcrSettings,
    /// The server that finds boxes in pictures of windows.
    pub omniparser: OmniparserSettings,
    /// When elements that several back ends found count as one.
    pub detection: DetectionSettings,
    /// The most that one request may use.
    pub limits: LimitSettings,
    /// Evaluation of finished requests.
    pub evaluation: EvaluationSettings,
    /// The most that all requests of a session may use together.
    pub session_limits: SessionLimitSettings,
    /// Settings for the cooperation of agents.
    pub work: WorkSettings,
    /// Prices of models, by name, where the built-in price is missing or wrong.
    pub prices: BTreeMap<String, PriceSettings>,
    /// Settings for questions and approvals.
    pub people: PeopleSettings,
    /// Who is told when a session, a batch or a schedule has ended.
    pub notify: NotifySettings,
    /// Rules for the actions that agents may do, and for those that need your approval.
    pub policy: PolicySettings,
    /// Secrets by name. An agent that gives `secret:NAME` as the text of a field has its value typed there, if this allows it.
    pub secrets: BTreeMap<String, SecretSettings>,
    /// Agents that own no window and can work on sub-tasks.
    pub agents: AgentSettings,
    /// MCP servers whose tools agents use, by name.
    pub servers: BTreeMap<String, McpServerSection>,
    /// A file with more servers, in the form of the reference implementation (`mcp.yaml`).
    pub mcp_file: Option<PathBuf>,
    /// Programs as tools.
    pub tools: Vec<ToolSettings>,
    /// Storage of sessions.
    pub sessions: SessionSettings,
    /// Tasks that were learnt and run without a model.
    pub workflows: WorkflowSettings,
    /// Sources that agents search before they work on something.
    pub knowledge: KnowledgeSettings,
    /// Traces of sessions for a collector of OpenTelemetry.
    pub telemetry: TelemetrySettings,
    /// Connection to a fleet, and the tasks that a worker of it takes.
    pub fleet: FleetSettings,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            control_backend: vec![ControlBackend::AtSpi],
            model: ModelSettings::default(),
            models: BTreeMap::new(),
            local: LocalSettings::default(),
            local_models: BTreeMap::new(),
            roles: RoleSettings::default(),
            desktop: DesktopSettings::default(),
            view: ViewSettings::default(),
            ocr: OcrSettings::default(),
            omniparser: OmniparserSettings::default(),
            detection: DetectionSettings::default(),
            limits: LimitSettings::default(),
            evaluation: EvaluationSettings::default(),
            session_limits: SessionLimitSettings::default(),
            work: WorkSettings::default(),
            prices: BTreeMap::new(),
            people: PeopleSettings::default(),
            notify: NotifySettings::default(),
            policy: PolicySettings::default(),
            secrets: BTreeMap::new(),
            agents: AgentSettings::default(),
            servers: BTreeMap::new(),
            mcp_file: None,
            tools: Vec::new(),
            sessions: SessionSettings::default(),
            workflows: WorkflowSettings::default(),
            knowledge: KnowledgeSettings::default(),
            telemetry: TelemetrySettings::default(),
            fleet: FleetSettings::default(),
        }
    }
}

impl Config {
    /// The detection options of the desktop. Blocking: looks whether a model for OCR is pulled.
    ///
    /// # Errors
    /// [`ConfigError::Unfit`] if a value does not fit the others.
    pub fn to_detection(&self) -> Result<DetectOptions, ConfigError> {
        let pulled = || LocalModels::of(self).ocr();
        detection::to_options(&self.control_backend, &self.ocr, &self.omniparser, &self.detection, pulled)
    }
}

/// Evaluation of finished requests, by rules over the journal and then by the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EvaluationSettings {
    /// If `true`, finished requests are evaluated. Costs one model call. The judgement is added to the outcome and
    /// does not change it.
    pub enabled: bool,
    /// If `true`, work continues once more on a request that was judged unfulfilled.
    pub repair: bool,
}

impl Default for EvaluationSettings {
    fn default() -> Self {
        Self { enabled: false, repair: true }
    }
}

impl EvaluationSettings {
    /// The settings for the session machine; `None` if disabled.
    pub fn to_evaluate(&self) -> Option<Evaluate> {
        self.enabled.then_some(Evaluate { repair: self.repair })
    }
}

/// Storage of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionSettings {
    /// The folder of the sessions. By default `$XDG_STATE_HOME/deskhand/sessions`, usually
    /// `~/.local/state/deskhand/sessions`.
    pub dir: Option<PathBuf>,
    /// The folder of the key that seals journals, and of the last record of each session. Keep it outside of the folder of the
    /// sessions, and private. By default `$XDG_STATE_HOME/deskhand/seals`, usually `~/.local/state/deskhand/seals`.
    pub seals_dir: Option<PathBuf>,
}

/// Tasks that were learnt and run without a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkflowSettings {
    /// The folder of workflows. By default `$XDG_DATA_HOME/deskhand/workflows`, usually `~/.local/share/deskhand/workflows`.
    pub dir: Option<PathBuf>,
    /// Handling of a step that cannot be done as it is written.
    pub heal: HealSetting,
    /// If `true`, agents can run workflows.
    pub offer: bool,
    /// If `true`, `deskhand run` runs a workflow in place of agents if the request has its words. Otherwise it only
    /// reports that there is one.
    pub auto: bool,
}

impl Default for WorkflowSettings {
    fn default() -> Self {
        Self { dir: None, heal: HealSetting::default(), offer: true, auto: false }
    }
}

/// Handling of a workflow step that cannot be done as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HealSetting {
    /// The run stops and says what it looked for, and what is there. Needs no model.
    #[default]
    Off,
    /// The model is asked about that one step, and you about its answer.
    Ask,
    /// The model is asked about that one step.
    Auto,
}

impl HealSetting {
    /// The setting for the session machine.
    pub const fn to_heal(self) -> Heal {
        match self {
            Self::Off => Heal::Off,
            Self::Ask => Heal::Ask,
            Self::Auto => Heal::Auto,
        }
    }
}
