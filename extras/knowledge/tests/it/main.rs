#![cfg(test)]
//! The retrievers against files, processes and a server on loopback.

mod crashes;
mod experience;
mod help;
mod online;
