//! Windows on Wayland: top-level ones as the compositor lists them, pop-ups as the accessibility bus shows them.

use std::{
    collections::{HashMap, HashSet},
    sync::{MutexGuard, PoisonError},
};

use deskhand_desktop::{DesktopError, DesktopResult};
use deskhand_desktop_wayland::Toplevel;
use deskhand_ui::{
    AppInfo, WindowInfo, WindowKind, WindowState,
    duration::milliseconds,
    geometry::{Rect, Screen},
    ids::WindowId,
};
use tokio::time::Instant;

use crate::{
    atspi::{AtspiFrameCriteria, ObjectRef, PopUp},
    desktop_entries::DesktopEntries,
    on::OnWayland,
    screen::{monitors::monitor_of, window_ids::WindowIdRegistry},
    windowing::FOCUS_BOUND,
};

/// The first number of a pop-up; containers of sway have lower ones.
const POP_UPS: u32 = 1 << 31;
/// The most pop-ups whose numbers are remembered.
const POP_UPS_MAX: usize = 4_096;

impl OnWayland<'_> {
    /// See [`deskhand_desktop::Windowing::windows`].
    pub(crate) async fn windows(&self) -> DesktopResult<Vec<WindowInfo>> {
        let display = &self.compositor().display;
        let (listed, monitors) = tokio::try_join!(display.windows(), display.monitors())?;
        let (shown, toplevels): (Vec<Toplevel>, Vec<Toplevel>) =
            listed.into_iter().partition(|one| one.pop_up);
        let monitors: Vec<[i32; 4]> = monitors.into_iter().map(Into::into).collect();
        let focused = toplevels.iter().find(|toplevel| toplevel.focused);
        let pop_ups = match focused {
            Some(focused) => self.pop_ups(focused).await,
            None => Vec::new(),
        };
        let numbered = self.placed(pop_ups, &shown).await?;
        let accessible: HashSet<u32> =
            self.accessible_pids().read().unwrap_or_else(PoisonError::into_inner).clone();
        let entries = self.entries();
        let listing = WaylandWindowListing {
            toplevels: &toplevels,
            entries: &entries,
            accessible: &accessible,
            monitors,
        };
        let mut registry = self.compositor().registry.lock().unwrap_or_else(PoisonError::into_inner);
        let existing = toplevels.iter().map(|toplevel| toplevel.id).chain(numbered.iter().map(|one| one.0));
        registry.keep_only(&existing.collect());
        Ok(listing.infos(&numbered, &mut registry))
    }

    /// The pop-ups of the window with the focus: only there something can be popped up.
    async fn pop_ups(&self, focused: &Toplevel) -> Vec<PopUp> {
        let (Some(accessibility), Some(pid)) = (self.accessibility(), focused.pid) else { return Vec::new() };
        let facts = AtspiFrameCriteria {
            title: focused.title.clone(),
            bounds: focused.bounds,
            kind: WindowKind::Normal,
            pid: Some(pid),
        };
        accessibility.pop_ups(&facts).await
    }

    /// Returns the pop-ups with their positions and a number each; the same object retains its number.
    ///
    /// A pop-up that does not report its position is found among the `shown` toplevels of the compositor, or in
    /// the areas drawn since the last input: an area of its size. If there is none, it is left out.
    async fn placed(&self, pop_ups: Vec<PopUp>, shown: &[Toplevel]) -> DesktopResult<Vec<(u32, PopUp)>> {
        let is_known = |pop_up: &PopUp| self.known_pop_ups().contains_key(&pop_up.object);
        if pop_ups.iter().any(|pop_up| !pop_up.is_placed && !is_known(pop_up)) {
            self.server().catch_up().await?;
        }
        let since = *self.compositor().acted.lock().unwrap_or_else(PoisonError::into_inner);
        let drawn = self.compositor().drawn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = self.known_pop_ups();
        if known.len() >= POP_UPS_MAX {
            known.retain(|object, _| pop_ups.iter().any(|pop_up| pop_up.object == *object));
        }
        let mut next =
            known.values().map(|(number, _)| *number).max().map_or(POP_UPS, |last| last.saturating_add(1));
        let mut placed = Vec::new();
        for pop_up in pop_ups {
            let Rect { width, height, .. } = pop_up.bounds;
            let before = known.get(&pop_up.object).copied();
            let kept = before.map(|(_, bounds)| bounds).filter(|at| (at.width, at.height) == (width, height));
            let found = || {
                let listed = shown.iter().rev().map(|one| one.bounds);
                let of_size = listed.clone().find(|at| (at.width, at.height) == (width, height));
                of_size.or_else(|| drawn.last_of_size(width, height, since))
            };
            let bounds = if pop_up.is_placed { Some(pop_up.bounds) } else { kept.or_else(found) };
            let Some(bounds) = bounds else { continue };
            let number = before.map_or(next, |(number, _)| number);
            next = next.max(number.saturating_add(1));
            known.insert(pop_up.object.clone(), (number, bounds));
            placed.push((number, PopUp { bounds, ..pop_up }));
        }
        Ok(placed)
    }

    fn known_pop_ups(&self) -> MutexGuard<'_, HashMap<ObjectRef, (u32, Rect<Screen>)>> {
        self.compositor().pop_ups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// See [`deskhand_desktop::Windowing::activate`].
    pub(crate) async fn activate(&self, window: WindowId) -> DesktopResult<()> {
        let deadline = Instant::now() + FOCUS_BOUND;
        let mut events = self.screen_events();
        let container = self.existing(window)?;
        if container >= POP_UPS {
            // A pop-up has the input as long as it is open.
            return Ok(());
        }
        if !self.compositor().display.focus(container).await? {
            return Err(DesktopError::NoWindow(window));
        }
        loop {
            let windows = self.windows().await?;
            let info = windows.iter().find(|info| info.id == window).ok_or(DesktopError::NoWindow(window))?;
            let has_focus =
                |info: &WindowInfo| info.active && (info.id == window || info.owner == Some(window));
            if windows.iter().any(has_focus) {
                return Ok(());
            }
            if !self.await_windows(&mut events, deadline).await? {
                return Err(DesktopError::NotAnswering {
                    operation: "give the focus to a window",
                    application: info.app.name.clone(),
                    limit_ms: milliseconds(FOCUS_BOUND),
                });
            }
        }
    }

    /// See [`deskhand_desktop::Windowing::close`].
    pub(crate) async fn close(&self, window: WindowId) -> DesktopResult<()> {
        let container = self.existing(window)?;
        if container >= POP_UPS {
            let what = "it is a pop-up and cannot be asked to close; press Escape instead";
            return Err(DesktopError::failed("close a window", what));
        }
        let exists = self.compositor().display.close(container).await?;
        if exists { Ok(()) } else { Err(DesktopError::NoWindow(window)) }
    }
}

/// The sources of the list of windows.
struct WaylandWindowListing<'a> {
    toplevels: &'a [Toplevel],
    entries: &'a DesktopEntries,
    accessible: &'a HashSet<u32>,
    monitors: Vec<[i32; 4]>,
}

impl WaylandWindowListing<'_> {
    fn infos(&self, pop_ups: &[(u32, PopUp)], registry: &mut WindowIdRegistry) -> Vec<WindowInfo> {
        let mut infos = Vec::new();
        for toplevel in self.toplevels {
            let owner = self.owner_of(toplevel);
            let info = WindowInfo {
                id: registry.id_of(toplevel.id),
                title: toplevel.title.clone(),
                app: self.app_of(owner.unwrap_or(toplevel), toplevel.pid),
                bounds: toplevel.bounds,
                kind: if owner.is_some() { WindowKind::Dialog } else { WindowKind::Normal },
                owner: owner.map(|owner| registry.id_of(owner.id)),
                active: toplevel.focused,
                accessible: self.is_accessible(toplevel.pid),
                document: None,
                state: if toplevel.full_screen { WindowState::FullScreen } else { WindowState::Usual },
                monitor: self.monitor(toplevel.bounds),
            };
            infos.push(info);
        }
        let Some(focused) = self.toplevels.iter().find(|toplevel| toplevel.focused) else { return infos };
        for (number, pop_up) in pop_ups {
            infos.push(WindowInfo {
                id: registry.id_of(*number),
                title: String::new(),
                app: self.app_of(self.owner_of(focused).unwrap_or(focused), focused.pid),
                bounds: pop_up.bounds,
                kind: if pop_up.is_tip { WindowKind::Tooltip } else { WindowKind::Popup },
                owner: Some(registry.id_of(focused.id)),
                active: false,
                accessible: self.is_accessible(focused.pid),
                document: None,
                state: WindowState::Usual,
                monitor: self.monitor(pop_up.bounds),
            });
        }
        infos
    }

    fn is_accessible(&self, pid: Option<u32>) -> bool {
        pid.is_some_and(|pid| self.accessible.contains(&pid))
    }

    fn monitor(&self, bounds: Rect<Screen>) -> Option<u32> {
        monitor_of(bounds.into(), &self.monitors)
    }

    /// The window that a dialog belongs to. Sway tells no owners; it lets windows float that have one, and few others: so a window that
    /// floats over another one of its process, which is tiled or older and larger, is taken for a dialog of it.
    fn owner_of(&self, toplevel: &Toplevel) -> Option<&Toplevel> {
        if let Some(owner) = toplevel.owner {
            return self.toplevels.iter().find(|other| other.id == owner);
        }
        let area = |one: &Toplevel| i64::from(one.bounds.width) * i64::from(one.bounds.height);
        let is_owner = |other: &&Toplevel| {
            other.id != toplevel.id
                && other.pid.is_some()
                && other.pid == toplevel.pid
                && (!other.floats || (other.id < toplevel.id && area(other) > area(toplevel)))
        };
        // The one that was opened last, as far as the numbers of containers tell.
        self.toplevels.iter().filter(is_owner).filter(|_| toplevel.floats).max_by_key(|other| other.id)
    }

    fn app_of(&self, toplevel: &Toplevel, pid: Option<u32>) -> AppInfo {
        let id = &toplevel.app_id;
        let name = self.entries.find_by_class(id, id).map_or_else(
            || if id.is_empty() { toplevel.title.clone() } else { id.clone() },
            |entry| entry.name.clone(),
        );
        AppInfo { name, root: id.to_lowercase(), pid }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toplevel(id: u32, pid: u32, floats: bool, size: i32) -> Toplevel {
        Toplevel {
            id,
            title: format!("Window {id}"),
            app_id: "org.a.Editor".to_owned(),
            pid: Some(pid),
            bounds: Rect::new(0, 0, size, size),
            floats,
            focused: id == 7,
            full_screen: false,
            owner: None,
            pop_up: false,
        }
    }

    #[test]
    fn a_window_that_floats_over_another_one_of_its_process_is_a_dialog_of_it() {
        let toplevels = [
            toplevel(4, 70, false, 800),
            toplevel(5, 71, true, 600),
            toplevel(6, 72, true, 500),
            toplevel(7, 70, true, 300),
            toplevel(8, 71, true, 200),
        ];
        let entries = DesktopEntries::default();
        let listing = WaylandWindowListing {
            toplevels: &toplevels,
            entries: &entries,
            accessible: &HashSet::from([70]),
            monitors: Vec::new(),
        };
        let infos = listing.infos(&[], &mut WindowIdRegistry::default());
        let kinds: Vec<_> = infos.iter().map(|info| (info.kind, info.owner.map(|owner| owner.0))).collect();
        let (normal, dialog) = (WindowKind::Normal, WindowKind::Dialog);
        assert_eq!(
            kinds,
            [(normal, None), (normal, None), (normal, None), (dialog, Some(1)), (dialog, Some(2))]
        );
        assert!(infos[0].accessible && !infos[1].accessible && infos[3].active);
        assert_eq!(
            (infos[0].app.name.as_str(), infos[0].app.root.as_str()),
            ("org.a.Editor", "org.a.editor")
        );
    }
}
