//! Arguments of the commands that start a desktop or look at one.

use std::path::PathBuf;

use clap::Args;
use deskhand_host::config::ScreenSize;

use super::StageArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  deskhand desktop --launch mousepad       prints export lines; run them in another shell, then
  deskhand windows                         shows the windows of that desktop")]
pub(crate) struct DesktopCommandArgs {
    /// Screen size [default: 1920x1080].
    #[arg(long, value_name = "WxH")]
    pub(crate) size: Option<ScreenSize>,
    /// Start a program on it, by the name of its desktop entry or as a command.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) launch: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WindowsArgs {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) stage: StageArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  deskhand tree                            the active window
  deskhand tree Calc                       a window, by part of its title or its application
  deskhand tree --desktop virtual --launch mousepad
  deskhand tree Calc --ocr                 also the text that is only drawn
  deskhand tree Calc --verify              compare the cached tree with the application")]
pub(crate) struct TreeArgs {
    /// Window to show, by id, title or application [default: the active one].
    pub(crate) window: Option<String>,
    /// Most elements to read.
    #[arg(long, value_name = "N", default_value_t = 4_000)]
    pub(crate) nodes_max: usize,
    /// Compare the cached tree of the window with the application, and show every difference.
    #[arg(long, conflicts_with = "ocr")]
    pub(crate) verify: bool,
    /// Also read text from a picture of the window, regardless of `control_backend`; marked "by ocr".
    #[arg(long)]
    pub(crate) ocr: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) stage: StageArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ScreenshotArgs {
    /// File to write.
    pub(crate) file: PathBuf,
    /// Window to capture, by id, title or application [default: the whole screen].
    #[arg(long, short)]
    pub(crate) window: Option<String>,
    #[command(flatten)]
    pub(crate) stage: StageArgs,
}
