//! The tool `zoom`.

use deskhand_desktop::Desktop;
use deskhand_desktop_act::{ZoomTarget, zoom};
use deskhand_machine::{command::ToolListingLevel, intent::Does, known_tools::ZOOM};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{
    arguments::ElementArgument,
    tool::{Tool, ToolContext, ToolError, ToolOutput, ToolResult},
};

/// Shows an element or an area of the window as a picture, enlarged if it is small.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Zoom {
    /// The element id.
    id: Option<ElementArgument>,
    /// The expected name.
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
    /// Left, top, right, bottom: fractions of the window, or pixels.
    area: Option<[f64; 4]>,
}

impl<D: Desktop> Tool<D> for Zoom {
    const NAME: &'static str = ZOOM;
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    const DOES: Does = Does::Read;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let part = match (input.id, input.area) {
            (Some(id), None) => ZoomTarget::Element { id: id.0, name: input.name },
            (None, Some(edges)) => ZoomTarget::Area(edges),
            (Some(_), Some(_)) | (None, None) => {
                let reason = "give either the `id` of an element or an `area`: [left, top, right, bottom] as fractions of the window";
                return Err(ToolError::Reply(reason.to_owned()));
            }
        };
        let zoomed = zoom(context.desktop, context.window()?, &part).await?;
        let edges @ [left, top, right, bottom] = zoomed.edges();
        let kept = context.keep_picture(zoomed.picture).await?;
        let across = f64::from(kept.region.width) / f64::from(kept.width.max(1));
        let size = match across {
            larger if larger < 1.0 => format!("{:.0} times as large", 1.0 / larger),
            smaller if smaller > 1.0 => "made smaller: a smaller area is shown in full size".to_owned(),
            _ => "in full size".to_owned(),
        };
        let said =
            format!("took a picture of the window from ({left}, {top}) to ({right}, {bottom}), {size}");
        let output = json!({
            "area": edges,
            "pixels": [kept.width, kept.height],
            "x": format!("{left} + {:.4} * (x in the picture, 0 to 1)", right - left),
            "y": format!("{top} + {:.4} * (y in the picture, 0 to 1)", bottom - top),
        });
        Ok(ToolOutput { picture: Some(kept), ..ToolOutput::read(said, output) })
    }
}
