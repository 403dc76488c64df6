//! Selectors: an element of a recorded step, found again in a window that may have changed.
//!
//! [`Selector::of`] describes an element by everything that people recognise it by: role, name, label, containers, neighbours, row and
//! column, help text, shortcut. [`find`] looks for it later. An application drifts: names, languages, places and roles change. An
//! element is returned only if enough of what was recorded still agrees; everything else is an explanation.
//!
//! # Rules, in their order
//!
//! An agreement is *strong* if it names something: a container, a neighbour, the label, the help text, the shortcut, the range of
//! values, row or column. The place in the window and the position among controls of the same role are *weak*: they never decide alone.
//!
//! A list to choose from that has a label to its left is called by the label: its own name is often what is chosen. A sentence is a notice,
//! neither a label nor a neighbour. A neighbour that has another word of the same meaning is still the neighbour.
//!
//! 1. [`SelectorMatchRule::Same`], or exact: role, name and containers are equal. One strong agreement, if any was recorded; most of the neighbours in
//!    the same container count as one.
//! 2. [`SelectorMatchRule::Moved`]: role and name are equal. One strong agreement; none for a name of several words that no other element had, if
//!    its neighbours are still in the window and the window is familiar.
//! 3. [`SelectorMatchRule::OtherRole`]: the name is equal, the role is of the same [family](roles). Two strong agreements, or one and both weak ones.
//! 4. [`SelectorMatchRule::Renamed`]: role, containers, the neighbours on both sides and the position are equal. Besides, the new name is related to the
//!    old one (the words of one are in the other, or both mean the same), or the help text, shortcut or range is equal.
//! 5. [`SelectorMatchRule::Translated`]: the whole window has the same layout, half of its names or more changed, and known words changed into words
//!    of the same meaning; role, position and the roles of neighbours are equal. Besides, the name means the same as far as words are
//!    known, or the help text, shortcut or range is equal.
//!
//! # What makes it stop
//!
//! - More is needed where more could go wrong: a name that the safe guard asks about, neighbours that are all gone, another title or
//!   page, a window in which most names are unknown.
//! - An element that had doubles is only found in its row, in containers that only it was in, or where everything around it is as it was.
//! - Several elements of the name are told apart by label, help text or containers, or by everything else together. A new double in the
//!   same containers, or anywhere on a page, makes the result [`SelectorMatch::Ambiguous`].
//! - A new name never heals if it was another element's, if it is the opposite of the old one or reaches further, or if the safe guard
//!   takes it for something else.
//! - A window that cannot be told from a drifted one is taken for it: a control that was replaced by one of a related name, in the same
//!   place between the same neighbours, looks like one that was renamed.

mod compare;
mod concepts;
mod data;
mod decide;
mod explain;
mod find;
mod kinship;
mod naming;
mod recorded;
pub mod roles;
mod scene;
mod structure;
mod tables;
mod update;

pub(super) use concepts::mean_the_same;
pub use data::{ParseAnchorError, Selector, SelectorAnchor, SelectorScope};
pub use find::{Agreement, Contender, Drift, Obstacle, SelectorMatch, SelectorMatchRule, find};
pub use naming::NamePattern;
