//! The user interface as plain data: windows, elements, trees and pictures.
//!
//! Back ends fill these types and never leak a handle through them. The terms are those of AT-SPI and EWMH.

mod application;
mod beside;
mod description;
mod diff;
mod document;
mod element;
mod names;
mod picture;
mod place;
mod role;
mod states;
mod table;
mod tree;
mod window;

pub use application::{InstalledApplication, bare_name, name_words};
pub(crate) use beside::{LabelCandidate, is_part_of_control, is_sentence, label_beside, labels_beside};
pub use description::{Description, NotDescribed};
pub use diff::{DiffError, ElementChange, FieldChange, PlacedElement, PlacedRun, TreeDiff, apply, diff};
pub use document::DocumentInfo;
pub use element::{Element, ElementCapability, ElementSource, ValueRange};
pub use names::{ElementQuery, called, element_label, fold_name, names_equal};
pub use picture::PictureRef;
pub use place::ElementTreePath;
pub use role::Role;
pub use states::{State, States};
pub use table::{CellRange, CellRanges, CellRef, ParseCellError, TableContent, TableShape};
pub use tree::{IncompleteTreeCause, Tree};
pub use window::{
    AppInfo, WindowInfo, WindowKind, WindowState, belongs_to, is_notice, same_app, surfaces, window_label,
};
