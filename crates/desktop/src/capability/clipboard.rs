//! The clipboard that the applications of a desktop share.

use std::time::Duration;

use crate::DesktopResult;

/// The clipboard that the applications of a desktop share.
pub trait Clipboard {
    /// Its text; `None` if it is empty or holds something else.
    ///
    /// # Errors
    /// [`crate::DesktopError::Failed`] when its owner does not hand it over.
    fn clipboard(&self) -> impl Future<Output = DesktopResult<Option<String>>> + Send;

    /// Puts a text on it, or empties it.
    ///
    /// # Errors
    /// [`crate::DesktopError::Failed`] when another program holds it.
    fn set_clipboard(&self, text: Option<&str>) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Waits until an application has fetched the text that was put on it, at most `bound`; whether one has.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn clipboard_taken(&self, bound: Duration) -> impl Future<Output = DesktopResult<bool>> + Send;
}
