//! One window as selectors see it: which elements can be seen, what they are called, and what stands around them.

use super::{data::SelectorAnchor, naming::is_volatile};
use deskhand_ui::{
    Element, LabelCandidate, Role, State, Surface, fold_name, ids::ElementId, is_part_of_control,
    is_sentence, label_beside,
};

/// A side in reading order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NeighbourSide {
    Before,
    After,
}

/// An element and its place in the tree.
#[derive(Debug)]
pub(super) struct SceneNode<'a> {
    pub(super) element: &'a Element,
    pub(super) parent: Option<usize>,
    /// The first index after its descendants.
    pub(super) end: usize,
    /// Name that people use for it: its name, else the names of its parts.
    pub(super) called: String,
    /// That in the form in which names are compared.
    pub(super) folded: String,
    /// The label beside it, if it has no name.
    pub(super) label: Option<String>,
    /// `true` if a person sees it and can reach it.
    pub(super) is_shown: bool,
    /// `true` if it is a row, a cell or an item, or in one.
    pub(super) in_row: bool,
    /// `true` if other elements are recognised by its name.
    pub(super) is_anchor: bool,
}

/// A window, dialog or pop-up with its elements.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    pub(super) surface: &'a Surface,
    pub(super) nodes: Vec<SceneNode<'a>>,
}

impl<'a> Scene<'a> {
    pub(super) fn new(surface: &'a Surface) -> Self {
        let elements = &surface.tree.elements;
        let mut nodes: Vec<SceneNode<'a>> = Vec::with_capacity(elements.len());
        let mut open: Vec<usize> = Vec::new();
        let depth_of = |at: usize| elements.get(at).map_or(0, |element| element.depth);
        for (at, element) in elements.iter().enumerate() {
            while open.last().is_some_and(|above| depth_of(*above) >= element.depth) {
                close(&mut nodes, open.pop(), at);
            }
            let parent = open.last().copied();
            let above_in_row = parent.and_then(|parent| nodes.get(parent)).is_some_and(|node| node.in_row);
            nodes.push(SceneNode {
                element,
                parent,
                end: at + 1,
                called: String::new(),
                folded: String::new(),
                label: None,
                is_shown: is_seen(element),
                in_row: above_in_row || element.role.is_row_or_cell(),
                is_anchor: false,
            });
            open.push(at);
        }
        while let Some(last) = open.pop() {
            close(&mut nodes, Some(last), elements.len());
        }
        let mut scene = Self { surface, nodes };
        scene.hide_blocked();
        scene.name_all();
        scene
    }

    pub(super) fn node(&self, at: usize) -> Option<&SceneNode<'a>> {
        self.nodes.get(at)
    }

    pub(super) fn position(&self, id: ElementId) -> Option<usize> {
        self.nodes.iter().position(|node| node.element.id == id)
    }

    /// The nodes that a person sees, with their indices.
    pub(super) fn shown(&self) -> impl Iterator<Item = (usize, &SceneNode<'a>)> {
        self.nodes.iter().enumerate().filter(|(_, node)| node.is_shown)
    }

    /// The indices of the ancestors, nearest first.
    pub(super) fn ancestors(&self, at: usize) -> impl Iterator<Item = usize> {
        let mut next = self.nodes.get(at).and_then(|node| node.parent);
        std::iter::from_fn(move || {
            let now = next?;
            next = self.nodes.get(now).and_then(|node| node.parent);
            Some(now)
        })
    }

    /// The nodes below one, with their indices.
    pub(super) fn below(&self, at: usize) -> impl Iterator<Item = (usize, &SceneNode<'a>)> {
        let end = self.nodes.get(at).map_or(at, |node| node.end);
        self.nodes.iter().enumerate().take(end).skip(at + 1)
    }

    /// An element with the text that it is called by: its name, else the label beside it.
    pub(super) fn anchor(&self, at: usize) -> Option<SelectorAnchor> {
        let node = self.nodes.get(at)?;
        let name =
            if node.called.is_empty() { node.label.clone().unwrap_or_default() } else { node.called.clone() };
        Some(SelectorAnchor { role: node.element.role.clone(), name })
    }

    /// The nearest named elements on one side, without its own containers, parts and label.
    pub(super) fn neighbours(&self, at: usize, side: NeighbourSide, max: usize) -> Vec<SelectorAnchor> {
        let Some(own) = self.nodes.get(at) else { return Vec::new() };
        let label = own.label.as_deref().map(fold_name);
        let is_one = |index: &usize| {
            let Some(node) = self.nodes.get(*index) else { return false };
            let is_around = node.end > at && *index <= at;
            let is_part = (at..own.end).contains(index);
            let is_label = node.element.role.is_caption()
                && (label.as_ref() == Some(&node.folded) || node.folded == own.folded);
            node.is_anchor && !is_around && !is_part && !is_label
        };
        let mut indices: Box<dyn Iterator<Item = usize>> = match side {
            NeighbourSide::Before => Box::new((0..at).rev()),
            NeighbourSide::After => Box::new(own.end..self.nodes.len()),
        };
        indices.by_ref().filter(is_one).filter_map(|index| self.anchor(index)).take(max).collect()
    }

    /// The nearest container that holds other controls, too.
    pub(super) fn container(&self, at: usize) -> Option<usize> {
        let holds_others = |above: &usize| {
            let others = self.below(*above).filter(|(index, node)| {
                let is_related = self.nodes.get(at).is_some_and(|own| (at..own.end).contains(index))
                    || self.ancestors(at).any(|ancestor| ancestor == *index);
                node.is_shown && node.element.role.is_interactive() && !is_related
            });
            others.count() > 0
        };
        self.ancestors(at).find(holds_others).or_else(|| self.ancestors(at).last())
    }

    /// Which of the controls of its role in its container it is, from 1, and how many there are.
    pub(super) fn order(&self, at: usize) -> Option<(u32, u32)> {
        let own = self.nodes.get(at)?;
        if own.element.role.is_row_or_cell() {
            return None;
        }
        let (mut nth, mut of) = (0_u32, 0_u32);
        for (index, node) in self.below(self.container(at)?) {
            if node.is_shown && node.element.role == own.element.role {
                of = of.saturating_add(1);
                nth = nth.saturating_add(u32::from(index <= at));
            }
        }
        (of > 0).then_some((nth, of))
    }

    /// Hides what is behind a modal part of the window.
    fn hide_blocked(&mut self) {
        let is_modal = |(at, node): &(usize, &SceneNode<'a>)| {
            *at > 0 && node.is_shown && node.element.states.has(State::Modal)
        };
        let modal = self.nodes.iter().enumerate().rfind(is_modal).map(|(at, node)| at..node.end);
        if let Some(inside) = modal {
            for (at, node) in self.nodes.iter_mut().enumerate() {
                node.is_shown &= inside.contains(&at);
            }
        }
    }

    fn name_all(&mut self) {
        let names: Vec<String> = (0..self.nodes.len()).map(|at| self.name_of(at)).collect();
        for (node, name) in self.nodes.iter_mut().zip(names) {
            node.folded = fold_name(&name);
            node.called = name;
        }
        let labels = self.labels();
        for (node, label) in self.nodes.iter_mut().zip(labels) {
            if label.is_some() {
                // The name of a list to choose from is what is chosen.
                (node.called, node.folded) = (String::new(), String::new());
            }
            node.label = label;
        }
        let fields: Vec<String> = self
            .shown()
            .filter(|(_, node)| node.element.role.is_field())
            .map(|(_, node)| node.label.as_deref().map_or_else(|| node.folded.clone(), fold_name))
            .filter(|name| !name.is_empty())
            .collect();
        let anchors: Vec<bool> = (0..self.nodes.len()).map(|at| self.can_be_anchor(at, &fields)).collect();
        for (node, is_anchor) in self.nodes.iter_mut().zip(anchors) {
            node.is_anchor = is_anchor;
        }
    }

    /// The text of the label beside each node.
    fn labels(&self) -> Vec<Option<String>> {
        let in_control = |at: usize, inner: &Element| {
            let mut above = self.ancestors(at).filter_map(|above| self.nodes.get(above));
            above.any(|above| is_part_of_control(above.element, inner))
        };
        let parts: Vec<LabelCandidate<'_>> = self
            .nodes
            .iter()
            .enumerate()
            .map(|(at, node)| LabelCandidate {
                element: node.element,
                called: &node.called,
                is_shown: node.is_shown,
                in_control: in_control(at, node.element),
            })
            .collect();
        let called = |at: usize| self.nodes.get(label_beside(&parts, at)?).map(|label| label.called.clone());
        (0..parts.len()).map(called).collect()
    }

    fn name_of(&self, at: usize) -> String {
        let Some(node) = self.nodes.get(at) else { return String::new() };
        let element = node.element;
        if !element.name.trim().is_empty() {
            return element.name.trim().to_owned();
        }
        if element.is_named_by_parts() {
            let parts = self.below(at).take(Element::PARTS_MAX).map(|(_, part)| part.element.name.trim());
            let joined = parts.filter(|name| !name.is_empty()).collect::<Vec<_>>().join(" ");
            if !joined.is_empty() {
                return joined;
            }
        }
        let shows_text = element.role.is_caption() || element.role.is_row_or_cell();
        element
            .text
            .as_deref()
            .filter(|_| shows_text)
            .map(|text| text.replace('\u{fffc}', "").trim().to_owned())
            .unwrap_or_default()
    }

    fn can_be_anchor(&self, at: usize, fields: &[String]) -> bool {
        let Some(node) = self.nodes.get(at) else { return false };
        let role = &node.element.role;
        let name = node.label.as_deref().unwrap_or(&node.called);
        let is_kind = role.is_caption() || role.is_interactive() && !role.name().starts_with("document");
        let is_part = self.ancestors(at).take(2).any(|above| {
            self.nodes
                .get(above)
                .is_some_and(|above| above.element.role.is_interactive() && above.folded == node.folded)
        });
        let names_field = role.is_caption() && fields.contains(&node.folded);
        let is_notice = role.is_caption() && is_sentence(name);
        node.is_shown
            && !is_notice
            && !node.in_row
            && is_kind
            && !name.is_empty()
            && !is_volatile(name)
            && !is_part
            && !names_field
    }
}

fn close(nodes: &mut [SceneNode<'_>], at: Option<usize>, end: usize) {
    if let Some(node) = at.and_then(|at| nodes.get_mut(at)) {
        node.end = end;
    }
}

/// Returns `true` if it is drawn: not hidden, and larger than the one pixel of a text for screen readers.
fn is_seen(element: &Element) -> bool {
    let has_size = element.bounds.is_none_or(|bounds| bounds.width > 1 && bounds.height > 1);
    let is_gone = element.states.has(State::Defunct);
    (element.states.has(State::Showing) || !element.source.is_tree()) && has_size && !is_gone
}

/// Returns `true` if a role is that of a page or a document, whose name is a title.
pub(super) fn is_document(role: &Role) -> bool {
    role.name().starts_with("document") || [Role::FRAME, Role::WINDOW, Role::APPLICATION].contains(role)
}
