//! A desktop on which input goes out only with a permit: just before each input, what is there is read again and shown
//! to the permit.
//!
//! An action is judged on what was seen a while ago. Since then a model was asked, a person approved, an earlier action ran,
//! and the application went on. So the last look is not part of any action, but lies below all of them: none can forget
//! it, whatever way it takes.

mod delegate;
mod secret;

use std::sync::{Mutex, PoisonError};

use deskhand_desktop::{Desktop, DesktopError, DesktopResult};
use deskhand_ui::{
    Element, ElementCapability, Role, WindowInfo,
    action::{ActionRefusal, LastLook},
    belongs_to,
    geometry::{Point, Screen},
    ids::{ElementId, WindowId},
    keys::{ChordKey, KeyChord, KeyModifier, NamedKey},
    same_app,
};
use secret::Into;
pub use secret::SecretUse;

use crate::{
    before::look,
    checks::{is_beneath, is_same_place},
    hidden::blindness,
    menus::is_menu,
};

/// The most characters of a field that are read before a line end goes to it.
const TEXT_MAX: usize = 10_000;

/// An element just before input goes to it.
#[derive(Debug, Clone, Copy)]
pub struct Live<'a> {
    /// The element as it is now.
    pub element: &'a Element,
    /// The names of what is in it, if it has none of its own.
    pub inside: &'a [String],
    /// `true` if the input goes to it because it has the focus; otherwise it is aimed at.
    pub focused: bool,
}

/// Permission of an action to act on elements.
pub trait Permit: Send + Sync {
    /// Checks that input may go to this element now.
    ///
    /// # Errors
    /// The element that is there instead of the judged one; nothing is sent.
    fn admits(&self, live: &Live<'_>) -> Result<(), LastLook>;

    /// The elements that the action was judged on, without those that were found in a picture: the check before the action
    /// has looked at the picture again.
    fn elements(&self) -> Vec<ElementId>;

    /// Returns `true` if it was judged on something that was found in a picture.
    fn is_drawn(&self) -> bool;

    /// Returns `true` if a click has to go to one of these elements, because the action names nothing else.
    fn only_there(&self) -> bool;

    /// The process that owned the window when the action was judged.
    fn pid(&self) -> Option<u32>;

    /// Checks that a text in clear may go to a field for passwords.
    ///
    /// # Errors
    /// The field, if the text was not judged for it; nothing is sent.
    fn admits_clear(&self, field: &Element) -> Result<(), LastLook>;

    /// The secret that it types; `None` if it types none.
    fn secret(&self) -> Option<SecretUse<'_>>;
}

/// Permits every input, of an action that a person asked for by hand.
#[derive(Debug, Clone, Copy)]
pub struct ByHand;

impl Permit for ByHand {
    fn admits(&self, _live: &Live<'_>) -> Result<(), LastLook> {
        Ok(())
    }

    fn elements(&self) -> Vec<ElementId> {
        Vec::new()
    }

    fn is_drawn(&self) -> bool {
        false
    }

    fn only_there(&self) -> bool {
        false
    }

    fn pid(&self) -> Option<u32> {
        None
    }

    fn admits_clear(&self, _field: &Element) -> Result<(), LastLook> {
        Ok(())
    }

    fn secret(&self) -> Option<SecretUse<'_>> {
        None
    }
}

/// A desktop that shows each target to a permit before input goes to it.
pub struct PermittedDesktop<'a, D: Desktop> {
    desktop: &'a D,
    permit: &'a dyn Permit,
    /// The window of the action; `None` without one.
    window: Option<WindowId>,
    /// The last window that the action was in, to know its application after it closed.
    known: Mutex<Option<WindowInfo>>,
}

impl<'a, D: Desktop> PermittedDesktop<'a, D> {
    /// A desktop for one action in `window`.
    pub const fn new(desktop: &'a D, permit: &'a dyn Permit, window: Option<WindowId>) -> Self {
        Self { desktop, permit, window, known: Mutex::new(None) }
    }

    /// Shows an element to the permit.
    async fn show(&self, element: &Element, focused: bool) -> DesktopResult<()> {
        let inside = self.inside(element).await?;
        self.permit.admits(&Live { element, inside: &inside, focused }).map_err(DesktopError::refused)
    }

    /// The names of what is in an element without a name that is pressed as a whole.
    async fn inside(&self, element: &Element) -> DesktopResult<Vec<String>> {
        if !element.is_named_by_parts() || element.child_count == 0 {
            return Ok(Vec::new());
        }
        match self.desktop.children(element.id, Element::PARTS_MAX).await {
            Ok(children) => Ok(children.into_iter().map(|child| child.name).collect()),
            Err(DesktopError::NoElement(_) | DesktopError::NotAnswering { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// An element as it is when the first line end of a text that is typed now reaches it: with the line before it.
    async fn once_typed(&self, element: Element, text: &str) -> DesktopResult<Element> {
        let (line, ends) = text.split_once(['\n', '\r']).map_or((text, false), |(line, _)| (line, true));
        if !ends || line.is_empty() || !has_readable_text(&element) {
            return Ok(element);
        }
        let id = element.id;
        let text = self.desktop.text(id, TEXT_MAX).await?;
        let caret = self.desktop.caret(id).await?.unwrap_or(usize::MAX);
        let (start, end) = self.desktop.text_selection(id).await?.unwrap_or((caret, caret));
        let before = text.chars().take(start.min(end));
        let after = text.chars().skip(start.max(end));
        Ok(Element { text: Some(before.chain(line.chars()).chain(after).collect()), ..element })
    }

    /// An element as it is now; one that is gone is refused.
    async fn there(&self, id: ElementId) -> DesktopResult<Element> {
        match self.desktop.element(id).await {
            Err(DesktopError::NoElement(_)) => {
                Err(DesktopError::refused(ActionRefusal::Missing { id, nearest: Vec::new() }))
            }
            found => found,
        }
    }

    /// Checks a place just before a button is pressed on it: the window on top there belongs to the application, and the
    /// element there is the one that was judged.
    async fn show_place(&self, at: Point<Screen>) -> DesktopResult<()> {
        let Some(window) = self.window else { return Ok(()) };
        let windows = self.desktop.windows().await?;
        let Some(main) = self.main(&windows, window) else { return Err(DesktopError::NoWindow(window)) };
        let top = windows.iter().rev().find(|info| info.bounds.contains(&at));
        let Some(top) = top.filter(|top| self.is_own(&windows, top, &main)) else {
            return Err(DesktopError::refused(match top {
                Some(top) => ActionRefusal::PointCovered { point: at, by: top.into() },
                None => ActionRefusal::PointOutside { point: at, window, bounds: Some(main.bounds) },
            }));
        };
        if self.permit.is_drawn() {
            return Ok(());
        }
        let found = self.desktop.element_at(top.id, at).await?;
        // The menu of an element opens over it.
        let entry = found.as_ref().filter(|found| top.kind.is_popup() && is_menu(&found.role));
        if let Some(entry) = entry.filter(|_| !self.permit.only_there()) {
            return self.show(entry, /*focused*/ false).await;
        }
        let mut moved = None;
        for id in self.permit.elements() {
            let live = match self.desktop.element(id).await {
                // Something else stands in for it; the permit knows whether it may.
                Err(DesktopError::NoElement(_)) => continue,
                other => other?,
            };
            if live.bounds.is_none_or(|bounds| !bounds.contains(&at)) {
                moved.get_or_insert(live);
                continue;
            }
            // A pop-up shows what the tree of its window does not have there.
            let in_popup = top.kind.is_popup();
            let covers = match &found {
                Some(found) if !in_popup => {
                    !is_same_place(self.desktop, found, &live).await?
                        && !is_beneath(self.desktop, top, found, &live).await?
                }
                Some(_) | None => false,
            };
            if let (true, Some(found)) = (covers, &found) {
                return Err(DesktopError::refused(LastLook::Replaced {
                    judged: Box::new((&live).into()),
                    found: found.into(),
                }));
            }
            return self.show(&live, /*focused*/ false).await;
        }
        if let Some(moved) = moved.filter(|_| self.permit.only_there() && !top.kind.is_popup()) {
            return Err(DesktopError::refused(ActionRefusal::Moving { element: (&moved).into() }));
        }
        match found {
            Some(found) => self.show(&found, /*focused*/ false).await,
            None => Ok(()),
        }
    }

    /// Checks that the keyboard goes to the application, and shows what has the focus if keys activate it, as it will be once `typed`
    /// is in it.
    async fn show_focus(&self, activates: bool, typed: &str) -> DesktopResult<()> {
        let Some(window) = self.window else { return Ok(()) };
        let windows = self.desktop.windows().await?;
        let Some(main) = self.main(&windows, window) else { return Err(DesktopError::NoWindow(window)) };
        let active = windows.iter().find(|info| info.active);
        let Some(active) = active else { return Ok(()) };
        if !self.is_own(&windows, active, &main) {
            let refusal = LastLook::OtherWindowActive { active: active.into(), window: (&main).into() };
            return Err(DesktopError::refused(refusal));
        }
        if !activates {
            return Ok(());
        }
        let focused = match self.desktop.known_focus(active.id).await {
            Ok(Some(known)) => known,
            Ok(None) | Err(_) => match look(self.desktop, active.id).await?.focused() {
                Some(focused) => self.there(focused.id).await?,
                None => return Ok(()),
            },
        };
        let focused = self.once_typed(focused, typed).await?;
        self.show(&focused, /*focused*/ true).await
    }

    /// Checks just before a text in clear goes out that it does not end in a field for passwords that it was not judged for.
    async fn show_clear(&self, text: &str, into: Into) -> DesktopResult<()> {
        if self.permit.secret().is_some() || text.chars().all(char::is_control) {
            return Ok(());
        }
        let field = match into {
            Into::Element(id) => self.there(id).await?,
            Into::Focus => match self.keyboard_goes_to().await? {
                Some(focused) => focused,
                None => return Ok(()),
            },
        };
        if field.role != Role::PASSWORD_TEXT {
            return Ok(());
        }
        self.permit.admits_clear(&field).map_err(DesktopError::refused)
    }

    /// Returns the element that has the keyboard in the active window; `None` if unknown.
    async fn keyboard_goes_to(&self) -> DesktopResult<Option<Element>> {
        if self.window.is_none() {
            return Ok(None);
        }
        let windows = self.desktop.windows().await?;
        let Some(active) = windows.iter().find(|info| info.active) else { return Ok(None) };
        match self.desktop.known_focus(active.id).await {
            Ok(Some(known)) => Ok(Some(known)),
            Ok(None) | Err(_) => match look(self.desktop, active.id).await?.focused() {
                Some(focused) => self.there(focused.id).await.map(Some),
                None => Ok(None),
            },
        }
    }

    /// The window of the action, or what it was if it has closed since.
    fn main(&self, windows: &[WindowInfo], window: WindowId) -> Option<WindowInfo> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(now) = windows.iter().find(|info| info.id == window) {
            *known = Some(now.clone());
        }
        known.clone()
    }

    /// Returns `true` if a window belongs to the application that was judged.
    fn is_own(&self, windows: &[WindowInfo], info: &WindowInfo, main: &WindowInfo) -> bool {
        let same_process = self.permit.pid().is_none_or(|pid| info.app.pid.is_none_or(|now| now == pid));
        belongs_to(windows, info, main) || (same_app(info, main) && same_process)
    }
}

/// Returns `true` if an element has a text that typed letters become a part of, and that may be read.
fn has_readable_text(element: &Element) -> bool {
    // The address field of Chromium offers no `EditableText`.
    (element.offers(ElementCapability::Text) || element.offers(ElementCapability::EditableText))
        && blindness(element).is_none()
}

/// The letter that a chord types.
fn letter(chord: &KeyChord) -> Option<char> {
    let ChordKey::Char(letter) = chord.key else { return None };
    chord.modifiers.iter().all(|one| *one == KeyModifier::Shift).then_some(letter)
}

/// Returns `true` if a chord activates what has the focus.
const fn activates(chord: &KeyChord) -> bool {
    matches!(chord.key, ChordKey::Named(NamedKey::Return | NamedKey::Space) | ChordKey::Char(' ' | '\n'))
}
