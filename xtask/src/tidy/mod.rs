//! `cargo xtask tidy`: house rules that the compiler does not check.
//!
//! - [`files`]: the files to check.
//! - [`code`]: rules for Rust sources. [`layout`]: file locations. [`manifests`]: `Cargo.toml`. [`words`]: rules for all
//!   texts, and links in documents. [`growth`]: code size, and limits on files and functions. [`skips`]: skipped tests.
//!   [`house`]: figures about names, comments and imports ([`imports`]), with limits.
//!   [`tool_names`]: the tools known to core.
//! - [`scanner`]: separates Rust code from comments and strings.

mod code;
mod command;
mod files;
mod growth;
mod house;
mod imports;
mod layout;
mod manifests;
mod scanner;
mod skips;
mod tool_names;
mod words;

pub use command::{check, run};
