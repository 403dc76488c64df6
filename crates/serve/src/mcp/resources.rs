//! Resources: what a client can read without a call of a tool.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deskhand_runtime::ReportFormat;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};

use super::{server::Server, words};

const PNG: &str = "image/png";
const PLAIN: &str = "text/plain";
const MARKDOWN: &str = "text/markdown";
const LINES: &str = "application/jsonl";

/// What there is of a desktop: the last part of its address, the media type, what it is.
const OF_DESKTOPS: [(&str, &str, &str); 2] = [
    ("screenshot", PNG, "The whole screen of a desktop, as it is now"),
    ("tree", PLAIN, "The elements of the window that is worked in, else the open windows"),
];
/// The same of a session.
const OF_SESSIONS: [(&str, &str, &str); 2] = [
    ("report", MARKDOWN, "What was done in a session, step by step, with verdicts"),
    ("journal", LINES, "The steps of a session as lines of JSON"),
];

/// The forms of all addresses.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let of = |kind: &str, name: &str, parts: &[(&str, &str, &str)]| {
        let template = |(part, media, about): &(&str, &str, &str)| {
            ResourceTemplate::new(format!("deskhand://{kind}/{{{name}}}/{part}"), *part)
                .with_description(*about)
                .with_mime_type(*media)
        };
        parts.iter().map(template).collect::<Vec<_>>()
    };
    [of("desktops", "desktop", &OF_DESKTOPS), of("sessions", "session", &OF_SESSIONS)].concat()
}

/// Those of the desktops that are open, and of all sessions of this client.
pub(super) async fn list(server: &Server) -> Vec<Resource> {
    let of = |kind: &str, name: &str, parts: &[(&str, &str, &str)]| {
        let resource = |(part, media, about): &(&str, &str, &str)| {
            Resource::new(format!("deskhand://{kind}/{name}/{part}"), format!("{part} of {name}"))
                .with_description(*about)
                .with_mime_type(*media)
        };
        parts.iter().map(resource).collect::<Vec<_>>()
    };
    let desks = server.desks();
    let names = desks.list().await.into_iter().map(|(name, _)| name);
    let mut all: Vec<Resource> = names.flat_map(|name| of("desktops", &name, &OF_DESKTOPS)).collect();
    all.extend(desks.sessions().await.iter().flat_map(|session| of("sessions", session, &OF_SESSIONS)));
    all
}

/// Reads one.
///
/// # Errors
/// There is no such resource, or it cannot be read; with what to do.
pub(super) async fn read(server: &Server, uri: &str) -> Result<ResourceContents, String> {
    let unknown = || format!("there is no resource `{uri}`; `resources/list` has those there are");
    let mut parts = uri.strip_prefix("deskhand://").ok_or_else(unknown)?.split('/');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some("desktops"), Some(name), Some("screenshot"), None) => {
            let (_, desk) = server.desks().find(Some(name)).await?;
            let mut desk = desk.lock().await;
            let picture = desk.windows().await.map_err(|error| error.to_string())?.picture.clone();
            let picture =
                picture.ok_or("pictures are off: set `view.pictures` in Deskhand's configuration")?;
            let file = desk.picture(&picture).map_err(|error| error.to_string())?;
            Ok(ResourceContents::blob(STANDARD.encode(file), uri).with_mime_type(picture.media_type))
        }
        (Some("desktops"), Some(name), Some("tree"), None) => {
            let (_, desk) = server.desks().find(Some(name)).await?;
            let mut desk = desk.lock().await;
            let text = match desk.window() {
                Some(window) => {
                    let view = desk.look(window).await.map_err(|error| error.to_string())?;
                    words::window(&view, None, &server.listing(""))
                }
                None => words::windows(desk.windows().await.map_err(|error| error.to_string())?),
            };
            Ok(ResourceContents::text(text, uri).with_mime_type(PLAIN))
        }
        (Some("sessions"), Some(session), Some(part @ ("report" | "journal")), None) => {
            // Other sessions of this machine are not this client's.
            if !server.desks().sessions().await.iter().any(|one| one == session) {
                return Err(unknown());
            }
            let (format, media) = if part == "report" {
                (ReportFormat::Markdown, MARKDOWN)
            } else {
                (ReportFormat::Jsonl, LINES)
            };
            let host = server.host().clone();
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
