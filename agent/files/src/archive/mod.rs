//! Archives: what is in them, and unpacking of them.
//!
//! zip, tar, and tar or one file compressed by gzip, xz or zstd. Names that lead outside, links that do,
//! devices and encrypted entries are skipped, and the result says so; an archive that exceeds a limit is not
//! unpacked at all.

mod entries;
mod links;
mod list;
mod names;
mod place;
mod stream;
mod unpack;

pub use list::{ArchiveEntry, ArchiveListing, list};
pub use place::UnpackConflictPolicy;
pub use unpack::{UnpackOptions, UnpackSummary, unpack};
