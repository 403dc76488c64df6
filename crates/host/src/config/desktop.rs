//! What can be configured of the desktop that work is done on.

use std::{fmt, str::FromStr};

use deskhand_core::geometry::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where work is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DesktopSettings {
    /// Which desktop; without it requests are carried out on a virtual one, and commands that only look at a desktop or
    /// act by hand take the current one, or a virtual one if there is no display.
    pub kind: Option<DesktopKind>,
    /// The size of a virtual desktop's screen.
    pub size: ScreenSize,
    /// How long the virtual desktop of a session is kept when its process dies, in minutes, for `deskhand resume` to go on
    /// in the same windows; 0 to end it with the process.
    pub keep_minutes: u64,
    /// Programs whose elements are never read, by the names of their files: `["keepassxc"]`.
    pub exclude: Vec<String>,
}

impl Default for DesktopSettings {
    fn default() -> Self {
        Self { kind: None, size: ScreenSize::default(), keep_minutes: 10, exclude: Vec::new() }
    }
}

/// Which desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DesktopKind {
    /// A private one, started for the request and gone after it.
    Virtual,
    /// The one that `DISPLAY` names.
    Current,
}

/// The size of a screen, `1920x1080`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(
    with = "String",
    extend("x-expects" = "a size such as \"1920x1080\" (each side 320 to 16384)")
)]
pub struct ScreenSize(pub Size);

impl Default for ScreenSize {
    fn default() -> Self {
        Self(Size { width: 1920, height: 1080 })
    }
}

impl FromStr for ScreenSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl TryFrom<String> for ScreenSize {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ScreenSize> for String {
    fn from(size: ScreenSize) -> Self {
        size.to_string()
    }
}

impl fmt::Display for ScreenSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
