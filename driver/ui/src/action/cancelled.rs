//! Completed part of a cancelled action.

use serde::{Deserialize, Serialize};

/// Completed part of a cancelled action. Exact: nothing follows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancellation {
    /// The inputs and edits that the application got from the call.
    #[serde(default, skip_serializing_if = "InputCounts::is_empty")]
    pub inputs: InputCounts,
    /// Progress of the action; `None` if the action does not consist of countable parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extent: Option<Extent>,
}

/// Number of inputs and edits of each kind that an application received.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputCounts {
    /// Characters that were typed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub characters: u64,
    /// Key chords that were pressed and released.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub chords: u64,
    /// Clicks; a double click counts once.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub clicks: u64,
    /// Notches of the wheel.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub notches: u64,
    /// Drags that reached their end.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub drags: u64,
    /// Drags that were taken back: what was dragged was let go where it had been.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub drags_taken_back: u64,
    /// Moves of the pointer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub moves: u64,
    /// Secrets of which some or all characters were typed; how many is not told.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub secrets: u64,
    /// Calls of the accessibility interface or of an application's own interface that change something.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub edits: u64,
    /// Programs that were started.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub launches: u64,
}

/// Progress of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// The kind of its parts.
    pub unit: ExtentUnit,
    /// Number of completed parts.
    pub done: u64,
    /// Total number of parts.
    pub total: u64,
    /// `true` if the application shows them; otherwise they were sent, and nothing shows their effect.
    pub shown: bool,
}

/// A kind of parts of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtentUnit {
    /// Characters of a text.
    Characters,
    /// Key chords of a sequence.
    Chords,
    /// Notches of the wheel.
    Notches,
    /// Cells of a table.
    Cells,
    /// Entries of a path through menus.
    Levels,
    /// Items of a selection.
    Items,
}

impl Cancellation {
    /// Describes the completed part.
    pub fn sentence(&self) -> String {
        super::words::interrupted(self)
    }
}

impl InputCounts {
    /// Returns `true` if the application got nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds other inputs.
    pub const fn add(&mut self, other: Self) {
        self.characters = self.characters.saturating_add(other.characters);
        self.chords = self.chords.saturating_add(other.chords);
        self.clicks = self.clicks.saturating_add(other.clicks);
        self.notches = self.notches.saturating_add(other.notches);
        self.drags = self.drags.saturating_add(other.drags);
        self.drags_taken_back = self.drags_taken_back.saturating_add(other.drags_taken_back);
        self.moves = self.moves.saturating_add(other.moves);
        self.secrets = self.secrets.saturating_add(other.secrets);
        self.edits = self.edits.saturating_add(other.edits);
        self.launches = self.launches.saturating_add(other.launches);
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}
