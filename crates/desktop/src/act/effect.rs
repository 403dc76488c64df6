//! What an action changed, and whether the change can be laid to it.

use std::time::Duration;

use deskhand_core::{
    command::Verdict,
    ids::{ElementId, WindowId},
    ui::{Element, Role, State, WindowInfo, WindowKind},
};

use super::{
    patience::read_element,
    report::{ActLimits, ActionReport, Route},
    verdict::{belongs_to, root_of, same_app},
};
use crate::{
    DesktopError, DesktopResult,
    capability::{Change, Desktop, QuietLimits, Settled},
};

/// How often one wait may be interrupted by changes that prove nothing.
const WAITS_MAX: usize = 64;

/// How things were before an action.
#[derive(Debug, Clone)]
pub(super) struct Before {
    pub(super) surface: WindowInfo,
    pub(super) windows: Vec<WindowInfo>,
    pub(super) target: Option<Element>,
    /// Whether a moved focus is what was asked for, as with Tab.
    pub(super) focus_counts: bool,
}

/// What was seen after an action.
#[derive(Debug, Clone, Default)]
pub(super) struct Effect {
    /// What proves that it worked; none where nothing does.
    pub(super) proof: Option<String>,
    pub(super) changes: Vec<Change>,
    /// The window that opened.
    pub(super) opened: Option<WindowInfo>,
    pub(super) waited_ms: u64,
    /// Whether pixels changed.
    pub(super) damaged: bool,
    /// The target as it is now; none where it is gone.
    pub(super) target: Option<Element>,
}

impl Effect {
    /// The report of an action whose effect is judged by this alone.
    pub(super) fn to_report(&self, what: &str, route: Route) -> ActionReport {
        let (verdict, summary) = match &self.proof {
            Some(proof) => (Verdict::Seen, format!("{what}: {proof} after {} ms", self.waited_ms)),
            None => (Verdict::NotSeen, format!("{what}: nothing changed within {} ms", self.waited_ms)),
        };
        ActionReport {
            changes: self.changes.clone(),
            window: self.opened.clone(),
            settled_ms: self.waited_ms,
            ..ActionReport::new(verdict, route, summary)
        }
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

impl Before {
    /// How things are now, around an element.
    pub(super) async fn take<D: Desktop>(
        desktop: &D,
        surface: &WindowInfo,
        target: Option<&Element>,
    ) -> DesktopResult<Self> {
        Ok(Self {
            surface: surface.clone(),
            windows: desktop.windows().await?,
            target: target.cloned(),
            focus_counts: false,
        })
    }
}

/// Waits for the effect of an action that was just sent: until something proves it and the application is
/// quiet, or the bound is over.
pub(super) async fn wait_for_effect<D: Desktop>(
    desktop: &D,
    watch: D::Watch,
    before: &Before,
    limits: &ActLimits,
) -> DesktopResult<Effect> {
    let mut effect = Effect::default();
    let bound_ms = milliseconds(limits.effect);
    let mut watch = Some(watch);
    let mut noise: Vec<Change> = Vec::new();
    for _ in 0..WAITS_MAX {
        let current = match watch.take() {
            Some(first) => first,
            None => watch_app(desktop, before.surface.id).await?,
        };
        let left = Duration::from_millis(bound_ms.saturating_sub(effect.waited_ms));
        let quiet = QuietLimits { first_change: left, ..limits.quiet };
        let settled = desktop.settle(current, quiet).await?;
        let weak = weak_changes(desktop, &settled.changes, before, &noise).await?;
        effect.add(settled);
        if strong_proof(desktop, before, &mut effect).await? {
            return Ok(effect);
        }
        let mut candidates = weak;
        candidates.extend(changed_target(before, effect.target.as_ref(), &noise));
        if !candidates.is_empty() {
            let recurring = control(desktop, before, limits, &mut effect).await?;
            if strong_proof(desktop, before, &mut effect).await? {
                return Ok(effect);
            }
            if let Some(first) = candidates.iter().find(|change| !recurs(change, &recurring)) {
                effect.proof = Some(name_change(desktop, first, before).await);
                return Ok(effect);
            }
            noise.extend(recurring);
        }
        if effect.waited_ms >= bound_ms {
            break;
        }
    }
    Ok(effect)
}

/// Starts to watch the application of a window; the whole desktop where that window has gone.
pub(super) async fn watch_app<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<D::Watch> {
    match desktop.watch(Some(window)).await {
        Err(DesktopError::NoWindow(_)) => desktop.watch(None).await,
        other => other,
    }
}

/// Whether a change of the same kind of the same element is among `others`.
fn recurs(change: &Change, others: &[Change]) -> bool {
    others.iter().any(|other| match (change, other) {
        (
            Change::Element { event, element },
            Change::Element { event: other_event, element: other_element },
        ) => {
            let text = |event: &str| event.contains("text-changed");
            element == other_element && (event == other_event || (text(event) && text(other_event)))
        }
        (_, _) => change == other,
    })
}

/// Watches without touching anything; what changes now changes by itself.
async fn control<D: Desktop>(
    desktop: &D,
    before: &Before,
    limits: &ActLimits,
    effect: &mut Effect,
) -> DesktopResult<Vec<Change>> {
    let mut recurring = Vec::new();
    let mut waited_ms = 0;
    while waited_ms < milliseconds(limits.control) {
        let watch = watch_app(desktop, before.surface.id).await?;
        let left = Duration::from_millis(milliseconds(limits.control) - waited_ms);
        let quiet = QuietLimits { first_change: left, bound: left, ..limits.quiet };
        let settled = desktop.settle(watch, quiet).await?;
        waited_ms += settled.waited_ms.max(1);
        let mut without_damage = settled;
        without_damage.damaged = false;
        recurring.extend(without_damage.changes.iter().cloned());
        effect.add(without_damage);
    }
    Ok(recurring)
}

/// Whether windows or the target itself prove the effect.
async fn strong_proof<D: Desktop>(desktop: &D, before: &Before, effect: &mut Effect) -> DesktopResult<bool> {
    let windows = desktop.windows().await?;
    if let Some(proof) = window_proof(desktop, before, &windows, effect).await? {
        effect.proof = Some(proof);
        // The target may have gone with its window.
        effect.target = match &before.target {
            Some(target) => desktop.element(target.id).await.ok(),
            None => None,
        };
        return Ok(true);
    }
    let Some(target) = &before.target else { return Ok(false) };
    match read_element(desktop, target.id).await {
        Ok(now) => {
            effect.proof = target_proof(target, &now);
            effect.target = Some(now);
        }
        Err(DesktopError::NoElement(_)) => {
            effect.target = None;
            if !is_menu(&target.role) {
                effect.proof = Some(format!("{} went away", target.label()));
            }
        }
        Err(DesktopError::NotAnswering { .. }) => {}
        Err(error) => return Err(error),
    }
    Ok(effect.proof.is_some())
}

async fn window_proof<D: Desktop>(
    desktop: &D,
    before: &Before,
    windows: &[WindowInfo],
    effect: &mut Effect,
) -> DesktopResult<Option<String>> {
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
        let kind = match info.kind {
            WindowKind::Normal => "window",
            WindowKind::Dialog => "dialog",
            WindowKind::Popup => "menu",
        };
        let title = if info.title.is_empty() { String::new() } else { format!(" “{}”", info.title) };
        return Ok(Some(format!("{kind}{title} opened")));
    }
    for info in &before.windows {
        if !same_app(info, &before.surface) || (info.kind == WindowKind::Popup && !opens_menus(before)) {
            continue;
        }
        match windows.iter().find(|other| other.id == info.id) {
            None => return Ok(Some(format!("“{}” closed", info.title))),
            Some(now) if now.title != info.title => {
                return Ok(Some(format!("the title became “{}”", now.title)));
            }
            Some(_) => {}
        }
    }
    Ok(None)
}

/// Whether a pop-up is a menu or list, and not a tool tip that came with the pointer.
async fn is_opened_menu<D: Desktop>(desktop: &D, before: &Before, popup: &WindowInfo) -> DesktopResult<bool> {
    let root = match root_of(desktop, popup).await {
        Err(DesktopError::NotAnswering { .. }) => None,
        other => other?,
    };
    Ok(match root {
        Some(root) if root.role.name() == "tool tip" => false,
        Some(root) => is_menu(&root.role) || opens_menus(before) || root.child_count > 1,
        None => opens_menus(before),
    })
}

/// Whether the target is something that opens a pop-up when it works.
fn opens_menus(before: &Before) -> bool {
    before.target.as_ref().is_some_and(|target| {
        [Role::MENU, Role::COMBO_BOX, Role::TOGGLE_BUTTON].contains(&target.role)
            || target.states.has(State::Expandable)
    })
}

pub(super) fn is_menu(role: &Role) -> bool {
    [
        Role::MENU,
        Role::MENU_BAR,
        Role::MENU_ITEM,
        Role::CHECK_MENU_ITEM,
        Role::RADIO_MENU_ITEM,
        Role::POPUP_MENU,
    ]
    .contains(role)
}

/// What of the target itself proves the effect.
fn target_proof(before: &Element, now: &Element) -> Option<String> {
    let takes_focus = before.role == Role::ENTRY
        || before.role == Role::TEXT
        || before.role == Role::TABLE_CELL
        || before.role == Role::TABLE
        || before.role == Role::LIST_ITEM
        || before.role == Role::PARAGRAPH
        || before.role == Role::PASSWORD_TEXT;
    let watched: &[(State, bool)] = &[
        (State::Checked, true),
        (State::Selected, !is_menu(&before.role)),
        (State::Expanded, true),
        (State::Pressed, before.role == Role::TOGGLE_BUTTON),
        (State::Focused, takes_focus),
    ];
    for (state, counts) in watched {
        let (was, is) = (before.states.has(*state), now.states.has(*state));
        if *counts && was != is && !(*state == State::Focused && was) {
            return Some(format!("it is {} {}", if is { "now" } else { "no longer" }, state.name()));
        }
    }
    (before.states.takes_input() && !now.states.takes_input()).then(|| "it became disabled".to_owned())
}

/// A changed name, text or value of the target, as a change that must not recur.
fn changed_target(before: &Before, now: Option<&Element>, noise: &[Change]) -> Option<Change> {
    let (target, now) = (before.target.as_ref()?, now?);
    let event = if target.name != now.name {
        "object:property-change:accessible-name"
    } else if target.value != now.value {
        "object:property-change:accessible-value"
    } else if target.text != now.text {
        "object:text-changed"
    } else {
        return None;
    };
    let change = Change::Element { event: event.to_owned(), element: Some(now.id) };
    (!recurs(&change, noise)).then_some(change)
}

/// The changes that would prove an effect if they do not happen by themselves.
async fn weak_changes<D: Desktop>(
    desktop: &D,
    changes: &[Change],
    before: &Before,
    noise: &[Change],
) -> DesktopResult<Vec<Change>> {
    const READ_MAX: usize = 20;
    let mut weak = Vec::new();
    for change in changes.iter().filter(|change| !recurs(change, noise)).take(READ_MAX) {
        let counts = match change {
            Change::Element { event, element } => {
                tells_of_content(event) && !is_passing(desktop, *element, before).await?
            }
            Change::Focus { .. } => before.focus_counts,
            Change::WindowOpened { .. } | Change::WindowClosed { .. } | Change::TitleChanged { .. } => false,
        };
        if counts {
            weak.push(change.clone());
        }
    }
    Ok(weak)
}

/// Whether such an event tells of content, as opposed to a pointer or focus that came by.
fn tells_of_content(event: &str) -> bool {
    const PASSING: &[&str] = &[
        "focused",
        "armed",
        "pressed",
        "active",
        "active-descendant",
        "caret",
        "bounds",
        "visible-data",
        "defunct",
        "iconified",
        "modal",
        "window:",
        "focus:",
        "mouse:",
    ];
    !PASSING.iter().any(|part| event.contains(part))
}

/// Whether an element belongs to a menu or tool tip that merely opened or closed on the way.
async fn is_passing<D: Desktop>(
    desktop: &D,
    element: Option<ElementId>,
    before: &Before,
) -> DesktopResult<bool> {
    let Some(id) = element else { return Ok(false) };
    if before.target.as_ref().is_some_and(|target| target.id == id && !is_menu(&target.role)) {
        return Ok(false);
    }
    match desktop.element(id).await {
        Ok(found) => Ok(is_menu(&found.role) || found.role.name() == "tool tip"),
        Err(DesktopError::NoElement(_) | DesktopError::NotAnswering { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

async fn name_change<D: Desktop>(desktop: &D, change: &Change, before: &Before) -> String {
    match change {
        Change::Element { event, element } => {
            let kind = event.rsplit(':').next().unwrap_or(event).replace("accessible-", "");
            let label = match element {
                Some(id) if before.target.as_ref().is_some_and(|target| target.id == *id) => "it".to_owned(),
                Some(id) => desktop.element(*id).await.map_or_else(|_| id.to_string(), |found| found.label()),
                None => "an element".to_owned(),
            };
            format!("{label} changed ({kind})")
        }
        Change::Focus { .. } => "the focus moved".to_owned(),
        Change::WindowOpened { title } => format!("“{title}” opened"),
        Change::WindowClosed { title } => format!("“{title}” closed"),
        Change::TitleChanged { title } => format!("the title became “{title}”"),
    }
}

pub(super) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
