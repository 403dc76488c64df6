//! The effects of clicks, actions and due events on the state.

use deskhand_desktop::{Button, ElementChangeKind, PointerChord, UiChange};
use deskhand_ui::{
    CellRange, Role, State, WindowKind,
    geometry::{Point, Rect, Screen},
    ids::{ElementId, WindowId},
};

use crate::{
    plan::{Behaviour, FakeWindow},
    stage::{Due, Stage},
};

impl Stage {
    /// Processes what is due until `until_ms`, one event at a time; returns whether there was one.
    pub(crate) fn advance(&mut self, until_ms: u64) -> bool {
        let Some(due) = self.take_due(until_ms) else {
            self.now_ms = self.now_ms.max(until_ms);
            return false;
        };
        match due {
            Due::Run { behaviour, source, window } => {
                if self.window(window).is_some() {
                    self.run(&behaviour, source, window);
                }
            }
            Due::Open { app, windows } => {
                for window in &windows {
                    self.open(app, window, None);
                }
            }
            Due::Close { window } => self.close(window),
            Due::Noise { element, every_ms, names, index } => {
                if let Some(node) = self.nodes.get_mut(&element) {
                    if let Some(name) = names.get(index % names.len().max(1)) {
                        node.plan.name.clone_from(name);
                    }
                    self.note_element(element, ElementChangeKind::Name);
                    self.schedule(every_ms, Due::Noise { element, every_ms, names, index: index + 1 });
                }
            }
            Due::Ended { pid, how } => {
                self.ended.insert(pid, Some(how));
            }
        }
        true
    }

    /// Runs a behaviour of a control (or of a chord, which has no source).
    pub(crate) fn run(&mut self, behaviour: &Behaviour, source: Option<ElementId>, window: WindowId) {
        let target = |stage: &Self, key: &Option<String>| match key {
            Some(key) => stage.find_key(window, key),
            None => source,
        };
        match behaviour {
            Behaviour::Nothing => {}
            Behaviour::Toggle => self.toggle(source),
            Behaviour::Select => {
                if let Some(id) = source {
                    self.select(id);
                }
            }
            Behaviour::Open(plan) => self.open_from(plan, source, window),
            Behaviour::CloseWindow => {
                self.close(window);
                self.record(source, "closed");
            }
            Behaviour::CloseOwner => {
                let owner = self.window(window).and_then(|shown| shown.owner);
                self.close(owner.unwrap_or(window));
                self.record(source, "closed");
            }
            Behaviour::Rename { key, name } => {
                let id = target(self, key);
                if let Some(node) = id.and_then(|id| self.nodes.get_mut(&id)) {
                    node.plan.name.clone_from(name);
                }
                self.changed(id, source, ElementChangeKind::Name, "renamed");
            }
            Behaviour::SetText { key, text } => {
                let id = self.find_key(window, key);
                if let Some(node) = id.and_then(|id| self.nodes.get_mut(&id)) {
                    node.plan.text = Some(text.clone());
                }
                self.changed(id, source, ElementChangeKind::Text, "text");
            }
            Behaviour::Enable { key, enabled } => {
                let id = target(self, key);
                self.enable(id, *enabled);
                self.changed(id, source, ElementChangeKind::State(State::Sensitive), "enabled");
            }
            Behaviour::Remove { key } => {
                if let Some(id) = target(self, key) {
                    self.remove(id);
                    self.record(source, "removed");
                }
            }
            Behaviour::Add(plan) => {
                if let Some(root) = self.window(window).map(|shown| shown.root) {
                    self.insert(window, root, plan);
                    self.note_element(root, ElementChangeKind::Children);
                    self.record(source, "added");
                }
            }
            Behaviour::Title(title) => self.retitle(window, title, source),
            Behaviour::GoToCell { sheet } => self.go_to_named_cell(source, window, sheet),
            Behaviour::Save { entry, title } => self.save(entry, title, source, window),
            Behaviour::WriteFile { path, content } => self.write_file(path.clone(), content.clone()),
            Behaviour::After(milliseconds, then) => {
                self.schedule(*milliseconds, Due::Run { behaviour: (**then).clone(), source, window });
            }
            Behaviour::All(several) => {
                for one in several {
                    self.run(one, source, window);
                }
            }
        }
    }

    fn changed(
        &mut self,
        id: Option<ElementId>,
        source: Option<ElementId>,
        aspect: ElementChangeKind,
        what: &'static str,
    ) {
        if let Some(id) = id {
            self.note_element(id, aspect);
            self.record(source, what);
        }
    }

    fn enable(&mut self, id: Option<ElementId>, enabled: bool) {
        let Some(node) = id.and_then(|id| self.nodes.get_mut(&id)) else { return };
        for state in [State::Enabled, State::Sensitive] {
            if enabled {
                node.plan.states.insert(state);
            } else {
                node.plan.states.remove(state);
            }
        }
    }

    fn toggle(&mut self, source: Option<ElementId>) {
        if let Some(node) = source.and_then(|id| self.nodes.get_mut(&id)) {
            if node.plan.states.has(State::Checked) {
                node.plan.states.remove(State::Checked);
            } else {
                node.plan.states.insert(State::Checked);
            }
        }
        self.changed(source, source, ElementChangeKind::State(State::Checked), "toggled");
    }

    fn open_from(&mut self, plan: &FakeWindow, source: Option<ElementId>, window: WindowId) {
        let app = self.window(window).map_or(0, |shown| shown.app);
        let owner = (plan.kind != WindowKind::Normal).then_some(window);
        self.open(app, plan, owner);
        self.record(source, "opened");
    }

    pub(crate) fn remove(&mut self, id: ElementId) {
        let Some(node) = self.nodes.remove(&id) else { return };
        for child in node.children {
            self.remove(child);
        }
        if let Some(parent) = node.parent.and_then(|parent| self.nodes.get_mut(&parent)) {
            parent.children.retain(|child| *child != id);
        }
        if let Some(parent) = node.parent.filter(|parent| self.nodes.contains_key(parent)) {
            self.note_element(parent, ElementChangeKind::Children);
        }
    }

    fn retitle(&mut self, window: WindowId, title: &str, source: Option<ElementId>) {
        let main = self.window(window).and_then(|shown| shown.owner).unwrap_or(window);
        let Some(shown) = self.window_mut(main) else { return };
        title.clone_into(&mut shown.plan.title);
        let (app, root) = (shown.app, shown.root);
        if let Some(node) = self.nodes.get_mut(&root) {
            title.clone_into(&mut node.plan.name);
        }
        self.note(app, UiChange::TitleChanged { title: title.to_owned() });
        self.record(source, "title");
    }

    fn go_to_named_cell(&mut self, source: Option<ElementId>, window: WindowId, sheet: &str) {
        let text = source.and_then(|id| self.nodes.get(&id)).and_then(|node| node.plan.text.clone());
        let Some(range) = text.and_then(|text| text.parse::<CellRange>().ok()) else { return };
        let Some(table) = self.find_key(window, sheet) else { return };
        if self.move_cursor(table, range) {
            self.focus(table);
            self.record(source, "cursor");
        }
    }

    /// Moves the cursor of a table and updates the window's name box.
    pub(crate) fn move_cursor(&mut self, table: ElementId, range: CellRange) -> bool {
        let Some(node) = self.nodes.get_mut(&table) else { return false };
        let window = node.window;
        let Some(sheet) = &mut node.plan.sheet else { return false };
        if !sheet.go_to(range) {
            return false;
        }
        self.note_element(table, ElementChangeKind::Selection);
        self.show_cursor(window, range);
        true
    }

    pub(crate) fn show_cursor(&mut self, window: WindowId, range: CellRange) {
        if let Some(name_box) = self.find_key(window, "name box") {
            if let Some(node) = self.nodes.get_mut(&name_box) {
                node.plan.text = Some(range.to_string());
            }
            self.note_element(name_box, ElementChangeKind::Text);
        }
    }

    fn save(&mut self, entry: &str, title: &str, source: Option<ElementId>, window: WindowId) {
        let path = self
            .find_key(window, entry)
            .and_then(|id| self.nodes.get(&id))
            .and_then(|node| node.plan.text.clone())
            .unwrap_or_default();
        let Some(owner) = self.window(window).and_then(|shown| shown.owner) else { return };
        if path.is_empty() {
            return;
        }
        let lines: Vec<String> = self
            .nodes
            .values()
            .filter(|node| node.window == owner)
            .filter_map(|node| node.plan.sheet.as_ref())
            .map(super::sheet::FakeSheet::to_lines)
            .collect();
        let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
        self.write_file(path, lines.join("\n\n"));
        self.close(window);
        self.retitle(owner, &title.replace("{file}", &name), source);
        self.record(source, "saved");
    }

    fn write_file(&mut self, path: String, content: String) {
        // A file that was there from the start has the time 0.
        self.file_times.insert(path.clone(), self.now_ms + 1);
        self.files.insert(path, content);
        self.damage += 1;
    }

    /// Focuses an element in its window.
    pub(crate) fn focus(&mut self, id: ElementId) {
        let Some(node) = self.nodes.get(&id) else { return };
        if !node.plan.states.has(State::Focusable) {
            return;
        }
        let window = node.window;
        let Some(shown) = self.window_mut(window) else { return };
        if shown.focus != Some(id) {
            shown.focus = Some(id);
            let app = shown.app;
            self.note(app, UiChange::Element { aspect: ElementChangeKind::Focus, element: Some(id) });
        }
    }

    /// Selects an item among its siblings, and shows it in its combo box.
    pub(crate) fn select(&mut self, id: ElementId) {
        let Some((parent, name)) = self.nodes.get(&id).map(|node| (node.parent, node.plan.name.clone()))
        else {
            return;
        };
        let siblings = parent
            .and_then(|parent| self.nodes.get(&parent))
            .map(|node| node.children.clone())
            .unwrap_or_default();
        for sibling in siblings {
            if let Some(node) = self.nodes.get_mut(&sibling) {
                node.plan.states.remove(State::Selected);
            }
        }
        if let Some(node) = self.nodes.get_mut(&id) {
            node.plan.states.insert(State::Selected);
        }
        if let Some(parent) = parent {
            if let Some(node) = self.nodes.get_mut(&parent).filter(|node| node.plan.role == Role::COMBO_BOX) {
                node.plan.name = name;
                node.open = false;
            }
            self.note_element(parent, ElementChangeKind::Selection);
        }
        self.note_element(id, ElementChangeKind::State(State::Selected));
        self.record(Some(id), "selected");
    }

    /// The effect of a click, or of an accessibility action that works, on an element.
    pub(crate) fn activate_element(&mut self, id: ElementId) {
        let Some(node) = self.nodes.get(&id) else { return };
        if !node.plan.states.takes_input() {
            return;
        }
        let (window, behaviour) = (node.window, node.plan.on_click.clone());
        if node.folds() {
            let open = !node.open;
            self.fold(id, open);
            return;
        }
        let is_item =
            [Role::MENU_ITEM, Role::CHECK_MENU_ITEM, Role::RADIO_MENU_ITEM].contains(&node.plan.role);
        if is_item {
            self.close_menus(window);
        }
        self.run(&behaviour, Some(id), window);
    }

    /// Opens or closes a menu or combo box; an open one has a window of its own, as in X11.
    pub(crate) fn fold(&mut self, id: ElementId, open: bool) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        if node.open == open {
            return;
        }
        node.open = open;
        let (window, children) = (node.window, node.children.clone());
        let app = self.window(window).map_or(0, |shown| shown.app);
        if open {
            let area = children
                .iter()
                .filter_map(|child| self.nodes.get(child))
                .map(|node| node.bounds)
                .reduce(|a, b| {
                    let (x, y) = (a.x.min(b.x), a.y.min(b.y));
                    Rect::new(x, y, a.right().max(b.right()) - x, a.bottom().max(b.bottom()) - y)
                })
                .unwrap_or(Rect::new(0, 0, 0, 0));
            let plan = FakeWindow {
                kind: WindowKind::Popup,
                accessible: false,
                bounds: area,
                ..FakeWindow::normal("")
            };
            let popup = self.open(app, &plan, Some(window));
            if let Some(shown) = self.window_mut(popup) {
                shown.menu = Some(id);
            }
            self.record(Some(id), "unfolded");
        } else {
            for child in children {
                self.fold(child, false);
            }
            if let Some(popup) =
                self.windows.iter().find(|shown| shown.menu == Some(id)).map(|shown| shown.id)
            {
                self.close(popup);
            }
            self.record(Some(id), "folded");
        }
        self.note_element(id, ElementChangeKind::State(State::Showing));
    }

    pub(crate) fn close_menus(&mut self, window: WindowId) {
        let open: Vec<ElementId> = self
            .windows
            .iter()
            .filter(|shown| shown.owner == Some(window))
            .filter_map(|shown| shown.menu)
            .collect();
        for menu in open {
            self.fold(menu, false);
        }
    }

    /// A real click.
    pub(crate) fn click_at(&mut self, point: Point<Screen>, held: &PointerChord, count: u8) {
        self.inputs += 1;
        let Some(mut window) = self.window_at(point) else { return };
        if let Some(menu) = self.window(window).and_then(|shown| shown.menu) {
            window = self.nodes.get(&menu).map_or(window, |node| node.window);
        }
        if self.blocked_by(window).is_some() {
            return;
        }
        self.active = Some(window);
        let Some(id) = self.element_at(window, point) else { return };
        let Some(node) = self.nodes.get(&id) else { return };
        if let Some(kind) = node.plan.tool_tip {
            let app = self.window(window).map_or(0, |shown| shown.app);
            let tip = FakeWindow {
                kind,
                // Where the window says that it is one, the element need not.
                role: Role::new(if kind == WindowKind::Tooltip { "window" } else { "tool tip" }),
                lives_ms: Some(3_000),
                ..FakeWindow::normal("").at(point.x, point.y + 20, 80, 20)
            };
            self.open(app, &tip, Some(window));
        }
        self.damage += 1;
        let Some(node) = self.nodes.get(&id) else { return };
        if node.plan.deaf || !node.plan.states.takes_input() {
            return;
        }
        let (table, is_text) = (node.plan.sheet.is_some(), node.plan.text.is_some());
        if table {
            let bounds = node.bounds;
            if let Some(cell) = node.plan.sheet.as_ref().map(|sheet| sheet.cell_at(bounds, point.x, point.y))
            {
                self.move_cursor(id, CellRange { first: cell, last: cell });
            }
        }
        self.focus(id);
        if is_text
            && count > 1
            && let Some(node) = self.nodes.get_mut(&id)
        {
            let length = node.plan.text.as_ref().map_or(0, |text| text.chars().count());
            node.marked = (length > 0).then_some((0, length));
        }
        if held.button == Button::Left && !table {
            for _ in 0..count {
                self.activate_element(id);
            }
        }
    }

    /// A real drag: it moves the thumb of a slider, and selects cells of a table.
    pub(crate) fn drag(&mut self, from: Point<Screen>, to: Point<Screen>, held: &PointerChord) {
        self.click_at(from, held, 1);
        let Some(window) = self.window_at(from).filter(|window| self.blocked_by(*window).is_none()) else {
            return;
        };
        let Some(id) = self.element_at(window, from) else { return };
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let bounds = node.bounds;
        if let Some(sheet) = &node.plan.sheet {
            let (first, last) = (sheet.cell_at(bounds, from.x, from.y), sheet.cell_at(bounds, to.x, to.y));
            if last.row >= first.row && last.column >= first.column {
                self.move_cursor(id, CellRange { first, last });
            }
        } else if let Some(value) = &mut node.plan.value {
            let share = f64::from((to.x - bounds.x).clamp(0, bounds.width)) / f64::from(bounds.width.max(1));
            value.current = value.minimum + share * (value.maximum - value.minimum);
            self.changed(Some(id), Some(id), ElementChangeKind::Value, "value");
        }
    }

    /// Turns the wheel: a table shows other rows, a control with a value changes by its increment.
    pub(crate) fn turn_wheel(&mut self, at: Point<Screen>, right: i32, down: i32) {
        self.inputs += 1;
        let Some(window) = self.window_at(at).filter(|window| self.blocked_by(*window).is_none()) else {
            return;
        };
        let Some(id) = self.element_at(window, at) else { return };
        let Some(node) = self.nodes.get_mut(&id) else { return };
        if let Some(sheet) = &mut node.plan.sheet {
            if sheet.scroll(i64::from(down) * 3, i64::from(right) * 3) {
                self.changed(Some(id), Some(id), ElementChangeKind::Viewport, "scrolled");
            }
        } else if let Some(value) = &mut node.plan.value {
            let wanted = value.current - f64::from(down) * value.increment;
            value.current = wanted.clamp(value.minimum, value.maximum);
            self.changed(Some(id), Some(id), ElementChangeKind::Value, "value");
        }
    }
}
