//! The tool `read_table`.

use deskhand_desktop::Desktop;
use deskhand_desktop_act::read_table;
use deskhand_machine::intent::Does;
use deskhand_ui::CellRange;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::{ElementArgument, parse, table_target},
    tool::{Tool, ToolContext, ToolResult},
};

/// Returns the rows of a table, or the start of a large one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadTable {
    /// The element id.
    id: Option<ElementArgument>,
    /// That of the table, by default the largest.
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
    /// Such as A1:C5.
    range: Option<String>,
}

impl<D: Desktop> Tool<D> for ReadTable {
    const NAME: &'static str = "read_table";
    const DOES: Does = Does::Read;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let range = input.range.as_deref().map(parse::<CellRange>).transpose()?;
        let target = table_target(input.id, input.name);
        Ok(read_table(context.desktop, context.window()?, &target, range).await?.into())
    }
}
