//! Errors of what agents look up.

use deskhand_knowledge::{experience::ExperienceError, help::HelpError};

/// An operation on the index of help or on the experiences that failed.
#[derive(Debug, thiserror::Error)]
pub enum KnowledgeError {
    /// The index of help. Its cause is a part of the message.
    #[error("failed to {}", deskhand_ui::text::error_chain(.0))]
    Help(Box<HelpError>),
    /// The experiences. Its cause is a part of the message.
    #[error("failed to {}", deskhand_ui::text::error_chain(.0))]
    Experience(Box<ExperienceError>),
    /// There is no experience with an id.
    #[error("there is no experience `{0}`")]
    NoExperience(String),
}

impl From<HelpError> for KnowledgeError {
    fn from(error: HelpError) -> Self {
        Self::Help(Box::new(error))
    }
}

impl From<ExperienceError> for KnowledgeError {
    fn from(error: ExperienceError) -> Self {
        Self::Experience(Box::new(error))
    }
}

impl KnowledgeError {
    /// Returns the suggested next step, if the message does not contain it.
    pub(crate) fn help(&self) -> Option<String> {
        match self {
            Self::NoExperience(_) => Some("`deskhand experience list` lists them with their ids".to_owned()),
            Self::Help(_) | Self::Experience(_) => None,
        }
    }

    /// Returns `true` if the caller asked for something that is not there, so that nothing was tried.
    pub(crate) fn is_usage(&self) -> bool {
        match self {
            Self::NoExperience(_) => true,
            Self::Help(error) => matches!(**error, HelpError::Source { .. }),
            Self::Experience(_) => false,
        }
    }
}
