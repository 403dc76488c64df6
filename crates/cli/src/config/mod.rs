//! The configuration: one TOML file, then the environment, then flags; typed, and every value knows where it
//! comes from. Nothing outside of this folder reads the file or the variables.

mod agents;
mod detection;
mod error;
mod explain;
mod governance;
mod layers;
mod load;
mod settings;

pub(crate) use agents::SandboxSetting;
pub(crate) use error::ConfigError;
pub(crate) use explain::{Explanation, every_key, explain, schema_text};
pub(crate) use governance::{VerifySetting, price_table};
pub(crate) use layers::nearest;
pub(crate) use load::{config_path, load, starter_text, state_root};
pub(crate) use settings::{
    ApprovalSetting, ChannelSetting, Config, DesktopKind, ModelSettings, Provider, ScreenSize,
    StructuredOutputSetting,
};

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
