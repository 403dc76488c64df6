//! Installed applications.

use serde::{Deserialize, Serialize};

/// An application that a person would start from a menu, as its desktop entry names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct InstalledApplication {
    /// The id of the entry: `org.xfce.mousepad`.
    pub id: String,
    /// The display name: `Mousepad`.
    pub name: String,
    /// The file name of its program, if that alone means this application: `mousepad`. Else empty.
    pub program: String,
}

impl InstalledApplication {
    /// Whether a name means this application: its id, with or without `.desktop`, the last part of that, its display name, or
    /// its program, in any case.
    pub fn is_named(&self, wanted: &str) -> bool {
        let wanted = wanted.trim();
        let wanted = wanted.strip_suffix(".desktop").unwrap_or(wanted).to_lowercase();
        let last = self.id.rsplit('.').next().unwrap_or(&self.id);
        [&self.id, last, &self.name, &self.program]
            .iter()
            .any(|name| !name.is_empty() && name.to_lowercase() == wanted)
    }
}
