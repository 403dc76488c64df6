//! Whether somebody was let in by a connection.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// What a connection is known for. It is in the extensions of each of its requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct Visit(Arc<AtomicBool>);

impl Visit {
    /// Notes that somebody showed that they may come in.
    pub(super) fn let_in(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_let_in(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
