//! Why nothing shows whether an action worked.

use serde::{Deserialize, Serialize};

use super::{Blindness, Cancellation, ElementDelta, ElementRef};

/// Why there is no way to tell whether an action worked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "uncertainty", rename_all = "snake_case")]
pub enum Uncertainty {
    /// Another element than the target changed, and says nothing that it did not say before.
    Elsewhere {
        /// The element as it was before.
        element: ElementRef,
        /// Its new state.
        now: ElementDelta,
    },
    /// The action was accepted, and nothing shows whether it had an effect.
    NothingShown,
    /// Pixels changed, and the application exposes nothing of it.
    Pixels {
        /// `true` if the target was found in a picture, so that nothing else was to be expected.
        in_picture: bool,
    },
    /// The target cannot be read any more.
    Unreadable {
        /// The error.
        error: String,
    },
    /// The text was written without being read back.
    Blind {
        /// Why.
        why: Blindness,
    },
    /// The file of the document did not change, and the application does not tell whether it has unsaved changes.
    FileUnchanged {
        /// The file, if it is known.
        path: Option<String>,
    },
    /// The action was cancelled. The inputs sent are recorded, and nothing shows their effect in the application.
    Cancelled {
        /// Inputs sent.
        cancellation: Cancellation,
    },
}
