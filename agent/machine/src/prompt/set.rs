//! The prompt templates.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::{
    Environment, UndefinedBehavior,
    syntax::SyntaxConfig,
    value::{Serde, Value},
};
use serde::{Deserialize, Serialize};

use super::{Marks, small::SmallPromptPrefix};
use crate::agent::{AGENT_SYSTEM_PROMPT, AGENT_USER_PROMPT, AgentSteps};
use deskhand_ui::{
    AppInfo,
    text::{clip, is_forbidden_outside, one_line, shows_nothing},
};

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
    /// An operator's system prompt.
    #[serde(default = "operator_system")]
    pub operator_system: String,
    /// An operator's user prompt.
    #[serde(default = "operator_user")]
    pub operator_user: String,
    /// The system prompt about a step of a workflow that cannot be done as it is written.
    #[serde(default = "heal_system")]
    pub heal_system: String,
    /// The user prompt about it.
    #[serde(default = "heal_user")]
    pub heal_user: String,
    /// A HostAgent's system prompt for a small model.
    #[serde(default = "small_host_system")]
    pub small_host_system: String,
    /// A HostAgent's user prompt for a small model.
    #[serde(default = "small_host_user")]
    pub small_host_user: String,
    /// Worked examples for it: a JSON list of `{"input": {…}, "reply": {…}}`, whose input has variables of the user prompt.
    #[serde(default = "small_host_examples")]
    pub small_host_examples: String,
    /// The system prompt for a small model that gives a workflow its values.
    #[serde(default = "small_values_system")]
    pub small_values_system: String,
    /// The user prompt for it.
    #[serde(default = "small_values_user")]
    pub small_values_user: String,
    /// Worked examples for it.
    #[serde(default = "small_values_examples")]
    pub small_values_examples: String,
    /// An AppAgent's system prompt for a small model.
    #[serde(default = "small_app_system")]
    pub small_app_system: String,
    /// An AppAgent's user prompt for a small model.
    #[serde(default = "small_app_user")]
    pub small_app_user: String,
    /// Worked examples for it, in the same form.
    #[serde(default = "small_app_examples")]
    pub small_app_examples: String,
    /// Worked examples for the HostAgent, at the end of its system prompt.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host_examples: String,
    /// Worked examples for AppAgents.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub app_examples: String,
    /// Worked examples for the EvaluationAgent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evaluation_examples: String,
    /// Differing prompts for AppAgents of an application, by the root of its process or its name, in lower case.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub applications: BTreeMap<String, RolePrompts>,
}

/// Prompts of one role that differ from the usual ones.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RolePrompts {
    /// The system prompt, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The user prompt, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Worked examples, instead of the usual ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples: Option<String>,
}

/// The prompts for an AppAgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AppPrompts<'a> {
    pub(crate) system: &'a str,
    pub(crate) user: &'a str,
    pub(crate) examples: &'a str,
}

fn evaluation_system() -> String {
    include_str!("../../prompts/evaluation_system.md").to_owned()
}

fn operator_system() -> String {
    include_str!("../../prompts/operator_system.md").to_owned()
}

fn operator_user() -> String {
    include_str!("../../prompts/operator_user.md").to_owned()
}

fn evaluation_user() -> String {
    include_str!("../../prompts/evaluation_user.md").to_owned()
}

fn heal_system() -> String {
    include_str!("../../prompts/heal_system.md").to_owned()
}

fn heal_user() -> String {
    include_str!("../../prompts/heal_user.md").to_owned()
}

fn small_host_system() -> String {
    include_str!("../../prompts/small_host_system.md").to_owned()
}

fn small_host_user() -> String {
    include_str!("../../prompts/small_host_user.md").to_owned()
}

fn small_host_examples() -> String {
    include_str!("../../prompts/small_host_examples.json").to_owned()
}

fn small_values_system() -> String {
    include_str!("../../prompts/small_values_system.md").to_owned()
}

fn small_values_user() -> String {
    include_str!("../../prompts/small_values_user.md").to_owned()
}

fn small_values_examples() -> String {
    include_str!("../../prompts/small_values_examples.json").to_owned()
}

fn small_app_system() -> String {
    include_str!("../../prompts/small_app_system.md").to_owned()
}

fn small_app_user() -> String {
    include_str!("../../prompts/small_app_user.md").to_owned()
}

fn small_app_examples() -> String {
    include_str!("../../prompts/small_app_examples.json").to_owned()
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
            operator_system: operator_system(),
            operator_user: operator_user(),
            heal_system: heal_system(),
            heal_user: heal_user(),
            small_host_system: small_host_system(),
            small_host_user: small_host_user(),
            small_host_examples: small_host_examples(),
            small_values_system: small_values_system(),
            small_values_user: small_values_user(),
            small_values_examples: small_values_examples(),
            small_app_system: small_app_system(),
            small_app_user: small_app_user(),
            small_app_examples: small_app_examples(),
            host_examples: String::new(),
            app_examples: String::new(),
            evaluation_examples: String::new(),
            applications: BTreeMap::new(),
        }
    }
}

impl RolePrompts {
    /// Gives an agent without a window these prompts.
    pub fn put_into(&self, steps: &mut AgentSteps) {
        if let Some(system) = &self.system {
            steps.system_prompt.clone_from(system);
        }
        if let Some(user) = &self.user {
            steps.user_prompt.clone_from(user);
        }
        if let Some(examples) = &self.examples {
            steps.instructions =
                format!("{}\n\n# Examples\n\n{}", steps.instructions.trim(), examples.trim());
        }
    }
}

/// Renders a template with its input.
pub(super) fn render<I: Serialize>(
    name: &'static str,
    template: &str,
    input: &I,
) -> Result<String, PromptError> {
    environment(name)?
        .render_str(template, Value::from(Serde(input)))
        .map(|text| text.trim().to_owned() + "\n")
        .map_err(|error| PromptError { name, problem: format!("{error:#}") })
}

/// Examples with the template that they are shown by, to check them.
fn beginning<'a>(examples: &'a str, user: &'a str) -> SmallPromptPrefix<'a> {
    static NO_MARKS: Marks = Marks::none();
    SmallPromptPrefix { system: "", examples, user, can_end: true, marks: &NO_MARKS }
}

/// Creates the environment that parses templates.
fn environment(name: &'static str) -> Result<Environment<'static>, PromptError> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    let syntax = syntax.map_err(|error| PromptError { name, problem: format!("{error:#}") })?;
    environment.set_syntax(syntax);
    environment.add_filter("quoted", |text: String| quoted(&text));
    Ok(environment)
}

/// A text that quotes what a model wrote, for a template: short, on one line, and without characters that hide or reorder others.
fn quoted(text: &str) -> String {
    const CHARS_MAX: usize = 1_000;
    let seen: String = text.chars().filter(|c| !shows_nothing(*c)).collect();
    one_line(&clip(&seen, CHARS_MAX)).chars().map(|c| if is_forbidden_outside(c) { ' ' } else { c }).collect()
}

/// The templates of agents without a window, which are no part of the set.
const AGENT_SYSTEM: &str = "agent_system";
const AGENT_USER: &str = "agent_user";

/// The examples that have a form.
const SMALL_HOST_EXAMPLES: &str = "small_host_examples";
const SMALL_VALUES_EXAMPLES: &str = "small_values_examples";
const SMALL_APP_EXAMPLES: &str = "small_app_examples";

/// Names of the templates, each with the variables that an agent needs to identify its task.
const TEMPLATES: &[(&str, &[&str])] = &[
    ("host_system", &["tools"]),
    ("host_user", &["targets", "request"]),
    ("app_system", &["tools"]),
    ("app_user", &["request", "subtask", "surfaces"]),
    ("repair", &["problem"]),
    ("evaluation_system", &[]),
    ("evaluation_user", &["request", "result"]),
    ("operator_system", &[]),
    ("operator_user", &["request", "subtask"]),
    ("heal_system", &[]),
    ("heal_user", &["call", "trouble", "surfaces"]),
    ("small_host_system", &[]),
    ("small_host_user", &["request", "titles"]),
    ("small_values_system", &[]),
    ("small_values_user", &["request", "values"]),
    ("small_app_system", &[]),
    ("small_app_user", &["task", "actions", "elements"]),
    (AGENT_SYSTEM, &["statuses", "tools"]),
    (AGENT_USER, &["subtask", "view"]),
    (SMALL_HOST_EXAMPLES, &[]),
    (SMALL_VALUES_EXAMPLES, &[]),
    (SMALL_APP_EXAMPLES, &[]),
    ("host_examples", &[]),
    ("app_examples", &[]),
    ("evaluation_examples", &[]),
];

impl PromptSet {
    /// The names of its templates, and of its examples.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TEMPLATES.iter().map(|(name, _)| *name).filter(|name| ![AGENT_SYSTEM, AGENT_USER].contains(name))
    }

    /// The template or the examples of that name; `None` if there are none.
    pub fn template_mut(&mut self, name: &str) -> Option<&mut String> {
        Some(match name {
            "host_system" => &mut self.host_system,
            "host_user" => &mut self.host_user,
            "app_system" => &mut self.app_system,
            "app_user" => &mut self.app_user,
            "repair" => &mut self.repair,
            "evaluation_system" => &mut self.evaluation_system,
            "evaluation_user" => &mut self.evaluation_user,
            "operator_system" => &mut self.operator_system,
            "operator_user" => &mut self.operator_user,
            "heal_system" => &mut self.heal_system,
            "heal_user" => &mut self.heal_user,
            "small_host_system" => &mut self.small_host_system,
            "small_host_user" => &mut self.small_host_user,
            "small_host_examples" => &mut self.small_host_examples,
            "small_values_system" => &mut self.small_values_system,
            "small_values_user" => &mut self.small_values_user,
            "small_values_examples" => &mut self.small_values_examples,
            "small_app_system" => &mut self.small_app_system,
            "small_app_user" => &mut self.small_app_user,
            "small_app_examples" => &mut self.small_app_examples,
            "host_examples" => &mut self.host_examples,
            "app_examples" => &mut self.app_examples,
            "evaluation_examples" => &mut self.evaluation_examples,
            _ => return None,
        })
    }

    /// Checks a template before it is used: that it can be rendered, uses only variables that exist, and shows the agent what it
    /// cannot do without.
    ///
    /// # Errors
    /// [`PromptError`] with the line or the variable.
    pub fn check(name: &str, template: &str) -> Result<(), PromptError> {
        let Some((name, needed)) = TEMPLATES.iter().find(|(known, _)| *known == name) else { return Ok(()) };
        match *name {
            SMALL_HOST_EXAMPLES => return beginning(template, &small_host_user()).of_host().map(drop),
            SMALL_VALUES_EXAMPLES => {
                return beginning(template, &small_values_user()).of_values().map(drop);
            }
            SMALL_APP_EXAMPLES => return beginning(template, &small_app_user()).of_app().map(drop),
            name if name.ends_with("_examples") => return Ok(()),
            _ => {}
        }
        let wrong = |problem: String| PromptError { name, problem };
        let environment = environment(name)?;
        let parsed = environment.template_from_str(template).map_err(|error| wrong(format!("{error:#}")))?;
        let used = parsed.undeclared_variables(/*nested*/ false);
        let usual = match *name {
            AGENT_SYSTEM => AGENT_SYSTEM_PROMPT.to_owned(),
            AGENT_USER => AGENT_USER_PROMPT.to_owned(),
            name => Self::default().template_mut(name).map(std::mem::take).unwrap_or_default(),
        };
        let parsed = environment.template_from_str(&usual).map_err(|error| wrong(format!("{error:#}")))?;
        let known: BTreeSet<String> = parsed.undeclared_variables(/*nested*/ false).into_iter().collect();
        if let Some(unknown) = used.iter().find(|variable| !known.contains(*variable)) {
            let known: Vec<String> = known.into_iter().collect();
            return Err(wrong(format!("there is no variable `{unknown}`; there are {}", known.join(", "))));
        }
        match needed.iter().find(|variable| !used.contains(**variable)) {
            Some(missing) => {
                Err(wrong(format!("`{{{{ {missing} }}}}` is missing: the agent would not see it")))
            }
            None => Ok(()),
        }
    }

    /// The prompts for the AppAgent of an application.
    pub(crate) fn app(&self, application: Option<&AppInfo>) -> AppPrompts<'_> {
        let names = application.map(|app| [&app.root, &app.name]).into_iter().flatten();
        let own = names.filter_map(|name| self.applications.get(&name.to_lowercase())).next();
        AppPrompts {
            system: own.and_then(|own| own.system.as_deref()).unwrap_or(&self.app_system),
            user: own.and_then(|own| own.user.as_deref()).unwrap_or(&self.app_user),
            examples: own.and_then(|own| own.examples.as_deref()).unwrap_or(&self.app_examples),
        }
    }

    /// Renders the message to a model whose reply is invalid; `operates` if it is an operator, which may reply otherwise than in JSON.
    ///
    /// # Errors
    /// [`PromptError`] if the template is invalid.
    pub fn repair_message(&self, problem: &str, operates: bool) -> Result<String, PromptError> {
        #[derive(Serialize)]
        struct RepairPromptVariables<'a> {
            problem: &'a str,
            operates: bool,
        }
        render("repair", &self.repair, &RepairPromptVariables { problem, operates })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_prompts_pass_their_check() {
        let mut prompts = PromptSet::default();
        for name in PromptSet::names() {
            let template = prompts.template_mut(name).unwrap().clone();
            assert_eq!(PromptSet::check(name, &template), Ok(()), "{name}");
        }
        assert_eq!(PromptSet::check(AGENT_SYSTEM, AGENT_SYSTEM_PROMPT), Ok(()));
        assert_eq!(PromptSet::check(AGENT_USER, AGENT_USER_PROMPT), Ok(()));
        let value = serde_json::to_value(PromptSet { host_examples: "x".to_owned(), ..PromptSet::default() });
        let fields = value.unwrap();
        for name in PromptSet::names().filter(|name| !name.ends_with("examples")) {
            assert!(fields.get(name).is_some(), "{name} is not a template of the set");
        }
    }

    #[test]
    fn a_prompt_is_checked_before_it_is_used() {
        let said = |name: &str, text: &str| PromptSet::check(name, text).unwrap_err().to_string();
        let problem = said("app_user", "{{ request }} {{ subtask }} {{ surface }}");
        assert!(
            problem.starts_with("render prompt `app_user`: there is no variable `surface`; there are"),
            "{problem}"
        );
        let problem = said("app_user", "{{ request }} {{ subtask }}");
        assert!(problem.ends_with("`{{ surfaces }}` is missing: the agent would not see it"), "{problem}");
        let problem = said("host_system", "tools: {{ tools }\n");
        assert!(problem.contains("syntax error") && problem.contains(":1)"), "{problem}");
        assert_eq!(PromptSet::check("host_system", "be brief. {{ tools }}"), Ok(()));
    }
}
