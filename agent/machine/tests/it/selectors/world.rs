//! Windows that drift: trees written as indented text, laid out like a real window, and changed by edits. An element keeps its id
//! through every edit, so that a test knows which one is meant.

use std::collections::BTreeMap;

use deskhand_ui::{
    AppInfo, Element, Role, State, States, Surface, Tree, ValueRange, WindowInfo, WindowKind, WindowView,
    geometry::Rect,
    ids::{ElementId, WindowId},
};

/// An element with its children.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    pub(crate) element: Element,
    pub(crate) children: Vec<Branch>,
}

/// A window with its dialogs.
#[derive(Debug, Clone)]
pub(crate) struct World {
    /// The roots: the window first.
    pub(crate) roots: Vec<Branch>,
    pub(crate) next: u32,
    /// How far the window stands from its recorded place, and how much larger everything is drawn, in percent.
    pub(crate) shift: i32,
    pub(crate) scale: i32,
}

impl Branch {
    fn visit(&self, seen: &mut dyn FnMut(&Self)) {
        seen(self);
        for child in &self.children {
            child.visit(seen);
        }
    }

    fn change(&mut self, change: &mut dyn FnMut(&mut Element)) {
        change(&mut self.element);
        for child in &mut self.children {
            child.change(change);
        }
    }

    /// The list of siblings that holds an element, and its place in it.
    fn siblings(&mut self, id: ElementId) -> Option<(&mut Vec<Self>, usize)> {
        if let Some(at) = self.children.iter().position(|child| child.element.id == id) {
            return Some((&mut self.children, at));
        }
        self.children.iter_mut().find_map(|child| child.siblings(id))
    }
}

/// Parts of a line: `role "name" = text ? help ~ 0..10 !flag`.
fn line(text: &str, id: u32) -> Element {
    let (head, flags) = text.split_once(" !").map_or((text, ""), |(head, flags)| (head, flags));
    let (head, range) = head.split_once(" ~ ").map_or((head, None), |(head, range)| (head, Some(range)));
    let (head, help) = head.split_once(" ? ").map_or((head, ""), |(head, help)| (head, help));
    let (head, content) = head.split_once(" = ").map_or((head, None), |(head, text)| (head, Some(text)));
    let (role, name) =
        head.split_once(" \"").map_or((head, ""), |(role, name)| (role, name.trim_end_matches('"')));
    let mut element = Element::new(ElementId(id), Role::new(role.trim().to_owned()), name);
    element.description = help.to_owned();
    element.text = content.map(str::to_owned);
    element.value = range.and_then(|range| range.split_once("..")).map(|(minimum, maximum)| ValueRange {
        current: 1.0,
        minimum: minimum.parse().unwrap(),
        maximum: maximum.parse().unwrap(),
        increment: 1.0,
    });
    element.states = [State::Enabled, State::Visible, State::Showing].into_iter().collect::<States>();
    for flag in flags.split(" !").filter(|flag| !flag.is_empty()) {
        match flag {
            "hidden" => element.states.remove(State::Showing),
            "disabled" => element.states.remove(State::Enabled),
            "modal" => element.states.insert(State::Modal),
            page => element.address = Some(page.to_owned()),
        }
    }
    element
}

impl World {
    /// Reads a tree; two spaces a level, each line that starts at the left a window.
    pub(crate) fn read(text: &str) -> Self {
        let mut world = Self { roots: Vec::new(), next: 1, shift: 0, scale: 100 };
        world.add(text);
        world
    }

    pub(crate) fn add(&mut self, text: &str) {
        for one in text.lines().filter(|one| !one.trim().is_empty()) {
            let depth = (one.len() - one.trim_start().len()) / 2;
            let branch = Branch { element: line(one.trim(), self.next), children: Vec::new() };
            self.next += 1;
            let mut list = &mut self.roots;
            for _ in 0..depth {
                list = &mut list.last_mut().expect("a parent").children;
            }
            list.push(branch);
        }
    }

    pub(crate) fn all(&self) -> Vec<Element> {
        let mut all = Vec::new();
        for root in &self.roots {
            root.visit(&mut |branch| all.push(branch.element.clone()));
        }
        all
    }

    /// The element that a text names: `"Save"`, `push button "Save"`, `push button "Save" 2`, `e7`, or a role alone.
    pub(crate) fn id(&self, text: &str) -> ElementId {
        let (head, nth) = match text.rsplit_once(' ') {
            Some((head, number)) if number.parse::<usize>().is_ok() => (head, number.parse().unwrap()),
            _ => (text, 1_usize),
        };
        let (role, name) = head
            .split_once('"')
            .map_or((head, None), |(role, name)| (role, Some(name.trim_end_matches('"'))));
        let fits = |element: &Element| {
            (role.trim().is_empty() || element.role.name() == role.trim())
                && name.is_none_or(|name| element.name == name)
        };
        let all = self.all();
        let found = all.iter().filter(|element| fits(element)).nth(nth - 1);
        found.unwrap_or_else(|| panic!("no {text}")).id
    }

    pub(crate) fn change(&mut self, id: ElementId, mut change: impl FnMut(&mut Element)) {
        self.change_all(|element| {
            if element.id == id {
                change(element);
            }
        });
    }

    pub(crate) fn change_all(&mut self, mut change: impl FnMut(&mut Element)) {
        for root in &mut self.roots {
            root.change(&mut change);
        }
    }

    pub(crate) fn remove(&mut self, id: ElementId) -> Option<Branch> {
        let (list, at) = self.roots.iter_mut().find_map(|root| root.siblings(id))?;
        Some(list.remove(at))
    }

    /// Puts a branch beside an element.
    pub(crate) fn put(&mut self, branch: Branch, beside: ElementId, after: bool) {
        let (list, at) = self.roots.iter_mut().find_map(|root| root.siblings(beside)).expect("a sibling");
        list.insert(at + usize::from(after), branch);
    }

    pub(crate) fn branch(&mut self, id: ElementId) -> Option<Branch> {
        self.roots.iter_mut().find_map(|root| root.siblings(id)).map(|(list, at)| list[at].clone())
    }

    /// What is moved, copied and removed with an element: a field goes with its label.
    pub(crate) fn unit(&self, id: ElementId) -> ElementId {
        let mut unit = id;
        for root in &self.roots {
            root.visit(&mut |branch| {
                let holds = branch.children.iter().any(|child| child.element.id == id);
                let labelled = branch.children.first().is_some_and(|first| first.element.role == Role::LABEL);
                if holds && labelled && branch.element.role == Role::FILLER {
                    unit = branch.element.id;
                }
            });
        }
        unit
    }

    /// The element that has the name of another one: its label, or itself.
    pub(crate) fn named_by(&self, id: ElementId) -> ElementId {
        let unit = self.unit(id);
        let mut label = id;
        for root in &self.roots {
            root.visit(&mut |branch| {
                if unit != id && branch.element.id == unit {
                    label = branch.children[0].element.id;
                }
            });
        }
        label
    }

    /// Moves an element beside another one, unless that is in it.
    pub(crate) fn relocate(&mut self, id: ElementId, beside: ElementId, after: bool) {
        let inside = self.branch(id).is_none_or(|branch| {
            let mut holds = false;
            branch.visit(&mut |one| holds |= one.element.id == beside);
            holds
        });
        if !inside && let Some(branch) = self.remove(id) {
            self.put(branch, beside, after);
        }
    }

    /// Exchanges the places of two elements of one container.
    pub(crate) fn swap(&mut self, one: ElementId, other: ElementId) {
        let Some((list, at)) = self.roots.iter_mut().find_map(|root| root.siblings(one)) else { return };
        if let Some(with) = list.iter().position(|branch| branch.element.id == other) {
            list.swap(at, with);
        }
    }

    /// Puts a copy with new ids beside an element; returns the ids of the copied root.
    pub(crate) fn copy(&mut self, id: ElementId, beside: ElementId) -> Option<ElementId> {
        let mut branch = self.branch(id)?;
        let next = &mut self.next;
        branch.change(&mut |element| {
            element.id = ElementId(*next);
            *next += 1;
        });
        let copied = branch.element.id;
        self.put(branch, beside, true);
        Some(copied)
    }

    pub(crate) fn translate(&mut self, words: &BTreeMap<String, String>) {
        self.change_all(|element| {
            for text in [&mut element.name, &mut element.description] {
                if let Some(word) = words.get(text.as_str()) {
                    text.clone_from(word);
                } else if !text.is_empty()
                    && !text.chars().any(|c| c.is_ascii_digit())
                    && text.chars().count() > 2
                {
                    // A word that no list knows.
                    *text = text.to_lowercase().chars().rev().chain("um".chars()).collect();
                }
            }
        });
    }

    pub(crate) fn view(&self) -> WindowView {
        let surfaces = self.roots.iter().enumerate().map(|(index, root)| self.surface(index, root)).collect();
        WindowView { surfaces, picture: None, notices: Vec::new() }
    }

    fn surface(&self, index: usize, root: &Branch) -> Surface {
        let mut elements = Vec::new();
        let origin = (self.shift, self.shift);
        let (width, height) = self.flatten(root, 0, origin, &mut elements);
        let id = WindowId(u32::try_from(index).unwrap() + 1);
        let window = WindowInfo {
            id,
            kind: if index == 0 { WindowKind::Normal } else { WindowKind::Dialog },
            title: root.element.name.clone(),
            app: AppInfo { name: "App".to_owned(), root: "app".to_owned(), pid: None },
            bounds: Rect::new(origin.0, origin.1, width.max(400), height.max(300)),
            owner: (index > 0).then_some(WindowId(1)),
            active: true,
            accessible: true,
            document: None,
            state: deskhand_ui::WindowState::default(),
            monitor: None,
        };
        Surface { window, tree: Tree { elements, partial: None } }
    }

    /// Lays out a branch: bars, rows and fillers from left to right, everything else from top to bottom.
    fn flatten(&self, branch: &Branch, depth: u16, at: (i32, i32), out: &mut Vec<Element>) -> (i32, i32) {
        const SIDEWAYS: &[&str] = &["tool bar", "menu bar", "table row", "filler", "page tab list"];
        let index = out.len();
        out.push(Element { depth, ..branch.element.clone() });
        let is_sideways = SIDEWAYS.contains(&branch.element.role.name());
        let fixed = branch.element.role.name() == "table row";
        let letters = i32::try_from(branch.element.name.chars().count()).unwrap();
        let (mut width, mut height) = ((20 + 8 * letters) * self.scale / 100, 24 * self.scale / 100);
        if branch.children.is_empty() && letters == 0 {
            width = 120;
        }
        let mut next = at;
        for child in &branch.children {
            let (wide, high) = self.flatten(child, depth + 1, next, out);
            if is_sideways {
                next.0 += if fixed { 150 } else { wide + 6 };
                height = height.max(high);
                width = width.max(next.0 - at.0);
            } else {
                next.1 += high + 6;
                width = width.max(wide);
                height = height.max(next.1 - at.1);
            }
        }
        out[index].bounds = Some(Rect::new(at.0, at.1, width, height));
        (width, height)
    }
}
