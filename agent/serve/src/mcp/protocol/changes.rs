//! Notices of what changed: to clients of older versions as they come, and since 2026-07-28 to those that listen.

use std::sync::{Arc, PoisonError};

use rmcp::{
    Peer, RoleServer,
    model::{ResourceUpdatedNotificationParam, ServerConfig},
    service::{SubscriptionContext, SubscriptionSendError},
};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::{connection::McpConnection, requests::CatalogChange};

/// Which lists a server says that it tells changes of.
#[derive(Debug, Clone, Copy)]
struct Lists {
    tools: bool,
    prompts: bool,
    resources: bool,
}

impl Lists {
    fn of(info: &ServerConfig) -> Self {
        let capabilities = &info.capabilities;
        Self {
            tools: capabilities.tools.as_ref().and_then(|one| one.list_changed).unwrap_or_default(),
            prompts: capabilities.prompts.as_ref().and_then(|one| one.list_changed).unwrap_or_default(),
            resources: capabilities.resources.as_ref().and_then(|one| one.list_changed).unwrap_or_default(),
        }
    }
}

/// Forwards changes to a client, until its connection ends.
pub(super) fn forward(
    connection: &Arc<McpConnection>,
    peer: Peer<RoleServer>,
    changes: Receiver<CatalogChange>,
    info: &ServerConfig,
) {
    let watched = Arc::downgrade(connection);
    let lists = Lists::of(info);
    connection.run(async move {
        let mut changes = changes;
        while let Some(change) = next(&mut changes).await {
            let Some(connection) = watched.upgrade() else { return };
            let is_watched = |uri: &String| {
                connection.watched.lock().unwrap_or_else(PoisonError::into_inner).contains(uri)
            };
            let sent = match change {
                CatalogChange::Tools if lists.tools => peer.notify_tool_list_changed().await,
                CatalogChange::Prompts if lists.prompts => peer.notify_prompt_list_changed().await,
                CatalogChange::Resources if lists.resources => peer.notify_resource_list_changed().await,
                CatalogChange::Resource(uri) if is_watched(&uri) => {
                    peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
                }
                CatalogChange::Tools
                | CatalogChange::Prompts
                | CatalogChange::Resources
                | CatalogChange::Resource(_) => Ok(()),
            };
            if sent.is_err() {
                return;
            }
        }
    });
}

/// Tells changes to a client that listens, until it has enough.
pub(super) async fn listen(context: SubscriptionContext, mut changes: Receiver<CatalogChange>) {
    loop {
        let change = tokio::select! {
            () = context.cancelled() => return,
            change = next(&mut changes) => change,
        };
        let Some(change) = change else { return };
        let sink = context.sink();
        let sent = match change {
            CatalogChange::Tools => sink.notify_tool_list_changed().await,
            CatalogChange::Prompts => sink.notify_prompt_list_changed().await,
            CatalogChange::Resources => sink.notify_resource_list_changed().await,
            CatalogChange::Resource(uri) => sink.notify_resource_updated(uri).await,
        };
        match sent {
            Ok(()) | Err(SubscriptionSendError::NotificationNotAccepted(_)) => {}
            Err(_) => return,
        }
    }
}

/// The next change; one that was missed is as if it had not been.
async fn next(changes: &mut Receiver<CatalogChange>) -> Option<CatalogChange> {
    loop {
        match changes.recv().await {
            Ok(change) => return Some(change),
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return None,
        }
    }
}
