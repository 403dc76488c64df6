//! The snapshot before an action.

use std::{collections::HashMap, time::Duration};

use deskhand_desktop::{Button, Desktop, DesktopError, DesktopResult, TreeLimits};
use deskhand_ui::{
    Element, ElementCapability, ElementSource, Role, State, Tree, WindowInfo,
    ids::{ElementId, WindowId},
};

use crate::{
    menus::is_menu,
    row_roles::{ROW_ABOVE_MAX, is_row},
};

/// Time that an element must have been observed without a change before its next change proves an effect at
/// once. Clocks change every second.
const WATCHED_BEFORE: Duration = Duration::from_millis(1_500);
/// The shorter times for which it is looked up whether an element was quiet, longest first.
const QUIET_FOR: [Duration; 4] = [
    Duration::from_millis(1_200),
    Duration::from_millis(900),
    Duration::from_millis(600),
    Duration::from_millis(300),
];

/// The state before an action: windows, target and the elements around it.
#[derive(Debug, Clone)]
pub(crate) struct Before {
    /// Window in which the effect is looked for.
    pub(crate) surface: WindowInfo,
    /// The window that the target is in: this one, or a pop-up in front of it.
    pub(crate) target_in: WindowId,
    pub(crate) windows: Vec<WindowInfo>,
    pub(crate) target: Option<Element>,
    /// The elements of the surface.
    pub(crate) tree: Tree,
    /// Elements that changed recently without any input, or that were not observed for long enough to know, and how long
    /// each is known to have been quiet.
    quiet_for: HashMap<ElementId, Duration>,
    /// `true` if a moved focus counts as an effect, as with Tab.
    pub(crate) focus_counts: bool,
    /// `true` if the action saves a document, which removes the mark of unsaved changes from a title that has one.
    pub(crate) saves: bool,
    /// `true` if the action requests the context menu of the target.
    asks_for_menu: bool,
    /// Visibility of the effect.
    pub(crate) sign: Sign,
    /// `true` if the application has timers due all the time.
    pub(crate) runs_timers: bool,
    /// Position of the target's caret and its selected text, if they are part of the effect.
    pub(crate) caret: Option<Caret>,
    /// The text on the clipboard, if that is part of the effect.
    pub(crate) clipboard: Option<Option<String>>,
}

impl Before {
    /// Takes a snapshot around an element.
    pub(crate) async fn take<D: Desktop>(
        desktop: &D,
        surface: &WindowInfo,
        target: Option<&Element>,
    ) -> DesktopResult<Self> {
        let tree = look(desktop, surface.id).await?;
        Self::with_tree(desktop, surface, target, tree).await
    }

    /// Takes a snapshot whose elements were read before: nothing but menus has opened since.
    pub(crate) async fn with_tree<D: Desktop>(
        desktop: &D,
        surface: &WindowInfo,
        target: Option<&Element>,
        tree: Tree,
    ) -> DesktopResult<Self> {
        let elements: Vec<ElementId> =
            tree.elements.iter().map(|element| element.id).chain(target.map(|target| target.id)).collect();
        Ok(Self {
            surface: surface.clone(),
            target_in: surface.id,
            windows: desktop.windows().await?,
            target: target.cloned(),
            quiet_for: quiet_for(desktop, &elements),
            focus_counts: false,
            saves: false,
            asks_for_menu: false,
            runs_timers: elements.first().is_some_and(|first| desktop.quirks(*first).runs_timers),
            sign: target.map_or(Sign::Expected, |target| sign_of_click(target, &tree)),
            tree,
            caret: None,
            clipboard: None,
        })
    }

    /// The same for a click with this button.
    pub(crate) fn clicked_with(self, button: Button) -> Self {
        Self { asks_for_menu: button == Button::Right, ..self }
    }

    /// The same with a target in this window.
    pub(crate) fn with_target_in(self, window: WindowId) -> Self {
        Self { target_in: window, ..self }
    }

    /// The same with an effect that shows, or may not.
    pub(crate) fn showing(self, sign: Sign) -> Self {
        Self { sign, ..self }
    }

    /// The same with a moved focus as an effect.
    pub(crate) fn counting_focus(self) -> Self {
        Self { focus_counts: true, ..self }
    }

    /// The same with a document that is saved.
    pub(crate) fn saving(self) -> Self {
        Self { saves: true, ..self }
    }

    /// The same with the focused element as the target, as it is for keys.
    pub(crate) fn aimed_at_focus(self) -> Self {
        let focused = self.tree.focused();
        Self { target: focused.cloned(), ..self }
    }

    /// The same with the caret of the target as part of the effect.
    pub(crate) async fn with_caret<D: Desktop>(self, desktop: &D) -> DesktopResult<Self> {
        let target = self.target.as_ref().filter(|target| target.offers(ElementCapability::Text));
        let caret = match target {
            Some(target) => caret_of(desktop, target.id).await?,
            None => None,
        };
        Ok(Self { caret, ..self })
    }

    /// The same with the clipboard as part of the effect.
    pub(crate) async fn with_clipboard<D: Desktop>(self, desktop: &D) -> DesktopResult<Self> {
        Ok(Self { clipboard: Some(desktop.clipboard().await?), ..self })
    }

    /// Returns `true` if a change of an element may have happened by itself, because it changed recently, or was not observed for long
    /// enough.
    pub(crate) fn is_restless(&self, element: ElementId) -> bool {
        self.quiet_for.contains_key(&element)
    }

    /// Returns the time that an element must still be observed to find out if it changes by itself.
    pub(crate) fn unwatched(&self, element: Option<ElementId>) -> Duration {
        let watched = element.and_then(|id| self.quiet_for.get(&id));
        WATCHED_BEFORE.saturating_sub(watched.copied().unwrap_or_default())
    }

    /// Returns `true` if an element is the target.
    pub(crate) fn is_target(&self, element: Option<ElementId>) -> bool {
        self.target.as_ref().is_some_and(|target| element == Some(target.id))
    }

    /// Returns `true` if the action opens a pop-up.
    pub(crate) fn opens_menus(&self) -> bool {
        self.asks_for_menu || self.has_menu()
    }

    /// Returns `true` if activating the target opens a pop-up.
    pub(crate) fn has_menu(&self) -> bool {
        self.target.as_ref().is_some_and(|target| {
            [Role::MENU, Role::COMBO_BOX, Role::TOGGLE_BUTTON].contains(&target.role)
                || target.states.has(State::Expandable)
                // Qt gives entries that open a submenu the role of an item.
                || (is_menu(&target.role) && target.child_count > 0)
        })
    }

    /// Returns `true` if the name of the target announces a dialog by an ellipsis: `Chart…`.
    pub(crate) fn announces_dialog(&self) -> bool {
        self.target.as_ref().is_some_and(|target| {
            let name = target.name.trim_end();
            (name.ends_with('…') || name.ends_with("..."))
                && [Role::MENU_ITEM, Role::PUSH_BUTTON].contains(&target.role)
        })
    }

    /// Returns `true` if the target was found in a picture.
    pub(crate) fn is_drawn(&self) -> bool {
        self.target.as_ref().is_some_and(|target| target.source != ElementSource::AtSpi)
    }
}

/// The elements that were not quiet for long enough, and how long each was.
fn quiet_for<D: Desktop>(desktop: &D, elements: &[ElementId]) -> HashMap<ElementId, Duration> {
    let mut recent = desktop.recently_changed(elements, WATCHED_BEFORE);
    let mut quiet: HashMap<ElementId, Duration> = recent.iter().map(|id| (*id, Duration::ZERO)).collect();
    for span in QUIET_FOR {
        let still = desktop.recently_changed(&recent, span);
        for id in recent.iter().filter(|id| !still.contains(id)) {
            quiet.insert(*id, span);
        }
        recent = still;
    }
    quiet
}

/// Visibility of the effect of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// Visible: without a sign there is no effect.
    Expected,
    /// Possibly visible: a shortcut, a click on a header.
    Possible,
    /// Possibly visible, and soon if so: a click on a row that is selected.
    Again,
    /// Rarely visible: a caret key, a click on the field that has the focus. The wait is short.
    Unlikely,
}

/// The caret of an element and the selected part of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caret {
    pub(crate) at: Option<usize>,
    pub(crate) selected: Option<(usize, usize)>,
}

/// Reads the caret of an element; `None` if its application does not report it.
pub(crate) async fn caret_of<D: Desktop>(desktop: &D, id: ElementId) -> DesktopResult<Option<Caret>> {
    let read = async {
        let (at, selected) = (desktop.caret(id).await?, desktop.text_selection(id).await?);
        Ok((at.is_some() || selected.is_some()).then_some(Caret { at, selected }))
    };
    match read.await {
        Err(
            DesktopError::NoElement(_) | DesktopError::NotAnswering { .. } | DesktopError::NotOffered { .. },
        ) => Ok(None),
        other => other,
    }
}

/// Returns the visibility of a click on an element: uncertain on a field that has the focus, a row that is
/// selected, or a header.
fn sign_of_click(target: &Element, tree: &Tree) -> Sign {
    const ROWS: &[Role] =
        &[Role::LIST_ITEM, Role::PAGE_TAB, Role::RADIO_BUTTON, Role::TABLE_CELL, Role::TREE_ITEM];
    const FIELDS: &[Role] = &[
        Role::DOCUMENT_SPREADSHEET,
        Role::DOCUMENT_TEXT,
        Role::ENTRY,
        Role::LIST,
        Role::PARAGRAPH,
        Role::PASSWORD_TEXT,
        Role::SPIN_BUTTON,
        Role::TABLE,
        Role::TEXT,
        Role::TREE,
        Role::TREE_TABLE,
    ];
    let has = |state| target.states.has(state);
    if FIELDS.contains(&target.role) && has(State::Focused) {
        return Sign::Unlikely;
    }
    let is_current = has(State::Selected) || has(State::Checked) || has(State::Focused);
    // A label may stand for the row or tab that it is in.
    let is_in_current = target.role == Role::LABEL
        && tree
            .ancestors(target.id)
            .take(ROW_ABOVE_MAX)
            .any(|one| one.states.has(State::Selected) && (ROWS.contains(&one.role) || is_row(&one.role)));
    if target.role.is_header() {
        Sign::Possible
    } else if (ROWS.contains(&target.role) && is_current) || is_in_current {
        Sign::Again
    } else {
        Sign::Expected
    }
}

/// The elements of a window, at the bounds that they were last seen at; empty if it is gone or does not respond.
pub(crate) async fn look<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<Tree> {
    look_within(desktop, window, TreeLimits { bounds_now: false, ..TreeLimits::default() }).await
}

/// The same at their bounds as they are now.
pub(crate) async fn look_at_places<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<Tree> {
    look_within(desktop, window, TreeLimits::default()).await
}

async fn look_within<D: Desktop>(desktop: &D, window: WindowId, limits: TreeLimits) -> DesktopResult<Tree> {
    match desktop.tree(window, limits).await {
        Err(DesktopError::NoWindow(_) | DesktopError::NotAnswering { .. }) => Ok(Tree::default()),
        other => other,
    }
}
