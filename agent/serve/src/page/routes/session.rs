//! The page of one session: what it does now and did before, and its report.

use std::{fs, sync::Arc};

use axum::{
    extract::{Path, State},
    http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE},
    response::{Html, IntoResponse as _, Response},
};
use deskhand_runtime::ReportFormat;
use serde::Serialize;

use crate::page::{
    PageService,
    error::PageApiError,
    fleet::failed,
    routes::{
        events::{PageFragment, shown_now},
        fleet::ShownTask,
        options::Defaults,
    },
};

/// The content security policy of the report: only the report itself. Its scripts do not run here; it is complete
/// without them.
const REPORT_POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'self'";

#[derive(Serialize)]
struct SessionView<'a> {
    title: String,
    id: &'a str,
    request: String,
    running: bool,
    has_screen: bool,
    seq: u64,
    parts: Vec<PageFragment>,
    now: String,
    /// The location and state of the task, for a session of a fleet.
    task: Option<ShownTask>,
    prompt: String,
    /// The key of [`ShownPrompt`](super::events::ShownPrompt).
    prompt_key: String,
    defaults: Defaults,
}

/// The page.
pub(super) async fn page(
    State(service): State<Arc<PageService>>,
    Path(id): Path<String>,
) -> Result<Html<String>, PageApiError> {
    let (located, session) = service.session(&id).await?;
    let news = session.news(0, 0);
    let now = session.now();
    let shown = shown_now(&service, &located, &now)?;
    let request = match &shown.task {
        Some(task) => task.request.clone(),
        None => session.request(),
    };
    let (prompt, prompt_key) = shown.prompt.map(|prompt| (prompt.html, prompt.key)).unwrap_or_default();
    let view = SessionView {
        title: if request.is_empty() { id.clone() } else { request.clone() },
        id: &id,
        request,
        running: now.running,
        has_screen: shown.has_screen,
        seq: news.seq,
        parts: news.parts.into_iter().map(PageFragment::from).collect(),
        now: shown.now,
        task: shown.task,
        prompt,
        prompt_key,
        defaults: Defaults::of(&service.defaults),
    };
    service.views.page("session", &view)
}

/// The report of the session as it is now.
pub(super) async fn report(
    State(service): State<Arc<PageService>>,
    Path(id): Path<String>,
) -> Result<Response, PageApiError> {
    let located = service.locate(&id).await?;
    if let Some(mirror) = &located.mirror {
        mirror.fetch_pictures().await.map_err(|error| failed(&error))?;
    }
    let written = tokio::task::spawn_blocking(move || {
        let path = located.host.report(&id, ReportFormat::Html, None).map_err(PageApiError::from)?;
        fs::read(path).map_err(|error| PageApiError::failed("read the report", &error))
    });
    let html = written.await.map_err(|error| PageApiError::failed("write the report", &error))??;
    let headers = [(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, REPORT_POLICY)];
    Ok((headers, html).into_response())
}
