//! Figures for Prometheus.

use std::sync::Arc;

use axum::{
    extract::State,
    http::header::CONTENT_TYPE,
    response::{IntoResponse as _, Response},
};

use crate::page::{
    PageService,
    error::PageApiError,
    metrics::{MetricFamily, sessions, text},
};

/// The format of the text.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// All figures.
pub(super) async fn metrics(State(service): State<Arc<PageService>>) -> Result<Response, PageApiError> {
    let mut figures = service.looking_back(sessions).await?;
    service.metrics.keep(&mut figures);
    let mut add = |name, help, labels: &[(&'static str, &str)], value| {
        let mut figure = MetricFamily::gauge(name, help);
        figure.add(labels, value);
        figures.push(figure);
    };
    let count = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    add("deskhand_watchers", "Who watches a session", &[], count(service.hub.watchers()));
    add("deskhand_connections", "Connections that are open", &[], count(service.connections()));
    let version = ("version", env!("CARGO_PKG_VERSION"));
    add("deskhand_build_info", "The program", &[version], 1.0);
    figures.push(service.metrics.refusals());
    let text = text(figures).map_err(|error| PageApiError::failed("write the figures", &error))?;
    Ok(([(CONTENT_TYPE, OPEN_METRICS)], text).into_response())
}
