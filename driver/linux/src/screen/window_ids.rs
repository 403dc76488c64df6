//! The ids of windows: which X window has which id.

use std::collections::{HashMap, HashSet};

use deskhand_ui::ids::WindowId;

/// Maps X windows to ids. An id is never reused, although the X server reuses its own.
#[derive(Debug, Default)]
pub(crate) struct WindowIdRegistry {
    by_x: HashMap<u32, WindowId>,
    by_id: HashMap<WindowId, u32>,
    last: u32,
    /// Ids that still have to be stored on their windows, on a desktop that may get another owner.
    unmarked: Option<Vec<(u32, WindowId)>>,
}

impl WindowIdRegistry {
    /// The id of an X window, assigned if it has none yet.
    pub(crate) fn id_of(&mut self, window: u32) -> WindowId {
        *self.by_x.entry(window).or_insert_with(|| {
            self.last = self.last.saturating_add(1);
            let id = WindowId(self.last);
            self.by_id.insert(id, window);
            if let Some(unmarked) = &mut self.unmarked {
                unmarked.push((window, id));
            }
            id
        })
    }

    /// Assigns only ids above `given` from now on.
    pub(crate) fn start_above(&mut self, given: u32) {
        self.last = self.last.max(given);
    }

    /// Stores ids on their windows from now on; new ones start above `given`.
    pub(crate) fn mark_from(&mut self, given: u32) {
        self.start_above(given);
        self.unmarked.get_or_insert_default();
    }

    /// Takes the ids that are not stored on their windows yet.
    pub(crate) fn take_unmarked(&mut self) -> Vec<(u32, WindowId)> {
        self.unmarked.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Restores the ids that were stored on windows.
    pub(crate) fn restore(&mut self, marked: Vec<(u32, WindowId)>) {
        for (window, id) in marked {
            self.start_above(id.0);
            self.by_x.insert(window, id);
            self.by_id.insert(id, window);
        }
    }

    /// The X window behind an id.
    pub(crate) fn find_window(&self, id: WindowId) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    /// The id of an X window that was listed before.
    pub(crate) fn find_id(&self, window: u32) -> Option<WindowId> {
        self.by_x.get(&window).copied()
    }

    /// Forgets every window that is not in `existing`.
    pub(crate) fn keep_only(&mut self, existing: &HashSet<u32>) {
        self.by_x.retain(|window, _| existing.contains(window));
        self.by_id.retain(|_, window| existing.contains(window));
    }

    /// Forgets a window that was destroyed.
    pub(crate) fn forget(&mut self, window: u32) {
        if let Some(id) = self.by_x.remove(&window) {
            self.by_id.remove(&id);
        }
    }
}
