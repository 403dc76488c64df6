//! The menus that opened since a moment: what they have, and how they are closed again.

use std::collections::HashSet;

use deskhand_desktop::{Desktop, DesktopError, DesktopResult, keys::NamedKey};
use deskhand_ui::{
    Element, Role, State, Tree, WindowInfo, WindowKind,
    ids::{ElementId, WindowId},
};

use crate::{
    before::look,
    menus::{is_menu_item, open_items},
    report::ActLimits,
    surfaces::{root_of, surfaces},
};

/// The most menus that are closed.
const NESTED_MAX: usize = 8;

/// State of the screen before menus were opened.
pub(crate) struct MenusBefore {
    windows: Vec<WindowInfo>,
    /// The elements of the window, with the items of open menus.
    pub(crate) tree: Tree,
}

impl MenusBefore {
    /// Takes the current state.
    pub(crate) async fn take<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<Self> {
        Ok(Self { windows: desktop.windows().await?, tree: look(desktop, window).await? })
    }

    /// The pop-ups that were not there, topmost first, without tool tips.
    pub(crate) async fn new_popups<D: Desktop>(
        &self,
        desktop: &D,
        window: WindowId,
    ) -> DesktopResult<Vec<WindowInfo>> {
        let mut new = Vec::new();
        for info in surfaces(desktop, window).await?.into_iter().rev() {
            let is_known = self.windows.iter().any(|before| before.id == info.id);
            if info.kind != WindowKind::Popup || is_known {
                continue;
            }
            let root = root_of(desktop, &info).await?;
            if root.is_none_or(|root| root.role.name() != "tool tip") {
                new.push(info);
            }
        }
        Ok(new)
    }

    /// Returns `true` if a menu opened that was not there, in a pop-up or in the window itself.
    pub(crate) async fn has_new_menu<D: Desktop>(
        &self,
        desktop: &D,
        window: WindowId,
    ) -> DesktopResult<bool> {
        if !self.new_popups(desktop, window).await?.is_empty() {
            return Ok(true);
        }
        let tree = look(desktop, window).await?;
        Ok(self.new_items(&tree).next().is_some())
    }

    /// The entries of menus that were not there, as far as they are elements.
    pub(crate) async fn new_entries<D: Desktop>(
        &self,
        desktop: &D,
        window: WindowId,
    ) -> DesktopResult<Vec<Element>> {
        let is_entry = |one: &Element| {
            let is_named_menu = one.role == Role::MENU && !one.name.is_empty();
            (is_menu_item(&one.role) || is_named_menu) && one.states.has(State::Showing)
        };
        let mut entries = Vec::new();
        for popup in self.new_popups(desktop, window).await? {
            entries.extend(look(desktop, popup.id).await?.elements.into_iter().filter(is_entry));
        }
        let tree = look(desktop, window).await?;
        entries.extend(self.new_items(&tree).cloned());
        Ok(entries)
    }

    /// Returns `true` if more is open than the menus with these entries. A menu that only a picture shows counts as
    /// more.
    pub(crate) async fn shows_more<D: Desktop>(
        &self,
        desktop: &D,
        window: WindowId,
        passed: &[ElementId],
    ) -> DesktopResult<bool> {
        let entries = self.new_entries(desktop, window).await?;
        if entries.is_empty() {
            return self.has_new_menu(desktop, window).await;
        }
        Ok(entries.iter().any(|entry| !passed.contains(&entry.id)))
    }

    /// Presses Escape until all new menus are closed.
    pub(crate) async fn close_new<D: Desktop>(
        &self,
        desktop: &D,
        window: WindowId,
        limits: &ActLimits,
    ) -> DesktopResult<()> {
        for _ in 0..NESTED_MAX {
            match self.has_new_menu(desktop, window).await {
                // Escape would not close a tool tip, and mean something else to the application.
                Ok(false) | Err(DesktopError::NoWindow(_)) => return Ok(()),
                Ok(true) => {}
                Err(error) => return Err(error),
            }
            let watch = desktop.watch(Some(window)).await?;
            desktop.press(&NamedKey::Escape.into()).await?;
            desktop.settle(watch, limits.quiet).await?;
        }
        Ok(())
    }

    /// The items of menus that are open in the window itself and were not there.
    fn new_items<'t>(&self, tree: &'t Tree) -> impl Iterator<Item = &'t Element> {
        let known: HashSet<ElementId> = open_items(&self.tree).map(|item| item.id).collect();
        open_items(tree).filter(move |item| !known.contains(&item.id))
    }
}
