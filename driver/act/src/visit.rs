//! Follows a path of names through menus, tabs, tree items and buttons.

use std::{
    collections::{HashSet, VecDeque},
    sync::OnceLock,
};

use deskhand_desktop::{Button, Desktop, DesktopResult, QuietLimits};
use deskhand_ui::{
    Element, ElementQuery, ElementSource, Role, State,
    action::{
        ActionKind, ActionOutcome, ActionProof, ActionRefusal, Aim, Among, ArgumentProblem, Evidence,
        Shortfall,
    },
    called,
    ids::{ElementId, WindowId},
    names_equal,
};

use crate::{
    checks::{TargetRequirement, check},
    click::{Click, click_entry, click_once},
    documents::{DocumentSaveOutcome, DocumentSaveWait, SaveDialogAnswers},
    find::nearest_names,
    menus::{is_menu, is_menu_item},
    opened_menus::MenusBefore,
    patience::{
        comes_within, patiently, read_element, read_tree, read_up_to_date, settle_earlier, watch_app,
    },
    report::{ActLimits, ActionReport, ActionTarget, CompletedAction, Halt, refused, report},
    surfaces::{bring_to_front, surfaces},
    words::{LOOKS_MAX, find_drawn},
};

/// The longest path.
const PATH_MAX: usize = 8;
/// The most children read per menu.
const CHILDREN_MAX: usize = 500;
/// The deepest nesting of a menu's items: seven levels in GTK 4.
const DEPTH_MAX: u16 = 10;

/// Follows a path such as `["Insert", "Chart…"]`: opens each level and activates the last one. If a name is missing, it
/// closes what it opened, and the refusal lists the available names.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn visit<D: Desktop>(
    desktop: &D,
    window: WindowId,
    path: &[String],
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    Box::pin(follow(desktop, window, (None, path), limits)).await
}

/// The same in the context menu of an element, which a right click opens first.
///
/// # Errors
/// As [`visit`].
pub async fn visit_context_menu<D: Desktop>(
    desktop: &D,
    window: WindowId,
    of: ElementId,
    path: &[String],
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    Box::pin(follow(desktop, window, (Some(of), path), limits)).await
}

async fn follow<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (context_menu_of, path): (Option<ElementId>, &[String]),
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    if path.is_empty() || path.len() > PATH_MAX {
        return Ok(refused(ActionKind::Visit { path: Vec::new() }, wrong_length()));
    }
    settle_earlier(desktop, window).await?;
    let known = MenusBefore::take(desktop, window).await?;
    let mut walked = Vec::new();
    let done = walk(desktop, window, (context_menu_of, path), &known, &mut walked, limits).await;
    // What was typed next would go to an open menu. Only one that the last item opened is left open.
    let opens = |done: &CompletedAction| {
        matches!(&done.action.evidence, Evidence::Seen { proof: ActionProof::WindowOpened { .. } })
    };
    if done.as_ref().is_ok_and(|done| !opens(done)) {
        known.close_new(desktop, window, limits).await?;
    }
    if let Err(Halt::Refused(refusal)) = &done {
        known.close_new(desktop, window, limits).await?;
        // These say themselves how far the path went.
        if matches!(**refusal, ActionRefusal::NotFound { .. } | ActionRefusal::NotOpened { .. }) {
            walked.clear();
        }
    }
    report(ActionKind::Visit { path: walked }, done)
}

async fn walk<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (context_menu_of, path): (Option<ElementId>, &[String]),
    known: &MenusBefore,
    walked: &mut Vec<String>,
    limits: &ActLimits,
) -> Result<CompletedAction, Halt> {
    let mut inside: Option<Element> = None;
    let mut waited_ms = match context_menu_of {
        Some(of) => open_context_menu(desktop, window, of, known, limits).await?,
        None => 0,
    };
    // The entries of the levels of a context menu before the last one that opened.
    let mut passed: Vec<ElementId> = Vec::new();
    // Whether every level so far opened a menu.
    let mut in_menus = true;
    for (index, name) in path.iter().enumerate() {
        let is_last = index + 1 == path.len();
        let level = (inside.as_ref(), context_menu_of.is_some());
        let element = find_level(desktop, window, level, (name, is_last), (known, &passed), limits).await?;
        walked.push(called(&element).to_owned());
        if !is_last && is_open(desktop, &element).await? {
            inside = Some(element);
            continue;
        }
        if is_last && element.role == Role::PAGE_TAB && is_current(desktop, window, &element).await? {
            let (act, aim) = (ActionKind::Visit { path: walked.clone() }, Aim::element(&element));
            let action = ActionOutcome::new(act, aim, ActionProof::Holds { already: true });
            return Ok(CompletedAction { action: action.after(waited_ms), window: None });
        }
        if context_menu_of.is_some() {
            passed = known.new_entries(desktop, window).await?.into_iter().map(|entry| entry.id).collect();
        }
        let saving = if is_last && saves(&element) { document_of(desktop, window).await? } else { None };
        // The right click may have changed what shows in the window, as a selection does.
        let done = if in_menus && index > 0 && context_menu_of.is_none() {
            click_entry(desktop, window, &element, &known.tree, limits).await?
        } else {
            let target = ActionTarget::Element { id: element.id, name: Some(element.name.clone()) };
            click_once(desktop, window, &Click::once(target), limits).await?
        };
        in_menus &= is_menu(&element.role);
        waited_ms += done.action.waited_ms;
        if let Some(saving) = saving {
            let DocumentSaveOutcome { evidence, asks, waited_ms: more_ms } =
                saving.finish(desktop, SaveDialogAnswers::default(), limits).await?;
            let (act, waited_ms) = (ActionKind::Visit { path: walked.clone() }, waited_ms + more_ms);
            return Ok(CompletedAction {
                action: ActionOutcome { act, evidence, waited_ms, ..done.action },
                window: asks,
            });
        }
        if is_last {
            let act = ActionKind::Visit { path: walked.clone() };
            return Ok(CompletedAction { action: ActionOutcome { act, waited_ms, ..done.action }, ..done });
        }
        let shows_more = match context_menu_of {
            Some(_) if element.source == ElementSource::AtSpi => {
                known.shows_more(desktop, window, &passed).await?
            }
            _ => element.source != ElementSource::AtSpi && known.has_new_menu(desktop, window).await?,
        };
        if !done.is_seen() && !shows_more && !is_open(desktop, &element).await? {
            let ActionOutcome { evidence, waited_ms, .. } = done.action;
            let (element, path) = ((&element).into(), walked.clone());
            return Err(
                ActionRefusal::NotOpened { element, path, evidence: evidence.into(), waited_ms }.into()
            );
        }
        inside = Some(element);
    }
    Err(ActionRefusal::from(wrong_length()).into())
}

/// The element of the next level, inside of the one before.
async fn find_level<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (inside, in_context_menu): (Option<&Element>, bool),
    (name, is_last): (&str, bool),
    (known, passed): (&MenusBefore, &[ElementId]),
    limits: &ActLimits,
) -> Result<Element, Halt> {
    match inside {
        _ if in_context_menu => find_in_new_menus(desktop, window, name, known, passed).await,
        None => find_start(desktop, window, name, is_last).await,
        Some(parent) if parent.source == ElementSource::AtSpi => {
            find_inside(desktop, window, parent, name, limits).await
        }
        Some(_) => match known.has_new_menu(desktop, window).await? {
            true => find_in_new_menus(desktop, window, name, known, passed).await,
            false => find_opened(desktop, window, name, limits).await,
        },
    }
}

fn wrong_length() -> ArgumentProblem {
    ArgumentProblem::Path { max: u64::try_from(PATH_MAX).unwrap_or(u64::MAX) }
}

/// The first element of the path, in the topmost surface that has it; else the words that are only drawn.
async fn find_start<D: Desktop>(
    desktop: &D,
    window: WindowId,
    name: &str,
    is_last: bool,
) -> Result<Element, Halt> {
    let mut names = match find_named(desktop, window, name, is_last).await? {
        Ok(found) => return Ok(found),
        Err(names) => names,
    };
    let wanted = ElementQuery::named(name);
    match find_drawn(desktop, surfaces(desktop, window).await?.iter().rev(), &wanted).await? {
        Ok(found) => return Ok(found),
        Err(drawn) => names.extend(drawn),
    }
    let entries = nearest_names(name, names.iter().map(String::as_str));
    let among = Among::Entries { inside: None, window, entries };
    Err(ActionRefusal::NotFound { name: name.to_owned(), among }.into())
}

/// The element with that name in the topmost surface that has it; else the names of what can be operated.
async fn find_named<D: Desktop>(
    desktop: &D,
    window: WindowId,
    name: &str,
    is_last: bool,
) -> DesktopResult<Result<Element, Vec<String>>> {
    let mut names = Vec::new();
    for surface in surfaces(desktop, window).await?.into_iter().rev() {
        let tree = read_tree(desktop, surface.id).await?;
        let found = tree.elements.iter().filter(|element| names_equal(called(element), name));
        // The page comes before the frame of the browser around it.
        let is_page = |element: &&Element| element.role.name().starts_with("document");
        let pages: Vec<ElementId> = tree.elements.iter().filter(is_page).map(|page| page.id).collect();
        let in_page: HashSet<ElementId> =
            pages.iter().flat_map(|page| tree.descendants(*page)).map(|one| one.id).collect();
        let order = |element: &&Element| {
            (!element.states.takes_input(), rank(element, is_last), !in_page.contains(&element.id))
        };
        if let Some(best) = found.min_by_key(order) {
            return Ok(Ok(best.clone()));
        }
        let openers = tree.elements.into_iter().filter(|element| element.role.is_interactive());
        names.extend(openers.map(|element| called(&element).to_owned()));
    }
    Ok(Err(names))
}

/// Returns `true` if an element is the menu item that saves the document.
fn saves(element: &Element) -> bool {
    /// The name of the item.
    const SAVE: &str = "Save";
    is_menu_item(&element.role) && names_equal(&element.name, SAVE)
}

/// The document of a window, if its file is known and can prove that it was saved.
async fn document_of<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<Option<DocumentSaveWait>> {
    let windows = desktop.windows().await?;
    let Some(main) = windows.iter().find(|info| info.id == window) else { return Ok(None) };
    Ok(Some(DocumentSaveWait::begin(desktop, main).await?).filter(DocumentSaveWait::has_file))
}

/// Ranks candidates: menus first, then controls; static elements last.
fn rank(element: &Element, is_last: bool) -> u8 {
    let role = &element.role;
    if !element.states.has(State::Showing) {
        return 9;
    }
    if *role == Role::MENU {
        return if is_last { 2 } else { 0 };
    }
    if [Role::PAGE_TAB, Role::TREE_ITEM, Role::LIST_ITEM].contains(role) {
        return 1;
    }
    if role.is_interactive() { if is_last { 0 } else { 2 } } else { 5 }
}

/// The element with that name in the level just opened: below the parent, else anywhere visible.
async fn find_inside<D: Desktop>(
    desktop: &D,
    window: WindowId,
    parent: &Element,
    name: &str,
    limits: &ActLimits,
) -> Result<Element, Halt> {
    let mut names = Vec::new();
    let mut queue = VecDeque::from([(parent.id, 0_u16)]);
    while let Some((id, depth)) = queue.pop_front() {
        for child in patiently(|| desktop.children(id, CHILDREN_MAX)).await? {
            if names_equal(called(&child), name) && child.role != Role::SEPARATOR {
                return Ok(child);
            }
            // A submenu and an item with a submenu are levels of their own.
            let is_container =
                !is_menu_item(&child.role) && (child.role != Role::MENU || child.name.is_empty());
            if depth < DEPTH_MAX && child.child_count > 0 && child.table.is_none() && is_container {
                queue.push_back((child.id, depth + 1));
            }
            names.push(called(&child).to_owned());
        }
    }
    if is_menu_like(parent) {
        names.retain(|name| !name.is_empty());
        let among = Among::Entries { inside: Some(parent.into()), window, entries: names };
        return Err(ActionRefusal::NotFound { name: name.to_owned(), among }.into());
    }
    find_opened(desktop, window, name, limits).await
}

/// An element that a button or an item shows, which may come after that one has changed.
async fn find_opened<D: Desktop>(
    desktop: &D,
    window: WindowId,
    name: &str,
    limits: &ActLimits,
) -> Result<Element, Halt> {
    let watch = watch_app(desktop, window).await?;
    let found = OnceLock::new();
    let is_there = async || {
        let named = find_named(desktop, window, name, /*is_last*/ true).await?;
        Ok::<_, Halt>(named.is_ok_and(|element| found.set(element).is_ok()))
    };
    comes_within(desktop, (window, watch), limits.effect, is_there).await?;
    match found.into_inner() {
        Some(element) => Ok(element),
        None => find_start(desktop, window, name, /*is_last*/ true).await,
    }
}

/// Opens the context menu of an element by a right click; returns how long was waited, in milliseconds.
async fn open_context_menu<D: Desktop>(
    desktop: &D,
    window: WindowId,
    of: ElementId,
    known: &MenusBefore,
    limits: &ActLimits,
) -> Result<u64, Halt> {
    let ready = check(desktop, window, of, None, TargetRequirement::Act).await?;
    let Some(point) = ready.point else {
        return Err(ActionRefusal::NotOnScreen { element: (&ready.element).into() }.into());
    };
    bring_to_front(desktop, ready.surface.id).await?;
    let watch = watch_app(desktop, window).await?;
    desktop.click(point, Button::Right, 1).await?;
    let is_open = async || Ok::<_, Halt>(known.has_new_menu(desktop, window).await?);
    let came = comes_within(desktop, (window, watch), limits.effect, is_open).await?;
    if came.holds {
        return Ok(came.waited_ms);
    }
    let (element, waited_ms) = ((&ready.element).into(), came.waited_ms);
    let evidence = Evidence::from(Shortfall::NothingChanged { pixels: false, then: None }).into();
    Err(ActionRefusal::NotOpened { element, path: Vec::new(), evidence, waited_ms }.into())
}

/// The entry with that name in the menus that just opened, first in the last one; else the drawn words there, where no entries are
/// elements. They may have to be drawn first.
async fn find_in_new_menus<D: Desktop>(
    desktop: &D,
    window: WindowId,
    name: &str,
    known: &MenusBefore,
    passed: &[ElementId],
) -> Result<Element, Halt> {
    let wanted = ElementQuery::named(name);
    let mut names = Vec::new();
    for _ in 0..LOOKS_MAX {
        let watch = desktop.watch(Some(window)).await?;
        let mut entries = known.new_entries(desktop, window).await?;
        entries.sort_by_key(|entry| passed.contains(&entry.id));
        let is_called = |entry: &&Element| names_equal(&entry.name, name);
        let is_misplaced = |entry: &Element| desktop.quirks(entry.id).misplaces_menu_items;
        if entries.iter().all(is_misplaced) {
            // What is drawn is clicked, as a person does it. Without a reader there is only the action of an entry.
            let new = known.new_popups(desktop, window).await?;
            match find_drawn(desktop, &new, &wanted).await? {
                Ok(found) => return Ok(found),
                Err(drawn) => names = drawn,
            }
            if let Some(found) = entries.iter().find(is_called).filter(|_| names.is_empty()) {
                return Ok(found.clone());
            }
        } else if let Some(found) = entries.iter().find(is_called) {
            return Ok(found.clone());
        }
        if names.is_empty() {
            names = entries.into_iter().map(|entry| entry.name).filter(|name| !name.is_empty()).collect();
        }
        desktop.settle(watch, QuietLimits::default()).await?;
    }
    let among = Among::Entries { inside: None, window, entries: names };
    Err(ActionRefusal::NotFound { name: name.to_owned(), among }.into())
}

fn is_menu_like(element: &Element) -> bool {
    [Role::MENU, Role::MENU_BAR, Role::POPUP_MENU, Role::COMBO_BOX].contains(&element.role)
}

/// Returns `true` if a level is already open: a menu with visible items, a selected tab, an expanded tree item.
async fn is_open<D: Desktop>(desktop: &D, element: &Element) -> Result<bool, Halt> {
    let now = read_element(desktop, element.id).await?;
    if is_menu_like(&now) || (now.role == Role::MENU_ITEM && now.child_count > 0) {
        let children = patiently(|| desktop.children(now.id, CHILDREN_MAX)).await?;
        // An item also contains its own label.
        return Ok(children
            .iter()
            .any(|child| child.states.has(State::Showing) && (is_menu_like(&now) || is_menu(&child.role))));
    }
    if now.role == Role::PAGE_TAB {
        return Ok(now.states.has(State::Selected));
    }
    Ok(now.states.has(State::Expanded))
}

/// Returns `true` if a page tab is selected, as it is after everything that was sent before.
async fn is_current<D: Desktop>(desktop: &D, window: WindowId, tab: &Element) -> DesktopResult<bool> {
    let selected = tab.states.has(State::Selected);
    Ok(selected && read_up_to_date(desktop, window, tab.id).await?.states.has(State::Selected))
}
