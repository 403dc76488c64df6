//! Content of an observation.

use deskhand_machine::observation::Observation;
use deskhand_ui::{
    Element, WindowInfo,
    geometry::{Rect, Screen},
};

/// The windows of an observation.
pub(super) fn windows_of(seen: &Observation) -> Vec<&WindowInfo> {
    match seen {
        Observation::Desktop(view) => view.windows.iter().collect(),
        Observation::Window(view) => view.surfaces.iter().map(|surface| &surface.window).collect(),
        Observation::Agent(_) => Vec::new(),
    }
}

/// The elements of an observation.
pub(super) fn elements_of(seen: &Observation) -> Vec<&Element> {
    match seen {
        Observation::Desktop(_) | Observation::Agent(_) => Vec::new(),
        Observation::Window(view) => view.elements().collect(),
    }
}

/// The screen region of an observation: that of its picture, else the union of its windows.
pub(super) fn region_of(seen: &Observation) -> Option<Rect<Screen>> {
    seen.picture().map(|picture| picture.region).or_else(|| {
        windows_of(seen).iter().map(|window| window.bounds).reduce(|a, b| {
            let (x, y) = (a.x.min(b.x), a.y.min(b.y));
            Rect::new(x, y, a.right().max(b.right()) - x, a.bottom().max(b.bottom()) - y)
        })
    })
}
