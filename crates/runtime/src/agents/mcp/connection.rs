//! One process of such an agent, from its start to its end.

use std::{
    ffi::OsString,
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

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
    process::{Child, Command},
    task::JoinSet,
    time::timeout,
};

use super::{contract::WORK, kind::McpSettings};
use crate::agents::process::{ProcessGroup, find_program};

/// How long a process may take to end by itself once its input is closed.
const END_BOUND: Duration = Duration::from_secs(2);
/// The most that is kept of its messages, in bytes.
const LOG_BYTES_MAX: usize = 1_000_000;
/// How much of the log stands in a report, in bytes from its end.
const LOG_SHOWN: usize = 400;

/// Variables of our own environment that such a process gets, beside those that its settings name.
const PASSED: [&str; 8] = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER"];

/// A process that answers. Dropping it ends the process with everything that it started.
pub(super) struct Connection {
    service: RunningService<RoleClient, ()>,
    child: Child,
    group: ProcessGroup,
    log: PathBuf,
    /// Writes the log; ended with the connection.
    logging: JoinSet<()>,
}

impl Connection {
    /// Starts the process and greets it. Returns what it says of itself, too.
    pub(super) async fn open(settings: &McpSettings, folder: &Path) -> Result<(Self, String), String> {
        let log = folder.join("stderr.log");
        let (mut child, mut group) = start(settings, folder)?;
        let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("its streams are missing".to_owned());
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
                    "greet it: {error}{}",
                    ended(&mut child, &mut group, &mut logging, &log).await
                ));
            }
            Err(_) => {
                let seconds = settings.start_timeout.as_secs();
                return Err(format!("greet it: no answer within {seconds} s{}", tail(&log)));
            }
        };
        let mut connection = Self { service, child, group, log, logging };
        let introduction = connection.introduction(settings.start_timeout).await?;
        Ok((connection, introduction))
    }

    /// What the server says of itself, once it was seen to offer the tool.
    async fn introduction(&mut self, limit: Duration) -> Result<String, String> {
        let tools = match timeout(limit, self.service.peer().list_all_tools()).await {
            Ok(Ok(tools)) => tools,
            Ok(Err(error)) => return Err(format!("list its tools: {error}")),
            Err(_) => return Err(format!("list its tools: no answer within {} s", limit.as_secs())),
        };
        let Some(tool) = tools.iter().find(|tool| tool.name == WORK) else {
            let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
            let offered = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(format!("it offers no tool `{WORK}`; its tools: {offered}"));
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
            Ok(_) => Err("it answered with something that is no result of a tool".to_owned()),
            Err(ServiceError::Timeout { .. }) => Err(format!(
                "it was not done within {} s and was ended; its work may be half done",
                limit.as_secs()
            )),
            Err(ServiceError::McpError(error)) => Err(format!("it refused: {}", error.message)),
            Err(error) => Err(format!(
                "it was lost ({error}){}",
                ended(&mut self.child, &mut self.group, &mut self.logging, &self.log).await
            )),
        }
    }

    /// Whether the process still answers.
    pub(super) fn is_alive(&mut self) -> bool {
        !self.service.is_closed() && matches!(self.child.try_wait(), Ok(None))
    }

    /// Closes its input and gives it the time to end by itself; then it is ended.
    pub(super) async fn close(mut self) {
        if let Err(error) = self.service.close_with_timeout(END_BOUND).await {
            tracing::debug!(%error, "an agent's connection did not close");
        }
        if let Ok(Ok(_)) = timeout(END_BOUND, self.child.wait()).await {
            self.group.leader_ended();
        }
    }
}

fn start(settings: &McpSettings, folder: &Path) -> Result<(Child, ProcessGroup), String> {
    let Some((program, arguments)) = settings.command.split_first() else {
        return Err("its command is empty".to_owned());
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let place = settings.folder.clone().unwrap_or_else(|| folder.to_owned());
    let Some(file) = find_program(program, &path, &place) else {
        return Err(format!("start it: there is no program `{program}`"));
    };
    let named = |name: &str| PASSED.contains(&name) || settings.environment.iter().any(|known| known == name);
    let environment: Vec<(OsString, OsString)> =
        std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(named)).collect();
    let (mark, value) = ProcessGroup::mark();
    let child = Command::new(file)
        .args(arguments)
        .env_clear()
        .envs(environment)
        .env(mark, &value)
        .current_dir(place)
        .process_group(0)
        .kill_on_drop(true)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("start it: {error}"))?;
    let group = ProcessGroup::of(child.id(), value);
    Ok((child, group))
}

/// Keeps the beginning of what the process writes to its standard error.
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

/// How the process ended, where it did, and what it said last.
async fn ended(child: &mut Child, group: &mut ProcessGroup, logging: &mut JoinSet<()>, log: &Path) -> String {
    let how = match timeout(END_BOUND, child.wait()).await {
        Ok(Ok(status)) => {
            group.leader_ended();
            // The last message may still be on its way into the log.
            timeout(END_BOUND, logging.join_next()).await.ok();
            format!("; its process ended: {status}")
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
    if text.is_empty() { String::new() } else { format!("; its log ends with: {text}") }
}
