//! The ids of detected elements: the same text near the same position keeps its id between looks.

use std::collections::HashMap;

use deskhand_ui::{
    Element, ElementSource, Role, State, States, WindowInfo,
    geometry::{Point, Rect, Screen, WindowSpace},
    ids::{ElementId, WindowId},
};

use deskhand_desktop::alike::alike;

use crate::{
    merge::DetectedElement,
    overlap::{intersection_over_union, padded},
};

/// The most windows that are remembered; then all are forgotten.
const WINDOWS_MAX: usize = 200;
/// Maximum distance that a text may move and still count as near, in multiples of its height.
const NEAR: i32 = 2;

/// A detected element that is current as far as is known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrackedDetection {
    pub(crate) id: ElementId,
    pub(crate) source: ElementSource,
    pub(crate) role: Role,
    pub(crate) words: String,
    /// Its position relative to its window.
    pub(crate) place: Rect<WindowSpace>,
}

/// Detections in one window.
#[derive(Debug, Default)]
struct WindowDetections {
    known: Vec<TrackedDetection>,
    /// The element that represents the window if its application exposes none.
    root: Option<ElementId>,
}

/// Detections in all windows.
#[derive(Debug, Default)]
pub(crate) struct DetectionRegistry {
    windows: HashMap<WindowId, WindowDetections>,
}

impl DetectionRegistry {
    /// Updates what is detected in a window and returns its elements; what is missing is forgotten.
    pub(crate) fn take(
        &mut self,
        window: &WindowInfo,
        detected: &[DetectedElement],
        mut reserve: impl FnMut() -> ElementId,
    ) -> Vec<Element> {
        if self.windows.len() >= WINDOWS_MAX && !self.windows.contains_key(&window.id) {
            self.windows.clear();
        }
        let found = self.windows.entry(window.id).or_default();
        let mut before = std::mem::take(&mut found.known);
        let origin = window.bounds.origin();
        // Exact matches first, so that an element that stayed is not matched to another one near it.
        let mut ids: Vec<Option<ElementId>> = vec![None; detected.len()];
        for fits in [stayed, moved_a_little, moved] {
            for (id, one) in ids.iter_mut().zip(detected).filter(|(id, _)| id.is_none()) {
                let place = one.bounds.relative_to(&origin);
                let alone = |old: &TrackedDetection| {
                    detected.iter().filter(|other| other.words == old.words && other.role == old.role).count()
                        == 1
                };
                let at = before.iter().position(|old| fits(old, one, &place, alone(old)));
                *id = at.map(|at| before.swap_remove(at).id);
            }
        }
        found.known = detected
            .iter()
            .zip(ids)
            .map(|(one, id)| TrackedDetection {
                id: id.unwrap_or_else(&mut reserve),
                source: one.source,
                role: one.role.clone(),
                words: one.words.clone(),
                place: one.bounds.relative_to(&origin),
            })
            .collect();
        found.known.iter().map(|known| known.element(&window.bounds)).collect()
    }

    /// The element that represents a window whose application exposes none.
    pub(crate) fn root(&mut self, window: &WindowInfo, reserve: impl FnOnce() -> ElementId) -> Element {
        let found = self.windows.entry(window.id).or_default();
        let id = *found.root.get_or_insert_with(reserve);
        root_element(id, window)
    }

    /// The same element, if it already exists.
    pub(crate) fn find_root(&self, window: &WindowInfo) -> Option<Element> {
        self.windows.get(&window.id)?.root.map(|id| root_element(id, window))
    }

    /// The window that such an element represents.
    pub(crate) fn window_of_root(&self, id: ElementId) -> Option<WindowId> {
        self.windows.iter().find(|(_, found)| found.root == Some(id)).map(|(window, _)| *window)
    }

    /// The detected element with this id, and its window.
    pub(crate) fn find(&self, id: ElementId) -> Option<(WindowId, TrackedDetection)> {
        self.windows.iter().find_map(|(window, found)| {
            let known = found.known.iter().find(|known| known.id == id)?;
            Some((*window, known.clone()))
        })
    }

    /// The detected element at a point of a window; the smallest of several.
    pub(crate) fn find_at(&self, window: &WindowInfo, point: &Point<Screen>) -> Option<TrackedDetection> {
        let known = &self.windows.get(&window.id)?.known;
        let here = known.iter().filter(|known| known.bounds(&window.bounds).contains(point));
        here.min_by_key(|known| i64::from(known.place.width) * i64::from(known.place.height)).cloned()
    }

    /// Returns `true` if anything is detected in a window.
    pub(crate) fn has_any(&self, window: WindowId) -> bool {
        self.windows.get(&window).is_some_and(|found| !found.known.is_empty())
    }

    /// Returns `true` if an id was assigned here.
    pub(crate) fn has(&self, id: ElementId) -> bool {
        self.find(id).is_some() || self.window_of_root(id).is_some()
    }
}

/// The same text at the same position.
fn stayed(old: &TrackedDetection, now: &DetectedElement, place: &Rect<WindowSpace>, _alone: bool) -> bool {
    old.role == now.role && old.words == now.words && intersection_over_union(&old.place, place) >= 0.5
}

/// Text that may be the same, near by.
fn moved_a_little(
    old: &TrackedDetection,
    now: &DetectedElement,
    place: &Rect<WindowSpace>,
    _alone: bool,
) -> bool {
    let near = padded(&old.place, NEAR * old.place.height).contains(&place.center());
    old.role == now.role
        && near
        && alike(&old.words, &now.words)
        && (!old.words.is_empty() || overlap(old, place))
}

/// The same text anywhere, if it is unique.
fn moved(old: &TrackedDetection, now: &DetectedElement, _place: &Rect<WindowSpace>, alone: bool) -> bool {
    old.role == now.role && !old.words.is_empty() && old.words == now.words && alone
}

fn overlap(old: &TrackedDetection, place: &Rect<WindowSpace>) -> bool {
    old.place.intersection(place).is_some()
}

impl TrackedDetection {
    /// Its bounds on the screen.
    pub(crate) fn bounds(&self, window: &Rect<Screen>) -> Rect<Screen> {
        let Rect { x, y, width, height, .. } = self.place;
        Rect::new(window.x + x, window.y + y, width, height)
    }

    /// Converts it to an element of its window.
    pub(crate) fn element(&self, window: &Rect<Screen>) -> Element {
        Element {
            role: self.role.clone(),
            name: self.words.clone(),
            source: self.source,
            depth: 1,
            ..drawn(self.id, self.bounds(window))
        }
    }
}

fn root_element(id: ElementId, window: &WindowInfo) -> Element {
    Element {
        role: Role::FRAME,
        name: window.title.clone(),
        source: ElementSource::Ocr,
        ..drawn(id, window.bounds)
    }
}

/// An element of which only the bounds are known.
fn drawn(id: ElementId, bounds: Rect<Screen>) -> Element {
    let states: States =
        [State::Enabled, State::Sensitive, State::Showing, State::Visible].into_iter().collect();
    Element { states, bounds: Some(bounds), ..Element::new(id, Role::UNKNOWN, "") }
}

#[cfg(test)]
mod tests {
    use deskhand_ui::{AppInfo, WindowKind, WindowState};

    use super::*;

    fn window(x: i32, y: i32) -> WindowInfo {
        WindowInfo {
            id: WindowId(1),
            title: "Drawn".to_owned(),
            app: AppInfo { name: "drawn".to_owned(), root: "drawn".to_owned(), pid: None },
            bounds: Rect::new(x, y, 400, 300),
            kind: WindowKind::Normal,
            owner: None,
            active: true,
            accessible: false,
            document: None,
            state: WindowState::default(),
            monitor: None,
        }
    }

    fn text(words: &str, x: i32, y: i32) -> DetectedElement {
        let bounds = Rect::new(x, y, 60, 14);
        DetectedElement {
            source: ElementSource::Ocr,
            role: Role::DRAWN_TEXT,
            words: words.to_owned(),
            bounds,
        }
    }

    #[test]
    fn the_same_text_near_the_same_position_keeps_its_id() {
        let (mut registry, mut last) = (DetectionRegistry::default(), 40);
        let mut take = |window: &WindowInfo, found: &[DetectedElement]| -> Vec<u32> {
            let reserve = || {
                last += 1;
                ElementId(last)
            };
            registry.take(window, found, reserve).iter().map(|element| element.id.0).collect()
        };
        let here = window(0, 0);
        assert_eq!(take(&here, &[text("Save", 10, 10), text("Open", 100, 10)]), [41, 42]);
        // In another order, moved a little, with a misread letter.
        assert_eq!(take(&here, &[text("Opem", 104, 12), text("Save", 10, 10)]), [42, 41]);
        // Moved together with the window.
        assert_eq!(take(&window(500, 300), &[text("Save", 510, 310), text("Opem", 604, 312)]), [41, 42]);
        // Scrolled far away but unique; a new one; one that is gone.
        assert_eq!(take(&here, &[text("Save", 10, 200), text("Print", 10, 10)]), [41, 43]);
        // Two equal texts are distinguished by their positions, and ids are never reused.
        assert_eq!(
            take(&here, &[text("Print", 10, 10), text("Print", 10, 100), text("Open", 100, 10)]),
            [43, 44, 45]
        );
        assert_eq!(take(&here, &[text("Print", 10, 100), text("Print", 200, 200)]), [44, 46]);
    }

    #[test]
    fn detected_elements_are_found_by_id_and_position() {
        let mut registry = DetectionRegistry::default();
        let here = window(100, 100);
        registry.take(&here, &[text("Save", 110, 110)], || ElementId(7));
        let (of, known) = registry.find(ElementId(7)).unwrap();
        assert_eq!((of, known.bounds(&here.bounds)), (WindowId(1), Rect::new(110, 110, 60, 14)));
        assert_eq!(registry.find_at(&here, &Point::new(120, 115)).map(|known| known.id), Some(ElementId(7)));
        assert_eq!(registry.find_at(&here, &Point::new(109, 115)), None);
        assert_eq!(registry.find(ElementId(8)), None);
        let root = registry.root(&here, || ElementId(9));
        assert_eq!((root.id, root.bounds), (ElementId(9), Some(here.bounds)));
        assert_eq!(registry.root(&here, || ElementId(10)).id, ElementId(9), "kept");
        assert_eq!(registry.window_of_root(ElementId(9)), Some(WindowId(1)));
        assert!(registry.has(ElementId(9)) && registry.has(ElementId(7)) && !registry.has(ElementId(10)));
        registry.take(&here, &[], || ElementId(11));
        assert!(!registry.has(ElementId(7)) && !registry.has_any(WindowId(1)));
    }
}
