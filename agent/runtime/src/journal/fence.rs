//! Sessions that another machine may take over.

use std::fmt::Debug;

use futures_util::future::BoxFuture;

/// Another machine has the session, or may have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("another machine may have the session now")]
pub struct SessionOwnershipLost;

/// Says whether this process may still act for a session.
///
/// Whoever takes a session over reads its journal in another place. So the record of a command has to be there before the command is
/// carried out: then the successor knows what may have been done.
pub trait Fence: Debug + Send + Sync {
    /// Waits until all that was journaled so far is known in that place. The command that waits is carried out at once after that.
    ///
    /// # Errors
    /// [`SessionOwnershipLost`]: it must not be carried out.
    fn may_act(&self) -> BoxFuture<'_, Result<(), SessionOwnershipLost>>;
}
