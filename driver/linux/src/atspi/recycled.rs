//! Lists of GTK 4 that keep rows which went out of view where they were: which of their rows are in view.
//!
//! A list has objects for the 200 rows or so around those in view. A row that was not in view yet has no size; one that
//! was and is not any longer keeps its place and its states. The object at a point is the one that is drawn there, once
//! it and what it contains have been read.

use deskhand_ui::{
    Role,
    geometry::{Rect, Screen},
};

use super::{
    bus::{AtspiCallError, Bus, CallResult, pipelined},
    component::{extents, object_at},
    quirks::AtspiToolkit,
    view::child_with,
    wire::ObjectRef,
};

/// The most objects of a list whose places are read. Lists that make objects only for rows around those in view have fewer.
const OBJECTS_MAX: u32 = 1_000;

impl AtspiToolkit {
    /// Returns `true` if rows of a container with this role may have gone out of view although they report that they show.
    pub(crate) fn recycles(self, role: &Role) -> bool {
        (self.0.recycles)(role)
    }

    /// Returns `true` if the rows in view of a container are found by the places of all its children.
    pub(crate) fn has_rows_by_place(self, role: &Role, child_count: u32) -> bool {
        self.recycles(role) && child_count <= OBJECTS_MAX
    }
}

/// Those of the children of a list that report a place in `area`, and the part of it that is there, in the coordinates of the
/// toolkit.
pub(crate) async fn placed_in(
    bus: &Bus,
    children: Vec<ObjectRef>,
    area: Rect<Screen>,
) -> CallResult<Vec<(ObjectRef, Rect<Screen>)>> {
    let read = pipelined(children, |child| async move {
        match extents(bus, &child).await {
            Ok(place) => Ok(place.and_then(|place| Some((child, place.intersection(&area)?)))),
            Err(AtspiCallError::NoObject) => Ok(None),
            Err(error) => Err(error),
        }
    })
    .await;
    read.into_iter().filter_map(Result::transpose).collect()
}

/// Returns `true` if something else is drawn where a row of a list reports to be: another row, or the list
/// itself. `place` is the part of the row that is in view, in the coordinates of the toolkit.
pub(crate) async fn is_elsewhere(
    bus: &Bus,
    list: &ObjectRef,
    row: &ObjectRef,
    place: Rect<Screen>,
) -> CallResult<bool> {
    let at = place.center();
    Ok(row_at(bus, list, (at.x, at.y)).await?.is_some_and(|drawn| drawn != *row))
}

/// Returns the part of a list that is drawn at a point: one of its rows, or the list itself; `None` if unknown.
pub(crate) async fn row_at(bus: &Bus, list: &ObjectRef, (x, y): (i32, i32)) -> CallResult<Option<ObjectRef>> {
    match object_at(bus, list, x, y).await? {
        Some(found) if found == *list => Ok(Some(found)),
        Some(found) => child_with(bus, list, found).await,
        None => Ok(None),
    }
}

/// Those of the children of a list with these extents that are in view.
pub(crate) async fn rows_in_view(
    bus: &Bus,
    list: &ObjectRef,
    children: Vec<ObjectRef>,
    extents_of_list: Option<Rect<Screen>>,
) -> CallResult<Vec<ObjectRef>> {
    let Some(area) = extents_of_list else { return Ok(Vec::new()) };
    let placed = placed_in(bus, children, area).await?;
    let read = pipelined(placed, |(row, place)| async move {
        Ok((!is_elsewhere(bus, list, &row, place).await?).then_some(row))
    })
    .await;
    read.into_iter().filter_map(Result::transpose).collect()
}
