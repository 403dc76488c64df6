//! The tool `write_table`.

use deskhand_core::ui::CellRef;
use deskhand_desktop::Desktop;
use deskhand_desktop_act::write_table;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::{CellText, ElementArgument, parse, table_target},
    registry::{Tool, ToolContext, ToolResult},
};

/// Writes rows of values into a spreadsheet or table and reads every cell back. It succeeds only when all cells
/// hold what was meant; wrong cells are named.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteTable {
    /// The id of the table.
    id: Option<ElementArgument>,
    /// The name of the table, instead of the id; without either it is the largest table in the window.
    name: Option<String>,
    /// The cell at the top left; A1 if not given.
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
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let start: CellRef = parse(&input.start)?;
        let target = table_target(input.id, input.name);
        let rows: Vec<Vec<String>> =
            input.rows.into_iter().map(|row| row.into_iter().map(|cell| cell.0).collect()).collect();
        Ok(write_table(context.desktop, context.window()?, &target, start, &rows, &context.limits).await?)
    }
}
