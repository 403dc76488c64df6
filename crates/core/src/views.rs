//! Views of windows as key frames and changes: how a journal stores them.
//!
//! A writer keeps one [`Views`] and encodes each observation with it, a reader another one and decodes. Both keep
//! the same few windows, so that what was encoded can always be put together again.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{
    ids::WindowId,
    observation::{Observation, Surface, WindowView},
    ui::{DiffError, PictureRef, TreeDiff, WindowInfo, apply, diff},
};

/// One window, as what became of the view of it before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowChanges {
    /// The window.
    pub window: WindowId,
    /// Its surfaces, in order; those of the view before that are not here are gone.
    pub surfaces: Vec<SurfaceChange>,
    /// How it looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<PictureRef>,
    /// What could not be used when it was looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// What became of one surface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SurfaceChange {
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
    pub fn between(old: &WindowView, new: &WindowView) -> Option<Self> {
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
    /// [`DiffError`] when it was made against another view.
    pub fn apply(&self, old: &WindowView) -> Result<WindowView, DiffError> {
        let surfaces = self.surfaces.iter().map(|change| match change {
            SurfaceChange::New(surface) => Ok(surface.clone()),
            SurfaceChange::Kept { window, tree } => {
                let known = old.surfaces.iter().find(|known| known.window.id == window.id);
                let known = known.ok_or(DiffError::NoWindow(window.id))?;
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
    pub fn len(&self) -> usize {
        let count = |change: &SurfaceChange| match change {
            SurfaceChange::Kept { tree, .. } => tree.len(),
            SurfaceChange::New(surface) => surface.tree.elements.len(),
        };
        self.surfaces.iter().map(count).sum()
    }

    /// Whether no element changed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
pub struct Views {
    /// The one that was seen last comes last.
    kept: VecDeque<Kept>,
}

impl Views {
    /// The most windows whose views are kept.
    pub const WINDOWS_MAX: usize = 8;
    /// The most changes that follow each other before a whole view, so that no reader has to go far back.
    pub const CHANGES_MAX: u32 = 25;

    /// The last view of a window.
    pub fn latest(&self, window: WindowId) -> Option<&WindowView> {
        self.kept.iter().map(|kept| &kept.view).find(|view| id_of(view) == Some(window))
    }

    /// Takes an observation; returns what to store in its place when that is smaller.
    pub fn encode(&mut self, observation: &Observation) -> Option<Observation> {
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
        changes.map(Observation::WindowChanges)
    }

    /// Takes a stored observation; returns it whole.
    ///
    /// # Errors
    /// [`DiffError`] when it does not follow on what was decoded before it.
    pub fn decode(&mut self, stored: Observation) -> Result<Observation, DiffError> {
        let (view, changes) = match stored {
            Observation::Desktop(_) | Observation::Agent(_) => return Ok(stored),
            Observation::Window(view) => {
                if let Some(id) = id_of(&view) {
                    self.take(id);
                }
                (view, 0)
            }
            Observation::WindowChanges(changes) => {
                let known = self.take(changes.window).ok_or(DiffError::NoWindow(changes.window))?;
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
