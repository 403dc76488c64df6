//! The setup of a session, stored in its journal so that it can be resumed without repeating all flags.

use std::path::PathBuf;

use deskhand_machine::record::JournalRecord;
use deskhand_runtime::{HeldSession, SessionFolder};
use serde::{Deserialize, Serialize};

use super::SessionError;
use crate::{
    config::{DesktopKind, ScreenSize, SessionLayer},
    model::ModelSetup,
};

/// The host's data in the journal header. Contains no secrets: only where API keys are found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Setup {
    pub(super) model: ModelSetup,
    pub(super) desktop: DesktopKind,
    pub(super) size: ScreenSize,
    /// The documents opened at the start: absolute paths and addresses.
    #[serde(default)]
    pub(super) documents: Vec<PathBuf>,
    /// `true` if someone other than a model of the configuration began the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) steered: bool,
    /// The results folder of the batch that it is a part of. The catalogue of sessions reads it by this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) batch: Option<PathBuf>,
}

impl Setup {
    /// The setup of a session; `None` if an earlier version wrote the journal.
    pub(super) fn of(held: &HeldSession) -> Option<Self> {
        serde_json::from_value(held.in_force().setup.clone()).ok()
    }

    /// The part that is merged with the configuration.
    pub(super) fn layer(&self, held: &HeldSession) -> SessionLayer {
        SessionLayer {
            session: held.id().0,
            model: self.model.settings().clone(),
            desktop: self.desktop,
            size: self.size,
        }
    }

    /// The journal format.
    pub(super) fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// The documents that were opened with a stored session; none if an earlier version wrote its journal.
pub(crate) fn documents_of(folder: &SessionFolder) -> Result<Vec<PathBuf>, SessionError> {
    let mut setup = serde_json::Value::Null;
    let reading = folder.read_lines(&mut |line| {
        if let JournalRecord::Header(header) = &line.record {
            setup.clone_from(&header.setup);
        }
    });
    reading.map_err(SessionError::Journal)?;
    let setup: Option<Setup> = serde_json::from_value(setup).ok();
    Ok(setup.map(|setup| setup.documents).unwrap_or_default())
}
