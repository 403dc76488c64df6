//! Options for sessions that a form starts: model, budget, desktop, approvals.

use std::path::Path;

use deskhand_host::config::{
    ApprovalSetting, Config, KeepSetting, Overrides, ScreenSize, Sources, VerifySetting, load,
};
use deskhand_ui::text::error_chain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::page::error::PageApiError;

/// Options of a run. What is left out is as the configuration has it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(super) struct SessionOptions {
    /// The model: `PROVIDER:MODEL`, `script:FILE`, or a name of the configuration.
    pub(super) model: Option<String>,
    /// The size of the desktop: `1920x1080`.
    pub(super) size: Option<String>,
    /// The most that the model may cost, in dollars.
    #[schemars(range(min = 0))]
    pub(super) max_cost: Option<f64>,
    /// The most steps of all agents.
    #[schemars(range(min = 1, max = u32::MAX))]
    pub(super) max_steps: Option<u32>,
    /// The most minutes.
    #[schemars(range(min = 1, max = u32::MAX))]
    pub(super) max_minutes: Option<u32>,
    /// A file of rules to use instead of those of the configuration; its whole path.
    pub(super) policy: Option<String>,
    /// Handling of actions that need approval.
    pub(super) approve: Option<ApprovalSetting>,
    /// Retention of the desktop at the end.
    pub(super) keep: Option<KeepSetting>,
    /// Verification of sub-tasks by the HostAgent.
    pub(super) verify: Option<VerifySetting>,
}

impl SessionOptions {
    /// Checks them, and returns them as arguments of the program.
    ///
    /// # Errors
    /// One of them cannot be; the error names its field.
    pub(super) fn arguments(&self) -> Result<Vec<String>, PageApiError> {
        let size = given(self.size.as_ref());
        if let Some(Err(problem)) = size.map(str::parse::<ScreenSize>) {
            return Err(PageApiError::conflict(problem).about("size"));
        }
        let policy = given(self.policy.as_ref());
        if let Some(policy) = policy {
            check_policy(policy).map_err(|problem| PageApiError::conflict(problem).about("policy"))?;
        }
        if self.max_cost.is_some_and(|cost| !cost.is_finite() || cost < 0.0) {
            return Err(PageApiError::in_field("max_cost", "no amount of money; give dollars, such as 0.50"));
        }
        for (field, number) in [("max_steps", self.max_steps), ("max_minutes", self.max_minutes)] {
            if number == Some(0) {
                return Err(PageApiError::in_field(
                    field,
                    "with none, nothing could be done; give at least 1",
                ));
            }
        }
        let options = [
            ("model", given(self.model.as_ref()).map(str::to_owned)),
            ("size", size.map(str::to_owned)),
            ("max-cost", self.max_cost.map(|value| value.to_string())),
            ("max-steps", self.max_steps.map(|value| value.to_string())),
            ("max-minutes", self.max_minutes.map(|value| value.to_string())),
            ("policy", policy.map(str::to_owned)),
            ("approve", self.approve.map(|value| word(&value))),
            ("keep", self.keep.map(|value| word(&value))),
            ("verify", self.verify.map(|value| word(&value))),
        ];
        let options = options.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value?)));
        Ok(options.collect())
    }
}

/// Checks a file of rules, as a run with it would.
fn check_policy(named: &str) -> Result<(), String> {
    if !named.starts_with("~/") && !Path::new(named).is_absolute() {
        return Err("no whole path; it begins with `/` or `~/`".to_owned());
    }
    let wanted = Overrides::default().set("policy.file", named, "the form");
    match load(&Sources::of_user().with(wanted)) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("{}; {}", error_chain(&error), error.help())),
    }
}

/// A text that is not blank.
fn given(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty())
}

/// The word of a setting, which is the same on the command line.
fn word(setting: &impl Serialize) -> String {
    let value = serde_json::to_value(setting).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// The defaults of a run for options that are not set, as forms show them.
#[derive(Debug, Serialize)]
pub(super) struct Defaults {
    model: String,
    /// The names of models of the configuration.
    models: Vec<String>,
    size: String,
    max_cost: String,
    max_steps: String,
    max_minutes: String,
    policy: String,
    approve: String,
    keep: String,
    verify: String,
}

impl Defaults {
    pub(super) fn of(config: &Config) -> Self {
        let model = &config.model;
        let model = match (&model.script, &model.provider, &model.model) {
            (Some(script), ..) => format!("script:{}", script.display()),
            (None, Some(provider), Some(name)) => format!("{}:{name}", word(provider)),
            (None, Some(provider), None) => word(provider),
            (None, None, _) => "none is configured".to_owned(),
        };
        let or_none = |number: Option<String>| number.unwrap_or_else(|| "no limit".to_owned());
        Self {
            model,
            models: config.models.keys().cloned().collect(),
            size: config.desktop.size.to_string(),
            max_cost: or_none(config.limits.cost_max.map(|cost| cost.to_string())),
            max_steps: config.limits.steps_max.to_string(),
            max_minutes: or_none(config.limits.minutes_max.map(|minutes| minutes.to_string())),
            policy: config
                .policy
                .file
                .as_ref()
                .map_or_else(|| "that of the configuration".to_owned(), |file| file.display().to_string()),
            approve: word(&config.people.approvals),
            keep: word(&config.desktop.keep),
            verify: word(&config.work.verify),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_arguments_and_problems_name_their_field() {
        let options = SessionOptions {
            model: Some(" mine ".to_owned()),
            size: Some("800x600".to_owned()),
            max_cost: Some(0.5),
            approve: Some(ApprovalSetting::None),
            ..SessionOptions::default()
        };
        let arguments = options.arguments().unwrap();
        assert_eq!(arguments, ["--model=mine", "--size=800x600", "--max-cost=0.5", "--approve=none"]);
        let field = |options: SessionOptions| options.arguments().unwrap_err().field();
        let policy = Some("rules.toml".to_owned());
        assert_eq!(field(SessionOptions { policy, ..SessionOptions::default() }), Some("policy"));
        let policy = Some("/nonexistent/rules.toml".to_owned());
        let refused = SessionOptions { policy, ..SessionOptions::default() }.arguments().unwrap_err();
        assert_eq!(refused.field(), Some("policy"));
        let size = Some("--help".to_owned());
        assert_eq!(field(SessionOptions { size, ..SessionOptions::default() }), Some("size"));
        assert_eq!(
            field(SessionOptions { max_cost: Some(-1.0), ..SessionOptions::default() }),
            Some("max_cost")
        );
        assert_eq!(
            field(SessionOptions { max_steps: Some(0), ..SessionOptions::default() }),
            Some("max_steps")
        );
    }
}
