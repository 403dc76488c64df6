//! Which parts of which objects an announcement makes stale.

use deskhand_core::ui::{Role, State};

use super::{
    super::{
        event::{Announcement, Event},
        wire::{ObjectRef, ROOT_PATH},
    },
    parts::Parts,
    store::Store,
};

/// Brings the store of the announcing application up to date.
pub(crate) fn apply(store: &mut Store, announced: &Announcement) {
    let Announcement { object, event, other } = announced;
    match *event {
        Event::State { state, is_set } => state_changed(store, object, state, is_set),
        Event::Iconified | Event::OtherState => store.mark(object, Parts::STATES.and(Parts::KIND_AND_BODY)),
        Event::ChildRemoved | Event::ChildrenChanged => {
            store.mark(object, Parts::KIND_AND_BODY.and(Parts::CHILDREN));
            if &*object.path == ROOT_PATH {
                store.mark_frames();
            }
            match other {
                Some(child) if *event == Event::ChildRemoved => store.remove(child),
                Some(child) if store.has(child) => store.mark_with_inside(child, Parts::ALL),
                Some(_) | None => {}
            }
        }
        Event::Name => {
            store.mark(object, Parts::KIND_AND_BODY);
            if store.is_frame(object) {
                store.mark_frames();
            }
        }
        Event::Value => {
            store.mark(object, Parts::KIND_AND_BODY);
            store.mark_scrolled(object);
        }
        Event::Description
        | Event::OtherProperty
        | Event::Text
        | Event::TextSelection
        | Event::TextAttributes
        | Event::Attributes => store.mark(object, Parts::KIND_AND_BODY),
        Event::Other => store.mark(object, Parts::ALL),
        Event::Selection => {
            store.mark_children(object, Parts::STATES);
            store.mark_choice(object);
        }
        Event::ActiveDescendant => {
            store.mark_children(object, Parts::STATES);
            if let Some(child) = other {
                store.mark(child, Parts::STATES);
            }
        }
        Event::Bounds => {
            store.mark_with_inside(object, Parts::EXTENTS);
            // GTK 3 announces of a new widget that it got a place, and not that it shows since then.
            if !store.shows(object) {
                store.mark(object, Parts::STATES);
            }
        }
        // Another page took the place of one. Chromium announces that of neither the object around them nor the page that went.
        Event::Document if !store.has(object) => store.mark_all(),
        Event::Viewport | Event::ModelChanged | Event::Document => {
            store.mark_with_inside(object, Parts::ALL);
        }
        // The position of the caret is not stored.
        Event::Caret | Event::Message => {}
        Event::WindowListed | Event::Window => {
            store.mark(object, Parts::STATES.and(Parts::KIND_AND_BODY));
            if *event == Event::WindowListed || !store.has(object) {
                store.mark_frames();
            }
        }
    }
}

fn state_changed(store: &mut Store, object: &ObjectRef, state: State, is_set: bool) {
    match state {
        // Whether an object is on the screen decides the same for everything inside it.
        State::Showing | State::Visible => {
            store.mark_with_inside(object, Parts::STATES.and(Parts::EXTENTS));
            store.mark(object, Parts::ALL);
        }
        State::Sensitive | State::Enabled => store.mark_with_inside(object, Parts::STATES),
        State::Defunct if is_set => store.remove(object),
        State::Expanded | State::Selected => {
            store.mark(object, Parts::STATES.and(Parts::KIND_AND_BODY).and(Parts::CHILDREN));
        }
        State::Active
        | State::Busy
        | State::Checkable
        | State::Checked
        | State::Defunct
        | State::Editable
        | State::Expandable
        | State::Focusable
        | State::Focused
        | State::ManagesDescendants
        | State::Modal
        | State::MultiLine
        | State::Pressed
        | State::ReadOnly
        | State::Required
        | State::Selectable => store.mark(object, Parts::STATES.and(Parts::KIND_AND_BODY)),
    }
}

impl Store {
    /// Marks as stale whether objects show in the area that a scroll bar moves: GTK 3 announces nothing of what comes into view.
    fn mark_scrolled(&mut self, object: &ObjectRef) {
        if self.role(object) != Some(Role::SCROLL_BAR) {
            return;
        }
        if let Some(area) = self.parent(object) {
            self.mark_with_inside(&area, Parts::STATES);
        }
    }

    /// Marks as stale what the box shows that a list belongs to, in which something else was selected.
    fn mark_choice(&mut self, list: &ObjectRef) {
        // A closed list is not read.
        if self.role(list).is_some_and(|role| role != Role::MENU && role != Role::LIST) {
            return;
        }
        let is_box = |around: &ObjectRef| self.role(around) == Some(Role::COMBO_BOX);
        if let Some(around) = self.parent(list).filter(is_box) {
            self.mark(&around, Parts::BODY);
        }
    }
}

#[cfg(test)]
mod tests {
    use deskhand_core::geometry::Rect;

    use super::*;
    use crate::atspi::{mirror::parts::Moments, quirks::Toolkit};

    const ROOT: &str = "frame";
    const CHILD: &str = "child";

    fn object(path: &str) -> ObjectRef {
        ObjectRef::new(":1.7", path)
    }

    /// Announces `event` of a frame that has one child, both just read, and compares what is stale then.
    fn check(event: Event, frame: Parts, child: Parts) {
        let mut store = Store::new(Parts::NONE);
        for path in [ROOT, CHILD] {
            store.ask(&object(path), &Moments::default(), None);
            let now = store.now();
            store.confirm(&object(path), Parts::ALL, now);
        }
        store.update(&object(ROOT), |node| node.children = Some([object(CHILD)].into()));
        apply(&mut store, &Announcement { object: object(ROOT), event, other: None });
        let (known, stale) = store.ask(&object(ROOT), &Moments::default(), None);
        assert_eq!(stale, frame, "{event:?}");
        let (_, stale) = store.ask(&object(CHILD), &known.below, None);
        assert_eq!(stale, child, "{event:?}");
    }

    #[test]
    fn a_page_that_was_not_there_makes_everything_stale() {
        let mut store = Store::new(Parts::NONE);
        store.ask(&object(ROOT), &Moments::default(), None);
        let now = store.now();
        store.confirm(&object(ROOT), Parts::ALL, now);
        let new = Announcement { object: object("new page"), event: Event::Document, other: None };
        apply(&mut store, &new);
        assert_eq!(store.ask(&object(ROOT), &Moments::default(), None).1, Parts::ALL);
    }

    #[test]
    fn what_libreoffice_draws_may_have_changed_in_all_but_its_kind() {
        let mut store = Store::new(Toolkit::LibreOffice.drawn_parts());
        let window = Rect::new(0, 0, 100, 100);
        let stale = |store: &mut Store| store.ask(&object(ROOT), &Moments::default(), Some(window)).1;
        assert_eq!(stale(&mut store), Parts::ALL);
        let now = store.now();
        store.confirm(&object(ROOT), Parts::ALL, now);
        assert_eq!(stale(&mut store), Parts::NONE);
        store.draw(window);
        assert_eq!(stale(&mut store), Parts::ALL.without(Parts::KIND));
        apply(&mut store, &Announcement { object: object(ROOT), event: Event::Description, other: None });
        assert_eq!(stale(&mut store), Parts::ALL);
    }

    #[test]
    fn each_event_makes_stale_what_it_is_about_and_no_more() {
        let (none, all, body, states) = (Parts::NONE, Parts::ALL, Parts::KIND_AND_BODY, Parts::STATES);
        let state = |state| Event::State { state, is_set: true };
        let look = states.and(body);
        check(state(State::Checked), look, none);
        check(state(State::Showing), all, states.and(Parts::EXTENTS));
        check(state(State::Sensitive), states, states);
        check(state(State::Expanded), look.and(Parts::CHILDREN), none);
        check(state(State::Defunct), all, all);
        check(Event::State { state: State::Defunct, is_set: false }, look, none);
        check(Event::Iconified, look, none);
        check(Event::Name, body, none);
        check(Event::ChildRemoved, body.and(Parts::CHILDREN), none);
        check(Event::Selection, states, states);
        // The frame of this test is not known to show.
        check(Event::Bounds, Parts::EXTENTS.and(states), Parts::EXTENTS);
        check(Event::Viewport, all, all);
        check(Event::ModelChanged, all, all);
        check(Event::Caret, none, none);
        check(Event::Message, none, none);
        check(Event::Window, look, none);
        check(Event::Document, all, all);
        check(Event::Other, all, none);
    }
}
