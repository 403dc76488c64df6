//! The snapshot before an action.

use std::{collections::HashSet, time::Duration};

use deskhand_core::{
    ids::{ElementId, WindowId},
    ui::{Element, Role, Source, State, Tree, WindowInfo},
};
use deskhand_desktop::{Desktop, DesktopError, DesktopResult, TreeLimits};

use crate::menus::is_menu;

/// How long an element must have been observed without a change before its next change proves an effect at once.
const WATCHED_BEFORE: Duration = Duration::from_millis(2_500);

/// The state before an action: windows, target and the elements around it.
#[derive(Debug, Clone)]
pub(crate) struct Before {
    pub(crate) surface: WindowInfo,
    pub(crate) windows: Vec<WindowInfo>,
    pub(crate) target: Option<Element>,
    /// The elements of the surface.
    pub(crate) tree: Tree,
    /// Elements that changed recently without any input, or that were not observed for long enough to know.
    pub(crate) recently_changed: HashSet<ElementId>,
    /// Whether a moved focus counts as an effect, as with Tab.
    pub(crate) focus_counts: bool,
}

impl Before {
    /// Takes a snapshot around an element.
    pub(crate) async fn take<D: Desktop>(
        desktop: &D,
        surface: &WindowInfo,
        target: Option<&Element>,
    ) -> DesktopResult<Self> {
        let tree = look(desktop, surface.id).await?;
        let elements: Vec<ElementId> =
            tree.elements.iter().map(|element| element.id).chain(target.map(|target| target.id)).collect();
        Ok(Self {
            surface: surface.clone(),
            windows: desktop.windows().await?,
            target: target.cloned(),
            recently_changed: desktop.recently_changed(&elements, WATCHED_BEFORE).into_iter().collect(),
            tree,
            focus_counts: false,
        })
    }

    /// Whether activating the target opens a pop-up.
    pub(crate) fn opens_menus(&self) -> bool {
        self.target.as_ref().is_some_and(|target| {
            [Role::MENU, Role::COMBO_BOX, Role::TOGGLE_BUTTON].contains(&target.role)
                || target.states.has(State::Expandable)
                // Qt gives entries that open a submenu the role of an item.
                || (is_menu(&target.role) && target.child_count > 0)
        })
    }

    /// Whether the name of the target announces a dialog by an ellipsis: `Chart…`.
    pub(crate) fn announces_dialog(&self) -> bool {
        self.target.as_ref().is_some_and(|target| {
            let name = target.name.trim_end();
            (name.ends_with('…') || name.ends_with("..."))
                && [Role::MENU_ITEM, Role::PUSH_BUTTON].contains(&target.role)
        })
    }

    /// Whether the target was found in a picture.
    pub(crate) fn is_drawn(&self) -> bool {
        self.target.as_ref().is_some_and(|target| target.source != Source::AtSpi)
    }
}

/// The elements of a window; empty if it is gone or does not respond.
pub(crate) async fn look<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<Tree> {
    match desktop.tree(window, TreeLimits::default()).await {
        Err(DesktopError::NoWindow(_) | DesktopError::NotAnswering { .. }) => Ok(Tree::default()),
        other => other,
    }
}
