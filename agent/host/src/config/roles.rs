//! Settings of roles: which model answers whom, and with which prompts.

use std::{collections::BTreeMap, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Models, prompts and examples by who asks. What is not set here is that of `model`, and of Deskhand.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RoleSettings {
    /// The HostAgent, which splits a request into sub-tasks.
    pub host: RoleSetting,
    /// The AppAgents, which work in windows.
    pub app: RoleSetting,
    /// The EvaluationAgent, which judges a finished request.
    pub evaluation: RoleSetting,
    /// Who is asked to write a reply anew that could not be used.
    pub repair: RepairSetting,
    /// The AppAgents of one application, by the name that windows of it show, such as "LibreOffice Calc", or by that of its program.
    pub applications: BTreeMap<String, RoleSetting>,
    /// The agents without a window, by name, such as `shell`.
    pub agents: BTreeMap<String, RoleSetting>,
}

/// A model, and prompts of one's own. An error names a variable that a prompt lacks or that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RoleSetting {
    /// The model: a name of `models`, or `PROVIDER:MODEL`. By default that of `model`. `--model` for one run holds for all roles.
    pub model: Option<String>,
    /// A file with another system prompt.
    pub system_prompt: Option<PathBuf>,
    /// A file with another user prompt.
    pub user_prompt: Option<PathBuf>,
    /// A file with worked examples, which are put at the end of the system prompt.
    pub examples: Option<PathBuf>,
}

/// The model that repairs a reply, and its prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RepairSetting {
    /// The model: a name of `models`, or `PROVIDER:MODEL`. A small one will do. By default the one whose reply it is.
    pub model: Option<String>,
    /// A file with another text that says what is wrong.
    pub prompt: Option<PathBuf>,
}

impl RoleSettings {
    /// The same without models: one that is named for a run holds for all.
    pub(super) fn of_one_model(mut self) -> Self {
        let groups = self.applications.values_mut().chain(self.agents.values_mut());
        for role in groups.chain([&mut self.host, &mut self.app, &mut self.evaluation]) {
            role.model = None;
        }
        self.repair.model = None;
        self
    }
}
