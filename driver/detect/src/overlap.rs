//! Overlap of rectangles.

use deskhand_ui::geometry::Rect;

/// The number of pixels of a rectangle.
pub(crate) fn area<S>(rect: &Rect<S>) -> f64 {
    f64::from(rect.width) * f64::from(rect.height)
}

/// The intersection over union of two rectangles: 1 if equal, 0 if apart.
pub(crate) fn intersection_over_union<S: Copy>(one: &Rect<S>, other: &Rect<S>) -> f64 {
    let Some(overlap) = one.intersection(other) else { return 0.0 };
    area(&overlap) / (area(one) + area(other) - area(&overlap))
}

/// The share of `inner` that is inside `outer`.
pub(crate) fn share_inside<S: Copy>(inner: &Rect<S>, outer: &Rect<S>) -> f64 {
    inner.intersection(outer).map_or(0.0, |overlap| area(&overlap) / area(inner))
}

/// The smallest rectangle around both.
pub(crate) fn around<S>(one: &Rect<S>, other: &Rect<S>) -> Rect<S> {
    let (x, y) = (one.x.min(other.x), one.y.min(other.y));
    Rect::new(x, y, one.right().max(other.right()) - x, one.bottom().max(other.bottom()) - y)
}

/// The rectangle extended by `margin` pixels on each side.
pub(crate) const fn padded<S>(rect: &Rect<S>, margin: i32) -> Rect<S> {
    Rect::new(rect.x - margin, rect.y - margin, rect.width + 2 * margin, rect.height + 2 * margin)
}

#[cfg(test)]
mod tests {
    use deskhand_ui::geometry::Screen;

    use super::*;

    fn rect(x: i32, y: i32, width: i32, height: i32) -> Rect<Screen> {
        Rect::new(x, y, width, height)
    }

    #[test]
    fn shares_are_of_pixels() {
        let check = |one, other, expected: f64| {
            let found = intersection_over_union(&one, &other);
            assert!((found - expected).abs() < 1e-9, "{one:?} {other:?}: {found}");
        };
        check(rect(0, 0, 10, 10), rect(0, 0, 10, 10), 1.0);
        check(rect(0, 0, 10, 10), rect(10, 0, 10, 10), 0.0);
        check(rect(0, 0, 10, 10), rect(5, 0, 10, 10), 50.0 / 150.0);
        check(rect(0, 0, 100, 100), rect(0, 0, 10, 10), 0.01);
        check(rect(0, 0, 0, 10), rect(0, 0, 10, 10), 0.0);
        assert!((share_inside(&rect(90, 0, 20, 10), &rect(0, 0, 100, 100)) - 0.5).abs() < 1e-9);
        assert_eq!(around(&rect(0, 0, 5, 5), &rect(10, 20, 5, 5)), rect(0, 0, 15, 25));
        assert_eq!(padded(&rect(5, 5, 1, 1), 2), rect(3, 3, 5, 5));
    }
}
