//! The tool `act`.

use deskhand_core::{command::ToolSpec, observation::Observation, prompt::tools_text};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Answer, Called, Tool, window_of};
use crate::mcp::words;

/// Runs up to 20 actions in a window, in order, until one fails or has an unexpected effect, such as a new dialog. Returns the verdict on
/// each, and what changed in the window.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Act {
    #[serde(default)]
    desktop: Option<String>,
    /// Its id; by default the one that is worked in.
    #[serde(default)]
    window: Option<String>,
    actions: Vec<OneAction>,
    /// The reason, for the record.
    #[serde(default)]
    why: String,
    /// Whether to show a picture of the window afterwards.
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
    format!(
        "Tools (`?` marks optional arguments; they are strings unless a type is given; `x` and `y` are fractions of the window, 0 to 1):\n\n{}",
        tools_text(specs)
    )
}

impl Tool for Act {
    const NAME: &'static str = "act";
    const ONLY_READS: bool = false;

    async fn run(self, called: Called) -> Result<Answer, String> {
        let (_, mut desk) = called.desk(self.desktop.as_deref()).await?;
        let window = window_of(&desk, self.window.as_deref())?;
        let actions = self.actions.into_iter().map(|one| (one.tool, one.arguments)).collect();
        let turn = desk.act(window, &self.why, actions).await?;
        let mut text = words::done(&turn);
        let mut picture = None;
        match &turn.seen {
            Some(Observation::Window(view)) if desk.window() == Some(window) => {
                let options = called.server.listing("");
                text = format!("{text}\n{}", words::window(view, desk.shown_before(window), &options));
                picture = view.picture.clone().filter(|_| self.picture);
                desk.shown(window, view.clone());
            }
            _ => text = format!("{text}\nWindow {window} has gone.\n{}", words::windows(&desk.desktop)),
        }
        Answer { failed: !turn.succeeded(), ..Answer::text(text) }.with_picture(&desk, picture.as_ref())
    }
}
