//! Writes rows into a spreadsheet, and reads every cell back.

use std::time::Duration;

use deskhand_core::{
    action::{Act, Action, Aim, ArgumentProblem, Evidence, Mismatch, Proof, Refusal, Shortfall},
    command::Route,
    ids::WindowId,
    ui::{CellRange, CellRef, Element, TableShape, WindowInfo, WindowKind},
};
use deskhand_desktop::{
    Button, Desktop, DesktopError, DesktopResult, ElementAction, QuietLimits,
    keys::{Key, KeyChord, Modifier, NamedKey},
};
use serde_json::json;

use crate::{
    patience::{patiently, watch_app},
    report::{ActLimits, ActionReport, Halt, report},
    surfaces::{bring_to_front, modal_in_front, surfaces},
    table::{TableTarget, cells_equal, find_table, go_to_cell, number},
};

/// The most cells per call.
const CELLS_MAX: u64 = 2_000;
/// From this number of cells on, a table is a spreadsheet grid rather than a list in a dialog.
const SPREADSHEET_CELLS_MIN: u64 = 1_000_000;
/// How often a cell is read after typing, at most; each read waits for an event.
const LOOKS_MAX: usize = 8;

/// Writes `rows` into a table from the cell `start` on, cell by cell: moves the cursor, verifies its position, types, and
/// discards the application's completions. Then reads all cells back and corrects wrong ones once. `seen` only if every
/// cell matches; numbers are compared by value. An empty text clears its cell.
///
/// # Errors
/// [`DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn write_table<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &TableTarget,
    start: CellRef,
    rows: &[Vec<String>],
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    let act = Act::WriteCells { range: asked_range(start, rows) };
    report(act, write_and_check(desktop, window, target, start, rows, limits).await)
}

async fn write_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &TableTarget,
    start: CellRef,
    rows: &[Vec<String>],
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let (surface, table) = find_table(desktop, window, target).await?;
    let range = range_of(&table, start, rows)?;
    let all = surfaces(desktop, window).await?;
    if let Some(dialog) = modal_in_front(desktop, &all, &surface).await? {
        return Err(Refusal::DialogInFront { dialog: (&dialog).into(), of: None }.into());
    }
    bring_to_front(desktop, surface.id).await?;
    let done = |evidence: Evidence, waited_ms| {
        let action = Action::new(Act::WriteCells { range }, Aim::element(&table), evidence);
        action.by(Route::Input).after(waited_ms)
    };
    let mut sheet = Sheet { desktop, surface: &surface, table: &table, limits, way: Way::Typed };
    sheet.leave_objects().await?;
    let mut waited_ms = 0;
    // Column by column: Return moves the cursor to the next cell.
    let mut cells: Vec<(CellRef, &str)> = cells_of(start, rows).collect();
    cells.sort_by_key(|(cell, _)| (cell.column, cell.row));
    for (index, (cell, text)) in cells.into_iter().enumerate() {
        waited_ms += sheet.write(cell, text).await?;
        if index == 0 && !sheet.shows(cell, text).await? {
            // The keys may go elsewhere, such as into a drawing, or the cell needs to be opened first. Retry once from a clean
            // state.
            sheet.leave_objects().await?;
            let ways: &[Way] = if sheet.is_spreadsheet() {
                &[Way::Typed]
            } else {
                &[Way::Action, Way::Click, Way::DoubleClick]
            };
            for way in ways {
                sheet.way = *way;
                waited_ms += sheet.write(cell, text).await?;
                if sheet.shows(cell, text).await? {
                    break;
                }
            }
            if !sheet.shows(cell, text).await? {
                return Ok(done(Shortfall::CellTakesNothing { cell }.into(), waited_ms).into());
            }
        }
    }
    let mut wrong = sheet.mismatches(range, rows).await?;
    let corrected = wrong.len();
    for mismatch in &wrong {
        waited_ms += sheet.write(mismatch.cell, &mismatch.wanted).await?;
    }
    if corrected > 0 {
        wrong = sheet.mismatches(range, rows).await?;
    }
    let cells = range.cell_count();
    let right = cells - u64::try_from(wrong.len()).unwrap_or(0);
    let output = json!({ "range": range, "cells": cells, "right": right, "mismatches": wrong });
    let corrected = u64::try_from(corrected).unwrap_or(u64::MAX);
    let evidence = if wrong.is_empty() {
        Proof::Cells { cells, corrected }.into()
    } else {
        Shortfall::Cells { cells, corrected, mismatches: wrong }.into()
    };
    Ok(ActionReport::from(done(evidence, waited_ms)).with_output(output))
}

/// The range of rows that begin at `start`.
fn asked_range(start: CellRef, rows: &[Vec<String>]) -> CellRange {
    let size = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    CellRange::sized(start, TableShape { rows: size(rows.len()), columns: size(columns) })
}

fn range_of(table: &Element, start: CellRef, rows: &[Vec<String>]) -> Result<CellRange, Halt> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    if columns == 0 || rows.iter().any(|row| row.len() != columns) {
        return Err(Refusal::from(ArgumentProblem::Rows).into());
    }
    let range = asked_range(start, rows);
    if range.cell_count() > CELLS_MAX {
        let problem = ArgumentProblem::Cells { given: range.cell_count(), max: CELLS_MAX };
        return Err(Refusal::from(problem).into());
    }
    let shape = table.table.unwrap_or(TableShape { rows: 0, columns: 0 });
    if range.last.row >= shape.rows || range.last.column >= shape.columns {
        return Err(Refusal::CellsOutside { range, table: table.into(), shape }.into());
    }
    let breaks = |text: &String| text.contains(['\n', '\t']);
    if rows.iter().flatten().any(breaks) {
        return Err(Refusal::from(ArgumentProblem::LineBreakInCell).into());
    }
    Ok(range)
}

fn cells_of(start: CellRef, rows: &[Vec<String>]) -> impl Iterator<Item = (CellRef, &str)> {
    (start.row..).zip(rows).flat_map(move |(row, texts)| {
        (start.column..).zip(texts).map(move |(column, text)| (CellRef { row, column }, text.as_str()))
    })
}

/// How a cell accepts text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Typing with the cursor on it replaces its content.
    Typed,
    /// It has to be opened for editing by its action.
    Action,
    /// By a second click after the one that selects it.
    Click,
    /// By a double click.
    DoubleClick,
}

struct Sheet<'a, D: Desktop> {
    desktop: &'a D,
    surface: &'a WindowInfo,
    table: &'a Element,
    limits: &'a ActLimits,
    way: Way,
}

impl<D: Desktop> Sheet<'_, D> {
    /// Writes one cell and waits, bounded, until it shows the text; verified at the end.
    async fn write(&self, cell: CellRef, text: &str) -> Result<u64, Halt> {
        if self.shows(cell, text).await? {
            return Ok(0);
        }
        match self.way {
            Way::Typed => match go_to_cell(self.desktop, self.surface, self.table, cell, self.limits).await {
                Ok(()) => {}
                // It may accept the cursor once it is open.
                Err(Halt::Refused(_)) if !self.is_spreadsheet() => return Ok(0),
                Err(halt) => return Err(halt),
            },
            Way::Action | Way::Click | Way::DoubleClick => {
                if !self.open_cell(cell).await? {
                    // Typing now would go elsewhere.
                    return Ok(0);
                }
            }
        }
        let mut watch = watch_app(self.desktop, self.surface.id).await?;
        if text.is_empty() {
            self.press(NamedKey::Delete).await?;
        } else if number(text).is_none() && self.way == Way::Typed {
            self.desktop.type_text(text).await?;
            // An entry above with the same prefix is offered as a completion, which Return would accept.
            self.press(NamedKey::Delete).await?;
            self.press(NamedKey::Return).await?;
        } else {
            self.desktop.type_text(&format!("{text}\n")).await?;
        }
        let mut quick = QuietLimits::HANDLED;
        let mut waited_ms = 0;
        for _ in 0..LOOKS_MAX {
            let settled = self.desktop.settle(watch, quick).await?;
            waited_ms += settled.waited_ms;
            let in_vain = settled.changes.is_empty() && quick != QuietLimits::HANDLED;
            if in_vain || self.shows(cell, text).await? {
                break;
            }
            quick = QuietLimits { quiet: Duration::from_millis(15), ..self.limits.quiet };
            watch = watch_app(self.desktop, self.surface.id).await?;
        }
        Ok(waited_ms)
    }

    /// Takes the keyboard back from a selected or edited chart or drawing, which would receive the keys although the cell
    /// reports the focus. Only in spreadsheet grids, where Escape is harmless.
    async fn leave_objects(&self) -> Result<(), DesktopError> {
        if !self.is_spreadsheet() || self.surface.kind != WindowKind::Normal {
            return Ok(());
        }
        let watch = watch_app(self.desktop, self.surface.id).await?;
        // Leave the chart's object, the chart, and its selection.
        for _ in 0..3 {
            self.press(NamedKey::Escape).await?;
        }
        let quick = QuietLimits { quiet: Duration::from_millis(15), ..QuietLimits::HANDLED };
        self.desktop.settle(watch, quick).await?;
        Ok(())
    }

    fn is_spreadsheet(&self) -> bool {
        let cells = self.table.table.map_or(0, |shape| u64::from(shape.rows) * u64::from(shape.columns));
        cells >= SPREADSHEET_CELLS_MIN
    }

    /// Opens a cell for editing with its content selected; false if not supported.
    async fn open_cell(&self, cell: CellRef) -> Result<bool, Halt> {
        let element = patiently(|| self.desktop.cell(self.table.id, cell)).await?;
        let watch = watch_app(self.desktop, self.surface.id).await?;
        let point = element.bounds.map(|bounds| bounds.center());
        let on_screen = || Halt::from(Refusal::CellNotOnScreen { cell });
        match self.way {
            Way::Typed => {}
            Way::Action => {
                let edit = ElementAction::Named("edit".to_owned());
                match self.desktop.perform(element.id, &edit).await {
                    Ok(()) | Err(DesktopError::NotAnswering { .. }) => {}
                    Err(
                        DesktopError::NotOffered { .. }
                        | DesktopError::Failed { .. }
                        | DesktopError::NoElement(_),
                    ) => return Ok(false),
                    Err(error) => return Err(error.into()),
                }
            }
            Way::Click => {
                let point = point.ok_or_else(on_screen)?;
                self.desktop.click(point, Button::Left, 1).await?;
                let selected = watch_app(self.desktop, self.surface.id).await?;
                self.desktop.settle(selected, self.limits.quiet).await?;
                self.desktop.click(point, Button::Left, 1).await?;
            }
            Way::DoubleClick => self.desktop.click(point.ok_or_else(on_screen)?, Button::Left, 2).await?,
        }
        self.desktop.settle(watch, self.limits.quiet).await?;
        self.desktop.press(&KeyChord { modifiers: vec![Modifier::Ctrl], key: Key::Char('a') }).await?;
        Ok(true)
    }

    async fn shows(&self, cell: CellRef, text: &str) -> Result<bool, Halt> {
        let only = CellRange { first: cell, last: cell };
        let content = patiently(|| self.desktop.cells(self.table.id, only)).await?;
        Ok(content.rows.iter().flatten().next().is_some_and(|found| cells_equal(text, found)))
    }

    async fn press(&self, key: NamedKey) -> Result<(), DesktopError> {
        self.desktop.press(&KeyChord { modifiers: Vec::new(), key: Key::Named(key) }).await
    }

    /// The cells with wrong values.
    async fn mismatches(&self, range: CellRange, rows: &[Vec<String>]) -> Result<Vec<Mismatch>, Halt> {
        let content = patiently(|| self.desktop.cells(self.table.id, range)).await?;
        let found = content.rows.iter().flatten();
        Ok(cells_of(range.first, rows)
            .zip(found)
            .filter(|((_, wanted), found)| !cells_equal(wanted, found))
            .map(|((cell, wanted), found)| Mismatch { cell, wanted: wanted.to_owned(), found: found.clone() })
            .collect())
    }
}
