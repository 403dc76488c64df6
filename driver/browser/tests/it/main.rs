#![cfg(test)]
//! Real browsers on a virtual screen, with pages of a server on this machine.

mod browsers;
mod dialogs;
mod lives;
mod navigation;
mod reading;
mod server;
