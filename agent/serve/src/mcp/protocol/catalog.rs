//! Catalog of what a server offers.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use rmcp::{
    ErrorData,
    model::{Prompt, Resource, ResourceTemplate, ServerConfig, Tool},
};
use tokio::sync::broadcast;

use super::{
    call::McpCall,
    connection::ClientId,
    requests::{CatalogChange, CatalogReply, CatalogRequest},
};

/// The tools, prompts and resources of a server. One serves all clients.
pub trait Catalog: Send + Sync + 'static {
    /// The name of the server, its capabilities and instructions.
    fn info(&self) -> ServerConfig;

    /// The tools.
    fn tools(&self) -> Vec<Tool>;

    /// Returns `true` if a call of this tool changes nothing, so that it may be repeated.
    fn is_repeatable(&self, tool: &str) -> bool {
        let known = self.tools().into_iter().find(|known| known.name == tool);
        known.and_then(|tool| tool.annotations?.read_only_hint).unwrap_or_default()
    }

    /// The prompts.
    fn prompts(&self) -> Vec<Prompt>;

    /// The resources.
    fn resources(&self) -> BoxFuture<'_, Vec<Resource>>;

    /// The forms of addresses of resources.
    fn templates(&self) -> Vec<ResourceTemplate>;

    /// Values for an argument of a prompt or of an address that begin with what was typed; `None` if it is unknown.
    fn completions<'a>(
        &'a self,
        reference: &'a rmcp::model::Reference,
        argument: &'a str,
        typed: &'a str,
    ) -> BoxFuture<'a, Option<Vec<String>>>;

    /// Answers a request. Runs to its end also if the request was cancelled: `call` says so.
    fn serve(
        self: Arc<Self>,
        wanted: CatalogRequest,
        call: Arc<McpCall>,
    ) -> BoxFuture<'static, Result<CatalogReply, ErrorData>>;

    /// Subscribes to changes from now on.
    fn changes(&self) -> broadcast::Receiver<CatalogChange>;

    /// A client has gone.
    fn gone(self: Arc<Self>, client: ClientId) -> BoxFuture<'static, ()>;
}
