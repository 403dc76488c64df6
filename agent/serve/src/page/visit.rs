//! Admission state of a connection.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// The admission state of a connection. Each request of the connection has it in its extensions.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConnectionAdmission(Arc<AtomicBool>);

impl ConnectionAdmission {
    /// Notes that somebody showed that they may come in.
    pub(super) fn let_in(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_let_in(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
