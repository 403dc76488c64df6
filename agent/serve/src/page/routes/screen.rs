//! The desktop of a session as it is now, and a person's hands on it.
//!
//! The service has connections of its own to the display: a browser that does not read holds up this one, and no agent. A person's input
//! is only taken while the session says that a person has taken over.

use std::sync::Arc;

use axum::{
    extract::{
        Path, State, WebSocketUpgrade,
        ws::{CloseFrame, Message as Frame, WebSocket, close_code},
    },
    response::{IntoResponse as _, Response},
};
use deskhand_host::live::{InputMessage, LiveDesktop};

use super::api::OfSession;
use crate::page::{PageService, error::PageApiError, fleet::task_of, live::LiveSession};

/// The most bytes of a message from a page.
const MESSAGE_MAX: usize = 64 * 1024;

/// The API description of the screen.
pub(super) const SCREEN: &str = "Binary messages have what changed on the screen; text messages to the service have what a person does, as JSON, and count \
    while one has taken over ([live desktops](../internals/live.md)).";

/// The screen, over a WebSocket: updates as binary messages, input as JSON.
pub(super) async fn screen(
    State(service): State<Arc<PageService>>,
    Path(OfSession { id }): Path<OfSession>,
    upgrade: WebSocketUpgrade,
) -> Result<Response, PageApiError> {
    if let (Some(fleet), Some(task)) = (&service.fleet, task_of(&id)) {
        return super::fleet::screen(fleet, task, upgrade).await;
    }
    let (_, session) = service.session(&id).await?;
    let desktop = service.host.live_desktop(&id).await?;
    let desktop =
        desktop.ok_or_else(|| PageApiError::missing("the session has no private desktop at the moment"))?;
    let upgrade = upgrade.max_message_size(MESSAGE_MAX);
    Ok(upgrade.on_upgrade(move |socket| show(socket, desktop, session)).into_response())
}

async fn show(mut socket: WebSocket, desktop: LiveDesktop, session: Arc<LiveSession>) {
    let LiveDesktop { mut screen, input } = desktop;
    loop {
        tokio::select! {
            update = screen.next() => {
                let Ok(update) = update else { break };
                if socket.send(Frame::Binary(update.to_message().into())).await.is_err() {
                    return;
                }
            }
            received = socket.recv() => match received {
                Some(Ok(Frame::Text(text))) => {
                    let wanted = serde_json::from_str::<InputMessage>(&text);
                    let is_letting_go = matches!(wanted, Ok(InputMessage::Release));
                    if let Ok(wanted) = wanted
                        && (is_letting_go || session.now().taken_over)
                        && let Err(error) = input.send(wanted).await
                    {
                        tracing::debug!(%error, "a person's input was not made");
                    }
                }
                Some(Ok(Frame::Binary(_) | Frame::Ping(_) | Frame::Pong(_))) => {}
                Some(Ok(Frame::Close(_)) | Err(_)) | None => return,
            },
        }
    }
    let ended = CloseFrame { code: close_code::NORMAL, reason: "the desktop has ended".into() };
    socket.send(Frame::Close(Some(ended))).await.ok();
}
