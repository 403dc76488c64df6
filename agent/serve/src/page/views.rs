//! The templates of the page. All inserted values are escaped.

use axum::response::Html;
use deskhand_runtime::report::template_environment;
use minijinja::{
    Environment,
    value::{Serde, Value},
};
use serde::Serialize;

use super::error::PageApiError;

const TEMPLATES: &[(&str, &str)] = &[
    ("layout", include_str!("templates/layout.html")),
    ("fields", include_str!("templates/fields.html")),
    ("home", include_str!("templates/home.html")),
    ("session", include_str!("templates/session.html")),
    ("time_line", include_str!("templates/time_line.html")),
    ("workflows", include_str!("templates/workflows.html")),
    ("batches", include_str!("templates/batches.html")),
    ("batch", include_str!("templates/batch.html")),
    ("tasks", include_str!("templates/tasks.html")),
    ("schedules", include_str!("templates/schedules.html")),
    ("comparison", include_str!("templates/comparison.html")),
    ("prompt", include_str!("templates/prompt.html")),
    ("failed", include_str!("templates/failed.html")),
    ("now", include_str!("templates/now.html")),
    ("fleet_now", include_str!("templates/fleet_now.html")),
];

/// The parsed templates.
pub(crate) struct PageTemplates(Environment<'static>);

impl PageTemplates {
    pub(super) fn new() -> Result<Self, minijinja::Error> {
        let mut environment = template_environment()?;
        for (name, text) in TEMPLATES {
            environment.add_template(name, text)?;
        }
        Ok(Self(environment))
    }

    /// Renders a template.
    ///
    /// # Errors
    /// It is broken.
    pub(crate) fn text<T: Serialize>(&self, name: &str, input: &T) -> Result<String, PageApiError> {
        let failed = |error: minijinja::Error| PageApiError::failed("make the page", &error);
        self.0.get_template(name).map_err(failed)?.render(Value::from(Serde(input))).map_err(failed)
    }

    /// Renders a page.
    ///
    /// # Errors
    /// Its template is broken.
    pub(crate) fn page<T: Serialize>(&self, name: &str, input: &T) -> Result<Html<String>, PageApiError> {
        Ok(Html(self.text(name, input)?))
    }
}
