//! The prompt templates.

use minijinja::{
    Environment, UndefinedBehavior,
    syntax::SyntaxConfig,
    value::{Serde, Value},
};
use serde::{Deserialize, Serialize};

use crate::text::{clip, is_forbidden_outside, one_line, shows_nothing};

/// A template that cannot be rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("render prompt `{name}`: {problem}")]
pub struct PromptError {
    /// The template.
    pub name: &'static str,
    /// The problem, with its line.
    pub problem: String,
}

/// The templates of a session. Stored beside the journal by hash, so that a replay renders the same prompts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptSet {
    /// The HostAgent's system prompt.
    pub host_system: String,
    /// The HostAgent's user prompt.
    pub host_user: String,
    /// The AppAgent's system prompt.
    pub app_system: String,
    /// The AppAgent's user prompt.
    pub app_user: String,
    /// The message to a model whose reply is invalid.
    pub repair: String,
    /// The EvaluationAgent's system prompt.
    #[serde(default = "evaluation_system")]
    pub evaluation_system: String,
    /// The EvaluationAgent's user prompt.
    #[serde(default = "evaluation_user")]
    pub evaluation_user: String,
}

fn evaluation_system() -> String {
    include_str!("../../prompts/evaluation_system.md").to_owned()
}

fn evaluation_user() -> String {
    include_str!("../../prompts/evaluation_user.md").to_owned()
}

impl Default for PromptSet {
    fn default() -> Self {
        Self {
            host_system: include_str!("../../prompts/host_system.md").to_owned(),
            host_user: include_str!("../../prompts/host_user.md").to_owned(),
            app_system: include_str!("../../prompts/app_system.md").to_owned(),
            app_user: include_str!("../../prompts/app_user.md").to_owned(),
            repair: include_str!("../../prompts/repair.md").to_owned(),
            evaluation_system: evaluation_system(),
            evaluation_user: evaluation_user(),
        }
    }
}

/// Renders a template with its input.
pub(super) fn render<I: Serialize>(
    name: &'static str,
    template: &str,
    input: &I,
) -> Result<String, PromptError> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    let broken = |problem: String| PromptError { name, problem };
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.map_err(|error| broken(format!("{error:#}")))?);
    environment.add_filter("quoted", |text: String| quoted(&text));
    environment
        .render_str(template, Value::from(Serde(input)))
        .map(|text| text.trim().to_owned() + "\n")
        .map_err(|error| broken(format!("{error:#}")))
}

/// A text that quotes what a model wrote, for a template: short, on one line, and without characters that hide or reorder others.
fn quoted(text: &str) -> String {
    const CHARS_MAX: usize = 1_000;
    let seen: String = text.chars().filter(|c| !shows_nothing(*c)).collect();
    one_line(&clip(&seen, CHARS_MAX)).chars().map(|c| if is_forbidden_outside(c) { ' ' } else { c }).collect()
}

impl PromptSet {
    /// Renders the message to a model whose reply is invalid.
    ///
    /// # Errors
    /// [`PromptError`] if the template is invalid.
    pub fn repair_message(&self, problem: &str) -> Result<String, PromptError> {
        #[derive(Serialize)]
        struct Input<'a> {
            problem: &'a str,
        }
        render("repair", &self.repair, &Input { problem })
    }
}
