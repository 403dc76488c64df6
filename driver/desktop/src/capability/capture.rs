//! Screenshots.

use deskhand_ui::geometry::{Rect, Screen};

use crate::{DesktopResult, picture::Picture};

/// Screenshots.
pub trait Capture {
    /// The whole screen.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] if the display does not answer.
    fn screen(&self) -> impl Future<Output = DesktopResult<Picture>> + Send;

    /// A region of the screen, clipped to the screen.
    ///
    /// # Errors
    /// [`crate::DesktopError::Failed`] if it is completely off the screen.
    fn region(&self, region: Rect<Screen>) -> impl Future<Output = DesktopResult<Picture>> + Send;

    /// The text that a region of the screen shows, read from its picture; `None` where nothing reads pictures or nothing
    /// could be read.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] if the display does not answer.
    fn drawn_text(&self, region: Rect<Screen>) -> impl Future<Output = DesktopResult<Option<String>>> + Send;
}
