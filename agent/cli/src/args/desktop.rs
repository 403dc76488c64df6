//! Arguments of the commands that start a desktop or look at one.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use deskhand_host::config::ScreenSize;

use super::{StageArgs, StoreArgs, TargetText};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  deskhand desktop --launch mousepad       prints export lines; run them in another shell, then
  deskhand windows                         shows the windows of that desktop
  deskhand desktop list                    the desktops of sessions that are still there
  deskhand desktop attach last             look at the desktop of the last session
  deskhand desktop end last                end it"
)]
pub(crate) struct DesktopCommandArgs {
    #[command(subcommand)]
    pub(crate) command: Option<DesktopCommand>,
    /// Screen size [default: 1920x1080].
    #[arg(long, value_name = "WxH")]
    pub(crate) size: Option<ScreenSize>,
    /// Start a program on it, by the name of its desktop entry or as a command.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) launch: Option<String>,
}

/// Manage the desktops of sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum DesktopCommand {
    /// List the desktops of sessions that are still there.
    List(ListDesktopsArgs),
    /// Show the desktop of a session over VNC, and print how other programs reach it. Keeps it until Ctrl-C, and then for
    /// `desktop.keep_minutes`.
    Attach(AttachDesktopArgs),
    /// End the desktop of a session. Unsaved changes are lost.
    End(EndDesktopArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListDesktopsArgs {
    /// Print JSON, one object per line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A VNC server listens on the loopback address, with a password of its own, if `x11vnc` is installed. While
a session works on its desktop, viewers can only look.")]
pub(crate) struct AttachDesktopArgs {
    /// Session: its id, the start or end of the id, or `last`.
    #[arg(default_value = "last")]
    pub(crate) session: String,
    /// Do not start a VNC server.
    #[arg(long)]
    pub(crate) no_vnc: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EndDesktopArgs {
    /// Session: its id, the start or end of the id, or `last`.
    #[arg(required_unless_present = "all")]
    pub(crate) session: Option<String>,
    /// End the desktops of all sessions that are not at work.
    #[arg(long, conflicts_with = "session")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
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
#[command(after_help = "\
Examples:
  deskhand screenshot screen.png
  deskhand screenshot dialog.png --window Notes
  deskhand screenshot total.png --window Calc --of E12           what is small is enlarged
  deskhand screenshot corner.png --window Calc --area 0,0,0.3,0.2")]
pub(crate) struct ScreenshotArgs {
    /// File to write.
    pub(crate) file: PathBuf,
    /// Window to capture, by id, title or application [default: the whole screen].
    #[arg(long, short)]
    pub(crate) window: Option<String>,
    /// Only this element of the window, enlarged if it is small.
    #[arg(long, value_name = "TARGET", requires = "window", conflicts_with = "area")]
    pub(crate) of: Option<TargetText>,
    /// Only what is between these edges of the window, enlarged if it is small: fractions of it, or pixels if one is above 1.
    #[arg(long, value_name = "LEFT,TOP,RIGHT,BOTTOM", requires = "window", value_parser = edges)]
    pub(crate) area: Option<[f64; 4]>,
    #[command(flatten)]
    pub(crate) stage: StageArgs,
}

/// The edges of an area.
fn edges(text: &str) -> Result<[f64; 4], String> {
    let edges: Option<Vec<f64>> = text.split(',').map(|edge| edge.trim().parse().ok()).collect();
    let four = edges.and_then(|edges| <[f64; 4]>::try_from(edges).ok());
    four.ok_or_else(|| format!("`{text}` is not four numbers: left, top, right, bottom"))
}
