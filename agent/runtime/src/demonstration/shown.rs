//! Interpretation of a demonstration.

use std::{sync::Arc, time::Instant};

use deskhand_machine::{
    command::{CallResult, ToolCommand},
    intent,
};
use deskhand_secret::{SecretValue, Veil};
use deskhand_ui::{Element, WindowView, ids::ElementId};
use serde::{Serialize, de::DeserializeOwned};

/// Acts of a person, as a workflow would perform them.
#[derive(Debug, Clone, Default)]
pub struct DemonstratedActs {
    /// Acts, in order.
    pub acts: Vec<ShownAct>,
    /// Notes on the parts that were left out, a sentence each.
    pub notes: Vec<String>,
    /// The files of the documents that were open from the beginning and were worked on.
    pub documents: Vec<String>,
    /// Hides the passwords that were typed: an application may show one elsewhere.
    passwords: Veil,
    /// Their values.
    typed: Vec<SecretValue>,
}

/// Something that a person did.
#[derive(Debug, Clone)]
pub struct ShownAct {
    /// Description of the act in words.
    pub about: String,
    /// The call that does the same.
    pub command: ToolCommand,
    /// Result of the act.
    pub result: CallResult,
    /// The window before it.
    pub view: Arc<WindowView>,
    /// When it was done.
    pub at: Instant,
}

impl DemonstratedActs {
    /// Hides a password from now on.
    pub(super) fn hide(&mut self, password: &str) {
        if let Some(value) = SecretValue::typed(password) {
            self.passwords.add_typed("password", &value, /*everywhere*/ true);
            self.typed.push(value);
        }
    }

    /// The passwords that were typed, to be hidden elsewhere as well.
    pub(crate) fn passwords(&self) -> &[SecretValue] {
        &self.typed
    }

    /// Data that is written, such as a workflow, without the passwords that were typed.
    ///
    /// # Errors
    /// It is no such data any more without them.
    pub fn without_passwords<T: Serialize + DeserializeOwned>(
        &self,
        data: T,
    ) -> Result<T, serde_json::Error> {
        self.passwords.hide_in(data)
    }

    /// Returns `true` if the window of an act showed a password that was typed, so that no picture of it may be kept.
    pub fn shows_password(&self, act: &ShownAct) -> bool {
        !self.passwords.is_empty()
            && serde_json::to_string(&*act.view).map_or(true, |view| self.passwords.is_in(&view))
    }
}

impl ShownAct {
    /// The element that it was aimed at.
    pub fn target(&self) -> Option<&Element> {
        let id: ElementId = self.command.arguments.get("id").and_then(intent::element_id)?;
        self.view.elements().find(|element| element.id == id)
    }
}
