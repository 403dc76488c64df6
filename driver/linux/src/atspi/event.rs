//! The events of AT-SPI, parsed once as they arrive.

use deskhand_desktop::ElementChangeKind;
use deskhand_ui::State;

use super::wire::ObjectRef;

/// Event of an object. [`AtspiEvent::Other`] stands for all events that nothing depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtspiEvent {
    /// A state was set or cleared.
    State { state: State, is_set: bool },
    /// A window was iconified or restored.
    Iconified,
    /// A state changed that [`State`] does not have.
    OtherState,
    /// The name changed.
    Name,
    /// The description changed.
    Description,
    /// The numeric value changed.
    Value,
    /// A property changed that is not read.
    OtherProperty,
    /// A child was removed.
    ChildRemoved,
    /// Children were added or replaced.
    ChildrenChanged,
    /// Rows or columns were inserted, deleted or reordered, or the whole model changed.
    ModelChanged,
    /// Text was inserted or deleted.
    Text,
    /// Other text is selected.
    TextSelection,
    /// Text is formatted differently.
    TextAttributes,
    /// Attributes of the object changed.
    Attributes,
    /// Other children are selected.
    Selection,
    /// Another child is the current one.
    ActiveDescendant,
    /// The caret moved.
    Caret,
    /// The position or size changed.
    Bounds,
    /// Another part is in view.
    Viewport,
    /// The object announced a message.
    Message,
    /// A window was opened, closed or renamed.
    WindowListed,
    /// Anything else that happens to a window, such as being activated or moved.
    Window,
    /// A document was loaded.
    Document,
    /// Anything else.
    Other,
}

/// Announcement of an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Announcement {
    /// The object concerned.
    pub(crate) object: ObjectRef,
    /// Event of the object.
    pub(crate) event: AtspiEvent,
    /// The other object concerned, such as the child that was added.
    pub(crate) other: Option<ObjectRef>,
}

impl AtspiEvent {
    /// The event of a signal; `None` for a signal that is not about objects, windows or documents. `detail` is its first
    /// argument, such as `checked` or `insert:system`; `first` its first number, which says whether a state was set.
    pub(super) fn parse(interface: &str, member: &str, detail: &str, first: i32) -> Option<Self> {
        let detail = detail.split(':').next().unwrap_or_default();
        match interface.rsplit('.').next() {
            Some("Window") => match member {
                "Create" | "Destroy" | "Close" | "PropertyChange" => Some(Self::WindowListed),
                _ => Some(Self::Window),
            },
            Some("Document") => Some(Self::Document),
            Some("Object") => Some(Self::parse_object(member, detail, first)),
            _ => None,
        }
    }

    fn parse_object(member: &str, detail: &str, first: i32) -> Self {
        match member {
            "StateChanged" => Self::parse_state(detail, first != 0),
            "PropertyChange" => match detail {
                "accessible-name" => Self::Name,
                "accessible-description" => Self::Description,
                "accessible-value" => Self::Value,
                _ => Self::OtherProperty,
            },
            "ChildrenChanged" if detail == "remove" => Self::ChildRemoved,
            "ChildrenChanged" => Self::ChildrenChanged,
            "ModelChanged" | "RowInserted" | "RowDeleted" | "RowReordered" | "ColumnInserted"
            | "ColumnDeleted" | "ColumnReordered" => Self::ModelChanged,
            "TextChanged" => Self::Text,
            "TextSelectionChanged" => Self::TextSelection,
            "TextAttributesChanged" => Self::TextAttributes,
            "AttributesChanged" => Self::Attributes,
            "SelectionChanged" => Self::Selection,
            "ActiveDescendantChanged" => Self::ActiveDescendant,
            "TextCaretMoved" => Self::Caret,
            "BoundsChanged" => Self::Bounds,
            "VisibleDataChanged" => Self::Viewport,
            "Announcement" => Self::Message,
            _ => Self::Other,
        }
    }

    fn parse_state(name: &str, is_set: bool) -> Self {
        match name {
            "iconified" => Self::Iconified,
            // A button is armed on the way to being pressed.
            "armed" => Self::State { state: State::Pressed, is_set },
            "collapsed" => Self::State { state: State::Expanded, is_set: !is_set },
            _ => State::named(name).map_or(Self::OtherState, |state| Self::State { state, is_set }),
        }
    }

    /// The aspect of the object that changed.
    pub(crate) const fn aspect(self) -> ElementChangeKind {
        match self {
            Self::State { state: State::Focused, is_set: true } => ElementChangeKind::Focus,
            Self::State { state, .. } => ElementChangeKind::State(state),
            Self::Name => ElementChangeKind::Name,
            Self::Description => ElementChangeKind::Description,
            Self::Value => ElementChangeKind::Value,
            Self::Bounds => ElementChangeKind::Bounds,
            Self::ChildRemoved | Self::ChildrenChanged | Self::ModelChanged => ElementChangeKind::Children,
            Self::Text => ElementChangeKind::Text,
            Self::TextSelection | Self::Selection => ElementChangeKind::Selection,
            Self::TextAttributes => ElementChangeKind::Attributes,
            Self::ActiveDescendant => ElementChangeKind::ActiveDescendant,
            Self::Caret => ElementChangeKind::Caret,
            Self::Viewport => ElementChangeKind::Viewport,
            Self::Message => ElementChangeKind::Message,
            Self::Iconified | Self::WindowListed | Self::Window => ElementChangeKind::Window,
            Self::Document => ElementChangeKind::Document,
            Self::OtherState | Self::OtherProperty | Self::Attributes | Self::Other => {
                ElementChangeKind::Other
            }
        }
    }

    /// Returns `true` if it names another object that matters, such as the child that was added.
    pub(super) const fn names_another(self) -> bool {
        matches!(self, Self::ChildRemoved | Self::ChildrenChanged | Self::ActiveDescendant)
    }

    /// Returns `true` if the object reported itself gone.
    pub(crate) const fn is_defunct(self) -> bool {
        matches!(self, Self::State { state: State::Defunct, is_set: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_signal_is_parsed_to_its_event_and_aspect() {
        let check =
            |kind: &str, member: &str, detail: &str, first, event, aspect: ElementChangeKind, is_content| {
                let parsed =
                    AtspiEvent::parse(&format!("org.a11y.atspi.Event.{kind}"), member, detail, first)
                        .unwrap();
                assert_eq!((parsed, parsed.aspect()), (event, aspect), "{kind}:{member}:{detail}");
                assert_eq!(aspect.is_content(), is_content, "{kind}:{member}:{detail}");
            };
        let state = |state, is_set| AtspiEvent::State { state, is_set };
        let object = |member, detail, first, event, aspect, is_content| {
            check("Object", member, detail, first, event, aspect, is_content);
        };
        object(
            "StateChanged",
            "checked",
            1,
            state(State::Checked, true),
            ElementChangeKind::State(State::Checked),
            true,
        );
        object("StateChanged", "focused", 1, state(State::Focused, true), ElementChangeKind::Focus, false);
        let unfocused = ElementChangeKind::State(State::Focused);
        object("StateChanged", "focused", 0, state(State::Focused, false), unfocused, false);
        object(
            "StateChanged",
            "armed",
            1,
            state(State::Pressed, true),
            ElementChangeKind::State(State::Pressed),
            false,
        );
        let expanded = ElementChangeKind::State(State::Expanded);
        object("StateChanged", "collapsed", 1, state(State::Expanded, false), expanded, true);
        object("StateChanged", "iconified", 1, AtspiEvent::Iconified, ElementChangeKind::Window, false);
        object("StateChanged", "indeterminate", 1, AtspiEvent::OtherState, ElementChangeKind::Other, true);
        object("TextChanged", "insert:system", 0, AtspiEvent::Text, ElementChangeKind::Text, true);
        object("TextSelectionChanged", "", 0, AtspiEvent::TextSelection, ElementChangeKind::Selection, true);
        object("PropertyChange", "accessible-name", 0, AtspiEvent::Name, ElementChangeKind::Name, true);
        object("BoundsChanged", "", 0, AtspiEvent::Bounds, ElementChangeKind::Bounds, false);
        object(
            "PropertyChange",
            "accessible-role",
            0,
            AtspiEvent::OtherProperty,
            ElementChangeKind::Other,
            true,
        );
        object("ChildrenChanged", "add", 0, AtspiEvent::ChildrenChanged, ElementChangeKind::Children, true);
        object(
            "ChildrenChanged",
            "remove:system",
            0,
            AtspiEvent::ChildRemoved,
            ElementChangeKind::Children,
            true,
        );
        object("RowInserted", "", 0, AtspiEvent::ModelChanged, ElementChangeKind::Children, true);
        object(
            "ActiveDescendantChanged",
            "",
            0,
            AtspiEvent::ActiveDescendant,
            ElementChangeKind::ActiveDescendant,
            false,
        );
        object("LinkSelected", "", 0, AtspiEvent::Other, ElementChangeKind::Other, true);
        check("Window", "Activate", "", 0, AtspiEvent::Window, ElementChangeKind::Window, false);
        check("Window", "Create", "", 0, AtspiEvent::WindowListed, ElementChangeKind::Window, false);
        check(
            "Window",
            "PropertyChange",
            "accessible-name",
            0,
            AtspiEvent::WindowListed,
            ElementChangeKind::Window,
            false,
        );
        check("Document", "LoadComplete", "", 0, AtspiEvent::Document, ElementChangeKind::Document, true);
        assert_eq!(AtspiEvent::parse("org.a11y.atspi.Event.Mouse", "Button", "1p", 0), None);
    }

    #[test]
    fn only_a_defunct_state_that_is_set_means_gone() {
        let defunct = |first| {
            AtspiEvent::parse("org.a11y.atspi.Event.Object", "StateChanged", "defunct", first).unwrap()
        };
        assert!(defunct(1).is_defunct());
        assert!(!defunct(0).is_defunct());
    }
}
