//! Which windows and tabs show what programs were started for.
//!
//! Nothing is remembered from one look to the next: a title that comes late decides as one that was there at once. A window counts
//! for one document, unless its tabs show several.

use deskhand_desktop::{Desktop, DesktopError, DesktopResult, LaunchedProgram, TreeLimits};
use deskhand_ui::{
    Element, Role, State, WindowInfo, WindowKind,
    action::{ActionProof, ElementDelta},
    fold_name,
    ids::ElementId,
    same_app,
};

/// The most elements of a window in which tabs are looked for.
const ELEMENTS_MAX: usize = 600;

/// Something that a program is to show: one of its files or addresses, or, if there are none, a window.
pub(super) struct LaunchExpectation<'a> {
    /// Which start of a program.
    pub(super) start: usize,
    pub(super) launched: &'a LaunchedProgram,
    /// Any of these.
    pub(super) files: &'a [String],
}

/// Window in which an item is shown.
#[derive(Debug, Clone)]
pub(super) struct LaunchMatch {
    pub(super) window: WindowInfo,
    pub(super) how: How,
}

/// Way in which it is shown.
#[derive(Debug, Clone)]
pub(super) enum How {
    /// By a window that opened.
    Opened,
    /// By a tab of a window.
    Tab {
        /// `true` if the window opened with it.
        new: bool,
        proof: ActionProof,
    },
    /// By a window of a running instance.
    Proven(ActionProof),
}

impl LaunchMatch {
    /// Returns `true` if the title of a new window names none of its documents, and may do so later.
    pub(super) fn may_be_named(&self, wish: &LaunchExpectation<'_>) -> bool {
        let opened = matches!(self.how, How::Opened) && self.window.kind == WindowKind::Normal;
        opened && !wish.files.is_empty() && !wish.is_named_by(&self.window.title)
    }

    /// Returns `true` if the window is new, and has to be waited for.
    pub(super) const fn comes_to_rest(&self) -> bool {
        match self.how {
            How::Opened => true,
            How::Tab { new, .. } => new,
            How::Proven(_) => false,
        }
    }
}

/// Assigns to each wish the window that shows it at the moment.
pub(super) async fn assign<D: Desktop>(
    desktop: &D,
    known: &[WindowInfo],
    windows: &[WindowInfo],
    wishes: &[LaunchExpectation<'_>],
) -> DesktopResult<Vec<Option<LaunchMatch>>> {
    let look = LaunchMatcher { known, windows, wishes };
    let mut shown = look.by_windows(|wish| desktop.process_ended(wish.launched.pid).is_some());
    let handed_over = |wish: &LaunchExpectation<'_>| {
        desktop.process_ended(wish.launched.pid).is_some_and(|how| how.success())
    };
    for (at, wish) in wishes.iter().enumerate() {
        if shown.get(at).is_some_and(Option::is_none) && handed_over(wish) {
            let found = look.taken_over(wish, &shown);
            shown.splice(at..=at, [found]);
        }
    }
    if shown.iter().any(Option::is_none) && look.may_all_have_tabs(&shown) {
        look.by_tabs(desktop, &mut shown, handed_over).await?;
    }
    Ok(shown)
}

struct LaunchMatcher<'a> {
    known: &'a [WindowInfo],
    windows: &'a [WindowInfo],
    wishes: &'a [LaunchExpectation<'a>],
}

impl<'a> LaunchMatcher<'a> {
    fn is_new(&self, info: &WindowInfo) -> bool {
        self.known.iter().all(|before| before.id != info.id)
    }

    /// New windows, the latest first, and dialogs: an application may ask about a file before it shows it, or say that it cannot.
    fn opened(&self) -> impl Iterator<Item = &'a WindowInfo> {
        let shows = |info: &&WindowInfo| match info.kind {
            WindowKind::Normal | WindowKind::Dialog => !info.bounds.is_empty(),
            WindowKind::Popup | WindowKind::Tooltip | WindowKind::Panel => false,
        };
        self.windows.iter().rev().filter(shows).filter(|info| self.is_new(info))
    }

    /// New windows, each for one wish: those that name it first; then those of its program; then the first of a program that had
    /// none, or the one of an instance that took over.
    fn by_windows(&self, ended: impl Fn(&LaunchExpectation<'_>) -> bool) -> Vec<Option<LaunchMatch>> {
        let mut shown: Vec<Option<LaunchMatch>> = self.wishes.iter().map(|_| None).collect();
        let named = |wish: &LaunchExpectation<'_>, info: &WindowInfo| wish.is_named_by(&info.title);
        let own = |wish: &LaunchExpectation<'_>, info: &WindowInfo| {
            self.may_show_unnamed(info) && is_of(info, wish.launched)
        };
        let is_first = |info: &WindowInfo| self.known.iter().all(|before| !same_app(before, info));
        // Its documents are tabs of that one.
        let has_one = |wish: &LaunchExpectation<'_>| self.opened().any(|info| is_of(info, wish.launched));
        let others = |wish: &LaunchExpectation<'_>, info: &WindowInfo| {
            let of_other =
                self.wishes.iter().any(|other| other.start != wish.start && is_of(info, other.launched));
            self.may_show_unnamed(info) && !of_other && (ended(wish) || is_first(info) && !has_one(wish))
        };
        self.claim(&mut shown, named);
        self.claim(&mut shown, own);
        // A running instance asks about the file, or says that it cannot show it, without naming it.
        let says = |wish: &LaunchExpectation<'_>, info: &WindowInfo| {
            let names = self.wishes.iter().any(|wish| wish.is_named_by(&info.title));
            info.kind == WindowKind::Dialog && !names && (is_of(info, wish.launched) || ended(wish))
        };
        self.claim(&mut shown, others);
        self.claim(&mut shown, says);
        shown
    }

    /// Returns `true` if a window may show a document that its title does not name: the title names no other, and it is no dialog.
    fn may_show_unnamed(&self, info: &WindowInfo) -> bool {
        info.stands_alone() && !self.wishes.iter().any(|wish| wish.is_named_by(&info.title))
    }

    fn claim(
        &self,
        shown: &mut [Option<LaunchMatch>],
        fits: impl Fn(&LaunchExpectation<'_>, &WindowInfo) -> bool,
    ) {
        for (at, wish) in self.wishes.iter().enumerate() {
            let free = |info: &&WindowInfo| shown.iter().flatten().all(|one| one.window.id != info.id);
            let found = self.opened().filter(free).find(|info| fits(wish, info)).cloned();
            if let Some(place) = shown.get_mut(at).filter(|place| place.is_none()) {
                *place = found.map(|window| LaunchMatch { window, how: How::Opened });
            }
        }
    }

    /// The window of a running instance that took over: its title names the file, or what it shows has changed.
    fn taken_over(&self, wish: &LaunchExpectation<'_>, shown: &[Option<LaunchMatch>]) -> Option<LaunchMatch> {
        let free = |info: &&WindowInfo| shown.iter().flatten().all(|one| one.window.id != info.id);
        let own = || {
            let own =
                self.windows.iter().rev().filter(|info| info.stands_alone() && is_of(info, wish.launched));
            own.filter(|info| !self.is_new(info)).filter(free)
        };
        let before = |info: &WindowInfo| self.known.iter().find(|before| before.id == info.id);
        let retitled = |info: &&WindowInfo| before(info).is_some_and(|before| before.title != info.title);
        let title = |window: &WindowInfo| ActionProof::TitleChanged { title: window.title.clone() };
        let active = |window: &WindowInfo| ActionProof::Active { window: window.into() };
        let proven = |window: &WindowInfo, proof| {
            Some(LaunchMatch { window: window.clone(), how: How::Proven(proof) })
        };
        if let Some(window) = own().find(|info| wish.is_named_by(&info.title)) {
            // One that it was open in before is brought to the front.
            return match retitled(&window) {
                true => proven(window, title(window)),
                false => window.active.then(|| proven(window, active(window))).flatten(),
            };
        }
        if wish.files.is_empty() {
            let raised =
                |info: &&WindowInfo| info.active && before(info).is_some_and(|before| !before.active);
            return own().find(raised).and_then(|window| proven(window, active(window)));
        }
        // The title of a page need not name its address.
        let is_page = wish.files.iter().all(|file| file.contains("://"));
        own().find(retitled).filter(|_| is_page).and_then(|window| proven(window, title(window)))
    }

    /// The windows that have tabs, the latest first.
    fn with_tabs(&self) -> impl Iterator<Item = &'a WindowInfo> {
        self.windows.iter().rev().filter(|info| info.stands_alone() && info.accessible)
    }

    /// Returns `true` if everything that is missing may be a tab by now. Until then, reading tabs would only keep programs from starting.
    fn may_all_have_tabs(&self, shown: &[Option<LaunchMatch>]) -> bool {
        let mut missing = self.wishes.iter().zip(shown).filter(|(_, shown)| shown.is_none());
        missing.all(|(wish, _)| self.with_tabs().any(|info| self.has_tabs_for(wish, info, shown)))
    }

    /// Tabs, each for one wish.
    async fn by_tabs<D: Desktop>(
        &self,
        desktop: &D,
        shown: &mut [Option<LaunchMatch>],
        handed_over: impl Fn(&LaunchExpectation<'_>) -> bool,
    ) -> DesktopResult<()> {
        for info in self.with_tabs() {
            let is_missing = |at: usize, wish: &LaunchExpectation<'_>| {
                shown.get(at).is_some_and(Option::is_none) && self.has_tabs_for(wish, info, shown)
            };
            let missing = self
                .wishes
                .iter()
                .enumerate()
                .any(|(at, wish)| is_missing(at, wish) && !wish.files.is_empty());
            if !missing {
                continue;
            }
            let tabs = tabs_of(desktop, info).await?;
            self.claim_tabs(info, &tabs, shown, &handed_over);
        }
        Ok(())
    }

    /// Returns `true` if a wish may be shown in a window: one of its program, or one that shows what was started with it.
    fn has_tabs_for(
        &self,
        wish: &LaunchExpectation<'_>,
        info: &WindowInfo,
        shown: &[Option<LaunchMatch>],
    ) -> bool {
        let beside = self.wishes.iter().zip(shown).any(|(other, shown)| {
            other.start == wish.start && shown.as_ref().is_some_and(|shown| shown.window.id == info.id)
        });
        beside || is_of(info, wish.launched)
    }

    fn claim_tabs(
        &self,
        info: &WindowInfo,
        tabs: &[Element],
        shown: &mut [Option<LaunchMatch>],
        handed_over: impl Fn(&LaunchExpectation<'_>) -> bool,
    ) {
        let new = self.is_new(info);
        // A tab that shows what the title names is no further one.
        let by_title = shown.iter().flatten().filter(|one| one.window.id == info.id).count();
        let named_by_tabs =
            |files: &LaunchExpectation<'_>| tabs.iter().any(|tab| files.is_named_by(&tab.name));
        let mut taken: Vec<ElementId> = Vec::new();
        for (wish, one) in self.wishes.iter().zip(shown.iter_mut()) {
            let here = one.as_ref().is_none_or(|one| one.window.id == info.id);
            if !here || !named_by_tabs(wish) || !(is_of(info, wish.launched) || new) {
                continue;
            }
            let alone = self.wishes.iter().filter(|other| other.start == wish.start).count() == 1;
            // In a window that was there before, a tab that is not in front may have been there as well.
            let counts =
                |tab: &&Element| new || handed_over(wish) && (!alone || tab.states.has(State::Selected));
            let found = tabs
                .iter()
                .find(|tab| wish.is_named_by(&tab.name) && !taken.contains(&tab.id) && counts(tab));
            if let Some(tab) = found {
                taken.push(tab.id);
                let proof = ActionProof::Changed { element: tab.into(), now: ElementDelta::Came };
                *one = Some(LaunchMatch { window: info.clone(), how: How::Tab { new, proof } });
            }
        }
        // A page has a title of its own: of a new window with as many tabs as were started with it, each shows one.
        for (at, wish) in self.wishes.iter().enumerate() {
            let missing = shown.get(at).is_some_and(Option::is_none);
            let started = self.wishes.iter().filter(|other| other.start == wish.start).count();
            if !missing || !new || !self.has_tabs_for(wish, info, shown) || tabs.len() < started {
                continue;
            }
            let free = tabs.iter().find(|tab| {
                let named = self.wishes.iter().any(|other| other.is_named_by(&tab.name));
                // The one in front is what the title stands for.
                let in_front = by_title > 0 && tab.states.has(State::Selected);
                !named && !in_front && !taken.contains(&tab.id)
            });
            if let (Some(tab), Some(place)) = (free, shown.get_mut(at)) {
                taken.push(tab.id);
                let proof = ActionProof::Changed { element: tab.into(), now: ElementDelta::Came };
                *place = Some(LaunchMatch { window: info.clone(), how: How::Tab { new, proof } });
            }
        }
    }
}

impl LaunchExpectation<'_> {
    /// Returns `true` if a title or a tab names one of its files: by the whole file name.
    fn is_named_by(&self, title: &str) -> bool {
        self.files.iter().any(|file| {
            let name = file.trim_end_matches('/').rsplit('/').next().unwrap_or(file);
            let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
            let whole = |at: usize| {
                let before = title.get(..at).unwrap_or_default();
                let after = title.get(at + name.len()..).unwrap_or_default();
                let extended = after.strip_prefix('.').is_some_and(|rest| rest.starts_with(goes_on));
                !before.ends_with(|c| goes_on(c) || c == '.') && !after.starts_with(goes_on) && !extended
            };
            !name.is_empty() && title.match_indices(name).any(|(at, _)| whole(at))
        })
    }
}

/// The tabs of a window; none if it closes.
async fn tabs_of<D: Desktop>(desktop: &D, info: &WindowInfo) -> DesktopResult<Vec<Element>> {
    let limits =
        TreeLimits { nodes_max: ELEMENTS_MAX, cells: false, bounds_now: false, ..TreeLimits::default() };
    let tree = match desktop.tree(info.id, limits).await {
        Err(DesktopError::NoWindow(_)) => return Ok(Vec::new()),
        other => other?,
    };
    Ok(tree.elements.into_iter().filter(|element| element.role == Role::PAGE_TAB).collect())
}

/// Returns `true` if a window is one of the program that was launched.
fn is_of(info: &WindowInfo, launched: &LaunchedProgram) -> bool {
    info.app.pid == Some(launched.pid)
        || launched.wm_class.as_ref().is_some_and(|class| *class == info.app.root)
        || fold_name(&launched.name) == fold_name(&info.app.name)
        || fold_name(&launched.name) == fold_name(&info.app.root)
}
