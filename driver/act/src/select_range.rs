//! Selecting one range of cells, with the arrow keys or by the name box.

use deskhand_desktop::{
    Desktop, DesktopError, DesktopResult, QuietLimits,
    keys::{ChordKey, KeyChord, KeyModifier, NamedKey},
};
use deskhand_ui::{CellRange, CellRef, Element, State, TableShape, WindowInfo};

use crate::{
    patience::{patiently, read_element, watch_app},
    report::{ActLimits, Halt},
    table::{find_name_box, go_to_cell, name_in_box},
    text::read,
};

/// The largest range that is selected with the arrow keys.
const STEPS_MAX: u32 = 60;

/// Selection state: exactly the wanted cells, or not.
pub(crate) enum CellSelectionState {
    /// They were before.
    Already,
    /// They are now.
    Now,
    /// They are not.
    Not,
}

/// Selects one range.
pub(crate) async fn select_range<D: Desktop>(
    desktop: &D,
    (surface, table): (&WindowInfo, &Element),
    range: CellRange,
    limits: &ActLimits,
) -> Result<CellSelectionState, Halt> {
    let mut cells = CellRangeSelection { desktop, surface, table, range, name_box: None };
    if cells.are_selected().await? {
        return Ok(CellSelectionState::Already);
    }
    for way in [CellSelectionMethod::Arrows, CellSelectionMethod::NameBox] {
        let tried = match way {
            CellSelectionMethod::Arrows => Box::pin(cells.with_arrows(limits)).await,
            CellSelectionMethod::NameBox => {
                match Box::pin(name_in_box(desktop, surface, &range, limits)).await {
                    Ok(()) => Ok(cells.are_selected().await?),
                    Err(halt) => Err(halt),
                }
            }
        };
        match tried {
            Ok(true) => return Ok(CellSelectionState::Now),
            Ok(false) | Err(Halt::Refused(_)) => {}
            Err(failed) => return Err(failed),
        }
    }
    Ok(CellSelectionState::Not)
}

/// Method by which a person selects a range without the mouse.
enum CellSelectionMethod {
    Arrows,
    NameBox,
}

/// A range of a table that is to be selected.
struct CellRangeSelection<'a, D: Desktop> {
    desktop: &'a D,
    surface: &'a WindowInfo,
    table: &'a Element,
    range: CellRange,
    /// The name box of the application, once it was found.
    name_box: Option<Element>,
}

impl<D: Desktop> CellRangeSelection<'_, D> {
    /// Selects the range by arrow keys; returns `true` if it is selected then. Not tried for a large range.
    async fn with_arrows(&mut self, limits: &ActLimits) -> Result<bool, Halt> {
        let (desktop, surface, shape) = (self.desktop, self.surface, self.range.shape());
        if shape.rows > STEPS_MAX || shape.columns > STEPS_MAX {
            return Ok(false);
        }
        Box::pin(go_to_cell(desktop, surface, self.table, self.range.first, limits)).await?;
        self.collapse().await?;
        let watch = desktop.watch(Some(surface.id)).await?;
        for (key, times) in [(NamedKey::Down, shape.rows - 1), (NamedKey::Right, shape.columns - 1)] {
            for _ in 0..times {
                desktop
                    .press(&KeyChord { modifiers: vec![KeyModifier::Shift], key: ChordKey::Named(key) })
                    .await?;
            }
        }
        let again = watch_app(desktop, surface.id).await?;
        desktop.settle(watch, QuietLimits::HANDLED).await?;
        if self.are_selected().await? {
            return Ok(true);
        }
        desktop.settle(again, limits.quiet).await?;
        self.are_selected().await
    }

    /// Unmarks a range that stays marked although the cursor has left it, as in LibreOffice: by a step of the cursor to the
    /// next row and back.
    async fn collapse(&mut self) -> Result<(), Halt> {
        if self.named().await?.is_none_or(|shown| shown.first == shown.last) {
            return Ok(());
        }
        let there_and_back = match self.range.first.row {
            0 => [NamedKey::Down, NamedKey::Up],
            _ => [NamedKey::Up, NamedKey::Down],
        };
        for key in there_and_back {
            self.desktop.press(&key.into()).await?;
        }
        Ok(())
    }

    /// Returns `true` if exactly this range is selected.
    async fn are_selected(&mut self) -> Result<bool, Halt> {
        let (desktop, range) = (self.desktop, self.range);
        let shape = self.table.table.unwrap_or(TableShape { rows: 0, columns: 0 });
        let outside = [
            CellRef { row: range.last.row + 1, column: range.first.column },
            CellRef { row: range.first.row, column: range.last.column + 1 },
        ];
        let exists = |cell: &CellRef| cell.row < shape.rows && cell.column < shape.columns;
        for cell in outside.into_iter().filter(exists) {
            if has_selection(desktop, self.table, cell).await? {
                return Ok(false);
            }
        }
        let inside = (has_selection(desktop, self.table, range.first).await?, range.first == range.last);
        if inside == (true, true) || (inside.0 && has_selection(desktop, self.table, range.last).await?) {
            return Ok(true);
        }
        // One cell has the cursor without being marked as selected; a range must be marked.
        Ok(self.named().await?.is_some_and(|shown| shown == range))
    }

    /// The range that the name box shows.
    async fn named(&mut self) -> Result<Option<CellRange>, Halt> {
        let known = match self.name_box.take() {
            Some(known) => match read_element(self.desktop, known.id).await {
                Err(DesktopError::NoElement(_)) => None,
                other => Some(other?),
            },
            None => None,
        };
        let found = match known {
            Some(known) => Some(known),
            None => find_name_box(self.desktop, self.surface).await?,
        };
        let Some(name_box) = found else { return Ok(None) };
        let text = read(self.desktop, &name_box).await?;
        let shown = text.or_else(|| name_box.text.clone()).and_then(|text| text.parse().ok());
        self.name_box = Some(name_box);
        Ok(shown)
    }
}

/// Returns `true` if a cell is marked as selected.
pub(crate) async fn has_selection<D: Desktop>(
    desktop: &D,
    table: &Element,
    cell: CellRef,
) -> DesktopResult<bool> {
    Ok(patiently(|| desktop.cell(table.id, cell)).await?.states.has(State::Selected))
}
