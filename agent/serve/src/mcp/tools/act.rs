//! The tool `act`.

use std::fmt::Write as _;

use deskhand_machine::{command::ToolSpec, observation::Observation, prompt::tools_text};
use deskhand_runtime::words::effect_word;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{McpToolContext, McpToolHandler, McpToolOutput, unless_cancelled, window_of};
use crate::{
    desk::CompletedCommand,
    mcp::{unread::UndeliveredReport, words},
};

/// Runs up to 60 actions in a window, in order, until one fails or has an unexpected effect, such as a new dialog. Returns the verdict on
/// each, and what changed in the window.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ActToolArgs {
    #[serde(default)]
    desktop: Option<String>,
    /// Its id; by default the one that was opened or worked in last.
    #[serde(default)]
    window: Option<String>,
    actions: Vec<OneAction>,
    /// The reason, for the record.
    #[serde(default)]
    why: String,
    /// Show a picture of the window afterwards.
    #[serde(default)]
    picture: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneAction {
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// The tools of `act`, for a model.
pub(super) fn tools(specs: &[ToolSpec]) -> String {
    let (of_some, of_all): (Vec<ToolSpec>, Vec<ToolSpec>) =
        specs.iter().cloned().partition(|spec| !spec.only_in.is_empty());
    let mut text = format!(
        "An `id` may be a description, for what shows only after an earlier action: \
         {{\"role\": \"button\", \"name\": \"Save\"}}, or also `in`, `row`, `column`, `nth`.\n\nTools (`?` marks optional arguments; they are strings unless a type is given; `x` and `y` are fractions of the window, 0 to 1):\n\n{}",
        tools_text(&of_all)
    );
    let mut by_application: Vec<(String, Vec<ToolSpec>)> = Vec::new();
    for spec in of_some {
        let named = ToolSpec { listing: spec.listing.at_most_named(), ..spec };
        let applications = named.only_in.join(", ");
        match by_application.iter_mut().find(|(known, _)| *known == applications) {
            Some((_, tools)) => tools.push(named),
            None => by_application.push((applications, vec![named])),
        }
    }
    for (applications, tools) in by_application {
        let _ = write!(text, "\n\nOnly in {applications}, on the document itself. {}", tools_text(&tools));
    }
    text
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    desktop: String,
    window: String,
    /// In order; those that were not run are missing.
    actions: Vec<OneVerdict>,
    not_run: usize,
    text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OneVerdict {
    tool: String,
    /// `seen`, `not seen`, `refused`, `unknown`, `read`, `skipped` or `failed`.
    verdict: String,
}

impl McpToolHandler for ActToolArgs {
    type Output = Output;
    const NAME: &'static str = "act";
    const ONLY_READS: bool = false;
    const IS_DESTRUCTIVE: bool = true;

    async fn run(self, called: McpToolContext) -> Result<McpToolOutput, String> {
        let mut desk = called.desk(self.desktop.as_deref()).await?;
        let window = window_of(&desk, self.window.as_deref())?;
        let asked = self.actions.len();
        let actions = self.actions.into_iter().map(|one| (one.tool, one.arguments)).collect();
        let interrupter = desk.interrupter();
        let acting = desk.act(window, &self.why, actions);
        let turn = unless_cancelled(&called.call, &interrupter, acting).await?;
        let mut text = words::done(&turn);
        let left = asked.saturating_sub(turn.done.len());
        if left > 0 && turn.rejected.is_none() {
            let why = if called.call.is_cancelled() {
                "the call was cancelled"
            } else {
                "one before failed, had an unexpected effect, or opened a dialog"
            };
            text.push_str(&format!("\n{left} of {asked} actions were not run: {why}."));
        }
        desk.unread =
            turn.did_something().then(|| UndeliveredReport::new(&called.call, Self::NAME, text.as_str()));
        called.service.desks.worked_on(&desk.name);
        let mut picture = None;
        match &turn.seen {
            Some(Observation::Window(view)) if desk.window() == Some(window) => {
                let options = called.service.listing("");
                text = format!("{text}\n{}", words::window(view, desk.shown_before(window), &options));
                picture = view.picture.clone().filter(|_| self.picture);
                desk.shown(window, view.clone());
            }
            _ => text = format!("{text}\nWindow {window} has gone.\n{}", words::windows(&desk.desktop)),
        }
        let verdict = |done: &CompletedCommand| OneVerdict {
            tool: done.command.tool.clone(),
            verdict: effect_word(&done.result).to_owned(),
        };
        let output = Output {
            desktop: desk.name.clone(),
            window: window.to_string(),
            actions: turn.done.iter().map(verdict).collect(),
            not_run: left,
            text: text.clone(),
        };
        let mut answer = McpToolOutput { failed: !turn.succeeded(), ..McpToolOutput::of(text, &output) };
        for shown in turn.done.iter().filter_map(|done| done.result.picture.as_ref()) {
            answer = answer.with_picture(&desk, Some(shown))?;
        }
        answer.with_picture(&desk, picture.as_ref())
    }
}
