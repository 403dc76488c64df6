//! What can be configured. The doc comments are what `deskhand config explain` says and what the schema holds.

use std::{collections::BTreeMap, fmt, path::PathBuf, str::FromStr};

use deskhand_core::{
    geometry::Size,
    policy::{Decision, Policy, Rule},
    session::{Evaluate, Limits, PictureCompression, ViewConfig},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    agents::AgentSettings,
    detection::{ControlBackend, DetectionSettings, OcrSettings, OmniparserSettings},
    governance::{PriceSettings, SessionLimitSettings, WorkSettings, money},
};

/// The configuration of Deskhand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// What finds the elements of windows; what several of them find is merged.
    #[schemars(extend("x-expects" = "a list of \"at-spi\", \"ocr\", \"omniparser\""))]
    pub(crate) control_backend: Vec<ControlBackend>,
    /// The model that plans and decides, unless `--model` names another one.
    pub(crate) model: ModelSettings,
    /// Further models by name, for `--model NAME`.
    pub(crate) models: BTreeMap<String, ModelSettings>,
    /// Where work is done.
    pub(crate) desktop: DesktopSettings,
    /// What agents are shown of their windows, and how they act in them.
    pub(crate) view: ViewSettings,
    /// How text is read from pictures.
    pub(crate) ocr: OcrSettings,
    /// Who is asked for the boxes in pictures.
    pub(crate) omniparser: OmniparserSettings,
    /// When things that were found in different ways are the same thing.
    pub(crate) detection: DetectionSettings,
    /// What one request may use up at most.
    pub(crate) limits: LimitSettings,
    /// Whether requests that are said to be finished are judged.
    pub(crate) evaluation: EvaluationSettings,
    /// What all requests of a session together may use up at most.
    pub(crate) session_limits: SessionLimitSettings,
    /// How agents work together.
    pub(crate) work: WorkSettings,
    /// What models cost, by name, where the program does not know it or not right.
    pub(crate) prices: BTreeMap<String, PriceSettings>,
    /// Who is asked, and how long their answers are waited for.
    pub(crate) people: PeopleSettings,
    /// What agents may do, and what a person is asked about first.
    pub(crate) policy: PolicySettings,
    /// Agents that own no window and can be handed sub-tasks.
    pub(crate) agents: AgentSettings,
    /// What is kept of each session.
    pub(crate) sessions: SessionSettings,
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

/// How to reach a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ModelSettings {
    /// Which kind of model it is; without it there is none.
    pub(crate) provider: Option<Provider>,
    /// The name of the model, as the endpoint calls it.
    pub(crate) model: Option<String>,
    /// The address of an OpenAI-compatible endpoint, up to and with `/v1`.
    pub(crate) base_url: String,
    /// The environment variable that holds the key. Without it, `OPENAI_API_KEY` is used for api.openai.com and no
    /// key for any other endpoint.
    pub(crate) api_key_env: Option<String>,
    /// A file whose first line is the key; wins over `api_key_env`.
    pub(crate) api_key_file: Option<PathBuf>,
    /// The file of turns, for the provider `script`.
    pub(crate) script: Option<PathBuf>,
    /// The longest that one request to the endpoint may take, in seconds.
    #[schemars(range(min = 1))]
    pub(crate) timeout_s: u64,
    /// How many requests one question may cost, the first one included.
    #[schemars(range(min = 1))]
    pub(crate) attempts_max: u32,
    /// How the endpoint is told the form of a reply.
    pub(crate) structured_output: StructuredOutputSetting,
    /// Whether the model is shown pictures of the screen.
    pub(crate) vision: bool,
}

impl ModelSettings {
    /// The endpoint that is used when none is configured.
    pub(crate) const DEFAULT_BASE_URL: &'static str = "https://api.openai.com/v1";
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            provider: None,
            model: None,
            base_url: Self::DEFAULT_BASE_URL.to_owned(),
            api_key_env: None,
            api_key_file: None,
            script: None,
            timeout_s: 120,
            attempts_max: 4,
            structured_output: StructuredOutputSetting::Auto,
            vision: true,
        }
    }
}

/// A kind of model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Provider {
    /// Any OpenAI-compatible chat endpoint, local ones included.
    #[serde(rename = "openai")]
    OpenAi,
    /// A file of turns; no model at all.
    Script,
}

/// How an endpoint is told the form of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StructuredOutputSetting {
    /// A JSON schema, and less where the endpoint does not accept one.
    Auto,
    /// A JSON schema, or fail.
    Schema,
    /// A JSON object of any form.
    Object,
    /// Not at all; the prompt alone says it.
    Off,
}

/// Where work is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DesktopSettings {
    /// Which desktop; without it the current one, or a virtual one where there is no display.
    pub(crate) kind: Option<DesktopKind>,
    /// The size of a virtual desktop's screen.
    pub(crate) size: ScreenSize,
    /// How long the virtual desktop of a session is kept when its process dies, in minutes, for `deskhand resume` to go on
    /// in the same windows; 0 to end it with the process.
    pub(crate) keep_minutes: u64,
    /// Programs whose elements are never read, by the names of their files: `["keepassxc"]`.
    pub(crate) exclude: Vec<String>,
}

impl Default for DesktopSettings {
    fn default() -> Self {
        Self { kind: None, size: ScreenSize::default(), keep_minutes: 10, exclude: Vec::new() }
    }
}

/// Which desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DesktopKind {
    /// A private one, started for the request and gone after it.
    Virtual,
    /// The one that `DISPLAY` names.
    Current,
}

/// The size of a screen, `1920x1080`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(
    with = "String",
    extend("x-expects" = "a size such as \"1920x1080\" (each side 320 to 16384)")
)]
pub(crate) struct ScreenSize(pub(crate) Size);

impl Default for ScreenSize {
    fn default() -> Self {
        Self(Size { width: 1920, height: 1080 })
    }
}

impl FromStr for ScreenSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl TryFrom<String> for ScreenSize {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ScreenSize> for String {
    fn from(size: ScreenSize) -> Self {
        size.to_string()
    }
}

impl fmt::Display for ScreenSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What agents are shown of their windows, and how they act in them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ViewSettings {
    /// About how many tokens the list of a window's elements may have; what is least useful is left out.
    #[schemars(range(min = 100))]
    pub(crate) tokens_max: u32,
    /// Whether agents are told what changed in a window after they have seen it, instead of all of it again.
    pub(crate) changes: bool,
    /// Whether the controls in a picture are framed and carry the numbers of their ids.
    pub(crate) marks: bool,
    /// The most pixels that a side of a picture may have; larger ones are scaled down. 0 for no limit.
    pub(crate) picture_side_max: u32,
    /// Whether pictures are compressed in little time, into few bytes, or into fewer as JPEG, which no longer holds every
    /// pixel.
    pub(crate) picture_compression: CompressionSetting,
    /// How good a JPEG picture is, 1 to 100.
    #[schemars(range(min = 1, max = 100))]
    #[serde(deserialize_with = "quality")]
    pub(crate) jpeg_quality: u8,
    /// Whether the several actions of one reply are run, or only the first.
    pub(crate) action_sequences: bool,
}

/// How pictures are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CompressionSetting {
    /// In little time.
    Fast,
    /// Into few bytes.
    Small,
    /// Into fewer bytes, as JPEG.
    Jpeg,
}

/// A quality that there is.
fn quality<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    let quality = u8::deserialize(deserializer)?;
    if (1..=100).contains(&quality) {
        return Ok(quality);
    }
    Err(serde::de::Error::custom(format!("{quality} is no quality; say a number from 1 to 100")))
}

impl Default for ViewSettings {
    fn default() -> Self {
        let view = ViewConfig::default();
        Self {
            tokens_max: u32::try_from(view.tokens_max).unwrap_or(u32::MAX),
            changes: view.changes,
            marks: view.marks,
            picture_side_max: view.picture_side_max,
            picture_compression: CompressionSetting::Fast,
            jpeg_quality: view.jpeg_quality,
            action_sequences: true,
        }
    }
}

impl ViewSettings {
    /// The settings in the words of the session machine.
    pub(crate) fn to_view(&self) -> ViewConfig {
        ViewConfig {
            tokens_max: usize::try_from(self.tokens_max).unwrap_or(usize::MAX),
            changes: self.changes,
            marks: self.marks,
            picture_side_max: self.picture_side_max,
            picture_compression: match self.picture_compression {
                CompressionSetting::Fast => PictureCompression::Fast,
                CompressionSetting::Small => PictureCompression::Small,
                CompressionSetting::Jpeg => PictureCompression::Jpeg,
            },
            jpeg_quality: self.jpeg_quality,
        }
    }
}

/// What one request may use up at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LimitSettings {
    /// The most steps of all agents together.
    #[schemars(range(min = 1))]
    pub(crate) steps_max: u32,
    /// The most requests to the model, failed and repeated ones included.
    #[schemars(range(min = 1))]
    pub(crate) model_calls_max: u32,
    /// The most tokens, read and written; without it there is no limit.
    pub(crate) tokens_max: Option<u64>,
    /// The most money for the model, in US dollars; without it there is no limit. Needs the price of the model to be
    /// known.
    pub(crate) cost_max: Option<f64>,
    /// The longest that a request may take, in minutes; without it there is no limit.
    pub(crate) minutes_max: Option<u64>,
    /// How often a model is asked again for a reply that cannot be used.
    pub(crate) repairs_max: u32,
    /// How many sub-tasks in a row may fail before the request does.
    #[schemars(range(min = 1))]
    pub(crate) subtask_failures_max: u32,
    /// The most tokens of one reply.
    #[schemars(range(min = 1))]
    pub(crate) completion_tokens_max: u32,
}

impl Default for LimitSettings {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            steps_max: limits.steps_max,
            model_calls_max: limits.model_calls_max,
            tokens_max: limits.tokens_max,
            cost_max: None,
            minutes_max: limits.wall_ms_max.map(|ms| ms / 60_000),
            repairs_max: limits.repairs_max,
            subtask_failures_max: limits.subtask_failures_max,
            completion_tokens_max: limits.completion_tokens_max,
        }
    }
}

impl LimitSettings {
    /// The limits in the words of the session machine; the key of an amount that is none.
    pub(crate) fn to_limits(&self) -> Result<Limits, &'static str> {
        Ok(Limits {
            steps_max: self.steps_max,
            model_calls_max: self.model_calls_max,
            tokens_max: self.tokens_max,
            money_max: money(self.cost_max).ok_or("limits.cost_max")?,
            wall_ms_max: self.minutes_max.map(|minutes| minutes.saturating_mul(60_000)),
            repairs_max: self.repairs_max,
            subtask_failures_max: self.subtask_failures_max,
            completion_tokens_max: self.completion_tokens_max,
            ..Limits::default()
        })
    }
}

/// What agents may do, and what a person is asked about first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PolicySettings {
    /// Whether a person is asked when a model says CONFIRM, and before what usually cannot be undone.
    pub(crate) safe_guard: bool,
    /// Rules, in order: the first that fits decides, and what none speaks of is allowed.
    pub(crate) rules: Vec<RuleSettings>,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self { safe_guard: true, rules: Vec::new() }
    }
}

impl PolicySettings {
    /// The policy in the words of the session machine.
    pub(crate) fn to_policy(&self) -> Policy {
        let rules = self.rules.iter().map(|rule| Rule {
            tool: rule.tool.clone(),
            application: rule.application.clone(),
            role: rule.role.clone(),
            label: rule.label.clone(),
            decision: match rule.decision {
                DecisionSetting::Allow => Decision::Allow,
                DecisionSetting::Ask => Decision::Ask,
                DecisionSetting::Deny => Decision::Deny,
            },
            reason: rule.reason.clone(),
        });
        Policy { rules: rules.collect(), safe_guard: self.safe_guard }
    }
}

/// One rule. Its patterns must all fit: `*` is any text, `?` one character, `|` stands between alternatives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleSettings {
    /// The name of the tool.
    #[serde(default = "any")]
    pub(crate) tool: String,
    /// The application that is acted on: its name as people know it, or its short name.
    #[serde(default = "any")]
    pub(crate) application: String,
    /// The role of the element that is acted on: `push button`.
    #[serde(default = "any")]
    pub(crate) role: String,
    /// The name of what is acted on: an element, a menu item, keys.
    #[serde(default = "any")]
    pub(crate) label: String,
    /// What follows.
    pub(crate) decision: DecisionSetting,
    /// Why, for the agent and the person who is asked.
    #[serde(default)]
    pub(crate) reason: String,
}

fn any() -> String {
    "*".to_owned()
}

/// What a rule decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DecisionSetting {
    /// It is done.
    Allow,
    /// A person is asked first.
    Ask,
    /// It is never done.
    Deny,
}

/// Who is asked, and how long their answers are waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PeopleSettings {
    /// Whether agents may ask questions; without it they decide for themselves.
    pub(crate) ask_questions: bool,
    /// What becomes of an action that needs approval.
    pub(crate) approvals: ApprovalSetting,
    /// The way to the user.
    pub(crate) channel: ChannelSetting,
    /// How long a question waits for an answer, in seconds; without it, or with 0, for ever.
    pub(crate) question_timeout_s: Option<u64>,
    /// How long an action waits for approval, in seconds; without it, or with 0, for ever.
    pub(crate) approval_timeout_s: Option<u64>,
}

impl Default for PeopleSettings {
    fn default() -> Self {
        Self {
            ask_questions: true,
            approvals: ApprovalSetting::Ask,
            channel: ChannelSetting::Auto,
            question_timeout_s: None,
            approval_timeout_s: None,
        }
    }
}

/// What becomes of an action that needs approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ApprovalSetting {
    /// The user is asked; where nobody can be, it is not done.
    Ask,
    /// It is done without asking. What the policy denies is not.
    All,
    /// It is not done, and nobody is asked.
    None,
}

/// The way to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChannelSetting {
    /// JSON lines with `--json`, else the terminal, if standard input is one.
    Auto,
    /// Nobody is asked.
    None,
}

/// Whether requests that are said to be finished are judged: by rules over the record, then by the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct EvaluationSettings {
    /// Whether they are; it costs one call of the model. The judgement stands beside the outcome.
    pub(crate) enabled: bool,
    /// Whether a request that is judged not to be fulfilled is taken up again, once.
    pub(crate) repair: bool,
}

impl Default for EvaluationSettings {
    fn default() -> Self {
        Self { enabled: false, repair: true }
    }
}

impl EvaluationSettings {
    /// The settings in the words of the session machine; none where nothing is judged.
    pub(crate) fn to_evaluate(&self, asked_for: bool) -> Option<Evaluate> {
        (self.enabled || asked_for).then_some(Evaluate { repair: self.repair })
    }
}

/// What is kept of each session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SessionSettings {
    /// The folder of the sessions; without it `$XDG_STATE_HOME/deskhand/sessions`, that is
    /// `~/.local/state/deskhand/sessions`.
    pub(crate) dir: Option<PathBuf>,
}
