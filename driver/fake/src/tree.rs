//! The elements of the state, as an accessibility interface exposes them.

use deskhand_desktop::{DesktopError, DesktopResult, ElementAction, ElementChangeKind, TreeLimits};
use deskhand_ui::{
    CellRange, CellRef, Element, ElementCapability, ElementSource, IncompleteTreeCause, Role, State,
    TableContent, Tree,
    ids::{ElementId, WindowId},
};

use crate::{
    plan::{Behaviour, FakeElement, Semantic},
    stage::{Node, Stage},
};

/// The most cells that one read returns.
const CELLS_MAX: u64 = 20_000;

impl Stage {
    pub(crate) fn node(&self, id: ElementId) -> DesktopResult<&Node> {
        let node = self.nodes.get(&id).ok_or(DesktopError::NoElement(id))?;
        self.answering(node.window, "read an element")?;
        Ok(node)
    }

    fn answering(&self, window: WindowId, operation: &'static str) -> DesktopResult<()> {
        let shown = self.window(window).ok_or(DesktopError::NoWindow(window))?;
        match self.apps.get(shown.app) {
            Some(app) if !app.answers => Err(DesktopError::NotAnswering {
                operation,
                application: app.plan.name.clone(),
                limit_ms: 1_000,
            }),
            Some(_) | None => Ok(()),
        }
    }

    pub(crate) fn show_element(&self, id: ElementId, depth: u16) -> DesktopResult<Element> {
        let node = self.node(id)?;
        let mut states = node.plan.states;
        let showing = self.is_showing(id);
        if showing {
            states.insert(State::Showing);
        }
        let focus = self.window(node.window).and_then(|window| window.focus);
        if focus == Some(id) && self.active == Some(node.window) {
            states.insert(State::Focused);
        }
        let mut element = Element {
            id,
            depth,
            role: node.plan.role.clone(),
            name: node.plan.name.clone(),
            description: String::new(),
            text: node.plan.text.as_deref().map(cut),
            value: node.plan.value,
            states,
            bounds: showing.then_some(node.bounds),
            patterns: node.plan.patterns.clone(),
            child_count: u32::try_from(node.children.len()).unwrap_or(u32::MAX),
            table: None,
            address: None,
            told: None,
            source: ElementSource::AtSpi,
            instead_of: None,
        };
        if let Some(sheet) = &node.plan.sheet {
            element.table = Some(sheet.shape);
            let cells = u64::from(sheet.shape.rows) * u64::from(sheet.shape.columns);
            element.child_count = u32::try_from(cells).unwrap_or(i32::MAX.unsigned_abs());
        }
        if let (Some(cell), Some(table)) = (node.cell, node.parent.and_then(|id| self.nodes.get(&id)))
            && let Some(sheet) = &table.plan.sheet
        {
            element.text = Some(cut(&sheet.shown(cell)));
            element.bounds = sheet.cell_bounds(table.bounds, cell);
            if element.bounds.is_none() {
                element.states.remove(State::Showing);
            }
            if contains(sheet.selection, cell) {
                element.states.insert(State::Selected);
            }
            if sheet.cursor == cell && focus == node.parent && self.active == Some(node.window) {
                element.states.insert(State::Focused);
            }
        }
        Ok(element)
    }

    pub(crate) fn show_tree(&mut self, window: WindowId, limits: TreeLimits) -> DesktopResult<Tree> {
        let shown = self.window(window).ok_or(DesktopError::NoWindow(window))?;
        let (root, accessible) = (shown.root, shown.plan.accessible);
        if !accessible {
            return Ok(Tree::default());
        }
        if self.answering(window, "read a tree").is_err() {
            return Ok(Tree { elements: Vec::new(), partial: Some(IncompleteTreeCause::NotAnswering) });
        }
        let mut tree = Tree::default();
        let mut stack = vec![(root, 0_u16)];
        while let Some((id, depth)) = stack.pop() {
            if !self.is_showing(id) && self.nodes.get(&id).is_none_or(|node| node.cell.is_none()) {
                continue;
            }
            if tree.elements.len() >= limits.nodes_max {
                tree.partial = Some(IncompleteTreeCause::NodeLimit);
                break;
            }
            tree.elements.push(self.show_element(id, depth)?);
            let children = self.tree_children(id, limits);
            stack.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
        }
        self.places.extend(tree.places().into_iter().map(|(element, place)| (element.id, place)));
        Ok(tree)
    }

    /// The children that a tree lists: of a table only the visible cells that are not empty.
    fn tree_children(&mut self, id: ElementId, limits: TreeLimits) -> Vec<ElementId> {
        let Some(node) = self.nodes.get(&id) else { return Vec::new() };
        let Some(sheet) = &node.plan.sheet else { return node.children.clone() };
        if !limits.cells {
            return Vec::new();
        }
        let view = sheet.view();
        let cells: Vec<CellRef> = sheet
            .cells
            .keys()
            .copied()
            .filter(|cell| contains(view, *cell))
            .take(limits.children_max as usize)
            .collect();
        cells.into_iter().map(|cell| self.cell_id(id, cell)).collect()
    }

    /// The id of a cell, stable while its table exists.
    pub(crate) fn cell_id(&mut self, table: ElementId, cell: CellRef) -> ElementId {
        if let Some(id) = self.cell_ids.get(&(table, cell)) {
            return *id;
        }
        let id = ElementId(self.fresh_id());
        let (window, bounds) = self
            .nodes
            .get(&table)
            .map_or((WindowId(0), deskhand_ui::geometry::Rect::new(0, 0, 0, 0)), |node| {
                (node.window, node.bounds)
            });
        let mut plan = FakeElement::new(Role::TABLE_CELL, &cell.to_string());
        plan.patterns = vec![ElementCapability::Text];
        let node = Node {
            parent: Some(table),
            window,
            plan,
            children: Vec::new(),
            bounds,
            open: false,
            marked: None,
            caret: None,
            cell: Some(cell),
        };
        self.nodes.insert(id, node);
        self.cell_ids.insert((table, cell), id);
        id
    }

    pub(crate) fn show_cells(&self, table: ElementId, range: CellRange) -> DesktopResult<TableContent> {
        let node = self.node(table)?;
        let Some(sheet) = &node.plan.sheet else {
            return Err(not_offered("read cells", node, "a table"));
        };
        if !sheet.holds(range.last) {
            return Err(outside(range, sheet.shape));
        }
        if range.cell_count() > CELLS_MAX {
            return Err(DesktopError::failed(
                format!("read the cells {range}"),
                format!("{} cells exceed the limit of {CELLS_MAX}", range.cell_count()),
            ));
        }
        let row = |row| {
            (range.first.column..=range.last.column)
                .map(|column| sheet.shown(CellRef { row, column }))
                .collect()
        };
        Ok(TableContent { range, rows: (range.first.row..=range.last.row).map(row).collect() })
    }

    pub(crate) fn show_cell(&mut self, table: ElementId, cell: CellRef) -> DesktopResult<Element> {
        let node = self.node(table)?;
        let Some(sheet) = &node.plan.sheet else {
            return Err(not_offered("find a cell", node, "a table"));
        };
        if !sheet.holds(cell) {
            return Err(outside(CellRange { first: cell, last: cell }, sheet.shape));
        }
        let id = self.cell_id(table, cell);
        self.show_element(id, 0)
    }

    pub(crate) fn show_formula(&self, table: ElementId, cell: CellRef) -> DesktopResult<Option<String>> {
        let node = self.node(table)?;
        let Some(sheet) = &node.plan.sheet else {
            return Err(not_offered("read a formula", node, "a table"));
        };
        Ok(sheet.formula(cell))
    }

    pub(crate) fn read_text(&self, id: ElementId, max: usize) -> DesktopResult<String> {
        let node = self.node(id)?;
        let text = match (node.cell, node.parent.and_then(|parent| self.nodes.get(&parent))) {
            (Some(cell), Some(table)) => table.plan.sheet.as_ref().map(|sheet| sheet.shown(cell)),
            _ => node.plan.text.clone(),
        };
        let text = text.ok_or_else(|| not_offered("read the text", node, "text"))?;
        Ok(text.chars().take(max).collect())
    }

    pub(crate) fn act_on(&mut self, id: ElementId, action: &ElementAction) -> DesktopResult<()> {
        let node = self.node(id)?;
        match action {
            ElementAction::Default | ElementAction::Named(_) => self.act_semantically(id, action),
            ElementAction::Focus => self.take_focus(id),
            ElementAction::ScrollIntoView => Ok(()),
            ElementAction::SelectText { start, end } => {
                let length = node.plan.text.as_ref().map(|text| text.chars().count());
                if !node.plan.tells_caret || length.is_none_or(|length| *end > length) {
                    return Err(not_offered("select text", node, "a selection of text"));
                }
                self.mark_text(id, (*start, *end));
                Ok(())
            }
            ElementAction::SetText(text) => {
                if !node.plan.patterns.contains(&ElementCapability::EditableText) {
                    return Err(not_offered("set the text", node, "editable text"));
                }
                self.set_text(id, text);
                Ok(())
            }
            ElementAction::SetValue(value) | ElementAction::MoveBar(value) => {
                if node.plan.value.is_none() {
                    return Err(not_offered("set the value", node, "a value"));
                }
                self.set_value(id, *value);
                Ok(())
            }
            ElementAction::Select => {
                if !node.plan.states.has(State::Selectable) {
                    return Err(not_offered("select", node, "selection"));
                }
                if node.plan.semantic == Semantic::Works && node.plan.states.takes_input() {
                    let (behaviour, window) = (node.plan.on_click.clone(), node.window);
                    self.run(&behaviour, Some(id), window);
                }
                Ok(())
            }
        }
    }

    fn act_semantically(&mut self, id: ElementId, action: &ElementAction) -> DesktopResult<()> {
        let node = self.node(id)?;
        if let ElementAction::Named(name) = action
            && name != "click"
        {
            return Err(not_offered("act", node, &format!("the action `{name}`")));
        }
        if !node.plan.patterns.contains(&ElementCapability::Action) {
            return Err(not_offered("act", node, "an action"));
        }
        match node.plan.semantic {
            Semantic::Works => {
                self.activate_element(id);
                Ok(())
            }
            Semantic::Ignored => Ok(()),
            Semantic::Fails => Err(DesktopError::failed("act", "the application refused")),
            Semantic::NotOffered => Err(not_offered("act", node, "an action")),
        }
    }

    fn take_focus(&mut self, id: ElementId) -> DesktopResult<()> {
        let node = self.node(id)?;
        if let (Some(cell), Some(table)) = (node.cell, node.parent) {
            let takes = self
                .nodes
                .get(&table)
                .and_then(|node| node.plan.sheet.as_ref())
                .is_some_and(|sheet| sheet.cells_take_focus);
            if takes {
                self.focus(table);
                self.move_cursor(table, CellRange { first: cell, last: cell });
            }
            return Ok(());
        }
        if !node.plan.states.has(State::Focusable) {
            return Err(not_offered("focus", node, "the focus"));
        }
        let window = node.window;
        self.active = Some(window);
        self.focus(id);
        Ok(())
    }

    fn set_text(&mut self, id: ElementId, text: &str) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        if !node.plan.states.takes_input() || node.plan.semantic != Semantic::Works {
            return;
        }
        node.plan.text = Some(text.to_owned());
        (node.marked, node.caret) = (None, None);
        self.note_element(id, ElementChangeKind::Text);
        self.record(Some(id), "text");
    }

    fn set_value(&mut self, id: ElementId, value: f64) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        if !node.plan.states.takes_input() || node.plan.semantic != Semantic::Works {
            return;
        }
        let behaviour = node.plan.on_click.clone();
        let window = node.window;
        if let Some(range) = &mut node.plan.value {
            range.current = value.clamp(range.minimum, range.maximum);
        }
        self.note_element(id, ElementChangeKind::Value);
        self.record(Some(id), "value");
        if !matches!(behaviour, Behaviour::Nothing) {
            self.run(&behaviour, Some(id), window);
        }
    }
}

pub(crate) const fn contains(range: CellRange, cell: CellRef) -> bool {
    cell.row >= range.first.row
        && cell.row <= range.last.row
        && cell.column >= range.first.column
        && cell.column <= range.last.column
}

fn cut(text: &str) -> String {
    text.chars().take(Element::TEXT_MAX).collect()
}

pub(crate) fn not_offered(operation: &'static str, node: &Node, needs: &str) -> DesktopError {
    let name = &node.plan.name;
    let element =
        if name.is_empty() { node.plan.role.to_string() } else { format!("{} \"{name}\"", node.plan.role) };
    DesktopError::NotOffered { operation, element, needs: needs.to_owned() }
}

fn outside(range: CellRange, shape: deskhand_ui::TableShape) -> DesktopError {
    DesktopError::failed(
        format!("find the cells {range}"),
        format!("the table has {} rows and {} columns", shape.rows, shape.columns),
    )
}
