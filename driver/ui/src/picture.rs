//! Pictures by reference.

use serde::{Deserialize, Serialize};

use crate::geometry::{Image, Point, Rect, Screen};

/// A picture stored beside the journal under the hash of its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PictureRef {
    /// SHA-256 of the file, lower-case hexadecimal.
    pub sha256: String,
    /// `image/png` or `image/jpeg`.
    pub media_type: String,
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// The part of the screen it shows.
    pub region: Rect<Screen>,
}

impl PictureRef {
    /// Lossless pictures.
    pub const PNG: &str = "image/png";
    /// Compressed pictures.
    pub const JPEG: &str = "image/jpeg";

    /// Extension of its file.
    pub fn extension(&self) -> &'static str {
        if self.media_type == Self::JPEG { "jpg" } else { "png" }
    }

    /// Converts screen bounds to the picture, which may be scaled; `None` if they are outside.
    pub fn to_image(&self, bounds: &Rect<Screen>) -> Option<Rect<Image>> {
        let seen = bounds.intersection(&self.region)?;
        let across = |x: i32| scale(x - self.region.x, self.width, self.region.width);
        let down = |y: i32| scale(y - self.region.y, self.height, self.region.height);
        let (left, top) = (across(seen.x), down(seen.y));
        Some(Rect::new(left, top, across(seen.right()) - left, down(seen.bottom()) - top))
    }

    /// Converts a pixel of the picture to the screen.
    pub fn to_screen(&self, pixel: &Point<Image>) -> Point<Screen> {
        let back = |place: i32, side: i32, of: u32| scale_back(place, side, of);
        Point::new(
            self.region.x.saturating_add(back(pixel.x, self.region.width, self.width)),
            self.region.y.saturating_add(back(pixel.y, self.region.height, self.height)),
        )
    }
}

/// Scales the coordinate `place` from `from` to `to` pixels.
fn scale(place: i32, to: u32, from: i32) -> i32 {
    let scaled = i64::from(place) * i64::from(to) / i64::from(from.max(1));
    i32::try_from(scaled).unwrap_or(i32::MAX)
}

/// The centre, in `to` pixels, of the area that the pixel `place` of `from` covers.
fn scale_back(place: i32, to: i32, from: u32) -> i32 {
    let from = i64::from(from.max(1));
    let scaled = (i64::from(place) * 2 + 1) * i64::from(to) / (from * 2);
    i32::try_from(scaled).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_round_trip_in_scaled_pictures() {
        for (width, height) in [(1920, 1080), (1280, 720), (640, 360), (101, 57)] {
            let picture = PictureRef {
                sha256: String::new(),
                media_type: "image/png".to_owned(),
                width,
                height,
                region: Rect::new(30, 40, 1920, 1080),
            };
            for bounds in
                [Rect::new(30, 40, 60, 60), Rect::new(1000, 500, 120, 90), Rect::new(1800, 1000, 150, 120)]
            {
                let place = picture.to_image(&bounds).expect("it shows");
                let back = picture.to_screen(&place.center());
                assert!(
                    bounds.contains(&back),
                    "{bounds:?} is at {place:?} of {width}x{height}, and back at {back:?}"
                );
            }
            assert_eq!(picture.to_image(&Rect::new(0, 0, 30, 40)), None);
        }
    }
}
