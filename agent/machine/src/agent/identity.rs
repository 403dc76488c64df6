//! Which agent is meant. Compared as a value; the name in words is for people, prompts and scripts.

use std::fmt;

use serde::{Deserialize, Serialize};

use deskhand_ui::ids::{AgentId, WindowId};

/// Which agent of a session is meant.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgentRef {
    /// The agent that owns the round.
    HostAgent,
    /// The agent of an application's window.
    AppAgent {
        /// The application root.
        application: String,
        /// The window; `None` for every window of the application.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window: Option<WindowId>,
    },
    /// An agent without a window.
    Agent {
        /// The name under which its kind is registered.
        name: String,
    },
    /// The agent that judges a finished round.
    EvaluationAgent,
    /// No agent of a session: a trial question, or one whose protocol does not name the agent.
    Unnamed,
}

impl AgentRef {
    const HOST_AGENT: &str = "HostAgent";
    const APP_AGENT: &str = "AppAgent/";
    const EVALUATION_AGENT: &str = "EvaluationAgent";

    /// The agent with that name, as [`Display`](fmt::Display) and scripts write it.
    pub fn from_name(name: &str) -> Self {
        match name {
            "" => Self::Unnamed,
            Self::HOST_AGENT => Self::HostAgent,
            Self::EVALUATION_AGENT => Self::EvaluationAgent,
            name => match name.strip_prefix(Self::APP_AGENT) {
                Some(root) => Self::AppAgent { application: root.to_owned(), window: None },
                None => Self::Agent { name: name.to_owned() },
            },
        }
    }

    /// Returns `true` if both may be the same agent: a reference without a window stands for every window of its application.
    pub fn matches(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::AppAgent { application: one, window: None },
                Self::AppAgent { application: two, window: _ },
            )
            | (
                Self::AppAgent { application: one, window: _ },
                Self::AppAgent { application: two, window: None },
            ) => one == two,
            (one, two) => one == two,
        }
    }

    /// The kind of agent in one word: `HostAgent`, `AppAgent`, `EvaluationAgent`, or the name of its kind.
    pub fn kind_word(&self) -> &str {
        match self {
            Self::HostAgent => Self::HOST_AGENT,
            Self::AppAgent { .. } => "AppAgent",
            Self::Agent { name } => name,
            Self::EvaluationAgent => Self::EVALUATION_AGENT,
            Self::Unnamed => "",
        }
    }
}

/// The name: `HostAgent`, `AppAgent/libreoffice-calc`; empty for [`AgentRef::Unnamed`].
impl fmt::Display for AgentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AppAgent { application, .. } => write!(f, "{}{application}", Self::APP_AGENT),
            Self::HostAgent | Self::Agent { .. } | Self::EvaluationAgent | Self::Unnamed => {
                f.write_str(self.kind_word())
            }
        }
    }
}

/// Who works on a sub-task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubtaskWorker {
    /// The AppAgent of a window.
    Window(WindowId),
    /// An agent without a window.
    Agent(AgentId),
}

impl fmt::Display for SubtaskWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Window(id) => id.fmt(f),
            Self::Agent(id) => id.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_stored_as_tagged_objects() {
        let check = |json: &str, expected: AgentRef| {
            let read: AgentRef = serde_json::from_str(json).unwrap();
            assert_eq!(read, expected, "{json}");
            let stored = serde_json::to_string(&read).unwrap();
            assert_eq!(serde_json::from_str::<AgentRef>(&stored).unwrap(), expected, "{stored}");
        };
        let app = |window| AgentRef::AppAgent { application: "gedit".to_owned(), window };
        check(r#"{"kind":"app_agent","application":"gedit","window":"w3"}"#, app(Some(WindowId(3))));
        check(r#"{"kind":"app_agent","application":"gedit"}"#, app(None));
        check(r#"{"kind":"host_agent"}"#, AgentRef::HostAgent);
        // An agent may be called what it likes: only its kind says what it is.
        check(r#"{"kind":"agent","name":"HostAgent"}"#, AgentRef::Agent { name: "HostAgent".to_owned() });
        assert!(serde_json::from_str::<AgentRef>("7").is_err());
    }

    #[test]
    fn a_reference_without_a_window_matches_every_window_of_its_application() {
        let app = |root: &str, window| AgentRef::AppAgent { application: root.to_owned(), window };
        assert!(app("gedit", None).matches(&app("gedit", Some(WindowId(1)))));
        assert!(app("gedit", Some(WindowId(1))).matches(&app("gedit", None)));
        assert!(!app("gedit", Some(WindowId(1))).matches(&app("gedit", Some(WindowId(2)))));
        assert!(!app("gedit", None).matches(&app("xed", None)));
        assert!(!AgentRef::HostAgent.matches(&AgentRef::EvaluationAgent));
    }
}
