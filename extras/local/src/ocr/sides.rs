//! Sides of pictures as the numbers that are computed with.

use image::RgbImage;

/// The width and height of a picture.
pub(crate) fn sides(picture: &RgbImage) -> (usize, usize) {
    let side = |length: u32| usize::try_from(length).unwrap_or(0);
    (side(picture.width()), side(picture.height()))
}

pub(crate) fn u32_of(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
