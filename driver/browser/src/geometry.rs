//! Tells windows with the same title apart by their place on the screen.

use x11rb::{
    connection::Connection as _, protocol::xproto::ConnectionExt as _, rust_connection::RustConnection,
};

/// A rectangle on the screen, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BrowserWindowBounds {
    pub(crate) x: i64,
    pub(crate) y: i64,
    pub(crate) width: i64,
    pub(crate) height: i64,
}

/// Maximum difference between the two reported positions of a window, in pixels: frames and shadows count
/// differently.
const APART_MAX: i64 = 80;

/// Returns the bounds of a window. X11 calls block, so this runs on a thread of its own.
pub(crate) async fn window_bounds(xid: u32) -> Option<BrowserWindowBounds> {
    tokio::task::spawn_blocking(move || asked(xid)).await.ok().flatten()
}

fn asked(xid: u32) -> Option<BrowserWindowBounds> {
    let (connection, screen) = RustConnection::connect(None).ok()?;
    let root = connection.setup().roots.get(screen)?.root;
    let geometry = connection.get_geometry(xid).ok()?.reply().ok()?;
    let place = connection.translate_coordinates(xid, root, 0, 0).ok()?.reply().ok()?;
    Some(BrowserWindowBounds {
        x: place.dst_x.into(),
        y: place.dst_y.into(),
        width: geometry.width.into(),
        height: geometry.height.into(),
    })
}

/// The one that is clearly nearest.
pub(crate) fn nearest(window: BrowserWindowBounds, pages: &[(usize, BrowserWindowBounds)]) -> Option<usize> {
    let mut distances: Vec<(i64, usize)> =
        pages.iter().map(|(index, bounds)| (distance(window, *bounds), *index)).collect();
    distances.sort_unstable();
    match distances.as_slice() {
        [(first, index), (second, _), ..] if *first <= APART_MAX && second > first => Some(*index),
        [(first, index)] if *first <= APART_MAX => Some(*index),
        [] | [_] | [_, _, ..] => None,
    }
}

fn distance(one: BrowserWindowBounds, other: BrowserWindowBounds) -> i64 {
    let apart = |one: i64, other: i64| (one - other).abs();
    apart(one.x, other.x)
        + apart(one.y, other.y)
        + apart(one.width, other.width)
        + apart(one.height, other.height)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_window_is_the_one() {
        let at = |x| BrowserWindowBounds { x, y: 0, width: 100, height: 100 };
        assert_eq!(nearest(at(5), &[(1, at(0)), (2, at(50))]), Some(1));
        assert_eq!(nearest(at(5), &[(1, at(0)), (2, at(0))]), None);
        assert_eq!(nearest(at(500), &[(1, at(0)), (2, at(50))]), None);
    }
}
