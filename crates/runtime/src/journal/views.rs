//! Observations as a journal stores them: views of windows as key frames and changes.
//!
//! A writer keeps one [`Views`] and encodes each observation with it, a reader another one and decodes. Both keep
//! the same few windows, so that what was encoded can always be decoded.

use std::collections::VecDeque;

use deskhand_core::{
    ids::WindowId,
    observation::{AgentView, DesktopView, Observation, Surface, WindowView},
    record::Line,
    ui::{DiffError, PictureRef, TreeDiff, WindowInfo, apply, diff},
};
use serde::{Deserialize, Serialize};

/// A line as it stands in the file.
pub(crate) type StoredLine = Line<StoredObservation>;

/// An observation as it stands in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub(crate) enum StoredObservation {
    /// The desktop.
    Desktop(DesktopView),
    /// One window, whole.
    Window(WindowView),
    /// One window, as what changed since the view before it.
    WindowChanges(WindowChanges),
    /// What an agent without a window has before it.
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

/// One window, as what became of the view of it before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct WindowChanges {
    /// The window.
    pub(crate) window: WindowId,
    /// Its surfaces, in order; those of the view before that are not here are gone.
    pub(crate) surfaces: Vec<SurfaceChange>,
    /// How it looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) picture: Option<PictureRef>,
    /// What could not be used when it was looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notices: Vec<String>,
}

/// What became of one surface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SurfaceChange {
    /// It was there before.
    Kept {
        /// The window as it is now.
        window: WindowInfo,
        /// What became of its elements.
        tree: TreeDiff,
    },
    /// It was not.
    New(Surface),
}

impl WindowChanges {
    /// What turns `old` into `new`; none where their elements cannot be told apart.
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

    /// The view that this was made for, out of the one before it.
    ///
    /// # Errors
    /// [`ViewError`] when it was made against another view.
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

    /// How many elements it names.
    pub(crate) fn len(&self) -> usize {
        let count = |change: &SurfaceChange| match change {
            SurfaceChange::Kept { tree, .. } => tree.len(),
            SurfaceChange::New(surface) => surface.tree.elements.len(),
        };
        self.surfaces.iter().map(count).sum()
    }
}

/// A view that is kept.
#[derive(Debug, Clone, PartialEq)]
struct Kept {
    view: WindowView,
    /// How many times in a row it was stored as changes.
    changes: u32,
}

/// The last views of a few windows.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Views {
    /// The one that was seen last comes last.
    kept: VecDeque<Kept>,
}

impl Views {
    /// The most windows whose views are kept.
    pub(crate) const WINDOWS_MAX: usize = 8;
    /// The most changes that follow each other before a whole view, so that no reader has to go far back.
    pub(crate) const CHANGES_MAX: u32 = 25;

    /// Takes an observation; returns what to store in its place when that is smaller.
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
        self.keep(Kept { view: view.clone(), changes: in_a_row });
        changes
    }

    /// Takes a stored observation; returns it whole.
    ///
    /// # Errors
    /// [`ViewError`] when it does not follow on what was decoded before it.
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
            self.keep(Kept { view: view.clone(), changes });
        }
        Ok(Observation::Window(view))
    }

    fn take(&mut self, window: WindowId) -> Option<Kept> {
        let place = self.kept.iter().position(|kept| id_of(&kept.view) == Some(window))?;
        self.kept.remove(place)
    }

    fn keep(&mut self, kept: Kept) {
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
