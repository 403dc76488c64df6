//! How things were before an action.

use std::{collections::HashSet, time::Duration};

use deskhand_core::{
    ids::{ElementId, WindowId},
    ui::{Element, Role, Source, State, Tree, WindowInfo},
};
use deskhand_desktop::{Desktop, DesktopError, DesktopResult, TreeLimits};

use crate::menus::is_menu;

/// How long an element must have been watched without a change for its next one to prove an effect at once.
const WATCHED_BEFORE: Duration = Duration::from_millis(2_500);

/// How things were before an action.
#[derive(Debug, Clone)]
pub(crate) struct Before {
    pub(crate) surface: WindowInfo,
    pub(crate) windows: Vec<WindowInfo>,
    pub(crate) target: Option<Element>,
    /// The elements of the surface.
    pub(crate) tree: Tree,
    /// Elements that changed lately with nobody touching them, or that nobody has watched for long enough to tell.
    pub(crate) recently_changed: HashSet<ElementId>,
    /// Whether a moved focus is what was asked for, as with Tab.
    pub(crate) focus_counts: bool,
}

impl Before {
    /// How things are now, around an element.
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

    /// Whether the target is something that opens a pop-up when it works.
    pub(crate) fn opens_menus(&self) -> bool {
        self.target.as_ref().is_some_and(|target| {
            [Role::MENU, Role::COMBO_BOX, Role::TOGGLE_BUTTON].contains(&target.role)
                || target.states.has(State::Expandable)
                // Qt calls what opens a menu an item, too.
                || (is_menu(&target.role) && target.child_count > 0)
        })
    }

    /// Whether the target was found in a picture.
    pub(crate) fn is_drawn(&self) -> bool {
        self.target.as_ref().is_some_and(|target| target.source != Source::AtSpi)
    }
}

/// The elements of a window; empty if it is gone or does not answer.
pub(crate) async fn look<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<Tree> {
    match desktop.tree(window, TreeLimits::default()).await {
        Err(DesktopError::NoWindow(_) | DesktopError::NotAnswering { .. }) => Ok(Tree::default()),
        other => other,
    }
}
