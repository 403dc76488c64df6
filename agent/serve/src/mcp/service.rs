//! State behind the tools and resources: the host, and the desktops of all clients.

use std::sync::Arc;

use deskhand_host::Host;
use deskhand_machine::prompt::{ViewListOptions, relevant_words};

use super::desks::Desks;

/// The host, and the desktops of all clients of a server.
pub(super) struct DeskService {
    host: Host,
    pub(super) desks: Arc<Desks>,
}

impl DeskService {
    pub(super) fn new(host: Host) -> Self {
        Self { host, desks: Arc::default() }
    }

    pub(super) const fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the options for listing windows, given the words searched for.
    pub(super) fn listing(&self, words: &str) -> ViewListOptions {
        let tokens_max = self.host.config().view.to_view().tokens_max;
        ViewListOptions { tokens_max, words: relevant_words([words].into_iter()) }
    }
}
