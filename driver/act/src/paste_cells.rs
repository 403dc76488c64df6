//! Pastes rows of cells into a spreadsheet, all at once.

use std::time::Duration;

use deskhand_desktop::{
    CancelScope, Desktop, DesktopResult,
    keys::{ChordKey, KeyChord, KeyModifier},
};
use deskhand_ui::{CellRange, Element};

/// From this number of cells on, pasting is faster than typing.
const CELLS_MIN: u64 = 4;
/// Maximum time for an application to fetch pasted content.
const FETCH_BOUND: Duration = Duration::from_secs(5);

/// The media type by which the cells of a table can be pasted; `None` if they have to be typed. A paste means the same as typing
/// only for plain values in empty cells: applications ask before they replace cells, and read formulas, quotes and gaps in
/// their own way.
pub(crate) fn format_for<D: Desktop>(
    desktop: &D,
    table: &Element,
    range: CellRange,
    mut cells: impl Iterator<Item = (impl AsRef<str>, bool)>,
) -> Option<&'static str> {
    let format = desktop.quirks(table.id).pastes_cells_as?;
    let is_plain = |text: &str| {
        !text.trim().is_empty()
            && !text.starts_with(['=', '\'', '+', '-', '@'])
            && !text.contains(['"', '\t', '\n', '\r'])
    };
    let all = cells.all(|(text, is_empty)| is_empty && (is_plain(text.as_ref()) || is_number(text.as_ref())));
    (range.cell_count() >= CELLS_MIN && all).then_some(format)
}

/// Returns `true` if a text is a number with a sign.
fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Pastes rows at the cursor through the clipboard, whose text is restored; returns whether the application fetched them.
///
/// # Errors
/// An error of the desktop.
pub(crate) async fn paste_rows<D: Desktop>(desktop: &D, format: &str, rows: &str) -> DesktopResult<bool> {
    let held = desktop.clipboard().await.unwrap_or_default();
    desktop.set_clipboard_as(format, rows).await?;
    let pasted = async {
        desktop.press(&KeyChord { modifiers: vec![KeyModifier::Ctrl], key: ChordKey::Char('v') }).await?;
        desktop.clipboard_taken(FETCH_BOUND).await
    };
    let fetched = pasted.await;
    // Also after a cancellation.
    CancelScope::shielded(desktop.set_clipboard(held.as_deref())).await?;
    fetched
}
