//! The `Component` interface: the position of an object, and the object at a point.

use deskhand_ui::geometry::{Rect, Screen};

use super::{
    bus::{AtspiCallError, Bus, COMPONENT, CallResult},
    wire::{ObjectRef, WireRef},
};

/// The extents on the screen that an object reports, if any.
pub(crate) async fn extents(bus: &Bus, object: &ObjectRef) -> CallResult<Option<Rect<Screen>>> {
    /// `ATSPI_COORD_TYPE_SCREEN`
    const SCREEN: u32 = 0;
    let (x, y, width, height): (i32, i32, i32, i32) =
        match bus.call::<_, ((i32, i32, i32, i32),)>(object, COMPONENT, "GetExtents", &SCREEN).await {
            Ok((extents,)) => extents,
            Err(AtspiCallError::NotOffered) => return Ok(None),
            Err(error) => return Err(error),
        };
    Ok((x != i32::MIN && y != i32::MIN).then(|| Rect::new(x, y, width, height)))
}

/// The object at a point, in the coordinates that the object's own extents are in.
pub(crate) async fn object_at(
    bus: &Bus,
    object: &ObjectRef,
    x: i32,
    y: i32,
) -> CallResult<Option<ObjectRef>> {
    let sent: WireRef = bus.call(object, COMPONENT, "GetAccessibleAtPoint", &(x, y, 0_u32)).await?;
    Ok(ObjectRef::from_wire(&sent))
}
