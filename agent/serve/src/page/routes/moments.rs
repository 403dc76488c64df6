//! Looking back at one session moment by moment, and at two beside each other.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, Query, State},
    response::Html,
};
use deskhand_runtime::{
    comparison::{Move, Pair, SessionComparison},
    moments::{MomentParts, SessionMoments},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::api::OfSession;
use crate::page::{PageService, error::PageApiError};

/// The moments of a session.
pub(super) async fn moments(
    State(service): State<Arc<PageService>>,
    Path(OfSession { id }): Path<OfSession>,
) -> Result<Json<SessionMoments>, PageApiError> {
    let located = service.locate(&id).await?;
    let read = spawn_blocking(move || service.time_lines.of(&located.host, &located.folder)).await;
    Ok(Json(read.map_err(|error| PageApiError::failed("read the session", &error))??))
}

/// A moment of a session.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct OfMoment {
    /// The id of the session.
    id: String,
    /// The number of a record.
    #[schemars(range(max = u64::MAX))]
    record: u64,
}

/// Prompt, reply, elements and calls of one moment.
pub(super) async fn moment(
    State(service): State<Arc<PageService>>,
    Path(OfMoment { id, record }): Path<OfMoment>,
) -> Result<Json<MomentParts>, PageApiError> {
    let located = service.locate(&id).await?;
    let read = spawn_blocking(move || located.host.session_moment(&id, record)).await;
    let parts = read.map_err(|error| PageApiError::failed("read the session", &error))??;
    parts.map(Json).ok_or_else(|| PageApiError::missing(format!("there is no record {record}")))
}

/// Two sessions.
#[derive(Debug, Deserialize)]
pub(super) struct Two {
    left: String,
    right: String,
}

#[derive(Serialize)]
struct TimeLineView<'a> {
    title: &'static str,
    id: &'a str,
    /// `true` if the session can be forked.
    is_here: bool,
}

/// The page with the time line of a session.
pub(super) async fn time_line(
    State(service): State<Arc<PageService>>,
    Path(id): Path<String>,
) -> Result<Html<String>, PageApiError> {
    let is_here = service.locate(&id).await?.mirror.is_none();
    service.views.page("time_line", &TimeLineView { title: "Time line", id: &id, is_here })
}

#[derive(Serialize)]
struct ComparisonView {
    title: &'static str,
    left: SideView,
    right: SideView,
    shared: Option<u64>,
    equal: usize,
    pairs: Vec<PairView>,
}

#[derive(Serialize)]
struct SideView {
    id: String,
    request: String,
    outcome: &'static str,
    steps: u32,
    model_calls: u32,
}

#[derive(Serialize)]
struct PairView {
    left: Option<Move>,
    right: Option<Move>,
    differs: Vec<String>,
    same: bool,
}

impl PairView {
    fn of(pair: Pair) -> Self {
        let word = |aspect: &deskhand_runtime::comparison::MoveAspect| format!("{aspect:?}").to_lowercase();
        let differs: Vec<String> = pair.differs.iter().map(word).collect();
        let same = differs.is_empty() && pair.left.is_some() && pair.right.is_some();
        Self { left: pair.left, right: pair.right, differs, same }
    }
}

/// The page with two sessions beside each other.
pub(super) async fn comparison(
    State(service): State<Arc<PageService>>,
    Query(two): Query<Two>,
) -> Result<Html<String>, PageApiError> {
    service.hub.folder(&two.left)?;
    service.hub.folder(&two.right)?;
    let comparing = Arc::clone(&service);
    let compared = spawn_blocking(move || comparing.host.compare_sessions(&two.left, &two.right)).await;
    let compared = compared.map_err(|error| PageApiError::failed("compare the sessions", &error))??;
    let SessionComparison { left, right, shared_records, pairs, equal } = compared;
    let side = |side: deskhand_runtime::comparison::ComparedSession| SideView {
        id: side.id,
        request: side.facts.requests.last().cloned().unwrap_or_default(),
        outcome: side.facts.outcome.map_or("none", deskhand_machine::outcome::OutcomeKind::word),
        steps: side.facts.steps,
        model_calls: side.facts.model_calls,
    };
    let view = ComparisonView {
        title: "Two sessions",
        left: side(left),
        right: side(right),
        shared: shared_records,
        equal,
        pairs: pairs.into_iter().map(PairView::of).collect(),
    };
    service.views.page("comparison", &view)
}
