//! Observations as a journal stores them: views of windows as key frames and changes.
//!
//! A writer encodes each observation with its [`ViewCache`], a reader decodes with its own. Both keep the same windows, so
//! that every stored change can be applied.

use std::collections::VecDeque;

use deskhand_machine::{
    observation::{AgentView, DesktopView, Observation},
    record::JournalEntry,
};
use deskhand_ui::{
    DiffError, PictureRef, Surface, TreeDiff, WindowInfo, WindowView, apply, diff, ids::WindowId,
};
use serde::{Deserialize, Serialize};

/// A line as stored in the file.
pub(crate) type StoredLine = JournalEntry<StoredObservation>;

/// An observation as stored in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub(crate) enum StoredObservation {
    /// The desktop.
    Desktop(DesktopView),
    /// One window, whole.
    Window(WindowView),
    /// One window, as what changed since the view before it.
    WindowChanges(WindowChanges),
    /// The observation of an agent without a window.
    Agent(AgentView),
}

/// A view that was stored as changes and does not follow from the views before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// No view of the window was stored before.
    #[error("apply changes to {0}, of which no view comes before them")]
    NoWindow(WindowId),
    /// The changes do not fit the elements of the view before.
    #[error(transparent)]
    Elements(#[from] DiffError),
}

/// The changes of a window since its last view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct WindowChanges {
    /// The window.
    pub(crate) window: WindowId,
    /// Its surfaces, in order; surfaces of the last view that are missing here are gone.
    pub(crate) surfaces: Vec<SurfaceChange>,
    /// Its picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) picture: Option<PictureRef>,
    /// Notices of data that was not available during the observation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notices: Vec<String>,
}

/// The change of one surface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SurfaceChange {
    /// An existing surface.
    Kept {
        /// The window's current properties.
        window: WindowInfo,
        /// The changes of its elements.
        tree: TreeDiff,
    },
    /// A new surface.
    New(Surface),
}

impl WindowChanges {
    /// The changes from `old` to `new`; `None` if an element id is not unique.
    pub(crate) fn between(old: &WindowView, new: &WindowView) -> Option<Self> {
        let window = new.surfaces.first()?.window.id;
        let surfaces = new.surfaces.iter().map(|surface| {
            match old.surfaces.iter().find(|known| known.window.id == surface.window.id) {
                Some(known) => diff(&known.tree, &surface.tree)
                    .map(|tree| SurfaceChange::Kept { window: surface.window.clone(), tree }),
                None => Some(SurfaceChange::New(surface.clone())),
            }
        });
        Some(Self {
            window,
            surfaces: surfaces.collect::<Option<_>>()?,
            picture: new.picture.clone(),
            notices: new.notices.clone(),
        })
    }

    /// Applies the changes to the view they start from.
    ///
    /// # Errors
    /// [`ViewError`] if they start from another view.
    pub(crate) fn apply(&self, old: &WindowView) -> Result<WindowView, ViewError> {
        let surfaces = self.surfaces.iter().map(|change| match change {
            SurfaceChange::New(surface) => Ok::<_, ViewError>(surface.clone()),
            SurfaceChange::Kept { window, tree } => {
                let known = old.surfaces.iter().find(|known| known.window.id == window.id);
                let known = known.ok_or(ViewError::NoWindow(window.id))?;
                Ok(Surface { window: window.clone(), tree: apply(&known.tree, tree)? })
            }
        });
        Ok(WindowView {
            surfaces: surfaces.collect::<Result<_, _>>()?,
            picture: self.picture.clone(),
            notices: self.notices.clone(),
        })
    }

    /// The number of elements in the changes.
    pub(crate) fn len(&self) -> usize {
        let count = |change: &SurfaceChange| match change {
            SurfaceChange::Kept { tree, .. } => tree.len(),
            SurfaceChange::New(surface) => surface.tree.elements.len(),
        };
        self.surfaces.iter().map(count).sum()
    }
}

/// A kept view.
#[derive(Debug, Clone, PartialEq)]
struct CachedView {
    view: WindowView,
    /// Number of consecutive times the view was stored as changes.
    changes: u32,
}

/// The last views of some windows.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ViewCache {
    /// Most recently observed last.
    kept: VecDeque<CachedView>,
}

impl ViewCache {
    /// The most windows whose views are kept.
    pub(crate) const WINDOWS_MAX: usize = 8;
    /// The most consecutive changes before a full view, which bounds how far back a reader has to go.
    pub(crate) const CHANGES_MAX: u32 = 25;

    /// Records an observation; returns its changes if they are smaller.
    pub(crate) fn encode(&mut self, observation: &Observation) -> Option<WindowChanges> {
        let Observation::Window(view) = observation else { return None };
        let id = id_of(view)?;
        let known = self.take(id);
        let in_a_row = known.as_ref().map_or(0, |kept| kept.changes);
        let changes = known
            .filter(|kept| kept.changes < Self::CHANGES_MAX)
            .and_then(|kept| WindowChanges::between(&kept.view, view))
            .filter(|changes| changes.len() <= view.elements().count() / 2);
        let in_a_row = if changes.is_some() { in_a_row.saturating_add(1) } else { 0 };
        self.keep(CachedView { view: view.clone(), changes: in_a_row });
        changes
    }

    /// Restores a stored observation to a full view.
    ///
    /// # Errors
    /// [`ViewError`] if it does not follow the observation decoded last.
    pub(crate) fn decode(&mut self, stored: StoredObservation) -> Result<Observation, ViewError> {
        let (view, changes) = match stored {
            StoredObservation::Desktop(view) => return Ok(Observation::Desktop(view)),
            StoredObservation::Agent(view) => return Ok(Observation::Agent(view)),
            StoredObservation::Window(view) => {
                if let Some(id) = id_of(&view) {
                    self.take(id);
                }
                (view, 0)
            }
            StoredObservation::WindowChanges(changes) => {
                let known = self.take(changes.window).ok_or(ViewError::NoWindow(changes.window))?;
                (changes.apply(&known.view)?, known.changes.saturating_add(1))
            }
        };
        if id_of(&view).is_some() {
            self.keep(CachedView { view: view.clone(), changes });
        }
        Ok(Observation::Window(view))
    }

    fn take(&mut self, window: WindowId) -> Option<CachedView> {
        let place = self.kept.iter().position(|kept| id_of(&kept.view) == Some(window))?;
        self.kept.remove(place)
    }

    fn keep(&mut self, kept: CachedView) {
        while self.kept.len() >= Self::WINDOWS_MAX {
            self.kept.pop_front();
        }
        self.kept.push_back(kept);
    }
}

fn id_of(view: &WindowView) -> Option<WindowId> {
    view.surfaces.first().map(|surface| surface.window.id)
}

#[cfg(test)]
#[path = "views_tests.rs"]
mod tests;
