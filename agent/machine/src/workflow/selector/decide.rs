//! The rules for elements of the recorded name: same, moved, or of another role.

use super::{
    compare::{has_no_surroundings, is_changed, is_familiar, is_strange, same_all},
    find::{
        Agreement, Contender, Obstacle, SelectorCandidate, SelectorMatch, SelectorMatchRule, SelectorSearch,
    },
    recorded::within,
    scene::{Scene, SceneNode},
};
use deskhand_ui::WindowKind;

/// Lead in strong agreements that one candidate needs over another to be chosen by their number.
const LEAD_MIN: usize = 2;

/// Counts the evidence for a candidate: strong agreements, and the company of its neighbours if it is in its
/// container.
fn enough(one: &SelectorCandidate) -> usize {
    let is_in_place = one.with.same_role && one.with.same_within;
    one.with.strong() + usize::from(is_in_place && one.with.has(Agreement::Company))
}

impl SelectorSearch<'_> {
    /// Decides between the elements that have the recorded name.
    pub(super) fn by_name(&self, named: &[SelectorCandidate]) -> SelectorMatch {
        let mut ranked: Vec<&SelectorCandidate> = named.iter().collect();
        ranked.sort_by_key(|one| std::cmp::Reverse(self.rank(one)));
        let Some((best, others)) = ranked.split_first() else {
            return SelectorMatch::Gone { nearest: Vec::new(), why: self.absence() };
        };
        let contenders = || -> Vec<Contender> {
            ranked.iter().take(SelectorMatch::CONTENDERS_MAX).map(|one| one.contender()).collect()
        };
        if self.has_strangers(best) || !others.iter().all(|other| self.tells_apart(best, other)) {
            return SelectorMatch::Ambiguous { candidates: contenders() };
        }
        let is_doubtful =
            self.is_nameless() && !self.is_where_it_was(best) || !self.is_told_from_doubles(best);
        if is_doubtful || enough(best) < self.required(best) {
            return SelectorMatch::Gone { nearest: contenders(), why: Obstacle::Unproven };
        }
        let found = self.found(best);
        match (&found, self.renamed()) {
            // It may as well have got another name, while a new element has the old one.
            (SelectorMatch::Drifted { .. }, Some(SelectorMatch::Drifted { element, .. }))
                if element != best.element =>
            {
                SelectorMatch::Ambiguous { candidates: contenders() }
            }
            (_, _) => found,
        }
    }

    /// Returns `true` if a page offers more elements of the name than there were: it may imitate one, with all that stands around it.
    fn has_strangers(&self, one: &SelectorCandidate) -> bool {
        let selector = self.selector;
        selector.scope.page.is_some() && selector.row.is_empty() && self.is_more_than_there_were(one)
    }

    fn is_more_than_there_were(&self, one: &SelectorCandidate) -> bool {
        self.namesakes(one) > self.selector.doubles.saturating_add(1)
    }

    fn found(&self, best: &SelectorCandidate) -> SelectorMatch {
        let fit = match (best.with.same_role, best.with.same_within) {
            (true, true) if !best.with.is_elsewhere() => {
                return SelectorMatch::Exact { element: best.element };
            }
            (true, true) => SelectorMatchRule::Same,
            (true, false) => SelectorMatchRule::Moved,
            (false, _) => SelectorMatchRule::OtherRole,
        };
        SelectorMatch::Drifted {
            element: best.element,
            fit,
            drifts: best.with.drifts.clone(),
            proof: best.with.agreements.clone(),
        }
    }

    fn rank(&self, one: &SelectorCandidate) -> (usize, bool, usize) {
        let strong = one.with.strong() + usize::from(one.with.same_role);
        (strong, one.with.same_around, one.with.agreements.len())
    }

    /// Returns `true` if the better of two candidates is the one, judged by what both have.
    fn tells_apart(&self, best: &SelectorCandidate, other: &SelectorCandidate) -> bool {
        if other.with.same_role && !best.with.same_role {
            return false;
        }
        let has = |one: &SelectorCandidate, agreement: Agreement| one.with.has(agreement);
        let other_leads = other.with.agreements.iter().any(|one| one.is_strong() && !has(best, *one));
        if other_leads {
            return false;
        }
        // What names this one element, and not its surroundings.
        let decisive = [Agreement::Label, Agreement::Help, Agreement::Container];
        if decisive.into_iter().any(|one| has(best, one) && !has(other, one)) {
            return true;
        }
        // A new one beside it, and one that is where it was while another has its neighbours, cannot be told from it.
        let is_new = self.is_more_than_there_were(best) && other.with.same_within;
        if is_new || other.with.agreements.iter().any(|one| !has(best, *one)) {
            return false;
        }
        let is_around = best.with.same_around && !other.with.same_around && best.with.strong() > 0;
        let lead = self.rank(best).0.saturating_sub(self.rank(other).0);
        is_around && (has(best, Agreement::Order) || has(best, Agreement::Place)) || lead >= LEAD_MIN
    }

    /// Returns the number of strong agreements that a single candidate needs.
    fn required(&self, one: &SelectorCandidate) -> usize {
        let with = &one.with;
        let selector = self.selector;
        let anchors = self.anchors.get(one.scene).map_or(&[][..], Vec::as_slice);
        let is_in_place = with.same_role && with.same_within;
        if is_in_place && has_no_surroundings(selector) && selector.doubles == 0 && !with.is_elsewhere() {
            return 0;
        }
        let has_weak = with.has(Agreement::Order) && with.has(Agreement::Place);
        let is_specific = selector.called().split_whitespace().count() > 1 && selector.doubles == 0;
        let mut required = match (with.same_role, with.same_within) {
            (true, true) => 1,
            (_, _) if self.is_guarded => 2,
            (true, false)
                if is_specific && one.has_neighbours_in_window && is_familiar(selector, anchors) =>
            {
                0
            }
            (true, false) => 1,
            (false, _) if has_weak => 1,
            (false, _) => 2,
        };
        if selector.doubles > 0 {
            required = required.max(2);
        }
        if is_in_place {
            required = required.min(self.recorded_strong());
        }
        let is_other_window = with.is_elsewhere()
            && (selector.scope.kind != WindowKind::Normal || selector.scope.page.is_some());
        required
            + usize::from(is_other_window)
            + usize::from(is_in_place && with.lost_neighbours() && !with.has(Agreement::Company))
            + usize::from(is_in_place && with.lost_neighbour() && is_changed(selector, anchors))
            + usize::from(is_strange(selector, anchors))
    }

    /// Returns the maximum number of strong agreements.
    fn recorded_strong(&self) -> usize {
        let one = self.selector;
        [
            !one.row.is_empty(),
            one.column.is_some(),
            one.label.is_some(),
            one.help.is_some(),
            one.keys.is_some(),
            one.range.is_some(),
            !one.within.is_empty(),
            !one.before.is_empty(),
            !one.after.is_empty(),
        ]
        .into_iter()
        .map(usize::from)
        .sum()
    }

    /// Returns `true` if nothing that belongs to the element itself was recorded.
    fn is_nameless(&self) -> bool {
        self.selector.called().is_empty() && self.selector.row.is_empty()
    }

    /// Counts the controls of the window that have the recorded name.
    fn namesakes(&self, one: &SelectorCandidate) -> u32 {
        self.count_namesakes(one, |_, _| true)
    }

    fn count_namesakes(&self, one: &SelectorCandidate, fits: impl Fn(&Scene<'_>, usize) -> bool) -> u32 {
        let Some(scene) = self.scenes.get(one.scene) else { return 0 };
        let is_one = |(at, node): &(usize, &SceneNode<'_>)| {
            let role = &node.element.role;
            (role.is_interactive() || *role == self.selector.role)
                && self.is_called(scene, *at)
                && fits(scene, *at)
        };
        u32::try_from(scene.shown().filter(is_one).count()).unwrap_or(u32::MAX)
    }

    /// Returns `true` if it cannot be one of the doubles that were there: it is in its row; it is in containers that only it was in, and the
    /// doubles are all there or its neighbours are; or they are all there, and all that was recorded agrees.
    fn is_told_from_doubles(&self, one: &SelectorCandidate) -> bool {
        let selector = self.selector;
        let with = &one.with;
        if selector.doubles == 0 {
            return true;
        }
        let is_in_own_row = !selector.row.is_empty();
        let is_inside = |scene: &Scene<'_>, at: usize| same_all(&within(scene, at), &selector.within);
        let is_apart = selector.doubles_inside == 0
            && !selector.within.is_empty()
            && self.count_namesakes(one, is_inside) == 1;
        let are_all_there = self.namesakes(one) > selector.doubles;
        let is_unchanged = self.is_where_it_was(one) && with.strong() >= self.recorded_strong();
        let is_told =
            is_in_own_row || is_apart && (are_all_there || with.same_around) || are_all_there && is_unchanged;
        with.same_role && with.same_within && is_told
    }

    /// Returns `true` if everything around it is as it was: what an element without a name needs.
    fn is_where_it_was(&self, one: &SelectorCandidate) -> bool {
        let with = &one.with;
        let has_order = self.selector.of == 0 || with.has(Agreement::Order);
        with.same_role && with.same_within && with.same_around && has_order && !with.is_elsewhere()
    }
}
