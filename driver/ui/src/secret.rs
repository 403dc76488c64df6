//! Secrets by name: the fields that each may be typed into. Their values are unknown here.
//!
//! A text that is `secret:NAME` as a whole refers to a secret. Without a permission of the configuration it is typed nowhere.

use serde::{Deserialize, Serialize};

use crate::{Element, ElementSource, Role, address::host_of_page, pattern::matches};

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
pub const AFTER: [char; 3] = ['\n', '\r', '\t'];

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
    pub fn withheld(name: String) -> Self {
        let nowhere = String::new;
        Self { name, application: nowhere(), role: nowhere(), host: None, window: nowhere() }
    }

    /// Returns `true` if it stands for a text whose field is not known.
    pub fn is_withheld(&self) -> bool {
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
