//! Pictures of the screen.

use deskhand_core::geometry::{Rect, Screen};

use crate::{DesktopResult, picture::Picture};

/// Pictures of the screen.
pub trait Capture {
    /// The whole screen.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn screen(&self) -> impl Future<Output = DesktopResult<Picture>> + Send;

    /// A part of the screen; what lies outside of the screen is cut off.
    ///
    /// # Errors
    /// [`crate::DesktopError::Failed`] when nothing of it is on the screen.
    fn region(&self, region: Rect<Screen>) -> impl Future<Output = DesktopResult<Picture>> + Send;
}
