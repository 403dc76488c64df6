//! Selecting a range of cells for the next command.

use deskhand_desktop::{Desktop, DesktopResult};
use deskhand_ui::{
    CellRange, CellRanges, TableShape,
    action::{
        ActionKind, ActionOutcome, ActionProof, ActionRefusal, ActionRoute, Aim, ArgumentProblem, Evidence,
        Shortfall,
    },
    ids::WindowId,
};

use crate::{
    report::{ActLimits, ActionReport, Halt, carry_out},
    select_range::{CellSelectionState, select_range},
    select_ranges::select_several,
    surfaces::{bring_to_front, modal_in_front, surfaces},
    table::{TableTarget, find_table},
};

/// The most ranges that are selected at once.
const RANGES_MAX: usize = 20;

/// Selects a range of cells: a small one with the arrow keys, otherwise by the name box. Verified by the states of the cells
/// at its corners and just outside of it, or by the text of the name box. Of several ranges, the further ones are added by clicks.
///
/// # Errors
/// [`DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn select_cells<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &TableTarget,
    ranges: &CellRanges,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    let act = ActionKind::SelectCells { range: ranges.clone() };
    carry_out(act, select(desktop, window, target, ranges, limits)).await
}

async fn select<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &TableTarget,
    ranges: &CellRanges,
    limits: &ActLimits,
) -> Result<ActionOutcome, Halt> {
    if ranges.ranges().count() > RANGES_MAX {
        let max = u64::try_from(RANGES_MAX).unwrap_or(u64::MAX);
        return Err(ActionRefusal::from(ArgumentProblem::Ranges { max }).into());
    }
    let (surface, table) = Box::pin(find_table(desktop, window, target)).await?;
    let shape = table.table.unwrap_or(TableShape { rows: 0, columns: 0 });
    let is_outside = |range: &CellRange| range.last.row >= shape.rows || range.last.column >= shape.columns;
    if let Some(range) = ranges.ranges().find(is_outside) {
        return Err(ActionRefusal::CellsOutside { range, table: (&table).into(), shape }.into());
    }
    let all = surfaces(desktop, window).await?;
    if let Some(dialog) = modal_in_front(desktop, &all, &surface).await? {
        return Err(ActionRefusal::DialogInFront { dialog: (&dialog).into(), of: None }.into());
    }
    bring_to_front(desktop, surface.id).await?;
    let selected = match ranges.single() {
        Some(range) => Box::pin(select_range(desktop, (&surface, &table), range, limits)).await?,
        None => Box::pin(select_several(desktop, (&surface, &table), ranges, limits)).await?,
    };
    let done = |evidence: Evidence| {
        ActionOutcome::new(ActionKind::SelectCells { range: ranges.clone() }, Aim::element(&table), evidence)
    };
    Ok(match selected {
        CellSelectionState::Already => done(ActionProof::Holds { already: true }.into()),
        CellSelectionState::Now => done(ActionProof::Holds { already: false }.into()).by(ActionRoute::Input),
        CellSelectionState::Not => done(Shortfall::NotReached { way: None }.into()).by(ActionRoute::Input),
    })
}
