//! The rules for elements whose name has changed: renamed, and translated with the whole window.

use super::{
    compare::{is_strange, same},
    data::{Selector, SelectorAnchor},
    find::{
        Agreement, Contender, Drift, Obstacle, SelectorCandidate, SelectorMatch, SelectorMatchRule,
        SelectorSearch,
    },
    kinship::{Kinship, PressRisk, kinship, means_otherwise},
    recorded::spread,
    roles::are_related,
};
use deskhand_ui::fold_name;

/// The fewest named controls of a window whose translation is recognised.
const PAIRS_MIN: usize = 2;
/// From how many on, two of them must be known words.
const PAIRS_MANY: usize = 4;

impl SelectorSearch<'_> {
    /// The element in the same place with a related name. `None` if nothing stands there.
    pub(super) fn renamed(&self) -> Option<SelectorMatch> {
        let selector = self.selector;
        let old = selector.called();
        if old.is_empty() || self.had_doubles_beside_it() {
            return None;
        }
        let standing = self.weigh(|_, _, node| node.element.role == selector.role);
        let in_place: Vec<&SelectorCandidate> =
            standing.iter().filter(|one| self.stands_in_its_place(one)).collect();
        let judged: Vec<(&SelectorCandidate, Option<Obstacle>)> =
            in_place.iter().map(|one| (*one, self.objection(&old, one))).collect();
        let fitting: Vec<&SelectorCandidate> =
            judged.iter().filter(|(_, why)| why.is_none()).map(|(one, _)| *one).collect();
        let contenders = |all: &[&SelectorCandidate]| -> Vec<Contender> {
            all.iter().take(SelectorMatch::CONTENDERS_MAX).map(|one| one.contender()).collect()
        };
        match fitting.as_slice() {
            [one] => Some(changed(one, SelectorMatchRule::Renamed, &old)),
            [] => {
                let why = judged.iter().find_map(|(_, why)| why.clone())?;
                Some(SelectorMatch::Gone { nearest: contenders(&in_place), why })
            }
            several => Some(SelectorMatch::Ambiguous { candidates: contenders(several) }),
        }
    }

    /// Returns `true` if other controls had its name, and neither its row nor its containers tell it from them: once names have changed, it
    /// could be one of these.
    fn had_doubles_beside_it(&self) -> bool {
        let selector = self.selector;
        let is_apart = selector.doubles_inside == 0 && !selector.within.is_empty();
        selector.doubles > 0 && selector.row.is_empty() && !is_apart
    }

    /// Returns `true` if role, containers, position and the neighbours on both sides are as recorded.
    fn stands_in_its_place(&self, one: &SelectorCandidate) -> bool {
        let with = &one.with;
        let selector = self.selector;
        let anchors = self.anchors.get(one.scene).map_or(&[][..], Vec::as_slice);
        // The first or last element of a window has no neighbour on one side.
        let holds = |agrees: Option<bool>, seen: &[SelectorAnchor]| agrees.unwrap_or(seen.is_empty());
        let is_between = holds(with.before, &one.seen.before) && holds(with.after, &one.seen.after);
        let has_neighbour = with.before == Some(true) || with.after == Some(true);
        let has_order = (selector.nth, selector.of) == (one.seen.nth, one.seen.of);
        is_between
            && has_neighbour
            && has_order
            && with.same_within
            && !with.is_elsewhere()
            && !is_strange(selector, anchors)
    }

    /// Why an element in the same place is another one; `None` if it is the same.
    fn objection(&self, old: &str, one: &SelectorCandidate) -> Option<Obstacle> {
        let new = one.seen.called();
        if new.is_empty() {
            return Some(Obstacle::Unrelated);
        }
        if self.was_another(&new) {
            return Some(Obstacle::TakenByOther);
        }
        let kin = kinship(old, &new);
        if kin == Kinship::Opposed {
            return Some(Obstacle::Opposite);
        }
        if PressRisk::of(old) != PressRisk::of(&new) {
            return Some(Obstacle::OtherConsequence);
        }
        let is_supported = self.is_supported(one);
        let is_enough = if self.is_guarded {
            kin.is_close() && (is_supported || one.with.has(Agreement::Container))
        } else {
            kin.is_close() || is_supported && !means_otherwise(old, &new)
        };
        (!is_enough).then_some(Obstacle::Unrelated)
    }

    /// Returns `true` if something agrees that belongs to the element itself, besides its name.
    fn is_supported(&self, one: &SelectorCandidate) -> bool {
        // Many controls range from 0 to 1 or from 0 to 100.
        let is_telling =
            self.selector.range.is_some_and(|range| range != [0.0, 1.0] && range != [0.0, 100.0]);
        let has = |agreement| one.with.has(agreement);
        has(Agreement::Help) || has(Agreement::Keys) || has(Agreement::Range) && is_telling
    }

    /// Returns `true` if an element of this name was there when the selector was recorded.
    fn was_another(&self, name: &str) -> bool {
        let selector = self.selector;
        let known = [&selector.before, &selector.after, &selector.scope.landmarks].into_iter().flatten();
        let mut names =
            known.map(|anchor| anchor.name.as_str()).chain(selector.unlike.iter().map(String::as_str));
        names.any(|known| fold_name(known) == fold_name(name))
    }

    /// The element in the same position of a window whose names are all in another language.
    pub(super) fn translated(&self) -> Option<SelectorMatch> {
        let selector = self.selector;
        let old = selector.called();
        if old.is_empty() || self.had_doubles_beside_it() {
            return None;
        }
        let scenes: Vec<usize> = (0..self.scenes.len())
            .filter(|index| self.anchors.get(*index).is_some_and(|anchors| is_translation(selector, anchors)))
            .collect();
        let all = self.weigh(|_, _, node| node.element.role == selector.role);
        let fitting: Vec<&SelectorCandidate> =
            all.iter().filter(|one| scenes.contains(&one.scene) && self.is_counterpart(&old, one)).collect();
        match fitting.as_slice() {
            [] => None,
            [one] => Some(changed(one, SelectorMatchRule::Translated, &old)),
            several => Some(SelectorMatch::Ambiguous {
                candidates: several
                    .iter()
                    .take(SelectorMatch::CONTENDERS_MAX)
                    .map(|one| one.contender())
                    .collect(),
            }),
        }
    }

    /// Returns `true` if an element stands where the recorded one stood, among elements of the same roles, and something of its own agrees.
    fn is_counterpart(&self, old: &str, one: &SelectorCandidate) -> bool {
        let selector = self.selector;
        let seen = &one.seen;
        let new = seen.called();
        let is_parallel = |was: &[SelectorAnchor], now: &[SelectorAnchor]| {
            was.len() == now.len()
                && was.iter().zip(now).all(|(was, now)| {
                    are_related(&was.role, &now.role) && !means_otherwise(&was.name, &now.name)
                })
        };
        let stands = (selector.nth, selector.of) == (seen.nth, seen.of)
            && is_parallel(&selector.within, &seen.within)
            && is_parallel(&selector.before, &seen.before)
            && is_parallel(&selector.after, &seen.after);
        if !stands
            || new.is_empty()
            || means_otherwise(old, &new)
            || PressRisk::of(old) != PressRisk::of(&new)
        {
            return false;
        }
        let folded = fold_name(&new);
        let named_so = self.scenes.get(one.scene).map_or(0, |scene| {
            let is_so = |at: usize| scene.anchor(at).is_some_and(|anchor| fold_name(&anchor.name) == folded);
            scene.shown().filter(|(at, node)| node.element.role.is_interactive() && is_so(*at)).count()
        });
        let is_alone = u32::try_from(named_so).is_ok_and(|count| count <= selector.doubles.saturating_add(1));
        if !is_alone && selector.row.is_empty() {
            return false;
        }
        let kin = kinship(old, &new);
        kin.is_close() || self.is_supported(one) && kin != Kinship::Opposed && !self.is_guarded
    }
}

fn changed(one: &SelectorCandidate, fit: SelectorMatchRule, old: &str) -> SelectorMatch {
    let mut proof = one.with.agreements.clone();
    if kinship(old, &one.seen.called()).is_close() {
        proof.push(Agreement::Word);
    }
    let is_neighbour = |drift: &&Drift| matches!(drift, Drift::Neighbour(_));
    let drifts =
        one.with.drifts.iter().filter(|drift| fit != SelectorMatchRule::Translated || !is_neighbour(drift));
    SelectorMatch::Drifted { element: one.element, fit, drifts: drifts.cloned().collect(), proof }
}

/// Returns `true` if a window has the same layout as the recorded one, and most of its names changed, as far as known words tell into
/// words of the same meaning.
fn is_translation(selector: &Selector, anchors: &[SelectorAnchor]) -> bool {
    let scope = &selector.scope;
    let now = spread(anchors);
    let count = scope.landmarks.len();
    let same_layout = u32::try_from(anchors.len()).is_ok_and(|controls| controls == scope.controls)
        && count == now.len()
        && scope.landmarks.iter().zip(&now).all(|(was, now)| are_related(&was.role, &now.role));
    if !same_layout || count < PAIRS_MIN {
        return false;
    }
    let pairs: Vec<(&SelectorAnchor, &SelectorAnchor)> =
        scope.landmarks.iter().zip(now).filter(|(was, now)| !same(was, now)).collect();
    let known = pairs.iter().filter(|(was, now)| kinship(&was.name, &now.name).is_close()).count();
    let is_consistent = !pairs.iter().any(|(was, now)| means_otherwise(&was.name, &now.name));
    pairs.len() * 2 >= count && is_consistent && known >= if count < PAIRS_MANY { 1 } else { 2 }
}
