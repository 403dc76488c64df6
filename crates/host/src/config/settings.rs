//! What can be configured. The doc comments are what `deskhand config explain` says and what the schema holds.

use std::{collections::BTreeMap, path::PathBuf};

use deskhand_core::session::Evaluate;
use deskhand_desktop_detect::DetectOptions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ConfigError,
    agents::AgentSettings,
    desktop::DesktopSettings,
    detection::{self, ControlBackend, DetectionSettings, OcrSettings, OmniparserSettings},
    limits::{LimitSettings, PriceSettings, SessionLimitSettings, WorkSettings},
    model::ModelSettings,
    people::PeopleSettings,
    policy::PolicySettings,
    view::ViewSettings,
};

/// The configuration of Deskhand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What finds the elements of windows; what several of them find is merged.
    #[schemars(extend("x-expects" = "a list of \"at-spi\", \"ocr\", \"omniparser\""))]
    pub control_backend: Vec<ControlBackend>,
    /// The model that plans and decides, unless a request names another one.
    pub model: ModelSettings,
    /// Further models by name, for requests to choose from.
    pub models: BTreeMap<String, ModelSettings>,
    /// Where work is done.
    pub desktop: DesktopSettings,
    /// What agents are shown of their windows, and how they act in them.
    pub view: ViewSettings,
    /// How text is read from pictures.
    pub ocr: OcrSettings,
    /// Who is asked for the boxes in pictures.
    pub omniparser: OmniparserSettings,
    /// When things that were found in different ways are the same thing.
    pub detection: DetectionSettings,
    /// What one request may use up at most.
    pub limits: LimitSettings,
    /// Whether requests that are said to be finished are judged.
    pub evaluation: EvaluationSettings,
    /// What all requests of a session together may use up at most.
    pub session_limits: SessionLimitSettings,
    /// How agents work together.
    pub work: WorkSettings,
    /// What models cost, by name, where the program does not know it or not right.
    pub prices: BTreeMap<String, PriceSettings>,
    /// Who is asked, and how long their answers are waited for.
    pub people: PeopleSettings,
    /// What agents may do, and what a person is asked about first.
    pub policy: PolicySettings,
    /// Agents that own no window and can be handed sub-tasks.
    pub agents: AgentSettings,
    /// What is kept of each session.
    pub sessions: SessionSettings,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            control_backend: vec![ControlBackend::AtSpi],
            model: ModelSettings::default(),
            models: BTreeMap::new(),
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
            policy: PolicySettings::default(),
            agents: AgentSettings::default(),
            sessions: SessionSettings::default(),
        }
    }
}

impl Config {
    /// How elements are found, as the desktop takes it.
    ///
    /// # Errors
    /// [`ConfigError::Unfit`] names the key that does not fit the others.
    pub fn to_detection(&self) -> Result<DetectOptions, ConfigError> {
        detection::to_options(&self.control_backend, &self.ocr, &self.omniparser, &self.detection)
    }
}

/// Whether requests that are said to be finished are judged: by rules over the record, then by the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EvaluationSettings {
    /// Whether they are; it costs one call of the model. The judgement stands beside the outcome.
    pub enabled: bool,
    /// Whether a request that is judged not to be fulfilled is taken up again, once.
    pub repair: bool,
}

impl Default for EvaluationSettings {
    fn default() -> Self {
        Self { enabled: false, repair: true }
    }
}

impl EvaluationSettings {
    /// The settings as the session machine takes them; `None` if nothing is judged.
    pub fn to_evaluate(&self) -> Option<Evaluate> {
        self.enabled.then_some(Evaluate { repair: self.repair })
    }
}

/// What is kept of each session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionSettings {
    /// The folder of the sessions; without it `$XDG_STATE_HOME/deskhand/sessions`, that is
    /// `~/.local/state/deskhand/sessions`.
    pub dir: Option<PathBuf>,
}
