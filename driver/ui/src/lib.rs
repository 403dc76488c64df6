//! The user interface as plain data: windows, elements, trees and pictures; actions on them and their results.
//!
//! Back ends fill these types and never leak a handle through them. The terms are those of AT-SPI and EWMH. No async, no IO, no
//! clock, no environment, no randomness.

pub mod action;
pub mod address;
mod application;
mod beside;
pub mod clipping;
mod description;
mod diff;
mod document;
pub mod duration;
mod element;
pub mod geometry;
pub mod ids;
pub mod keys;
mod names;
pub mod pattern;
mod picture;
mod place;
mod role;
pub mod secret;
mod states;
pub mod suggest;
mod surface;
mod table;
pub mod text;
mod tree;
mod window;

pub use application::{InstalledApplication, bare_name, name_words};
pub use beside::{LabelCandidate, is_part_of_control, is_sentence, label_beside, labels_beside};
pub use description::{Description, NotDescribed};
pub use diff::{DiffError, ElementChange, FieldChange, PlacedElement, PlacedRun, TreeDiff, apply, diff};
pub use document::DocumentInfo;
pub use element::{Element, ElementCapability, ElementSource, ValueRange};
pub use names::{ElementQuery, called, element_label, fold_name, names_equal};
pub use picture::PictureRef;
pub use place::ElementTreePath;
pub use role::Role;
pub use states::{State, States};
pub use surface::{Surface, WindowView};
pub use table::{CellRange, CellRanges, CellRef, ParseCellError, TableContent, TableShape};
pub use tree::{IncompleteTreeCause, Tree};
pub use window::{
    AppInfo, WindowInfo, WindowKind, WindowState, belongs_to, is_notice, same_app, surfaces, window_label,
};
