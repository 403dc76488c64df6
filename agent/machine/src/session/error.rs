//! Events that a session cannot accept.

use super::{effect::Effect, event::SessionEvent};
use deskhand_ui::ids::EffectId;

/// An event that the session cannot accept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The session has ended.
    #[error("the session has ended and accepts no further event")]
    Ended,
    /// The event answers another effect than the pending one.
    #[error("the event answers effect {came:?}, but effect {wanted} is pending")]
    OtherEffect {
        /// The pending effect.
        wanted: EffectId,
        /// The effect that the event names.
        came: Option<EffectId>,
    },
    /// The event is not an answer to the pending effect.
    #[error("the event `{came}` does not answer effect {wanted}")]
    NoAnswer {
        /// The pending effect.
        wanted: EffectId,
        /// The kind of the event.
        came: &'static str,
    },
}

/// Returns `true` if an event answers an effect.
pub(super) const fn answers(effect: &Effect, event: &SessionEvent) -> bool {
    match effect {
        Effect::AwaitRequest => matches!(event, SessionEvent::Requested { .. } | SessionEvent::Ended),
        Effect::Observe { .. } => {
            matches!(event, SessionEvent::Observed { .. } | SessionEvent::ObserveFailed { .. })
        }
        Effect::Rank { .. } => matches!(event, SessionEvent::Ranked { .. }),
        Effect::Retrieve { .. } => matches!(event, SessionEvent::Retrieved { .. }),
        Effect::Ask { .. } => {
            matches!(event, SessionEvent::Replied { .. } | SessionEvent::ModelFailed { .. })
        }
        Effect::Call { .. } => matches!(event, SessionEvent::Returned { .. }),
        Effect::AskUser { .. } => {
            matches!(event, SessionEvent::Answered { .. } | SessionEvent::Unanswered { .. })
        }
        Effect::AwaitApproval { .. } => {
            matches!(
                event,
                SessionEvent::Approved { .. }
                    | SessionEvent::Rejected { .. }
                    | SessionEvent::Unanswered { .. }
            )
        }
        Effect::Delegate { .. } => matches!(event, SessionEvent::Delegated { .. }),
        Effect::Finish { .. } => matches!(event, SessionEvent::Acknowledged { .. }),
    }
}

/// The kind of an event, as in journals.
pub(super) const fn event_word(event: &SessionEvent) -> &'static str {
    match event {
        SessionEvent::Requested { .. } => "requested",
        SessionEvent::Ended => "ended",
        SessionEvent::Observed { .. } => "observed",
        SessionEvent::ObserveFailed { .. } => "observe_failed",
        SessionEvent::Ranked { .. } => "ranked",
        SessionEvent::Retrieved { .. } => "retrieved",
        SessionEvent::Replied { .. } => "replied",
        SessionEvent::ModelFailed { .. } => "model_failed",
        SessionEvent::Returned { .. } => "returned",
        SessionEvent::Answered { .. } => "answered",
        SessionEvent::Unanswered { .. } => "unanswered",
        SessionEvent::Approved { .. } => "approved",
        SessionEvent::Rejected { .. } => "rejected",
        SessionEvent::Delegated { .. } => "delegated",
        SessionEvent::Acknowledged { .. } => "acknowledged",
        SessionEvent::Stopped { .. } => "stopped",
        SessionEvent::Suspended { .. } => "suspended",
        SessionEvent::Told { .. } => "told",
        SessionEvent::TakenOver { .. } => "taken_over",
        SessionEvent::HandedBack { .. } => "handed_back",
        SessionEvent::Disclosed { .. } => "disclosed",
        SessionEvent::Resumed { .. } => "resumed",
    }
}
