//! The requests of the protocol, answered from a catalog.
#![expect(
    deprecated,
    reason = "clients of versions before 2026-07-28 subscribe and set the level of logs by requests"
)]

use std::{
    borrow::Cow,
    io,
    sync::{Arc, PoisonError},
};

use axum::http::request::Parts;
use rmcp::{
    ErrorData, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
        CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
        SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext},
};

use super::{
    begin::{IncomingMcpRequest, key_of},
    call::ClientInfo,
    calls::Calls,
    catalog::Catalog,
    changes,
    connection::{Departures, McpConnection},
    logs::Least,
    message::explained,
    pages::page,
    requests::{CatalogReply, CatalogRequest},
    wait::{ElicitationRoute, McpCallWaitOutcome, wait},
};

/// The header with the session of a client, before 2026-07-28.
pub(in crate::mcp) const SESSION: &str = "mcp-session-id";
/// The most resources that a client watches.
const WATCHED_MAX: usize = 256;

/// The server of one client. Clones share its connection.
pub(in crate::mcp) struct CatalogServer<C> {
    catalog: Arc<C>,
    calls: Arc<Calls>,
    connection: Arc<McpConnection>,
}

impl<C: Catalog> CatalogServer<C> {
    /// The server of a new client.
    ///
    /// # Errors
    /// Too many clients are connected.
    pub(in crate::mcp) fn new(
        catalog: Arc<C>,
        calls: Arc<Calls>,
        departures: &Departures,
    ) -> io::Result<Self> {
        Ok(Self { catalog, calls, connection: departures.connect()? })
    }

    fn client(&self, context: &RequestContext<RoleServer>) -> ClientInfo {
        let over_http = context.extensions.get::<Parts>();
        let has_session = over_http.is_none_or(|parts| parts.headers.contains_key(SESSION));
        let name = context.client_info().map(|info| info.name).filter(|name| !name.is_empty());
        ClientInfo {
            id: Some(self.connection.id).filter(|_| has_session),
            name,
            capabilities: context.client_capabilities().unwrap_or_default(),
        }
    }

    fn level(&self, context: &RequestContext<RoleServer>) -> Option<Least> {
        match asks(context) {
            // Without a level in the request, nothing is logged.
            ElicitationRoute::ByResult => Least::of(&context.meta),
            ElicitationRoute::ByRequest => Some(self.connection.level().unwrap_or(Least::USUAL)),
        }
    }

    async fn answer(
        &self,
        context: &RequestContext<RoleServer>,
        wanted: CatalogRequest,
        state: Option<String>,
        responses: Option<rmcp::model::InputResponses>,
    ) -> Result<McpCallWaitOutcome, ErrorData> {
        let incoming = IncomingMcpRequest {
            id: context.id.clone(),
            wanted,
            client: self.client(context),
            key: key_of(&context.meta)?,
            state,
            responses,
        };
        let call = self.calls.for_request(&self.catalog, incoming).await?;
        Ok(wait(&call, context, asks(context), self.level(context)).await)
    }

    fn subscribes(&self) -> bool {
        let resources = self.catalog.info().capabilities.resources;
        resources.and_then(|resources| resources.subscribe).unwrap_or_default()
    }
}

/// Returns the way to ask the client questions in the protocol version of a request.
fn asks(context: &RequestContext<RoleServer>) -> ElicitationRoute {
    let version = context.protocol_version();
    if version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
        ElicitationRoute::ByResult
    } else {
        ElicitationRoute::ByRequest
    }
}

fn other() -> ErrorData {
    ErrorData::internal_error("the answer belongs to another request", None)
}

impl<C: Catalog> ServerHandler for CatalogServer<C> {
    fn get_info(&self) -> ServerConfig {
        self.catalog.info()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.catalog.tools().into_iter().find(|tool| tool.name == name)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (items, next_cursor) = page(self.catalog.tools(), request.as_ref())?;
        Ok(ListToolsResult { next_cursor, ..ListToolsResult::with_all_items(items) })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.get_tool(&request.name).is_none() {
            let names: Vec<String> = self.catalog.tools().into_iter().map(|tool| tool.name.into()).collect();
            let problem = format!("there is no tool `{}`; there are {}", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(problem, None));
        }
        let arguments = request.arguments.unwrap_or_default();
        let wanted = CatalogRequest::Tool { name: request.name.into(), arguments };
        match self.answer(&context, wanted, request.request_state, request.input_responses).await? {
            McpCallWaitOutcome::Served(Ok(CatalogReply::Tool(result))) => Ok(result.into()),
            McpCallWaitOutcome::Needs(needed) => Ok(needed.into()),
            McpCallWaitOutcome::Served(Err(error)) => Err(error),
            McpCallWaitOutcome::Served(Ok(CatalogReply::Prompt(_) | CatalogReply::Resource(_))) => {
                Err(other())
            }
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let (items, next_cursor) = page(self.catalog.resources().await, request.as_ref())?;
        Ok(ListResourcesResult { next_cursor, ..ListResourcesResult::with_all_items(items) })
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let (items, next_cursor) = page(self.catalog.templates(), request.as_ref())?;
        Ok(ListResourceTemplatesResult { next_cursor, ..ListResourceTemplatesResult::with_all_items(items) })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let wanted = CatalogRequest::Resource { uri: request.uri };
        match self.answer(&context, wanted, request.request_state, request.input_responses).await? {
            McpCallWaitOutcome::Served(Ok(CatalogReply::Resource(result))) => Ok(result.into()),
            McpCallWaitOutcome::Needs(needed) => Ok(needed.into()),
            McpCallWaitOutcome::Served(Err(error)) => Err(error),
            McpCallWaitOutcome::Served(Ok(CatalogReply::Prompt(_) | CatalogReply::Tool(_))) => Err(other()),
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let (items, next_cursor) = page(self.catalog.prompts(), request.as_ref())?;
        Ok(ListPromptsResult { next_cursor, ..ListPromptsResult::with_all_items(items) })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let wanted = CatalogRequest::Prompt { name: request.name, arguments };
        match self.answer(&context, wanted, request.request_state, request.input_responses).await? {
            McpCallWaitOutcome::Served(Ok(CatalogReply::Prompt(result))) => Ok(result.into()),
            McpCallWaitOutcome::Needs(needed) => Ok(needed.into()),
            McpCallWaitOutcome::Served(Err(error)) => Err(error),
            McpCallWaitOutcome::Served(Ok(CatalogReply::Tool(_) | CatalogReply::Resource(_))) => Err(other()),
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let (argument, typed) = (&request.argument.name, &request.argument.value);
        let values = self.catalog.completions(&request.r#ref, argument, typed).await.ok_or_else(|| {
            ErrorData::invalid_params(
                format!("there is no argument `{argument}` of this prompt or address"),
                None,
            )
        })?;
        let total = u32::try_from(values.len()).ok();
        let shown: Vec<String> = values.into_iter().take(CompletionInfo::MAX_VALUES).collect();
        let has_more =
            total.is_some_and(|total| usize::try_from(total).is_ok_and(|total| total > shown.len()));
        let completion = CompletionInfo::with_pagination(shown, total, has_more);
        Ok(CompleteResult::new(completion.map_err(|problem| ErrorData::internal_error(problem, None))?))
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if self.catalog.info().capabilities.logging.is_none() || asks(&context) == ElicitationRoute::ByResult
        {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "logging/setLevel", None));
        }
        self.connection.set_level(Least::new(request.level));
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !self.subscribes() {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "resources/subscribe", None));
        }
        let mut watched = self.connection.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if watched.len() >= WATCHED_MAX {
            let problem =
                format!("{WATCHED_MAX} resources are watched, the most; unsubscribe from one first");
            return Err(ErrorData::invalid_params(problem, None));
        }
        if !watched.contains(&request.uri) {
            watched.push(request.uri);
        }
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !self.subscribes() {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "resources/unsubscribe", None));
        }
        let mut watched = self.connection.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|uri| *uri != request.uri);
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        changes::forward(&self.connection, context.peer, self.catalog.changes(), &self.catalog.info());
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        changes::listen(context, self.catalog.changes()).await;
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(explained(&request.method, request.params, asks(&context)))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }
}
