//! The tool `write_table`.

use deskhand_desktop::Desktop;
use deskhand_desktop_act::write_table;
use deskhand_machine::intent::Does;
use deskhand_ui::CellRef;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::{CellText, ElementArgument, parse, table_target},
    tool::{Tool, ToolContext, ToolResult},
};

/// Writes rows and reads every cell back.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteTable {
    /// The element id.
    id: Option<ElementArgument>,
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
    /// By default A1.
    #[serde(default = "first_cell")]
    start: String,
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
