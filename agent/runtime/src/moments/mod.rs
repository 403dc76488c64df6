//! One session as a time line: what happened when, and everything about one moment.
//!
//! [`moments`] reads a whole journal through the [story](crate::story) and returns a short line per moment; [`FollowedMoments`] goes on
//! from where it was. [`moment_parts`] returns what was on the screen, asked, replied and done at one record; it parses the few lines that it needs.

mod line;
mod parts;
mod scan;
mod timeline;

pub use line::{MomentKind, MomentLine};
pub use parts::{CallPart, MomentParts, PromptMessage, ReplyPart, moment_parts};
pub use timeline::{FollowedMoments, MOMENTS_MAX, SessionMoments, moments};
