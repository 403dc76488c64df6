//! Proof of an effect at one moment: windows, the target, and differences to the snapshot before.

use deskhand_desktop::{Desktop, DesktopError, DesktopResult};
use deskhand_ui::{
    DocumentInfo, Element, ElementSource, ElementTreePath, Role, Tree, WindowInfo, WindowKind,
    action::{ActionProof, ElementDelta},
    belongs_to,
    ids::ElementId,
    same_app,
};

use crate::{
    before::{Before, caret_of, look},
    difference::{Differences, ElementAspectDiff, differences, drawn_difference, target_difference},
    menus::is_menu,
    news::judge,
    observed::ObservedEffect,
    patience::read_element,
    surfaces::root_of,
    text::characters,
};

/// Result of one look.
pub(crate) enum ProofCheckResult {
    /// Windows or the missing target prove the effect.
    Proof(ActionProof),
    /// Differences to the snapshot before.
    Differences(Differences),
}

/// Takes a new snapshot and compares it with the one before.
pub(crate) async fn look_for_proof<D: Desktop>(
    desktop: &D,
    before: &Before,
    effect: &mut ObservedEffect,
) -> DesktopResult<ProofCheckResult> {
    if let Some(proof) = window_proof(desktop, before, effect).await? {
        // The target may have gone with its window.
        effect.target = match &before.target {
            Some(target) => desktop.element(target.id).await.ok(),
            None => None,
        };
        return Ok(ProofCheckResult::Proof(proof));
    }
    if let Some(proof) = clipboard_proof(desktop, before).await? {
        return Ok(ProofCheckResult::Proof(proof));
    }
    let mut own = Vec::new();
    let mut is_gone = None;
    if let Some(target) = before.target.as_ref().filter(|target| target.source != ElementSource::AtSpi) {
        // A failed detection proves nothing: the target may be drawn in another colour now.
        effect.words = words_at(desktop, before).await?;
        own.extend(effect.words.as_ref().and_then(|words| drawn_difference(target, words)));
        effect.target = Some(target.clone());
    } else if let Some(target) = &before.target {
        match read_element(desktop, target.id).await {
            Ok(now) => {
                own.extend(target_difference(target, &now));
                own.extend(caret_difference(desktop, before, target).await?);
                effect.target = Some(now);
            }
            Err(DesktopError::NoElement(_)) => {
                effect.target = None;
                is_gone = Some(target).filter(|target| !is_menu(&target.role));
            }
            Err(DesktopError::NotAnswering { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let tree = look(desktop, before.surface.id).await?;
    if let Some(target) = is_gone {
        match successor(before, target, &tree) {
            Some(again) => {
                own.extend(target_difference(target, again));
                effect.target = Some(again.clone());
            }
            None => return Ok(ProofCheckResult::Proof(ActionProof::Gone { element: target.into() })),
        }
    }
    let mut found = differences(&before.tree, &tree, before.opens_menus());
    found.retain(|one| before.target.as_ref().is_none_or(|target| one.of.id != target.id));
    judge(&mut found, before, &tree);
    own.extend(found);
    Ok(ProofCheckResult::Differences(Differences { found: own, tree }))
}

/// The proof that another text was put on the clipboard.
async fn clipboard_proof<D: Desktop>(desktop: &D, before: &Before) -> DesktopResult<Option<ActionProof>> {
    let Some(was) = &before.clipboard else { return Ok(None) };
    let now = desktop.clipboard().await?;
    let characters = now.as_ref().map(|text| characters(text));
    Ok((now != *was).then_some(ActionProof::ClipboardRead { characters }))
}

/// The moved caret of the target, or what of its text is selected now.
async fn caret_difference<D: Desktop>(
    desktop: &D,
    before: &Before,
    target: &Element,
) -> DesktopResult<Option<ElementAspectDiff>> {
    let Some(was) = &before.caret else { return Ok(None) };
    let Some(now) = caret_of(desktop, target.id).await? else { return Ok(None) };
    let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
    let moved = if now.selected != was.selected {
        let length = now.selected.map_or(0, |(start, end)| end.saturating_sub(start));
        Some(ElementDelta::TextSelected { characters: count(length) })
    } else {
        now.at.filter(|_| now.at != was.at).map(|at| ElementDelta::Caret { at: count(at) })
    };
    Ok(moved.map(|now| ElementAspectDiff::of_caret(target, now)))
}

/// The element that took the place of a target that is gone: the application made it anew, as lists do that are rendered
/// again. A button of the same name in another dialog is another one.
fn successor<'a>(before: &Before, target: &Element, now: &'a Tree) -> Option<&'a Element> {
    let is_it = |one: &&Element| {
        one.role == target.role
            && one.name == target.name
            && one.bounds == target.bounds
            && before.tree.find(one.id).is_none()
            && place(now, one.id) == place(&before.tree, target.id)
    };
    now.elements.iter().find(is_it)
}

fn place(tree: &Tree, id: ElementId) -> Option<ElementTreePath> {
    tree.places().into_iter().find_map(|(one, place)| (one.id == id).then_some(place))
}

/// The text at the position of a target that was detected in a picture; `None` for other targets and where no text is
/// detected.
pub(crate) async fn words_at<D: Desktop>(desktop: &D, before: &Before) -> DesktopResult<Option<String>> {
    let target = before.target.as_ref().filter(|target| target.role == Role::DRAWN_TEXT);
    let Some(bounds) = target.and_then(|target| target.bounds) else { return Ok(None) };
    match desktop.element_at(before.target_in, bounds.center()).await {
        Ok(found) => Ok(found.filter(|found| found.source != ElementSource::AtSpi).map(|found| found.name)),
        // A failed observation proves nothing.
        Err(DesktopError::NoWindow(_) | DesktopError::NotAnswering { .. } | DesktopError::Failed { .. }) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The proof by windows that opened, closed or got another title, as they are now.
pub(crate) async fn window_proof<D: Desktop>(
    desktop: &D,
    before: &Before,
    effect: &mut ObservedEffect,
) -> DesktopResult<Option<ActionProof>> {
    let windows = desktop.windows().await?;
    effect.opened = None;
    let known = |id| before.windows.iter().find(|info| info.id == id);
    for info in windows.iter().rev() {
        if known(info.id).is_some()
            || info.kind == WindowKind::Tooltip
            || !(same_app(info, &before.surface)
                || belongs_to(&windows, info, &before.surface)
                || opens_from_panel(before, info))
        {
            continue;
        }
        if info.kind == WindowKind::Popup && !is_opened_menu(desktop, before, info).await? {
            continue;
        }
        effect.opened = Some(info.clone());
        return Ok(Some(ActionProof::WindowOpened { window: info.into() }));
    }
    for info in &before.windows {
        // The menu of an item closes whatever the item does.
        let closes_menus =
            before.has_menu() && before.target.as_ref().is_some_and(|target| target.role != Role::MENU_ITEM);
        // A notification is no menu: it is the window itself.
        let is_own = info.id == before.surface.id;
        if !same_app(info, &before.surface)
            || info.kind == WindowKind::Tooltip
            || (info.kind.is_popup() && !closes_menus && !is_own)
        {
            continue;
        }
        match windows.iter().find(|other| other.id == info.id) {
            None => return Ok(Some(ActionProof::WindowClosed { window: info.into() })),
            // Applications show the mark late, so it may be due to an earlier action, and does not say what was changed.
            Some(now)
                if now.title != info.title && !DocumentInfo::only_gets_modified(&info.title, &now.title) =>
            {
                return Ok(Some(ActionProof::TitleChanged { title: now.title.clone() }));
            }
            Some(_) => {}
        }
    }
    Ok(None)
}

/// Returns `true` if a pop-up is that of an icon in a panel: the icon's program shows it, beside the panel.
fn opens_from_panel(before: &Before, popup: &WindowInfo) -> bool {
    /// Maximum distance from the panel, in pixels.
    const APART_MAX: i32 = 8;
    let panel = before.surface.bounds.grown_by(APART_MAX);
    before.surface.kind == WindowKind::Panel
        && popup.kind == WindowKind::Popup
        && popup.bounds.intersection(&panel).is_some()
}

/// Returns `true` if a pop-up is a menu or list, rather than a tool tip.
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
