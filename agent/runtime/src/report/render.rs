//! The page templates. All inserted values are escaped.

use deskhand_ui::text::escape_hidden;
use minijinja::{
    AutoEscape, Environment, UndefinedBehavior, escape_formatter,
    syntax::SyntaxConfig,
    value::{Serde, Value},
};
use serde::Serialize;

use super::ReportError;

/// The style of report pages.
pub const CSS: &str = include_str!("templates/report.css");
pub(super) const JS: &str = include_str!("templates/report.js");

const TEMPLATES: &[(&str, &str)] = &[
    ("head", include_str!("templates/head.html")),
    ("round", include_str!("templates/round.html")),
    ("step", include_str!("templates/step.html")),
    ("aside", include_str!("templates/aside.html")),
    ("foot", include_str!("templates/foot.html")),
];

/// An environment for templates of pages: all inserted values are escaped.
///
/// # Errors
/// The syntax of templates is wrong, which it is not.
pub fn template_environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    // Titles, names and documents come from outside.
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => escape_formatter(out, state, &Value::from(escape_hidden(text))),
        Some(_) | None => escape_formatter(out, state, value),
    });
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    Ok(environment)
}

/// The parsed templates.
pub(super) struct Templates(Environment<'static>);

impl Templates {
    pub(super) fn new() -> Result<Self, ReportError> {
        let broken = |name: &'static str, problem: String| ReportError::Template { name, problem };
        let environment = template_environment();
        let mut environment = environment.map_err(|error| broken("syntax", format!("{error:#}")))?;
        for (name, text) in TEMPLATES {
            environment.add_template(name, text).map_err(|error| broken(name, format!("{error:#}")))?;
        }
        Ok(Self(environment))
    }

    /// Renders a template.
    pub(super) fn render<T: Serialize>(&self, name: &'static str, input: &T) -> Result<String, ReportError> {
        let broken = |error: minijinja::Error| ReportError::Template { name, problem: format!("{error:#}") };
        let template = self.0.get_template(name).map_err(broken)?;
        template.render(Value::from(Serde(input))).map_err(broken)
    }
}
