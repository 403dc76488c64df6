//! Tests the store against a model of an application: whatever changes, and in whatever order changes and reads
//! interleave, nothing stale is served as current.

use std::collections::BTreeMap;

use deskhand_ui::{Role, State};
use proptest::prelude::*;

use super::{
    super::{
        super::event::{Announcement, AtspiEvent},
        marks::apply,
    },
    *,
};

const BUS: &str = ":1.7";
/// The most objects of a model.
const OBJECTS_MAX: usize = 24;

/// What an object shows.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Object {
    name: u32,
    checked: bool,
    x: i32,
    children: Vec<usize>,
}

/// An application that announces what it changes.
#[derive(Debug, Clone)]
struct Model {
    objects: BTreeMap<usize, Object>,
    parents: BTreeMap<usize, usize>,
    next: usize,
}

/// One change. Objects are picked by a number modulo their count.
#[derive(Debug, Clone)]
enum Change {
    Rename(usize),
    Toggle(usize),
    Move(usize),
    Add(usize),
    Remove(usize),
    Reparent(usize, usize),
    Defunct(usize),
    /// Events were lost.
    Lag,
}

/// One step of a test.
#[derive(Debug, Clone)]
enum Step {
    Change(Change),
    Look,
    /// A change that is announced while the object with this index in the walk is being read.
    LookWhile(usize, Change),
}

fn object_ref(id: usize) -> ObjectRef {
    ObjectRef::new(BUS, &format!("/object/{id}"))
}

fn announce(store: &mut MirrorStore, id: usize, event: AtspiEvent, other: Option<usize>) {
    apply(store, &Announcement { object: object_ref(id), event, other: other.map(object_ref) });
}

const fn set(state: State) -> AtspiEvent {
    AtspiEvent::State { state, is_set: true }
}

impl Model {
    fn new() -> Self {
        let mut model = Self { objects: BTreeMap::new(), parents: BTreeMap::new(), next: 0 };
        model.make(None);
        for parent in [0, 0, 1, 1, 3] {
            model.make(Some(parent));
        }
        model
    }

    fn make(&mut self, parent: Option<usize>) -> usize {
        let id = self.next;
        self.next += 1;
        let x = i32::try_from(id).unwrap() * 10;
        self.objects.insert(id, Object { name: 0, checked: false, x, children: Vec::new() });
        if let Some(parent) = parent {
            self.parents.insert(id, parent);
            self.objects.get_mut(&parent).unwrap().children.push(id);
        }
        id
    }

    fn pick(&self, number: usize) -> usize {
        *self.objects.keys().nth(number % self.objects.len()).unwrap()
    }

    fn object(&mut self, id: usize) -> &mut Object {
        self.objects.get_mut(&id).unwrap()
    }

    /// An object and its descendants.
    fn within(&self, id: usize) -> Vec<usize> {
        let mut found = vec![id];
        let mut at = 0;
        while at < found.len() {
            found.extend(self.objects[&found[at]].children.iter().copied());
            at += 1;
        }
        found
    }

    fn detach(&mut self, id: usize) -> Option<usize> {
        let parent = self.parents.remove(&id)?;
        self.object(parent).children.retain(|child| *child != id);
        Some(parent)
    }

    /// Makes a change and announces it to the store.
    fn change(&mut self, store: &mut MirrorStore, change: &Change) {
        match *change {
            Change::Rename(number) => {
                let id = self.pick(number);
                self.object(id).name += 1;
                announce(store, id, AtspiEvent::Name, None);
            }
            Change::Toggle(number) => {
                let id = self.pick(number);
                self.object(id).checked ^= true;
                announce(store, id, set(State::Checked), None);
            }
            Change::Move(number) => {
                let id = self.pick(number);
                for moved in self.within(id) {
                    self.object(moved).x += 1;
                }
                announce(store, id, AtspiEvent::Bounds, None);
            }
            Change::Add(number) => {
                let parent = self.pick(number);
                if self.objects.len() < OBJECTS_MAX {
                    let child = self.make(Some(parent));
                    announce(store, parent, AtspiEvent::ChildrenChanged, Some(child));
                }
            }
            Change::Remove(number) => {
                let id = self.pick(number);
                if let Some(parent) = self.detach(id) {
                    for gone in self.within(id) {
                        self.objects.remove(&gone);
                        self.parents.remove(&gone);
                    }
                    announce(store, parent, AtspiEvent::ChildRemoved, Some(id));
                }
            }
            Change::Reparent(number, to) => {
                let (id, to) = (self.pick(number), self.pick(to));
                if !self.within(id).contains(&to)
                    && let Some(parent) = self.detach(id)
                {
                    self.parents.insert(id, to);
                    self.object(to).children.push(id);
                    announce(store, parent, AtspiEvent::ChildRemoved, Some(id));
                    announce(store, to, AtspiEvent::ChildrenChanged, Some(id));
                }
            }
            // The object lives on, as in toolkits that report this by mistake.
            Change::Defunct(number) => {
                announce(store, self.pick(number), set(State::Defunct), None);
            }
            Change::Lag => store.mark_all(),
        }
    }

    fn reachable(&self) -> BTreeMap<usize, Object> {
        self.within(0).into_iter().map(|id| (id, self.objects[&id].clone())).collect()
    }
}

/// Looks as a walk does: takes what is current from the store, reads and stores the rest. Returns what it serves.
fn look(
    store: &mut MirrorStore,
    model: &mut Model,
    mut racing: Option<(usize, Change)>,
) -> BTreeMap<usize, Object> {
    let begun = store.now();
    let mut served = BTreeMap::new();
    let mut open = vec![(0, AspectMoments::default())];
    let mut count = 0;
    while let Some((id, inherited)) = open.pop() {
        let object = object_ref(id);
        let (mut known, stale) = store.ask(&object, &inherited, None);
        let read_at = store.now();
        let Some(read) = model.objects.get(&id).cloned() else { continue };
        if let Some((_, change)) = racing.take_if(|(at, _)| *at == count) {
            model.change(store, &change);
        }
        count += 1;
        let mut head = known.head.take().unwrap_or_else(|| AtspiObjectHeader {
            role: Role::PANEL,
            name: String::new(),
            states: States::default(),
            patterns: Vec::new(),
            child_count: 0,
            description: None,
        });
        let mut details = known.details.take().unwrap_or_default();
        let was_at = details.reported;
        if stale.has(ObjectAspects::STATES) {
            known.states = if read.checked { States::EMPTY.with(State::Checked) } else { States::EMPTY };
        }
        if stale.has(ObjectAspects::BODY) {
            head.name = read.name.to_string();
        }
        if stale.has(ObjectAspects::EXTENTS) {
            details.reported = Some(Rect::new(read.x, 0, 10, 10));
        }
        let known_children = if stale.has(ObjectAspects::CHILDREN) { None } else { store.children(&object) };
        let children =
            known_children.unwrap_or_else(|| read.children.iter().map(|child| object_ref(*child)).collect());
        store.update(&object, |node| {
            node.states = known.states;
            node.head = Some(head.clone());
            node.details = Some(details.clone());
            node.children = Some(Arc::clone(&children));
        });
        store.confirm(&object, stale, read_at);
        store.confirm(&object, ObjectAspects::ALL.without(stale), begun);
        if was_at.is_some() && was_at != details.reported {
            store.mark_inside(&object, ObjectAspects::EXTENTS, &mut known.below);
        }
        let ids: Vec<usize> =
            children.iter().map(|child| child.path.rsplit('/').next().unwrap().parse().unwrap()).collect();
        open.extend(ids.iter().map(|child| (*child, known.below)));
        let shown = Object {
            name: head.name.parse().unwrap(),
            checked: known.states.has(State::Checked),
            x: details.reported.unwrap().x,
            children: ids,
        };
        served.insert(id, shown);
    }
    served
}

fn changes() -> impl Strategy<Value = Change> {
    let number = || 0..OBJECTS_MAX;
    prop_oneof![
        3 => number().prop_map(Change::Rename),
        3 => number().prop_map(Change::Toggle),
        3 => number().prop_map(Change::Move),
        2 => number().prop_map(Change::Add),
        2 => number().prop_map(Change::Remove),
        2 => (number(), number()).prop_map(|(id, to)| Change::Reparent(id, to)),
        1 => number().prop_map(Change::Defunct),
        1 => Just(Change::Lag),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => changes().prop_map(Step::Change),
        2 => Just(Step::Look),
        2 => (0..OBJECTS_MAX, changes()).prop_map(|(at, change)| Step::LookWhile(at, change)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn nothing_stale_is_served_as_current(steps in proptest::collection::vec(steps(), 1..40)) {
        let (mut store, mut model) = (MirrorStore::new(ObjectAspects::NONE), Model::new());
        for step in steps {
            match step {
                Step::Change(change) => model.change(&mut store, &change),
                Step::LookWhile(at, change) => {
                    look(&mut store, &mut model, Some((at, change)));
                }
                Step::Look => {
                    let served = look(&mut store, &mut model, None);
                    prop_assert_eq!(served, model.reachable());
                }
            }
        }
        let served = look(&mut store, &mut model, None);
        prop_assert_eq!(served, model.reachable());
        // Without a change, nothing is stale.
        for id in model.within(0) {
            let (_, stale) = store.ask(&object_ref(id), &AspectMoments::default(), None);
            prop_assert_eq!(stale, ObjectAspects::NONE, "object {}", id);
        }
    }
}

#[test]
fn an_application_with_too_many_objects_keeps_the_latest() {
    let mut store = MirrorStore::new(ObjectAspects::NONE);
    for id in 0..=NODES_MAX {
        let object = object_ref(id);
        store.ask(&object, &AspectMoments::default(), None);
        store.mark_frames();
        let now = store.now();
        store.confirm(&object, ObjectAspects::ALL, now);
    }
    assert!(store.nodes.len() <= NODES_MAX);
    assert!(store.has(&object_ref(NODES_MAX)) && store.has(&object_ref(NODES_MAX - 1)));
    assert!(!store.has(&object_ref(0)));
}

#[test]
fn what_a_scroll_bar_moves_is_asked_again_and_nothing_else() {
    let mut store = MirrorStore::new(ObjectAspects::NONE);
    let [area, bar, panel, button, slider] = [0, 1, 2, 3, 4].map(object_ref);
    let mut add = |object: &ObjectRef, role: Role, children: &[&ObjectRef]| {
        let now = store.now();
        store.ask(object, &AspectMoments::default(), None);
        store.update(object, |node| {
            let head = AtspiObjectHeader {
                role,
                name: String::new(),
                states: States::default(),
                patterns: Vec::new(),
                child_count: 0,
                description: None,
            };
            node.head = Some(head);
            node.children = Some(children.iter().map(|child| (*child).clone()).collect());
        });
        store.confirm(object, ObjectAspects::ALL, now);
    };
    add(&slider, Role::SLIDER, &[]);
    add(&button, Role::PUSH_BUTTON, &[]);
    add(&panel, Role::PANEL, &[&button, &slider]);
    add(&bar, Role::SCROLL_BAR, &[]);
    add(&area, Role::SCROLL_PANE, &[&panel, &bar]);
    let stale = |store: &mut MirrorStore| {
        let of_area = store.ask(&area, &AspectMoments::default(), None).0;
        let (of_panel, _) = store.ask(&panel, &of_area.below, None);
        [&button, &slider].map(|object| store.ask(object, &of_panel.below, None).1)
    };

    announce(&mut store, 4, AtspiEvent::Value, None);
    assert_eq!(stale(&mut store), [ObjectAspects::NONE, ObjectAspects::KIND_AND_BODY]);
    announce(&mut store, 1, AtspiEvent::Value, None);
    let [of_button, of_slider] = stale(&mut store);
    assert_eq!(of_button, ObjectAspects::STATES);
    assert!(of_slider.has(ObjectAspects::STATES));
}
