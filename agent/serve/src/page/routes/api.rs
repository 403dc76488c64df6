//! Description of the API as [OpenAPI](https://spec.openapis.org/oas/v3.1.0), generated from the types that the
//! handlers take and return.
//!
//! Each route is added with its description ([`about`], [`socket`]); a test finds those without one.

use std::{marker::PhantomData, sync::LazyLock};

use aide::{
    OperationOutput,
    generate::{GenContext, in_context},
    openapi::{
        Info, MediaType, OpenApi, Operation, ReferenceOr, RequestBody, Response as Described, SecurityScheme,
        StatusCode as Code,
    },
    transform::{TransformOpenApi, TransformOperation},
};
use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::page::described::described;

/// The name of the way to come in.
const TOKEN: &str = "token";
/// The field of a route over a WebSocket that says what is read and written.
const MESSAGES: &str = "x-messages";
/// The API description of an upgrade.
const UPGRADE: &str = "Messages of a WebSocket";
/// The beginning of the API description.
const ABOUT: &str = "The page of `deskhand serve` uses this API, and so can other programs. Requests carry \
    `Authorization: Bearer TOKEN`; a request that fails is answered with an `Error`.";

/// A session.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct OfSession {
    /// The id of the session.
    pub(super) id: String,
}

/// Which session it is.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CreatedSession {
    /// The id of the session.
    pub(super) id: String,
}

/// Describes an operation: its id, what it does, and what else there is to say.
pub(super) fn about(
    id: &'static str,
    summary: &'static str,
    more: &'static str,
) -> impl FnOnce(TransformOperation<'_>) -> TransformOperation<'_> {
    move |operation| {
        let operation = operation.id(id).summary(summary);
        if more.is_empty() { operation } else { operation.description(more) }
    }
}

/// Describes an operation over a WebSocket, of which each message is a text with JSON: what a client reads, and what it writes.
pub(super) fn socket<Reads: JsonSchema, Writes: JsonSchema>(
    id: &'static str,
    summary: &'static str,
    more: &'static str,
) -> impl FnOnce(TransformOperation<'_>) -> TransformOperation<'_> {
    move |operation| {
        let mut operation = about(id, summary, more)(operation);
        let messages = in_context(|context| {
            let reads = context.schema.subschema_for::<Reads>();
            let writes = context.schema.subschema_for::<Writes>();
            json!({ "reads": reads, "writes": writes })
        });
        operation.inner_mut().extensions.insert(MESSAGES.to_owned(), messages);
        operation
    }
}

/// Describes lines, each a JSON text: over a WebSocket, or as a body.
pub(super) fn lines<Reads: JsonSchema, Writes: JsonSchema>(
    id: &'static str,
    summary: &'static str,
    more: &'static str,
) -> impl FnOnce(TransformOperation<'_>) -> TransformOperation<'_> {
    move |operation| {
        let mut operation = socket::<Reads, Writes>(id, summary, more)(operation);
        let body = in_context(|context| described::<Reads>(context, "application/jsonl", "Lines"));
        let upgrade = Described { description: UPGRADE.to_owned(), ..Described::default() };
        let responses = &mut operation.inner_mut().responses.get_or_insert_default().responses;
        responses.insert(Code::Code(101), ReferenceOr::Item(upgrade));
        responses.insert(Code::Code(200), ReferenceOr::Item(body));
        operation
    }
}

/// Describes an operation whose body is kept as it is.
pub(super) fn upload(
    id: &'static str,
    summary: &'static str,
    more: &'static str,
) -> impl FnOnce(TransformOperation<'_>) -> TransformOperation<'_> {
    move |operation| {
        let mut operation = about(id, summary, more)(operation);
        let content = [("application/octet-stream".to_owned(), MediaType::default())].into_iter().collect();
        // Without a body it is an empty document.
        let body = RequestBody { content, required: false, ..RequestBody::default() };
        operation.inner_mut().request_body = Some(ReferenceOr::Item(body));
        operation
    }
}

/// Nothing is read or written as JSON.
#[derive(JsonSchema)]
pub(super) struct EmptyBody {}

/// A response with the object that a request created.
pub(super) struct CreatedResponse<T>(pub(super) T);

impl<T: Serialize> IntoResponse for CreatedResponse<T> {
    fn into_response(self) -> Response {
        (StatusCode::CREATED, Json(self.0)).into_response()
    }
}

impl<T: JsonSchema> OperationOutput for CreatedResponse<T> {
    type Inner = T;

    fn inferred_responses(context: &mut GenContext, _: &mut Operation) -> Vec<(Option<Code>, Described)> {
        vec![(Some(Code::Code(201)), described::<T>(context, "application/json", "It is made"))]
    }
}

/// The response to a request that was passed on.
pub(super) struct AcceptedResponse;

impl IntoResponse for AcceptedResponse {
    fn into_response(self) -> Response {
        StatusCode::ACCEPTED.into_response()
    }
}

impl OperationOutput for AcceptedResponse {
    type Inner = ();

    fn inferred_responses(_: &mut GenContext, _: &mut Operation) -> Vec<(Option<Code>, Described)> {
        let response = Described { description: "It is passed on".to_owned(), ..Described::default() };
        vec![(Some(Code::Code(202)), response)]
    }
}

/// Server-sent events, each with a message as JSON.
pub(super) struct Events<T>(Response, PhantomData<T>);

impl<T> Events<T> {
    pub(super) fn of(response: impl IntoResponse) -> Self {
        Self(response.into_response(), PhantomData)
    }
}

impl<T> IntoResponse for Events<T> {
    fn into_response(self) -> Response {
        self.0
    }
}

impl<T: JsonSchema> OperationOutput for Events<T> {
    type Inner = T;

    fn inferred_responses(context: &mut GenContext, _: &mut Operation) -> Vec<(Option<Code>, Described)> {
        vec![(
            Some(Code::Code(200)),
            described::<T>(context, "text/event-stream", "Events, each with such a message"),
        )]
    }
}

/// The description of the API, which does not describe what a description is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OpenApi")]
#[serde(transparent)]
pub(super) struct ApiDescription(#[schemars(with = "Map<String, Value>")] &'static OpenApi);

/// Answers with the description.
pub(super) async fn describe() -> Json<ApiDescription> {
    Json(ApiDescription(&DESCRIPTION))
}

static DESCRIPTION: LazyLock<OpenApi> = LazyLock::new(|| {
    in_context(|context| {
        let settings = SchemaSettings::draft2020_12()
            .with(|settings| settings.definitions_path = "/components/schemas".into());
        context.schema = settings.into_generator();
    });
    let mut api = OpenApi { info: info(), ..OpenApi::default() };
    let _: axum::Router<_> = super::api().finish_api_with(&mut api, secured);
    let paths = api.paths.as_mut().into_iter().flat_map(|paths| paths.paths.values_mut());
    for path in paths.filter_map(ReferenceOr::as_item_mut) {
        [&mut path.get, &mut path.post, &mut path.put, &mut path.delete].into_iter().flatten().for_each(tidy);
    }
    let text = serde_json::to_string(&api).unwrap_or_default();
    if let Some(components) = &mut api.components {
        // What stands for parameters alone is described with the parameters.
        components.schemas.retain(|name, _| text.contains(&format!("\"#/components/schemas/{name}\"")));
        components.schemas.sort_keys();
    }
    api
});

/// Takes out what the library says of errors and upgrades and is otherwise here.
fn tidy(operation: &mut Operation) {
    let Some(responses) = &mut operation.responses else { return };
    responses.responses.retain(|status, _| !matches!(status, Code::Code(400 | 413 | 415 | 422)));
    if let Some(ReferenceOr::Item(upgrade)) = responses.responses.get_mut(&Code::Code(101)) {
        UPGRADE.clone_into(&mut upgrade.description);
        upgrade.headers.clear();
    }
}

fn info() -> Info {
    Info {
        title: "Deskhand".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        description: Some(ABOUT.to_owned()),
        ..Info::default()
    }
}

fn secured(api: TransformOpenApi<'_>) -> TransformOpenApi<'_> {
    let bearer = SecurityScheme::Http {
        scheme: "bearer".to_owned(),
        bearer_format: None,
        description: Some("The token that `deskhand serve` prints, and keeps in `serve/keys`.".to_owned()),
        extensions: Default::default(),
    };
    api.security_scheme(TOKEN, bearer).security_requirement(TOKEN)
}

#[cfg(test)]
#[path = "api_tests.rs"]
mod api_tests;
