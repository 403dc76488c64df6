//! The configuration: one TOML file, then the environment, then overrides for one run. It is typed, and every value knows
//! its source. Nothing outside this folder reads the file or the variables.
//!
//! - [`Config`] and the settings in it: the typed settings. Their doc comments explain the keys.
//! - [`load()`] merges [`Sources`]; [`Overrides`] hold for one run.
//! - [`explain()`] explains a key and the source of its value.

mod agents;
mod cassette;
mod desktop;
mod detection;
mod environment;
mod error;
mod explain;
mod fleet;
mod knowledge;
mod layers;
mod limits;
mod load;
mod local;
mod model;
mod notify;
mod overrides;
mod people;
mod policy;
mod programs;
mod providers;
mod roles;
mod rules;
mod schema;
mod secrets;
mod servers;
mod settings;
mod team;
mod telemetry;
mod view;

pub use agents::{
    AgentSettings, MachineAgentSettings, NeedsSettings, OnLossSetting, ProgramAgentSettings, ProgramLimits,
    SandboxSetting, ShellAgentSettings,
};
pub use cassette::CassetteSetting;
pub use desktop::{ConfineSetting, DesktopKind, DesktopSettings, KeepSetting, ScreenSize};
pub use detection::{ControlBackend, DetectionSettings, OcrSettings, OmniparserSettings};
pub use error::ConfigError;
pub use explain::{Explanation, explain, is_section_key, keys_below};
pub use fleet::FleetSettings;
pub use knowledge::{EngineKind, EngineSettings, KnowledgeSettings, RetrieverSettings};
pub use layers::SettingOrigin;
pub use limits::{
    LimitSettings, PriceSettings, SessionLimitSettings, VerifySetting, WorkSettings, price_table,
};
pub(crate) use load::{
    BATCHES, SCHEDULES, beside, expanded, knowledge_dir, local_dir, own_files, workflows_dir,
};
pub use load::{
    LoadedConfig, SessionLayer, Sources, config_path, confine, documents_dir, history_file, load, serve_dir,
    session_store, starter_text,
};
pub use local::{LocalModelKind, LocalModelSettings, LocalSettings};
pub use model::{ComputerUseSetting, ModelSettings, ReasoningSetting, SmallSetting, StructuredOutputSetting};
pub use notify::{NotifySettings, OutcomeSetting};
pub use overrides::Overrides;
pub use people::{ApprovalSetting, ChannelSetting, PeopleSettings, SocketSetting};
pub use policy::{DecisionSetting, PolicySettings, RuleSettings};
pub(crate) use programs::find_local;
pub use programs::local_program_missing;
pub use providers::{Provider, ProviderEndpoint};
pub use roles::{RepairSetting, RoleSetting, RoleSettings};
pub use schema::{all_keys, schema_text};
pub use secrets::{SecretOrigin, SecretSettings};
pub use servers::{
    McpServerSection, ToolArgumentSetting, ToolArgumentSettings, ToolDoesSetting, ToolInputSetting,
    ToolProgramSettings, ToolSettings, ValueSource,
};
pub use settings::{Config, EvaluationSettings, SessionSettings};
pub(crate) use team::ModelTeamSettings;
pub use telemetry::TelemetrySettings;
pub use view::{CompressionSetting, ViewSettings};

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
