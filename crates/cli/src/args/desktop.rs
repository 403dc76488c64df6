//! Arguments of the commands that start a desktop or look at one.

use std::path::PathBuf;

use clap::Args;
use deskhand_host::config::ScreenSize;

use super::StageArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  deskhand desktop --launch mousepad       prints three export lines; type them into another shell, then
  deskhand windows                         works on that desktop")]
pub(crate) struct DesktopCommandArgs {
    /// The size of the screen [default: 1920x1080].
    #[arg(long, value_name = "WxH")]
    pub(crate) size: Option<ScreenSize>,
    /// Start a program on it, by the name of its desktop entry or as a command.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) launch: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WindowsArgs {
    #[command(flatten)]
    pub(crate) stage: StageArgs,
    /// Write the windows as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  deskhand tree                            the active window
  deskhand tree Calc                       by a part of the title, or the application
  deskhand tree --desktop virtual --launch mousepad
  deskhand tree Calc --ocr                 with the text that is drawn and not among the elements
  deskhand tree Calc --verify              is what is remembered what is there?")]
pub(crate) struct TreeArgs {
    /// The window, by id, title or application [default: the active one].
    pub(crate) window: Option<String>,
    #[command(flatten)]
    pub(crate) stage: StageArgs,
    /// The most elements.
    #[arg(long, value_name = "N", default_value_t = 4_000)]
    pub(crate) nodes_max: usize,
    /// Hold the mirror of the window against the application itself, and show every difference.
    #[arg(long, conflicts_with = "ocr")]
    pub(crate) verify: bool,
    /// Also read the text in its picture, whatever `control_backend` says; marked "by ocr".
    #[arg(long)]
    pub(crate) ocr: bool,
    /// Write the window and its elements as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ScreenshotArgs {
    /// Where to write the picture.
    pub(crate) file: PathBuf,
    /// The window, by id, title or application [default: the whole screen].
    #[arg(long, short)]
    pub(crate) window: Option<String>,
    #[command(flatten)]
    pub(crate) stage: StageArgs,
}
