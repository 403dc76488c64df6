//! The states of an element.

use std::fmt;

use serde::{Deserialize, Serialize, de};

macro_rules! states {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// One AT-SPI state (`AtspiStateType`).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum State {
            $($(#[$doc])* $name,)*
        }

        impl State {
            /// Every state, in the order in which they are printed.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The AT-SPI name, lower case.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The state with an AT-SPI name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|state| state.name() == name)
            }
        }
    };
}

states! {
    /// The active window or element.
    Active = "active",
    /// Busy and currently not accepting input.
    Busy = "busy",
    /// Can be checked.
    Checkable = "checkable",
    /// Is checked.
    Checked = "checked",
    /// Its text is editable.
    Editable = "editable",
    /// Enabled; together with `Sensitive` it decides whether a control accepts input.
    Enabled = "enabled",
    /// Can be expanded.
    Expandable = "expandable",
    /// Is expanded.
    Expanded = "expanded",
    /// Can take the keyboard focus.
    Focusable = "focusable",
    /// Has the keyboard focus.
    Focused = "focused",
    /// Its children exist only while in view; they must not be enumerated.
    ManagesDescendants = "manages-descendants",
    /// Blocks the other windows of its application.
    Modal = "modal",
    /// Holds several lines.
    MultiLine = "multi-line",
    /// Is pressed.
    Pressed = "pressed",
    /// Is read-only.
    ReadOnly = "read-only",
    /// Is a required field.
    Required = "required",
    /// Can be selected.
    Selectable = "selectable",
    /// Is selected.
    Selected = "selected",
    /// Accepts input. GTK reports it instead of, or in addition to, `Enabled`.
    Sensitive = "sensitive",
    /// Visible on screen, with all its ancestors.
    Showing = "showing",
    /// Is drawn if its ancestors are.
    Visible = "visible",
    /// The underlying object no longer exists.
    Defunct = "defunct",
}

/// A set of states. Serialised as a list of their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct States(u32);

impl States {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// Returns `true` if `state` is in the set.
    pub const fn has(self, state: State) -> bool {
        self.0 & (1 << state as u32) != 0
    }

    /// Adds `state`.
    pub const fn insert(&mut self, state: State) {
        self.0 |= 1 << state as u32;
    }

    /// Removes `state`.
    pub const fn remove(&mut self, state: State) {
        self.0 &= !(1 << state as u32);
    }

    /// The set with `state` added.
    #[must_use]
    pub const fn with(mut self, state: State) -> Self {
        self.insert(state);
        self
    }

    /// The states in the set.
    pub fn iter(self) -> impl Iterator<Item = State> {
        State::ALL.iter().copied().filter(move |state| self.has(*state))
    }

    /// Returns `true` if a control with these states accepts input: `Enabled` or `Sensitive`, and not `Defunct`.
    pub const fn takes_input(self) -> bool {
        (self.has(State::Enabled) || self.has(State::Sensitive)) && !self.has(State::Defunct)
    }
}

impl FromIterator<State> for States {
    fn from_iter<I: IntoIterator<Item = State>>(states: I) -> Self {
        states.into_iter().fold(Self::EMPTY, Self::with)
    }
}

impl Serialize for State {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for State {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::named(&name).ok_or_else(|| de::Error::custom(format_args!("unknown state `{name}`")))
    }
}

impl fmt::Display for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, state) in self.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            f.write_str(state.name())?;
        }
        Ok(())
    }
}

impl Serialize for States {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(State::name))
    }
}

impl<'de> Deserialize<'de> for States {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<State>::deserialize(deserializer).map(|states| states.into_iter().collect())
    }
}
