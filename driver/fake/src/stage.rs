//! The state of a desktop in memory: applications, windows, elements, virtual time and scheduled events.

use std::collections::{BTreeMap, BTreeSet};

use deskhand_desktop::{ElementChangeKind, ProcessExit, UiChange};
use deskhand_ui::{
    AppInfo, CellRef, ElementTreePath, InstalledApplication, Role, State, WindowInfo, WindowState,
    geometry::{Point, Rect, Screen, Size},
    ids::{ElementId, WindowId},
};

use crate::plan::{Behaviour, FakeApp, FakeElement, FakeWindow, Truth};

const ROW_HEIGHT: i32 = 24;
const COLUMN_WIDTH: i32 = 220;

/// One element that exists.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) parent: Option<ElementId>,
    pub(crate) window: WindowId,
    /// Its current properties; `children` is empty here.
    pub(crate) plan: FakeElement,
    pub(crate) children: Vec<ElementId>,
    pub(crate) bounds: Rect<Screen>,
    /// Whether the children of a menu or combo box show.
    pub(crate) open: bool,
    /// The selected part of its text, which typed text replaces.
    pub(crate) marked: Option<(usize, usize)>,
    /// The place of the caret in its text; `None` for the end.
    pub(crate) caret: Option<usize>,
    /// Its cell, in a table.
    pub(crate) cell: Option<CellRef>,
}

impl Node {
    /// Returns `true` if its children show only while it is open.
    pub(crate) fn folds(&self) -> bool {
        (self.plan.role == Role::MENU || self.plan.role == Role::COMBO_BOX) && !self.children.is_empty()
    }
}

/// One open window.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) id: WindowId,
    pub(crate) app: usize,
    pub(crate) plan: FakeWindow,
    pub(crate) owner: Option<WindowId>,
    pub(crate) root: ElementId,
    pub(crate) focus: Option<ElementId>,
    rows_used: i32,
    /// The menu that a menu window shows.
    pub(crate) menu: Option<ElementId>,
}

/// One installed application.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) plan: FakeApp,
    pub(crate) pid: Option<u32>,
    pub(crate) answers: bool,
}

/// A scheduled event.
#[derive(Debug, Clone)]
pub(crate) enum Due {
    Run { behaviour: Behaviour, source: Option<ElementId>, window: WindowId },
    Open { app: usize, windows: Vec<FakeWindow> },
    Close { window: WindowId },
    Noise { element: ElementId, every_ms: u64, names: Vec<String>, index: usize },
    Ended { pid: u32, how: ProcessExit },
}

/// The whole state.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) now_ms: u64,
    next_id: u32,
    pub(crate) nodes: BTreeMap<ElementId, Node>,
    pub(crate) cell_ids: BTreeMap<(ElementId, CellRef), ElementId>,
    /// Where elements were listed, also of those that are gone.
    pub(crate) places: BTreeMap<ElementId, ElementTreePath>,
    /// Bottom-most first.
    pub(crate) windows: Vec<Shown>,
    pub(crate) active: Option<WindowId>,
    pub(crate) apps: Vec<App>,
    schedule: BTreeMap<(u64, u64), Due>,
    scheduled: u64,
    pub(crate) log: Vec<(usize, UiChange)>,
    pub(crate) damage: u64,
    pub(crate) clipboard: Option<String>,
    pub(crate) truth: Vec<Truth>,
    pub(crate) files: BTreeMap<String, String>,
    /// When each file was written.
    pub(crate) file_times: BTreeMap<String, u64>,
    /// Windows that marked unsaved changes.
    pub(crate) marking: BTreeSet<WindowId>,
    pub(crate) ended: BTreeMap<u32, Option<ProcessExit>>,
    pub(crate) gone: bool,
    pub(crate) screen: Size,
    pub(crate) inputs: u64,
}

impl Stage {
    /// The applications that can be started.
    pub(crate) fn installed(&self) -> Vec<InstalledApplication> {
        let named = |plan: &FakeApp, program: &String| InstalledApplication {
            id: program.clone(),
            name: plan.name.clone(),
            program: program.clone(),
            also: Vec::new(),
        };
        let plans = self.apps.iter().map(|app| &app.plan);
        plans.flat_map(|plan| plan.programs.iter().map(|program| named(plan, program))).collect()
    }

    pub(crate) fn new(screen: Size) -> Self {
        Self {
            now_ms: 0,
            next_id: 0,
            nodes: BTreeMap::new(),
            cell_ids: BTreeMap::new(),
            places: BTreeMap::new(),
            windows: Vec::new(),
            active: None,
            apps: Vec::new(),
            schedule: BTreeMap::new(),
            scheduled: 0,
            log: Vec::new(),
            damage: 0,
            clipboard: None,
            truth: Vec::new(),
            files: BTreeMap::new(),
            file_times: BTreeMap::new(),
            marking: BTreeSet::new(),
            ended: BTreeMap::new(),
            gone: false,
            screen,
            inputs: 0,
        }
    }

    pub(crate) fn fresh_id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id
    }

    pub(crate) fn window(&self, id: WindowId) -> Option<&Shown> {
        self.windows.iter().find(|window| window.id == id)
    }

    pub(crate) fn window_mut(&mut self, id: WindowId) -> Option<&mut Shown> {
        self.windows.iter_mut().find(|window| window.id == id)
    }

    pub(crate) fn note(&mut self, app: usize, change: UiChange) {
        self.log.push((app, change));
        self.damage += 1;
    }

    /// Records a change of an element.
    pub(crate) fn note_element(&mut self, id: ElementId, aspect: ElementChangeKind) {
        let app =
            self.nodes.get(&id).and_then(|node| self.window(node.window)).map_or(0, |window| window.app);
        self.note(app, UiChange::Element { aspect, element: Some(id) });
    }

    pub(crate) fn record(&mut self, element: Option<ElementId>, what: &'static str) {
        self.truth.push(Truth { at_ms: self.now_ms, element, what });
    }

    /// Opens a window of an application; the new one becomes active, unless it has no elements.
    pub(crate) fn open(&mut self, app: usize, plan: &FakeWindow, owner: Option<WindowId>) -> WindowId {
        let id = WindowId(self.fresh_id());
        let root = ElementId(self.fresh_id());
        let mut root_plan = FakeElement::new(plan.role.clone(), &plan.title);
        if plan.modal {
            root_plan = root_plan.state(State::Modal);
        }
        let node = Node {
            parent: None,
            window: id,
            plan: root_plan,
            children: Vec::new(),
            bounds: plan.bounds,
            open: true,
            marked: None,
            caret: None,
            cell: None,
        };
        self.nodes.insert(root, node);
        self.windows.push(Shown {
            id,
            app,
            plan: FakeWindow { elements: Vec::new(), ..plan.clone() },
            owner,
            root,
            focus: None,
            rows_used: 0,
            menu: None,
        });
        for element in &plan.elements {
            self.insert(id, root, element);
        }
        let focus = plan.focus.as_deref().and_then(|key| self.find_key(id, key));
        if let Some(window) = self.window_mut(id) {
            window.focus = focus;
        }
        for noise in &plan.noise {
            if let Some(element) = self.find_key(id, &noise.key) {
                let due = Due::Noise {
                    element,
                    every_ms: noise.every_ms.max(1),
                    names: noise.names.clone(),
                    index: 0,
                };
                self.schedule(noise.every_ms.max(1), due);
            }
        }
        if let Some(lives_ms) = plan.lives_ms {
            self.schedule(lives_ms, Due::Close { window: id });
        }
        if !plan.kind.is_popup() {
            self.active = Some(id);
        }
        self.note(app, UiChange::WindowOpened { title: plan.title.clone() });
        id
    }

    /// Adds an element with its descendants to a window.
    pub(crate) fn insert(&mut self, window: WindowId, parent: ElementId, plan: &FakeElement) -> ElementId {
        let id = ElementId(self.fresh_id());
        let bounds = self.place(window, plan.bounds);
        let node = Node {
            parent: Some(parent),
            window,
            plan: FakeElement { children: Vec::new(), ..plan.clone() },
            children: Vec::new(),
            bounds,
            open: false,
            marked: None,
            caret: None,
            cell: None,
        };
        self.nodes.insert(id, node);
        if let Some(parent) = self.nodes.get_mut(&parent) {
            parent.children.push(id);
        }
        for child in &plan.children {
            self.insert(window, id, child);
        }
        id
    }

    /// The bounds of an element: those of its plan, else the next free row.
    fn place(&mut self, window: WindowId, wanted: Option<Rect<Screen>>) -> Rect<Screen> {
        let Some(shown) = self.window_mut(window) else { return Rect::new(0, 0, 0, 0) };
        let frame = shown.plan.bounds;
        if let Some(wanted) = wanted {
            return Rect::new(frame.x + wanted.x, frame.y + wanted.y, wanted.width, wanted.height);
        }
        let rows = (frame.height / ROW_HEIGHT - 2).max(1);
        let (column, row) = (shown.rows_used / rows, shown.rows_used % rows);
        shown.rows_used += 1;
        Rect::new(
            frame.x + 10 + column * COLUMN_WIDTH,
            frame.y + 10 + row * ROW_HEIGHT,
            COLUMN_WIDTH - 20,
            ROW_HEIGHT - 4,
        )
    }

    /// Removes a window and those that belong to it.
    pub(crate) fn close(&mut self, id: WindowId) {
        let owned: Vec<WindowId> =
            self.windows.iter().filter(|window| window.owner == Some(id)).map(|window| window.id).collect();
        for window in owned {
            self.close(window);
        }
        let Some(at) = self.windows.iter().position(|window| window.id == id) else { return };
        let closed = self.windows.remove(at);
        self.nodes.retain(|_, node| node.window != id);
        let nodes = &self.nodes;
        self.cell_ids.retain(|_, cell| nodes.contains_key(cell));
        if self.active == Some(id) {
            let next = self.windows.iter().rev().find(|window| !window.plan.kind.is_popup());
            self.active = closed.owner.or_else(|| next.map(|window| window.id));
        }
        self.note(closed.app, UiChange::WindowClosed { title: closed.plan.title });
    }

    /// The element with this key in a window, or else in any window of its application.
    pub(crate) fn find_key(&self, window: WindowId, key: &str) -> Option<ElementId> {
        let app = self.window(window)?.app;
        let found = |wanted: &dyn Fn(&Node) -> bool| {
            self.nodes.iter().find(|(_, node)| node.plan.key == key && wanted(node)).map(|(id, _)| *id)
        };
        found(&|node| node.window == window)
            .or_else(|| found(&|node| self.window(node.window).is_some_and(|other| other.app == app)))
    }

    /// Returns `true` if an element is on the screen: inside no closed menu or combo box.
    pub(crate) fn is_showing(&self, id: ElementId) -> bool {
        const DEPTH_MAX: usize = 64;
        let Some(node) = self.nodes.get(&id) else { return false };
        if !node.plan.states.has(State::Visible) {
            return false;
        }
        let mut above = node.parent;
        for _ in 0..DEPTH_MAX {
            let Some(parent) = above.and_then(|parent| self.nodes.get(&parent)) else { return true };
            if (parent.folds() && !parent.open) || !parent.plan.states.has(State::Visible) {
                return false;
            }
            above = parent.parent;
        }
        false
    }

    pub(crate) fn is_within(&self, id: ElementId, ancestor: ElementId) -> bool {
        let mut at = Some(id);
        while let Some(here) = at {
            if here == ancestor {
                return true;
            }
            at = self.nodes.get(&here).and_then(|node| node.parent);
        }
        false
    }

    /// The top-most window at a point.
    pub(crate) fn window_at(&self, point: Point<Screen>) -> Option<WindowId> {
        self.windows.iter().rev().find(|window| window.plan.bounds.contains(&point)).map(|window| window.id)
    }

    /// The deepest showing element of a window at a point; the last one of several on top of each other.
    pub(crate) fn element_at(&self, window: WindowId, point: Point<Screen>) -> Option<ElementId> {
        self.nodes
            .iter()
            .rfind(|(id, node)| {
                node.window == window
                    && node.parent.is_some()
                    && node.cell.is_none()
                    && node.bounds.contains(&point)
                    && self.is_showing(**id)
            })
            .map(|(id, _)| *id)
            .or_else(|| self.window(window).map(|shown| shown.root))
    }

    /// The modal dialog that blocks a window, if any.
    pub(crate) fn blocked_by(&self, window: WindowId) -> Option<WindowId> {
        let app = self.window(window)?.app;
        let modal = self.windows.iter().rev().find(|other| other.app == app && other.plan.modal)?;
        (modal.id != window && self.window(window)?.owner != Some(modal.id)).then_some(modal.id)
    }

    pub(crate) fn window_infos(&self) -> Vec<WindowInfo> {
        let info = |window: &Shown| {
            let app = self.apps.get(window.app);
            WindowInfo {
                id: window.id,
                title: window.plan.title.clone(),
                app: AppInfo {
                    name: app.map(|app| app.plan.name.clone()).unwrap_or_default(),
                    root: app.map(|app| app.plan.root.clone()).unwrap_or_default(),
                    pid: app.and_then(|app| app.pid),
                },
                bounds: window.plan.bounds,
                kind: window.plan.kind,
                owner: window.owner,
                active: self.active == Some(window.id),
                accessible: window.plan.accessible,
                document: None,
                state: WindowState::default(),
                monitor: None,
            }
        };
        self.windows.iter().map(info).collect()
    }

    pub(crate) fn schedule(&mut self, in_ms: u64, due: Due) {
        self.scheduled += 1;
        self.schedule.insert((self.now_ms + in_ms, self.scheduled), due);
    }

    /// When the next event is due.
    pub(crate) fn next_due_ms(&self) -> Option<u64> {
        self.schedule.keys().next().map(|(at, _)| *at)
    }

    /// Takes the next event due no later than `until_ms`, and advances the clock to it.
    pub(crate) fn take_due(&mut self, until_ms: u64) -> Option<Due> {
        let entry = self.schedule.first_entry()?;
        let at = entry.key().0;
        if at > until_ms {
            return None;
        }
        let due = entry.remove();
        self.now_ms = self.now_ms.max(at);
        Some(due)
    }
}
