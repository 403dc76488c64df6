//! Points and rectangles typed by their coordinate space.
//!
//! Mixing the coordinates of a picture with those of the screen is a classic mistake; here it does not compile. All
//! coordinates are whole pixels, origin top left, y downwards.

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

/// The whole virtual screen (the X11 root window); input uses this space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Screen {}
/// Relative to the top left corner of a window's client area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WindowSpace {}
/// Pixels of one picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Image {}

/// A point in space `S`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Point<S> {
    /// Pixels from the left edge.
    pub x: i32,
    /// Pixels from the top edge.
    pub y: i32,
    #[serde(skip)]
    space: PhantomData<S>,
}

impl<S> Point<S> {
    /// A point at (`x`, `y`).
    pub const fn new(x: i32, y: i32) -> Self {
        Self { x, y, space: PhantomData }
    }
}

/// A rectangle in space `S`: left, top, width, height. Serialised as `[x, y, width, height]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "[i32; 4]", from = "[i32; 4]", bound = "S: Copy")]
pub struct Rect<S> {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width, never negative.
    pub width: i32,
    /// Height, never negative.
    pub height: i32,
    space: PhantomData<S>,
}

impl<S> From<Rect<S>> for [i32; 4] {
    fn from(rect: Rect<S>) -> Self {
        [rect.x, rect.y, rect.width, rect.height]
    }
}

impl<S> From<[i32; 4]> for Rect<S> {
    fn from([x, y, width, height]: [i32; 4]) -> Self {
        Self::new(x, y, width, height)
    }
}

impl<S> Rect<S> {
    /// A rectangle; a negative width or height becomes 0.
    pub const fn new(x: i32, y: i32, width: i32, height: i32) -> Self {
        let width = if width < 0 { 0 } else { width };
        let height = if height < 0 { 0 } else { height };
        Self { x, y, width, height, space: PhantomData }
    }

    /// The first column to the right of the rectangle.
    pub const fn right(&self) -> i32 {
        self.x.saturating_add(self.width)
    }

    /// The first row below the rectangle.
    pub const fn bottom(&self) -> i32 {
        self.y.saturating_add(self.height)
    }

    /// Returns `true` if it covers no pixel.
    pub const fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// The middle pixel.
    pub const fn center(&self) -> Point<S> {
        Point::new(self.x.saturating_add(self.width / 2), self.y.saturating_add(self.height / 2))
    }

    /// The pixel at these fractions of width and height: 0 is the left or top edge, 1 the right or bottom one. `None` if
    /// a fraction is outside 0 to 1 or the rectangle is empty.
    pub fn at_fraction(&self, x: f64, y: f64) -> Option<Point<S>> {
        let along = |fraction: f64, length: i32| {
            (0.0..=1.0)
                .contains(&fraction)
                .then(|| (f64::from(length.saturating_sub(1)) * fraction).round() as i32)
        };
        let (right, down) = (along(x, self.width)?, along(y, self.height)?);
        (!self.is_empty()).then(|| Point::new(self.x.saturating_add(right), self.y.saturating_add(down)))
    }

    /// Returns `true` if `point` is inside.
    pub const fn contains(&self, point: &Point<S>) -> bool {
        point.x >= self.x && point.x < self.right() && point.y >= self.y && point.y < self.bottom()
    }

    /// The same rectangle with `margin` pixels more on each side.
    pub const fn grown_by(&self, margin: i32) -> Self {
        let twice = margin.saturating_mul(2);
        Self::new(
            self.x.saturating_sub(margin),
            self.y.saturating_sub(margin),
            self.width.saturating_add(twice),
            self.height.saturating_add(twice),
        )
    }

    /// The intersection, if not empty.
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let (x, y) = (self.x.max(other.x), self.y.max(other.y));
        let overlap = Self::new(
            x,
            y,
            self.right().min(other.right()).saturating_sub(x),
            self.bottom().min(other.bottom()).saturating_sub(y),
        );
        (!overlap.is_empty()).then_some(overlap)
    }

    /// The smallest rectangle that contains both.
    #[must_use]
    pub fn enclosing(&self, other: &Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let (right, bottom) = (self.right().max(other.right()), self.bottom().max(other.bottom()));
        Self::new(x, y, right.saturating_sub(x), bottom.saturating_sub(y))
    }

    /// The same rectangle in the space whose origin is `origin`.
    pub const fn relative_to<T>(&self, origin: &Point<S>) -> Rect<T> {
        Rect::new(self.x.saturating_sub(origin.x), self.y.saturating_sub(origin.y), self.width, self.height)
    }

    /// The top left corner.
    pub const fn origin(&self) -> Point<S> {
        Point::new(self.x, self.y)
    }
}

/// A size in pixels, such as that of a screen. Formatted as `1920x1080`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Size {
    /// Pixels across.
    pub width: u16,
    /// Pixels down.
    pub height: u16,
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

impl std::str::FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hint = || format!("`{text}` is not a size such as 1920x1080 (each side 320 to 16384)");
        let (width, height) = text.trim().split_once(['x', 'X']).ok_or_else(hint)?;
        let side = |digits: &str| {
            digits.parse::<u16>().ok().filter(|side| (320..=16384).contains(side)).ok_or_else(hint)
        };
        Ok(Self { width: side(width)?, height: side(height)? })
    }
}
