//! The tool `select_cells`.

use deskhand_desktop::Desktop;
use deskhand_desktop_act::select_cells;
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use deskhand_ui::CellRanges;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::{ElementArgument, parse, table_target},
    tool::{Tool, ToolContext, ToolResult},
};

/// Selects a range of cells, or several.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SelectCells {
    /// The element id.
    id: Option<ElementArgument>,
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
    /// Such as A1:C5 or A7,D1:D7.
    range: String,
}

impl<D: Desktop> Tool<D> for SelectCells {
    const NAME: &'static str = "select_cells";
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    const DOES: Does = Does::Point;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let ranges: CellRanges = parse(&input.range)?;
        let target = table_target(input.id, input.name);
        Ok(select_cells(context.desktop, context.window()?, &target, &ranges, &context.limits).await?.into())
    }
}
