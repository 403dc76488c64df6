//! The effects of typing and chords on the state.

use deskhand_desktop::{
    ElementChangeKind,
    keys::{ChordKey, KeyChord, KeyModifier, NamedKey},
};
use deskhand_ui::{
    CellRange, CellRef, State, WindowKind,
    ids::{ElementId, WindowId},
};

use crate::{plan::Behaviour, stage::Stage};

impl Stage {
    /// The window that receives keys.
    fn key_window(&self) -> Option<WindowId> {
        let active = self.active?;
        Some(self.blocked_by(active).unwrap_or(active))
    }

    pub(crate) fn press_chord(&mut self, chord: &KeyChord) {
        self.inputs += 1;
        self.damage += 1;
        let Some(window) = self.key_window() else { return };
        let Some(shown) = self.window(window) else { return };
        let wanted = chord.to_string().to_lowercase();
        let bound = shown.plan.chords.iter().find(|(name, _)| name.to_lowercase() == wanted);
        let bound = bound.map(|(_, behaviour)| behaviour.clone());
        let focus = shown.focus;
        if chord.key == ChordKey::Named(NamedKey::Escape) && self.escape(window, focus) {
            return;
        }
        if let Some(behaviour) = bound {
            self.run(&behaviour, None, window);
            return;
        }
        let Some(focus) = focus else {
            if chord.key == ChordKey::Named(NamedKey::Return) {
                self.press_default(window);
            }
            return;
        };
        if self.nodes.get(&focus).is_some_and(|node| node.plan.sheet.is_some()) {
            self.key_in_sheet(focus, chord);
        } else {
            self.key_in_control(window, focus, chord);
        }
    }

    /// Closes the innermost thing that Escape closes; returns whether there was one.
    fn escape(&mut self, window: WindowId, focus: Option<ElementId>) -> bool {
        let menu =
            self.windows.iter().rev().find(|shown| shown.owner == Some(window) && shown.menu.is_some());
        if let Some(menu) = menu.and_then(|shown| shown.menu) {
            self.fold(menu, false);
            return true;
        }
        if let Some(sheet) =
            focus.and_then(|id| self.nodes.get_mut(&id)).and_then(|node| node.plan.sheet.as_mut())
        {
            sheet.cancel();
            return true;
        }
        if self.window(window).is_some_and(|shown| shown.plan.kind == WindowKind::Dialog) {
            self.close(window);
            self.record(None, "closed");
            return true;
        }
        false
    }

    fn press_default(&mut self, window: WindowId) {
        let key = self.window(window).and_then(|shown| shown.plan.default_button.clone());
        if let Some(button) = key.and_then(|key| self.find_key(window, &key)) {
            self.activate_element(button);
        }
    }

    fn key_in_control(&mut self, window: WindowId, focus: ElementId, chord: &KeyChord) {
        let is_ctrl = chord.modifiers == [KeyModifier::Ctrl];
        match chord.key {
            ChordKey::Named(NamedKey::Return) => {
                let behaviour = self.nodes.get(&focus).and_then(|node| node.plan.on_enter.clone());
                match behaviour {
                    Some(behaviour) => self.run(&behaviour, Some(focus), window),
                    None => self.press_default(window),
                }
            }
            ChordKey::Named(NamedKey::Space) => self.activate_element(focus),
            ChordKey::Named(NamedKey::Tab) => self.focus_next(window, focus),
            ChordKey::Named(NamedKey::BackSpace | NamedKey::Delete) => self.erase(focus),
            ChordKey::Named(NamedKey::Home) => self.place_caret(focus, Some(0)),
            ChordKey::Named(NamedKey::End) => self.place_caret(focus, None),
            ChordKey::Char('a' | 'A') if is_ctrl => {
                if let Some(node) = self.nodes.get_mut(&focus) {
                    let length = node.plan.text.as_ref().map_or(0, |text| text.chars().count());
                    node.marked = (length > 0).then_some((0, length));
                }
            }
            ChordKey::Char('v' | 'V') if is_ctrl => {
                for character in self.clipboard.clone().unwrap_or_default().chars() {
                    self.type_character(focus, character);
                }
            }
            ChordKey::Char(character) if chord.modifiers.is_empty() => self.type_character(focus, character),
            ChordKey::Named(_) | ChordKey::Char(_) => {}
        }
    }

    fn focus_next(&mut self, window: WindowId, focus: ElementId) {
        let order: Vec<ElementId> = self
            .nodes
            .iter()
            .filter(|(id, node)| {
                node.window == window
                    && node.cell.is_none()
                    && node.plan.states.has(State::Focusable)
                    && self.is_showing(**id)
            })
            .map(|(id, _)| *id)
            .collect();
        let next = order.iter().find(|id| **id > focus).or_else(|| order.first());
        if let Some(next) = next.copied() {
            self.focus(next);
        }
    }

    fn erase(&mut self, focus: ElementId) {
        let Some(node) = self.nodes.get_mut(&focus) else { return };
        if !node.plan.states.has(State::Editable) {
            return;
        }
        node.erase();
        self.note_element(focus, ElementChangeKind::Text);
        self.record(Some(focus), "text");
    }

    fn place_caret(&mut self, focus: ElementId, caret: Option<usize>) {
        if let Some(node) = self.nodes.get_mut(&focus) {
            (node.caret, node.marked) = (caret, None);
        }
    }

    fn key_in_sheet(&mut self, table: ElementId, chord: &KeyChord) {
        let Some(node) = self.nodes.get_mut(&table) else { return };
        let window = node.window;
        let Some(sheet) = &mut node.plan.sheet else { return };
        let before = (sheet.cursor, sheet.selection);
        let mut committed = false;
        match (chord.key, chord.modifiers.as_slice()) {
            (ChordKey::Named(NamedKey::Return), []) => {
                committed = sheet.commit();
                sheet.step(1, 0);
            }
            (ChordKey::Named(NamedKey::Tab), []) => {
                committed = sheet.commit();
                sheet.step(0, 1);
            }
            (ChordKey::Named(NamedKey::Down), [KeyModifier::Shift]) => sheet.extend(1, 0),
            (ChordKey::Named(NamedKey::Right), [KeyModifier::Shift]) => sheet.extend(0, 1),
            (ChordKey::Named(NamedKey::Down), []) => sheet.step(1, 0),
            (ChordKey::Named(NamedKey::Up), []) => sheet.step(-1, 0),
            (ChordKey::Named(NamedKey::Right), []) => sheet.step(0, 1),
            (ChordKey::Named(NamedKey::Left), []) => sheet.step(0, -1),
            (ChordKey::Named(NamedKey::Home), [KeyModifier::Ctrl]) => {
                let origin = CellRef { row: 0, column: 0 };
                sheet.go_to(CellRange { first: origin, last: origin });
            }
            (ChordKey::Named(NamedKey::Delete), []) => {
                committed = !sheet.is_editing();
                sheet.delete();
            }
            (ChordKey::Named(NamedKey::BackSpace), []) => sheet.back_space(),
            (ChordKey::Char(character), []) => sheet.type_character(character),
            (ChordKey::Named(_) | ChordKey::Char(_), _) => return,
        }
        let (cursor, range) = (sheet.cursor, sheet.selection);
        if committed {
            self.note_element(table, ElementChangeKind::Text);
            self.record(Some(table), "cells");
        }
        if (cursor, range) != before {
            self.note_element(table, ElementChangeKind::ActiveDescendant);
            self.show_cursor(window, range);
        }
    }

    /// Types one character into the focus.
    pub(crate) fn type_into_focus(&mut self, character: char) {
        let named = match character {
            '\n' => Some(NamedKey::Return),
            '\t' => Some(NamedKey::Tab),
            _ => None,
        };
        if let Some(named) = named {
            self.press_chord(&KeyChord::from(named));
            return;
        }
        self.inputs += 1;
        self.damage += 1;
        let Some(window) = self.key_window() else { return };
        let Some(focus) = self.window(window).and_then(|shown| shown.focus) else { return };
        self.type_character(focus, character);
    }

    fn type_character(&mut self, focus: ElementId, character: char) {
        let Some(node) = self.nodes.get_mut(&focus) else { return };
        if let Some(sheet) = &mut node.plan.sheet {
            sheet.type_character(character);
            return;
        }
        if !node.plan.states.has(State::Editable) || !node.plan.states.takes_input() {
            return;
        }
        if node.plan.swallows > 0 {
            node.plan.swallows -= 1;
            return;
        }
        node.insert(character);
        self.note_element(focus, ElementChangeKind::Text);
        self.record(Some(focus), "text");
    }

    /// Asks a window to close, as its close button does.
    pub(crate) fn ask_to_close(&mut self, window: WindowId) {
        let Some(shown) = self.window(window) else { return };
        match shown.plan.on_close.clone() {
            Some(behaviour) => self.run(&behaviour, None, window),
            None => self.run(&Behaviour::CloseWindow, None, window),
        }
    }
}
