//! Mock endpoints of language models: wire formats, faults, and models that work in pictures.

pub mod faults;
pub mod operators;
pub mod request;
pub mod wires;
