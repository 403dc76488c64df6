//! The effect of an action: what changed after it, and whether the change can be attributed to it.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    time::Duration,
};

use deskhand_core::{
    action::{Act, Action, Aim, Evidence, Proof, Shortfall},
    command::Route,
    duration::milliseconds,
    ui::{Element, Role, Source, WindowInfo, WindowKind, belongs_to, same_app},
};
use deskhand_desktop::{Aspect, Change, Desktop, DesktopError, DesktopResult, QuietLimits, Settled};

use crate::{
    before::{Before, look},
    difference::{
        Difference, Differences, Part, announced, differences, drawn_difference, target_difference,
    },
    menus::is_menu,
    patience::{read_element, watch_app},
    report::{ActLimits, Done},
    surfaces::root_of,
};

/// The most interruptions of one wait by changes that prove nothing.
const WAITS_MAX: usize = 64;
/// An application announces one change in several pieces, such as a text that is removed and one that is inserted. After
/// this time they are complete, even on a busy machine.
const TAIL: Duration = Duration::from_millis(250);
/// How often a target that was detected in a picture is detected again while it is observed.
const DRAWN_LOOKS: Duration = Duration::from_millis(250);

/// What was observed after an action.
#[derive(Debug, Clone, Default)]
pub(crate) struct Effect {
    /// The proof that it worked, if there is one.
    pub(crate) proof: Option<Proof>,
    pub(crate) changes: Vec<Change>,
    /// The window that opened.
    pub(crate) opened: Option<WindowInfo>,
    pub(crate) waited_ms: u64,
    /// Whether pixels changed.
    pub(crate) damaged: bool,
    /// The target as it is now; `None` if it is gone.
    pub(crate) target: Option<Element>,
    /// The text at the position of a target that was detected in a picture.
    words: Option<String>,
}

impl Effect {
    /// The evidence, for actions without a post-condition of their own.
    pub(crate) fn evidence(&self) -> Evidence {
        match &self.proof {
            Some(proof) => proof.clone().into(),
            None => Shortfall::NothingChanged { pixels: false, then: None }.into(),
        }
    }

    /// The action with this effect.
    pub(crate) fn to_done(&self, act: Act, aim: Aim, route: Route) -> Done {
        let action = Action::new(act, aim, self.evidence()).by(route).after(self.waited_ms);
        Done { action: action.with_changes(self.changes.clone()), window: self.opened.clone() }
    }

    fn add(&mut self, settled: Settled) {
        self.waited_ms += settled.waited_ms;
        self.damaged |= settled.damaged;
        for change in settled.changes {
            if !self.changes.contains(&change) && self.changes.len() < Settled::CHANGES_MAX {
                self.changes.push(change);
            }
        }
    }
}

/// Waits for the effect of an action that was just sent, until it is proven and the application is idle, or the time limit
/// is reached.
///
/// A window that opened or closed, or a target that is gone, proves it at once. So does a change of an element that was
/// quiet before. An element that changed recently by itself, or was not observed before, is suspect: it is observed
/// without input, and if it changes again, it proves nothing. If the name of the target announces a dialog, other changes
/// only count once that dialog has not opened in time.
pub(crate) async fn wait_for_effect<D: Desktop>(
    desktop: &D,
    watch: D::Watch,
    before: &Before,
    limits: &ActLimits,
) -> DesktopResult<Effect> {
    let mut effect = Effect::default();
    let mut announced_dialog = AnnouncedDialog::default();
    let mut watch = Some(watch);
    let mut noise: HashSet<Part> = HashSet::new();
    for _ in 0..WAITS_MAX {
        let bound_ms = announced_dialog.bound_ms(limits);
        let current = match watch.take() {
            Some(first) => first,
            None => watch_app(desktop, before.surface.id).await?,
        };
        let left = Duration::from_millis(bound_ms.saturating_sub(effect.waited_ms));
        let quiet = QuietLimits { first_change: left, ..limits.quiet };
        let settled = desktop.settle(current, quiet).await?;
        effect.add(settled);
        let Some(changed) = look_for_proof(desktop, before, &mut effect).await? else { return Ok(effect) };
        let told = announced(&effect.changes);
        let mut candidates = changed.candidates(desktop, before, &told, &noise).await?;
        candidates.retain(|one| !is_known_to_change(desktop, before, one));
        if let Some(fresh) = candidates.iter().find(|one| !one.is_suspect(before, &told)) {
            if announced_dialog.holds_back(before, fresh, effect.waited_ms, limits) {
                continue;
            }
            return Ok(effect.proven_by(desktop, fresh));
        }
        if !candidates.is_empty() {
            let by_themselves =
                control(desktop, before, (&changed, &candidates), limits, &mut effect).await?;
            by_themselves.iter().for_each(|part| part.mark_self_changing(desktop));
            noise.extend(by_themselves);
            let Some(now) = look_for_proof(desktop, before, &mut effect).await? else { return Ok(effect) };
            let told = announced(&effect.changes);
            let mut left = now.candidates(desktop, before, &told, &noise).await?;
            left.retain(|one| !is_known_to_change(desktop, before, one));
            let of_target =
                |one: &Difference| one.part.element == before.target.as_ref().map(|target| target.id);
            // A target detected in a picture must also read the same in both looks.
            let lasts = |one: &Difference| {
                let same =
                    |known: &&Difference| !before.is_drawn() || !of_target(one) || known.now == one.now;
                candidates.iter().filter(same).any(|known| known.part == one.part)
            };
            if let Some(proof) = left.iter().find(|one| !one.is_suspect(before, &told) || lasts(one)) {
                if announced_dialog.holds_back(before, proof, effect.waited_ms, limits) {
                    continue;
                }
                return Ok(effect.proven_by(desktop, proof));
            }
            // Elements that changed for the first time meanwhile are observed next, bounded.
            if !left.is_empty() && effect.waited_ms < 3 * bound_ms {
                continue;
            }
        }
        if effect.waited_ms >= bound_ms {
            break;
        }
    }
    Ok(match announced_dialog.other {
        Some((difference, _)) => effect.proven_by(desktop, &difference),
        None => effect,
    })
}

/// A dialog that the name of the target announces. A busy application shows it long after the first change, so other
/// changes are held back for a while.
#[derive(Default)]
struct AnnouncedDialog {
    /// The first other change, and until when it is held back, in milliseconds of the wait.
    other: Option<(Difference, u64)>,
}

impl AnnouncedDialog {
    /// Whether to wait on for the dialog although `change` was observed.
    fn holds_back(
        &mut self,
        before: &Before,
        change: &Difference,
        waited_ms: u64,
        limits: &ActLimits,
    ) -> bool {
        if !before.announces_dialog() {
            return false;
        }
        let until_ms = waited_ms + milliseconds(limits.effect);
        let (_, until_ms) = self.other.get_or_insert_with(|| (change.clone(), until_ms));
        waited_ms < *until_ms
    }

    /// The time limit of the wait, in milliseconds.
    fn bound_ms(&self, limits: &ActLimits) -> u64 {
        self.other.as_ref().map_or(milliseconds(limits.effect), |(_, until_ms)| *until_ms)
    }
}

/// Whether a difference belongs to a self-changing element other than the target.
fn is_known_to_change<D: Desktop>(desktop: &D, before: &Before, difference: &Difference) -> bool {
    let of_target = before.target.as_ref().is_some_and(|target| difference.part.element == Some(target.id));
    !of_target && difference.part.is_self_changing(desktop)
}

impl Effect {
    fn proven_by<D: Desktop>(mut self, desktop: &D, difference: &Difference) -> Self {
        self.proof = Some(difference.to_proof());
        if let Some(element) = difference.part.element {
            desktop.attribute_to_action(element);
        }
        self
    }
}

/// Observes without input, and returns the self-changing parts: candidates that change again, and others that change
/// twice.
async fn control<D: Desktop>(
    desktop: &D,
    before: &Before,
    (changed, candidates): (&Differences, &[Difference]),
    limits: &ActLimits,
    effect: &mut Effect,
) -> DesktopResult<HashSet<Part>> {
    // How often each part changed, and when it last did, in milliseconds of this wait.
    let mut counts: HashMap<Part, (u32, u64)> =
        candidates.iter().map(|candidate| (candidate.part, (1, 0))).collect();
    let mut waited_ms = 0;
    let mut last = changed.tree.clone();
    let is_drawn = before.is_drawn();
    let mut last_words = effect.words.clone();
    for _ in 0..WAITS_MAX {
        if waited_ms >= milliseconds(limits.control) {
            break;
        }
        let watch = watch_app(desktop, before.surface.id).await?;
        let left = Duration::from_millis(milliseconds(limits.control) - waited_ms);
        // Drawn content announces nothing, and periodic drawing ends no wait, so detect it again at intervals.
        let left = if is_drawn { left.min(DRAWN_LOOKS) } else { left };
        let quiet = QuietLimits { first_change: left, bound: left, ..limits.quiet };
        let settled = desktop.settle(watch, quiet).await?;
        waited_ms += settled.waited_ms.max(1);
        let now = look(desktop, before.surface.id).await?;
        let mut again = announced(&settled.changes);
        again.extend(differences(&last, &now, false).into_iter().map(|one| one.part));
        let words = words_at(desktop, before).await?;
        if let (Some(target), true) = (&before.target, words != last_words) {
            again.insert(Part::new(Some(target.id), Aspect::Text));
        }
        last_words = words;
        for part in again {
            match counts.entry(part) {
                Entry::Vacant(new) => drop(new.insert((1, waited_ms))),
                Entry::Occupied(mut known) => {
                    let (count, at_ms) = known.get_mut();
                    if waited_ms >= *at_ms + milliseconds(TAIL) {
                        (*count, *at_ms) = (*count + 1, waited_ms);
                    }
                }
            }
        }
        effect.add(Settled { damaged: false, ..settled });
        last = now;
    }
    Ok(counts.into_iter().filter(|(_, (count, _))| *count > 1).map(|(part, _)| part).collect())
}

/// Takes a new snapshot. `None` if a window or the missing target already proves the effect; otherwise the differences.
async fn look_for_proof<D: Desktop>(
    desktop: &D,
    before: &Before,
    effect: &mut Effect,
) -> DesktopResult<Option<Differences>> {
    let windows = desktop.windows().await?;
    if let Some(proof) = window_proof(desktop, before, &windows, effect).await? {
        effect.proof = Some(proof);
        // The target may have gone with its window.
        effect.target = match &before.target {
            Some(target) => desktop.element(target.id).await.ok(),
            None => None,
        };
        return Ok(None);
    }
    let mut own = Vec::new();
    if let Some(target) = before.target.as_ref().filter(|target| target.source != Source::AtSpi) {
        // A failed detection proves nothing: the target may be drawn in another colour now.
        effect.words = words_at(desktop, before).await?;
        own.extend(effect.words.as_ref().and_then(|words| drawn_difference(target, words)));
        effect.target = Some(target.clone());
    } else if let Some(target) = &before.target {
        match read_element(desktop, target.id).await {
            Ok(now) => {
                own.extend(target_difference(target, &now));
                effect.target = Some(now);
            }
            Err(DesktopError::NoElement(_)) => {
                effect.target = None;
                if !is_menu(&target.role) {
                    effect.proof = Some(Proof::Gone { element: target.into() });
                    return Ok(None);
                }
            }
            Err(DesktopError::NotAnswering { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let tree = look(desktop, before.surface.id).await?;
    let mut found = differences(&before.tree, &tree, before.opens_menus());
    found.retain(|one| before.target.as_ref().is_none_or(|target| one.part.element != Some(target.id)));
    own.extend(found);
    Ok(Some(Differences { found: own, tree }))
}

/// The text at the position of a target that was detected in a picture; `None` for other targets and where no text is
/// detected.
async fn words_at<D: Desktop>(desktop: &D, before: &Before) -> DesktopResult<Option<String>> {
    let target = before.target.as_ref().filter(|target| target.role == Role::DRAWN_TEXT);
    let Some(bounds) = target.and_then(|target| target.bounds) else { return Ok(None) };
    match desktop.element_at(before.surface.id, bounds.center()).await {
        Ok(found) => Ok(found.filter(|found| found.source != Source::AtSpi).map(|found| found.name)),
        // A failed observation proves nothing.
        Err(DesktopError::NoWindow(_) | DesktopError::NotAnswering { .. } | DesktopError::Failed { .. }) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

async fn window_proof<D: Desktop>(
    desktop: &D,
    before: &Before,
    windows: &[WindowInfo],
    effect: &mut Effect,
) -> DesktopResult<Option<Proof>> {
    let known = |id| before.windows.iter().find(|info| info.id == id);
    for info in windows.iter().rev() {
        if known(info.id).is_some()
            || !(same_app(info, &before.surface) || belongs_to(windows, info, &before.surface))
        {
            continue;
        }
        if info.kind == WindowKind::Popup && !is_opened_menu(desktop, before, info).await? {
            continue;
        }
        effect.opened = Some(info.clone());
        return Ok(Some(Proof::WindowOpened { window: info.into() }));
    }
    for info in &before.windows {
        if !same_app(info, &before.surface) || (info.kind == WindowKind::Popup && !before.opens_menus()) {
            continue;
        }
        match windows.iter().find(|other| other.id == info.id) {
            None => return Ok(Some(Proof::WindowClosed { window: info.into() })),
            Some(now) if now.title != info.title => {
                return Ok(Some(Proof::TitleChanged { title: now.title.clone() }));
            }
            Some(_) => {}
        }
    }
    Ok(None)
}

/// Whether a pop-up is a menu or list, rather than a tool tip.
async fn is_opened_menu<D: Desktop>(desktop: &D, before: &Before, popup: &WindowInfo) -> DesktopResult<bool> {
    let root = match root_of(desktop, popup).await {
        Err(DesktopError::NotAnswering { .. }) => None,
        other => other?,
    };
    Ok(match root {
        Some(root) if root.role.name() == "tool tip" => false,
        Some(root) => is_menu(&root.role) || before.opens_menus() || root.child_count > 1,
        None => before.opens_menus(),
    })
}
