//! Pictures by reference.

use serde::{Deserialize, Serialize};

use crate::geometry::{Rect, Screen};

/// A picture that is stored beside the journal under the hash of its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PictureRef {
    /// SHA-256 of the file, lower-case hexadecimal.
    pub sha256: String,
    /// `image/png`.
    pub media_type: String,
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// The part of the screen that it shows.
    pub region: Rect<Screen>,
}
