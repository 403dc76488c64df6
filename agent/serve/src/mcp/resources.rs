//! Resources: what a client can read without a call of a tool.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deskhand_runtime::ReportFormat;
use rmcp::model::{Resource, ResourceContents};

use super::{
    addresses::{LINES, MARKDOWN, OF_DESKTOPS, OF_SESSIONS, PLAIN, Part, address, templates},
    desks::Desks,
    protocol::McpCall,
    service::DeskService,
    words,
};

/// Those of the desktops that are open, and of all sessions of this client.
pub(super) async fn list(desks: &Desks) -> Vec<Resource> {
    let mut all = Vec::new();
    for name in desks.names().await {
        all.extend(OF_DESKTOPS.iter().map(|part| resource("desktops", &name, part)));
    }
    for session in desks.sessions().await {
        all.extend(OF_SESSIONS.iter().map(|part| resource("sessions", &session, part)));
    }
    all
}

fn resource(kind: &str, name: &str, part: &Part) -> Resource {
    let (word, media, about) = part;
    Resource::new(address(kind, name, part), format!("{word} of {name}"))
        .with_description(*about)
        .with_mime_type(*media)
}

/// The values for an argument of an address; `None` if there is no such argument.
pub(super) async fn values(desks: &Desks, uri: &str, argument: &str) -> Option<Vec<String>> {
    templates().into_iter().find(|template| template.uri_template == uri)?;
    let is_of = |kind: &str| uri.starts_with(&format!("deskhand://{kind}/"));
    match argument {
        "desktop" if is_of("desktops") => Some(desks.names().await),
        "session" if is_of("sessions") => Some(desks.sessions().await),
        _ => None,
    }
}

/// Reads one.
///
/// # Errors
/// There is no such resource, or it cannot be read; with what to do.
pub(super) async fn read(
    service: &DeskService,
    call: &Arc<McpCall>,
    uri: &str,
) -> Result<ResourceContents, String> {
    let unknown = || format!("there is no resource `{uri}`; `resources/list` has those there are");
    let mut parts = uri.strip_prefix("deskhand://").ok_or_else(unknown)?.split('/');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some("desktops"), Some(name), Some("screenshot"), None) => {
            let mut desk = service.desks.hold(Some(name), call).await?;
            let picture = desk.screen().await?;
            let file = desk.picture(&picture)?;
            Ok(ResourceContents::blob(STANDARD.encode(file), uri).with_mime_type(picture.media_type))
        }
        (Some("desktops"), Some(name), Some("tree"), None) => {
            let mut desk = service.desks.hold(Some(name), call).await?;
            let text = match desk.window() {
                Some(window) => {
                    let view = desk.look(window).await?;
                    words::window(&view, None, &service.listing(""))
                }
                None => words::windows(desk.windows().await?),
            };
            Ok(ResourceContents::text(text, uri).with_mime_type(PLAIN))
        }
        (Some("sessions"), Some(session), Some(part @ ("report" | "journal")), None) => {
            // Other sessions of this machine are not this client's.
            if !service.desks.sessions().await.iter().any(|one| one == session) {
                return Err(unknown());
            }
            let (format, media) = if part == "report" {
                (ReportFormat::Markdown, MARKDOWN)
            } else {
                (ReportFormat::Jsonl, LINES)
            };
            let host = service.host().clone();
            let session = session.to_owned();
            let written = tokio::task::spawn_blocking(move || {
                let path = host.report(&session, format, None).map_err(|error| error.to_string())?;
                std::fs::read_to_string(&path).map_err(|error| format!("read {}: {error}", path.display()))
            });
            let text = written.await.map_err(|error| error.to_string())??;
            Ok(ResourceContents::text(text, uri).with_mime_type(media))
        }
        _ => Err(unknown()),
    }
}
