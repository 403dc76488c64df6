//! Lengths of pictures, for computing and for the image library.

use image::RgbImage;

/// The width and height of a picture.
pub(crate) fn sides(picture: &RgbImage) -> (usize, usize) {
    let side = |length: u32| usize::try_from(length).unwrap_or(0);
    (side(picture.width()), side(picture.height()))
}

/// A length as the type of the image library; the largest one if it is too large for that.
pub(crate) fn u32_of(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
