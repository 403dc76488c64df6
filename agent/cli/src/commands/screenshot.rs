//! `deskhand screenshot`: saves the screen, a window, or a part of one.

use std::path::Path;

use deskhand_desktop::{Capture as _, DesktopError, Picture};
use deskhand_desktop_act::{ActionTarget, ZoomTarget, zoom};
use deskhand_host::Workspace;
use deskhand_runtime::private;
use deskhand_ui::WindowInfo;

use super::{
    host::{by_hand, work},
    target::find,
};
use crate::{
    args::ScreenshotArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream},
};

pub(crate) async fn screenshot(args: &ScreenshotArgs) -> CommandResult {
    let plan = by_hand(&args.stage)?;
    let looking = async |workspace: &Workspace| {
        let picture = match &args.window {
            Some(wanted) => picture_in(workspace, &workspace.window(Some(wanted)).await?, args).await?,
            None => workspace.desktop.screen().await?,
        };
        save(&picture, &args.file)?;
        let size = format!("{}x{}", picture.region.width, picture.region.height);
        Output::to(OutputStream::Out).text(format!("{} ({size})", args.file.display()));
        Ok(Exit::Success)
    };
    work(&plan, looking).await
}

/// A picture of a window or of a part of it.
async fn picture_in(
    workspace: &Workspace,
    window: &WindowInfo,
    args: &ScreenshotArgs,
) -> Result<Picture, CliError> {
    let part = match (&args.of, args.area) {
        (Some(target), _) => match find(&workspace.desktop, window, target).await?.target {
            ActionTarget::Element { id, name } => ZoomTarget::Element { id, name },
            ActionTarget::Point(_) => {
                return Err(CliError::usage("--of needs an element, not a point")
                    .with_help("`--area` takes a part of the window by its edges"));
            }
        },
        (None, Some(edges)) => ZoomTarget::Area(edges),
        (None, None) => return Ok(workspace.desktop.region(window.bounds).await?),
    };
    match zoom(&workspace.desktop, window.id, &part).await {
        Ok(zoomed) => Ok(zoomed.picture.enlarged(/*side_max*/ 0)),
        Err(DesktopError::Refused(refusal)) => Err(CliError::new(refusal.reason())),
        Err(error) => Err(error.into()),
    }
}

/// Writes a picture as a PNG file.
pub(super) fn save(picture: &Picture, file: &Path) -> Result<(), CliError> {
    let png = picture.to_png()?;
    private::write_file(file, &png)
        .map_err(|error| CliError::failed_to(format!("write {}", file.display()), error))
}
