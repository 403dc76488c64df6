//! Extent of a sheet beyond its visible part, by its scroll bars.
//!
//! LibreOffice makes the range of a scroll bar as long as the used part, or the visible part and one more, and
//! adds the visible part and one more: the end of the range cannot be reached, so the bar never has that value.
//! The last row is determined only up to one, because one that is cut off counts as much as the toolkit says.

use deskhand_ui::{
    CellRange, CellRef, Role,
    geometry::{Rect, Screen},
};

use super::walk::{AtspiTreeWalk, WalkNode};

/// A table with as many rows is a sheet.
const SHEET_ROWS_MIN: u32 = 65_536;

impl AtspiTreeWalk<'_, '_> {
    /// Tells how far sheets go on, and takes from scroll bars what is not theirs.
    pub(super) fn tell_beyond(&mut self) {
        if self.application.toolkit.ends_bars_where_told {
            return;
        }
        let bars: Vec<(Rect<Screen>, f64)> = self.nodes.iter().filter_map(bar).collect();
        for node in &mut self.nodes {
            if node.element.role == Role::SCROLL_BAR
                || self.application.toolkit.has_bar_inside(&node.element.role)
            {
                node.element.value = None;
            }
            let (Some(view), Some(area)) = (node.view, node.element.bounds) else { continue };
            if node.element.table.is_some_and(|shape| shape.rows >= SHEET_ROWS_MIN) {
                node.element.told = beyond(view, area, &bars);
            }
        }
    }
}

fn bar(node: &WalkNode) -> Option<(Rect<Screen>, f64)> {
    let bounds = node.element.bounds.filter(|_| node.element.role == Role::SCROLL_BAR)?;
    node.element.value.map(|value| (bounds, value.maximum))
}

/// `goes on to about row 55` for what shows of a sheet.
fn beyond(view: CellRange, area: Rect<Screen>, bars: &[(Rect<Screen>, f64)]) -> Option<String> {
    // With several, parts of the sheet are scrolled apart.
    let only = |upright: bool| {
        let mut fitting = bars.iter().filter(|(bar, _)| {
            let is_beside = bar.y < area.bottom() && area.y < bar.bottom();
            let is_below = bar.x < area.right() && area.x < bar.right();
            if upright { bar.height > bar.width && is_beside } else { bar.width > bar.height && is_below }
        });
        fitting.next().filter(|_| fitting.next().is_none()).map(|(_, maximum)| *maximum)
    };
    let last = |upright: bool, first: u32, last: u32| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of rows")]
        let end = only(upright)?.max(0.0) as u32;
        let used = end.checked_sub(last - first.min(last))?;
        // What shows and one more is in the range anyway, and what shows may be one more than it seems.
        (used > last + 4).then_some(used)
    };
    let row = last(true, view.first.row, view.last.row);
    let column = last(false, view.first.column, view.last.column);
    let row = row.map(|row| format!("row {row}"));
    let column = column.map(|column| format!("column {}", CellRef::column_letters(column - 1)));
    let ends: Vec<String> = row.into_iter().chain(column).collect();
    (!ends.is_empty()).then(|| format!("goes on to about {}", ends.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_that_shows_whole_does_not_go_on() {
        let area = Rect::new(41, 220, 1166, 621);
        let (below, right) = (Rect::new(0, 841, 1202, 14), Rect::new(1207, 207, 14, 634));
        let check = |range: &str, rows: f64, columns: f64, expected: Option<&str>| {
            let view: CellRange = range.parse().unwrap();
            assert_eq!(beyond(view, area, &[(below, columns), (right, rows)]).as_deref(), expected);
        };
        check("A1:O37", 91.0, 30.0, Some("goes on to about row 55"));
        check("A1:O37", 74.0, 30.0, None);
        check("A1:O37", 74.0, 60.0, Some("goes on to about column AT"));
        // Scrolled by twenty rows.
        check("A21:O57", 94.0, 30.0, None);
        check("A21:O57", 236.0, 30.0, Some("goes on to about row 200"));
    }
}
