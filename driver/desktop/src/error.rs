//! The errors of a desktop.

use deskhand_ui::{
    action::ActionRefusal,
    ids::{ElementId, WindowId},
    text::error_chain,
};

/// A failed operation on a desktop. The variant names the operation, the message the next step.
#[derive(Debug, thiserror::Error)]
pub enum DesktopError {
    /// The display or the accessibility bus is gone; no operation works any more.
    #[error("reach the desktop: {what}")]
    Gone {
        /// The resource that is gone.
        what: String,
    },
    /// A desktop could not be started or reached.
    #[error("start the desktop: {what}; {fix}")]
    Start {
        /// The operation that failed.
        what: String,
        /// The next step.
        fix: String,
    },
    /// No window has this id any more.
    #[error("find window {0}: it no longer exists")]
    NoWindow(WindowId),
    /// No element has this id any more.
    #[error("find element {0}: it no longer exists")]
    NoElement(ElementId),
    /// The element lacks a pattern or action.
    #[error("{operation} on {element}: it does not offer {needs}")]
    NotOffered {
        /// The operation.
        operation: &'static str,
        /// The element, by [`deskhand_ui::Element::label`].
        element: String,
        /// The pattern or action that it lacks.
        needs: String,
    },
    /// The application did not answer within the limit. Other applications are not affected.
    #[error("{operation}: {application} did not answer within {limit_ms} ms")]
    NotAnswering {
        /// The operation.
        operation: &'static str,
        /// The application.
        application: String,
        /// The limit.
        limit_ms: u64,
    },
    /// A program could not be started.
    #[error("launch `{program}`: {reason}")]
    Launch {
        /// The program.
        program: String,
        /// The cause and the next step.
        reason: String,
    },
    /// A key or character that this keyboard cannot produce.
    #[error("press `{key}`: {reason}")]
    Key {
        /// The key or character.
        key: String,
        /// The cause.
        reason: String,
    },
    /// A last look just before the input found something else than what was judged. Nothing was sent.
    #[error("act: refused just before the input")]
    Refused(Box<ActionRefusal>),
    /// The call was cancelled. Nothing is sent after that.
    #[error("act: cancelled")]
    Cancelled {
        /// Amount of the input that was sent: characters of a text and the chords after it, notches of a scroll, 1
        /// for a drag that was taken back; 0 for an input that is sent as a whole or not at all.
        done: u64,
    },
    /// An operation that failed in the X server, the bus or the application.
    #[error("{operation}")]
    Failed {
        /// The operation.
        operation: String,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl DesktopError {
    /// The error of an operation that failed because of `source`.
    pub fn failed(
        operation: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Failed { operation: operation.into(), source: source.into() }
    }

    /// The error of an input that was refused.
    pub fn refused(refusal: impl Into<ActionRefusal>) -> Self {
        Self::Refused(Box::new(refusal.into()))
    }

    /// The message with all its causes.
    pub fn chain(&self) -> String {
        error_chain(self)
    }
}

/// The result of an operation on a desktop.
pub type DesktopResult<T> = Result<T, DesktopError>;
