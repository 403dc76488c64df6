//! The tool `calculate`: exact decimals, dates, and the cells of a table.
//!
//! - `parser` reads an expression, `functions` has what can be called, `value` what comes out.
//! - `numbers` reads the number that a cell shows.

mod functions;
mod numbers;
mod parser;
mod value;

use deskhand_desktop::Desktop;
use deskhand_desktop_act::read_table;
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use deskhand_ui::{CellRange, action::Verdict};
use numbers::DecimalMark;
use parser::{Expression, ExpressionCells};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{
    arguments::{ElementArgument, table_target},
    tool::{Tool, ToolContext, ToolError, ToolOutput, ToolResult},
};

/// The most cells that one expression may name.
const CELLS_MAX: u64 = 20_000;

/// Calculates with exact decimals, dates and cells of the window's table: `round(sum(C2:C20) * 1.19, 2)`, `2026-11-24 + 30 days`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Calculate {
    expression: String,
    /// The element id of the table.
    #[schemars(skip)]
    id: Option<ElementArgument>,
    #[schemars(skip)]
    name: Option<String>,
    /// The format of decimals in cells. The error for a cell that may be two numbers names this argument.
    #[schemars(skip)]
    decimal_mark: Option<DecimalMark>,
}

impl<D: Desktop> Tool<D> for Calculate {
    const NAME: &'static str = "calculate";
    const DOES: Does = Does::Read;
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let refused = |problem: String| ToolError::Reply(format!("{problem}; nothing was calculated"));
        let expression = Expression::parse(&input.expression).map_err(refused)?;
        let mut cells = ExpressionCells::new(input.decimal_mark);
        let target = table_target(input.id, input.name);
        for range in expression.ranges() {
            if range.cell_count() > CELLS_MAX {
                return Err(refused(format!("{range} has more than {CELLS_MAX} cells")));
            }
            let read = read_table(context.desktop, context.window()?, &target, Some(range)).await?;
            let rows = read.output.get("rows");
            let Some(rows) = rows.filter(|_| read.effect() == Verdict::Seen) else {
                return Err(refused(format!("the cells {range} cannot be read")));
            };
            cells.keep(range, rows_of(rows));
        }
        let value = expression.value(&cells).map_err(refused)?;
        let shown = value.to_string();
        let note = if value.is_rounded() { " (rounded)" } else { "" };
        Ok(ToolOutput::read(format!("{} = {shown}{note}", input.expression.trim()), json!({"value": shown})))
    }
}

fn rows_of(rows: &Json) -> Vec<Vec<String>> {
    let text = |cell: &Json| cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
    let row = |row: &Json| row.as_array().map(|cells| cells.iter().map(text).collect()).unwrap_or_default();
    rows.as_array().map(|rows| rows.iter().map(row).collect()).unwrap_or_default()
}

/// A range that an expression names, as its text.
fn range_of(text: &str) -> Option<CellRange> {
    text.parse().ok()
}

#[cfg(test)]
#[path = "calculate_tests.rs"]
mod tests;
