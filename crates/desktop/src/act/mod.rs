//! Actions that tell the truth, written against the capabilities alone.
//!
//! Each action checks its target first (attached, showing, enabled, not covered, at rest, nothing modal in
//! front) and sends nothing when a check fails. It then takes the semantic route through the accessibility interface, and real
//! input events only where that route is not offered or had no effect; never both when the first one
//! worked. Its verdict is about the thing that was asked for: an unrelated change in the same window is no effect.

mod click;
mod effect;
mod find;
mod press_keys;
mod report;
mod type_text;
mod verdict;

pub use click::{Click, click};
pub use find::{Wanted, find_element, names_equal};
pub use press_keys::press_keys;
pub use report::{ActLimits, ActionReport, Route, Target};
pub use type_text::{TypeText, type_text};

#[cfg(test)]
mod act_tests;
