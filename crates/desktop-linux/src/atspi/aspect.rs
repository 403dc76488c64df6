//! Which aspect of an element an AT-SPI event is about.

use deskhand_core::ui::State;
use deskhand_desktop::Aspect;

/// What the event `name`, such as `object:state-changed:checked`, is about; `detail` is its first number.
pub(super) fn aspect_of(name: &str, detail: i32) -> Aspect {
    let mut parts = name.split(':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some("window"), ..) => Aspect::Window,
        (Some("document"), ..) => Aspect::Document,
        (Some("object"), Some("state-changed"), Some(state)) => state_aspect(state, detail != 0),
        (Some("object"), Some("property-change"), Some(property)) => match property {
            "accessible-name" => Aspect::Name,
            "accessible-description" => Aspect::Description,
            "accessible-value" => Aspect::Value,
            "accessible-parent" => Aspect::Bounds,
            _ => Aspect::Other,
        },
        (Some("object"), Some(event), _) => match event {
            "text-changed" => Aspect::Text,
            "text-selection-changed" | "selection-changed" => Aspect::Selection,
            "text-caret-moved" => Aspect::Caret,
            "text-attributes-changed" => Aspect::Attributes,
            "active-descendant-changed" => Aspect::ActiveDescendant,
            "bounds-changed" => Aspect::Bounds,
            "visible-data-changed" => Aspect::Viewport,
            "announcement" => Aspect::Message,
            "children-changed" | "model-changed" => Aspect::Children,
            _ if event.starts_with("row-") || event.starts_with("column-") => Aspect::Children,
            _ => Aspect::Other,
        },
        _ => Aspect::Other,
    }
}

fn state_aspect(name: &str, is_set: bool) -> Aspect {
    match name {
        "focused" if is_set => Aspect::Focus,
        // A button is armed on the way to being pressed.
        "armed" => Aspect::State(State::Pressed),
        "collapsed" => Aspect::State(State::Expanded),
        "iconified" => Aspect::Window,
        _ => State::named(name).map_or(Aspect::Other, Aspect::State),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_parsed_once() {
        let check = |name: &str, detail, aspect: Aspect, is_content: bool| {
            assert_eq!((aspect_of(name, detail), aspect.is_content()), (aspect, is_content), "{name}");
        };
        check("object:state-changed:checked", 1, Aspect::State(State::Checked), true);
        check("object:state-changed:focused", 1, Aspect::Focus, false);
        check("object:state-changed:focused", 0, Aspect::State(State::Focused), false);
        check("object:state-changed:armed", 1, Aspect::State(State::Pressed), false);
        check("object:state-changed:indeterminate", 1, Aspect::Other, true);
        check("object:text-changed:insert:system", 0, Aspect::Text, true);
        check("object:property-change:accessible-name", 0, Aspect::Name, true);
        check("object:children-changed:add", 0, Aspect::Children, true);
        check("object:row-inserted", 0, Aspect::Children, true);
        check("object:active-descendant-changed", 0, Aspect::ActiveDescendant, false);
        check("window:activate", 0, Aspect::Window, false);
        check("document:load-complete", 0, Aspect::Document, true);
    }
}
