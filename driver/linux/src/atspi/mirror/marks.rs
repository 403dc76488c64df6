//! Which parts of which objects an announcement makes stale.

use deskhand_ui::{Role, State};

use super::{
    super::{
        event::{Announcement, AtspiEvent},
        wire::{ObjectRef, ROOT_PATH},
    },
    parts::ObjectAspects,
    store::MirrorStore,
};

/// Brings the store of the announcing application up to date.
pub(crate) fn apply(store: &mut MirrorStore, announced: &Announcement) {
    let Announcement { object, event, other } = announced;
    match *event {
        AtspiEvent::State { state, is_set } => state_changed(store, object, state, is_set),
        AtspiEvent::Iconified | AtspiEvent::OtherState => {
            store.mark(object, ObjectAspects::STATES.and(ObjectAspects::KIND_AND_BODY));
        }
        AtspiEvent::ChildRemoved | AtspiEvent::ChildrenChanged => {
            store.mark(object, ObjectAspects::KIND_AND_BODY.and(ObjectAspects::CHILDREN));
            if &*object.path == ROOT_PATH {
                store.mark_frames();
            }
            match other {
                Some(child) if *event == AtspiEvent::ChildRemoved => store.remove(child),
                Some(child) if store.has(child) => store.mark_with_inside(child, ObjectAspects::ALL),
                Some(_) | None => {}
            }
        }
        AtspiEvent::Name => {
            store.mark(object, ObjectAspects::KIND_AND_BODY);
            if store.is_frame(object) {
                store.mark_frames();
            }
        }
        AtspiEvent::Value => {
            store.mark(object, ObjectAspects::KIND_AND_BODY);
            store.mark_scrolled(object);
        }
        AtspiEvent::Description
        | AtspiEvent::OtherProperty
        | AtspiEvent::Text
        | AtspiEvent::TextSelection
        | AtspiEvent::TextAttributes
        | AtspiEvent::Attributes => store.mark(object, ObjectAspects::KIND_AND_BODY),
        AtspiEvent::Other => store.mark(object, ObjectAspects::ALL),
        AtspiEvent::Selection => {
            store.mark_children(object, ObjectAspects::STATES);
            store.mark_choice(object);
        }
        AtspiEvent::ActiveDescendant => {
            store.mark_children(object, ObjectAspects::STATES);
            if let Some(child) = other {
                store.mark(child, ObjectAspects::STATES);
            }
        }
        AtspiEvent::Bounds => {
            store.mark_with_inside(object, ObjectAspects::EXTENTS);
            // GTK 3 announces of a new widget that it got a place, and not that it shows since then.
            if !store.shows(object) {
                store.mark(object, ObjectAspects::STATES);
            }
        }
        // Another page took the place of one. Chromium announces that of neither the object around them nor the page that went.
        AtspiEvent::Document if !store.has(object) => store.mark_all(),
        AtspiEvent::Viewport | AtspiEvent::ModelChanged | AtspiEvent::Document => {
            store.mark_with_inside(object, ObjectAspects::ALL);
        }
        // The position of the caret is not stored.
        AtspiEvent::Caret | AtspiEvent::Message => {}
        AtspiEvent::WindowListed | AtspiEvent::Window => {
            store.mark(object, ObjectAspects::STATES.and(ObjectAspects::KIND_AND_BODY));
            if *event == AtspiEvent::WindowListed || !store.has(object) {
                store.mark_frames();
            }
        }
    }
}

fn state_changed(store: &mut MirrorStore, object: &ObjectRef, state: State, is_set: bool) {
    match state {
        // Whether an object is on the screen decides the same for everything inside it.
        State::Showing | State::Visible => {
            store.mark_with_inside(object, ObjectAspects::STATES.and(ObjectAspects::EXTENTS));
            store.mark(object, ObjectAspects::ALL);
        }
        State::Sensitive | State::Enabled => store.mark_with_inside(object, ObjectAspects::STATES),
        State::Defunct if is_set => store.remove(object),
        State::Expanded | State::Selected => {
            store.mark(
                object,
                ObjectAspects::STATES.and(ObjectAspects::KIND_AND_BODY).and(ObjectAspects::CHILDREN),
            );
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
        | State::Selectable => store.mark(object, ObjectAspects::STATES.and(ObjectAspects::KIND_AND_BODY)),
    }
}

impl MirrorStore {
    /// Marks as stale whether objects show in the area that a scroll bar moves: GTK 3 announces nothing of what comes into view.
    fn mark_scrolled(&mut self, object: &ObjectRef) {
        if self.role(object) != Some(Role::SCROLL_BAR) {
            return;
        }
        if let Some(area) = self.parent(object) {
            self.mark_with_inside(&area, ObjectAspects::STATES);
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
            self.mark(&around, ObjectAspects::BODY);
        }
    }
}

#[cfg(test)]
mod tests {
    use deskhand_ui::geometry::Rect;

    use super::*;
    use crate::{
        atspi::{mirror::parts::AspectMoments, quirks::AtspiToolkit},
        toolkits::libreoffice,
    };

    const ROOT: &str = "frame";
    const CHILD: &str = "child";

    fn object(path: &str) -> ObjectRef {
        ObjectRef::new(":1.7", path)
    }

    /// Announces `event` of a frame that has one child, both just read, and compares what is stale then.
    fn check(event: AtspiEvent, frame: ObjectAspects, child: ObjectAspects) {
        let mut store = MirrorStore::new(ObjectAspects::NONE);
        for path in [ROOT, CHILD] {
            store.ask(&object(path), &AspectMoments::default(), None);
            let now = store.now();
            store.confirm(&object(path), ObjectAspects::ALL, now);
        }
        store.update(&object(ROOT), |node| node.children = Some([object(CHILD)].into()));
        apply(&mut store, &Announcement { object: object(ROOT), event, other: None });
        let (known, stale) = store.ask(&object(ROOT), &AspectMoments::default(), None);
        assert_eq!(stale, frame, "{event:?}");
        let (_, stale) = store.ask(&object(CHILD), &known.below, None);
        assert_eq!(stale, child, "{event:?}");
    }

    #[test]
    fn a_page_that_was_not_there_makes_everything_stale() {
        let mut store = MirrorStore::new(ObjectAspects::NONE);
        store.ask(&object(ROOT), &AspectMoments::default(), None);
        let now = store.now();
        store.confirm(&object(ROOT), ObjectAspects::ALL, now);
        let new = Announcement { object: object("new page"), event: AtspiEvent::Document, other: None };
        apply(&mut store, &new);
        assert_eq!(store.ask(&object(ROOT), &AspectMoments::default(), None).1, ObjectAspects::ALL);
    }

    #[test]
    fn what_libreoffice_draws_may_have_changed_in_all_but_its_kind() {
        let mut store = MirrorStore::new(AtspiToolkit(&libreoffice::ELEMENTS).drawn_parts());
        let window = Rect::new(0, 0, 100, 100);
        let stale =
            |store: &mut MirrorStore| store.ask(&object(ROOT), &AspectMoments::default(), Some(window)).1;
        assert_eq!(stale(&mut store), ObjectAspects::ALL);
        let now = store.now();
        store.confirm(&object(ROOT), ObjectAspects::ALL, now);
        assert_eq!(stale(&mut store), ObjectAspects::NONE);
        store.draw(window);
        assert_eq!(stale(&mut store), ObjectAspects::ALL.without(ObjectAspects::KIND));
        apply(
            &mut store,
            &Announcement { object: object(ROOT), event: AtspiEvent::Description, other: None },
        );
        assert_eq!(stale(&mut store), ObjectAspects::ALL);
    }

    #[test]
    fn each_event_makes_stale_what_it_is_about_and_no_more() {
        let (none, all, body, states) =
            (ObjectAspects::NONE, ObjectAspects::ALL, ObjectAspects::KIND_AND_BODY, ObjectAspects::STATES);
        let state = |state| AtspiEvent::State { state, is_set: true };
        let look = states.and(body);
        check(state(State::Checked), look, none);
        check(state(State::Showing), all, states.and(ObjectAspects::EXTENTS));
        check(state(State::Sensitive), states, states);
        check(state(State::Expanded), look.and(ObjectAspects::CHILDREN), none);
        check(state(State::Defunct), all, all);
        check(AtspiEvent::State { state: State::Defunct, is_set: false }, look, none);
        check(AtspiEvent::Iconified, look, none);
        check(AtspiEvent::Name, body, none);
        check(AtspiEvent::ChildRemoved, body.and(ObjectAspects::CHILDREN), none);
        check(AtspiEvent::Selection, states, states);
        // The frame of this test is not known to show.
        check(AtspiEvent::Bounds, ObjectAspects::EXTENTS.and(states), ObjectAspects::EXTENTS);
        check(AtspiEvent::Viewport, all, all);
        check(AtspiEvent::ModelChanged, all, all);
        check(AtspiEvent::Caret, none, none);
        check(AtspiEvent::Message, none, none);
        check(AtspiEvent::Window, look, none);
        check(AtspiEvent::Document, all, all);
        check(AtspiEvent::Other, all, none);
    }
}
