//! Which documents have unsaved changes, as far as observations and proofs of actions say.

use serde::{Deserialize, Serialize};

use crate::observation::Observation;
use deskhand_ui::{
    DocumentInfo, WindowInfo,
    action::{ActionProof, CallReport, Evidence},
    ids::WindowId,
};

/// The most documents that are remembered.
const DOCUMENTS_MAX: usize = 64;

/// The documents that were last seen with unsaved changes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct UnsavedDocuments(Vec<(WindowId, DocumentInfo)>);

impl UnsavedDocuments {
    /// Notes what an observation shows.
    pub(super) fn see(&mut self, observation: &Observation) {
        match observation {
            Observation::Desktop(view) => {
                self.0.retain(|(id, _)| view.windows.iter().any(|window| window.id == *id));
                view.windows.iter().for_each(|window| self.see_window(window));
            }
            Observation::Window(view) => {
                view.surfaces.iter().for_each(|surface| self.see_window(&surface.window));
            }
            Observation::Agent(_) => {}
        }
    }

    fn see_window(&mut self, window: &WindowInfo) {
        self.0.retain(|(id, _)| *id != window.id);
        let document = window.document.as_ref().filter(|document| document.modified == Some(true));
        if let Some(document) = document.filter(|_| self.0.len() < DOCUMENTS_MAX) {
            self.0.push((window.id, document.clone()));
        }
    }

    /// Notes what the actions of a call prove.
    pub(super) fn take_in(&mut self, window: Option<WindowId>, report: &CallReport) {
        for action in report.actions() {
            match &action.evidence {
                Evidence::Seen { proof: ActionProof::Saved { path, .. } } => {
                    self.0
                        .retain(|(id, document)| Some(*id) != window && document.path.as_ref() != Some(path));
                }
                Evidence::Seen { proof: ActionProof::WindowClosed { window: closed } } => {
                    self.0.retain(|(id, _)| *id != closed.id);
                }
                Evidence::Seen { .. }
                | Evidence::NotSeen { .. }
                | Evidence::Unknown { .. }
                | Evidence::Refused { .. } => {}
            }
        }
    }

    /// Their paths, or names where the path is not known.
    pub(super) fn names(&self) -> Vec<String> {
        self.0
            .iter()
            .map(|(_, document)| document.path.clone().unwrap_or_else(|| document.name.clone()))
            .collect()
    }
}
