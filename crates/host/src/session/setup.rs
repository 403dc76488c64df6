//! What a session was begun with, as its journal keeps it, so that it can be resumed without saying it all again.

use std::path::PathBuf;

use deskhand_runtime::HeldSession;
use serde::{Deserialize, Serialize};

use crate::{
    config::{DesktopKind, ScreenSize, SessionLayer},
    model::ModelSetup,
};

/// What stands in the journal's header for the host alone. No secret is in it: keys are named, not given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Setup {
    pub(super) model: ModelSetup,
    pub(super) desktop: DesktopKind,
    pub(super) size: ScreenSize,
    /// The documents that were opened first.
    #[serde(default)]
    pub(super) documents: Vec<PathBuf>,
}

impl Setup {
    /// What a session was begun with; `None` if an earlier version wrote it, which did not keep it.
    pub(super) fn of(held: &HeldSession) -> Option<Self> {
        serde_json::from_value(held.in_force().setup.clone()).ok()
    }

    /// What of it is merged with the configuration.
    pub(super) fn layer(&self, held: &HeldSession) -> SessionLayer {
        SessionLayer {
            session: held.id().0,
            model: self.model.settings().clone(),
            desktop: self.desktop,
            size: self.size,
        }
    }

    /// As it stands in a journal.
    pub(super) fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
