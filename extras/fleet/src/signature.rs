//! A signature, and the check of what it covers.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use nkeys::{KeyPair, KeyPairType};
use serde::{Deserialize, Serialize};

/// A text is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The text has no seed.
    #[error("it has no line with a private key (`SU…`)")]
    NoSeed,
    /// The seed is damaged.
    #[error("its private key is damaged: {0}")]
    Seed(String),
    /// The text is not a public key.
    #[error("`{0}` is no public key (`U` and 55 letters and digits)")]
    Public(String),
    /// The key cannot sign.
    #[error("it cannot sign: {0}")]
    Sign(String),
}

/// Checks the text of a public key.
///
/// # Errors
/// It is none.
pub fn check_public(text: &str) -> Result<(), KeyError> {
    let is_user = KeyPair::from_public_key(text).is_ok_and(|key| key.key_pair_type() == KeyPairType::User);
    if is_user { Ok(()) } else { Err(KeyError::Public(text.to_owned())) }
}

/// Who signed, for which fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetSignature {
    /// The public key.
    pub key: String,
    /// The name of the fleet.
    pub fleet: String,
    /// The signature, as Base64.
    pub signature: String,
}

impl FleetSignature {
    /// Returns `true` if it says that it is of the same key and for the same fleet.
    pub(crate) fn is_of(&self, other: &Self) -> bool {
        self.key == other.key && self.fleet == other.fleet
    }

    /// Returns `true` if the key that it names signed this content, as something of this kind.
    pub(crate) fn covers(&self, kind: &str, content: &[u8]) -> bool {
        let (Ok(()), Ok(key)) = (check_public(&self.key), KeyPair::from_public_key(&self.key)) else {
            return false;
        };
        let signature = BASE64_STANDARD.decode(&self.signature);
        signature.is_ok_and(|signature| {
            signature.len() == 64 && key.verify(&message(&self.fleet, kind, content), &signature).is_ok()
        })
    }
}

/// The bytes of a signature: a task is no cancellation, and neither is one of another fleet.
pub(crate) fn message(fleet: &str, kind: &str, content: &[u8]) -> Vec<u8> {
    let mut bytes = format!("deskhand {kind} of {fleet}\n").into_bytes();
    bytes.extend_from_slice(content);
    bytes
}
