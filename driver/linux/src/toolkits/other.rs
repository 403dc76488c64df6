//! Any other toolkit; Gecko is one of them.

use super::{
    elements::{ElementTraits, PLAIN},
    gecko::may_be_time,
};

/// Their elements.
pub(super) static ELEMENTS: ElementTraits = ElementTraits {
    name: "other",
    may_be_time,
    // Browsers do.
    tells_choice_by_selection: true,
    places_with_next_frame: true,
    ..PLAIN
};
