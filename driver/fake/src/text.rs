//! Texts with a caret and a selection, and what editors make of typed text by themselves.

use deskhand_ui::ids::ElementId;

use crate::{
    plan::{Corrects, Semantic},
    stage::{Node, Stage},
};

impl Node {
    fn letters(&self) -> Vec<char> {
        self.plan.text.as_deref().unwrap_or_default().chars().collect()
    }

    /// The place of the caret.
    pub(crate) fn caret_at(&self) -> usize {
        let length = self.letters().len();
        self.caret.map_or(length, |at| at.min(length))
    }

    /// The selected part, or the place of the caret; the text may have become shorter since.
    fn take_marked(&mut self) -> (usize, usize) {
        let (length, caret) = (self.letters().len(), self.caret_at());
        self.marked.take().map_or((caret, caret), |(start, end)| (start.min(length), end.min(length)))
    }

    /// Types a character in place of what is selected.
    pub(crate) fn insert(&mut self, character: char) {
        let mut letters = self.letters();
        let (start, end) = self.take_marked();
        let typed = match self.plan.corrects {
            Corrects::Case => character.to_uppercase().next().unwrap_or(character),
            Corrects::Nothing | Corrects::Dashes | Corrects::Brackets => character,
        };
        letters.splice(start..end, [typed]);
        let mut caret = start + 1;
        if self.plan.corrects == Corrects::Brackets && typed == '(' {
            letters.insert(caret, ')');
        }
        let is_dash = self.plan.corrects == Corrects::Dashes && start > 0;
        if is_dash && letters.get(start - 1..=start) == Some(&['-', '-']) {
            letters.splice(start - 1..=start, ['–']);
            caret -= 1;
        }
        self.caret = (caret < letters.len()).then_some(caret);
        self.plan.text = Some(letters.into_iter().collect());
    }

    /// Removes what is selected, else the character before the caret.
    pub(crate) fn erase(&mut self) {
        let mut letters = self.letters();
        let (mut start, end) = self.take_marked();
        if start == end {
            start = start.saturating_sub(1);
        }
        letters.drain(start..end);
        self.caret = (start < letters.len()).then_some(start);
        if self.plan.text.is_some() {
            self.plan.text = Some(letters.into_iter().collect());
        }
    }
}

impl Stage {
    /// Selects a part of a text, unless the control ignores it.
    pub(crate) fn mark_text(&mut self, id: ElementId, (start, end): (usize, usize)) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        if node.plan.semantic == Semantic::Works {
            node.marked = (start < end).then_some((start, end));
            node.caret = Some(end);
        }
    }
}
