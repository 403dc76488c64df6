//! Gestures of an operator, and its reply about its sub-task.

use crate::{
    reply::{AppReply, ProposedAction, UserQuestion},
    states::AppStatus,
};
use deskhand_ui::{
    action::Button,
    geometry::{Image, Point},
    keys::KeyChord,
};

/// Something that an operator does. Places are pixels of the picture that it was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperatorGesture {
    /// Clicks.
    Click {
        /// Place.
        at: Point<Image>,
        /// With which button.
        button: Button,
        /// Number of times: 1 to 3.
        count: u8,
    },
    /// Drags with the left button.
    Drag {
        /// From here.
        from: Point<Image>,
        /// To here.
        to: Point<Image>,
    },
    /// Turns the mouse wheel.
    Scroll {
        /// Place; `None` for the element with the focus.
        at: Option<Point<Image>>,
        /// Notches to the right; negative for left.
        right: i32,
        /// Notches downwards; negative for up.
        down: i32,
    },
    /// Types text where the focus is.
    Type {
        /// The text. A line break is Return, a tab is Tab.
        text: String,
    },
    /// Presses keys.
    Keys {
        /// The chords, in order.
        chords: Vec<KeyChord>,
    },
    /// Waits until something happens.
    Wait {
        /// The longest wait, in seconds.
        seconds: u16,
    },
}

/// The reply of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorReply {
    /// Its reasoning; may be empty.
    pub thought: String,
    /// Gestures, in order.
    pub gestures: Vec<OperatorGesture>,
    /// CONTINUE, SCREENSHOT, FINISH, FAIL, PENDING or CONFIRM.
    pub status: AppStatus,
    /// With FINISH the result, with FAIL the reason, with PENDING the question.
    pub text: String,
}

impl OperatorReply {
    /// The decision of an AppAgent with these actions, made of the gestures.
    #[must_use]
    pub fn deciding(self, actions: Vec<ProposedAction>) -> AppReply {
        let Self { thought, gestures: _, status, text } = self;
        let (question, result) = match status {
            AppStatus::Pending => (Some(UserQuestion::open(text)), None),
            AppStatus::Continue
            | AppStatus::Screenshot
            | AppStatus::Finish
            | AppStatus::Fail
            | AppStatus::Confirm
            | AppStatus::Error => (None, Some(text).filter(|text| !text.is_empty())),
        };
        AppReply {
            observation: String::new(),
            thought,
            status,
            word: status.to_string(),
            actions,
            plan: Vec::new(),
            comment: String::new(),
            questions: question.into_iter().collect(),
            result,
            control_reannotate: Vec::new(),
            notes: Vec::new(),
            save_picture: None,
            heal: None,
        }
    }
}
