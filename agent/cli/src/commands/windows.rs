//! `deskhand windows`: lists the open windows.
use deskhand_desktop::WindowManagement as _;

use deskhand_host::Workspace;

use super::host::{by_hand, work};
use crate::{
    args::WindowsArgs,
    exit::{CommandResult, Exit},
    output::{Output, OutputStream},
    render::window_lines,
};

pub(crate) async fn windows(args: &WindowsArgs) -> CommandResult {
    let plan = by_hand(&args.stage)?;
    let looking = async |workspace: &Workspace| {
        let windows = workspace.desktop.windows().await?;
        let out = Output::to(OutputStream::Out);
        if args.json {
            out.pretty_json(&windows);
        } else if windows.is_empty() {
            Output::to(OutputStream::Error)
                .text("no window is open on this desktop; `--launch PROGRAM` opens one");
        } else {
            for line in window_lines(&windows) {
                out.line(&line.cut(out.width()));
            }
        }
        Ok(Exit::Success)
    };
    work(&plan, looking).await
}
