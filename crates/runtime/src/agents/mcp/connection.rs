//! The process of an MCP agent, from start to exit.

use std::{
    ffi::OsString,
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use deskhand_confine::Enforcement;
use deskhand_process::{ProcessGroup, find_program};
use rmcp::{
    RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ProtocolVersion, ServerResult,
    },
    service::{
        ClientLifecycleMode, PeerRequestOptions, RunningService, ServiceError, serve_client_with_lifecycle,
    },
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::Child,
    task::JoinSet,
    time::timeout,
};

use super::{contract::WORK, settings::McpSettings};
use crate::agents::environment::environment;

/// How long a process may take to exit after its stdin is closed.
const END_BOUND: Duration = Duration::from_secs(2);
/// The maximum log size, in bytes.
const LOG_BYTES_MAX: usize = 1_000_000;
/// How much of the log's end is quoted in a report, in bytes.
const LOG_SHOWN: usize = 400;

/// Variables that the process inherits without a sandbox, besides configured ones.
const PASSED: [&str; 8] = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER"];

/// A running MCP server. Dropping it kills the process and its descendants.
pub(super) struct Connection {
    service: RunningService<RoleClient, ()>,
    /// Dropped before the child: it asks a supervisor to end everything, which a killed one could not.
    group: ProcessGroup,
    child: Child,
    log: PathBuf,
    /// Writes the log; stopped with the connection.
    logging: JoinSet<()>,
}

impl Connection {
    /// Starts the process and initialises the protocol. Also returns the server's introduction.
    pub(super) async fn open(settings: &McpSettings, folder: &Path) -> Result<(Self, String), String> {
        let log = folder.join("stderr.log");
        let (mut child, mut group) = start(settings, folder)?;
        let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("its stdio streams are missing".to_owned());
        };
        let file = File::options().create(true).append(true).open(&log);
        let file = file.map_err(|error| format!("write its log {}: {error}", log.display()))?;
        let mut logging = JoinSet::new();
        logging.spawn(keep_log(errors, file));
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        };
        let greeting = serve_client_with_lifecycle((), (output, input), lifecycle);
        let service = match timeout(settings.start_timeout, greeting).await {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => {
                return Err(format!(
                    "initialise it: {error}{}",
                    ended(&mut child, &mut group, &mut logging, &log).await
                ));
            }
            Err(_) => {
                let seconds = settings.start_timeout.as_secs();
                return Err(format!("initialise it: timed out after {seconds} s{}", tail(&log)));
            }
        };
        let mut connection = Self { service, child, group, log, logging };
        let introduction = connection.introduction(settings.start_timeout).await?;
        Ok((connection, introduction))
    }

    /// Checks that the server offers the tool; returns its introduction.
    async fn introduction(&mut self, limit: Duration) -> Result<String, String> {
        let tools = match timeout(limit, self.service.peer().list_all_tools()).await {
            Ok(Ok(tools)) => tools,
            Ok(Err(error)) => return Err(format!("list its tools: {error}")),
            Err(_) => return Err(format!("list its tools: timed out after {} s", limit.as_secs())),
        };
        let Some(tool) = tools.iter().find(|tool| tool.name == WORK) else {
            let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
            let offered = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(format!("find its tool `{WORK}`; it offers: {offered}"));
        };
        let instructions = self.service.peer().peer_info().and_then(|info| info.instructions.clone());
        Ok(instructions.or_else(|| tool.description.as_ref().map(ToString::to_string)).unwrap_or_default())
    }

    /// Calls the tool and waits for its result.
    pub(super) async fn call(
        &mut self,
        params: CallToolRequestParams,
        limit: Duration,
    ) -> Result<CallToolResult, String> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::with_timeout(limit);
        let answered = async {
            self.service.peer().send_request_with_option(request, options).await?.await_response().await
        }
        .await;
        match answered {
            Ok(ServerResult::CallToolResult(result)) => Ok(result),
            Ok(_) => Err("the agent returned something other than a tool result".to_owned()),
            Err(ServiceError::Timeout { .. }) => Err(format!(
                "the agent timed out after {} s and was killed; its work may be half done",
                limit.as_secs()
            )),
            Err(ServiceError::McpError(error)) => Err(format!("the agent refused: {}", error.message)),
            Err(error) => Err(format!(
                "lost the connection to the agent ({error}){}",
                ended(&mut self.child, &mut self.group, &mut self.logging, &self.log).await
            )),
        }
    }

    /// Whether the process is still connected.
    pub(super) fn is_alive(&mut self) -> bool {
        !self.service.is_closed() && matches!(self.child.try_wait(), Ok(None))
    }

    /// Closes stdin, waits for the process to exit, then kills it.
    pub(super) async fn close(mut self) {
        if let Err(error) = self.service.close_with_timeout(END_BOUND).await {
            tracing::debug!(%error, "failed to close the connection of an agent");
        }
        if let Ok(Ok(_)) = timeout(END_BOUND, self.child.wait()).await {
            self.group.leader_ended();
        }
    }
}

/// What the process is started as.
struct Plan {
    /// The program.
    file: PathBuf,
    /// Its working folder.
    place: PathBuf,
    /// Its environment.
    environment: Vec<(OsString, OsString)>,
    enforcement: Enforcement,
}

impl Plan {
    fn new(settings: &McpSettings, program: &str, folder: &Path) -> Result<Self, String> {
        let sandbox = &settings.sandbox;
        let enforcement =
            sandbox.enforcement(settings.folder.as_ref()).map_err(|why| format!("start it: {why}"))?;
        let place = settings.folder.clone().unwrap_or_else(|| folder.to_owned());
        let ours = std::env::vars_os();
        let mut environment = match &enforcement {
            Enforcement::Nothing => {
                let named = |name: &str| {
                    PASSED.contains(&name) || settings.environment.iter().any(|known| known == name)
                };
                ours.filter(|(name, _)| name.to_str().is_some_and(named)).collect()
            }
            Enforcement::Rules | Enforcement::Namespaces { .. } => {
                environment(ours, &settings.environment, folder)
            }
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let reachable = sandbox.search_path(&enforcement, &path, std::slice::from_ref(&place));
        for (_, path) in environment.iter_mut().filter(|(name, _)| name == "PATH") {
            path.clone_from(&reachable);
        }
        // The program itself may be anywhere: the user named it.
        let file = find_program(program, &reachable, &place).or_else(|| find_program(program, &path, &place));
        let file = file.ok_or_else(|| format!("start it: program `{program}` not found"))?;
        Ok(Self { file, place, environment, enforcement })
    }

    /// Files that the command names: they are readable, as the user named them.
    fn named_files(&self, arguments: &[String]) -> Vec<PathBuf> {
        let files = arguments.iter().map(PathBuf::from).filter(|path| path.is_absolute() && path.is_file());
        std::iter::once(self.file.clone()).chain(files).collect()
    }
}

fn start(settings: &McpSettings, folder: &Path) -> Result<(Child, ProcessGroup), String> {
    let Some((program, arguments)) = settings.command.split_first() else {
        return Err("start it: its command is empty".to_owned());
    };
    let plan = Plan::new(settings, program, folder)?;
    let own = [plan.place.clone(), folder.to_owned()];
    let (mark, value) = ProcessGroup::mark();
    let child = settings
        .sandbox
        .command(&plan.enforcement, &plan.file, (&own, &plan.named_files(arguments)), "not started")
        .map_err(|error| format!("start it: {error}"))?
        .args(arguments)
        .env_clear()
        .envs(plan.environment)
        .env(mark, &value)
        .current_dir(plan.place)
        .process_group(0)
        .kill_on_drop(true)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("start it: {error}"))?;
    let group = settings.sandbox.group(&child, value);
    Ok((child, group))
}

/// Writes the beginning of stderr to the log.
async fn keep_log(mut errors: impl AsyncRead + Unpin, mut file: File) {
    const CHUNK: usize = 4_096;
    let mut buffer = vec![0; CHUNK];
    let mut kept = 0_usize;
    while let Ok(count @ 1..) = errors.read(&mut buffer).await {
        let room = LOG_BYTES_MAX.saturating_sub(kept).min(count);
        if file.write_all(buffer.get(..room).unwrap_or_default()).is_err() {
            return;
        }
        kept = kept.saturating_add(room);
    }
}

/// How the process exited, if it did, and the end of its log.
async fn ended(child: &mut Child, group: &mut ProcessGroup, logging: &mut JoinSet<()>, log: &Path) -> String {
    let how = match timeout(END_BOUND, child.wait()).await {
        Ok(Ok(status)) => {
            group.leader_ended();
            // The last message may not be in the log yet.
            timeout(END_BOUND, logging.join_next()).await.ok();
            format!("; its process exited: {status}")
        }
        Ok(Err(_)) | Err(_) => String::new(),
    };
    format!("{how}{}", tail(log))
}

fn tail(log: &Path) -> String {
    let bytes = std::fs::read(log).unwrap_or_default();
    let text =
        String::from_utf8_lossy(bytes.get(bytes.len().saturating_sub(LOG_SHOWN)..).unwrap_or_default())
            .trim()
            .to_owned();
    if text.is_empty() { String::new() } else { format!("; end of its log: {text}") }
}
