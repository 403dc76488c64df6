//! Information from an application about its document or page, over its own interface: beyond windows and
//! accessibility.
//!
//! This only adds to the observations of an action. Where there is no such interface, or it does not answer,
//! actions do without.

use std::collections::BTreeMap;

use deskhand_desktop::{Desktop, NativeAnswer, NativeCall};
use deskhand_ui::{CellRange, CellRef, TableContent, WindowInfo};
use serde_json::{Map, Value, json};

/// The most formulas, and the most number formats, of one range.
const TOLD_MAX: usize = 200;
/// Number format of cells that have none of their own.
const NO_FORMAT: &str = "General";

/// Information from an application about a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NativeDocumentState {
    /// Its file; `None` if it has none yet.
    pub(crate) path: Option<String>,
    /// `true` if it has changes that are not saved.
    pub(crate) modified: bool,
    /// The cells that the active sheet uses; `None` if it is empty, or no sheet.
    pub(crate) used: Option<CellRange>,
}

/// Queries the application of a window for its document; `None` if it cannot be queried.
pub(crate) async fn document<D: Desktop>(desktop: &D, window: &WindowInfo) -> Option<NativeDocumentState> {
    let output = ask(desktop, window, "document_info", Map::new()).await?;
    let active = output.get("active").and_then(Value::as_str);
    let sheets = output.get("sheets").and_then(Value::as_array).into_iter().flatten();
    let mut used = sheets
        .filter(|sheet| sheet.get("name").and_then(Value::as_str) == active)
        .filter_map(|sheet| sheet.get("used")?.as_str()?.parse().ok());
    Some(NativeDocumentState {
        path: output.get("path").and_then(Value::as_str).map(str::to_owned),
        modified: output.get("modified")?.as_bool()?,
        used: used.next(),
    })
}

/// The formulas of a range by their cells, and its number formats by their ranges; each `None` if there are none.
pub(crate) async fn cells<D: Desktop>(
    desktop: &D,
    window: &WindowInfo,
    range: CellRange,
) -> (Option<Value>, Option<Value>) {
    let Some(formulas) = ask(desktop, window, "get_range_values", of_range(range, "formulas")).await else {
        return (None, None);
    };
    let rows = formulas.as_array().into_iter().flatten().zip(range.first.row..);
    let formulas: BTreeMap<CellRef, &str> = rows
        .flat_map(|(row, at)| {
            let columns = row.as_array().into_iter().flatten().zip(range.first.column..);
            columns.filter_map(move |(text, column)| Some((CellRef { row: at, column }, text.as_str()?)))
        })
        .filter(|(_, text)| text.starts_with('='))
        .take(TOLD_MAX)
        .collect();
    let formulas: Map<String, Value> =
        formulas.into_iter().map(|(cell, text)| (cell.to_string(), text.into())).collect();
    let formats = ask(desktop, window, "get_range_values", of_range(range, "formats")).await;
    let formats: Map<String, Value> = formats
        .iter()
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(|one| Some((one.get(0)?.as_str()?.to_owned(), one.get(1)?.clone())))
        .filter(|(_, format)| format != NO_FORMAT)
        .take(TOLD_MAX)
        .collect();
    let unless_empty = |map: Map<String, Value>| (!map.is_empty()).then_some(Value::Object(map));
    (unless_empty(formulas), unless_empty(formats))
}

/// Returns the drawn texts of cells whose text is the stored value instead, by cell: `12%` for `12.3%`; `None`
/// if there are none.
pub(crate) async fn drawn_otherwise<D: Desktop>(
    desktop: &D,
    window: &WindowInfo,
    content: &TableContent,
) -> Option<Value> {
    let first = content.range.first;
    let drawn = ask(desktop, window, "get_range_values", of_range(content.range, "texts")).await?;
    let rows = drawn.as_array().into_iter().flatten().zip(&content.rows).zip(first.row..);
    let otherwise: Map<String, Value> = rows
        .flat_map(|((drawn, stored), row)| {
            let cells = drawn.as_array().into_iter().flatten().zip(stored).zip(first.column..);
            cells.filter_map(move |((drawn, stored), column)| {
                let drawn = drawn.as_str().filter(|drawn| drawn != stored && !drawn.is_empty())?;
                Some((CellRef { row, column }.to_string(), drawn.into()))
            })
        })
        .take(TOLD_MAX)
        .collect();
    (!otherwise.is_empty()).then_some(Value::Object(otherwise))
}

/// The arguments that ask for something of a range.
fn of_range(range: CellRange, what: &str) -> Map<String, Value> {
    [("range", json!(range)), ("what", json!(what))]
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

/// Returns the question of the page's script in a window, in a dialog that not every browser shows as elements;
/// `None` if there is none.
pub(crate) async fn question_of_page<D: Desktop>(desktop: &D, window: &WindowInfo) -> Option<String> {
    if !desktop.natives().with_pages(&window.app) {
        return None;
    }
    let output = call(desktop, window, "page_dialog", Map::new()).await?;
    output.get("dialog")?.get("message")?.as_str().map(str::to_owned)
}

/// Asks an office application for what only reads; `None` if there is no answer.
async fn ask<D: Desktop>(
    desktop: &D,
    window: &WindowInfo,
    operation: &str,
    arguments: Map<String, Value>,
) -> Option<Value> {
    if !desktop.natives().with_documents(&window.app) {
        return None;
    }
    call(desktop, window, operation, arguments).await
}

async fn call<D: Desktop>(
    desktop: &D,
    window: &WindowInfo,
    operation: &str,
    arguments: Map<String, Value>,
) -> Option<Value> {
    let call = NativeCall { operation: operation.to_owned(), arguments };
    match desktop.native(window.id, &call).await {
        Ok(NativeAnswer::Done { output, .. }) => Some(output),
        Ok(NativeAnswer::Refused(_) | NativeAnswer::Failed(_)) | Err(_) => None,
    }
}
