//! Content above or below the visible part: by scroll bars, and by the parts of a page beyond it.

use std::collections::HashMap;

use deskhand_ui::{
    Element, Role, State, Tree, ValueRange,
    geometry::{Rect, Screen},
    ids::ElementId,
};

/// Fraction of a page's height below which content beyond the page counts as an edge.
const EDGE: f64 = 0.1;

/// Returns notes about the scroll bars and pages of a tree that continue.
pub(super) fn beyond(tree: &Tree) -> HashMap<ElementId, String> {
    let of_bars = tree.elements.iter().filter_map(|element| {
        let value = element.value.filter(|_| is_upright_bar(element))?;
        Some((element.id, bar_note(value)?))
    });
    let pages = tree.elements.iter().filter(|element| element.role == Role::DOCUMENT_WEB);
    let of_pages = pages.filter_map(|page| Some((page.id, page_note(tree, page)?)));
    of_bars.chain(of_pages).collect()
}

fn is_upright_bar(element: &Element) -> bool {
    let is_upright = element.bounds.is_some_and(|bounds| bounds.height > bounds.width);
    element.role == Role::SCROLL_BAR && is_upright && element.states.has(State::Showing)
}

fn bar_note(value: ValueRange) -> Option<String> {
    let (passed, all) = (value.current - value.minimum, value.maximum - value.minimum);
    let percent = (passed / all * 100.0).round();
    match () {
        () if !(all > 0.0 && all.is_finite() && passed.is_finite()) => None,
        () if passed <= 0.0 => Some("continues below".to_owned()),
        () if passed >= all => Some("continues above".to_owned()),
        () => Some(format!("continues, at {percent} %")),
    }
}

/// By the places of what is in a page, of which parts may lie beyond it.
fn page_note(tree: &Tree, page: &Element) -> Option<String> {
    let view = page.bounds.filter(|view| view.height > 0)?;
    let places: Vec<Rect<Screen>> = tree.descendants(page.id).filter_map(|element| element.bounds).collect();
    let (top, bottom) = (places.iter().map(|place| place.y).min()?, places.iter().map(Rect::bottom).max()?);
    let times = |pixels: i32| f64::from(pixels) / f64::from(view.height);
    let parts = [("above", times(view.y - top)), ("below", times(bottom - view.bottom()))];
    let parts = parts.into_iter().filter(|(_, times)| *times > EDGE);
    let parts: Vec<String> = parts.map(|(side, times)| format!("{} × {side}", about(times))).collect();
    (!parts.is_empty()).then(|| format!("continues {}", parts.join(", ")))
}

/// A number of heights in few words: tenths below one, else whole ones.
fn about(times: f64) -> String {
    if times < 0.95 { format!("{times:.1}") } else { format!("{times:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(id: u32, depth: u16, role: Role, bounds: [i32; 4]) -> Element {
        let states = [State::Showing].into_iter().collect();
        Element { depth, states, bounds: Some(bounds.into()), ..Element::new(ElementId(id), role, "") }
    }

    #[test]
    fn bars_tell_on_which_side_it_goes_on() {
        let note = |current: f64, maximum: f64| {
            bar_note(ValueRange { current, minimum: 0.0, maximum, increment: 0.0 })
        };
        assert_eq!(note(0.0, 0.0), None);
        assert_eq!(note(0.0, 90.0).as_deref(), Some("continues below"));
        assert_eq!(note(30.0, 90.0).as_deref(), Some("continues, at 33 %"));
        assert_eq!(note(90.0, 90.0).as_deref(), Some("continues above"));
    }

    #[test]
    fn what_lies_beyond_a_page_is_told_in_its_heights() {
        let page = element(1, 0, Role::DOCUMENT_WEB, [0, 100, 500, 400]);
        let part = element(2, 1, Role::SECTION, [0, -100, 500, 2_000]);
        let tree = Tree { elements: vec![page, part], partial: None };
        let told = beyond(&tree);
        assert_eq!(told[&ElementId(1)], "continues 0.5 × above, 4 × below");
    }
}
