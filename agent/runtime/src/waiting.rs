//! Live state of what a session waits for. The journal does not record waits, only the results.

use deskhand_machine::{agent::AgentRef, session::Effect};
use deskhand_model::{ModelSign, ModelSigns};
use deskhand_secret::Veil;
use tokio::{sync::watch, time::Instant};

/// The current wait of a session, and its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionWait {
    /// The kind of wait.
    pub on: WaitReason,
    /// Since when.
    pub since: Instant,
}

/// A kind of wait of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitReason {
    /// A server on this machine to load a model.
    LocalModel,
    /// The start of a private desktop.
    Desktop,
    /// Documents to open, by their paths or addresses.
    Opening(Vec<String>),
    /// A look at the desktop or a window.
    Look,
    /// The reply of a model.
    Reply {
        /// The display name of the model.
        model: String,
        /// The bytes of the response so far; 0 before the first one.
        received: usize,
        /// The last words of the reply so far, without secrets: at most [`WaitReason::WORDS_CHARS_MAX`] characters. Empty if it is not streamed.
        words: String,
    },
    /// The next request to a model, after one failed.
    Retry {
        /// The display name of the model.
        model: String,
        /// Why the request failed.
        reason: String,
        /// When the next one is sent.
        at: Instant,
        /// Its number, from 2.
        attempt: u32,
        /// The most requests of one question.
        attempts_max: u32,
    },
    /// Retrievers.
    Help,
    /// A tool.
    Tool {
        /// Its name.
        tool: String,
        /// The agent that called it.
        agent: String,
    },
    /// An agent without a window.
    Agent {
        /// The sub-task that the agent works on.
        subtask: String,
        /// The progress in the agent's own words; empty if it reports none.
        state: String,
    },
    /// The user's answers to questions.
    Answers,
    /// The user's decision on an action.
    Approval,
    /// The user's next request.
    Request,
    /// Applications to close.
    Closing,
}

impl WaitReason {
    /// The most characters of an arriving reply that are reported.
    pub const WORDS_CHARS_MAX: usize = 4_000;

    /// Returns the wait of a session that performs an effect of `agent`; `model` is the display name of the model.
    pub(crate) fn of(effect: &Effect, agent: Option<&AgentRef>, model: &str) -> Option<Self> {
        Some(match effect {
            Effect::AwaitRequest => Self::Request,
            Effect::Observe { .. } => Self::Look,
            Effect::Ask { .. } => Self::Reply { model: model.to_owned(), received: 0, words: String::new() },
            Effect::Call { command } => {
                let agent = agent.map(ToString::to_string).unwrap_or_default();
                Self::Tool { tool: command.tool.clone(), agent }
            }
            Effect::AskUser { .. } => Self::Answers,
            Effect::AwaitApproval { .. } => Self::Approval,
            Effect::Delegate { subtask, .. } => {
                Self::Agent { subtask: subtask.clone(), state: String::new() }
            }
            Effect::Retrieve { .. } => Self::Help,
            Effect::Rank { .. } | Effect::Finish { .. } => return None,
        })
    }

    /// Returns `true` if the session waits for the user.
    pub const fn is_for_user(&self) -> bool {
        matches!(self, Self::Answers | Self::Approval | Self::Request)
    }
}

/// A shared cell in which a session publishes its current wait. Cheap to clone; clones share the state.
#[derive(Debug, Clone)]
pub struct Waits(watch::Sender<Option<SessionWait>>);

impl Default for Waits {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl Waits {
    /// Says what the session waits for, until the guard is dropped.
    pub fn begin(&self, on: WaitReason) -> WaitGuard<'_> {
        self.set(on);
        WaitGuard(self)
    }

    /// Follows what is waited for; `None` between two waits.
    pub fn follow(&self) -> watch::Receiver<Option<SessionWait>> {
        self.0.subscribe()
    }

    pub(crate) fn set(&self, on: WaitReason) {
        self.0.send_replace(Some(SessionWait { on, since: Instant::now() }));
    }
}

/// A wait in progress.
#[must_use = "the wait ends when this is dropped"]
#[derive(Debug)]
pub struct WaitGuard<'a>(&'a Waits);

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.0.0.send_replace(None);
    }
}

/// Says how far a question to a model is.
pub(crate) struct ModelWaits<'a> {
    pub(crate) waits: &'a Waits,
    /// The display name of the model.
    pub(crate) model: &'a str,
    /// Hides secrets in what it says.
    pub(crate) veil: Veil,
}

impl ModelSigns for ModelWaits<'_> {
    fn sign(&self, sign: ModelSign) {
        match sign {
            ModelSign::Asked { model } => {
                self.waits.set(WaitReason::Reply { model, received: 0, words: String::new() });
            }
            // Since when it waits stays as it is.
            ModelSign::Receiving { bytes, words: said } => {
                // More arrives than is reported: a secret is hidden before its beginning is cut off.
                let said = without_entries(&self.veil.hide(&said));
                let said = last_of(&said, WaitReason::WORDS_CHARS_MAX).to_owned();
                self.waits.0.send_modify(|waiting| {
                    if let Some(SessionWait { on: WaitReason::Reply { received, words, .. }, .. }) = waiting {
                        (*received, *words) = (bytes, said);
                    }
                });
            }
            ModelSign::Retrying { reason, after, attempt, attempts_max } => {
                let at = Instant::now() + after;
                let model = self.model.to_owned();
                self.waits.set(WaitReason::Retry { model, reason, at, attempt, attempts_max });
            }
        }
    }
}

/// A reply that is being written, without the texts that it enters: whether one is a password is only known once the reply is whole.
fn without_entries(said: &str) -> String {
    const TEXTS: [&str; 4] = ["\"text\"", "\"value\"", "\"keys\"", "\"content\""];
    let (mut rest, mut shown) = (said, String::new());
    while let Some(at) = TEXTS.iter().filter_map(|key| Some(rest.find(key)? + key.len())).min() {
        let (before, behind) = rest.split_at(at);
        shown.push_str(before);
        let value = behind.trim_start_matches([' ', '\n', '\t', ':']);
        shown.push_str(behind.get(..behind.len() - value.len()).unwrap_or_default());
        let Some(inner) = value.strip_prefix('"') else {
            rest = value;
            continue;
        };
        let mut escaped = false;
        let end = inner.find(|c: char| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        shown.push_str("\"…");
        rest = end.and_then(|end| inner.get(end..)).unwrap_or_default();
    }
    shown.push_str(rest);
    shown
}

/// The last characters of a text, at most this many.
fn last_of(text: &str, chars_max: usize) -> &str {
    let at = text.char_indices().rev().nth(chars_max.saturating_sub(1)).map_or(0, |(at, _)| at);
    text.get(at..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::without_entries;

    #[test]
    fn a_reply_that_is_being_written_does_not_show_what_it_enters() {
        #[track_caller]
        fn check(said: &str, shown: &str) {
            assert_eq!(without_entries(said), shown);
        }
        check(r#"{"thought": "log in", "text": "hunter2"}"#, r#"{"thought": "log in", "text": "…"}"#);
        check(r#"{"text" : "hun"#, r#"{"text" : "…"#);
        check(
            r#"{"text": "hun\"ter\\", "value":"2", "keys": "h u"#,
            r#"{"text": "…", "value":"…", "keys": "…"#,
        );
        check(r#"{"value": 7, "text"#, r#"{"value": 7, "text"#);
        check("no JSON at all", "no JSON at all");
    }
}
