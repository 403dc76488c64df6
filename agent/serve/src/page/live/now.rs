//! Current activity and open question of a session, as its process reports them over its control socket.

use deskhand_machine::{money::Money, session::RoundTally};
use deskhand_runtime::{
    LivePage,
    story::{CommandTarget, Story},
    words::{cost_words, duration},
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::meant::{Place, PromptPicture, meant, targets};

/// A question of a session to its user.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct SessionPrompt {
    /// The id that an answer carries; `None` for the next request.
    pub(crate) id: Option<Value>,
    /// `questions`, `approval` or `request`.
    pub(crate) kind: &'static str,
    /// The line of the protocol.
    pub(crate) line: Value,
    /// The picture of what is meant.
    pub(crate) meant: Option<PromptPicture>,
}

/// The usage of the request in progress, in words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct BudgetUsage {
    /// The name of the counted quantity.
    name: &'static str,
    /// The amount used.
    used: String,
    /// The most it may; empty without a limit.
    most: String,
}

/// The state of a session beside its journal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct LiveSessionStatus {
    /// `true` if the process runs and listens.
    pub(crate) running: bool,
    /// `true` if the session is paused.
    pub(crate) paused: bool,
    /// `true` if a person has taken over.
    pub(crate) taken_over: bool,
    /// The wait of the session: the line of the protocol.
    pub(crate) waiting: Option<Value>,
    /// The open question.
    pub(crate) prompt: Option<SessionPrompt>,
    /// The reason why the session refused the last input sent to it.
    pub(crate) problem: Option<String>,
    /// The place on the screen that is acted on, or is meant by what it asks.
    pub(crate) mark: Option<Place>,
    /// The usage of the request in progress.
    pub(crate) used: Vec<BudgetUsage>,
}

/// Returns the usage of the request in progress, out of its budget.
fn used(story: &Story) -> Vec<BudgetUsage> {
    let summary = story.summary();
    let (Some(limits), Some(round)) = (story.limits(), summary.rounds.last()) else { return Vec::new() };
    let RoundTally { steps, model_calls, cost, .. } = round.tally;
    let most = |limit: Option<String>| limit.unwrap_or_default();
    vec![
        BudgetUsage { name: "steps", used: steps.to_string(), most: limits.steps_max.to_string() },
        BudgetUsage {
            name: "model calls",
            used: model_calls.to_string(),
            most: limits.model_calls_max.to_string(),
        },
        BudgetUsage {
            name: "cost",
            used: cost_words(cost),
            most: most(limits.money_max.as_ref().map(Money::to_string)),
        },
        BudgetUsage {
            name: "time",
            used: duration(round.elapsed_ms),
            most: most(limits.wall_ms_max.map(duration)),
        },
    ]
}

/// The control of the last call of the step in progress.
fn acted_on(story: &Story) -> Option<&CommandTarget> {
    story.step()?.acts.last()?.target.as_ref()
}

impl LiveSessionStatus {
    /// Takes in what the journal has, as far as it was read.
    pub(super) fn see(&mut self, page: &LivePage) {
        let story = page.story();
        let asked = self.prompt.as_ref().map(|prompt| targets(story, &prompt.line)).unwrap_or_default();
        let target = asked.first().or_else(|| acted_on(story));
        self.mark = target.and_then(|target| target.bounds).map(Place::from);
        self.used = used(story);
        if let Some(prompt) = &mut self.prompt
            && prompt.kind != "request"
        {
            prompt.meant = meant(story, &asked);
        }
    }

    /// Takes in a line of the protocol.
    pub(super) fn read(&mut self, line: Value) {
        let kind = line.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = line.get("id").cloned();
        match kind.as_str() {
            "attached" => {
                self.running = true;
                self.paused = line.get("paused").and_then(Value::as_bool).unwrap_or_default();
            }
            "recorded" => self.waiting = None,
            "waiting" => self.waiting = Some(line),
            "questions" => self.prompt = Some(SessionPrompt { id, kind: "questions", line, meant: None }),
            "approval" => self.prompt = Some(SessionPrompt { id, kind: "approval", line, meant: None }),
            "awaiting_request" => {
                self.prompt = Some(SessionPrompt { id: None, kind: "request", line, meant: None });
            }
            "withdrawn" if self.prompt.as_ref().is_some_and(|prompt| prompt.id == id) => self.prompt = None,
            "paused" => self.paused = true,
            "resumed" => (self.paused, self.taken_over) = (false, false),
            "taken_over" => (self.paused, self.taken_over) = (true, true),
            "handed_back" => (self.paused, self.taken_over) = (false, false),
            "error" => {
                let message = line.get("message").and_then(Value::as_str).unwrap_or_default();
                self.problem = Some(message.to_owned());
            }
            _ => {}
        }
    }
}
