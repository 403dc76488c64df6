//! Settings for one run, which override the file and the environment.

use serde_json::Value;

/// Values for one run, each with the name that its caller knows it by, which messages and explanations show.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overrides {
    pub(super) model: Option<Override>,
    pub(super) values: Vec<Override>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Override {
    pub(super) key: String,
    pub(super) value: Value,
    pub(super) name: String,
}

impl Overrides {
    /// Chooses the model by a specification: the name of one of `models`, `PROVIDER:MODEL` or `script:FILE`.
    #[must_use]
    pub fn model(mut self, spec: &str, name: &str) -> Self {
        self.model =
            Some(Override { key: "model".to_owned(), value: Value::from(spec), name: name.to_owned() });
        self
    }

    /// Sets a key, such as `limits.steps_max`.
    #[must_use]
    pub fn set(mut self, key: &str, value: impl Into<Value>, name: &str) -> Self {
        self.values.push(Override { key: key.to_owned(), value: value.into(), name: name.to_owned() });
        self
    }

    /// Sets a key if there is a value for it.
    #[must_use]
    pub fn set_if(self, key: &str, value: Option<impl Into<Value>>, name: &str) -> Self {
        match value {
            Some(value) => self.set(key, value, name),
            None => self,
        }
    }
}
