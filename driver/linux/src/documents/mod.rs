//! Documents: which file a window shows, and what is on disk.
//!
//! A title has a name, seldom a path. The path is the one that was given when the program started or a file was saved; else that
//! of a file of this name in the title's folder, among the arguments and open files of the process, among the
//! recently used files, or in its working folder.
//!
//! - `known` remembers what was asked for on this desktop; `search` looks for the file of a name, `paths` makes paths absolute.
//! - `files` implements the capability.

mod files;
pub(crate) mod known;
pub(crate) mod paths;
mod search;
