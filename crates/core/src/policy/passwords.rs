//! Texts that go into fields for passwords.

use super::{envelope::Own, origin::Texts, values::Reading};
use crate::{
    command::Command,
    ids::ElementId,
    intent::{Aimed, Does},
    observation::{Observation, Surface},
    secret::{Page, is_dots},
    ui::{Element, Role},
};

/// A text that a command types into a field for passwords.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PasswordEntry {
    /// The text.
    pub(crate) text: String,
    /// The application's short name.
    pub(crate) application: String,
    /// The host of the page that the field is in.
    pub(crate) host: Option<String>,
    /// Where the text stands, if the user has not said it.
    pub(crate) from: Option<String>,
}

impl PasswordEntry {
    /// What a command types into a field for passwords in clear. Its intent was read.
    pub(crate) fn of(command: &Command, reading: &Reading<'_>) -> Option<Self> {
        let Observation::Window(view) = reading.observation else { return None };
        let types = matches!(command.intent.does, Does::Type | Does::Set);
        if !types || named(command).is_some() || command.intent.chords().next().is_some() {
            return None;
        }
        let own = Own::of(command, view, reading);
        let surface = own.surface?;
        let field = password_field(own.field?, surface)?;
        let page = Page::of(surface.tree.page_of(field.id));
        Some(Self {
            from: own.password(command, reading.texts),
            application: surface.window.app.root.clone(),
            host: if let Page::Of(host) = page { Some(host) } else { None },
            text: own.typed,
        })
    }
}

/// The field for passwords that takes a password by its dots, where the command names another element: none, so that the keyboard decides,
/// or a part of the field.
pub(crate) fn field_for_dots(command: &Command, reading: &Reading<'_>) -> Option<ElementId> {
    let Observation::Window(view) = reading.observation else { return None };
    named(command).filter(|name| is_dots(name))?;
    let own = Own::of(command, view, reading);
    let field = password_field(own.field?, own.surface?)?;
    (command.intent.elements().next() != Some(field.id)).then_some(field.id)
}

/// The field for passwords that an element is, or is a part of: GTK 4 has a text in it.
fn password_field<'a>(element: &'a Element, surface: &'a Surface) -> Option<&'a Element> {
    let is_it = |element: &&Element| element.role == Role::PASSWORD_TEXT;
    Some(element).filter(is_it).or_else(|| surface.tree.ancestors(element.id).find(is_it))
}

/// Where a secret that a command types comes from, if that is a password that the user has not said.
pub(super) fn origin_of_secret(command: &Command, texts: &dyn Texts) -> Option<String> {
    texts.password_from(named(command)?)
}

/// The secret that a command types, by its name or its dots.
fn named(command: &Command) -> Option<&str> {
    let mut aims = command.intent.aims.iter();
    aims.find_map(|aimed| if let Aimed::Secret { name } = aimed { Some(name.as_str()) } else { None })
}
