//! The toolkits: how a program of each is recognised, what it needs at its start to expose elements, whether it ever will, and what is
//! particular to its elements once they are there.
//!
//! A toolkit that differs from others in more than its name is a file, with what was observed of it: its `definition` and the traits of its
//! `elements`. The `table` lists all. `running` recognises the toolkit of a process by the files that it has loaded, `starting` what needs
//! flags of its own before it is started, `bridges` which toolkits expose nothing here for want of a package.
//!
//! `atspi/quirks` asks for the traits of elements. The settings and profiles of single
//! programs, such as browsers, are in `virtual_desktop/programs`. Names of Flatpak and Snap applications are those of their desktop
//! entries (`desktop_entries`), which both export.
//!
//! Observed: Tk, Xt with its widget sets, FLTK and SDL have no accessibility at all: their windows can only be read as pictures.

mod bridges;
pub(crate) mod chromium;
mod definition;
mod elements;
mod gecko;
mod gtk2;
pub(crate) mod gtk3;
pub(crate) mod gtk4;
mod java;
pub(crate) mod libreoffice;
mod other;
pub(crate) mod qt;
mod running;
mod starting;
mod table;

pub(crate) use bridges::bridged;
pub(crate) use chromium::EXPOSE_PAGES;
pub(crate) use elements::{DrawnChanges, ElementTraits, ToolkitNames};
pub(crate) use running::{draws_pages, may_expose};
pub(crate) use starting::{Extras, JAVA_OPTIONS, extras};
pub(crate) use table::{traits_of, variables};
