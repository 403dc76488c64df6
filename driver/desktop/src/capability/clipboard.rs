//! The clipboard that the applications of a desktop share.

use std::time::Duration;

use crate::DesktopResult;

/// The clipboard that the applications of a desktop share.
pub trait Clipboard {
    /// Its text; `None` if it is empty or holds something else.
    ///
    /// # Errors
    /// [`crate::DesktopError::Failed`] if its owner does not send it.
    fn clipboard(&self) -> impl Future<Output = DesktopResult<Option<String>>> + Send;

    /// Sets its text, or empties it.
    ///
    /// # Errors
    /// [`crate::DesktopError::Failed`] if another program takes it over.
    fn set_clipboard(&self, text: Option<&str>) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Sets its content in one format alone, given by its media type.
    ///
    /// # Errors
    /// [`crate::DesktopError::Failed`] if another program takes it over.
    fn set_clipboard_as(&self, format: &str, content: &str)
    -> impl Future<Output = DesktopResult<()>> + Send;

    /// Waits until an application has fetched what was set, at most `bound`; returns whether one has.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] if the display does not answer.
    fn clipboard_taken(&self, bound: Duration) -> impl Future<Output = DesktopResult<bool>> + Send;
}
