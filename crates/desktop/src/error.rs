//! What can go wrong on a desktop.

use deskhand_core::{
    ids::{ElementId, WindowId},
    text::error_chain,
};

/// A failed operation on a desktop. The variant says which operation, the message what to do.
#[derive(Debug, thiserror::Error)]
pub enum DesktopError {
    /// The display, bus or accessibility bus is gone; nothing works any more.
    #[error("reach the desktop: {what}")]
    Gone {
        /// What is gone.
        what: String,
    },
    /// A desktop could not be started or connected to.
    #[error("start the desktop: {what}; {fix}")]
    Start {
        /// What failed.
        what: String,
        /// What to do.
        fix: String,
    },
    /// No window has this id (any more).
    #[error("find window {0}: it does not exist any more")]
    NoWindow(WindowId),
    /// No element has this id (any more).
    #[error("find element {0}: it does not exist any more")]
    NoElement(ElementId),
    /// The element does not offer what is needed.
    #[error("{operation} on {element}: it does not offer {needs}")]
    NotOffered {
        /// What was asked for.
        operation: &'static str,
        /// The element, by [`deskhand_core::ui::Element::label`].
        element: String,
        /// The pattern or action that it lacks.
        needs: String,
    },
    /// The application did not answer within the limit. Other applications are not affected.
    #[error("{operation}: {application} did not answer within {limit_ms} ms")]
    NotAnswering {
        /// What was asked for.
        operation: &'static str,
        /// The application.
        application: String,
        /// The limit.
        limit_ms: u64,
    },
    /// A program could not be started.
    #[error("launch `{program}`: {reason}")]
    Launch {
        /// What was to be started.
        program: String,
        /// Why it was not, and what to do.
        reason: String,
    },
    /// A key or character that this keyboard cannot produce.
    #[error("press `{key}`: {reason}")]
    Key {
        /// The key or character.
        key: String,
        /// Why not.
        reason: String,
    },
    /// An operation failed in the X server, the bus or the application.
    #[error("{operation}")]
    Failed {
        /// What was asked for.
        operation: String,
        /// Why it failed.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl DesktopError {
    /// An operation that failed for the reason `source`.
    pub fn failed(
        operation: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Failed { operation: operation.into(), source: source.into() }
    }

    /// The message with all its causes, for a person or a model.
    pub fn chain(&self) -> String {
        error_chain(self)
    }
}

/// The result of an operation on a desktop.
pub type DesktopResult<T> = Result<T, DesktopError>;
