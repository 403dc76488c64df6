//! MCP servers as sources of tools.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_machine::{
    command::{CallResult, CallStatus, ToolSpec},
    intent::Does,
};
use deskhand_ui::action::{CallReport, Verdict};
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;

use super::source::{OpenSource, OwnTool, SourceCall, ToolAudience, ToolSource, is_among};
use crate::mcp::{McpClient, McpError, McpPicture, McpReply, McpServerSettings, ServerTool};

/// Maximum number of restarts of an ended server in one session.
const RESTARTS_MAX: u32 = 3;
/// The most resources that the tool for them names.
const RESOURCES_NAMED: usize = 10;
/// The end of the name of the tool that reads the resources of a server.
const READ_RESOURCE: &str = "read_resource";

/// The user's rules for the tools of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerRules {
    /// Who has them.
    pub audience: Vec<ToolAudience>,
    /// The tools that are used, as patterns of rules. Empty for all.
    pub only: Vec<String>,
    /// The tools that are not used.
    pub without: Vec<String>,
    /// The tools that only read: the policy does not ask before them. What the server says of them does not count.
    pub reads: Vec<String>,
    /// Maximum time for one call.
    pub timeout: Duration,
    /// Timeouts for calls of single tools, by pattern; the first match applies.
    pub timeouts: Vec<(String, Duration)>,
}

impl Default for ServerRules {
    fn default() -> Self {
        Self {
            audience: vec![ToolAudience::Apps(Vec::new())],
            only: Vec::new(),
            without: Vec::new(),
            reads: Vec::new(),
            timeout: Duration::from_secs(60),
            timeouts: Vec::new(),
        }
    }
}

/// An MCP server whose tools agents use.
#[derive(Debug, Clone)]
pub struct ServerSource {
    settings: McpServerSettings,
    rules: ServerRules,
}

impl ServerSource {
    /// A server with what the user says of its tools.
    pub const fn new(settings: McpServerSettings, rules: ServerRules) -> Self {
        Self { settings, rules }
    }
}

impl ToolSource for ServerSource {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn describe(&self) -> String {
        format!("MCP server {}", self.settings.name)
    }

    async fn open(&self, folder: PathBuf) -> Result<impl OpenSource, String> {
        let failed = |error: McpError| {
            format!("{error} ({}); `deskhand doctor` tries it alone", self.settings.transport.described())
        };
        let limit = self.settings.start_timeout;
        let client = McpClient::open(&self.settings, &folder).await.map_err(failed)?;
        let (tools, mut problems) = client.tools(limit).await.map_err(failed)?;
        let resources = if client.has_resources() {
            client.resources(RESOURCES_NAMED, limit).await.unwrap_or_else(|error| {
                problems.push(format!("failed to list its resources: {error}"));
                Vec::new()
            })
        } else {
            Vec::new()
        };
        let state = McpServerState { client: Some(client), restarts: 0, pictures: 0 };
        Ok(OpenServer {
            source: self.clone(),
            folder,
            tools: tools.into_iter().filter(|tool| self.rules.uses(&tool.name)).collect(),
            resources,
            problems,
            state: Mutex::new(state),
        })
    }
}

impl ServerRules {
    fn uses(&self, tool: &str) -> bool {
        (self.only.is_empty() || is_among(&self.only, tool)) && !is_among(&self.without, tool)
    }

    fn limit(&self, tool: &str) -> Duration {
        let own = self.timeouts.iter().find(|(pattern, _)| is_among(std::slice::from_ref(pattern), tool));
        own.map_or(self.timeout, |(_, limit)| *limit)
    }
}

struct OpenServer {
    source: ServerSource,
    folder: PathBuf,
    tools: Vec<ServerTool>,
    /// Addresses and names of its resources.
    resources: Vec<(String, String)>,
    problems: Vec<String>,
    state: Mutex<McpServerState>,
}

struct McpServerState {
    /// Taken out during a call: dropping the call ends the server, and the next call starts it again.
    client: Option<McpClient>,
    restarts: u32,
    /// Number of pictures stored.
    pictures: u32,
}

impl OpenSource for OpenServer {
    fn tools(&self) -> Vec<OwnTool> {
        let rules = &self.source.rules;
        let audience = || rules.audience.clone();
        let own = |tool: &ServerTool| OwnTool {
            spec: ToolSpec {
                name: tool.name.clone(),
                description: tool.description.clone(),
                parameters: tool.schema.clone(),
                does: if is_among(&rules.reads, &tool.name) { Does::Read } else { Does::Other },
                ..ToolSpec::default()
            },
            audience: audience(),
        };
        let resources = (!self.resources.is_empty() && rules.uses(READ_RESOURCE))
            .then(|| OwnTool { spec: self.resource_spec(), audience: audience() });
        self.tools.iter().map(own).chain(resources).collect()
    }

    fn problems(&self) -> Vec<String> {
        self.problems.clone()
    }

    async fn call(&self, call: SourceCall<'_>) -> CallResult {
        let mut state = self.state.lock().await;
        let mut client = match self.client(&mut state).await {
            Ok(client) => client,
            Err(problem) => return not_called(call.acts, &self.source.describe(), &problem),
        };
        let limit = self.source.rules.limit(call.tool);
        let is_resource = call.tool == self.resource_name();
        let answered = if is_resource {
            let address = call.arguments.get("uri").and_then(Value::as_str).unwrap_or_default();
            client.read_resource(address, limit).await
        } else {
            client.call(call.tool, call.arguments.clone(), limit).await
        };
        match answered {
            Ok(answer) => {
                state.client = Some(client);
                let kept = self.keep(answer.pictures.as_slice(), &mut state.pictures);
                self.result(call, answer, kept)
            }
            Err(error) => {
                // Otherwise the client is dropped, which ends a program that hangs.
                if matches!(error, McpError::Refused(_)) {
                    state.client = Some(client);
                }
                let why = format!("the {} failed to {error}", self.source.describe());
                CallResult::failure(call.acts.then_some(Verdict::Unknown), why)
            }
        }
    }

    async fn close(&self) {
        if let Some(client) = self.state.lock().await.client.take() {
            client.close().await;
        }
    }
}

impl OpenServer {
    fn resource_name(&self) -> String {
        format!("{}_{READ_RESOURCE}", self.source.settings.name)
    }

    fn resource_spec(&self) -> ToolSpec {
        let known: Vec<String> =
            self.resources.iter().map(|(address, name)| format!("{address} ({name})")).collect();
        ToolSpec {
            name: self.resource_name(),
            description: format!("Reads a resource: {}.", known.join(", ")),
            parameters: json!({
                "type": "object",
                "properties": {"uri": {"type": "string"}},
                "required": ["uri"],
                "additionalProperties": false,
            }),
            does: Does::Read,
            ..ToolSpec::default()
        }
    }

    /// The session with the server; one that ended is started again, a bounded number of times.
    async fn client(&self, state: &mut McpServerState) -> Result<McpClient, String> {
        let kept = state.client.take();
        if let Some(client) = kept.and_then(|mut client| client.is_alive().then_some(client)) {
            return Ok(client);
        }
        if state.restarts >= RESTARTS_MAX {
            return Err(format!("it ended {RESTARTS_MAX} times and is not started again in this session"));
        }
        state.restarts += 1;
        let settings = &self.source.settings;
        let again = McpClient::open(settings, &self.folder).await;
        again.map_err(|error| format!("failed to {error} ({})", settings.transport.described()))
    }

    /// Keeps pictures as files, and returns a line for each.
    fn keep(&self, pictures: &[McpPicture], count: &mut u32) -> Vec<String> {
        let keep = |picture: &McpPicture| {
            *count += 1;
            let ending = picture.media_type.strip_prefix("image/").unwrap_or("bin");
            let ending: String = ending.chars().filter(char::is_ascii_alphanumeric).take(5).collect();
            match write_picture(&self.folder, &format!("picture-{count}.{ending}"), &picture.bytes) {
                Ok(path) => format!("(a picture, {}, kept as {})", picture.media_type, path.display()),
                Err(error) => format!("(a picture, {}, that cannot be kept: {error})", picture.media_type),
            }
        };
        pictures.iter().map(keep).collect()
    }

    fn result(&self, call: SourceCall<'_>, answer: McpReply, pictures: Vec<String>) -> CallResult {
        let from = self.source.describe();
        let McpReply { text, data, is_error, .. } = answer;
        let mut output = Map::new();
        output.insert("from".to_owned(), from.clone().into());
        // The text usually says the same as the data.
        let (key, said) = if data.is_null() { ("text", text.into()) } else { ("data", data) };
        output.insert(key.to_owned(), said);
        if !pictures.is_empty() {
            output.insert("pictures".to_owned(), pictures.into());
        }
        let (status, what) = match is_error {
            true => (CallStatus::Failure, format!("the {from} calls it an error")),
            false => (CallStatus::Success, format!("the {from} answered")),
        };
        CallResult {
            status,
            // What it did out there is not seen here.
            effect: call.acts.then_some(Verdict::Unknown),
            report: CallReport::text(what),
            output: Value::Object(output),
            ..CallResult::failure(None, "")
        }
    }
}

fn not_called(acts: bool, source: &str, problem: &str) -> CallResult {
    let why = format!("the {source} is not there: {problem}; nothing was done");
    CallResult::failure(acts.then_some(Verdict::Refused), why)
}

fn write_picture(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    let path = folder.join(name);
    fs::write(&path, bytes)?;
    Ok(path)
}
