//! All objects of an application in one reply (`Cache.GetItems`), where the toolkit supports that safely.

use std::collections::{HashMap, HashSet};

use deskhand_ui::clipping;

use super::super::{
    application::Application,
    bus::{AtspiCallError, Bus, CallResult},
    header::AtspiObjectHeader,
    wire::{self, ObjectRef, WireRef},
};

/// The most items that are taken from one reply.
const SEED_MAX: usize = 100_000;

/// One item of `Cache.GetItems`: object, application, parent, index in parent, number of children,
/// interfaces, name, role, description, states.
type Item = (WireRef, WireRef, WireRef, i32, i32, Vec<String>, String, u32, String, Vec<u32>);

/// The properties of all objects of an application.
#[derive(Debug, Default)]
pub(crate) struct Seed {
    heads: HashMap<ObjectRef, AtspiObjectHeader>,
    children: HashMap<ObjectRef, Vec<(i32, ObjectRef)>>,
    /// Objects without a number of children: those that manage their descendants.
    uncounted: HashSet<ObjectRef>,
}

impl Seed {
    /// Reads the seed; empty if the toolkit has none.
    pub(crate) async fn read(bus: &Bus, application: &Application) -> CallResult<Self> {
        if !application.toolkit.has_cache {
            return Ok(Self::default());
        }
        let cache = ObjectRef { path: "/org/a11y/atspi/cache".into(), ..application.root.clone() };
        let items: Vec<Item> = match bus.call(&cache, "org.a11y.atspi.Cache", "GetItems", &()).await {
            Ok(items) => items,
            Err(AtspiCallError::NotOffered | AtspiCallError::NoObject | AtspiCallError::Refused(_)) => {
                Vec::new()
            }
            Err(error @ (AtspiCallError::BusGone | AtspiCallError::NotAnswering { .. })) => {
                return Err(error);
            }
        };
        let mut seed = Self::default();
        for (object, _, parent, index, count, interfaces, name, role, _, words) in
            items.into_iter().take(SEED_MAX)
        {
            let Some(object) = ObjectRef::from_wire(&object) else { continue };
            if let Some(parent) = ObjectRef::from_wire(&parent) {
                seed.children.entry(parent).or_default().push((index, object.clone()));
            }
            let head = AtspiObjectHeader {
                role: wire::role(role),
                name: clipping::name(name),
                states: wire::states(&words),
                patterns: wire::patterns(&interfaces),
                child_count: u32::try_from(count).unwrap_or(0),
                description: None,
            };
            if count < 0 {
                seed.uncounted.insert(object.clone());
            }
            seed.heads.insert(object, head);
        }
        for children in seed.children.values_mut() {
            children.sort_unstable_by_key(|(index, _)| *index);
        }
        Ok(seed)
    }

    /// The properties of an object.
    pub(crate) fn head(&self, object: &ObjectRef) -> Option<&AtspiObjectHeader> {
        self.heads.get(object)
    }

    /// Returns `true` if the number of children of an object is missing.
    pub(crate) fn is_uncounted(&self, object: &ObjectRef) -> bool {
        self.uncounted.contains(object)
    }

    /// The children of an object, if all of them are known.
    pub(crate) fn complete_children(&self, object: &ObjectRef, count: u32) -> Option<Vec<ObjectRef>> {
        let children = self.children.get(object)?;
        let in_order = children.iter().zip(0..).all(|((index, _), at)| *index == at);
        (in_order && usize::try_from(count) == Ok(children.len()))
            .then(|| children.iter().map(|(_, object)| object.clone()).collect())
    }
}
