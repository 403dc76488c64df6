//! Writes rows into a spreadsheet, and reads every cell back.

use std::time::Duration;

use deskhand_desktop::{
    Button, CancelScope, Desktop, DesktopError, DesktopResult, ElementAction, QuietLimits,
    keys::{ChordKey, KeyChord, KeyModifier, NamedKey},
};
use deskhand_ui::{
    CellRange, CellRef, Element, ElementCapability, State, WindowInfo, WindowKind,
    action::{
        ActionKind, ActionOutcome, ActionProof, ActionRefusal, ActionRoute, Aim, CellMismatch, Evidence,
        Extent, ExtentUnit, Shortfall,
    },
    ids::WindowId,
};
use serde_json::json;

use crate::{
    cell_write::{
        CellEntryMethod, CellReadBack, CellWrite, SheetCellContent, TableWriteOutcome, TargetCellKind,
    },
    meaning::{Likeness, cells_equal, is_error, likeness, number, same_formula},
    paste_cells::{format_for, paste_rows},
    patience::{comes_within, handle_earlier, patiently, watch_app},
    report::{ActLimits, ActionReport, Halt, cancelled, carry_out},
    rows::{asked_range, cells_of, range_of},
    surfaces::{bring_to_front, modal_in_front, surfaces},
    table::{TableTarget, find_table, go_to_cell},
    text::{read, select_by_semantics},
};

/// From this number of cells on, a table is a spreadsheet grid rather than a list in a dialog.
const SPREADSHEET_CELLS_MIN: u64 = 1_000_000;
/// Maximum time for an idle application to show a typed text in its cell.
const TAKES_OVER: Duration = Duration::from_millis(400);

/// Writes `rows` into a table from the cell `start` on: pastes them where the application pastes cells without a question and
/// nothing is replaced, else goes cell by cell: moves the cursor, verifies its position, types, and discards the application's
/// completions. Then reads all cells back; only a cell that still has its old content is written
/// again, once. `seen` only if every cell holds what was given: values are compared by what they mean, and a formula has
/// to be in its cell with a result. An empty text clears its cell.
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
    let act = ActionKind::WriteCells { range: asked_range(start, rows) };
    carry_out(act, write_and_check(desktop, window, target, start, rows, limits)).await
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
        return Err(ActionRefusal::DialogInFront { dialog: (&dialog).into(), of: None }.into());
    }
    bring_to_front(desktop, surface.id).await?;
    let done = |evidence: Evidence, waited_ms| {
        let action = ActionOutcome::new(ActionKind::WriteCells { range }, Aim::element(&table), evidence);
        action.by(ActionRoute::Input).after(waited_ms)
    };
    let mut sheet =
        SheetWriter { desktop, surface: &surface, table: &table, limits, way: CellEntryMethod::Typed };
    Box::pin(sheet.leave_objects()).await?;
    match sheet.kind_of(start).await? {
        TargetCellKind::Plain => {}
        TargetCellKind::Field => sheet.way = CellEntryMethod::Replaced,
        TargetCellKind::Header => {
            return Ok(done(Shortfall::CellTakesNothing { cell: start }.into(), 0).into());
        }
    }
    let mut cells = Box::pin(sheet.old_cells(range, rows)).await?;
    let written = Box::pin(sheet.write_all(range, &mut cells)).await;
    let TableWriteOutcome { waited_ms, again, shown, wrong } = match written {
        Ok(Ok(written)) => written,
        Ok(Err(cell)) => return Ok(done(Shortfall::CellTakesNothing { cell }.into(), 0).into()),
        Err(halt) if halt.is_cancelled() => {
            let extent = Box::pin(CancelScope::shielded(sheet.written_so_far(range, &mut cells))).await;
            return Ok(cancelled(ActionKind::WriteCells { range }, Aim::element(&table), extent).into());
        }
        Err(halt) => return Err(halt),
    };
    let count = range.cell_count();
    let right = count - u64::try_from(wrong.len()).unwrap_or(0);
    let output =
        json!({ "range": range, "cells": count, "right": right, "mismatches": wrong, "shown": shown });
    let evidence = if wrong.is_empty() {
        ActionProof::Cells { cells: count, corrected: again, shown }.into()
    } else {
        Shortfall::Cells { cells: count, corrected: again, mismatches: wrong }.into()
    };
    Ok(ActionReport::from(done(evidence, waited_ms)).with_output(output))
}

struct SheetWriter<'a, D: Desktop> {
    desktop: &'a D,
    surface: &'a WindowInfo,
    table: &'a Element,
    limits: &'a ActLimits,
    way: CellEntryMethod,
}

impl<D: Desktop> SheetWriter<'_, D> {
    /// Writes all cells and reads them back; the cell that accepts nothing, if there is one.
    async fn write_all(
        &mut self,
        range: CellRange,
        cells: &mut [CellWrite<'_>],
    ) -> Result<Result<TableWriteOutcome, CellRef>, Halt> {
        let written = match Box::pin(self.paste(range, cells)).await? {
            Some(waited_ms) => Ok(waited_ms),
            None => Box::pin(self.type_all(cells)).await?,
        };
        let mut waited_ms = match written {
            Ok(waited_ms) => waited_ms,
            Err(cell) => return Ok(Err(cell)),
        };
        cells.sort_by_key(|cell| (cell.at.row, cell.at.column));
        let (mut shown, mut wrong) = Box::pin(self.compare(range, cells)).await?;
        let mut again = 0;
        for cell in cells.iter().filter(|cell| wrong.iter().any(|mismatch| mismatch.cell == cell.at)) {
            if self.is_untouched(cell).await? {
                waited_ms += Box::pin(self.write(cell)).await?;
                again += 1;
            }
        }
        if again > 0 {
            (shown, wrong) = Box::pin(self.compare(range, cells)).await?;
        }
        Ok(Ok(TableWriteOutcome { waited_ms, again, shown, wrong }))
    }

    /// Counts the cells that hold their given text, after the writing was cancelled; `None` if they cannot be read.
    async fn written_so_far(&self, range: CellRange, cells: &mut [CellWrite<'_>]) -> Option<Extent> {
        cells.sort_by_key(|cell| (cell.at.row, cell.at.column));
        handle_earlier(self.desktop, self.surface.id).await.ok()?;
        let (_, wrong) = Box::pin(self.compare(range, cells)).await.ok()?;
        let total = range.cell_count();
        let done = total.saturating_sub(u64::try_from(wrong.len()).unwrap_or(u64::MAX));
        Some(Extent { unit: ExtentUnit::Cells, done, total, shown: true })
    }

    /// The cells to write with what they hold now, column by column: Return moves the cursor to the next cell.
    async fn old_cells<'r>(
        &self,
        range: CellRange,
        rows: &'r [Vec<String>],
    ) -> Result<Vec<CellWrite<'r>>, Halt> {
        let content = patiently(|| self.desktop.cells(self.table.id, range)).await?;
        let mut cells = Vec::new();
        for ((at, text), shown) in cells_of(range.first, rows).zip(content.rows.into_iter().flatten()) {
            // An empty cell has no formula that is worth a question.
            let formula = if shown.is_empty() { None } else { self.formula(at).await? };
            cells.push(CellWrite { at, text, old: SheetCellContent { shown, formula } });
        }
        cells.sort_by_key(|cell| (cell.at.column, cell.at.row));
        Ok(cells)
    }

    /// Types into one cell after the other; returns how long was waited, or the first cell if it takes nothing.
    async fn type_all(&mut self, cells: &[CellWrite<'_>]) -> Result<Result<u64, CellRef>, Halt> {
        let mut waited_ms = 0;
        for (index, cell) in cells.iter().enumerate() {
            waited_ms += self.write(cell).await?;
            if index > 0 || !self.is_untouched(cell).await? {
                continue;
            }
            // The keys may go elsewhere, such as into a drawing, or the cell needs to be opened first.
            self.leave_objects().await?;
            let ways: &[CellEntryMethod] = if self.is_spreadsheet() {
                &[CellEntryMethod::Typed]
            } else {
                &[CellEntryMethod::Action, CellEntryMethod::Click, CellEntryMethod::DoubleClick]
            };
            for way in ways {
                self.way = *way;
                waited_ms += self.write(cell).await?;
                if !self.is_untouched(cell).await? {
                    break;
                }
            }
            if self.is_untouched(cell).await? {
                return Ok(Err(cell.at));
            }
        }
        Ok(Ok(waited_ms))
    }

    /// Pastes all cells at once, where that means the same as typing them; returns how long was waited, and `None` if nothing was
    /// pasted.
    async fn paste(&self, range: CellRange, cells: &[CellWrite<'_>]) -> Result<Option<u64>, Halt> {
        let is_empty = |cell: &CellWrite<'_>| cell.old.shown.is_empty() && cell.old.formula.is_none();
        let all = cells.iter().map(|cell| (cell.text, is_empty(cell)));
        let format = format_for(self.desktop, self.table, range, all).filter(|_| self.is_spreadsheet());
        let Some(format) = format else { return Ok(None) };
        let mut by_row: Vec<&CellWrite<'_>> = cells.iter().collect();
        by_row.sort_by_key(|cell| (cell.at.row, cell.at.column));
        let rows = by_row.chunk_by(|one, next| one.at.row == next.at.row);
        let rows: Vec<String> =
            rows.map(|row| row.iter().map(|cell| cell.text).collect::<Vec<_>>().join("\t")).collect();
        Box::pin(go_to_cell(self.desktop, self.surface, self.table, range.first, self.limits)).await?;
        let watch = watch_app(self.desktop, self.surface.id).await?;
        if !paste_rows(self.desktop, format, &format!("{}\n", rows.join("\n"))).await? {
            return Ok(None);
        }
        let last = CellRange { first: range.last, last: range.last };
        let shows_last = async || {
            let content = patiently(|| self.desktop.cells(self.table.id, last)).await?;
            Ok::<_, Halt>(content.rows.iter().flatten().any(|text| !text.is_empty()))
        };
        let came =
            comes_within(self.desktop, (self.surface.id, watch), self.limits.effect, shows_last).await?;
        Ok(Some(came.waited_ms))
    }

    async fn formula(&self, at: CellRef) -> Result<Option<String>, Halt> {
        Ok(patiently(|| self.desktop.formula(self.table.id, at)).await?)
    }

    async fn shown(&self, at: CellRef) -> Result<String, Halt> {
        let only = CellRange { first: at, last: at };
        let content = patiently(|| self.desktop.cells(self.table.id, only)).await?;
        Ok(content.rows.into_iter().flatten().next().unwrap_or_default())
    }

    /// Returns `true` if there is nothing to write: the cell holds the text already.
    async fn holds_already(&self, cell: &CellWrite<'_>) -> Result<bool, Halt> {
        if is_formula(cell.text) {
            return Ok(matches!(
                self.held(cell, self.shown(cell.at).await?).await?,
                CellReadBack::Same | CellReadBack::Shown(_)
            ) && cell
                .old
                .formula
                .as_ref()
                .is_some_and(|old| !old.ends_with('…') && same_formula(old, cell.text)));
        }
        let has_formula = cell.old.formula.as_ref().is_some_and(|formula| !formula.is_empty());
        Ok(!has_formula && cells_equal(cell.text, &self.shown(cell.at).await?))
    }

    /// Returns `true` if a cell still has its old content, and not the text to write.
    async fn is_untouched(&self, cell: &CellWrite<'_>) -> Result<bool, Halt> {
        let shown = self.shown(cell.at).await?;
        if shown != cell.old.shown || !matches!(self.held(cell, shown).await?, CellReadBack::Other(_)) {
            return Ok(false);
        }
        let formula = self.formula(cell.at).await?;
        Ok(formula.unwrap_or_default() == cell.old.formula.as_deref().unwrap_or_default())
    }

    /// Compares what a cell shows and holds with what was written.
    async fn held(&self, cell: &CellWrite<'_>, shown: String) -> Result<CellReadBack, Halt> {
        let has_changed = shown != cell.old.shown;
        if !is_formula(cell.text) {
            return Ok(match likeness(cell.text, &shown) {
                Likeness::Same => CellReadBack::Same,
                Likeness::Reformatted => CellReadBack::Shown(shown),
                Likeness::Rounded if has_changed => CellReadBack::Shown(shown),
                Likeness::Rounded | Likeness::Other => CellReadBack::Other(shown),
            });
        }
        Ok(match self.formula(cell.at).await? {
            // LibreOffice reports the text of a cell with an error as empty.
            Some(_) | None if is_error(&shown) || shown.is_empty() => CellReadBack::Other(shown),
            // Of an old formula that was told in part, the rest may still be the old one.
            Some(formula)
                if formula.ends_with('…') && !has_changed && cell.old.formula.as_ref() == Some(&formula) =>
            {
                CellReadBack::Other(format!("={formula}"))
            }
            Some(formula) if same_formula(&formula, cell.text) => CellReadBack::Shown(shown),
            Some(formula) if formula.is_empty() => CellReadBack::Other(shown),
            Some(formula) => CellReadBack::Other(format!("={formula}")),
            None if shown == cell.text => CellReadBack::Same,
            None if has_changed => CellReadBack::Shown(shown),
            None => CellReadBack::Other(shown),
        })
    }

    /// The cells that show what was written in another form, and those that hold something else.
    async fn compare(
        &self,
        range: CellRange,
        cells: &[CellWrite<'_>],
    ) -> Result<(Vec<CellMismatch>, Vec<CellMismatch>), Halt> {
        let content = patiently(|| self.desktop.cells(self.table.id, range)).await?;
        let (mut shown, mut wrong) = (Vec::new(), Vec::new());
        for (cell, text) in cells.iter().zip(content.rows.into_iter().flatten()) {
            let as_found = |found| CellMismatch { cell: cell.at, wanted: cell.text.to_owned(), found };
            match self.held(cell, text).await? {
                CellReadBack::Same => {}
                CellReadBack::Shown(found) => shown.push(as_found(found)),
                CellReadBack::Other(found) => wrong.push(as_found(found)),
            }
        }
        Ok((shown, wrong))
    }

    /// Writes one cell and waits, bounded, until it holds the text; verified at the end.
    async fn write(&self, cell: &CellWrite<'_>) -> Result<u64, Halt> {
        if self.holds_already(cell).await? {
            return Ok(0);
        }
        let (cell, text, written) = (cell.at, cell.text, cell);
        match self.way {
            CellEntryMethod::Typed => {
                match Box::pin(go_to_cell(self.desktop, self.surface, self.table, cell, self.limits)).await {
                    Ok(()) => {}
                    // It may accept the cursor once it is open.
                    Err(Halt::Refused(_)) if !self.is_spreadsheet() => return Ok(0),
                    Err(halt) => return Err(halt),
                }
            }
            CellEntryMethod::Replaced
            | CellEntryMethod::Action
            | CellEntryMethod::Click
            | CellEntryMethod::DoubleClick => {
                if !self.open_cell(cell).await? {
                    // Typing now would go elsewhere.
                    return Ok(0);
                }
            }
        }
        let watch = watch_app(self.desktop, self.surface.id).await?;
        if text.is_empty() {
            self.press(NamedKey::Delete).await?;
        } else if number(text).is_none() && self.way == CellEntryMethod::Typed {
            // An entry above with the same prefix is offered as a completion, which Return would accept.
            self.desktop.enter(text, &[NamedKey::Delete, NamedKey::Return].map(KeyChord::from)).await?;
        } else if self.way == CellEntryMethod::Replaced {
            // A field may keep a line end.
            self.desktop.type_text(&format!("{text}\t")).await?;
        } else {
            self.desktop.type_text(&format!("{text}\n")).await?;
        }
        let holds = async || {
            let held = self.held(written, self.shown(cell).await?).await?;
            Ok::<_, Halt>(!matches!(held, CellReadBack::Other(_)))
        };
        let came = comes_within(self.desktop, (self.surface.id, watch), TAKES_OVER, holds).await?;
        Ok(came.waited_ms)
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
        let on_screen = || Halt::from(ActionRefusal::CellNotOnScreen { cell });
        match self.way {
            CellEntryMethod::Typed => {}
            CellEntryMethod::Replaced => return self.select_field(&element, cell).await,
            CellEntryMethod::Action => {
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
            CellEntryMethod::Click => {
                let point = point.ok_or_else(on_screen)?;
                self.desktop.click(point, Button::Left, 1).await?;
                let selected = watch_app(self.desktop, self.surface.id).await?;
                self.desktop.settle(selected, self.limits.quiet).await?;
                self.desktop.click(point, Button::Left, 1).await?;
            }
            CellEntryMethod::DoubleClick => {
                self.desktop.click(point.ok_or_else(on_screen)?, Button::Left, 2).await?;
            }
        }
        self.desktop.settle(watch, self.limits.quiet).await?;
        self.desktop
            .press(&KeyChord { modifiers: vec![KeyModifier::Ctrl], key: ChordKey::Char('a') })
            .await?;
        Ok(true)
    }

    /// Returns the kind of a cell.
    async fn kind_of(&self, cell: CellRef) -> Result<TargetCellKind, Halt> {
        if self.is_spreadsheet() {
            return Ok(TargetCellKind::Plain);
        }
        let element = patiently(|| self.desktop.cell(self.table.id, cell)).await?;
        Ok(if element.states.has(State::Editable) && element.offers(ElementCapability::Text) {
            TargetCellKind::Field
        } else if element.role.is_header() && !element.states.has(State::Editable) {
            TargetCellKind::Header
        } else {
            TargetCellKind::Plain
        })
    }

    /// Puts the cursor into a field and selects its text; false if that cannot be seen.
    async fn select_field(&self, field: &Element, cell: CellRef) -> Result<bool, Halt> {
        Box::pin(go_to_cell(self.desktop, self.surface, self.table, cell, self.limits)).await?;
        let length = read(self.desktop, field).await?.unwrap_or_default().chars().count();
        if length == 0 {
            return Ok(true);
        }
        let place = (self.surface.id, field.id);
        select_by_semantics(self.desktop, place, length, self.limits.effect).await
    }

    async fn press(&self, key: NamedKey) -> Result<(), DesktopError> {
        self.desktop.press(&key.into()).await
    }
}

/// Returns `true` if a text is entered as a formula.
fn is_formula(text: &str) -> bool {
    text.len() > 1 && text.starts_with('=')
}
