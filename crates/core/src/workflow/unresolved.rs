//! An element of a step that was not found.

use serde_json::{Map, Value};

use super::selector::Selector;
use crate::{known_tools::WAIT_FOR, reply::ProposedAction};

/// How long is waited for an element that is not there yet, in seconds.
const WAIT_SECONDS: u64 = 5;

/// An element that was not found.
pub(super) struct Unresolved {
    pub(super) argument: String,
    pub(super) selector: Box<Selector>,
    /// Whether a dialog is in front of its window.
    pub(super) blocked: bool,
    /// Whether nothing of its name is shown, and nothing stands in its place.
    pub(super) absent: bool,
    pub(super) text: String,
}

impl Unresolved {
    /// A wait for it; `None` if it has no name to wait for.
    pub(super) fn wait(&self) -> Option<ProposedAction> {
        let name = self.selector.name.as_ref().filter(|name| name.is_literal() && !self.blocked)?;
        let mut arguments = Map::from_iter([("name".to_owned(), Value::from(name.plain()))]);
        arguments.insert("seconds".to_owned(), Value::from(WAIT_SECONDS));
        Some(ProposedAction { function: WAIT_FOR.to_owned(), arguments, expect: None, carries: Vec::new() })
    }
}
