//! The last look before a secret is typed: into the field that was judged and no other, while the permission of the configuration
//! still holds for what is there.

use deskhand_desktop::{Desktop, DesktopError, DesktopResult};
use deskhand_secret::{SecretValue, Secrets};
use deskhand_ui::{
    Element, Tree, WindowInfo,
    action::{ActionRefusal, LastLook},
    ids::ElementId,
    secret::{self, FieldPage, SecretField, SecretPermit},
};

use super::{Live, Permit, PermittedDesktop};
use crate::before::look;

/// A secret that an action types into one field.
#[derive(Debug, Clone, Copy)]
pub struct SecretUse<'a> {
    /// Permit for the places where it may be typed.
    pub permit: &'a SecretPermit,
    /// The field that was judged.
    pub field: ElementId,
    /// Reads its value.
    pub secrets: &'a Secrets,
}

/// Permits every input of an action that was asked for by hand, and the secret as the configuration allows it.
impl Permit for SecretUse<'_> {
    fn admits(&self, _live: &Live<'_>) -> Result<(), LastLook> {
        Ok(())
    }

    fn elements(&self) -> Vec<ElementId> {
        vec![self.field]
    }

    fn is_drawn(&self) -> bool {
        false
    }

    fn only_there(&self) -> bool {
        true
    }

    fn pid(&self) -> Option<u32> {
        None
    }

    fn admits_clear(&self, _field: &Element) -> Result<(), LastLook> {
        Ok(())
    }

    fn secret(&self) -> Option<SecretUse<'_>> {
        Some(*self)
    }
}

/// Recipient of the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Into {
    /// The element that has the keyboard.
    Focus,
    /// This element.
    Element(ElementId),
}

impl<D: Desktop> PermittedDesktop<'_, D> {
    /// The value that a text refers to, if the action types a secret by it, once everything was checked on what is there now.
    ///
    /// # Errors
    /// What is there instead, or why the secret cannot be read; nothing is sent.
    pub(super) async fn value_of(&self, text: &str, into: Into) -> DesktopResult<Option<SecretValue>> {
        let Some(used) = self.permit.secret() else { return Ok(None) };
        if secret::reference(text) != Some(used.permit.name.as_str()) {
            return Ok(None);
        }
        let keys = secret::keys_behind(text);
        // Before the look, because a key ring may take its time.
        let value = used.secrets.reveal(&used.permit.name).await;
        let field = self.field(&used).await?;
        let refused =
            |reason: String| DesktopError::refused(LastLook::Secret { element: (&field).into(), reason });
        let value = value.map_err(refused)?;
        self.show_field(&used, &field, into).await?;
        used.secrets.veil().typed_into(field.id.0, &used.permit.name);
        Ok(Some(value.followed_by(keys)))
    }

    async fn field(&self, used: &SecretUse<'_>) -> DesktopResult<Element> {
        match self.desktop.element(used.field).await {
            // What stands in for an element that is gone is another one.
            Ok(found) if found.id == used.field && found.instead_of.is_none() => Ok(found),
            Ok(_) | Err(DesktopError::NoElement(_)) => {
                Err(DesktopError::refused(ActionRefusal::Missing { id: used.field, nearest: Vec::new() }))
            }
            Err(error) => Err(error),
        }
    }

    /// Checks that input goes to the field and that its permission holds for it now.
    async fn show_field(&self, used: &SecretUse<'_>, field: &Element, into: Into) -> DesktopResult<()> {
        let refused =
            |reason: String| DesktopError::refused(LastLook::Secret { element: field.into(), reason });
        let Some((window, tree)) = self.surface_of(field.id, into).await? else {
            return Err(refused("it is not shown by the active window of the application".to_owned()));
        };
        let receives = match into {
            Into::Element(id) => id == field.id,
            Into::Focus => self.has_focus(field.id, &window, &tree).await?,
        };
        if !receives {
            return Err(refused("the keyboard does not go to it".to_owned()));
        }
        self.show(field, /*focused*/ false).await?;
        let page = match tree.page_of(field.id) {
            // Read again: a page that went on may be another one.
            Some(page) => Some(self.desktop.element(page.id).await?),
            None => None,
        };
        let shown = SecretField {
            element: field,
            application: &window.app.name,
            application_root: &window.app.root,
            window: &window.title,
            page: FieldPage::of(page.as_ref()),
        };
        used.permit.admits(&shown).map_err(refused)
    }

    /// The window that shows an element: the active one for the keyboard, otherwise any of the application.
    async fn surface_of(&self, id: ElementId, into: Into) -> DesktopResult<Option<(WindowInfo, Tree)>> {
        let Some(window) = self.window else { return Ok(None) };
        let windows = self.desktop.windows().await?;
        let Some(main) = self.main(&windows, window) else { return Err(DesktopError::NoWindow(window)) };
        let is_candidate =
            |info: &&WindowInfo| self.is_own(&windows, info, &main) && (info.active || into != Into::Focus);
        for info in windows.iter().rev().filter(is_candidate) {
            let tree = look(self.desktop, info.id).await?;
            if tree.find(id).is_some() {
                return Ok(Some((info.clone(), tree)));
            }
        }
        Ok(None)
    }

    /// Returns `true` if the keyboard certainly goes to a field, or to a part of it.
    async fn has_focus(&self, field: ElementId, window: &WindowInfo, tree: &Tree) -> DesktopResult<bool> {
        let known = self.desktop.known_focus(window.id).await.unwrap_or_default();
        let Some(focused) = known.as_ref().or_else(|| tree.focused()) else { return Ok(false) };
        Ok(focused.id == field || self.desktop.is_within(focused.id, field).await?)
    }
}
