//! Tables: their cells by row and column.

use std::collections::HashMap;

use deskhand_ui::{CellRange, CellRef, Element, ElementCapability, TableContent, clipping, ids::ElementId};
use futures_util::future::BoxFuture;

use super::{
    accessibility::Accessibility,
    application::Application,
    bus::{ACCESSIBLE, AtspiCallError, Bus, CallResult, TABLE, TEXT, pipelined},
    details::{EMBEDDED, read_shape, read_text},
    ids::ElementObject,
    wire::{ObjectRef, WireRef},
};
use deskhand_desktop::{DesktopError, DesktopResult, TreeLimits};

/// The most cells that one call reads.
const CELLS_MAX: u64 = 20_000;
/// The most text of one cell.
const CELL_TEXT_MAX: usize = 2_000;
/// The most paragraphs of one cell.
const PARAGRAPHS_MAX: usize = 50;

/// The object of one cell.
pub(crate) async fn cell_object(bus: &Bus, table: &ObjectRef, cell: CellRef) -> CallResult<ObjectRef> {
    let number = |at: u32| i32::try_from(at).unwrap_or(i32::MAX);
    let sent: WireRef =
        bus.call(table, TABLE, "GetAccessibleAt", &(number(cell.row), number(cell.column))).await?;
    ObjectRef::from_wire(&sent).ok_or(AtspiCallError::NoObject)
}

/// Qt replaces the objects of cells after each change. One that disappears between two calls is looked up again, this
/// often, and is never taken for a table that is gone.
const CELL_TRIES_MAX: usize = 5;

fn restless(cell: CellRef) -> AtspiCallError {
    AtspiCallError::Refused(zbus::Error::Failure(format!(
        "{cell} is replaced each time it is read; try again once the table is idle"
    )))
}

/// The text of the cell at a place of a table.
async fn text_at(bus: &Bus, table: &ObjectRef, at: CellRef) -> CallResult<String> {
    for _ in 0..CELL_TRIES_MAX {
        let cell = cell_object(bus, table, at).await?;
        match cell_text(bus, &cell).await {
            Err(AtspiCallError::NoObject) => {}
            other => return other,
        }
    }
    Err(restless(at))
}

/// The text of a cell as shown: its own with that of what is embedded in it, such as links, else that of its paragraphs, else its name.
pub(crate) async fn cell_text(bus: &Bus, cell: &ObjectRef) -> CallResult<String> {
    /// The most objects that are embedded one in the other.
    const LEVELS_MAX: u8 = 4;
    let text = text_inside(bus, cell, LEVELS_MAX).await?;
    Ok(text.chars().take(CELL_TEXT_MAX).collect())
}

fn text_inside<'a>(bus: &'a Bus, object: &'a ObjectRef, levels: u8) -> BoxFuture<'a, CallResult<String>> {
    /// `GetText` to the end.
    const END: i32 = -1;
    Box::pin(async move {
        match bus.call::<_, String>(object, TEXT, "GetText", &(0_i32, END)).await {
            Ok(text) if levels > 0 && text.contains(EMBEDDED) => {
                return with_embedded(bus, object, &text, levels - 1).await;
            }
            // Qt reports a missing interface as a missing object; the next call tells them apart.
            Err(AtspiCallError::NotOffered | AtspiCallError::NoObject) => {}
            other => return other.map(|text| text.replace(EMBEDDED, "")),
        }
        let mut paragraphs = bus.children(object).await?;
        paragraphs.truncate(PARAGRAPHS_MAX);
        let mut lines = Vec::with_capacity(paragraphs.len());
        for paragraph in &paragraphs {
            match read_text(bus, paragraph, CELL_TEXT_MAX).await {
                Ok(text) => lines.push(text),
                // A picture has no text; GTK 3 answers `Get failed` for its length.
                Err(AtspiCallError::NotOffered | AtspiCallError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        if lines.is_empty() {
            bus.property(object, ACCESSIBLE, "Name").await.map(clipping::name)
        } else {
            Ok(lines.join("\n"))
        }
    })
}

/// The text of an object, with the texts of its children in the places that stand for them.
async fn with_embedded(bus: &Bus, object: &ObjectRef, text: &str, levels: u8) -> CallResult<String> {
    let mut children = bus.children(object).await?.into_iter().take(PARAGRAPHS_MAX);
    let mut whole = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter != EMBEDDED {
            whole.push(letter);
            continue;
        }
        let Some(child) = children.next() else { continue };
        match text_inside(bus, &child, levels).await {
            Ok(inside) => whole.push_str(&inside),
            Err(AtspiCallError::NotOffered | AtspiCallError::NoObject | AtspiCallError::Refused(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(whole)
}

/// Removes the backslashes that LibreOffice puts before `:`, `;`, `,`, `=` and itself in attributes. Its bridge cuts an
/// attribute off at the first `:` or `;` in it all the same, so a backslash at the end stands for the missing rest.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        plain.push(if letter == '\\' { letters.next().unwrap_or('…') } else { letter });
    }
    plain
}

pub(crate) fn cells_of(range: CellRange) -> impl Iterator<Item = CellRef> {
    (range.first.row..=range.last.row).flat_map(move |row| {
        (range.first.column..=range.last.column).map(move |column| CellRef { row, column })
    })
}

impl Accessibility {
    /// The texts of the cells of a range.
    pub(crate) async fn cells(&self, table: ElementId, range: CellRange) -> DesktopResult<TableContent> {
        const OPERATION: &str = "read cells";
        let known = self.known(table)?;
        let bus = &self.shared.bus;
        self.check_range(OPERATION, table, &known.object, range).await?;
        let read = pipelined(cells_of(range), |at| {
            let table = &known.object;
            async move { text_at(bus, table, at).await }
        })
        .await;
        let texts: Vec<String> = read
            .into_iter()
            .collect::<CallResult<_>>()
            .map_err(|error| self.error(OPERATION, table, error))?;
        let columns = usize::try_from(range.shape().columns).unwrap_or(1).max(1);
        let rows = texts.chunks(columns).map(<[String]>::to_vec).collect();
        Ok(TableContent { range, rows })
    }

    /// The element of one cell.
    pub(crate) async fn cell(&self, table: ElementId, at: CellRef) -> DesktopResult<Element> {
        const OPERATION: &str = "find a cell";
        let known = self.known(table)?;
        let bus = &self.shared.bus;
        self.check_range(OPERATION, table, &known.object, CellRange { first: at, last: at }).await?;
        let application = self.owner(table, &known.object)?;
        let reading = async {
            let is_virtual = bus.child_count(&known.object).await? > TreeLimits::default().children_max;
            let (cell, mut element, text) = self.read_cell(&application, &known, at).await?;
            if is_virtual && application.toolkit.names_cells_by_place {
                let place = (at.row, at.column);
                element.id = self.with_ids(|ids| ids.id_of_cell(table, place, &cell, known.shift));
            }
            element.name = at.to_string();
            element.text = (!text.is_empty()).then(|| text.chars().take(Element::TEXT_MAX).collect());
            Ok(element)
        };
        Box::pin(reading).await.map_err(|error| self.error(OPERATION, table, error))
    }

    /// The formula of a cell, where its attributes tell.
    pub(crate) async fn formula(&self, table: ElementId, at: CellRef) -> DesktopResult<Option<String>> {
        const OPERATION: &str = "read a formula";
        let known = self.known(table)?;
        let bus = &self.shared.bus;
        let reading = async {
            let cell = cell_object(bus, &known.object, at).await?;
            let attributes: HashMap<String, String> =
                bus.call(&cell, ACCESSIBLE, "GetAttributes", &()).await?;
            Ok(attributes.get("Formula").map(|formula| unescaped(formula)))
        };
        match reading.await {
            Err(AtspiCallError::NotOffered | AtspiCallError::Refused(_)) => Ok(None),
            other => other.map_err(|error| self.error(OPERATION, table, error)),
        }
    }

    /// The object of a cell with its properties and text.
    async fn read_cell(
        &self,
        application: &Application,
        table: &ElementObject,
        at: CellRef,
    ) -> CallResult<(ObjectRef, Element, String)> {
        let bus = &self.shared.bus;
        for _ in 0..CELL_TRIES_MAX {
            let cell = cell_object(bus, &table.object, at).await?;
            let read = tokio::try_join!(
                self.read_element(bus, application, &cell, table.shift),
                cell_text(bus, &cell),
            );
            match read {
                Err(AtspiCallError::NoObject) => {}
                other => return other.map(|(element, text)| (cell, element, text)),
            }
        }
        Err(restless(at))
    }

    /// Checks that an element is a table that has the cells of a range.
    async fn check_range(
        &self,
        operation: &'static str,
        id: ElementId,
        table: &ObjectRef,
        range: CellRange,
    ) -> DesktopResult<()> {
        let shape = match read_shape(&self.shared.bus, table).await {
            Ok(shape) => shape,
            // GTK answers `Get failed` for the size of an object that is not a table.
            Err(AtspiCallError::NotOffered | AtspiCallError::Refused(_))
                if !self.element(id).await?.offers(ElementCapability::Table) =>
            {
                return Err(DesktopError::NotOffered {
                    operation,
                    element: id.to_string(),
                    needs: format!("the pattern {:?}", ElementCapability::Table),
                });
            }
            Err(error) => return Err(self.error(operation, id, error)),
        };
        if range.last.row >= shape.rows || range.last.column >= shape.columns {
            let reason =
                format!("{range} lies outside its {} rows and {} columns", shape.rows, shape.columns);
            return Err(DesktopError::failed(operation, reason));
        }
        if range.cell_count() > CELLS_MAX {
            let reason = format!("{range} has more than {CELLS_MAX} cells; read it in parts");
            return Err(DesktopError::failed(operation, reason));
        }
        Ok(())
    }
}
