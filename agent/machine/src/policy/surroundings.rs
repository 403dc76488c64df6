//! Surroundings of a command's target: the text that a person reads before they press it.

use serde::Serialize;

use super::looks::has_part;
use deskhand_ui::{Element, Role, State, Surface, WindowKind, ids::ElementId};

/// The most texts of a dialog.
const TEXTS_MAX: usize = 40;
/// Maximum length of each of them, in characters.
const TEXT_MAX: usize = 300;
/// A dialog with more fields than this is a form, whose labels ask nothing.
const FIELDS_MAX: usize = 1;

/// Stems of the names of fields for a payment.
const PAYMENT: &[&str] = &[
    "card number",
    "credit card",
    "debit card",
    "cardnumber",
    "cvc",
    "cvv",
    "card verification",
    "security code",
    "iban",
    "kartennummer",
    "kreditkarte",
    "prüfziffer",
    "numéro de carte",
    "carte bancaire",
    "cryptogramme",
    "número de tarjeta",
    "tarjeta de crédito",
    "numero della carta",
    "numero carta",
    "carta di credito",
    "número do cartão",
    "cartão de crédito",
    "kaartnummer",
    "creditcard",
    "numer karty",
    "číslo karty",
    "номер карты",
    "номер картки",
    "kortnummer",
    "kortin numero",
    "kart numarası",
    "kártyaszám",
    "numărul cardului",
    "αριθμός κάρτας",
    "カード番号",
    "卡号",
    "卡號",
    "카드 번호",
];

/// Surroundings of a target.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct TargetContext {
    /// The title and the texts of the message box that it is in; empty if it is in none.
    pub texts: Vec<String>,
    /// The name of a field in the same window that is for a payment, or looks as if it were.
    pub payment: Option<String>,
}

impl TargetContext {
    /// Returns the surroundings of an element of a window.
    pub(super) fn of(id: ElementId, surface: &Surface) -> Self {
        let known = |name: &str| {
            let folded = name.to_lowercase();
            PAYMENT.iter().any(|stem| folded.contains(stem))
        };
        // Letters of other scripts make another name that looks the same.
        let looks = |name: &str| !name.is_ascii() && has_part(name, PAYMENT);
        let payment = payment(surface, &known).or_else(|| payment(surface, &looks));
        Self { texts: texts_around(id, surface), payment }
    }
}

/// The texts of the innermost dialog around an element, if that is a message box.
fn texts_around(id: ElementId, surface: &Surface) -> Vec<String> {
    let is_dialog = |element: &&Element| [Role::DIALOG, Role::ALERT].contains(&element.role);
    let around = surface.tree.ancestors(id).find(is_dialog);
    let (title, inside): (String, Vec<&Element>) = match around {
        Some(dialog) => (dialog.name.clone(), surface.tree.descendants(dialog.id).collect()),
        None if surface.window.kind == WindowKind::Dialog => {
            (surface.window.title.clone(), surface.tree.elements.iter().collect())
        }
        None => return Vec::new(),
    };
    if inside.iter().filter(|element| is_field(element)).count() > FIELDS_MAX {
        return Vec::new();
    }
    let told = inside.into_iter().filter(|element| !element.role.is_interactive() || is_shown_text(element));
    let told = told.flat_map(|element| {
        [element.name.as_str(), element.description.as_str(), element.text.as_deref().unwrap_or_default()]
    });
    let all = std::iter::once(title.as_str()).chain(told).filter(|text| !text.trim().is_empty());
    all.take(TEXTS_MAX).map(|text| text.trim().chars().take(TEXT_MAX).collect()).collect()
}

/// Returns `true` if it takes something that a person has to fill in or choose.
fn is_field(element: &Element) -> bool {
    let buttons = [Role::PUSH_BUTTON, Role::TOGGLE_BUTTON, Role::CHECK_BOX, Role::LINK, Role::ICON];
    element.role.is_interactive() && !buttons.contains(&element.role) && !is_shown_text(element)
}

/// Returns `true` if it is a text that cannot be edited.
fn is_shown_text(element: &Element) -> bool {
    element.role == Role::TEXT && !element.states.has(State::Editable)
}

/// The name of a field for a payment.
fn payment(surface: &Surface, pays: &dyn Fn(&str) -> bool) -> Option<String> {
    let fields = [Role::ENTRY, Role::TEXT, Role::PASSWORD_TEXT];
    let mut elements = surface.tree.elements.iter().filter(|element| fields.contains(&element.role));
    let found = elements.find(|element| pays(&element.name) || pays(&element.description))?;
    let name = if found.name.trim().is_empty() { &found.description } else { &found.name };
    Some(name.trim().chars().take(TEXT_MAX).collect())
}
