//! Comparison of a recorded element with a current one.

use super::{
    data::{Selector, SelectorAnchor},
    find::{Agreement, Drift},
    kinship::{Kinship, kinship},
    roles::are_related,
};
use deskhand_ui::fold_name;

/// Maximum distance of a place from the recorded one, as a fraction of the window.
const PLACE_MAX: f64 = 0.12;
/// The part of the landmarks by which a window is familiar, and below which it is strange, in percent.
const FAMILIAR_MIN: usize = 70;
const STRANGE_MAX: usize = 34;
/// The fewest landmarks that tell.
const LANDMARKS_MIN: usize = 4;

/// A recorded element compared with one that is there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SelectorComparison {
    pub(super) agreements: Vec<Agreement>,
    pub(super) drifts: Vec<Drift>,
    /// `true` if role and name are the same, and if the containers are.
    pub(super) same_role: bool,
    pub(super) same_within: bool,
    /// `true` if the neighbours on this side agree; `None` if there were none.
    pub(super) before: Option<bool>,
    pub(super) after: Option<bool>,
    /// `true` if all the neighbours are the same, in the same order.
    pub(super) same_around: bool,
}

impl SelectorComparison {
    pub(super) fn of(recorded: &Selector, seen: &Selector) -> Self {
        let same_within = same_all(&recorded.within, &seen.within);
        let mut all = Self {
            agreements: Vec::new(),
            drifts: Vec::new(),
            same_role: recorded.role == seen.role,
            same_within,
            before: near(&recorded.before, &seen.before),
            after: near(&recorded.after, &seen.after),
            same_around: same_all(&recorded.before, &seen.before) && same_all(&recorded.after, &seen.after),
        };
        all.compare_texts(recorded, seen);
        all.compare_places(recorded, seen);
        all
    }

    fn note(&mut self, agrees: Option<bool>, agreement: Agreement, drift: Option<Drift>) {
        match agrees {
            Some(true) => self.agreements.push(agreement),
            Some(false) => self.drifts.extend(drift),
            None => {}
        }
    }

    fn compare_texts(&mut self, recorded: &Selector, seen: &Selector) {
        let (name, now) = (recorded.called(), seen.called());
        let is_named = recorded.name.as_ref().is_some_and(|pattern| pattern.matches(&now));
        if !is_named && fold_name(&name) != fold_name(&now) {
            self.drifts.push(Drift::Name { was: name, now });
        }
        if !self.same_role {
            self.drifts.push(Drift::Role { was: recorded.role.clone(), now: seen.role.clone() });
        }
        let label = both(recorded.label.as_ref(), seen.label.as_ref())
            .map(|(was, now)| fold_name(was) == fold_name(now));
        self.note(label, Agreement::Label, None);
        let help = both(recorded.help.as_ref(), seen.help.as_ref())
            .map(|(was, now)| fold_name(was) == fold_name(now));
        let changed = Drift::Help {
            was: recorded.help.clone().unwrap_or_default(),
            now: seen.help.clone().unwrap_or_default(),
        };
        self.note(help, Agreement::Help, Some(changed));
        self.note(
            both(recorded.keys.as_ref(), seen.keys.as_ref()).map(|(was, now)| was == now),
            Agreement::Keys,
            None,
        );
        let range = both(recorded.range.as_ref(), seen.range.as_ref()).map(|(was, now)| was == now);
        self.note(range, Agreement::Range, None);
        let title = both(recorded.scope.title.as_ref(), seen.scope.title.as_ref());
        if title
            .is_some_and(|(was, now)| was != now && !was.matches(now.text()) && !was.matches(&now.plain()))
        {
            let text = |selector: &Selector| {
                selector.scope.title.as_ref().map(ToString::to_string).unwrap_or_default()
            };
            self.drifts.push(Drift::Title { was: text(recorded), now: text(seen) });
        }
        if recorded.scope.page != seen.scope.page {
            let text = |selector: &Selector| selector.scope.page.clone().unwrap_or_default();
            self.drifts.push(Drift::Page { was: text(recorded), now: text(seen) });
        }
    }

    fn compare_places(&mut self, recorded: &Selector, seen: &Selector) {
        let named = !recorded.within.is_empty() || !seen.within.is_empty();
        let containers = Drift::Container { was: recorded.within.clone(), now: seen.within.clone() };
        self.note(named.then_some(self.same_within), Agreement::Container, Some(containers));
        let gone = Drift::Neighbour;
        self.note(self.before, Agreement::Before, recorded.before.first().cloned().map(gone));
        self.note(self.after, Agreement::After, recorded.after.first().cloned().map(gone));
        let order =
            (recorded.of > 0 && seen.of > 0).then_some((recorded.nth, recorded.of) == (seen.nth, seen.of));
        self.note(order, Agreement::Order, None);
        let is_near = |(was, now): (&[f64; 2], &[f64; 2])| {
            was.iter().zip(now).all(|(was, now)| (was - now).abs() <= PLACE_MAX)
        };
        let place = both(recorded.place.as_ref(), seen.place.as_ref());
        let moved = place.map(|(was, now)| Drift::Place { was: *was, now: *now });
        self.note(place.map(is_near), Agreement::Place, moved);
    }

    /// Counts the agreements that name something.
    pub(super) fn strong(&self) -> usize {
        self.agreements.iter().filter(|agreement| agreement.is_strong()).count()
    }

    pub(super) fn has(&self, agreement: Agreement) -> bool {
        self.agreements.contains(&agreement)
    }

    /// Returns `true` if something that was in another title or on another page is needed to explain it.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.drifts.iter().any(|drift| matches!(drift, Drift::Title { .. } | Drift::Page { .. }))
    }

    /// Returns `true` if there was a neighbour on a side, and it is not there.
    pub(super) fn lost_neighbour(&self) -> bool {
        self.before == Some(false) || self.after == Some(false)
    }

    /// Returns `true` if there were neighbours on both sides, and none is there.
    pub(super) fn lost_neighbours(&self) -> bool {
        self.before == Some(false) && self.after == Some(false)
    }
}

fn both<'a, T: ?Sized>(one: Option<&'a T>, other: Option<&'a T>) -> Option<(&'a T, &'a T)> {
    one.zip(other)
}

/// Returns `true` if two anchors are the same element: the same name, and a related role.
pub(super) fn same(one: &SelectorAnchor, other: &SelectorAnchor) -> bool {
    are_related(&one.role, &other.role) && fold_name(&one.name) == fold_name(&other.name)
}

pub(super) fn same_all(one: &[SelectorAnchor], other: &[SelectorAnchor]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
}

/// Returns `true` if the nearest recorded neighbour is still near; `None` if there was none.
fn near(recorded: &[SelectorAnchor], seen: &[SelectorAnchor]) -> Option<bool> {
    recorded.first().map(|nearest| seen.iter().any(|one| same(one, nearest) || is_translated(nearest, one)))
}

/// Returns `true` if a neighbour has another word for its name, as when only some of the names of a window are in another language.
fn is_translated(was: &SelectorAnchor, now: &SelectorAnchor) -> bool {
    was.role == now.role && kinship(&was.name, &now.name) == Kinship::Synonym
}

/// Returns the percentage of the landmarks that are in a window; `None` if too few were recorded to decide.
fn kept(recorded: &Selector, anchors: &[SelectorAnchor]) -> Option<usize> {
    let landmarks = &recorded.scope.landmarks;
    let found = landmarks.iter().filter(|landmark| anchors.iter().any(|one| same(one, landmark))).count();
    (landmarks.len() >= LANDMARKS_MIN).then(|| found * 100 / landmarks.len())
}

/// Returns `true` if the window is the one in which it was recorded, by its landmarks.
pub(super) fn is_familiar(recorded: &Selector, anchors: &[SelectorAnchor]) -> bool {
    kept(recorded, anchors).is_some_and(|kept| kept >= FAMILIAR_MIN)
}

/// Returns `true` if much of the window is not as it was recorded: it may show another page or tab.
pub(super) fn is_changed(recorded: &Selector, anchors: &[SelectorAnchor]) -> bool {
    kept(recorded, anchors).is_some_and(|kept| kept < FAMILIAR_MIN)
}

/// Returns `true` if hardly anything in the window was there when it was recorded.
pub(super) fn is_strange(recorded: &Selector, anchors: &[SelectorAnchor]) -> bool {
    kept(recorded, anchors).is_some_and(|kept| kept < STRANGE_MAX)
}

/// Returns `true` if it was recorded with nothing that names its surroundings.
pub(super) fn has_no_surroundings(recorded: &Selector) -> bool {
    recorded.within.is_empty()
        && recorded.before.is_empty()
        && recorded.after.is_empty()
        && recorded.help.is_none()
        && recorded.label.is_none()
        && recorded.row.is_empty()
        && recorded.column.is_none()
}
