//! Who decides on approvals in a session, and how long it waits for people.

use std::time::Duration;

use deskhand_runtime::people::{Approvals, Patience, SteeringScope};

use crate::config::{ApprovalSetting, ChannelSetting, PeopleSettings, SocketSetting};

/// Who decides on approvals, and how long a session waits for answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct PeopleRules {
    pub(super) approvals: Approvals,
    pub(super) question_timeout: Option<Duration>,
    pub(super) approval_timeout: Option<Duration>,
    /// Waiting behavior of questions for a client at the control socket; `None` for a session without a socket.
    pub(super) patience: Option<Patience>,
    /// Permissions of clients of the control socket.
    pub(super) socket: SocketSetting,
}

impl PeopleRules {
    pub(super) fn of(settings: &PeopleSettings) -> Self {
        let seconds = |seconds: Option<u64>| seconds.filter(|seconds| *seconds > 0).map(Duration::from_secs);
        Self {
            approvals: match settings.approvals {
                ApprovalSetting::Ask => Approvals::Ask,
                ApprovalSetting::All => Approvals::All,
                ApprovalSetting::None => Approvals::None,
            },
            question_timeout: seconds(settings.question_timeout_s),
            approval_timeout: seconds(settings.approval_timeout_s),
            patience: match settings.channel {
                ChannelSetting::Auto => Some(Patience::AskWhoIsThere),
                ChannelSetting::Socket => Some(Patience::WaitForSomebody),
                ChannelSetting::None => None,
            },
            socket: settings.socket,
        }
    }

    /// Returns the permissions of clients of the control socket beside the applications of a workspace.
    pub(super) const fn steering(&self, are_confined: bool) -> SteeringScope {
        match self.socket {
            SocketSetting::IfConfined if are_confined => SteeringScope::Whole,
            SocketSetting::Always => SteeringScope::Whole,
            SocketSetting::IfConfined | SocketSetting::Watch => SteeringScope::StopOnly,
        }
    }
}
