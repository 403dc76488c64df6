//! The picture of a step with its target controls marked, or a sketch if there is no picture.

use deskhand_machine::observation::Observation;
use deskhand_ui::{
    PictureRef,
    geometry::{Image, Point, Rect, Screen},
    text::{clip, one_line},
};
use serde::Serialize;

use super::{
    pictures::{Album, PagePicture},
    target::{elements_of, region_of, windows_of},
};
use crate::story::ActStory;

/// The most elements in a sketch.
const ELEMENTS_MAX: usize = 400;

/// A rectangle of a figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct FigureRect {
    x: i32,
    y: i32,
    width: i32,
    height: i32,
    /// The label; may be empty.
    label: String,
}

/// A marked control.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct FigureMark {
    number: usize,
    x: i32,
    y: i32,
    width: i32,
    height: i32,
    pin_x: i32,
    pin_y: i32,
}

/// The figure of a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct StepFigure {
    width: i32,
    height: i32,
    alt: String,
    caption: String,
    image: String,
    image_id: String,
    again: String,
    windows: Vec<FigureRect>,
    elements: Vec<FigureRect>,
    marks: Vec<FigureMark>,
    /// The radius of mark numbers.
    pin: i32,
    /// The font size of sketches.
    text: i32,
}

/// The bounds of the controls that a step acted on, with action numbers.
pub(super) fn marks_of(acts: &[ActStory], region: &Rect<Screen>) -> Vec<(usize, Rect<Image>)> {
    let bounds = |act: &ActStory| act.target.as_ref()?.bounds?.intersection(region);
    let places = acts.iter().enumerate().filter_map(|(index, act)| Some((index + 1, bounds(act)?)));
    places.map(|(number, bounds)| (number, bounds.relative_to(&region.origin()))).collect()
}

/// Those bounds in pixels of a picture, which may be scaled.
pub(super) fn places_of(acts: &[ActStory], picture: &PictureRef) -> Vec<Rect<Image>> {
    acts.iter().filter_map(|act| picture.to_image(&act.target.as_ref()?.bounds?)).collect()
}

/// The figure of a step; `None` without an observation.
pub(super) fn figure_of(
    seen: &Observation,
    acts: &[ActStory],
    step: u32,
    album: &mut Album,
) -> Option<StepFigure> {
    let region = region_of(seen).filter(|region| !region.is_empty())?;
    let picture = seen.picture();
    let shown = picture.map(|picture| album.show(picture));
    // Scaled by the longer side, so that numbers are readable at any size.
    let side = region.width.max(region.height);
    let pin = (side / 75).clamp(10, 40);
    let marks = marks_of(acts, &region);
    let labels: Vec<&str> =
        acts.iter().filter_map(|act| act.target.as_ref()).map(|target| target.label.as_str()).collect();
    let what = match seen {
        Observation::Desktop(_) => "The desktop",
        Observation::Window(_) => "The window",
        Observation::Agent(_) => "The agent's view",
    };
    let acted = match (marks.is_empty(), labels.as_slice()) {
        (true, _) | (_, []) => String::new(),
        (false, labels) => format!("; marked: {}", one_line(&labels.join(", "))),
    };
    let mut figure = StepFigure {
        width: region.width,
        height: region.height,
        alt: format!("{what} before the actions of step {step}{acted}"),
        caption: format!("{what} at the start of step {step}{acted}."),
        image: String::new(),
        image_id: String::new(),
        again: String::new(),
        windows: Vec::new(),
        elements: Vec::new(),
        marks: marks.iter().map(|(number, place)| mark(*number, place, pin, &region)).collect(),
        pin,
        text: (side / 70).clamp(9, 30),
    };
    spread(&mut figure.marks, pin);
    let sketched = match shown {
        Some(PagePicture::Whole { id, data }) => {
            (figure.image, figure.image_id) = (data, id);
            None
        }
        Some(PagePicture::Again { id }) => {
            figure.again = id;
            None
        }
        Some(PagePicture::LeftOut { why }) => Some(why),
        None => Some("No pictures were taken in this session."),
    };
    if let Some(why) = sketched {
        figure.caption = format!("{why} A sketch of {}{acted}.", what.to_lowercase());
        figure.alt = format!("A sketch: {}", figure.alt);
        sketch(&mut figure, seen, &region);
    }
    Some(figure)
}

impl StepFigure {
    /// The actions whose targets are marked.
    pub(super) fn marked(&self) -> Vec<usize> {
        self.marks.iter().map(|mark| mark.number).collect()
    }
}

fn mark(number: usize, place: &Rect<Image>, pin: i32, region: &Rect<Screen>) -> FigureMark {
    // Numbers are placed on the upper left corner, side by side for several actions.
    let inside = |at: i32, end: i32| at.max(pin).min((end - pin).max(pin));
    FigureMark {
        number,
        x: place.x,
        y: place.y,
        width: place.width,
        height: place.height,
        pin_x: inside(place.x, region.width),
        pin_y: inside(place.y, region.height),
    }
}

fn sketch(figure: &mut StepFigure, seen: &Observation, region: &Rect<Screen>) {
    let area = |bounds: &Rect<Screen>, label: String| {
        let origin: Point<Screen> = region.origin();
        let place: Rect<Image> = bounds.intersection(region)?.relative_to(&origin);
        Some(FigureRect { x: place.x, y: place.y, width: place.width, height: place.height, label })
    };
    figure.windows = windows_of(seen)
        .iter()
        .filter_map(|window| area(&window.bounds, clip(&one_line(&window.title), 60)))
        .collect();
    figure.elements = elements_of(seen)
        .iter()
        .filter_map(|element| area(&element.bounds?, String::new()))
        .filter(|area| area.width > 2 && area.height > 2)
        .take(ELEMENTS_MAX)
        .collect();
}

/// Separates overlapping mark numbers.
fn spread(marks: &mut [FigureMark], pin: i32) {
    for index in 1..marks.len() {
        let (before, rest) = marks.split_at_mut(index);
        let Some(mark) = rest.first_mut() else { return };
        while before.iter().any(|other| {
            (other.pin_x - mark.pin_x).abs() < 2 * pin && (other.pin_y - mark.pin_y).abs() < 2 * pin
        }) {
            mark.pin_x += 2 * pin + 2;
        }
    }
}
