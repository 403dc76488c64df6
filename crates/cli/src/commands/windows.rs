//! `deskhand windows`: what is open.
use deskhand_desktop::Windowing as _;

use super::stage::{Stage, StagePlan, desktop_error};
use crate::{
    args::WindowsArgs,
    exit::{CommandResult, Exit},
    output::{Output, Stream},
    render::window_lines,
};

pub(crate) async fn windows(args: &WindowsArgs) -> CommandResult {
    let plan = StagePlan::of(&args.stage)?;
    let work = async |stage: &Stage| {
        let windows = stage.desktop.windows().await.map_err(|error| desktop_error(&error))?;
        let out = Output::to(Stream::Out);
        if args.json {
            out.pretty_json(&windows);
        } else if windows.is_empty() {
            Output::to(Stream::Error)
                .text("there is no window on this desktop; `--launch PROGRAM` opens one");
        } else {
            for line in window_lines(&windows) {
                out.line(&line.cut(out.width()));
            }
        }
        Ok(Exit::Success)
    };
    plan.work(work).await
}
