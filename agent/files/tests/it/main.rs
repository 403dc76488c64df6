#![cfg(test)]
//! Files of all formats, good and hostile ones, made by other programs.

mod archives;
mod documents;
mod folders;
mod hostile;
mod support;
mod tables;
mod texts;
