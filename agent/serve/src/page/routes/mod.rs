//! The parts of the page and of its API.

mod api;
mod assets;
mod batches;
mod chart;
mod documents;
mod events;
mod fleet;
mod home;
mod lines;
mod metrics;
mod moments;
mod options;
mod pictures;
mod schedules;
mod screen;
mod session;
mod start;
mod steer;
mod tasks;
mod workflows;

use std::sync::Arc;

use aide::axum::{
    ApiRouter,
    routing::{delete_with, get_with, post_with},
};
use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware::{from_fn, from_fn_with_state},
    routing::get,
};

use deskhand_runtime::people::protocol::{FromSession, ToSession};

use self::api::{EmptyBody, about, lines as described_lines, socket, upload};
use super::{PageService, bodies, door, error::in_json, failed, once};

/// The largest body of a request that is not named here, in bytes.
const BODY_BYTES_MAX: usize = 1 << 20;
/// The largest body with the tasks of a batch, in bytes.
const TASKS_BYTES_MAX: usize = 16 << 20;

/// All routes, behind the door.
pub(super) fn router(service: Arc<PageService>) -> Router {
    let [small, tasks, documents] = [api_of_small(), api_of_tasks(), api_of_documents()].map(Router::from);
    let tasks = tasks
        .layer(from_fn_with_state(Arc::clone(&service), once::once))
        .layer(from_fn(bodies::whole::<TASKS_BYTES_MAX>));
    pages()
        .merge(small)
        .layer(from_fn_with_state(Arc::clone(&service), once::once))
        .layer(from_fn(bodies::whole::<BODY_BYTES_MAX>))
        .merge(tasks)
        .merge(documents)
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(Arc::clone(&service), door::pass))
        .layer(from_fn(in_json))
        .layer(from_fn_with_state(Arc::clone(&service), failed::told))
        .with_state(service)
}

/// The pages, and what they consist of.
fn pages() -> Router<Arc<PageService>> {
    Router::new()
        .route("/", get(home::home))
        .route("/compare", get(moments::comparison))
        .route("/sessions/{id}", get(session::page))
        .route("/sessions/{id}/moments", get(moments::time_line))
        .route("/sessions/{id}/report", get(session::report))
        .route("/sessions/{id}/documents/{*name}", get(fleet::document))
        .route("/sessions/{id}/pictures/{sha256}", get(pictures::picture))
        .route("/workflows", get(workflows::page))
        .route("/schedules", get(schedules::page))
        .route("/batches", get(batches::page))
        .route("/batches/{id}", get(batches::one))
        .route("/assets/{name}", get(assets::asset))
        .route("/metrics", get(metrics::metrics))
}

/// The API: each route with its description.
fn api() -> ApiRouter<Arc<PageService>> {
    api_of_small().merge(api_of_tasks()).merge(api_of_documents())
}

/// Documents, which may be large.
fn api_of_documents() -> ApiRouter<Arc<PageService>> {
    let described = upload("keep_document", "Keeps the body as a document", documents::KEEPING);
    ApiRouter::new().api_route("/api/documents", post_with(documents::keep, described))
}

/// The tasks of a batch, which may be many.
fn api_of_tasks() -> ApiRouter<Arc<PageService>> {
    let described = about("start_batch", "Starts a batch", "It runs in a process of its own.");
    ApiRouter::new().api_route("/api/batches", post_with(batches::start, described))
}

/// Everything else.
fn api_of_small() -> ApiRouter<Arc<PageService>> {
    ApiRouter::new()
        .api_route(
            "/api/openapi.json",
            get_with(api::describe, about("describe", "Describes this API", "An OpenAPI document.")),
        )
        .api_route(
            "/api/sessions",
            get_with(home::list, about("list_sessions", "Lists sessions", "Searched, filtered and sorted."))
                .post_with(start::start, about("start_session", "Starts a session", start::STARTING)),
        )
        .api_route(
            "/api/sessions/{id}",
            delete_with(home::remove, about("remove_session", "Removes a session", "One that does not run.")),
        )
        .merge(looking_back())
        .merge(running())
        .merge(workflows())
        .merge(batches())
        .merge(schedules())
}

/// Returns the routes for the history of one session.
fn looking_back() -> ApiRouter<Arc<PageService>> {
    ApiRouter::new()
        .api_route(
            "/api/sessions/{id}/moments",
            get_with(moments::moments, about("list_moments", "Lists what happened in a session", "")),
        )
        .api_route(
            "/api/sessions/{id}/moments/{record}",
            get_with(
                moments::moment,
                about("show_moment", "Shows what was seen, asked, replied and done", ""),
            ),
        )
}

/// Running sessions: watching and steering them, and making them run.
fn running() -> ApiRouter<Arc<PageService>> {
    ApiRouter::new()
        .api_route(
            "/api/sessions/{id}/resume",
            post_with(start::resume, about("resume_session", "Goes on with a session that does not run", "")),
        )
        .api_route(
            "/api/sessions/{id}/fork",
            post_with(start::fork, about("fork_session", "Forks a session, and goes on with the fork", "")),
        )
        .api_route(
            "/api/sessions/{id}/do",
            post_with(
                steer::wish,
                about("steer_session", "Answers and steers a running session", steer::LINES),
            ),
        )
        .api_route(
            "/api/run",
            get_with(
                lines::run,
                socket::<FromSession<'_>, ToSession>(
                    "run",
                    "Starts a session and follows it",
                    lines::RUNNING,
                ),
            ),
        )
        .api_route(
            "/api/sessions/{id}/lines",
            get_with(
                lines::lines,
                described_lines::<FromSession<'_>, ToSession>(
                    "lines",
                    "Follows a session as a program does",
                    lines::LINES,
                ),
            ),
        )
        .api_route(
            "/api/sessions/{id}/events",
            get_with(
                events::stream,
                about("follow_session", "Follows a session as its page does", events::FOLLOWING),
            ),
        )
        .api_route(
            "/api/sessions/{id}/watch",
            get_with(
                events::socket,
                socket::<events::PageMessage, EmptyBody>(
                    "watch_session",
                    "The same over a WebSocket",
                    events::WATCHING,
                ),
            ),
        )
        .api_route(
            "/api/sessions/{id}/screen",
            get_with(
                screen::screen,
                about("show_screen", "The desktop as it is now, over a WebSocket", screen::SCREEN),
            ),
        )
}

/// Workflows: running and learning them.
fn workflows() -> ApiRouter<Arc<PageService>> {
    ApiRouter::new()
        .api_route(
            "/api/workflows",
            get_with(workflows::list, about("list_workflows", "Lists workflows with their parameters", "")),
        )
        .api_route(
            "/api/workflows/{name}/run",
            post_with(workflows::run, about("run_workflow", "Runs a workflow in a session of its own", "")),
        )
        .api_route(
            "/api/sessions/{id}/learn",
            post_with(workflows::learn, about("learn_workflow", "Makes a workflow of a session", "")),
        )
}

/// Batches: how far they are, and stopping them.
fn batches() -> ApiRouter<Arc<PageService>> {
    ApiRouter::new()
        .api_route("/api/batches", get_with(batches::list, about("list_batches", "Lists batches", "")))
        .api_route(
            "/api/batches/{id}",
            get_with(batches::data, about("show_batch", "Shows a batch with its tasks", "")).delete_with(
                batches::forget,
                about("forget_batch", "Takes a batch off the list", batches::FORGETTING),
            ),
        )
        .api_route(
            "/api/batches/{id}/stop",
            post_with(batches::stop, about("stop_batch", "Stops a batch", batches::STOPPING)),
        )
        .api_route(
            "/api/batches/{id}/resume",
            post_with(
                batches::resume,
                about("resume_batch", "Goes on with a batch that does not run", batches::RESUMING),
            ),
        )
        .api_route(
            "/api/batches/{id}/events",
            get_with(
                batches::events,
                about("follow_batch", "Follows a batch as its page does", batches::FOLLOWING),
            ),
        )
}

/// Schedules.
fn schedules() -> ApiRouter<Arc<PageService>> {
    ApiRouter::new()
        .api_route(
            "/api/schedules",
            get_with(schedules::list, about("list_schedules", "Lists schedules", ""))
                .post_with(schedules::add, about("add_schedule", "Adds a schedule", schedules::ADDING)),
        )
        .api_route(
            "/api/schedules/{name}",
            delete_with(schedules::remove, about("remove_schedule", "Removes a schedule", "")),
        )
        .api_route(
            "/api/schedules/{name}/run",
            post_with(schedules::run, about("run_schedule", "Runs a schedule now", "")),
        )
}
