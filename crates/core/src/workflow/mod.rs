//! Workflows: tasks that were learnt once and are repeated without a model.
//!
//! A workflow is a file that people read and edit. Each step names the element it acts on by a [`selector`], which finds that element
//! again in an application that has changed since, or says why it cannot.

pub mod selector;
