//! Area in which an item is drawn: file managers take clicks on the picture and the name of a file, and not
//! between them.

use deskhand_desktop::{Desktop, DesktopResult, Picture};
use deskhand_ui::{
    Element, Role,
    geometry::{Point, Rect, Screen},
};

/// Distance around the middle within which something has to be drawn, in pixels.
const AROUND: i32 = 6;

/// The point of an item to click: its middle, or where something is drawn next to it. Other elements take clicks everywhere.
pub(crate) async fn drawn_point<D: Desktop>(
    desktop: &D,
    element: &Element,
    bounds: Rect<Screen>,
) -> DesktopResult<Point<Screen>> {
    let is_item = [Role::TABLE_CELL, Role::LIST_ITEM, Role::ICON].contains(&element.role)
        && element.patterns.is_empty()
        && !element.name.is_empty();
    if !is_item {
        return Ok(bounds.center());
    }
    Ok(nearest_ink(&desktop.region(bounds).await?).unwrap_or_else(|| bounds.center()))
}

/// The point nearest to the middle of a picture where something is drawn, if that is not near the middle.
fn nearest_ink(picture: &Picture) -> Option<Point<Screen>> {
    let Rect { x, y, width, .. } = picture.region;
    let middle = picture.region.center();
    let pixels: Vec<&[u8]> = picture.rgb.chunks_exact(3).collect();
    let columns = usize::try_from(width).ok().filter(|width| *width > 0)?;
    let ground = {
        let (across, down) = (usize::try_from(middle.x - x).ok()?, usize::try_from(middle.y - y).ok()?);
        *pixels.get(down.checked_mul(columns)?.checked_add(across)?)?
    };
    let inked = pixels.iter().enumerate().filter(|(_, pixel)| **pixel != ground);
    let places = inked.filter_map(|(at, _)| {
        let (across, down) = (i32::try_from(at % columns).ok()?, i32::try_from(at / columns).ok()?);
        Some(Point::new(x + across, y + down))
    });
    let distance = |point: &Point<Screen>| (point.x - middle.x).pow(2) + (point.y - middle.y).pow(2);
    places.min_by_key(distance).filter(|point| distance(point) > AROUND * AROUND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_without_a_picture_is_clicked_at_its_name() {
        let region = Rect::new(100, 50, 40, 30);
        let mut picture = Picture { region, rgb: vec![255; 40 * 30 * 3] };
        assert_eq!(nearest_ink(&picture), None, "nothing is drawn");
        let mut ink = |x: usize, y: usize| picture.rgb[(y * 40 + x) * 3] = 0;
        ink(5, 27);
        ink(22, 26);
        assert_eq!(nearest_ink(&picture), Some(Point::new(122, 76)));
        let mut ink = |x: usize, y: usize| picture.rgb[(y * 40 + x) * 3] = 0;
        ink(18, 14);
        assert_eq!(nearest_ink(&picture), None, "its middle is drawn");
    }
}
