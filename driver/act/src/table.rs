//! Helpers of the table actions: finding the table, comparing cells, moving the cursor.

use deskhand_desktop::{Desktop, DesktopError, DesktopResult, ElementAction, TreeLimits};
use deskhand_ui::{
    CellRange, CellRef, Element, ElementCapability, Role, State, WindowInfo,
    action::{ActionRefusal, Among, UnsupportedCapability},
    ids::{ElementId, WindowId},
    names_equal,
};

use crate::{
    checks::{CheckedTarget, TargetRequirement, check},
    find::nearest_names,
    focus::focus_element,
    patience::{comes_to_hold, patiently, read_tree_within, watch_app},
    report::{ActLimits, Halt},
    surfaces::surfaces,
    text::clear,
};

/// Identification of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableTarget {
    /// By its id.
    Element(ElementId),
    /// By its accessible name, such as `Sales`.
    Named(String),
    /// The largest visible table.
    Largest,
}

/// A look for a table or the name box, neither of which is a cell.
fn around_cells() -> TreeLimits {
    TreeLimits { cells: false, bounds_now: false, ..TreeLimits::default() }
}

/// Finds the table, with its surface.
pub(crate) async fn find_table<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &TableTarget,
) -> Result<(WindowInfo, Element), Halt> {
    if let TableTarget::Element(id) = target {
        let ready = check(desktop, window, *id, None, TargetRequirement::Read).await?;
        if ready.element.table.is_none() && !ready.element.offers(ElementCapability::Table) {
            let element = (&ready.element).into();
            return Err(ActionRefusal::Unsupported { element, what: UnsupportedCapability::Table }.into());
        }
        return Ok((ready.surface, ready.element));
    }
    let mut tables: Vec<(WindowInfo, Element)> = Vec::new();
    for surface in surfaces(desktop, window).await?.into_iter().rev() {
        let tree = read_tree_within(desktop, surface.id, around_cells()).await?;
        let found = tree.elements.into_iter().filter(|element| element.offers(ElementCapability::Table));
        tables.extend(found.map(|element| (surface.clone(), element)));
    }
    let chosen = match target {
        TableTarget::Named(name) => tables
            .iter()
            .find(|(_, table)| names_equal(&table.name, name))
            .or_else(|| tables.iter().find(|(_, table)| names_equal(without_part(&table.name), name))),
        TableTarget::Largest | TableTarget::Element(_) => tables.iter().max_by_key(|(_, table)| {
            table.table.map_or(0, |shape| u64::from(shape.rows) * u64::from(shape.columns))
        }),
    };
    if let Some(found) = chosen {
        return Ok(found.clone());
    }
    let names: Vec<&str> = tables.iter().map(|(_, table)| table.name.as_str()).collect();
    let wanted = match target {
        TableTarget::Named(name) => name.clone(),
        TableTarget::Largest | TableTarget::Element(_) => String::new(),
    };
    let tables = nearest_names(&wanted, names.into_iter());
    Err(ActionRefusal::NotFound { name: wanted, among: Among::Tables { window, tables } }.into())
}

/// The name of a table without its part number: Writer calls the part of `Sales` on the first page `Sales-1`.
fn without_part(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((head, part)) if !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) => head,
        Some(_) | None => name,
    }
}

/// Returns `true` if the table's cursor is on a cell, according to the cell.
pub(crate) async fn cursor_is_on<D: Desktop>(
    desktop: &D,
    table: ElementId,
    cell: CellRef,
) -> DesktopResult<bool> {
    match patiently(|| desktop.cell(table, cell)).await {
        Ok(element) => Ok(element.states.has(State::Focused)),
        // Qt recreates cells.
        Err(DesktopError::NoElement(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Moves the cursor to a cell and verifies that typing goes there: through the accessibility interface, else through the
/// application's name box.
pub(crate) async fn go_to_cell<D: Desktop>(
    desktop: &D,
    surface: &WindowInfo,
    table: &Element,
    cell: CellRef,
    limits: &ActLimits,
) -> Result<(), Halt> {
    if Box::pin(cursor_is_on(desktop, table.id, cell)).await? {
        return Ok(());
    }
    let element = patiently(|| desktop.cell(table.id, cell)).await?;
    for action in [ElementAction::Focus, ElementAction::Select] {
        let watch = watch_app(desktop, surface.id).await?;
        match desktop.perform(element.id, &action).await {
            Ok(()) | Err(DesktopError::NotAnswering { .. }) => {}
            Err(
                DesktopError::NotOffered { .. } | DesktopError::Failed { .. } | DesktopError::NoElement(_),
            ) => {
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        if Box::pin(wait_for_cursor(desktop, (surface.id, watch), table.id, cell, limits)).await? {
            return Ok(());
        }
    }
    Box::pin(name_in_box(desktop, surface, &CellRange { first: cell, last: cell }, limits)).await?;
    let watch = watch_app(desktop, surface.id).await?;
    if Box::pin(wait_for_cursor(desktop, (surface.id, watch), table.id, cell, limits)).await? {
        return Ok(());
    }
    Err(ActionRefusal::CursorStays { table: table.into(), cell }.into())
}

/// Waits until the cursor is on a cell: checks immediately, after the application handled the input, and once it is
/// idle.
async fn wait_for_cursor<D: Desktop>(
    desktop: &D,
    watched: (WindowId, D::Watch),
    table: ElementId,
    cell: CellRef,
    limits: &ActLimits,
) -> DesktopResult<bool> {
    if cursor_is_on(desktop, table, cell).await? {
        return Ok(true);
    }
    comes_to_hold(desktop, watched, limits.quiet, || cursor_is_on(desktop, table, cell)).await
}

/// Types a range into the name box to go there or to select it.
pub(crate) async fn name_in_box<D: Desktop>(
    desktop: &D,
    surface: &WindowInfo,
    range: &CellRange,
    limits: &ActLimits,
) -> Result<(), Halt> {
    let Some(name_box) = find_name_box(desktop, surface).await? else {
        return Err(ActionRefusal::NoNameBox { window: surface.into() }.into());
    };
    let ready = check(desktop, surface.id, name_box.id, None, TargetRequirement::Act).await?;
    let ready = CheckedTarget { surface: surface.clone(), ..ready };
    focus_element(desktop, &ready, limits).await?;
    if clear(desktop, &ready, limits).await?.is_some() {
        let element = (&ready.element).into();
        return Err(ActionRefusal::Unsupported { element, what: UnsupportedCapability::Clearing }.into());
    }
    let watch = watch_app(desktop, surface.id).await?;
    desktop.type_text(&format!("{range}\n")).await?;
    desktop.settle(watch, limits.quiet).await?;
    Ok(())
}

/// The name box, which shows the address of the current cell: by its name, else the single-line entry whose text parses as
/// a cell or range (LibreOffice leaves it unnamed).
pub(crate) async fn find_name_box<D: Desktop>(
    desktop: &D,
    surface: &WindowInfo,
) -> DesktopResult<Option<Element>> {
    let tree = read_tree_within(desktop, surface.id, around_cells()).await?;
    let is_line = |element: &&Element| {
        element.states.has(State::Editable)
            && element.states.has(State::Showing)
            && [Role::ENTRY, Role::TEXT].contains(&element.role)
    };
    let reads_like_cells =
        |element: &&Element| element.text.as_deref().is_some_and(|text| text.parse::<CellRange>().is_ok());
    let mut lines = tree.elements.iter().filter(is_line);
    let named = lines.clone().find(|element| names_equal(&element.name, "Name Box"));
    Ok(named.or_else(|| lines.find(reads_like_cells)).cloned())
}
