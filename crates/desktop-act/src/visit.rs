//! Follows a path of names through menus, tabs, tree items and buttons.

use std::collections::{HashSet, VecDeque};

use deskhand_core::{
    action::{Act, Action, Aim, Among, ArgumentProblem, Evidence, Proof, Refusal},
    ids::{ElementId, WindowId},
    ui::{Element, Role, Source, State, Tree, Wanted, WindowInfo, WindowKind, names_equal},
};
use deskhand_desktop::{Desktop, DesktopError, DesktopResult, QuietLimits, keys::NamedKey};

use crate::{
    before::look,
    click::{Click, click_entry, click_once},
    documents::{Answers, Saved, Saving},
    find::nearest_names,
    menus::{is_menu, is_menu_item, open_items},
    patience::{patiently, read_element, read_tree, read_up_to_date, settle_earlier},
    report::{ActLimits, ActionReport, Done, Halt, Target, refused, report},
    surfaces::{root_of, surfaces},
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
/// [`DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn visit<D: Desktop>(
    desktop: &D,
    window: WindowId,
    path: &[String],
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    if path.is_empty() || path.len() > PATH_MAX {
        return Ok(refused(Act::Visit { path: Vec::new() }, wrong_length()));
    }
    settle_earlier(desktop, window).await?;
    let (windows, tree) = (desktop.windows().await?, look(desktop, window).await?);
    let known = Shown { windows, tree };
    let mut walked = Vec::new();
    let done = walk(desktop, window, path, &known, &mut walked, limits).await;
    // What was typed next would go to an open menu. Only one that the last item opened is left open.
    let opens =
        |done: &Done| matches!(&done.action.evidence, Evidence::Seen { proof: Proof::WindowOpened { .. } });
    if done.as_ref().is_ok_and(|done| !opens(done)) {
        close_menus(desktop, window, &known, limits).await?;
    }
    if let Err(Halt::Refused(refusal)) = &done {
        close_menus(desktop, window, &known, limits).await?;
        // These say themselves how far the path went.
        if matches!(**refusal, Refusal::NotFound { .. } | Refusal::NotOpened { .. }) {
            walked.clear();
        }
    }
    report(Act::Visit { path: walked }, done)
}

async fn walk<D: Desktop>(
    desktop: &D,
    window: WindowId,
    path: &[String],
    known: &Shown,
    walked: &mut Vec<String>,
    limits: &ActLimits,
) -> Result<Done, Halt> {
    let mut inside: Option<Element> = None;
    let mut waited_ms = 0;
    // Whether every level so far opened a menu.
    let mut in_menus = true;
    for (index, name) in path.iter().enumerate() {
        let is_last = index + 1 == path.len();
        let element = match &inside {
            None => find_start(desktop, window, name, is_last).await?,
            Some(parent) if parent.source != Source::AtSpi => {
                find_in_pop_up(desktop, window, name, known).await?
            }
            Some(parent) => find_inside(desktop, window, parent, name).await?,
        };
        walked.push(element.name.clone());
        if !is_last && is_open(desktop, &element).await? {
            inside = Some(element);
            continue;
        }
        if is_last && element.role == Role::PAGE_TAB && is_current(desktop, window, &element).await? {
            let (act, aim) = (Act::Visit { path: walked.clone() }, Aim::element(&element));
            let action = Action::new(act, aim, Proof::Holds { already: true });
            return Ok(Done { action: action.after(waited_ms), window: None });
        }
        let saving = if is_last && saves(&element) { document_of(desktop, window).await? } else { None };
        let done = if in_menus && index > 0 {
            click_entry(desktop, window, &element, &known.tree, limits).await?
        } else {
            let target = Target::Element { id: element.id, name: Some(element.name.clone()) };
            click_once(desktop, window, &Click::once(target), limits).await?
        };
        in_menus &= is_menu(&element.role);
        waited_ms += done.action.waited_ms;
        if let Some(saving) = saving {
            let Saved { evidence, asks, waited_ms: more_ms } =
                saving.finish(desktop, Answers::default(), limits).await?;
            let (act, waited_ms) = (Act::Visit { path: walked.clone() }, waited_ms + more_ms);
            return Ok(Done { action: Action { act, evidence, waited_ms, ..done.action }, window: asks });
        }
        if is_last {
            let act = Act::Visit { path: walked.clone() };
            return Ok(Done { action: Action { act, waited_ms, ..done.action }, ..done });
        }
        let shows_more = element.source != Source::AtSpi && has_new_popup(desktop, window, known).await?;
        if !done.is_seen() && !shows_more && !is_open(desktop, &element).await? {
            let Action { evidence, waited_ms, .. } = done.action;
            let (element, path) = ((&element).into(), walked.clone());
            return Err(Refusal::NotOpened { element, path, evidence: evidence.into(), waited_ms }.into());
        }
        inside = Some(element);
    }
    Err(Refusal::from(wrong_length()).into())
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
    let wanted = Wanted::named(name);
    let mut names = Vec::new();
    for surface in surfaces(desktop, window).await?.into_iter().rev() {
        let tree = read_tree(desktop, surface.id).await?;
        let found = tree.elements.iter().filter(|element| wanted.matches(element));
        // The page comes before the frame of the browser around it.
        let is_page = |element: &&Element| element.role.name().starts_with("document");
        let pages: Vec<ElementId> = tree.elements.iter().filter(is_page).map(|page| page.id).collect();
        let in_page: HashSet<ElementId> =
            pages.iter().flat_map(|page| tree.descendants(*page)).map(|one| one.id).collect();
        let order = |element: &&Element| {
            (!element.states.takes_input(), rank(element, is_last), !in_page.contains(&element.id))
        };
        if let Some(best) = found.min_by_key(order) {
            return Ok(best.clone());
        }
        let openers = tree.elements.into_iter().filter(|element| element.role.is_interactive());
        names.extend(openers.map(|element| element.name));
    }
    match find_drawn(desktop, surfaces(desktop, window).await?.iter().rev(), &wanted).await? {
        Ok(found) => return Ok(found),
        Err(drawn) => names.extend(drawn),
    }
    let entries = nearest_names(name, names.iter().map(String::as_str));
    let among = Among::Entries { inside: None, window, entries };
    Err(Refusal::NotFound { name: name.to_owned(), among }.into())
}

/// Whether an element is the menu item that saves the document.
fn saves(element: &Element) -> bool {
    /// The name of the item.
    const SAVE: &str = "Save";
    is_menu_item(&element.role) && names_equal(&element.name, SAVE)
}

/// The document of a window, if its file is known and can prove that it was saved.
async fn document_of<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<Option<Saving>> {
    let windows = desktop.windows().await?;
    let Some(main) = windows.iter().find(|info| info.id == window) else { return Ok(None) };
    Ok(Some(Saving::begin(desktop, main).await?).filter(Saving::has_file))
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
) -> Result<Element, Halt> {
    let mut names = Vec::new();
    let mut queue = VecDeque::from([(parent.id, 0_u16)]);
    while let Some((id, depth)) = queue.pop_front() {
        for child in patiently(|| desktop.children(id, CHILDREN_MAX)).await? {
            if names_equal(&child.name, name) && child.role != Role::SEPARATOR {
                return Ok(child);
            }
            // A submenu and an item with a submenu are levels of their own.
            let is_container =
                !is_menu_item(&child.role) && (child.role != Role::MENU || child.name.is_empty());
            if depth < DEPTH_MAX && child.child_count > 0 && child.table.is_none() && is_container {
                queue.push_back((child.id, depth + 1));
            }
            names.push(child.name);
        }
    }
    if is_menu_like(parent) {
        names.retain(|name| !name.is_empty());
        let among = Among::Entries { inside: Some(parent.into()), window, entries: names };
        return Err(Refusal::NotFound { name: name.to_owned(), among }.into());
    }
    find_start(desktop, window, name, /*is_last*/ true).await
}

/// The drawn words with that name in the pop-ups that just opened, or else anywhere. They may have to be drawn first.
async fn find_in_pop_up<D: Desktop>(
    desktop: &D,
    window: WindowId,
    name: &str,
    known: &Shown,
) -> Result<Element, Halt> {
    let wanted = Wanted::named(name);
    let mut names = Vec::new();
    for _ in 0..LOOKS_MAX {
        let watch = desktop.watch(Some(window)).await?;
        let all = surfaces(desktop, window).await?;
        let new: Vec<&WindowInfo> = all.iter().filter(|info| known.is_new_popup(info)).collect();
        if new.is_empty() {
            return find_start(desktop, window, name, /*is_last*/ true).await;
        }
        match find_drawn(desktop, new.into_iter().rev(), &wanted).await? {
            Ok(found) => return Ok(found),
            Err(drawn) => names = drawn,
        }
        desktop.settle(watch, QuietLimits::default()).await?;
    }
    let among = Among::Entries { inside: None, window, entries: names };
    Err(Refusal::NotFound { name: name.to_owned(), among }.into())
}

/// Whether a pop-up opened that was not there before.
async fn has_new_popup<D: Desktop>(desktop: &D, window: WindowId, known: &Shown) -> DesktopResult<bool> {
    Ok(surfaces(desktop, window).await?.iter().any(|info| known.is_new_popup(info)))
}

fn is_menu_like(element: &Element) -> bool {
    [Role::MENU, Role::MENU_BAR, Role::POPUP_MENU, Role::COMBO_BOX].contains(&element.role)
}

/// Whether a level is already open: a menu with visible items, a selected tab, an expanded tree item.
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

/// Whether a page tab is selected, as it is after everything that was sent before.
async fn is_current<D: Desktop>(desktop: &D, window: WindowId, tab: &Element) -> DesktopResult<bool> {
    let selected = tab.states.has(State::Selected);
    Ok(selected && read_up_to_date(desktop, window, tab.id).await?.states.has(State::Selected))
}

/// What showed before a path was followed.
struct Shown {
    windows: Vec<WindowInfo>,
    /// The elements of the window, with the items of open menus.
    tree: Tree,
}

impl Shown {
    /// Whether a window is a pop-up that was not there.
    fn is_new_popup(&self, info: &WindowInfo) -> bool {
        info.kind == WindowKind::Popup && self.windows.iter().all(|before| before.id != info.id)
    }
}

/// Presses Escape until all new menus are closed.
async fn close_menus<D: Desktop>(
    desktop: &D,
    window: WindowId,
    known: &Shown,
    limits: &ActLimits,
) -> DesktopResult<()> {
    let items = |tree: &Tree| open_items(tree).map(|item| item.id).collect::<HashSet<_>>();
    let known_items = items(&known.tree);
    for _ in 0..PATH_MAX {
        let all = match surfaces(desktop, window).await {
            Err(DesktopError::NoWindow(_)) => return Ok(()),
            other => other?,
        };
        let now = items(&look(desktop, window).await?);
        let mut is_menu_open = now.difference(&known_items).next().is_some();
        for popup in all.iter().filter(|info| known.is_new_popup(info)) {
            // Escape would not close a tool tip, and mean something else to the application.
            let root = root_of(desktop, popup).await?;
            is_menu_open |= root.is_none_or(|root| root.role.name() != "tool tip");
        }
        if !is_menu_open {
            return Ok(());
        }
        let watch = desktop.watch(Some(window)).await?;
        desktop.press(&NamedKey::Escape.into()).await?;
        desktop.settle(watch, limits.quiet).await?;
    }
    Ok(())
}
