//! The interfaces of applications of their own: UNO of LibreOffice, and the protocols of browsers.
//!
//! Each is spoken by a program of ours beside the application, which reads calls and writes answers as lines of JSON (`line`).
//!
//! - LibreOffice starts with a listening pipe of a random name on a virtual desktop (`pipe`). A Python program that Debian calls
//!   `python3-uno` connects to it (`office`); it works on the document of one window at a time, and reads back what it changed.
//! - A browser is started by a program that holds its protocol and answers on a socket in the private folder (`pages`).
//!
//! On the desktop of the user, where we start neither in this way, there is nothing to call.

mod calls;
mod line;
mod office;
mod pages;
mod pipe;

pub(crate) use office::{OfficeWorker, python as office_python};
pub(crate) use pipe::{OfficePipe, pipe_name};
