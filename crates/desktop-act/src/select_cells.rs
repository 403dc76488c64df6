//! Selecting a range of cells for the next command.

use deskhand_core::{
    action::{Act, Action, Aim, Evidence, Proof, Refusal, Shortfall},
    command::Route,
    ids::WindowId,
    ui::{CellRange, CellRef, Element, State, TableShape, WindowInfo},
};
use deskhand_desktop::{
    Desktop, DesktopResult,
    keys::{Key, KeyChord, Modifier, NamedKey},
};

use crate::{
    patience::{comes_to_hold, patiently},
    report::{ActLimits, ActionReport, Halt, report},
    surfaces::{bring_to_front, modal_in_front, surfaces},
    table::{TableTarget, find_name_box, find_table, go_to_cell, name_in_box},
    text::read,
};

/// The largest range that is selected with the arrow keys.
const STEPS_MAX: u32 = 60;

/// Selects a range of cells: a small one with the arrow keys, otherwise by the name box. Verified by the states of the cells
/// at its corners and just outside of it, or by the text of the name box.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn select_cells<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &TableTarget,
    range: CellRange,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    report(Act::SelectCells { range }, select(desktop, window, target, range, limits).await)
}

async fn select<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &TableTarget,
    range: CellRange,
    limits: &ActLimits,
) -> Result<Action, Halt> {
    let (surface, table) = find_table(desktop, window, target).await?;
    let shape = table.table.unwrap_or(TableShape { rows: 0, columns: 0 });
    if range.last.row >= shape.rows || range.last.column >= shape.columns {
        return Err(Refusal::CellsOutside { range, table: (&table).into(), shape }.into());
    }
    let all = surfaces(desktop, window).await?;
    if let Some(dialog) = modal_in_front(desktop, &all, &surface).await? {
        return Err(Refusal::DialogInFront { dialog: (&dialog).into(), of: None }.into());
    }
    bring_to_front(desktop, surface.id).await?;
    let done = |evidence| Action::new(Act::SelectCells { range }, Aim::element(&table), evidence);
    if is_selected(desktop, &surface, &table, range).await? {
        return Ok(done(Evidence::from(Proof::Holds { already: true })));
    }
    for way in [Way::Arrows, Way::NameBox] {
        let tried = match way {
            Way::Arrows => with_arrows(desktop, &surface, &table, range, limits).await,
            Way::NameBox => match name_in_box(desktop, &surface, &range, limits).await {
                Ok(()) => Ok(is_selected(desktop, &surface, &table, range).await?),
                Err(halt) => Err(halt),
            },
        };
        match tried {
            Ok(true) => return Ok(done(Proof::Holds { already: false }.into()).by(Route::Input)),
            Ok(false) | Err(Halt::Refused(_)) => {}
            Err(failed) => return Err(failed),
        }
    }
    Ok(done(Shortfall::NotReached { way: None }.into()).by(Route::Input))
}

/// How a person selects a range without the mouse.
enum Way {
    Arrows,
    NameBox,
}

/// Whether it is selected then; not tried for a large range.
async fn with_arrows<D: Desktop>(
    desktop: &D,
    surface: &WindowInfo,
    table: &Element,
    range: CellRange,
    limits: &ActLimits,
) -> Result<bool, Halt> {
    let shape = range.shape();
    if shape.rows > STEPS_MAX || shape.columns > STEPS_MAX {
        return Ok(false);
    }
    go_to_cell(desktop, surface, table, range.first, limits).await?;
    let watch = desktop.watch(Some(surface.id)).await?;
    for (key, times) in [(NamedKey::Down, shape.rows - 1), (NamedKey::Right, shape.columns - 1)] {
        for _ in 0..times {
            desktop.press(&KeyChord { modifiers: vec![Modifier::Shift], key: Key::Named(key) }).await?;
        }
    }
    let holds = || is_selected(desktop, surface, table, range);
    comes_to_hold(desktop, (surface.id, watch), limits.quiet, holds).await
}

/// Whether exactly this range is selected.
async fn is_selected<D: Desktop>(
    desktop: &D,
    surface: &WindowInfo,
    table: &Element,
    range: CellRange,
) -> Result<bool, Halt> {
    let shape = table.table.unwrap_or(TableShape { rows: 0, columns: 0 });
    let inside = [range.first, range.last];
    let outside = [
        CellRef { row: range.last.row + 1, column: range.first.column },
        CellRef { row: range.first.row, column: range.last.column + 1 },
    ];
    let mut all_inside = true;
    for cell in inside {
        all_inside &= has_selection(desktop, table, cell).await?;
    }
    let mut none_outside = true;
    for cell in outside.into_iter().filter(|cell| cell.row < shape.rows && cell.column < shape.columns) {
        none_outside &= !has_selection(desktop, table, cell).await?;
    }
    if all_inside && none_outside {
        return Ok(true);
    }
    let Some(name_box) = find_name_box(desktop, surface).await? else { return Ok(false) };
    let shown = match read(desktop, &name_box).await? {
        Some(text) => text,
        None => name_box.text.unwrap_or_default(),
    };
    // One cell has the cursor without being marked as selected; a range must be marked.
    Ok(none_outside && shown.parse::<CellRange>().is_ok_and(|shown| shown == range))
}

async fn has_selection<D: Desktop>(desktop: &D, table: &Element, cell: CellRef) -> DesktopResult<bool> {
    Ok(patiently(|| desktop.cell(table.id, cell)).await?.states.has(State::Selected))
}
