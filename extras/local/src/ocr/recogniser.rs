//! Recognition of the text of a line.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Mutex, MutexGuard, PoisonError},
};

use image::{GenericImageView as _, RgbImage, imageops};
use rten::{Model, RunOptions};

use super::{
    Letters,
    error::OcrError,
    ink::OcrLabelBox,
    letters::has,
    sides::{sides, u32_of},
    tensor::{channels, compute, load},
};

/// The height of the input of the model, in pixels.
const HEIGHT: usize = 48;
/// The least width of its input: shorter labels are filled up.
const WIDTH_MIN: usize = 64;
/// The most; a longer line is pressed together.
const WIDTH_MAX: usize = 3_200;
/// The input width is a multiple of this, so that few widths occur.
const STEP: usize = 16;
/// The margin around a label that is read with it, as a share of its height: the model was trained on loose boxes.
const MARGIN: f32 = 0.15;
/// From which share of the height of its letters a gap in a label is a space.
const SPACE_SHARE: f32 = 0.5;

/// The most labels whose texts are kept; then all are forgotten.
const KEPT_MAX: usize = 4_000;

/// Reads lines.
pub(crate) struct Recogniser {
    model: Model,
    /// The text of each class; the first one is none.
    classes: Vec<String>,
    /// The classes that may be none or a Latin letter: few of all.
    latin: Vec<usize>,
    /// Texts read before, by the pixels of each label: much of a window looks the same after it was scrolled or
    /// redrawn.
    kept: Mutex<HashMap<Seen, RecognisedLine>>,
}

/// The pixels of a label, and which letters were looked for.
type Seen = (Letters, u32, Vec<u8>);

/// The text of a line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RecognisedLine {
    pub(crate) text: String,
    /// The mean certainty of the letters, from 0 to 1.
    pub(crate) certainty: f32,
}

impl Recogniser {
    /// Loads the model, which names its letters.
    ///
    /// # Errors
    /// It is no such model.
    pub(crate) fn load(file: Vec<u8>) -> Result<Self, OcrError> {
        const LETTERS: &str = "character";
        let model = load(file, "recogniser")?;
        let letters = model.metadata().get(LETTERS).ok_or_else(|| OcrError::Model {
            part: "recogniser",
            problem: format!("it has no `{LETTERS}` in its metadata"),
        })?;
        let mut classes = vec![String::new()];
        classes.extend(letters.split('\n').filter(|letter| !letter.is_empty()).map(str::to_owned));
        classes.push(" ".to_owned());
        let is_latin = |class: &String| class.chars().next().is_none_or(|letter| has(Letters::Latin, letter));
        let latin = (0..classes.len()).filter(|place| classes.get(*place).is_some_and(is_latin)).collect();
        Ok(Self { model, classes, latin, kept: Mutex::default() })
    }

    /// Reads the text of a label.
    ///
    /// # Errors
    /// The computation failed.
    pub(crate) fn read(
        &self,
        picture: &RgbImage,
        label: &OcrLabelBox,
        letters: Letters,
        options: RunOptions,
    ) -> Result<RecognisedLine, OcrError> {
        let (width, height) = sides(picture);
        let margin = ((label.area.height() as f32 * MARGIN).round() as usize).max(2);
        let area = label.area.grown(margin, margin, width, height);
        let wide = (area.width() * HEIGHT / area.height().max(1)).clamp(8, WIDTH_MAX);
        let across = wide.next_multiple_of(STEP).max(WIDTH_MIN);
        let (left, top) = (u32_of(area.left), u32_of(area.top));
        let part = imageops::crop_imm(picture, left, top, u32_of(area.width()), u32_of(area.height()));
        let seen = (letters, part.width(), part.to_image().into_raw());
        if let Some(said) = self.kept().get(&seen) {
            return Ok(said.clone());
        }
        // As the model was trained.
        let scaled = imageops::resize(&*part, u32_of(wide), u32_of(HEIGHT), imageops::FilterType::Triangle);
        let input = channels(&scaled, across, HEIGHT);
        let ([_, steps, classes], likely) =
            compute::<3>(&self.model, "recogniser", input, [across, HEIGHT], options)?;
        if classes != self.classes.len() || likely.len() != steps * classes {
            let problem = format!("{classes} classes for {} letters", self.classes.len());
            return Err(OcrError::Model { part: "recogniser", problem });
        }
        let spaces =
            label.gaps.iter().filter(|gap| gap.len() as f32 >= SPACE_SHARE * label.area.height() as f32);
        // The step of the middle of each space.
        let step = |gap: &Range<usize>| {
            let middle = (gap.start + gap.end) as f32 / 2.0 - area.left as f32;
            middle / area.width() as f32 * wide as f32 / across as f32 * steps as f32
        };
        let said = self.decode(&likely, letters, &spaces.map(step).collect::<Vec<f32>>());
        let mut kept = self.kept();
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(seen, said.clone());
        Ok(said)
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<Seen, RecognisedLine>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The most likely letter of each step; the same one again, and none, are left out. Spaces that the model overlooked are put in.
    fn decode(&self, likely: &[f32], letters: Letters, spaces: &[f32]) -> RecognisedLine {
        let (mut text, mut sum, mut count) = (String::new(), 0.0, 0.0_f32);
        let (mut last, mut last_step) = (0, f32::INFINITY);
        for (step, likely) in likely.chunks_exact(self.classes.len().max(1)).enumerate() {
            let above = |(_, one): &(usize, &f32), (_, other): &(usize, &f32)| one.total_cmp(other);
            let best = match letters {
                Letters::All => likely.iter().enumerate().max_by(above),
                Letters::Latin => {
                    self.latin.iter().filter_map(|place| Some((*place, likely.get(*place)?))).max_by(above)
                }
            };
            let Some((best, how)) = best else { continue };
            if best != 0 && best != last {
                let letter = self.classes.get(best).map_or("", String::as_str);
                let step = step as f32 + 0.5;
                if may_have_space(&text, letter)
                    && spaces.iter().any(|space| (last_step..step).contains(space))
                {
                    text.push(' ');
                }
                text.push_str(letter);
                sum += how;
                count += 1.0;
                last_step = step;
            }
            last = best;
        }
        RecognisedLine {
            text: text.trim().to_owned(),
            certainty: if count > 0.0 { sum / count } else { 0.0 },
        }
    }
}

/// Returns `true` if a space may be overlooked between a text and the next letter: signs have gaps around them without one.
fn may_have_space(text: &str, next: &str) -> bool {
    let ends = text.ends_with(|letter: char| letter.is_alphanumeric() || ")]%,".contains(letter));
    ends && next.starts_with(|letter: char| letter.is_alphanumeric() || "([".contains(letter))
}
