//! Secrets by name: where each may be typed. Their values are unknown here.
//!
//! A text that is `secret:NAME` as a whole refers to a secret. Only an action that types it into one field, given by its id, may
//! carry one ([`CommandAim::Secret`]); the gate refuses it everywhere else. Without a permission of the configuration it is typed nowhere.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    command::{CallResult, ToolCommand, ToolSpec, Verdict},
    ids::ElementId,
    intent::{CommandAim, Takes},
    observation::{Observation, WindowView},
    policy::{host_of_page, matches},
    ui::{Element, ElementSource, Role},
};

/// Prefix of a reference.
pub const PREFIX: &str = "secret:";

/// Replacement for a password that was typed without a reference: these dots and its number.
pub const DOTS: &str = "••••••••";

/// The longest name of a secret, in characters.
const NAME_MAX: usize = 64;

/// Roles of the fields that a secret can be typed into at all; a permission selects among them.
const FIELDS: [Role; 4] = [Role::PASSWORD_TEXT, Role::ENTRY, Role::TEXT, Role::TERMINAL];

/// The name in a text that is a reference as a whole. The [dots](DOTS) of a password are a name themselves; what is pressed behind it
/// (Return, Tab) may follow.
pub fn reference(text: &str) -> Option<&str> {
    let dots = text.trim_end_matches(AFTER);
    if is_dots(dots) {
        return Some(dots);
    }
    text.strip_prefix(PREFIX).filter(|name| is_name(name))
}

/// Returns the keys pressed after the password that a text refers to: Return or Tab.
pub fn keys_behind(text: &str) -> &str {
    let dots = text.trim_end_matches(AFTER);
    text.get(dots.len()..).filter(|_| is_dots(dots)).unwrap_or_default()
}

/// Keys that may be pressed after a password in the same text.
pub(crate) const AFTER: [char; 3] = ['\n', '\r', '\t'];

/// Returns `true` if a command presses Return behind a password.
pub(crate) fn presses_return(command: &ToolCommand) -> bool {
    let mut texts = command.arguments.values().filter_map(Value::as_str);
    named(command).is_some_and(is_dots) && texts.any(|text| text.ends_with(['\n', '\r']))
}

/// Returns `true` if a text is what stands for a password that was typed.
pub fn is_dots(text: &str) -> bool {
    const DIGITS_MAX: usize = 4;
    text.strip_prefix(DOTS).is_some_and(|number| {
        (1..=DIGITS_MAX).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Returns the reference to a secret: `secret:NAME`, or its dots.
pub fn mark(name: &str) -> String {
    if is_dots(name) { name.to_owned() } else { format!("{PREFIX}{name}") }
}

/// Returns `true` if a text can be the name of a secret: letters of the English alphabet, digits, `-` and `_`.
pub fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.len() <= NAME_MAX && name.chars().all(is_letter)
}

/// Fields that a secret may be typed into. All patterns must match ([`matches`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretPermit {
    /// Its name.
    pub name: String,
    /// The application, by its display name or its short name.
    pub application: String,
    /// The role of the field.
    pub role: String,
    /// The host of the page that the field is in; `None` if it may be in no page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The title of the window, dialog or pop-up.
    #[serde(default = "any")]
    pub window: String,
}

fn any() -> String {
    "*".to_owned()
}

/// The page that a field is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldPage {
    /// None: it is a field of the application itself.
    None,
    /// One whose address the application does not tell.
    Unknown,
    /// A page of this host.
    Of(String),
}

impl FieldPage {
    /// A page by its document.
    pub fn of(document: Option<&Element>) -> Self {
        match document.map(host_of_page) {
            None => Self::None,
            Some(None) => Self::Unknown,
            Some(Some(host)) => Self::Of(host),
        }
    }
}

/// A field that a secret is about to be typed into.
#[derive(Debug, Clone, PartialEq)]
pub struct SecretField<'a> {
    /// The field.
    pub element: &'a Element,
    /// Display name of the application.
    pub application: &'a str,
    /// The application's short name.
    pub application_root: &'a str,
    /// Title of the window, dialog or pop-up.
    pub window: &'a str,
    /// The page that it is in.
    pub page: FieldPage,
}

impl SecretPermit {
    /// The permission of a text whose field is not known: it may be typed nowhere.
    pub(crate) fn withheld(name: String) -> Self {
        let nowhere = String::new;
        Self { name, application: nowhere(), role: nowhere(), host: None, window: nowhere() }
    }

    /// Returns `true` if it stands for a text whose field is not known.
    fn is_withheld(&self) -> bool {
        self.application.is_empty() && is_dots(&self.name)
    }

    /// Checks that the secret may be typed into this field.
    ///
    /// # Errors
    /// The reason why not, with the setting that decides.
    pub fn admits(&self, field: &SecretField<'_>) -> Result<(), String> {
        if is_dots(&self.name) {
            return self.admits_again(field);
        }
        let (name, role) = (&self.name, &field.element.role);
        let wrong = |what: String, key: &str, pattern: &str| {
            Err(format!(
                "`{PREFIX}{name}` may not be typed into {what}: `secrets.{name}.{key}` is `{pattern}`"
            ))
        };
        if field.element.source != ElementSource::AtSpi {
            return Err(format!("`{PREFIX}{name}` may not be typed into what was found in a picture"));
        }
        if !FIELDS.contains(role) {
            return Err(format!(
                "`{PREFIX}{name}` may not be typed into a {role}, which is no field for a text"
            ));
        }
        // A terminal shows and remembers what is typed, so a pattern that matches everything does not name it.
        let names_it =
            |pattern: &str| pattern.split('|').any(|one| one.trim().eq_ignore_ascii_case(role.name()));
        if !matches(&self.role, role.name()) || (*role == Role::TERMINAL && !names_it(&self.role)) {
            return wrong(format!("a {role}"), "role", &self.role);
        }
        if !matches(&self.application, field.application)
            && !matches(&self.application, field.application_root)
        {
            return wrong(
                format!("the application `{}`", field.application),
                "application",
                &self.application,
            );
        }
        if !matches(&self.window, field.window) {
            return wrong(format!("the window `{}`", field.window), "window", &self.window);
        }
        match (&self.host, &field.page) {
            (None, FieldPage::None) => Ok(()),
            (Some(pattern), FieldPage::Of(host)) if matches(pattern, host) => Ok(()),
            (Some(pattern), FieldPage::Of(host)) => wrong(format!("a page of `{host}`"), "host", pattern),
            (Some(pattern), FieldPage::None) => {
                wrong("a field that is in no page".to_owned(), "host", pattern)
            }
            (Some(pattern), FieldPage::Unknown) => {
                wrong("a page that does not tell its address".to_owned(), "host", pattern)
            }
            (None, FieldPage::Of(_) | FieldPage::Unknown) => Err(format!(
                "`{PREFIX}{name}` may not be typed into a page: `secrets.{name}.host` does not name its host"
            )),
        }
    }

    /// Checks that a typed password may be typed again: into a password field of the same application and the same
    /// page.
    fn admits_again(&self, field: &SecretField<'_>) -> Result<(), String> {
        let host = if let FieldPage::Of(host) = &field.page { Some(host) } else { None };
        let is_there = field.element.role == Role::PASSWORD_TEXT
            && field.element.source == ElementSource::AtSpi
            && self.application == field.application_root
            && self.host.as_ref() == host;
        if is_there {
            return Ok(());
        }
        let page = self.host.as_ref().map(|host| format!(", in pages of {host}")).unwrap_or_default();
        Err(format!(
            "`{}` stands for a password that was typed; it may be typed again into fields for passwords of {}{page} alone",
            self.name, self.application
        ))
    }

    /// Describes where it may be typed, for a prompt or a listing: `password text in a page of shop.example`.
    pub fn place(&self) -> String {
        let host = self.host.as_ref().map(|host| format!(" in a page of {host}")).unwrap_or_default();
        format!("{}{host}", self.role)
    }
}

/// The secret that a command types.
pub fn secret_of(command: &ToolCommand) -> Option<(&str, ElementId)> {
    named(command).zip(command.intent.elements().next())
}

fn named(command: &ToolCommand) -> Option<&str> {
    let mut aims = command.intent.aims.iter();
    aims.find_map(|aimed| if let CommandAim::Secret { name } = aimed { Some(name.as_str()) } else { None })
}

/// The list of the secrets of an application in the prompt of its agent; empty if there is none.
pub(crate) fn listing(secrets: &[SecretPermit], application: &str, root: &str) -> String {
    let here = secrets
        .iter()
        .filter(|one| matches(&one.application, application) || matches(&one.application, root));
    here.map(|one| format!("- `{}` for: {}", mark(&one.name), one.place())).collect::<Vec<_>>().join("\n")
}

/// Refuses a command with a reference to a secret, unless it types it into a field that the configuration allows for it.
pub(crate) fn refusal(
    command: &ToolCommand,
    tools: &[ToolSpec],
    observation: &Observation,
    secrets: &[SecretPermit],
) -> Option<CallResult> {
    let refused = |why: String| Some(CallResult::failure(Some(Verdict::Refused), format!("not run: {why}")));
    if let Some(name) = misplaced(command, tools, secrets) {
        let is_withheld = |one: &SecretPermit| one.name == name && one.is_withheld();
        if secrets.iter().any(is_withheld) {
            return refused(field_unknown(name));
        }
        return refused(format!(
            "`{}` can only be the whole text of type_text or the whole value of set_value, with the id of \
             the field; it is in no key, no program, no command, no file and not on the clipboard",
            mark(name)
        ));
    }
    let name = named(command)?;
    let Some(permit) = secrets.iter().find(|one| one.name == name) else {
        if is_dots(name) {
            return refused(format!("no password `{name}` was typed in this session; ask for it"));
        }
        let known: Vec<String> = secrets.iter().map(|one| format!("{PREFIX}{}", one.name)).collect();
        let known =
            if known.is_empty() { "none is".to_owned() } else { format!("configured: {}", known.join(", ")) };
        return refused(format!(
            "no secret `{name}` is configured ({known}); `[secrets.{name}]` would say where it is"
        ));
    };
    if permit.is_withheld() {
        return refused(field_unknown(name));
    }
    let Observation::Window(view) = observation else {
        return refused(format!("`{}` is typed in a window alone", mark(name)));
    };
    let mut elements = command.intent.elements();
    let (Some(id), None) = (elements.next(), elements.next()) else {
        return refused(format!("`{}` is typed into one field alone; give its id", mark(name)));
    };
    admitted(permit, id, view).err().and_then(refused)
}

/// Why a text is not typed that may be a password.
fn field_unknown(dots: &str) -> String {
    format!(
        "`{dots}` stands for a text that may be a password, because its field is not known; type it alone, with the id of its field as it \
         is shown now"
    )
}

/// Checks that an element in the agent's view may receive a secret.
fn admitted(permit: &SecretPermit, id: ElementId, view: &WindowView) -> Result<(), String> {
    let found = view.surfaces.iter().find_map(|surface| Some((surface, surface.tree.find(id)?)));
    let Some((surface, element)) = found else {
        return Err(format!("no element {id} in your view; use an element that is listed"));
    };
    permit.admits(&SecretField {
        element,
        application: &surface.window.app.name,
        application_root: &surface.window.app.root,
        window: &surface.window.title,
        page: FieldPage::of(surface.tree.page_of(id)),
    })
}

/// The secret that an argument refers to where no secret may be. A name or a path may look like a reference, because that stands in
/// place of a value that is shown; nothing is put in there.
fn misplaced<'a>(command: &ToolCommand, tools: &[ToolSpec], secrets: &'a [SecretPermit]) -> Option<&'a str> {
    let declared = command.takes_in(tools);
    let takes = |name: &str| declared.iter().find(|(known, _)| known == name).map(|(_, takes)| *takes);
    command.arguments.iter().find_map(|(name, value)| match takes(name) {
        Some(Takes::Name | Takes::Item | Takes::Items | Takes::Path | Takes::Element | Takes::Window) => None,
        Some(Takes::Text | Takes::Value) if value.as_str().is_some_and(|text| reference(text).is_some()) => {
            None
        }
        Some(
            Takes::Text
            | Takes::Value
            | Takes::Pasted
            | Takes::Keys
            | Takes::Across
            | Takes::Down
            | Takes::Program
            | Takes::Files
            | Takes::File
            | Takes::Chosen
            | Takes::Address
            | Takes::Question
            | Takes::Accepts
            | Takes::Replaces,
        )
        | None => mentioned(value, secrets),
    })
}

/// The configured secret that a value mentions.
fn mentioned<'a>(value: &Value, secrets: &'a [SecretPermit]) -> Option<&'a str> {
    match value {
        Value::String(text) => secrets.iter().map(|one| one.name.as_str()).find(|name| mentions(text, name)),
        Value::Array(items) => items.iter().find_map(|item| mentioned(item, secrets)),
        Value::Object(fields) => fields.values().find_map(|field| mentioned(field, secrets)),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Returns `true` if a text contains the reference to a secret, in any case.
fn mentions(text: &str, name: &str) -> bool {
    let (text, whole) = (text.to_ascii_lowercase(), mark(name).to_ascii_lowercase());
    text.match_indices(&whole).any(|(at, found)| {
        let next = text.get(at + found.len()..).and_then(|rest| rest.chars().next());
        next.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '-' && c != '_')
    })
}

#[cfg(test)]
#[path = "secret_tests.rs"]
mod tests;
