//! A desktop around another one, whose looks include what is detected in pictures.

use std::sync::{Mutex, MutexGuard, PoisonError};

use deskhand_desktop::{Desktop, DesktopError, DesktopResult, QuietLimits, TreeLimits, WindowTreeSnapshot};
use deskhand_ui::{
    Element, ElementSource, Role, State, Tree, WindowInfo, WindowKind,
    geometry::{Point, Rect, Screen},
    ids::{ElementId, WindowId},
    same_app,
};

use crate::{
    eyes::{Boxes, DetectionCache, Wants},
    merge::{DetectedElement, merge, unite},
    omniparser::Omniparser,
    options::{DetectOptions, OcrUse},
    reading::OcrEngine,
    registry::{DetectionRegistry, TrackedDetection},
};

/// Only the root of a window, with where it is now.
const ROOT_ONLY: TreeLimits = TreeLimits { bounds_now: true, ..TreeLimits::ROOT_ONLY };

/// A desktop that also detects elements in pictures of its windows.
///
/// Detected elements are part of looks ([`Desktop::see`]), and are found by id and by point. Trees
/// ([`deskhand_desktop::UiTree::tree`]) contain only what applications expose, so that the effect of an action is
/// never proven by a picture alone.
#[derive(Debug)]
pub struct DetectingDesktop<D> {
    inner: D,
    options: DetectOptions,
    reader: OcrEngine,
    parser: Option<Omniparser>,
    /// Why the configured parser cannot be used, if so.
    setup_notice: Option<String>,
    registry: Mutex<DetectionRegistry>,
    /// Held during detection, so that nothing is detected twice.
    eyes: tokio::sync::Mutex<DetectionCache>,
}

impl<D: Desktop> DetectingDesktop<D> {
    /// Wraps a desktop.
    pub fn new(inner: D, options: DetectOptions) -> Self {
        let (parser, setup_notice) = match options.omniparser.as_ref().map(Omniparser::new) {
            None => (None, None),
            Some(Ok(parser)) => (Some(parser), None),
            Some(Err(error)) => {
                (None, Some(format!("cannot use the visual parser: {error}; {}", error.fix())))
            }
        };
        let (registry, eyes) = (Mutex::default(), tokio::sync::Mutex::default());
        let reader = OcrEngine::new(options.reader.clone());
        Self { inner, options, reader, parser, setup_notice, registry, eyes }
    }

    /// The wrapped desktop.
    pub const fn inner(&self) -> &D {
        &self.inner
    }

    /// Unwraps the desktop.
    pub fn into_inner(self) -> D {
        self.inner
    }

    pub(crate) fn registry(&self) -> MutexGuard<'_, DetectionRegistry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The elements of a window, together with what is detected in its picture.
    pub(crate) async fn look(
        &self,
        window: WindowId,
        limits: TreeLimits,
    ) -> DesktopResult<WindowTreeSnapshot> {
        let mut tree = self.inner.tree(window, limits).await?;
        let mut notices: Vec<String> = self.setup_notice.iter().cloned().collect();
        let is_empty = tree.partial.is_none() && tree.elements.iter().all(|element| element.depth == 0);
        let mut panels =
            if self.reads_panels() { panels(&tree, self.reader.prefers_parts()) } else { Vec::new() };
        if let Some(whole) = says_only_buttons(&tree).filter(|_| self.reads_panels() && panels.is_empty()) {
            panels.push(whole);
        }
        let reads = match self.options.ocr {
            OcrUse::Always => true,
            OcrUse::EmptyWindows => is_empty || !panels.is_empty(),
            OcrUse::Never => false,
        };
        // Before one of its rows is clicked, what is drawn there is read.
        if tree.elements.iter().any(|one| one.role.is_row_or_cell()) {
            self.prepare();
        }
        if reads || self.parser.is_some() {
            let (info, above) = self.window(window).await?;
            let wants = self.wants(&info, is_empty, panels).await?;
            if !self.options.tree {
                tree.elements.truncate(1);
            }
            let (elements, found_notices) = self.find(&info, &above, &mut tree, wants).await?;
            notices.extend(found_notices);
            if tree.elements.is_empty() && !elements.is_empty() {
                let root = self.registry().root(&info, || self.inner.reserve_element_id());
                tree.elements.push(root);
            }
            insert(&mut tree, elements);
        }
        Ok(WindowTreeSnapshot { tree, notices })
    }

    /// Starts or loads what reads, while nothing waits for it.
    pub(crate) fn prepare(&self) {
        if self.options.ocr != OcrUse::Never {
            self.reader.prepare();
        }
    }

    /// Returns `true` if large panels without elements are read although their window has some.
    fn reads_panels(&self) -> bool {
        self.options.ocr == OcrUse::EmptyWindows && self.options.tree
    }

    /// Returns the detections to run in a window.
    async fn wants(
        &self,
        window: &WindowInfo,
        is_empty: bool,
        panels: Vec<Rect<Screen>>,
    ) -> DesktopResult<Wants> {
        let lasts = !window.kind.is_popup();
        let whole = vec![window.bounds];
        let text = match self.options.ocr {
            OcrUse::Never => Vec::new(),
            OcrUse::Always => whole,
            OcrUse::EmptyWindows if !is_empty => {
                panels.iter().filter_map(|panel| panel.intersection(&window.bounds)).collect()
            }
            OcrUse::EmptyWindows if lasts || !self.is_told(window).await? => whole,
            OcrUse::EmptyWindows => Vec::new(),
        };
        let boxes = if self.parser.is_some() && lasts { Boxes::Now } else { Boxes::No };
        Ok(Wants { text, boxes })
    }

    /// Returns `true` if the content of a pop-up is among the elements of the other windows of its application.
    async fn is_told(&self, popup: &WindowInfo) -> DesktopResult<bool> {
        /// The most windows that are looked into.
        const WINDOWS_MAX: usize = 4;
        let windows = self.inner.windows().await?;
        let others = windows.iter().rev().filter(|info| same_app(info, popup) && !info.kind.is_popup());
        let accessible: Vec<&WindowInfo> = others.filter(|info| info.accessible).take(WINDOWS_MAX).collect();
        if popup.kind != WindowKind::Popup {
            return Ok(popup.accessible || !accessible.is_empty());
        }
        for info in accessible {
            if shows(&self.inner.tree(info.id, TreeLimits::default()).await?, popup.bounds) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The text of a region; `None` if nothing is read there, or pictures cannot be read.
    pub(crate) async fn read_region(&self, region: Rect<Screen>) -> DesktopResult<Option<String>> {
        if self.options.ocr == OcrUse::Never {
            return Ok(None);
        }
        let picture = match self.inner.region(region).await {
            Ok(picture) => picture,
            Err(DesktopError::Failed { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        // Without the program nothing is read; the window's detection says so.
        let Ok(mut labels) = self.reader.read(picture).await else { return Ok(None) };
        labels.sort_by_key(|label| label.bounds.x);
        let texts: Vec<&str> = labels.iter().map(|label| label.text.as_str()).collect();
        Ok((!texts.is_empty()).then(|| texts.join(" ")))
    }

    /// A window, and the bounds of those above it.
    async fn window(&self, id: WindowId) -> DesktopResult<(WindowInfo, Vec<Rect<Screen>>)> {
        let mut windows = self.inner.windows().await?.into_iter().skip_while(|info| info.id != id);
        let info = windows.next().ok_or(DesktopError::NoWindow(id))?;
        Ok((info, windows.map(|info| info.bounds).collect()))
    }

    /// Finds the elements that the tree of a window lacks, with notices of what could not be used to find them.
    /// Elements of the tree without text are described by what was detected in them.
    async fn find(
        &self,
        info: &WindowInfo,
        above: &[Rect<Screen>],
        tree: &mut Tree,
        wants: Wants,
    ) -> DesktopResult<(Vec<Element>, Vec<String>)> {
        let mut eyes = self.eyes.lock().await;
        let picture = match self.inner.region(info.bounds).await {
            Ok(picture) => picture,
            // The window is off the screen.
            Err(DesktopError::Failed { .. }) => return Ok((Vec::new(), Vec::new())),
            Err(error) => return Err(error),
        };
        let parser = self.parser.as_ref();
        let looked = eyes.look(info.id, &picture, wants, &self.reader, parser, &self.options).await;
        let mut detected = unite(&looked.labels, &looked.boxes, &self.options.merge);
        // Anything there belongs to the windows above.
        detected.retain(|one| !is_covered(above, &one.bounds));
        let lacking: Vec<DetectedElement> = merge(tree, detected, &self.options.merge);
        let elements = self.registry().take(info, &lacking, || self.inner.reserve_element_id());
        drop(eyes);
        Ok((elements, looked.notices))
    }

    /// The detected element with this id, after another look at its position.
    ///
    /// # Errors
    /// [`DesktopError::NoElement`] if it is gone, [`DesktopError::Failed`] if that cannot be determined.
    pub(crate) async fn look_again(&self, id: ElementId) -> DesktopResult<Element> {
        let mut watch = None;
        loop {
            let Some((window, known)) = self.registry().find(id) else {
                return Err(DesktopError::NoElement(id));
            };
            let (info, above) = match self.window(window).await {
                Err(DesktopError::NoWindow(_)) => return Err(DesktopError::NoElement(id)),
                other => other?,
            };
            // What another window covers cannot be seen; the action then reports that it is covered.
            let bounds = known.bounds(&info.bounds);
            if is_covered(&above, &bounds) {
                return Ok(known.element(&info.bounds));
            }
            // A picture in the middle of drawing must not count as gone.
            let last_try = match watch.take() {
                None => {
                    watch = Some(self.inner.watch(Some(window)).await?);
                    false
                }
                Some(watch) => {
                    self.inner.settle(watch, QuietLimits::default()).await?;
                    true
                }
            };
            if let Some(element) = self.find_again(&info, &above, &known, last_try).await? {
                return Ok(element);
            }
            if last_try {
                return Err(DesktopError::NoElement(id));
            }
        }
    }

    /// Looks again at the position of a detected element; `None` if it is gone. A different reading has to be
    /// confirmed by a second look.
    async fn find_again(
        &self,
        info: &WindowInfo,
        above: &[Rect<Screen>],
        known: &TrackedDetection,
        last_try: bool,
    ) -> DesktopResult<Option<Element>> {
        let bounds = known.bounds(&info.bounds);
        let wants = {
            let eyes = self.eyes.lock().await;
            let picture = self.inner.region(info.bounds).await?;
            if eyes.looks_the_same(info.id, &bounds, &picture) {
                return Ok(Some(known.element(&info.bounds)));
            }
            let boxes = if known.source == ElementSource::Omniparser { Boxes::Now } else { Boxes::Last };
            Wants { text: eyes.places_read(info.id, &info.bounds), boxes }
        };
        if !last_try {
            return Ok(None);
        }
        let mut tree = self.inner.tree(info.id, TreeLimits::default()).await?;
        let (elements, notices) = self.find(info, above, &mut tree, wants).await?;
        match elements.into_iter().find(|element| element.id == known.id) {
            Some(element) => Ok(Some(element)),
            None if notices.is_empty() => Ok(None),
            None => Err(DesktopError::failed(
                format!("look again at \"{}\" ({})", known.words, known.id),
                notices.join("; "),
            )),
        }
    }

    /// The element detected at a point, after another look at its position.
    pub(crate) async fn look_again_at(
        &self,
        window: WindowId,
        point: Point<Screen>,
    ) -> DesktopResult<Option<Element>> {
        if !self.registry().has_any(window) {
            return Ok(None);
        }
        let (info, above) = self.window(window).await?;
        if is_covered(&above, &Rect::new(point.x, point.y, 1, 1)) {
            return Ok(None);
        }
        let at_point = || self.registry().find_at(&info, &point);
        let Some(known) = at_point() else { return Ok(None) };
        match self.look_again(known.id).await {
            Err(DesktopError::NoElement(_)) => Ok(at_point().map(|known| known.element(&info.bounds))),
            Ok(element) if element.bounds.is_some_and(|bounds| bounds.contains(&point)) => Ok(Some(element)),
            Ok(_) => Ok(at_point().map(|known| known.element(&info.bounds))),
            Err(error) => Err(error),
        }
    }

    /// The tree of a window; if its application exposes none, the one element that represents it.
    pub(crate) async fn tree_or_root(&self, window: WindowId, limits: TreeLimits) -> DesktopResult<Tree> {
        let mut tree = self.inner.tree(window, limits).await?;
        // The first look will read them.
        if self.reads_panels() && !large_panels(&tree, self.reader.prefers_parts()).is_empty() {
            self.prepare();
        }
        if tree.elements.is_empty() && tree.partial.is_none() && self.registry().has_any(window) {
            let (info, _) = self.window(window).await?;
            tree.elements.extend(self.registry().find_root(&info));
        }
        Ok(tree)
    }

    /// Returns `true` if a detected element is inside an element: certainly in its window, and in nothing else.
    pub(crate) async fn lies_in(&self, id: ElementId, ancestor: ElementId) -> DesktopResult<bool> {
        if id == ancestor {
            return Ok(true);
        }
        let found = self.registry().find(id);
        let Some((window, _)) = found else { return Ok(false) };
        if self.registry().window_of_root(ancestor) == Some(window) {
            return Ok(true);
        }
        let tree = self.inner.tree(window, ROOT_ONLY).await?;
        Ok(tree.elements.first().is_some_and(|root| root.id == ancestor))
    }
}

/// Returns `true` if elements of a window are what a pop-up in front of it shows: entries of a menu, items of a box, or something that fills it.
fn shows(tree: &Tree, popup: Rect<Screen>) -> bool {
    let lies_in = |bounds: Rect<Screen>| popup.contains(&bounds.center());
    let fills = |bounds: Rect<Screen>| {
        let area = |one: Rect<Screen>| i64::from(one.width) * i64::from(one.height);
        popup.intersection(&bounds) == Some(bounds) && area(bounds) * 2 > area(popup)
    };
    let opens_here = |one: &Element| {
        let above = || tree.ancestors(one.id);
        let is_entry = [Role::MENU, Role::MENU_ITEM, Role::CHECK_MENU_ITEM, Role::RADIO_MENU_ITEM]
            .contains(&one.role)
            && above().next().is_some_and(|above| above.role != Role::MENU_BAR);
        is_entry || (!one.role.is_structural() && above().any(|above| above.role == Role::COMBO_BOX))
    };
    tree.elements
        .iter()
        .filter(|one| one.states.has(State::Showing))
        .any(|one| one.bounds.is_some_and(|bounds| fills(bounds) || (lies_in(bounds) && opens_here(one))))
}

fn is_covered(above: &[Rect<Screen>], bounds: &Rect<Screen>) -> bool {
    above.iter().any(|other| other.intersection(bounds).is_some())
}

/// The area of a dialog that exposes its buttons and nothing of what it says, as one whose message is drawn.
fn says_only_buttons(tree: &Tree) -> Option<Rect<Screen>> {
    let (dialog, rest) = tree.elements.split_first()?;
    let is_dialog = [Role::DIALOG, Role::ALERT].contains(&dialog.role) && tree.partial.is_none();
    let mut inside = rest.iter().filter(|one| !one.role.is_structural()).peekable();
    let only_buttons = inside.peek().is_some() && inside.all(|one| one.role == Role::PUSH_BUTTON);
    dialog.bounds.filter(|_| is_dialog && only_buttons && dialog.description.is_empty())
}

/// The large panels of a window that expose nothing of what is drawn in them, and the strips along their edges, such as those with the
/// letters and numbers of a sheet: all, or those that are controls of a kind of their own, such as the icon view of Thunar and the pages of Okular.
fn panels(tree: &Tree, all: bool) -> Vec<Rect<Screen>> {
    if tree.partial.is_some() { Vec::new() } else { large_panels(tree, all) }
}

/// The same of as much of a tree as there is.
fn large_panels(tree: &Tree, all: bool) -> Vec<Rect<Screen>> {
    /// The least sides, in pixels: smaller ones are logos, colours and gauges.
    const SIDE_MIN: i32 = 100;
    const AREA_MIN: i32 = 40_000;
    let (mut large, small): (Vec<_>, Vec<_>) = drawn_areas(tree, all).into_iter().partition(|bounds| {
        bounds.width.min(bounds.height) >= SIDE_MIN && bounds.width.saturating_mul(bounds.height) >= AREA_MIN
    });
    let strips: Vec<Rect<Screen>> =
        small.into_iter().filter(|strip| large.iter().any(|panel| is_along(strip, panel))).collect();
    large.extend(strips);
    large.extend(calendars(tree).filter(|month| !is_covered(&large, month)).collect::<Vec<_>>());
    large
}

/// The months that expose none of their days, as those of GTK 3. They are smaller than other panels that are read.
fn calendars(tree: &Tree) -> impl Iterator<Item = Rect<Screen>> + '_ {
    let is_drawn = |one: &&Element| {
        one.role.name() == "calendar" && one.child_count == 0 && one.states.has(State::Showing)
    };
    tree.elements.iter().filter(is_drawn).filter_map(|one| one.bounds)
}

/// The areas in which nothing is exposed but scroll bars; the outermost of those within each other.
fn drawn_areas(tree: &Tree, all: bool) -> Vec<Rect<Screen>> {
    const ROLES: &[Role] = &[
        Role::CANVAS,
        Role::DRAWING_AREA,
        Role::FILLER,
        Role::PANEL,
        Role::SCROLL_PANE,
        Role::UNKNOWN,
        Role::VIEWPORT,
    ];
    let mut found = Vec::new();
    let mut elements = tree.elements.as_slice();
    while let Some((element, rest)) = elements.split_first() {
        elements = rest;
        let inside = rest.iter().take_while(|one| one.depth > element.depth).count();
        let within = rest.get(..inside).unwrap_or_default();
        let is_area = |one: &Element| ROLES.contains(&one.role) && one.text.is_none();
        let is_scroll_bar = |one: &Element| one.role == Role::SCROLL_BAR;
        let is_empty = match within {
            [] => element.child_count == 0,
            _ => {
                within.iter().any(is_scroll_bar)
                    && within.iter().all(|one| is_area(one) || is_scroll_bar(one))
            }
        };
        let is_own = [Role::PANEL, Role::FILLER].contains(&element.role);
        let is_control = is_own && element.states.has(State::Focusable) && inside == 0;
        let is_drawn = is_empty
            && element.depth > 0
            && is_area(element)
            && element.states.has(State::Showing)
            && (all || is_control);
        if let Some(bounds) = element.bounds.filter(|_| is_drawn) {
            found.push(bounds);
            elements = rest.get(inside..).unwrap_or_default();
        }
    }
    found
}

/// Returns `true` if an area lies along an edge of a panel, from one end to the other.
fn is_along(strip: &Rect<Screen>, panel: &Rect<Screen>) -> bool {
    const NEAR: i32 = 3;
    /// The least sides, in pixels: smaller ones are borders.
    const SIDE_MIN: i32 = 12;
    let near = |one: i32, other: i32| (one - other).abs() <= NEAR;
    let is_as_wide = near(strip.x, panel.x) && near(strip.right(), panel.right());
    let is_as_high = near(strip.y, panel.y) && near(strip.bottom(), panel.bottom());
    let is_beside = (is_as_wide && (near(strip.bottom(), panel.y) || near(strip.y, panel.bottom())))
        || (is_as_high && (near(strip.right(), panel.x) || near(strip.x, panel.right())));
    is_beside && strip.width.min(strip.height) >= SIDE_MIN
}

/// Inserts detected elements at the end of the smallest elements around them.
fn insert(tree: &mut Tree, found: Vec<Element>) {
    let mut placed: Vec<(usize, u16, Element)> = found
        .into_iter()
        .map(|element| {
            let (end, depth) = host(tree, &element);
            (end, depth, Element { depth, ..element })
        })
        .collect();
    // Of those that end at the same index the innermost first; within one element in reading order.
    placed.sort_by_key(|(end, depth, element)| {
        let bounds = element.bounds.unwrap_or(Rect::new(0, 0, 0, 0));
        (*end, u16::MAX - depth, bounds.y, bounds.x)
    });
    let mut placed = placed.into_iter().peekable();
    let old = std::mem::take(&mut tree.elements);
    for (place, element) in old.into_iter().enumerate() {
        while let Some((_, _, found)) = placed.next_if(|(end, _, _)| *end <= place) {
            tree.elements.push(found);
        }
        tree.elements.push(element);
    }
    tree.elements.extend(placed.map(|(_, _, found)| found));
}

/// The end of the smallest element around `found`, and the depth there.
fn host(tree: &Tree, found: &Element) -> (usize, u16) {
    let Some(middle) = found.bounds.map(|bounds| bounds.center()) else { return (tree.elements.len(), 1) };
    let around = |element: &Element| element.bounds.is_some_and(|bounds| bounds.contains(&middle));
    let at = tree.elements.iter().rposition(around).unwrap_or(0);
    let depth = tree.elements.get(at).map_or(0, |element| element.depth);
    let inside = tree.elements.iter().skip(at + 1).take_while(|element| element.depth > depth).count();
    (at + 1 + inside, depth.saturating_add(1))
}

#[cfg(test)]
#[path = "seeing_tests.rs"]
mod tests;
