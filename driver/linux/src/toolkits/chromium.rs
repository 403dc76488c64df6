//! Chromium, and what is built on it.
//!
//! One element a window shows unless the program is told to expose pages.
//!
//! When a page replaces the empty one that a window starts with, nothing is announced; the old document
//! keeps answering and reports itself DEFUNCT.

use std::time::Duration;

use deskhand_desktop::Quirks;

use super::{
    definition::{ToolkitDefinition, exposing},
    elements::{DrawnChanges, ElementTraits, NO_QUIRKS, PLAIN},
};

/// The argument with which Chromium, and programs based on it, expose the elements of their pages.
pub(crate) const EXPOSE_PAGES: &str = "--force-renderer-accessibility";

/// Its programs.
pub(super) const DEFINITION: ToolkitDefinition =
    exposing("Chromium and Electron", &["/icudtl.dat", "/resources.pak", "/v8_context_snapshot"])
        .with(&[("ACCESSIBILITY_ENABLED", "1")]);

/// Its elements.
pub(crate) static ELEMENTS: ElementTraits = ElementTraits {
    name: "Chromium",
    recognises: |names| names.toolkit.eq_ignore_ascii_case("chromium"),
    has_cache: true,
    caches_children: true,
    has_get_all: true,
    drawn_changes: DrawnChanges::Places,
    tells_choice_by_selection: true,
    has_pages_apart: true,
    // It collects the changes of a page for 150 ms after it has sent some; the rest is for sending them.
    announces_after: Duration::from_millis(180),
    // A page is another process than its window.
    at_once: Duration::from_millis(100),
    quirks: Quirks { runs_timers: true, ..NO_QUIRKS },
    tells_pages_in_pixels: true,
    ..PLAIN
};
