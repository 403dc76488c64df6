#![cfg(test)]
//! The models that come in wheels, and the program as clients call it.

mod embed;
mod ocr;
mod program;
