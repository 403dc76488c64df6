//! `deskhand screenshot`: a picture of the screen or of a window.

use deskhand_desktop::{Capture as _, Picture};
use std::{fs, path::Path};

use super::stage::{Stage, StagePlan, desktop_error};
use crate::{
    args::ScreenshotArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Output, Stream},
};

pub(crate) async fn screenshot(args: &ScreenshotArgs) -> CommandResult {
    let plan = StagePlan::of(&args.stage)?;
    let work = async |stage: &Stage| {
        let picture = match &args.window {
            Some(wanted) => stage.desktop.region(stage.window(Some(wanted)).await?.bounds).await,
            None => stage.desktop.screen().await,
        };
        let picture = picture.map_err(|error| desktop_error(&error))?;
        save(&picture, &args.file)?;
        let size = format!("{}x{}", picture.region.width, picture.region.height);
        Output::to(Stream::Out).text(format!("{} ({size})", args.file.display()));
        Ok(Exit::Success)
    };
    plan.work(work).await
}

/// Writes a picture as a PNG file.
pub(super) fn save(picture: &Picture, file: &Path) -> Result<(), CliError> {
    let png = picture.to_png().map_err(|error| desktop_error(&error))?;
    fs::write(file, png).map_err(|error| CliError::failed_to(format!("write {}", file.display()), error))
}
