//! Settings of tools that are none of ours: MCP servers, and programs as tools.

use std::{collections::BTreeMap, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agents::{ProgramLimits, SandboxSetting};

/// An MCP server whose tools agents use: a program on stdio (`command`), or a server over streamable HTTP (`url`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct McpServerSection {
    /// If `true`, the server is used.
    pub enabled: bool,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The address of a server that runs elsewhere: `https://tools.example/mcp`.
    pub url: Option<String>,
    /// The bearer token that every request to `url` carries.
    pub token: Option<ValueSource>,
    /// More headers of every request to `url`.
    pub headers: BTreeMap<String, ValueSource>,
    /// Who has its tools: `host` (the HostAgent), `apps` (all AppAgents), or applications by name or pattern: `libreoffice-*`.
    #[serde(rename = "for")]
    pub audience: Vec<String>,
    /// The tools to use, by name or pattern. Empty for all.
    pub only: Vec<String>,
    /// The tools not to use.
    pub without: Vec<String>,
    /// The tools that only read. Before any other one you are asked, unless a rule of the policy allows it.
    pub reads: Vec<String>,
    /// Maximum time for one call, in seconds.
    #[schemars(range(min = 1))]
    pub timeout_s: u64,
    /// Maximum time for calls of single tools, by name or pattern, in seconds.
    pub timeouts_s: BTreeMap<String, u64>,
    /// Maximum time for the server to start or to connect, in seconds.
    #[schemars(range(min = 1))]
    pub start_timeout_s: u64,
    /// Execution settings of the program.
    pub program: ToolProgramSettings,
}

impl Default for McpServerSection {
    fn default() -> Self {
        Self {
            enabled: true,
            command: Vec::new(),
            url: None,
            token: None,
            headers: BTreeMap::new(),
            audience: vec!["apps".to_owned()],
            only: Vec::new(),
            without: Vec::new(),
            reads: Vec::new(),
            timeout_s: 60,
            timeouts_s: BTreeMap::new(),
            start_timeout_s: 20,
            program: ToolProgramSettings::default(),
        }
    }
}

/// Execution settings of a program that provides tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolProgramSettings {
    /// Its working folder, which it may write to. By default a private folder for each session.
    pub folder: Option<PathBuf>,
    /// More folders that it may write to.
    pub write: Vec<PathBuf>,
    /// More folders that it may read, besides those of the system and the files that its command names.
    pub read: Vec<PathBuf>,
    /// If `true`, the program may use the network.
    pub network: bool,
    /// Use of a sandbox. Needs seccomp, and Landlock or `bubblewrap`.
    pub sandbox: SandboxSetting,
    /// Resource limits of the program in the sandbox.
    pub limits: ProgramLimits,
    /// Names of environment variables to pass to it, besides the usual ones.
    pub environment: Vec<String>,
    /// Variables that it gets, with where their values are: tokens of services.
    pub variables: BTreeMap<String, ValueSource>,
}

impl Default for ToolProgramSettings {
    fn default() -> Self {
        Self {
            folder: None,
            write: Vec::new(),
            read: Vec::new(),
            network: false,
            sandbox: SandboxSetting::Required,
            limits: ProgramLimits::default(),
            environment: Vec::new(),
            variables: BTreeMap::new(),
        }
    }
}

/// Source of a token: exactly one must be set.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ValueSource {
    /// The environment variable that holds it.
    pub env: Option<String>,
    /// A file whose first line it is.
    pub file: Option<PathBuf>,
}

/// A tool that is a program: each call runs it once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSettings {
    /// Its name: a verb in `snake_case`.
    pub name: String,
    /// Description of the tool for models: one or two sentences.
    pub description: String,
    /// The program and its arguments. `{amount}` in one of them stands for the value of the argument `amount`, and a part that names an
    /// argument which is not given is left out. There is no shell.
    pub command: Vec<String>,
    /// Its arguments, by name.
    pub arguments: BTreeMap<String, ToolArgumentSettings>,
    /// Data that the program reads on standard input.
    pub input: ToolInputSetting,
    /// Effect of the tool, for the policy: `read` if it changes nothing. Any other effect needs your approval, unless
    /// a rule allows it.
    pub does: ToolDoesSetting,
    /// Who has it: `host` (the HostAgent), `apps` (all AppAgents), or applications by name or pattern: `libreoffice-*`.
    #[serde(rename = "for")]
    pub audience: Vec<String>,
    /// Maximum run time, in seconds.
    #[schemars(range(min = 1))]
    pub timeout_s: u64,
    /// Execution settings of the program.
    pub program: ToolProgramSettings,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            name: String::new(),
            description: String::new(),
            command: Vec::new(),
            arguments: BTreeMap::new(),
            input: ToolInputSetting::Nothing,
            does: ToolDoesSetting::Other,
            audience: vec!["apps".to_owned()],
            timeout_s: 60,
            program: ToolProgramSettings::default(),
        }
    }
}

/// An argument of a tool that is a program.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolArgumentSettings {
    /// Type of the argument. Rules on paths apply to a `file` and a `new_file`.
    #[serde(rename = "type")]
    pub kind: ToolArgumentSetting,
    /// Description of the argument, for models.
    pub description: String,
    /// If `true`, the tool can be called without the argument.
    pub optional: bool,
    /// The values that it may have. Empty for any.
    pub values: Vec<String>,
}

/// Type of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolArgumentSetting {
    /// A text.
    #[default]
    Text,
    /// A number.
    Number,
    /// An integer.
    Integer,
    /// True or false.
    Boolean,
    /// The path of a file that is read.
    File,
    /// The path of a file that is written.
    NewFile,
}

/// Data that a program reads on standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolInputSetting {
    /// Nothing.
    #[default]
    Nothing,
    /// The arguments as a JSON object.
    Json,
}

/// Effect of a tool, for the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolDoesSetting {
    /// Changes something.
    #[default]
    Other,
    /// Only reads.
    Read,
    /// Writes a file.
    Save,
}
