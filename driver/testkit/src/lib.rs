//! Test support: mock endpoints, fixture applications, pages that tell what happens in them, forged texts, and checks for installed programs.

pub mod compositor;
pub mod display;
pub mod endpoint;
pub mod fixture;
pub mod forgeries;
pub mod nats;
pub mod nats_server;
pub mod pages;
pub mod parser;
pub mod portals;
pub mod programs;
pub mod shown;
