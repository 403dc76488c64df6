//! Bodies of requests that are no documents: small, and there in time.

use std::time::Duration;

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::StatusCode,
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use tokio::time::timeout;

use super::error::PageApiError;

/// Maximum time to receive a body.
const BODY_BOUND: Duration = Duration::from_secs(15);

/// Hands a request on once its body is there, of at most so many bytes.
pub(super) async fn whole<const BYTES_MAX: usize>(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let refused = |status, words: String| PageApiError::new(status, words).into_response();
    match timeout(BODY_BOUND, to_bytes(body, BYTES_MAX)).await {
        Ok(Ok(bytes)) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        // One that broke off ends here as well, but nobody hears of it.
        Ok(Err(_)) => {
            refused(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {} MB", BYTES_MAX >> 20))
        }
        Err(_) => refused(StatusCode::REQUEST_TIMEOUT, "the body of the request does not come".to_owned()),
    }
}
