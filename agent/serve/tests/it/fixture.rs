//! The tools, prompts and resources that the conformance suite expects of a server, on the same server as Deskhand's own.

use std::sync::Arc;

use deskhand_serve::mcp::protocol::{
    Catalog, CatalogChange, CatalogReply, CatalogRequest, ClientId, McpCall, with_logs,
};
use futures_util::{FutureExt as _, future::BoxFuture};
use rmcp::{
    ErrorData,
    model::{
        ContentBlock, GetPromptResult, Implementation, JsonObject, Prompt, PromptArgument, PromptMessage,
        ReadResourceResult, Reference, Resource, ResourceContents, ResourceTemplate, Role,
        ServerCapabilities, ServerConfig, Tool,
    },
};
use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::fixture_tools::{self, PICTURE, form, need};

/// A catalog of fixtures.
pub(crate) struct Fixture {
    changes: broadcast::Sender<CatalogChange>,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self { changes: broadcast::Sender::new(16) }
    }
}

fn text_of(arguments: &JsonObject, name: &str) -> Result<String, ErrorData> {
    let given = arguments.get(name).and_then(Value::as_str).map(str::to_owned);
    given.ok_or_else(|| ErrorData::invalid_params(format!("the argument `{name}` is missing"), None))
}

async fn prompt(name: &str, arguments: &JsonObject, call: &McpCall) -> Result<GetPromptResult, ErrorData> {
    let user = |content: ContentBlock| PromptMessage::new(Role::User, content);
    let messages = match name {
        "test_simple_prompt" => vec![user(ContentBlock::text("This is a simple prompt for testing."))],
        "test_prompt_with_arguments" => {
            let (first, second) = (text_of(arguments, "arg1")?, text_of(arguments, "arg2")?);
            vec![user(ContentBlock::text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'")))]
        }
        "test_prompt_with_embedded_resource" => {
            let uri = text_of(arguments, "resourceUri")?;
            let contents = ResourceContents::text("Embedded resource content for testing.", uri);
            vec![
                user(ContentBlock::resource(contents.with_mime_type("text/plain"))),
                user(ContentBlock::text("Please process the embedded resource above.")),
            ]
        }
        "test_prompt_with_image" => vec![
            user(ContentBlock::image(PICTURE, "image/png")),
            user(ContentBlock::text("Please analyze the image above.")),
        ],
        "test_input_required_result_prompt" => {
            let question = form(
                "What context should the prompt use?",
                json!({"context": {"type": "string"}}),
                &["context"],
            );
            let answers = need(call, [("user_context", question)]).await?;
            vec![user(ContentBlock::text(format!("In this context: {}", answers["user_context"])))]
        }
        _ => return Err(ErrorData::invalid_params(format!("there is no prompt `{name}`"), None)),
    };
    Ok(GetPromptResult::new(messages))
}

fn read(uri: &str) -> Result<ResourceContents, ErrorData> {
    if let Some(id) = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data")) {
        let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
        return Ok(ResourceContents::text(data.to_string(), uri).with_mime_type("application/json"));
    }
    match uri {
        "test://static-text" => {
            let text = "This is the content of the static text resource.";
            Ok(ResourceContents::text(text, uri).with_mime_type("text/plain"))
        }
        "test://static-binary" => Ok(ResourceContents::blob(PICTURE, uri).with_mime_type("image/png")),
        _ => Err(ErrorData::resource_not_found("there is no such resource", Some(json!({"uri": uri})))),
    }
}

impl Catalog for Fixture {
    fn info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .build();
        ServerConfig::new(with_logs(capabilities)).with_server_info(Implementation::new("fixture", "1"))
    }

    fn tools(&self) -> Vec<Tool> {
        fixture_tools::list()
    }

    fn prompts(&self) -> Vec<Prompt> {
        let argument =
            |name: &str| PromptArgument::new(name).with_description("a test argument").with_required(true);
        let prompt = |name: &str, arguments: &[&str]| {
            Prompt::new(
                name,
                Some("a test prompt"),
                Some(arguments.iter().map(|name| argument(name)).collect()),
            )
        };
        vec![
            prompt("test_simple_prompt", &[]),
            prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
            prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
            prompt("test_prompt_with_image", &[]),
            prompt("test_input_required_result_prompt", &[]),
        ]
    }

    fn resources(&self) -> BoxFuture<'_, Vec<Resource>> {
        let resource = |uri: &str, kind: &str| {
            Resource::new(uri, uri).with_description("a test resource").with_mime_type(kind)
        };
        let all =
            vec![resource("test://static-text", "text/plain"), resource("test://static-binary", "image/png")];
        async move { all }.boxed()
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        let template = ResourceTemplate::new("test://template/{id}/data", "template");
        vec![template.with_description("a test template").with_mime_type("application/json")]
    }

    fn completions<'a>(
        &'a self,
        reference: &'a Reference,
        _: &'a str,
        typed: &'a str,
    ) -> BoxFuture<'a, Option<Vec<String>>> {
        let mut values: Vec<String> = ["paris", "park", "party"].map(str::to_owned).into();
        values.retain(|value| value.starts_with(typed));
        let is_known = match reference {
            Reference::Prompt(prompt) => prompt.name == "test_prompt_with_arguments",
            Reference::Resource(template) => template.uri == "test://template/{id}/data",
            _ => false,
        };
        async move { is_known.then_some(values) }.boxed()
    }

    fn serve(
        self: Arc<Self>,
        wanted: CatalogRequest,
        call: Arc<McpCall>,
    ) -> BoxFuture<'static, Result<CatalogReply, ErrorData>> {
        async move {
            match wanted {
                CatalogRequest::Tool { name, arguments } => {
                    fixture_tools::run(&name, &arguments, &call, &self.changes).await.map(CatalogReply::Tool)
                }
                CatalogRequest::Prompt { name, arguments } => {
                    prompt(&name, &arguments, &call).await.map(CatalogReply::Prompt)
                }
                CatalogRequest::Resource { uri } => {
                    read(&uri).map(|contents| CatalogReply::Resource(ReadResourceResult::new(vec![contents])))
                }
            }
        }
        .boxed()
    }

    fn changes(&self) -> broadcast::Receiver<CatalogChange> {
        self.changes.subscribe()
    }

    fn gone(self: Arc<Self>, _: ClientId) -> BoxFuture<'static, ()> {
        async {}.boxed()
    }
}
