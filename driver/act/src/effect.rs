//! The effect of an action: what changed after it, and whether the change can be attributed to it.

use std::time::Duration;

use deskhand_desktop::{Desktop, DesktopResult, IdleReport, QuietLimits};
use deskhand_ui::{DocumentInfo, action::ActionProof, duration::milliseconds};

use crate::{
    before::{Before, Sign},
    difference::{ChangeRelevance, ElementAspectDiff, announced},
    observed::ObservedEffect,
    patience::{ASLEEP, LOOKS_APART_MAX, LOOKS_APART_MIN, handle_earlier, watch_app},
    proof::{ProofCheckResult, look_for_proof, window_proof},
    report::ActLimits,
    suspects::Suspects,
};

/// The most looks of one wait.
const LOOKS_MAX: usize = 200;
/// Time that the application must be quiet before a look: changes announced in pieces are read at once.
const PIECES: Duration = Duration::from_millis(60);
/// Time to wait after a change elsewhere that proves nothing, where no better sign is to be expected.
const AFTER_ELSEWHERE: Duration = Duration::from_millis(180);
/// Time to wait for the effect of an input that may have no visible one.
const SILENT: Duration = Duration::from_millis(120);
/// The same for a click on what is selected already.
const AGAIN: Duration = Duration::from_millis(500);
/// Minimum time to wait for the dialog that the name of the target announces.
const ANNOUNCED: Duration = Duration::from_millis(1_500);
/// Time to continue waiting while a text shows progress, such as `Saving…`.
const UNDER_WAY: Duration = Duration::from_secs(3);
/// Maximum time without any change in an application that has timers due all the time, and neither works nor
/// waits for an answer: a longer effect has begun to show by then. In other applications, a timer that is due
/// is waited for.
const NOTHING_YET: Duration = Duration::from_millis(600);
/// After this time the work of a timer has begun.
const AFTER_TIMER: Duration = Duration::from_millis(5);
/// The longest wait for an application that does not respond.
const BUSY_MAX: Duration = Duration::from_secs(30);

/// Waits for the effect of an action that was just sent, until it is proven or the time limit is reached.
///
/// First the application handles the input; then it is looked for proof at once, after every change, and at growing
/// intervals, because not every effect is announced. A window that opened or closed and remains so, or a target that is
/// gone, proves it. So does a change of the target, and something that newly says something, if it was quiet before. An
/// element that changed recently by itself, or was not observed before, is suspect: it is observed without input, and if
/// it changes again, it proves nothing. Any other change elsewhere proves nothing either, and is reported.
pub(crate) async fn wait_for_effect<D: Desktop>(
    desktop: &D,
    watch: D::Watch,
    before: &Before,
    limits: &ActLimits,
) -> DesktopResult<ObservedEffect> {
    let effect = ObservedEffect { may_be_silent: before.sign != Sign::Expected, ..ObservedEffect::default() };
    let until_ms = milliseconds(bound(before, limits));
    let suspects = Suspects::new(before, limits);
    let mut wait = EffectWait {
        desktop,
        before,
        effect,
        suspects,
        held_back: None,
        handled_ms: 0,
        until_ms,
        ends_early: false,
        under_way_until_ms: None,
        asleep_from_ms: None,
        shows_nothing: true,
        awaits_title: before.saves && DocumentInfo::has_mark(&before.surface.title),
        sleeps_on: false,
    };
    let mut watch = wait.until_handled(watch).await?;
    let mut apart = if before.is_drawn() { LOOKS_APART_MAX } else { LOOKS_APART_MIN };
    for _ in 0..LOOKS_MAX {
        if wait.is_proven().await? || wait.effect.waited_ms >= wait.until_ms {
            break;
        }
        let sleeps = desktop.sleeps_for(before.surface.id).await?;
        if wait.is_over(sleeps).await? {
            break;
        }
        let next = wait.next_look(sleeps, apart);
        let quiet = QuietLimits { quiet: PIECES.min(next), first_change: next, bound: apart.max(PIECES) };
        let settled = desktop.settle(watch, quiet).await?;
        watch = watch_app(desktop, before.surface.id).await?;
        let is_busy = settled.timed_out;
        wait.note(IdleReport { waited_ms: settled.waited_ms.max(1), ..settled });
        if is_busy {
            watch = wait.until_handled(watch).await?;
        }
        apart = (apart * 2).min(LOOKS_APART_MAX);
    }
    if let Some(difference) = wait.held_back.take().filter(|_| wait.effect.proof.is_none()) {
        wait.prove(&difference);
    }
    Ok(wait.effect)
}

/// Returns the maximum time to wait for the effect once the input was handled.
fn bound(before: &Before, limits: &ActLimits) -> Duration {
    if before.announces_dialog() {
        limits.effect.max(ANNOUNCED)
    } else {
        match before.sign {
            Sign::Expected | Sign::Possible => limits.effect,
            Sign::Again => limits.effect.min(AGAIN),
            Sign::Unlikely => limits.effect.min(SILENT),
        }
    }
}

/// A wait for an effect.
struct EffectWait<'a, D> {
    desktop: &'a D,
    before: &'a Before,
    effect: ObservedEffect,
    suspects: Suspects<'a>,
    /// The proof that is held back while a better one is expected: a dialog.
    held_back: Option<ElementAspectDiff>,
    /// When the application had handled the input, in milliseconds.
    handled_ms: u64,
    /// The end of the wait, in milliseconds.
    until_ms: u64,
    /// `true` if that is soon, because something changed elsewhere.
    ends_early: bool,
    /// Until when it is waited on while something says that it goes on, in milliseconds.
    under_way_until_ms: Option<u64>,
    /// Since when the application was found asleep, for longer than the wait lasts, in milliseconds.
    asleep_from_ms: Option<u64>,
    /// `true` if the title of a document that is being saved has, or had, the mark of unsaved changes.
    awaits_title: bool,
    /// `true` if the last look found no difference.
    shows_nothing: bool,
    /// `true` if nothing more is expected of the application.
    sleeps_on: bool,
}

impl<D: Desktop> EffectWait<'_, D> {
    /// Records what happened.
    fn note(&mut self, settled: IdleReport) {
        let told = announced(&settled.changes);
        self.effect.add(settled);
        self.suspects.told(told, self.effect.waited_ms);
    }

    /// Waits until the application has handled everything so far, however long it is busy, and returns the watch for what
    /// follows.
    async fn until_handled(&mut self, watch: D::Watch) -> DesktopResult<D::Watch> {
        let begun_ms = self.effect.waited_ms;
        let mut watch = watch;
        loop {
            let settled = self.desktop.settle(watch, QuietLimits::HANDLED).await?;
            watch = watch_app(self.desktop, self.before.surface.id).await?;
            let is_busy = settled.timed_out;
            self.note(settled);
            let is_over = !is_busy || self.effect.waited_ms >= begun_ms + milliseconds(BUSY_MAX);
            if is_over || window_proof(self.desktop, self.before, &mut self.effect).await?.is_some() {
                self.handled_ms = self.effect.waited_ms;
                self.until_ms += self.effect.waited_ms - begun_ms;
                return Ok(watch);
            }
        }
    }

    /// Returns `true` if nothing more follows: the application sleeps past the end of the wait, and did at the
    /// looks before, or has shown nothing for long enough. Changes that were only held back or suspect are then
    /// judged a last time.
    async fn is_over(&mut self, sleeps: Duration) -> DesktopResult<bool> {
        let now_ms = self.effect.waited_ms;
        if sleeps <= Duration::from_millis(self.until_ms.saturating_sub(now_ms)) {
            self.asleep_from_ms = None;
            let awaits_more = self.awaits_title || self.before.announces_dialog();
            let is_late = now_ms >= self.handled_ms + milliseconds(NOTHING_YET);
            let is_idle = self.before.runs_timers && !sleeps.is_zero();
            return Ok(is_late && is_idle && self.shows_nothing && !awaits_more);
        }
        self.sleeps_on = now_ms >= *self.asleep_from_ms.get_or_insert(now_ms) + milliseconds(ASLEEP);
        // If nothing was different at the last look, when it slept already, nothing is now.
        if self.sleeps_on && !self.shows_nothing {
            self.is_proven().await?;
        }
        Ok(self.sleeps_on)
    }

    /// When the next look is worth it, `apart` from this one at most, if the application sleeps for so long: when the wait may
    /// be over, or a timer has fired.
    fn next_look(&self, sleeps: Duration, apart: Duration) -> Duration {
        let now_ms = self.effect.waited_ms;
        let in_time =
            |at_ms: u64| Some(Duration::from_millis(at_ms.checked_sub(now_ms)?)).filter(|one| !one.is_zero());
        let over = match self.asleep_from_ms {
            Some(from_ms) => in_time(from_ms + milliseconds(ASLEEP)),
            None => in_time(self.handled_ms + milliseconds(NOTHING_YET)),
        };
        // Many short timers are worth no look each.
        let timer = Some(sleeps.saturating_add(AFTER_TIMER)).filter(|_| sleeps >= apart / 2);
        let end = in_time(self.until_ms);
        over.into_iter().chain(timer).chain(end).fold(apart, Duration::min)
    }

    /// The proof that a document was saved by the title that lost its mark. Applications show the mark late, so it may have
    /// come after the key.
    async fn mark_is_gone(&mut self) -> DesktopResult<Option<ActionProof>> {
        if !self.before.saves {
            return Ok(None);
        }
        let windows = self.desktop.windows().await?;
        let Some(surface) = windows.into_iter().find(|info| info.id == self.before.surface.id) else {
            return Ok(None);
        };
        if DocumentInfo::has_mark(&surface.title) {
            self.awaits_title = true;
            self.until_ms = self.until_ms.max(self.handled_ms + milliseconds(UNDER_WAY));
            return Ok(None);
        }
        Ok(self.awaits_title.then_some(ActionProof::TitleChanged { title: surface.title }))
    }

    /// Looks once. Without a proof, the effect has what changed elsewhere.
    async fn is_proven(&mut self) -> DesktopResult<bool> {
        let (desktop, before) = (self.desktop, self.before);
        if let Some(proof) = self.mark_is_gone().await? {
            self.effect.proof = Some(proof);
            return Ok(true);
        }
        let changed = match look_for_proof(desktop, before, &mut self.effect).await? {
            ProofCheckResult::Proof(proof) => return self.lasts(proof).await,
            ProofCheckResult::Differences(changed) => changed,
        };
        let now_ms = self.effect.waited_ms;
        self.suspects.look(desktop, &changed.tree, self.effect.words.as_deref(), now_ms);
        let told = announced(&self.effect.changes);
        let mut found = changed.candidates(desktop, before, &told, self.suspects.noise()).await?;
        // Other elements that are known to change by themselves prove nothing.
        found.retain(|one| {
            let is_own = before.is_target(one.part.element) || one.is_opened_dialog();
            is_own || !one.part.is_self_changing(desktop)
        });
        self.await_what_is_under_way(&found);
        self.shows_nothing = found.is_empty();
        let (mut proving, elsewhere): (Vec<_>, Vec<_>) = found.into_iter().partition(|one| {
            match one.bearing {
                // While a document is marked as unsaved, nothing shows that it was saved.
                _ if self.awaits_title => false,
                ChangeRelevance::Target => true,
                // What is said after a caret key is about something else, such as a count of words.
                ChangeRelevance::Says(..) => before.sign != Sign::Unlikely && !one.bearing.is_under_way(),
                ChangeRelevance::Elsewhere => false,
            }
        });
        proving.sort_by_key(|one| one.bearing != ChangeRelevance::Target);
        let goes_on = now_ms < self.under_way_until_ms.unwrap_or_default()
            && elsewhere.iter().any(|one| one.bearing.is_under_way());
        let is_sure = |one: &&ElementAspectDiff| {
            let is_quiet = !one.is_suspect(before, &told);
            let is_awaited = !goes_on || one.bearing == ChangeRelevance::Target;
            is_awaited && (is_quiet || self.suspects.is_cleared(&one.part, now_ms, self.sleeps_on))
        };
        if let Some(proof) = proving.iter().find(is_sure) {
            let awaits_dialog = before.announces_dialog() && !proof.is_opened_dialog();
            let is_held_back = awaits_dialog && now_ms < self.until_ms;
            if is_held_back {
                self.held_back.get_or_insert_with(|| proof.clone());
            } else {
                self.prove(proof);
            }
            return Ok(!is_held_back);
        }
        let cleared_ms = proving.iter().filter_map(|one| self.suspects.cleared_ms(&one.part)).min();
        self.until_ms = self.until_ms.max(cleared_ms.unwrap_or_default());
        let quiet = elsewhere.iter().find(|one| !one.is_suspect(before, &told));
        // After a click something better may follow; a shortcut often has no other sign.
        let may_end_early = !self.ends_early && self.under_way_until_ms.is_none() && proving.is_empty();
        if quiet.is_some() && may_end_early && before.sign != Sign::Expected {
            self.until_ms = self.until_ms.min(now_ms + milliseconds(AFTER_ELSEWHERE));
            self.ends_early = true;
        }
        let reported = quiet.or(elsewhere.first());
        self.effect.elsewhere = reported.map(|one| (one.of.clone(), one.now.clone()));
        Ok(false)
    }

    /// Waits longer while something says that it goes on.
    fn await_what_is_under_way(&mut self, found: &[ElementAspectDiff]) {
        for one in found.iter().filter(|one| one.bearing.is_under_way()) {
            self.suspects.forget(&one.part);
            let last_ms = self.effect.waited_ms + milliseconds(UNDER_WAY);
            let until_ms = *self.under_way_until_ms.get_or_insert(last_ms);
            self.until_ms = self.until_ms.max(until_ms);
        }
    }

    fn prove(&mut self, difference: &ElementAspectDiff) {
        self.effect.proof = difference.to_proof();
        // What was quiet before and changed meanwhile did so through the action, too.
        let others = announced(&self.effect.changes).into_iter().filter_map(|part| part.element);
        let others = others.filter(|element| !self.before.is_restless(*element));
        for element in difference.part.element.into_iter().chain(others) {
            self.desktop.attribute_to_action(element);
        }
    }

    /// Returns `true` if the proof by windows still holds once the application has handled everything.
    async fn lasts(&mut self, proof: ActionProof) -> DesktopResult<bool> {
        if matches!(proof, ActionProof::Gone { .. }) {
            self.effect.proof = Some(proof);
            return Ok(true);
        }
        let is_window = self.effect.opened.as_ref().is_some_and(|info| !info.kind.is_popup());
        let settled = handle_earlier(self.desktop, self.before.surface.id).await?;
        self.note(settled);
        self.effect.proof = window_proof(self.desktop, self.before, &mut self.effect).await?;
        // A dialog that opened and closed again was an effect, but nothing shows which one.
        self.effect.may_be_silent |= is_window && self.effect.proof.is_none();
        Ok(self.effect.proof.is_some())
    }
}
