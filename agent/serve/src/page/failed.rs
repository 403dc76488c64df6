//! Error pages: a person sees a page, while programs get JSON or text.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue,
        header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE},
    },
    middleware::Next,
    response::Response,
};
use serde::Serialize;

use super::{PageService, error::InternalFailure};

#[derive(Serialize)]
struct FailedView {
    title: String,
    words: String,
}

/// Returns `true` if somebody looks at the answer in a browser.
fn is_read(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).and_then(|kinds| kinds.to_str().ok()).is_some_and(|kinds| kinds.contains("text/html"))
}

/// Puts a page in place of an answer that is a failure. Its headers stay.
pub(super) async fn told(State(service): State<Arc<PageService>>, request: Request, next: Next) -> Response {
    let is_read = is_read(request.headers());
    let response = next.run(request).await;
    let status = response.status();
    if !is_read || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let words = response.extensions().get::<InternalFailure>().map(|failure| failure.0.clone());
    let title = status.canonical_reason().unwrap_or("It did not work").to_owned();
    let Ok(page) = service.views.text("failed", &FailedView { title, words: words.unwrap_or_default() })
    else {
        return response;
    };
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    Response::from_parts(parts, page.into())
}
