//! Passwords and withheld texts of a session, by the dots that stand for them.

use serde::{Deserialize, Serialize};

use super::{
    hiding::Values,
    password::{KeptTexts, TypedPassword},
};
use crate::policy::PasswordPlace;
use deskhand_ui::{
    Role,
    secret::{DOTS, SecretPermit},
};

/// The most texts that are withheld in a session; further ones are recorded as they are.
const WITHHELD_MAX: usize = 4_000;

/// The passwords that were typed without a reference, and the texts that may be passwords.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct PasswordLedger {
    typed: Vec<TypedPassword>,
    /// The dots of all texts that were withheld because their field was not known.
    withheld: Vec<String>,
}

impl PasswordLedger {
    /// Takes in passwords that were typed.
    pub(super) fn add_typed(&mut self, passwords: &[TypedPassword]) {
        self.typed.extend(passwords.iter().cloned());
    }

    /// Takes in the dots of texts that are withheld.
    pub(super) fn add_withheld(&mut self, dots: &[String]) {
        self.withheld.extend(dots.iter().cloned());
    }

    /// The password that dots stand for.
    pub(super) fn typed(&self, dots: &str) -> Option<&TypedPassword> {
        self.typed.iter().find(|one| one.dots == dots)
    }

    /// The origin of the password that dots stand for, if the user has not provided it.
    pub(super) fn source_of(&self, dots: &str) -> Option<String> {
        self.typed(dots)?.from.clone()
    }

    /// Returns `true` if dots stand for a password or a withheld text.
    pub(super) fn is_known(&self, dots: &String) -> bool {
        self.withheld.contains(dots) || self.typed(dots).is_some()
    }

    /// Returns `true` if no more texts can be withheld.
    pub(super) const fn is_full(&self) -> bool {
        self.withheld.len() >= WITHHELD_MAX
    }

    /// Dots that stand for nothing yet, if `found` have been found besides.
    pub(super) fn new_dots(&self, found: usize) -> String {
        let known = self.typed.len().saturating_add(self.withheld.len());
        format!("{DOTS}{}", known.saturating_add(found).saturating_add(1))
    }

    /// Returns `true` if a password may be typed into such a field.
    pub(super) fn is_typed_into(&self, dots: &str, place: &PasswordPlace) -> bool {
        self.typed
            .iter()
            .any(|one| one.dots == dots && one.application == place.application && one.host == place.host)
    }

    /// The texts that are withheld and that this process knows.
    pub(super) fn withheld_values(&self, kept: &KeptTexts<'_>) -> Values {
        let is_password = |dots: &String| self.typed.iter().any(|one| one.dots == *dots);
        let withheld = self.withheld.iter().filter(|dots| !is_password(dots));
        withheld.filter_map(|dots| Some((dots.clone(), (kept.value_of)(dots)?))).collect()
    }

    /// Returns the permits for typing secrets: those of the configuration, and passwords that were typed before.
    pub(super) fn permits(&self, configured: &[SecretPermit]) -> Vec<SecretPermit> {
        let typed = self.typed.iter().map(|password| SecretPermit {
            name: password.dots.clone(),
            application: password.application.clone(),
            role: Role::PASSWORD_TEXT.name().to_owned(),
            host: password.host.clone(),
            window: "*".to_owned(),
        });
        let is_password = |dots: &&String| self.typed.iter().any(|one| one.dots == **dots);
        let withheld = self.withheld.iter().filter(|dots| !is_password(dots));
        let withheld = withheld.map(|dots| SecretPermit::withheld(dots.clone()));
        configured.iter().cloned().chain(typed).chain(withheld).collect()
    }
}
