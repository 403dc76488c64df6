//! `deskhand screenshot`: saves the screen or a window.

use std::path::Path;

use deskhand_desktop::{Capture as _, Picture};
use deskhand_host::Workspace;
use deskhand_runtime::private;

use super::host::{by_hand, work};
use crate::{
    args::ScreenshotArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Output, Stream},
};

pub(crate) async fn screenshot(args: &ScreenshotArgs) -> CommandResult {
    let plan = by_hand(&args.stage)?;
    let looking = async |workspace: &Workspace| {
        let picture = match &args.window {
            Some(wanted) => workspace.desktop.region(workspace.window(Some(wanted)).await?.bounds).await,
            None => workspace.desktop.screen().await,
        };
        let picture = picture?;
        save(&picture, &args.file)?;
        let size = format!("{}x{}", picture.region.width, picture.region.height);
        Output::to(Stream::Out).text(format!("{} ({size})", args.file.display()));
        Ok(Exit::Success)
    };
    work(&plan, looking).await
}

/// Writes a picture as a PNG file.
pub(super) fn save(picture: &Picture, file: &Path) -> Result<(), CliError> {
    let png = picture.to_png()?;
    private::write_file(file, &png)
        .map_err(|error| CliError::failed_to(format!("write {}", file.display()), error))
}
