//! Texts and names from other machines, as they may be shown.

use deskhand_fleet::journal::WorkerId;
use deskhand_ui::text::{clip, is_forbidden_outside};

/// The length of the number that a worker has besides its name, with the `-` before it.
const NUMBER_BYTES: usize = 37;

/// A text from outside in one line, without characters that do not show.
pub(super) fn tame(text: &str, chars_max: usize) -> String {
    let shown: String = text.chars().map(|c| if is_forbidden_outside(c) { ' ' } else { c }).collect();
    clip(shown.trim(), chars_max)
}

/// The name of a worker without the number of its start.
pub(super) fn short(worker: &str) -> &str {
    let name = worker.len().checked_sub(NUMBER_BYTES).and_then(|end| worker.split_at_checked(end));
    name.filter(|(name, number)| !name.is_empty() && number.starts_with('-')).map_or(worker, |(name, _)| name)
}

/// The name of a worker as it may be shown.
pub(super) fn name_of(worker: &WorkerId) -> String {
    tame(short(&worker.0), 60)
}
