//! The search: what is found, and in which order the rules are tried.

use super::{
    compare::{SelectorComparison, same},
    data::{Selector, SelectorAnchor},
    kinship::PressRisk,
    recorded::{anchors_of, page_of},
    roles::are_related,
    scene::{Scene, SceneNode},
    tables,
};
use deskhand_ui::{
    Role, Surface, WindowKind, WindowView, element_label, fold_name,
    ids::ElementId,
    suggest::{POSSIBLE_MIN, rank, similarity},
};

/// Minimum number of recorded neighbours in the container of an element that moved in it.
const COMPANY_MIN: usize = 2;

/// Something recorded that is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Agreement {
    /// Its row has the wanted texts.
    Row,
    /// Same column header above it.
    Column,
    /// The label beside it.
    Label,
    /// Its help text.
    Help,
    /// Its shortcut.
    Keys,
    /// Its range of values.
    Range,
    /// Its named containers.
    Container,
    /// The element before it.
    Before,
    /// The element after it.
    After,
    /// Its recorded neighbours are in the same container, though not beside it.
    Company,
    /// Its new name means the same, or has the words of the old one.
    Word,
    /// Its position among the controls of its role in the container.
    Order,
    /// Its place in the window.
    Place,
}

impl Agreement {
    /// Returns `true` if it names something, as opposed to counting or measuring.
    pub const fn is_strong(self) -> bool {
        match self {
            Self::Row
            | Self::Column
            | Self::Label
            | Self::Help
            | Self::Keys
            | Self::Range
            | Self::Container
            | Self::Before
            | Self::After => true,
            Self::Company | Self::Word | Self::Order | Self::Place => false,
        }
    }
}

/// Something recorded that has changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Drift {
    /// Its name or label.
    Name {
        /// As recorded.
        was: String,
        /// As it is.
        now: String,
    },
    /// Its role.
    Role {
        /// As recorded.
        was: Role,
        /// As it is.
        now: Role,
    },
    /// Its named containers, outermost first.
    Container {
        /// As recorded.
        was: Vec<SelectorAnchor>,
        /// As they are.
        now: Vec<SelectorAnchor>,
    },
    /// A neighbour that is no longer there.
    Neighbour(SelectorAnchor),
    /// Its help text.
    Help {
        /// As recorded.
        was: String,
        /// As it is.
        now: String,
    },
    /// Its place, as fractions of the window from 0 to 1.
    Place {
        /// As recorded.
        was: [f64; 2],
        /// As it is.
        now: [f64; 2],
    },
    /// The title of its window.
    Title {
        /// Pattern of the recorded one.
        was: String,
        /// Pattern of the one that is there.
        now: String,
    },
    /// The page that it is in.
    Page {
        /// As recorded.
        was: String,
        /// As it is.
        now: String,
    },
}

/// The rule by which an element was found; the module documentation has the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SelectorMatchRule {
    /// Same role, name and containers.
    Same,
    /// Same role and name, elsewhere.
    Moved,
    /// Same name, and a role of the same family.
    OtherRole,
    /// Another name in the same place.
    Renamed,
    /// The window is in another language.
    Translated,
}

/// An element that may have been meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contender {
    /// The element.
    pub element: ElementId,
    /// Its role and name: `push button "Save"`.
    pub label: String,
}

/// Why no element was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// Its window, dialog or pop-up is not there.
    NoWindow,
    /// A modal dialog is in front of its window.
    Blocked {
        /// Title of the dialog.
        by: String,
    },
    /// No row has the wanted texts.
    NoRow,
    /// The element exists and is hidden.
    Hidden,
    /// The element is on a page of another host.
    OtherHost {
        /// The page that is there.
        page: String,
    },
    /// Nothing is similar enough.
    Nothing,
    /// There is one of its name, and too little around it agrees.
    Unproven,
    /// The element in its place was there before, as another one.
    TakenByOther,
    /// The element in its place has a name that says the opposite, or reaches further.
    Opposite,
    /// The element in its place does something else, as the safe guard judges names.
    OtherConsequence,
    /// The element in its place has an unrelated name.
    Unrelated,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum SelectorMatch {
    /// The element as it was recorded: same role, name and containers.
    Exact {
        /// The element.
        element: ElementId,
    },
    /// The element has changed, and enough still agrees.
    Drifted {
        /// The element.
        element: ElementId,
        /// The rule that fits.
        fit: SelectorMatchRule,
        /// Traits that have changed.
        drifts: Vec<Drift>,
        /// Traits that agree.
        proof: Vec<Agreement>,
    },
    /// Several elements fit and cannot be told apart.
    Ambiguous {
        /// They, the most likely first, at most [`SelectorMatch::CONTENDERS_MAX`].
        candidates: Vec<Contender>,
    },
    /// No element fits.
    Gone {
        /// The nearest ones, at most [`SelectorMatch::CONTENDERS_MAX`]. None of them may be acted on without a question.
        nearest: Vec<Contender>,
        /// Why not.
        why: Obstacle,
    },
}

impl SelectorMatch {
    /// The most contenders that are named.
    pub const CONTENDERS_MAX: usize = 4;

    /// The element, if one was found.
    pub const fn element(&self) -> Option<ElementId> {
        match self {
            Self::Exact { element } | Self::Drifted { element, .. } => Some(*element),
            Self::Ambiguous { .. } | Self::Gone { .. } => None,
        }
    }
}

/// Finds the element that a selector describes. Never returns an element that only stands where it stood.
pub fn find(selector: &Selector, view: &WindowView) -> SelectorMatch {
    let surfaces = match reachable(selector, view) {
        Ok(surfaces) => surfaces,
        Err(why) => return SelectorMatch::Gone { nearest: Vec::new(), why },
    };
    let scenes: Vec<Scene<'_>> = surfaces.into_iter().map(Scene::new).collect();
    let anchors = scenes.iter().map(anchors_of).collect();
    let is_guarded = PressRisk::of(&selector.called()).is_guarded();
    SelectorSearch { selector, scenes: &scenes, anchors, is_guarded }.run()
}

/// A candidate, compared with the selector.
#[derive(Debug)]
pub(super) struct SelectorCandidate {
    pub(super) scene: usize,
    pub(super) element: ElementId,
    pub(super) seen: Selector,
    pub(super) with: SelectorComparison,
    /// `true` if the nearest neighbours on both sides are still in the window.
    pub(super) has_neighbours_in_window: bool,
}

impl SelectorCandidate {
    pub(super) fn contender(&self) -> Contender {
        Contender { element: self.element, label: element_label(&self.seen.role, &self.seen.called()) }
    }
}

pub(super) struct SelectorSearch<'s> {
    pub(super) selector: &'s Selector,
    pub(super) scenes: &'s [Scene<'s>],
    /// The named elements of each scene.
    pub(super) anchors: Vec<Vec<SelectorAnchor>>,
    /// `true` if the safe guard requests confirmation before an element of this name is pressed.
    pub(super) is_guarded: bool,
}

impl SelectorSearch<'_> {
    fn run(&self) -> SelectorMatch {
        let named = self.weigh(|scene, at, node| {
            are_related(&node.element.role, &self.selector.role) && self.is_called(scene, at)
        });
        let by_name = self.by_name(&named);
        let SelectorMatch::Gone { why, nearest } = by_name else { return by_name };
        let renamed = if named.is_empty() && why == Obstacle::Nothing { self.renamed() } else { None };
        if let Some(found) = renamed.as_ref().filter(|found| !matches!(found, SelectorMatch::Gone { .. })) {
            return found.clone();
        }
        if let Some(found) = self.translated() {
            return found;
        }
        match renamed {
            Some(found) => found,
            None if nearest.is_empty() => SelectorMatch::Gone { nearest: self.similar(), why },
            None => SelectorMatch::Gone { nearest, why },
        }
    }

    /// The elements that `fits` accepts and that are in the wanted row, column and host, compared with the selector.
    pub(super) fn weigh(
        &self,
        fits: impl Fn(&Scene<'_>, usize, &SceneNode<'_>) -> bool,
    ) -> Vec<SelectorCandidate> {
        let mut all = Vec::new();
        for (index, scene) in self.scenes.iter().enumerate() {
            for (at, node) in scene.shown().filter(|(at, node)| fits(scene, *at, node)) {
                if !self.is_in_table(scene, at) || !self.is_on_host(scene, at) {
                    continue;
                }
                let Some(seen) = Selector::glimpsed(scene, at) else { continue };
                let mut with = SelectorComparison::of(self.selector, &seen);
                let placed = [
                    (!self.selector.row.is_empty(), Agreement::Row),
                    (self.selector.column.is_some(), Agreement::Column),
                ];
                with.agreements
                    .extend(placed.into_iter().filter(|(wanted, _)| *wanted).map(|(_, agreement)| agreement));
                if self.keeps_company(scene, at) {
                    with.agreements.push(Agreement::Company);
                }
                let has_neighbours_in_window = self.has_neighbours(index);
                all.push(SelectorCandidate {
                    scene: index,
                    element: node.element.id,
                    seen,
                    with,
                    has_neighbours_in_window,
                });
            }
        }
        all
    }

    fn is_in_table(&self, scene: &Scene<'_>, at: usize) -> bool {
        let column = |wanted: &String| {
            tables::column_of(scene, at).is_some_and(|column| fold_name(&column) == fold_name(wanted))
        };
        self.selector.column.as_ref().is_none_or(column) && tables::is_in_row(scene, at, &self.selector.row)
    }

    fn is_on_host(&self, scene: &Scene<'_>, at: usize) -> bool {
        let host = |page: &str| page.split('/').next().unwrap_or_default().to_owned();
        self.selector.scope.page.as_deref().map(host) == page_of(scene, at).as_deref().map(host)
    }

    /// Returns `true` if most of the recorded neighbours are in the container of an element.
    fn keeps_company(&self, scene: &Scene<'_>, at: usize) -> bool {
        let Some(container) = scene.container(at) else { return false };
        let inside: Vec<SelectorAnchor> = scene
            .below(container)
            .filter(|(_, node)| node.is_anchor)
            .filter_map(|(index, _)| scene.anchor(index))
            .collect();
        let recorded: Vec<&SelectorAnchor> =
            self.selector.before.iter().chain(&self.selector.after).collect();
        let there = recorded.iter().filter(|anchor| inside.iter().any(|one| same(one, anchor))).count();
        there >= COMPANY_MIN && there * 2 >= recorded.len()
    }

    fn has_neighbours(&self, scene: usize) -> bool {
        let anchors = self.anchors.get(scene).map_or(&[][..], Vec::as_slice);
        let mut nearest =
            [self.selector.before.first(), self.selector.after.first()].into_iter().flatten().peekable();
        nearest.peek().is_some() && nearest.all(|anchor| anchors.iter().any(|one| same(one, anchor)))
    }

    /// Returns `true` if people call an element what the selector calls it.
    pub(super) fn is_called(&self, scene: &Scene<'_>, at: usize) -> bool {
        let Some(node) = scene.node(at) else { return false };
        let label = node.label.as_deref();
        match (&self.selector.name, &self.selector.label) {
            (Some(name), _) => {
                name.matches_folded(&node.folded) || label.is_some_and(|label| name.matches(label))
            }
            (None, Some(wanted)) => {
                let wanted = fold_name(wanted);
                label.is_some_and(|label| fold_name(label) == wanted) || node.folded == wanted
            }
            (None, None) if self.is_content() => true,
            (None, None) => {
                let help = self.selector.help.as_deref().map(fold_name).unwrap_or_default();
                node.folded.is_empty() && label.is_none() && fold_name(&node.element.description) == help
            }
        }
    }

    /// Returns `true` if it is a cell that is known by its row and column.
    fn is_content(&self) -> bool {
        self.selector.column.is_some() && !self.selector.row.is_empty()
    }

    /// Why there is no element of the name: it may be hidden, in another row, or on another page.
    pub(super) fn absence(&self) -> Obstacle {
        let mut why = Obstacle::Nothing;
        for scene in self.scenes {
            for (at, node) in scene.nodes.iter().enumerate() {
                if !are_related(&node.element.role, &self.selector.role) || !self.is_called(scene, at) {
                    continue;
                }
                if !self.is_on_host(scene, at) {
                    return Obstacle::OtherHost { page: page_of(scene, at).unwrap_or_default() };
                }
                why = if node.is_shown { Obstacle::NoRow } else { Obstacle::Hidden };
            }
        }
        why
    }

    /// The elements with the most similar names.
    pub(super) fn similar(&self) -> Vec<Contender> {
        let wanted = self.selector.called();
        let all = self.scenes.iter().flat_map(|scene| scene.shown().map(move |(at, node)| (scene, at, node)));
        let named = all.filter_map(|(scene, at, node)| {
            let anchor = scene.anchor(at).filter(|anchor| !anchor.name.is_empty())?;
            node.element.role.is_interactive().then_some((node.element.id, anchor))
        });
        rank(named, POSSIBLE_MIN, |(_, anchor)| similarity(&wanted, &anchor.name))
            .into_iter()
            .take(SelectorMatch::CONTENDERS_MAX)
            .map(|(element, anchor)| Contender { element, label: anchor.to_string() })
            .collect()
    }
}

/// The windows in which an element may be: none that a modal dialog blocks, and of several those with the recorded title.
fn reachable<'v>(selector: &Selector, view: &'v WindowView) -> Result<Vec<&'v Surface>, Obstacle> {
    let front = view.surfaces.iter().rposition(Surface::is_modal).unwrap_or(0);
    let scope = &selector.scope;
    let is_titled =
        |surface: &&Surface| scope.title.as_ref().is_some_and(|title| title.matches(&surface.window.title));
    let is_kind = |surface: &&Surface| {
        let either = [WindowKind::Normal, WindowKind::Dialog];
        let is_close = either.contains(&scope.kind) && either.contains(&surface.window.kind);
        surface.window.kind == scope.kind || is_close && is_titled(surface)
    };
    let open: Vec<&Surface> = view.surfaces.iter().skip(front).filter(is_kind).collect();
    let titled: Vec<&Surface> = open.iter().copied().filter(is_titled).collect();
    let blocker = view.surfaces.get(front).filter(|_| front > 0);
    let is_behind = view.surfaces.iter().take(front).any(|surface| is_kind(&surface) && is_titled(&surface));
    match (titled.is_empty(), open.is_empty()) {
        (false, _) => Ok(titled),
        (true, false) if !is_behind => Ok(open),
        (true, _) => Err(match blocker {
            Some(dialog) => Obstacle::Blocked { by: dialog.window.title.clone() },
            None => Obstacle::NoWindow,
        }),
    }
}
