//! The session with a server.

use std::{path::Path, time::Duration};

use deskhand_ui::text::clip;
use rmcp::{
    RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, ClientRequest, PaginatedRequestParams, ProtocolVersion,
        ReadResourceRequestParams, ServerResult, Tool,
    },
    service::{
        ClientLifecycleMode, PeerRequestOptions, RunningService, ServiceError, serve_client_with_lifecycle,
    },
    transport::IntoTransport,
};
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::{
    answer::McpReply,
    bounded::{BoundedReader, McpReceivedBytes},
    error::McpError,
    http,
    process::{END_BOUND, Process},
    settings::{McpServerSettings, McpTransport},
};

/// The most tools of a server that are used.
const TOOLS_MAX: usize = 200;
/// The most pages in which a server may list them.
const PAGES_MAX: usize = 20;
/// The longest schema of a tool, in bytes of JSON.
const SCHEMA_MAX: usize = 20_000;
/// The most text of a server's own message that is quoted, in characters.
const QUOTE_MAX: usize = 500;

/// A tool of a server, as the server describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerTool {
    /// Its name.
    pub name: String,
    /// The description that the server gives of the tool.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
}

/// A session with a server. Dropping it ends a program with its descendants.
pub struct McpClient {
    service: RunningService<RoleClient, ()>,
    process: Option<Process>,
    received: McpReceivedBytes,
}

impl McpClient {
    /// Starts or reaches the server and initialises the protocol. `folder` takes the log and the scratch files of a program.
    ///
    /// # Errors
    /// [`McpError::Start`] with the cause.
    pub async fn open(settings: &McpServerSettings, folder: &Path) -> Result<Self, McpError> {
        let limit = settings.start_timeout;
        let received = McpReceivedBytes::default();
        match &settings.transport {
            McpTransport::Program(program) => {
                let (mut process, output, input) = Process::start(program, folder)?;
                let transport = (BoundedReader::new(output, received.clone()), input);
                match greet(transport, limit).await {
                    Ok(service) => Ok(Self { service, process: Some(process), received }),
                    Err(McpHandshakeError::Failed(error)) => {
                        Err(McpError::Start(format!("initialise it: {error}{}", process.ended().await)))
                    }
                    Err(McpHandshakeError::TimedOut) => {
                        Err(timed_out("initialise it", limit, &process.tail()))
                    }
                }
            }
            McpTransport::Http(http) => {
                let transport = http::transport(http)?;
                match greet(transport, limit).await {
                    Ok(service) => Ok(Self { service, process: None, received }),
                    Err(McpHandshakeError::Failed(error)) => {
                        Err(McpError::Start(format!("initialise it at {}: {error}", http.url)))
                    }
                    Err(McpHandshakeError::TimedOut) => Err(timed_out("initialise it", limit, "")),
                }
            }
        }
    }

    /// Returns the instructions of the server; `None` if it has none.
    pub fn instructions(&self) -> Option<String> {
        self.service.peer().peer_info().and_then(|info| info.instructions.clone())
    }

    /// Returns `true` if the server has resources.
    pub fn has_resources(&self) -> bool {
        self.service.peer().peer_info().is_some_and(|info| info.capabilities.resources.is_some())
    }

    /// Its tools, as many as are used, with what is wrong with others.
    ///
    /// # Errors
    /// [`McpError::Start`] if they cannot be listed in time.
    pub async fn tools(&self, limit: Duration) -> Result<(Vec<ServerTool>, Vec<String>), McpError> {
        self.received.restart();
        match timeout(limit, self.list_tools()).await {
            Ok(Ok(listed)) => Ok(listed),
            Ok(Err(error)) => Err(McpError::Start(format!("list its tools: {}", quoted(&error.to_string())))),
            Err(_) => Err(timed_out("list its tools", limit, "")),
        }
    }

    async fn list_tools(&self) -> Result<(Vec<ServerTool>, Vec<String>), ServiceError> {
        let (mut tools, mut problems) = (Vec::new(), Vec::new());
        let mut cursor: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
            let page = self.service.peer().list_tools(Some(params)).await?;
            for tool in page.tools {
                if tools.len() >= TOOLS_MAX {
                    problems.push(format!("it lists more than {TOOLS_MAX} tools; the others are left out"));
                    return Ok((tools, problems));
                }
                match checked(tool) {
                    Ok(tool) => tools.push(tool),
                    Err(problem) => problems.push(problem),
                }
            }
            if page.next_cursor.is_none() || page.next_cursor == cursor {
                return Ok((tools, problems));
            }
            cursor = page.next_cursor;
        }
        problems.push(format!("it lists its tools in more than {PAGES_MAX} pages; the others are left out"));
        Ok((tools, problems))
    }

    /// Calls a tool and waits for its result.
    ///
    /// # Errors
    /// [`McpError`]; after a time-out or a lost connection the work may be half done.
    pub async fn call(
        &mut self,
        tool: &str,
        arguments: Map<String, Value>,
        limit: Duration,
    ) -> Result<McpReply, McpError> {
        self.received.restart();
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let ServerResult::CallToolResult(result) = self.ask(request, limit).await? else {
            return Err(McpError::Refused("something other than the result of a tool".to_owned()));
        };
        Ok(McpReply::of_call(result))
    }

    /// The resources of the server: their addresses and names, at most `most`.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn resources(&self, most: usize, limit: Duration) -> Result<Vec<(String, String)>, McpError> {
        self.received.restart();
        let listed = timeout(limit, self.service.peer().list_resources(None)).await;
        let listed = listed.map_err(|_| McpError::Timeout(limit.as_secs()))?;
        let listed = listed.map_err(|error| McpError::Refused(quoted(&error.to_string())))?;
        let named = |one: rmcp::model::Resource| (one.uri.clone(), one.name.clone());
        Ok(listed.resources.into_iter().take(most).map(named).collect())
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn read_resource(&self, address: &str, limit: Duration) -> Result<McpReply, McpError> {
        self.received.restart();
        let params = ReadResourceRequestParams::new(address.to_owned());
        let read = timeout(limit, self.service.peer().read_resource(params)).await;
        let read = read.map_err(|_| McpError::Timeout(limit.as_secs()))?;
        read.map(McpReply::of_resource).map_err(|error| McpError::Refused(quoted(&error.to_string())))
    }

    async fn ask(&mut self, request: ClientRequest, limit: Duration) -> Result<ServerResult, McpError> {
        let options = PeerRequestOptions::with_timeout(limit);
        let answered = async {
            self.service.peer().send_request_with_option(request, options).await?.await_response().await
        }
        .await;
        match answered {
            Ok(result) => Ok(result),
            Err(ServiceError::Timeout { .. }) => Err(McpError::Timeout(limit.as_secs())),
            Err(ServiceError::McpError(error)) => Err(McpError::Refused(quoted(&error.message))),
            Err(error) => {
                let ended = match &mut self.process {
                    Some(process) => process.ended().await,
                    None => String::new(),
                };
                let is_flood = self.received.is_flood();
                let why = if is_flood { "it sent too much".to_owned() } else { error.to_string() };
                Err(McpError::Lost(format!("{}{ended}", quoted(&why))))
            }
        }
    }

    /// Returns `true` if the server is still connected.
    pub fn is_alive(&mut self) -> bool {
        !self.service.is_closed() && self.process.as_mut().is_none_or(Process::is_alive)
    }

    /// Ends the session: closes stdin of a program, waits for its exit, then kills it.
    pub async fn close(mut self) {
        if let Err(error) = self.service.close_with_timeout(END_BOUND).await {
            tracing::debug!(%error, "failed to close the connection of a server");
        }
        if let Some(process) = self.process {
            process.finish().await;
        }
    }
}

enum McpHandshakeError {
    Failed(String),
    TimedOut,
}

/// Initialises the protocol, in whichever version the server speaks.
async fn greet<T, E, A>(
    transport: T,
    limit: Duration,
) -> Result<RunningService<RoleClient, ()>, McpHandshakeError>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    };
    match timeout(limit, serve_client_with_lifecycle((), transport, lifecycle)).await {
        Ok(Ok(service)) => Ok(service),
        Ok(Err(error)) => Err(McpHandshakeError::Failed(quoted(cause(&error.to_string())))),
        Err(_) => Err(McpHandshakeError::TimedOut),
    }
}

fn timed_out(what: &str, limit: Duration, tail: &str) -> McpError {
    McpError::Start(format!("{what}: timed out after {} s{tail}", limit.as_secs()))
}

/// The end of an error of the protocol library, which names its own types before that.
fn cause(error: &str) -> &str {
    error.rsplit("error: ").next().unwrap_or(error)
}

/// A text of the server, clipped.
fn quoted(text: &str) -> String {
    clip(text.trim(), QUOTE_MAX)
}

/// A tool as it is used, or what is wrong with it.
fn checked(tool: Tool) -> Result<ServerTool, String> {
    let name = tool.name.to_string();
    let shown = clip(&name, 64);
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    if name.is_empty() || name.len() > 128 || !name.chars().all(is_name) {
        return Err(format!("its tool `{shown}` has no usable name"));
    }
    let schema = Value::Object(tool.input_schema.as_ref().clone());
    let length = schema.to_string().len();
    if length > SCHEMA_MAX {
        return Err(format!("the schema of its tool `{shown}` has {length} bytes; {SCHEMA_MAX} are read"));
    }
    let description = tool.description.map(|text| text.to_string()).or(tool.title).unwrap_or_default();
    Ok(ServerTool { name, description, schema })
}
