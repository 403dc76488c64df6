//! The templates in force.

use minijinja::{
    Environment, UndefinedBehavior,
    syntax::SyntaxConfig,
    value::{Serde, Value},
};
use serde::{Deserialize, Serialize};

/// A template that could not be rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("render the prompt `{name}`: {problem}")]
pub struct PromptError {
    /// The template.
    pub name: &'static str,
    /// What is wrong with it, with the line.
    pub problem: String,
}

/// Every template that a session uses. Stored beside the journal by its hash, so that a replay asks what was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptSet {
    /// The HostAgent's instructions.
    pub host_system: String,
    /// What the HostAgent is given at each step.
    pub host_user: String,
    /// The AppAgents' instructions.
    pub app_system: String,
    /// What an AppAgent is given at each step.
    pub app_user: String,
    /// What a model is told about a reply that cannot be used.
    pub repair: String,
    /// The EvaluationAgent's instructions.
    #[serde(default = "evaluation_system")]
    pub evaluation_system: String,
    /// What the EvaluationAgent is given.
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
    environment
        .render_str(template, Value::from(Serde(input)))
        .map(|text| text.trim().to_owned() + "\n")
        .map_err(|error| broken(format!("{error:#}")))
}

impl PromptSet {
    /// What a model is told about a reply that cannot be used.
    ///
    /// # Errors
    /// [`PromptError`] when the template is broken.
    pub fn repair_message(&self, problem: &str) -> Result<String, PromptError> {
        #[derive(Serialize)]
        struct Input<'a> {
            problem: &'a str,
        }
        render("repair", &self.repair, &Input { problem })
    }
}
