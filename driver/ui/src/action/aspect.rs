//! Changes of elements and windows, as types.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{State, ids::ElementId};

/// Changed aspect of an element. Back ends parse their events into this once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ElementChangeKind {
    /// Its name.
    Name,
    /// Its description.
    Description,
    /// Its text.
    Text,
    /// Its numeric value.
    Value,
    /// One of its states.
    State(State),
    /// Its children, rows or columns.
    Children,
    /// A child was added at this index.
    ChildAdded(usize),
    /// The child at this index was removed.
    ChildRemoved(usize),
    /// Its selected items or text.
    Selection,
    /// The child that is current in it.
    ActiveDescendant,
    /// Received the keyboard focus.
    Focus,
    /// The place of its caret.
    Caret,
    /// Its position or size.
    Bounds,
    /// Which part of it is in view.
    Viewport,
    /// Formatting of its text.
    Attributes,
    /// The state of a window or frame as a whole, such as being active or iconified.
    Window,
    /// The document in it was loaded.
    Document,
    /// Announced a message.
    Message,
    /// Anything else that a back end reports as a change of content.
    Other,
}

impl ElementChangeKind {
    /// Returns `true` if this is about the content of an element, as opposed to the pointer, the focus or the view passing by.
    pub const fn is_content(self) -> bool {
        match self {
            Self::State(state) => !matches!(
                state,
                State::Focused | State::Pressed | State::Active | State::Defunct | State::Modal
            ),
            Self::ActiveDescendant
            | Self::Focus
            | Self::Caret
            | Self::Bounds
            | Self::Viewport
            | Self::Attributes
            | Self::Window => false,
            Self::Name
            | Self::Description
            | Self::Text
            | Self::Value
            | Self::Children
            | Self::ChildAdded(_)
            | Self::ChildRemoved(_)
            | Self::Selection
            | Self::Document
            | Self::Message
            | Self::Other => true,
        }
    }
}

impl fmt::Display for ElementChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "name",
            Self::Description => "description",
            Self::Text => "text",
            Self::Value => "value",
            Self::State(state) => return write!(f, "state {}", state.name()),
            Self::Children | Self::ChildAdded(_) | Self::ChildRemoved(_) => "children",
            Self::Selection => "selection",
            Self::ActiveDescendant => "active descendant",
            Self::Focus => "focus",
            Self::Caret => "caret",
            Self::Bounds => "bounds",
            Self::Viewport => "viewport",
            Self::Attributes => "text attributes",
            Self::Window => "window state",
            Self::Document => "document",
            Self::Message => "announcement",
            Self::Other => "content",
        })
    }
}

/// One change that an application announced, or that was seen on the screen.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum UiChange {
    /// A window was mapped.
    WindowOpened {
        /// Its title.
        title: String,
    },
    /// A window went away.
    WindowClosed {
        /// Its title.
        title: String,
    },
    /// A title changed.
    TitleChanged {
        /// The new title.
        title: String,
    },
    /// Something of an element changed.
    Element {
        /// Changed aspect.
        aspect: ElementChangeKind,
        /// The element, if its id is known.
        element: Option<ElementId>,
    },
}

/// Event for which an application was given time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitedFor {
    /// The answer of an application that was busy.
    Answer,
    /// A first change.
    FirstChange,
    /// The end of announcements.
    Announcements,
    /// The end of drawing.
    Drawing,
    /// The end of changes to windows.
    Windows,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_survives_the_journal() {
        let changes = [
            ElementChangeKind::Name,
            ElementChangeKind::State(State::Checked),
            ElementChangeKind::ChildAdded(3),
        ]
        .map(|aspect| UiChange::Element { aspect, element: Some(ElementId(4)) });
        for change in changes.into_iter().chain([UiChange::TitleChanged { title: "A".to_owned() }]) {
            let text = serde_json::to_string(&change).unwrap();
            assert_eq!(serde_json::from_str::<UiChange>(&text).unwrap(), change, "{text}");
        }
    }
}
