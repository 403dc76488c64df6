//! Texts that were typed: which of them are kept, and where they were read before.

use std::sync::Arc;

use deskhand_ui::{Element, Role, State, Surface, WindowInfo, WindowView};

use super::looks::LookedAt;

/// The shortest text that is taken for one that was read, in characters: a shorter one is equal by chance.
const READ_MIN: usize = 3;

/// Handling of a text that was typed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TypedTextRetention {
    /// The text is stored.
    Text(String),
    /// The text went into a password field, of which only this name is stored.
    Password(String),
    /// The text is not stored: the application does not show it.
    Nothing,
}

/// Determines the part of a typed text that is stored: only the part that the application shows afterwards, and
/// nothing that went into a password field.
pub(super) fn kept(
    text: &str,
    field: Option<&Element>,
    around: [Option<&LookedAt>; 2],
) -> TypedTextRetention {
    let is_password = |element: &Element| element.role == Role::PASSWORD_TEXT;
    let focused = around.into_iter().flatten().filter_map(LookedAt::focused);
    if let Some(field) = field.into_iter().chain(focused).find(|element| is_password(element)) {
        return TypedTextRetention::Password(field.name.clone());
    }
    let wanted = text.trim();
    let [before, after] = around;
    let in_field = field.is_some_and(|field| {
        let now = after.and_then(|look| look.view.as_ref()?.elements().find(|one| one.id == field.id));
        field.role != Role::TERMINAL && now.is_some_and(|now| times(now, wanted) > 0)
    });
    // A text that stood there before may be another one: that of a password which is not shown, too.
    let count = |look: Option<&LookedAt>| -> usize {
        let view = look.and_then(|look| look.view.as_ref());
        view.map_or(0, |view| view.elements().map(|element| times(element, wanted)).sum())
    };
    let is_shown = in_field || count(after) > count(before);
    if wanted.is_empty() || is_shown {
        TypedTextRetention::Text(text.to_owned())
    } else {
        TypedTextRetention::Nothing
    }
}

/// Counts how often an element shows a text.
fn times(element: &Element, wanted: &str) -> usize {
    if wanted.is_empty() || element.role == Role::PASSWORD_TEXT {
        return 0;
    }
    let text = element.text.as_deref().unwrap_or_default();
    element.name.matches(wanted).count() + text.matches(wanted).count()
}

/// Returns `true` if the field has the text and nothing else afterwards, so that it can be set.
pub(super) fn replaces(text: &str, field: &Element, after: Option<&LookedAt>) -> bool {
    const FIELDS: [Role; 3] = [Role::ENTRY, Role::TEXT, Role::SPIN_BUTTON];
    let view = after.and_then(|look| look.view.as_ref());
    let now = view.and_then(|view| view.elements().find(|element| element.id == field.id));
    FIELDS.contains(&field.role)
        && !field.states.has(State::MultiLine)
        && now.and_then(|element| element.text.as_deref()) == Some(text)
}

/// Finds the source of a text that was typed into a window: an element of another window with that text, as last
/// observed.
pub(super) fn source(
    text: &str,
    into: &WindowInfo,
    looks: &[LookedAt],
) -> Option<(Arc<WindowView>, WindowInfo, Element)> {
    let wanted = text.trim();
    if wanted.chars().count() < READ_MIN {
        return None;
    }
    let is_it = |element: &&Element| {
        element.role != Role::PASSWORD_TEXT
            && element.source.is_tree()
            && (element.text.as_deref().map(str::trim) == Some(wanted) || element.name.trim() == wanted)
    };
    looks.iter().rev().filter_map(|look| look.view.as_ref()).find_map(|view| {
        let main = &view.surfaces.first()?.window;
        if main.id == into.id {
            return None;
        }
        let found = |surface: &Surface| surface.tree.elements.iter().find(is_it).cloned();
        let element = view.surfaces.iter().find_map(found)?;
        Some((Arc::clone(view), main.clone(), element))
    })
}
