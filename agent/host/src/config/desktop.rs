//! Settings of the desktop to work on.

use std::{fmt, path::PathBuf, str::FromStr, time::Duration};

use deskhand_ui::geometry::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desktop to work on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DesktopSettings {
    /// Which desktop to use. By default, requests run on a virtual one. Commands that look or act by hand use the
    /// current one, or a virtual one if there is no display.
    pub kind: Option<DesktopKind>,
    /// The size of a virtual desktop's screen.
    pub size: ScreenSize,
    /// Condition for keeping the virtual desktop of a session when its run ends.
    pub keep: KeepSetting,
    /// Time to keep the virtual desktop of a session after its run ends or its process dies, in minutes, so that
    /// `deskhand resume` and `deskhand desktop attach` find the same windows. 0 ends the desktop with the process.
    pub keep_minutes: u64,
    /// Programs whose elements are never read, by file name: `["keepassxc"]`.
    pub exclude: Vec<String>,
    /// Confinement of the applications of a virtual desktop: no access to places of secrets, such as `~/.ssh`, to
    /// your session or to our own configuration, and no changes to the system. Needs `bubblewrap`.
    pub confine: ConfineSetting,
    /// If `true`, browsers on a virtual desktop start with their own protocol, by which agents read pages, answer the
    /// dialogs of scripts and open addresses. Browsers then disclose to pages that they are controlled
    /// (`navigator.webdriver`), which some pages refuse.
    pub pages: bool,
    /// Places that applications may see and change nevertheless: `["~/.aws", "/run/cups", "/srv/shared"]`.
    pub allow: Vec<PathBuf>,
}

/// Condition for keeping a virtual desktop when a run ends. A desktop whose process died is always kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeepSetting {
    /// Keep it if a document has unsaved changes, or if something was done and the outcome is not `finished`.
    Auto,
    /// Keep it.
    Always,
    /// End it. Unsaved changes are lost.
    Never,
}

/// Confinement of the applications of a virtual desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConfineSetting {
    /// Confine them; if that is not possible, they are not started.
    Required,
    /// Confine them if that is possible.
    IfPossible,
    /// Start them with all of your permissions.
    Off,
}

impl DesktopSettings {
    /// Returns the time for which a virtual desktop is kept.
    pub(crate) const fn kept_for(&self) -> Duration {
        Duration::from_secs(self.keep_minutes.saturating_mul(60))
    }
}

impl Default for DesktopSettings {
    fn default() -> Self {
        Self {
            kind: None,
            size: ScreenSize::default(),
            keep: KeepSetting::Auto,
            keep_minutes: 10,
            exclude: Vec::new(),
            confine: ConfineSetting::IfPossible,
            pages: true,
            allow: Vec::new(),
        }
    }
}

/// Which desktop to work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DesktopKind {
    /// A private desktop that is started for the request and ended after it.
    Virtual,
    /// The desktop that `WAYLAND_DISPLAY` or else `DISPLAY` names.
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
