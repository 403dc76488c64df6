//! Identifiers. Parsed once at the edge; typed inside.
//!
//! Ids in prompts and replies (`w2`, `e17`, `a1`, `r12`) start with a letter for their kind, so that a window, an element and an
//! agent cannot be confused. They stay valid for the life of the object and are never reused.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize, de};

/// An id that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct ParseIdError {
    /// The text.
    pub text: String,
    /// The expected form.
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
    /// A user interface element, stable while the element exists; unique on its desktop.
    ElementId,
    "e",
    "an element id such as `e17`"
);
lettered_id!(
    /// An agent without a window that sub-tasks can be assigned to.
    AgentId,
    "a",
    "an agent id such as `a1`"
);

lettered_id!(
    /// Something that a call returned, by which it can be looked up again: the number of the effect.
    ReadingId,
    "r",
    "the id of something that was read, such as `r12`"
);

impl From<EffectId> for ReadingId {
    fn from(effect: EffectId) -> Self {
        Self(u32::try_from(effect.0).unwrap_or(u32::MAX))
    }
}

/// The highest numbers of windows and elements that a session has seen. New ids start above them: an id is never used
/// twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IdsSeen {
    /// The highest number of a window.
    pub window: u32,
    /// The highest number of an element.
    pub element: u32,
}

impl IdsSeen {
    /// Records a window.
    pub fn saw_window(&mut self, id: WindowId) {
        self.window = self.window.max(id.0);
    }

    /// Records an element.
    pub fn saw_element(&mut self, id: ElementId) {
        self.element = self.element.max(id.0);
    }
}

/// The id of a session: a UUID version 7 (sorts by time), made by the runtime.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub String);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The number of an effect in its session, from 1. An event names the effect that it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EffectId(pub u64);

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
