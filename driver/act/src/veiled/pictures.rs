//! Pictures in which what shows a secret is black.

use deskhand_desktop::{Desktop, DesktopError, DesktopResult, Picture, TreeLimits, picture::Colour};
use deskhand_ui::{
    Element, Role, Tree,
    geometry::{Rect, Screen},
};

use super::VeiledDesktop;

/// Margin around an element that is black as well, in pixels: letters may reach over its edge.
const MARGIN: i32 = 2;
/// The most windows whose elements are read for one picture, from the top.
const WINDOWS_MAX: usize = 60;

impl<D: Desktop> VeiledDesktop<D> {
    /// A picture with black in place of what shows a secret. The elements of the windows are read before and after it is taken, because
    /// what is drawn may be older or newer than what was read.
    pub(super) async fn blackened(
        &self,
        picture: impl Future<Output = DesktopResult<Picture>> + Send,
    ) -> DesktopResult<Picture> {
        if self.veil.is_empty() {
            return picture.await;
        }
        let mut areas = self.shows_secrets().await?;
        let mut picture = picture.await?;
        areas.extend(self.shows_secrets().await?);
        for area in areas {
            let around = Rect::new(
                area.x.saturating_sub(MARGIN),
                area.y.saturating_sub(MARGIN),
                area.width.saturating_add(2 * MARGIN),
                area.height.saturating_add(2 * MARGIN),
            );
            if let Some(place) = picture.place(&around) {
                picture.fill(&place, Colour([0, 0, 0]));
            }
        }
        Ok(picture)
    }

    /// The parts of the screen that show a secret: fields for passwords, fields that were given a secret, and everything whose
    /// text contains one. A window that does not answer may show anything.
    async fn shows_secrets(&self) -> DesktopResult<Vec<Rect<Screen>>> {
        let mut areas = Vec::new();
        for window in self.inner.windows().await?.into_iter().rev().take(WINDOWS_MAX) {
            match self.inner.tree(window.id, TreeLimits::default()).await {
                Ok(tree) => areas.extend(self.areas(&tree, window.bounds)),
                Err(DesktopError::NoWindow(_)) => {}
                Err(DesktopError::NotAnswering { .. }) => areas.push(window.bounds),
                Err(error) => return Err(error),
            }
        }
        Ok(areas)
    }

    fn areas(&self, tree: &Tree, window: Rect<Screen>) -> Vec<Rect<Screen>> {
        let shown = tree.elements.iter().filter(|element| self.is_shown_by(element));
        let place = |element: &Element| {
            // What has no bounds is drawn somewhere inside of what is around it.
            element.bounds.or_else(|| tree.ancestors(element.id).find_map(|one| one.bounds)).unwrap_or(window)
        };
        shown.map(place).collect()
    }

    fn is_shown_by(&self, element: &Element) -> bool {
        let texts =
            [&element.name, &element.description].into_iter().chain(&element.text).chain(&element.address);
        let value = element.value.map(|value| value.current.to_string());
        element.role == Role::PASSWORD_TEXT
            || (self.veil.was_typed_into(element.id.0) && element.text.as_ref().is_none_or(|text| !text.is_empty()))
            // The address of a page is drawn nowhere in it.
            || (element.role != Role::DOCUMENT_WEB && texts.chain(&value).any(|text| self.veil.is_in(text)))
    }
}
