//! The tool `write_table`.

use deskhand_core::{intent::Does, ui::CellRef};
use deskhand_desktop::Desktop;
use deskhand_desktop_act::write_table;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::{CellText, ElementArgument, parse, table_target},
    registry::{Tool, ToolContext, ToolResult},
};

/// Writes rows into a spreadsheet or table and verifies every cell. Succeeds only if all cells hold the given values;
/// names wrong cells.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteTable {
    /// The table id.
    id: Option<ElementArgument>,
    /// The table name, instead of the id; default: the largest table in the window.
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
    /// The top left cell; default A1.
    #[serde(default = "first_cell")]
    start: String,
    /// The rows, each a list of values.
    rows: Vec<Vec<CellText>>,
}

fn first_cell() -> String {
    "A1".to_owned()
}

impl<D: Desktop> Tool<D> for WriteTable {
    const NAME: &'static str = "write_table";
    const DOES: Does = Does::Set;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let start: CellRef = parse(&input.start)?;
        let target = table_target(input.id, input.name);
        let rows: Vec<Vec<String>> =
            input.rows.into_iter().map(|row| row.into_iter().map(|cell| cell.0).collect()).collect();
        Ok(write_table(context.desktop, context.window()?, &target, start, &rows, &context.limits)
            .await?
            .into())
    }
}
