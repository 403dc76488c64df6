//! Facts on which a command was judged.

use serde::{Deserialize, Serialize};

use crate::policy::{CommandValue, Subject};
use deskhand_ui::{
    Role,
    action::ElementRef,
    ids::{ElementId, WindowId},
};

/// Facts on which a command was judged. The gate stamps them on the command; the executor compares them with
/// the current state just before the input.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JudgementBasis {
    /// The elements that it is aimed at, as they were shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elements: Vec<JudgedElement>,
    /// The names that the rules were matched with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Display name of the application; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub application: String,
    /// The application's short name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub application_root: String,
    /// The process that owned the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Title of the window, dialog or pop-up that showed the target; empty if there was none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub window: String,
    /// Hosts of the page that showed the target, and of the addresses that it opens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// `true` if the target was in a page with an undetermined host.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub host_unknown: bool,
    /// `true` if the window showed a page, so that it may have a field for addresses.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shows_page: bool,
    /// The files that it opens or saves, absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Values that it names, with their origins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<CommandValue>,
    /// The file of the document that the window showed, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// The message that it sends, if the user has dictated it to somebody whom the user has named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dictated: Option<String>,
    /// `true` if a person approved it, now or for the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approved: bool,
}

/// An element as it was shown when a command was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedElement {
    /// Its id.
    pub id: ElementId,
    /// Its role.
    pub role: Role,
    /// Its name.
    pub name: String,
    /// The window, dialog or pop-up that showed it.
    pub window: WindowId,
    /// `true` if it was found in a picture.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drawn: bool,
    /// `true` if it was in a page.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_page: bool,
}

impl JudgedElement {
    /// The element, for messages.
    pub fn to_ref(&self) -> ElementRef {
        ElementRef { id: self.id, role: self.role.clone(), name: self.name.clone(), instead_of: None }
    }
}

impl JudgementBasis {
    /// Collects the facts on which a subject was judged.
    pub(crate) fn of(subject: Subject) -> Self {
        Self {
            names: subject.names().map(str::to_owned).collect(),
            elements: subject.elements,
            application: subject.application,
            application_root: subject.application_root,
            pid: subject.pid,
            window: subject.window,
            hosts: subject.hosts,
            host_unknown: subject.host_unknown,
            dictated: subject.dictated.clone(),
            shows_page: subject.shows_page,
            paths: subject.paths,
            values: subject.values,
            document: subject.document,
            approved: false,
        }
    }
}
