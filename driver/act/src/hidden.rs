//! Text that is not shown: passwords, and what is typed into terminals.

use deskhand_ui::{
    Element, Role,
    action::{ActionKind, ActionProof, Blindness, Evidence, Shortfall},
};

/// Why the text of an element is written without being read back; `None` for every other element.
pub(crate) fn blindness(element: &Element) -> Option<Blindness> {
    if element.role == Role::TERMINAL {
        Some(Blindness::Terminal)
    } else {
        (element.role == Role::PASSWORD_TEXT).then_some(Blindness::Password)
    }
}

/// Stands for a password in results: as many dots.
pub(crate) fn dots(secret: &str) -> String {
    "•".repeat(secret.chars().count())
}

/// The act with dots in place of its text, if the field turned out to hide what it holds.
pub(crate) fn hiding(mut act: ActionKind, evidence: &Evidence) -> ActionKind {
    let is_hidden = matches!(
        evidence,
        Evidence::Seen { proof: ActionProof::HasLength }
            | Evidence::NotSeen { shortfall: Shortfall::OtherLength { .. } }
    );
    if is_hidden
        && let ActionKind::Type { text } | ActionKind::SetText { text } | ActionKind::Paste { text } =
            &mut act
    {
        *text = dots(text);
    }
    act
}
