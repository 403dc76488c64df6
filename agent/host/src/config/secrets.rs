//! Settings of secrets: where each comes from, and where it may be typed.

use std::{collections::BTreeMap, path::PathBuf};

use deskhand_ui::secret::{SecretPermit, is_name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// A secret that agents type by its name, `secret:NAME`, without ever seeing it. It has exactly one source: `file`, `env` or
/// `service`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretSettings {
    /// A file that holds it in its only line. It must be yours and readable by you alone (`chmod 600`).
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// The environment variable that holds it. No program that is started gets this variable.
    #[serde(default)]
    pub env: Option<String>,
    /// The attributes by which the Secret Service (the key ring of your desktop session) finds it: `{ service = "shop", user = "ada" }`.
    #[serde(default)]
    pub service: BTreeMap<String, String>,
    /// The application that it may be typed into: its display name or its short name. `*` is any text, `?` one character, `|` separates
    /// alternatives.
    pub application: String,
    /// The role of the field that it may be typed into: `password text`, `entry` or `text`; `terminal` must be named.
    #[serde(default = "password")]
    pub role: String,
    /// The host of the page that the field may be in: `shop.example|*.shop.example`. Without it, the field may be in no page.
    #[serde(default)]
    pub host: Option<String>,
    /// The title of the window, dialog or pop-up. The application writes it.
    #[serde(default = "any")]
    pub window: String,
}

fn password() -> String {
    "password text".to_owned()
}

fn any() -> String {
    "*".to_owned()
}

/// Source of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretOrigin {
    /// A private file.
    File(PathBuf),
    /// An environment variable.
    Environment(String),
    /// The Secret Service, by attributes.
    Service(BTreeMap<String, String>),
}

impl SecretSettings {
    /// Returns the source of the secret.
    ///
    /// # Errors
    /// [`ConfigError::Unfit`] if it has no source or more than one, or an invalid name.
    pub fn origin(&self, name: &str) -> Result<SecretOrigin, ConfigError> {
        let unfit = |problem: &str, fix: &str| ConfigError::Unfit {
            key: format!("secrets.{name}"),
            problem: problem.to_owned(),
            fix: fix.to_owned(),
        };
        if !is_name(name) {
            return Err(unfit("it is no name", "use letters from a to z, digits, `-` and `_`"));
        }
        let mut origins = [
            self.file.clone().map(SecretOrigin::File),
            self.env.clone().map(SecretOrigin::Environment),
            Some(self.service.clone()).filter(|attributes| !attributes.is_empty()).map(SecretOrigin::Service),
        ]
        .into_iter()
        .flatten();
        match (origins.next(), origins.next()) {
            (Some(origin), None) => Ok(origin),
            (None, _) => Err(unfit("it has no source", "set one of `file`, `env`, `service`")),
            (Some(_), Some(_)) => {
                Err(unfit("it has several sources", "set only one of `file`, `env`, `service`"))
            }
        }
    }

    /// Returns the places where the secret may be typed.
    pub fn to_permit(&self, name: &str) -> SecretPermit {
        SecretPermit {
            name: name.to_owned(),
            application: self.application.clone(),
            role: self.role.clone(),
            host: self.host.clone(),
            window: self.window.clone(),
        }
    }
}
