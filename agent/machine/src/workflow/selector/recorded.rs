//! Recording of an element.

use super::{
    compare::same_all,
    data::{Selector, SelectorAnchor, SelectorScope},
    kinship::{Kinship, kinship},
    naming::{NamePattern, is_volatile},
    roles::are_related,
    scene::{NeighbourSide, Scene, SceneNode, is_document},
    tables,
};
use deskhand_ui::{
    Element, Role, WindowView, fold_name,
    ids::ElementId,
    keys::{KeyChord, KeyModifier},
};

impl Selector {
    /// Describes an element by what was seen when a step was done. `None` if the view does not show it.
    pub fn of(view: &WindowView, element: ElementId) -> Option<Self> {
        let surface = view.surfaces.iter().find(|surface| surface.tree.find(element).is_some())?;
        let scene = Scene::new(surface);
        let at = scene.position(element)?;
        scene.node(at).filter(|node| node.is_shown)?;
        Self::recorded(&scene, at)
    }

    pub(super) fn recorded(scene: &Scene<'_>, at: usize) -> Option<Self> {
        let node = scene.node(at)?;
        let seen = Self::glimpsed(scene, at)?;
        let is_sheet = tables::is_sheet_cell(node);
        let row = if is_sheet { Vec::new() } else { row_of(scene, at, seen.column.as_deref()) };
        // A cell is known by its row and column; what it holds is content.
        let is_content = node.element.role == Role::TABLE_CELL && seen.column.is_some() && !row.is_empty();
        let doubles: Vec<usize> = scene
            .shown()
            .filter(|(index, other)| *index != at && is_double(node, other))
            .map(|(index, _)| index)
            .collect();
        let inside = doubles.iter().filter(|index| same_all(&within(scene, **index), &seen.within)).count();
        let anchors = anchors_of(scene);
        let scope = SelectorScope {
            controls: u32::try_from(anchors.len()).unwrap_or(u32::MAX),
            landmarks: spread(&anchors).into_iter().cloned().collect(),
            ..seen.scope.clone()
        };
        Some(Self {
            name: name_of(scene, at).filter(|_| !is_content),
            row,
            doubles: u32::try_from(doubles.len()).unwrap_or(u32::MAX),
            doubles_inside: u32::try_from(inside).unwrap_or(u32::MAX),
            unlike: unlike(scene, at),
            scope,
            ..seen
        })
    }

    /// The same without what takes a look at the whole window: row, doubles, similar names, landmarks.
    pub(super) fn glimpsed(scene: &Scene<'_>, at: usize) -> Option<Self> {
        let node = scene.node(at)?;
        let (nth, of) = scene.order(at).unwrap_or_default();
        Some(Self {
            role: node.element.role.clone(),
            name: (!node.called.is_empty()).then(|| NamePattern::literal(&node.called)),
            label: node.label.clone(),
            id: None,
            row: Vec::new(),
            column: tables::column_of(scene, at).filter(|_| !tables::is_sheet_cell(node)),
            within: within(scene, at),
            before: scene.neighbours(at, NeighbourSide::Before, Self::NEIGHBOURS_MAX),
            after: scene.neighbours(at, NeighbourSide::After, Self::NEIGHBOURS_MAX),
            help: help_of(node.element),
            keys: keys_of(node.element),
            range: range_of(node.element),
            nth,
            of,
            place: place_of(scene, node.element),
            doubles: 0,
            doubles_inside: 0,
            unlike: Vec::new(),
            scope: scope_of(scene, at),
        })
    }
}

/// Returns `true` if another control has the same name or label; of two without either, whether they are of related roles and have the same help.
fn is_double(own: &SceneNode<'_>, other: &SceneNode<'_>) -> bool {
    let called = |node: &SceneNode<'_>| node.label.as_deref().map_or_else(|| node.folded.clone(), fold_name);
    let (name, others) = (called(own), called(other));
    let same_kind = || {
        are_related(&own.element.role, &other.element.role)
            && own.element.description == other.element.description
    };
    let is_control = other.element.role.is_interactive() || other.element.role == own.element.role;
    is_control && name == others && (!name.is_empty() || same_kind())
}

/// The name, with blanks for counters as long as only this element matches it.
fn name_of(scene: &Scene<'_>, at: usize) -> Option<NamePattern> {
    let node = scene.node(at).filter(|node| !node.called.is_empty())?;
    let pattern = NamePattern::without_counters(&node.called);
    let matches_other = |(index, other): (usize, &SceneNode<'_>)| {
        index != at
            && are_related(&other.element.role, &node.element.role)
            && pattern.matches_folded(&other.folded)
    };
    let is_unique = pattern.is_literal() || !scene.shown().any(matches_other);
    Some(if is_unique { pattern } else { NamePattern::literal(&node.called) })
}

/// The fewest texts by which its row differs from the others; texts that do not change by themselves come first.
fn row_of(scene: &Scene<'_>, at: usize, column: Option<&str>) -> Vec<String> {
    let Some(node) = scene.node(at) else { return Vec::new() };
    let mut texts = tables::row_texts(scene, at);
    if texts.is_empty() {
        return texts;
    }
    texts.sort_by_key(|text| is_volatile(text));
    let alike = |(index, other): &(usize, &SceneNode<'_>)| {
        let same_name = column.is_some() || other.folded == node.folded;
        *index != at
            && other.in_row == node.in_row
            && other.element.role == node.element.role
            && same_name
            && column.is_none_or(|column| tables::column_of(scene, *index).as_deref() == Some(column))
    };
    let others: Vec<usize> = scene.shown().filter(alike).map(|(index, _)| index).collect();
    let tells = |wanted: &[String]| !others.iter().any(|other| tables::is_in_row(scene, *other, wanted));
    let single = texts.iter().find(|text| tells(std::slice::from_ref(text))).cloned();
    match single {
        Some(text) => vec![text],
        None if tells(&texts) => texts,
        None => Vec::new(),
    }
}

/// The named containers of an element, outermost first.
pub(super) fn within(scene: &Scene<'_>, at: usize) -> Vec<SelectorAnchor> {
    let is_named = |node: &&SceneNode<'_>| {
        node.parent.is_some()
            && !node.called.is_empty()
            && !is_document(&node.element.role)
            && !node.element.role.is_row_or_cell()
            && !is_volatile(&node.called)
    };
    let above = scene.ancestors(at).filter_map(|index| scene.node(index)).filter(is_named);
    let anchor =
        |node: &SceneNode<'_>| SelectorAnchor { role: node.element.role.clone(), name: node.called.clone() };
    let mut within: Vec<SelectorAnchor> = above.map(anchor).take(Selector::WITHIN_MAX).collect();
    within.reverse();
    within
}

fn help_of(element: &Element) -> Option<String> {
    let help = element.description.trim();
    let tells = !help.is_empty() && fold_name(help) != fold_name(&element.name) && !is_volatile(help);
    tells.then(|| help.to_owned())
}

/// The key chord that a name or a description shows, such as `Save (Ctrl+S)`, in the languages that name modifiers differently.
fn keys_of(element: &Element) -> Option<String> {
    const MODIFIERS: &[(&str, &str)] = &[
        ("strg", "ctrl"),
        ("ctl", "ctrl"),
        ("umschalt", "shift"),
        ("maj", "shift"),
        ("mayús", "shift"),
        ("maiusc", "shift"),
    ];
    let chord = |text: &str| -> Option<String> {
        let (head, key) = text.rsplit_once('+')?;
        let spelled = |part: &str| {
            let part = part.trim().to_lowercase();
            MODIFIERS.iter().find(|(other, _)| *other == part).map_or(part, |(_, plain)| (*plain).to_owned())
        };
        let modifiers: Vec<String> = head.split('+').map(spelled).collect();
        let is_modifier = |part: &String| part.parse::<KeyModifier>().is_ok();
        let chord: KeyChord = format!("{}+{key}", modifiers.join("+")).parse().ok()?;
        modifiers.iter().all(is_modifier).then(|| chord.canonical().to_string())
    };
    let words = [&element.name, &element.description].into_iter().flat_map(|text| text.split_whitespace());
    words.map(|word| word.trim_matches(|c| matches!(c, '(' | ')' | '[' | ']' | ',' | '.'))).find_map(chord)
}

fn range_of(element: &Element) -> Option<[f64; 2]> {
    let value = element.value.filter(|value| value.minimum < value.maximum)?;
    Some([value.minimum, value.maximum])
}

fn place_of(scene: &Scene<'_>, element: &Element) -> Option<[f64; 2]> {
    let window = scene.surface.window.bounds;
    let center = element.bounds?.center();
    let fraction = |at: i32, start: i32, length: i32| {
        (length > 0).then(|| {
            let exact = f64::from(at.saturating_sub(start)) / f64::from(length);
            (exact.clamp(0.0, 1.0) * 100.0).round() / 100.0
        })
    };
    Some([fraction(center.x, window.x, window.width)?, fraction(center.y, window.y, window.height)?])
}

/// The names of other elements that are related to its own.
fn unlike(scene: &Scene<'_>, at: usize) -> Vec<String> {
    let Some(node) = scene.node(at) else { return Vec::new() };
    let own = node.label.clone().unwrap_or_else(|| node.called.clone());
    if own.is_empty() {
        return Vec::new();
    }
    let mut names: Vec<String> = Vec::new();
    for (index, other) in scene.shown().filter(|(index, other)| *index != at && !other.in_row) {
        let name = scene.anchor(index).map(|anchor| anchor.name).unwrap_or_default();
        let is_control = other.element.role.is_interactive();
        let is_like = match kinship(&own, &name) {
            Kinship::Related | Kinship::Opposed | Kinship::Synonym => true,
            Kinship::Same | Kinship::Stranger => false,
        };
        if is_control
            && is_like
            && !name.is_empty()
            && !names.contains(&name)
            && names.len() < Selector::UNLIKE_MAX
        {
            names.push(name);
        }
    }
    names
}

fn scope_of(scene: &Scene<'_>, at: usize) -> SelectorScope {
    let window = &scene.surface.window;
    let path = window.document.as_ref().and_then(|document| document.path.as_deref());
    let document = path.and_then(|path| path.rsplit('/').next());
    SelectorScope {
        kind: window.kind,
        title: NamePattern::of_title(&window.title, &window.app.name, document),
        role: scene.node(0).map(|root| root.element.role.clone()),
        page: page_of(scene, at),
        landmarks: Vec::new(),
        controls: 0,
    }
}

/// Every element of a window that others are recognised by.
pub(super) fn anchors_of(scene: &Scene<'_>) -> Vec<SelectorAnchor> {
    scene.shown().filter(|(_, node)| node.is_anchor).filter_map(|(index, _)| scene.anchor(index)).collect()
}

/// As many as are kept of these, evenly spread, so that windows of the same layout give the same ones.
pub(super) fn spread(anchors: &[SelectorAnchor]) -> Vec<&SelectorAnchor> {
    let (all, kept) = (anchors.len(), anchors.len().min(SelectorScope::LANDMARKS_MAX));
    (0..kept).filter_map(|at| anchors.get(if kept > 1 { at * (all - 1) / (kept - 1) } else { 0 })).collect()
}

/// Host and path of the page that an element is in, without port, query and fragment, and with `#` for parts that hold digits.
pub(super) fn page_of(scene: &Scene<'_>, at: usize) -> Option<String> {
    let is_page = |node: &&SceneNode<'_>| node.element.role == Role::DOCUMENT_WEB;
    let page = scene.ancestors(at).filter_map(|index| scene.node(index)).find(is_page)?;
    let address = url::Url::parse(page.element.address.as_deref()?).ok()?;
    let blank =
        |part: &str| if part.chars().any(|c| c.is_ascii_digit()) { "#".to_owned() } else { part.to_owned() };
    let path: Vec<String> = address.path().split('/').map(blank).collect();
    Some(format!("{}{}", address.host_str().unwrap_or_default(), path.join("/").trim_end_matches('/')))
}
