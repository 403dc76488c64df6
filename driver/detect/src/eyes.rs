//! Results of reading pictures of windows, so that only changes are read again, and the detectors that failed
//! and are paused.

use std::collections::HashMap;

use deskhand_desktop::Picture;
use deskhand_ui::{
    duration::milliseconds,
    geometry::{Rect, Screen},
    ids::WindowId,
};
use tokio::time::Instant;

use crate::{
    changed::changes,
    error::OcrReadError,
    omniparser::{Omniparser, ParsedBox},
    options::DetectOptions,
    overlap::{area, around, intersection_over_union, padded},
    reading::OcrEngine,
    words::OcrLabel,
};

/// The most windows whose pictures are kept.
const WINDOWS_MAX: usize = 12;
/// If at least this share of a window changed, all of it is read.
const WHOLE_FROM: f64 = 0.6;
/// Of a window of at most this size, in pixels, all is read: the program reads a menu as soon as a line of it, and better.
const SMALL_MAX: f64 = 100_000.0;
/// The margin that is read around a changed area, in pixels: letters at the edge of a picture are misread.
const MARGIN: i32 = 10;
/// Maximum number of times a changed area is extended to the texts that reach into it.
const WIDENED_MAX: usize = 8;
/// The most parts of a picture that are read one by one.
const PARTS_MAX: usize = 12;

/// Results for the picture of one window.
#[derive(Debug, Default)]
struct WindowPictureCache {
    labels: Option<Labels>,
    boxes: Option<CachedDetection<ParsedBox>>,
}

/// A picture and what was found in it.
#[derive(Debug)]
struct CachedDetection<T> {
    picture: Picture,
    found: Vec<T>,
}

/// A picture and the texts that were read in some places of it.
#[derive(Debug)]
struct Labels {
    picture: Picture,
    places: Vec<Rect<Screen>>,
    found: Vec<OcrLabel>,
}

impl Labels {
    /// The same, moved to the current place of the window.
    fn moved_to(self, now: &Picture) -> Self {
        let (x, y) = (now.region.x - self.picture.region.x, now.region.y - self.picture.region.y);
        let there = |place: Rect<Screen>| Rect::new(place.x + x, place.y + y, place.width, place.height);
        let found = self.found.into_iter().map(|label| OcrLabel { bounds: there(label.bounds), ..label });
        Self {
            picture: moved(&self.picture, now),
            places: self.places.into_iter().map(there).collect(),
            found: found.collect(),
        }
    }
}

/// A detector that failed.
#[derive(Debug)]
struct Pause {
    until: Instant,
    notice: String,
}

/// Results of the detectors so far.
#[derive(Debug, Default)]
pub(crate) struct DetectionCache {
    glances: HashMap<WindowId, WindowPictureCache>,
    ocr: Option<Pause>,
    parser: Option<Pause>,
}

/// Requested detections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wants {
    /// Areas in which to read text; none if empty.
    pub(crate) text: Vec<Rect<Screen>>,
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

/// Detections in a picture.
#[derive(Debug, Default)]
pub(crate) struct DetectionResult {
    pub(crate) labels: Vec<OcrLabel>,
    pub(crate) boxes: Vec<ParsedBox>,
    /// Notices of what could not be used, with the cause and the next step.
    pub(crate) notices: Vec<String>,
}

impl DetectionCache {
    /// Finds what is requested in a picture of a window.
    pub(crate) async fn look(
        &mut self,
        window: WindowId,
        picture: &Picture,
        wants: Wants,
        reader: &OcrEngine,
        parser: Option<&Omniparser>,
        options: &DetectOptions,
    ) -> DetectionResult {
        if self.glances.len() >= WINDOWS_MAX && !self.glances.contains_key(&window) {
            self.glances.clear();
        }
        let WindowPictureCache { labels, boxes } = self.glances.remove(&window).unwrap_or_default();
        let mut looked = DetectionResult::default();
        let text = async {
            let paused = pause_notice(self.ocr.as_ref());
            match paused {
                _ if wants.text.is_empty() => Ok(None),
                Some(notice) => Err((notice, None)),
                None => labels_of(labels, picture, wants.text, reader)
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
        self.glances.insert(window, WindowPictureCache { labels, boxes });
        looked
    }

    /// Returns the areas where text was read in the last picture of a window, moved to its current region.
    pub(crate) fn places_read(&self, window: WindowId, now: &Rect<Screen>) -> Vec<Rect<Screen>> {
        let Some(labels) = self.glances.get(&window).and_then(|glance| glance.labels.as_ref()) else {
            return Vec::new();
        };
        let (x, y) = (now.x - labels.picture.region.x, now.y - labels.picture.region.y);
        let there = |place: &Rect<Screen>| Rect::new(place.x + x, place.y + y, place.width, place.height);
        labels.places.iter().map(there).collect()
    }

    /// Returns `true` if an area of a window, in screen coordinates, looks the same as in the last picture.
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
    result: Result<Option<T>, Failure>,
    pause: &mut Option<Pause>,
    notices: &mut Vec<String>,
) -> Option<T> {
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

/// The labels in some places of a picture; reads only what changed there since the last one.
async fn labels_of(
    before: Option<Labels>,
    picture: &Picture,
    wanted: Vec<Rect<Screen>>,
    reader: &OcrEngine,
) -> Result<Labels, OcrReadError> {
    let mut places = Vec::new();
    let mut found = Vec::new();
    match before.map(|before| before.moved_to(picture)) {
        None => places.clone_from(&wanted),
        Some(before) => {
            let changed = changes(&before.picture, picture);
            for want in &wanted {
                if before.places.contains(want) {
                    places.extend(changed.iter().filter_map(|place| place.intersection(want)));
                } else {
                    places.push(*want);
                }
            }
            found = before.found;
            found.retain(|label| wanted.iter().any(|place| place.contains(&label.bounds.center())));
        }
    }
    if !reader.prefers_parts() && !places.is_empty() && area(&picture.region) <= SMALL_MAX {
        (places, found) = (wanted.clone(), Vec::new());
    }
    let places = parts(places, &found, &wanted, reader.prefers_parts());
    found.retain(|label| places.iter().all(|place| label.bounds.intersection(place).is_none()));
    for place in places {
        let part = if place == picture.region { None } else { picture.part(&padded(&place, MARGIN)) };
        let begun = Instant::now();
        let read = reader.read(part.unwrap_or_else(|| picture.clone())).await?;
        let elapsed_ms = milliseconds(begun.elapsed());
        tracing::debug!(elapsed_ms, labels = read.len(), ?place, "read text from a picture");
        let is_new = |label: &OcrLabel| {
            place.contains(&label.bounds.center())
                && found
                    .iter()
                    .all(|known: &OcrLabel| intersection_over_union(&known.bounds, &label.bounds) < 0.3)
        };
        let new: Vec<OcrLabel> = read.into_iter().filter(is_new).collect();
        found.extend(new);
    }
    Ok(Labels { picture: picture.clone(), places: wanted, found })
}

/// The parts of a picture to read again: what changed, with the texts that reach into it; in one piece unless `apart`. All that is
/// wanted if most of it changed.
fn parts(
    changed: Vec<Rect<Screen>>,
    labels: &[OcrLabel],
    wanted: &[Rect<Screen>],
    apart: bool,
) -> Vec<Rect<Screen>> {
    let mut parts: Vec<Rect<Screen>> = Vec::new();
    let apart = apart && changed.len() <= PARTS_MAX;
    for place in changed {
        let mut place = widened(place, labels);
        // Another part that it reaches is read with it.
        let reaches =
            |part: &Rect<Screen>, place| !apart || part.intersection(&padded(&place, MARGIN)).is_some();
        while let Some(at) = parts.iter().position(|part| reaches(part, place)) {
            place = widened(around(&place, &parts.swap_remove(at)), labels);
        }
        parts.push(place);
    }
    let sum = |places: &[Rect<Screen>]| places.iter().map(area).sum::<f64>();
    if !parts.is_empty() && sum(&parts) >= WHOLE_FROM * sum(wanted) { wanted.to_vec() } else { parts }
}

/// A changed area, extended to the texts that reach into it.
fn widened(place: Rect<Screen>, labels: &[OcrLabel]) -> Rect<Screen> {
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
    before: Option<CachedDetection<ParsedBox>>,
    picture: &Picture,
    parser: &Omniparser,
) -> Result<CachedDetection<ParsedBox>, super::omniparser::ParseError> {
    match before {
        Some(before) if before.picture == *picture => Ok(before),
        Some(_) | None => {
            let found = parser.parse(picture).await?;
            Ok(CachedDetection { picture: picture.clone(), found })
        }
    }
}
