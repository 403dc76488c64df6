//! What was read from pictures of windows, so that only changes are read again, and which detectors failed and are
//! paused.

use std::collections::HashMap;

use deskhand_core::{
    duration::milliseconds,
    geometry::{Rect, Screen},
    ids::WindowId,
};
use deskhand_desktop::Picture;
use tokio::time::Instant;

use crate::{
    changed::changed,
    omniparser::{Omniparser, ParsedBox},
    options::DetectOptions,
    overlap::{area, around, intersection_over_union, padded},
    reading::{ReadError, Reader},
    words::Label,
};

/// The most windows whose pictures are kept.
const WINDOWS_MAX: usize = 12;
/// If at least this share of a window changed, all of it is read.
const WHOLE_FROM: f64 = 0.6;
/// The margin that is read around a changed area, in pixels: letters at the edge of a picture are misread.
const MARGIN: i32 = 10;
/// How often a changed area is extended to the texts that reach into it.
const WIDENED_MAX: usize = 8;

/// What is known of the picture of one window.
#[derive(Debug, Default)]
struct Glance {
    labels: Option<Reading<Label>>,
    boxes: Option<Reading<ParsedBox>>,
}

/// A picture and what was found in it.
#[derive(Debug)]
struct Reading<T> {
    picture: Picture,
    found: Vec<T>,
}

/// A detector that failed.
#[derive(Debug)]
struct Pause {
    until: Instant,
    notice: String,
}

/// What the detectors found so far.
#[derive(Debug, Default)]
pub(crate) struct Eyes {
    glances: HashMap<WindowId, Glance>,
    ocr: Option<Pause>,
    parser: Option<Pause>,
}

/// What to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wants {
    /// Whether to read text.
    pub(crate) text: bool,
    /// Which boxes to use.
    pub(crate) boxes: Boxes,
}

/// Which boxes of a visual parser to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Boxes {
    /// None.
    No,
    /// Those of the last picture.
    Last,
    /// Those of the current picture.
    Now,
}

/// What was found in a picture.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    pub(crate) labels: Vec<Label>,
    pub(crate) boxes: Vec<ParsedBox>,
    /// What could not be used, with the cause and the next step.
    pub(crate) notices: Vec<String>,
}

impl Eyes {
    /// Finds what is requested in a picture of a window.
    pub(crate) async fn look(
        &mut self,
        window: WindowId,
        picture: &Picture,
        wants: Wants,
        reader: &Reader,
        parser: Option<&Omniparser>,
        options: &DetectOptions,
    ) -> Looked {
        if self.glances.len() >= WINDOWS_MAX && !self.glances.contains_key(&window) {
            self.glances.clear();
        }
        let Glance { labels, boxes } = self.glances.remove(&window).unwrap_or_default();
        let mut looked = Looked::default();
        let text = async {
            let paused = pause_notice(self.ocr.as_ref());
            match (wants.text, paused) {
                (false, _) => Ok(None),
                (true, Some(notice)) => Err((notice, None)),
                (true, None) => labels_of(labels, picture, reader)
                    .await
                    .map(Some)
                    .map_err(|error| failed("cannot read text from pictures", &error, &error.fix(), options)),
            }
        };
        let parsed = async {
            let paused = pause_notice(self.parser.as_ref());
            match (wants.boxes, parser, paused) {
                (Boxes::No, _, _) | (_, None, _) => Ok(None),
                (Boxes::Last, Some(_), _) => Ok(boxes),
                (Boxes::Now, Some(_), Some(notice)) => Err((notice, None)),
                (Boxes::Now, Some(parser), None) => boxes_of(boxes, picture, parser)
                    .await
                    .map(Some)
                    .map_err(|error| failed("cannot use the visual parser", &error, error.fix(), options)),
            }
        };
        let (text, parsed) = tokio::join!(text, parsed);
        let labels = taken(text, &mut self.ocr, &mut looked.notices);
        let boxes = taken(parsed, &mut self.parser, &mut looked.notices);
        looked.labels.extend(labels.iter().flat_map(|reading| reading.found.iter().cloned()));
        looked.boxes.extend(boxes.iter().flat_map(|reading| reading.found.iter().cloned()));
        self.glances.insert(window, Glance { labels, boxes });
        looked
    }

    /// Whether text was read in the last picture of a window.
    pub(crate) fn has_read(&self, window: WindowId) -> bool {
        self.glances.get(&window).is_some_and(|glance| glance.labels.is_some())
    }

    /// Whether an area of a window, in screen coordinates, looks the same as in the last picture.
    pub(crate) fn looks_the_same(&self, window: WindowId, place: &Rect<Screen>, now: &Picture) -> bool {
        let Some(glance) = self.glances.get(&window) else { return false };
        let pictures =
            [glance.labels.as_ref().map(|one| &one.picture), glance.boxes.as_ref().map(|one| &one.picture)];
        let now_there = now.part(place);
        let mut known = pictures.into_iter().flatten().peekable();
        now_there.is_some()
            && known.peek().is_some()
            && known.all(|before| moved(before, now).part(place) == now_there)
    }
}

type Failure = (String, Option<Pause>);

/// The result of a detector; remembers a failure.
fn taken<T>(
    result: Result<Option<Reading<T>>, Failure>,
    pause: &mut Option<Pause>,
    notices: &mut Vec<String>,
) -> Option<Reading<T>> {
    match result {
        Ok(reading) => {
            if reading.is_some() {
                *pause = None;
            }
            reading
        }
        Err((notice, new)) => {
            notices.push(notice);
            *pause = new.or_else(|| pause.take());
            None
        }
    }
}

/// The notice of a detector that failed and is paused.
fn pause_notice(pause: Option<&Pause>) -> Option<String> {
    pause.filter(|pause| Instant::now() < pause.until).map(|pause| pause.notice.clone())
}

fn failed(what: &str, error: &dyn std::error::Error, fix: &str, options: &DetectOptions) -> Failure {
    let seconds = options.retry_after.as_secs();
    let notice = format!("{what}: {error}; {fix}; retried after {seconds} s");
    tracing::warn!(notice, "detection failed");
    (notice.clone(), Some(Pause { until: Instant::now() + options.retry_after, notice }))
}

/// A picture moved to the current position of its window; one of another size is returned as it is.
fn moved(before: &Picture, now: &Picture) -> Picture {
    let same_size = (before.region.width, before.region.height) == (now.region.width, now.region.height);
    if same_size && before.region != now.region {
        return Picture { region: now.region, rgb: before.rgb.clone() };
    }
    before.clone()
}

/// The labels of a picture; reads only what changed since the last one.
async fn labels_of(
    before: Option<Reading<Label>>,
    picture: &Picture,
    reader: &Reader,
) -> Result<Reading<Label>, ReadError> {
    let whole = picture.region;
    let mut found = Vec::new();
    let mut place = Some(whole);
    if let Some(before) = before {
        let (x, y) = (whole.x - before.picture.region.x, whole.y - before.picture.region.y);
        place = changed(&moved(&before.picture, picture), picture);
        found = before.found;
        for label in &mut found {
            label.bounds =
                Rect::new(label.bounds.x + x, label.bounds.y + y, label.bounds.width, label.bounds.height);
        }
    }
    if let Some(changed) = place {
        let place = widened(changed, &found).intersection(&whole).unwrap_or(whole);
        let all = area(&place) >= WHOLE_FROM * area(&whole);
        let part = if all { None } else { picture.part(&padded(&place, MARGIN)) };
        found.retain(|label| !all && label.bounds.intersection(&place).is_none());
        let begun = Instant::now();
        let read = reader.read(part.unwrap_or_else(|| picture.clone())).await?;
        let elapsed_ms = milliseconds(begun.elapsed());
        tracing::debug!(elapsed_ms, labels = read.len(), ?place, all, "read text from a picture");
        let is_new = |label: &Label| {
            found.iter().all(|known: &Label| intersection_over_union(&known.bounds, &label.bounds) < 0.3)
        };
        let new: Vec<Label> = read.into_iter().filter(is_new).collect();
        found.extend(new);
    }
    Ok(Reading { picture: picture.clone(), found })
}

/// A changed area, extended to the texts that reach into it.
fn widened(place: Rect<Screen>, labels: &[Label]) -> Rect<Screen> {
    let mut place = place;
    for _ in 0..WIDENED_MAX {
        let near = padded(&place, MARGIN);
        let reaching = labels.iter().filter(|label| label.bounds.intersection(&near).is_some());
        let wider = reaching.fold(place, |place, label| around(&place, &label.bounds));
        if wider == place {
            break;
        }
        place = wider;
    }
    place
}

/// The boxes of a picture; those of the last one if it did not change.
async fn boxes_of(
    before: Option<Reading<ParsedBox>>,
    picture: &Picture,
    parser: &Omniparser,
) -> Result<Reading<ParsedBox>, super::omniparser::ParseError> {
    match before {
        Some(before) if before.picture == *picture => Ok(before),
        Some(_) | None => {
            let found = parser.parse(picture).await?;
            Ok(Reading { picture: picture.clone(), found })
        }
    }
}
