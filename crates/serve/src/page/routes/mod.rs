//! The parts of the page and of its API.

mod assets;
mod chart;
pub(super) mod documents;
mod events;
mod home;
mod moments;
mod pictures;
mod screen;
mod session;
mod start;
mod steer;

use std::sync::Arc;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware::from_fn_with_state,
    routing::{delete, get, post},
};

use super::{Service, door};

/// The largest body of a request that is not a document, in bytes.
const BODY_MAX: usize = 1 << 20;

/// All routes, behind the door.
pub(super) fn router(service: Arc<Service>) -> Router {
    Router::new()
        .route("/", get(home::home))
        .route("/compare", get(moments::comparison))
        .route("/sessions/{id}", get(session::page))
        .route("/sessions/{id}/moments", get(moments::time_line))
        .route("/sessions/{id}/report", get(session::report))
        .route("/sessions/{id}/pictures/{sha256}", get(pictures::picture))
        .route("/assets/{name}", get(assets::asset))
        .route("/api/sessions", get(home::list).post(start::start))
        .route("/api/sessions/{id}", delete(home::remove))
        .route("/api/sessions/{id}/moments", get(moments::moments))
        .route("/api/sessions/{id}/moments/{record}", get(moments::moment))
        .route("/api/sessions/{id}/resume", post(start::resume))
        .route("/api/sessions/{id}/fork", post(start::fork))
        .route("/api/sessions/{id}/do", post(steer::wish))
        .route("/api/sessions/{id}/events", get(events::stream))
        .route("/api/sessions/{id}/watch", get(events::socket))
        .route("/api/sessions/{id}/screen", get(screen::screen))
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .route("/api/documents", post(documents::keep).layer(DefaultBodyLimit::disable()))
        .layer(from_fn_with_state(Arc::clone(&service), door::pass))
        .with_state(service)
}
