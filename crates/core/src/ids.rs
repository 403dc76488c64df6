//! Identifiers. Parsed once at the edge; inside, no stringly ids.
//!
//! Ids that a model may write (`w2`, `e17`, `a1`) carry a letter for their kind, so that a window, a control
//! and an agent can never be taken for each other, and stay valid for the life of the thing they name.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize, de};

/// An id that could not be read: the text, and the form that was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct ParseIdError {
    /// What was given.
    pub text: String,
    /// What an id of this kind looks like.
    pub expected: &'static str,
}

macro_rules! lettered_id {
    ($(#[$doc:meta])* $name:ident, $letter:literal, $expected:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($letter, "{}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.trim()
                    .strip_prefix($letter)
                    .and_then(|digits| digits.parse().ok())
                    .map(Self)
                    .ok_or_else(|| ParseIdError { text: text.to_owned(), expected: $expected })
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }
    };
}

lettered_id!(
    /// A top-level window, stable while the window exists.
    WindowId,
    "w",
    "a window id such as `w2`"
);
lettered_id!(
    /// A user interface element, stable while the element exists; unique across all windows of a desktop.
    ElementId,
    "e",
    "an element id such as `e17`"
);
lettered_id!(
    /// An agent that a sub-task can be assigned to and that owns no window.
    AgentId,
    "a",
    "an agent id such as `a1`"
);

/// The name of a session: a UUID (version 7, so that names sort by time), made by the runtime.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub String);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The number of an effect within its session, from 1. An event names the effect that it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EffectId(pub u64);

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
