//! Detection of the lines of text in a picture.

use std::ops::Range;

use image::{RgbImage, imageops};
use rten::{Model, RunOptions};

use super::{
    boxes::{PixelRect, lines},
    error::OcrError,
    sides::{sides, u32_of},
    squeeze::SqueezedPicture,
    tensor::{channels, compute, load},
    workers::InferenceWorkers,
};

/// The sides of the model's input are multiples of this.
const STEP: usize = 32;
/// The most pixels that are looked at in one go: the memory that the model needs grows with them.
const PIXELS_MAX: usize = 1_500_000;
/// By how much bands overlap, in pixels: more than the height of a line.
const OVERLAP: usize = 64;
/// The least height of a band, in pixels: in lower ones, most of the work would be done twice.
const BAND_MIN: usize = 160;

/// Finds lines of text.
pub(crate) struct Detector {
    model: Model,
}

impl Detector {
    /// Loads the model.
    ///
    /// # Errors
    /// It is no such model.
    pub(crate) fn load(file: Vec<u8>) -> Result<Self, OcrError> {
        Ok(Self { model: load(file, "detector")? })
    }

    /// The boxes of the lines in a picture. What is blank is left out, and bands of the rest are looked at side by side.
    ///
    /// # Errors
    /// The computation failed.
    pub(crate) fn lines(
        &self,
        picture: &RgbImage,
        workers: &InferenceWorkers,
    ) -> Result<Vec<PixelRect>, OcrError> {
        let squeezed = SqueezedPicture::of(picture);
        let picture = &squeezed.picture;
        let (width, height) = sides(picture);
        let bands = bands(width, height, workers.count());
        let found = workers.each(
            &bands,
            |band| band.rows.len(),
            |band, options| {
                let (top, rows) = (u32_of(band.rows.start), u32_of(band.rows.len()));
                let part = imageops::crop_imm(picture, 0, top, picture.width(), rows).to_image();
                let lines = self.lines_of_band(&part, options)?;
                let moved = |line: PixelRect| PixelRect {
                    top: line.top + band.rows.start,
                    bottom: line.bottom + band.rows.start,
                    ..line
                };
                // A line in two bands belongs to the one with most of what is around it.
                let belongs = |line: &PixelRect| band.own.contains(&usize::midpoint(line.top, line.bottom));
                Ok(lines.into_iter().map(moved).filter(belongs).collect::<Vec<PixelRect>>())
            },
        )?;
        Ok(found.into_iter().flatten().map(|line| squeezed.original(&line)).collect())
    }

    fn lines_of_band(&self, picture: &RgbImage, options: RunOptions) -> Result<Vec<PixelRect>, OcrError> {
        let (width, height) = sides(picture);
        let (across, down) = (width.next_multiple_of(STEP), height.next_multiple_of(STEP));
        let input = channels(picture, across, down);
        let ([_, _, map_height, map_width], map) =
            compute::<4>(&self.model, "detector", input, [across, down], options)?;
        if (map_width, map_height) != (across, down) {
            let problem = format!("a map of {map_width} × {map_height} for {across} × {down} pixels");
            return Err(OcrError::Model { part: "detector", problem });
        }
        let within = |line: &PixelRect| line.left < width && line.top < height;
        let cut = |line: PixelRect| line.grown(0, 0, width, height);
        Ok(lines(&map, across).into_iter().filter(within).map(cut).collect())
    }
}

/// A part of a picture that is looked at in one go.
#[derive(Debug, PartialEq, Eq)]
struct Band {
    /// Its rows.
    rows: Range<usize>,
    /// The range that contains the middles of the band's lines.
    own: Range<usize>,
}

/// The bands of a picture: one for each worker, unless they would be too low or too large.
fn bands(width: usize, height: usize, workers: usize) -> Vec<Band> {
    let most = (PIXELS_MAX / width.max(1)).max(4 * OVERLAP);
    let fewest = height.div_ceil(most).max(1);
    let count = workers.min(height / BAND_MIN).max(fewest);
    let edge = |number: usize| number * height / count;
    (0..count)
        .map(|number| {
            let own = edge(number)..edge(number + 1);
            Band { rows: own.start.saturating_sub(OVERLAP / 2)..(own.end + OVERLAP / 2).min(height), own }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_cover_a_picture_once() {
        for (width, height, workers) in
            [(1_280, 800, 2), (3_840, 2_160, 4), (300, 60, 4), (1, 1, 1), (200, 9_000, 2)]
        {
            let bands = bands(width, height, workers);
            let ends: Vec<usize> = bands.iter().map(|band| band.own.end).collect();
            let starts: Vec<usize> = bands.iter().map(|band| band.own.start).collect();
            assert_eq!((starts[0], ends.last()), (0, Some(&height)));
            assert_eq!(starts[1..], ends[..ends.len() - 1]);
            for band in &bands {
                assert!(band.rows.len() * width <= PIXELS_MAX + 4 * OVERLAP * width, "{band:?}");
                assert!(band.rows.start <= band.own.start && band.own.end <= band.rows.end, "{band:?}");
            }
        }
        assert_eq!(bands(1_280, 800, 2).len(), 2);
        assert_eq!(bands(300, 60, 4).len(), 1);
    }
}
