//! Project commands, for `cargo xtask` and for the benchmarks.
//!
//! Depends on none of our crates, so that its checks share no code with the product.

#[cfg(test)]
mod architecture;
pub mod book;
pub mod command;
pub mod console;
pub mod demo;
pub mod extras;
pub mod ods;
pub mod packages;
pub mod product;
pub mod redteam;
pub mod setup;
pub mod test;
pub mod tidy;
#[cfg(test)]
mod toolchain;
pub mod tools;
pub mod wheels;
pub mod workspace;
