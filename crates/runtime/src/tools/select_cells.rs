//! The tool `select_cells`.

use deskhand_core::{intent::Does, ui::CellRange};
use deskhand_desktop::Desktop;
use deskhand_desktop_act::select_cells;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::{ElementArgument, parse, table_target},
    registry::{Tool, ToolContext, ToolResult},
};

/// Selects a range of cells, for example before inserting a chart.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SelectCells {
    /// The table id.
    id: Option<ElementArgument>,
    /// The table name, instead of the id; default: the largest table in the window.
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
    /// The cells, such as A1:C5.
    range: String,
}

impl<D: Desktop> Tool<D> for SelectCells {
    const NAME: &'static str = "select_cells";
    const DOES: Does = Does::Point;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let range: CellRange = parse(&input.range)?;
        let target = table_target(input.id, input.name);
        Ok(select_cells(context.desktop, context.window()?, &target, range, &context.limits).await?.into())
    }
}
