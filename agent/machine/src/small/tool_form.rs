//! A tool as a small model is offered it: an action on an element, with one text.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    command::{ToolListingLevel, ToolSpec},
    known_tools::{CLICK, TYPE},
    reply::{ProposedAction, ReplyError},
};
use deskhand_ui::{ids::ElementId, text::one_line};

/// A tool of at most two arguments: an element, and something that is written as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ToolForm {
    /// Its name.
    pub(crate) name: String,
    /// Purpose of the tool.
    about: String,
    element: ArgumentRequirement,
    /// The argument that the text is for.
    text: Option<(String, ToolTextKind)>,
}

/// Need for an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ArgumentRequirement {
    Never,
    Perhaps,
    Always,
}

/// Type of value that the text of a tool stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ToolTextKind {
    Text,
    Number,
    Flag,
    /// Entries, separated by `>` or a line break.
    List,
    /// A line for each row, with cells separated by `|` or a tab.
    Rows,
}

impl ToolTextKind {
    /// The type of a schema; `None` if no text can stand for it.
    fn of(schema: &Value, root: &Value) -> Option<Self> {
        let schema = resolved(schema, root);
        let Some(kind) = schema.get("type").and_then(Value::as_str) else {
            // Any value will do.
            return Some(Self::Text);
        };
        match kind {
            "string" => Some(Self::Text),
            "integer" | "number" => Some(Self::Number),
            "boolean" => Some(Self::Flag),
            "array" => match Self::of(schema.get("items")?, root)? {
                Self::Text => Some(Self::List),
                Self::List => Some(Self::Rows),
                Self::Number | Self::Flag | Self::Rows => None,
            },
            _ => None,
        }
    }

    /// Describes the format of the text, for the model.
    const fn how(self) -> &'static str {
        match self {
            Self::Text => "",
            Self::Number => "a number",
            Self::Flag => "yes or no",
            Self::List => "names separated by >",
            Self::Rows => "a line for each row, with cells separated by |",
        }
    }

    /// The value that a text stands for.
    fn value(self, text: &str) -> Result<Value, String> {
        let entries = |text: &str, separators: &[char]| -> Vec<Value> {
            let parts = text.split(separators).map(str::trim);
            parts.map(|part| Value::String(part.to_owned())).collect()
        };
        match self {
            Self::Text => Ok(Value::String(text.to_owned())),
            Self::Number => text
                .trim()
                .parse::<serde_json::Number>()
                .map(Value::Number)
                .map_err(|_| format!("`{text}` is not a number")),
            Self::Flag => match text.trim().to_lowercase().as_str() {
                "yes" | "true" | "on" | "1" => Ok(Value::Bool(true)),
                "no" | "false" | "off" | "0" => Ok(Value::Bool(false)),
                _ => Err(format!("`{text}` is neither yes nor no")),
            },
            Self::List => Ok(Value::Array(entries(text.trim(), &['>', '\n']))),
            Self::Rows => {
                let rows = text.trim_matches('\n').lines();
                Ok(rows.map(|row| Value::Array(entries(row, &['|', '\t']))).collect())
            }
        }
    }
}

impl ToolForm {
    /// The form of a tool; `None` if it needs more than an element and a text, or models are not told of it.
    pub(crate) fn of(tool: &ToolSpec) -> Option<Self> {
        if tool.listing == ToolListingLevel::Nothing {
            return None;
        }
        let properties = tool.parameters.get("properties").and_then(Value::as_object);
        let required = tool.parameters.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: Vec<&str> = required.filter_map(Value::as_str).collect();
        let is_required = |name: &str| required.contains(&name);
        let element = match properties.is_some_and(|properties| properties.contains_key(ID)) {
            true if is_required(ID) => ArgumentRequirement::Always,
            true => ArgumentRequirement::Perhaps,
            false => ArgumentRequirement::Never,
        };
        let mut others = required.iter().filter(|name| **name != ID);
        let text = match (others.next(), others.next()) {
            (None, _) => None,
            (Some(name), None) => {
                let schema = properties.and_then(|properties| properties.get(*name))?;
                Some(((*name).to_owned(), ToolTextKind::of(schema, &tool.parameters)?))
            }
            (Some(_), Some(_)) => return None,
        };
        let about = one_line(tool.description.trim()).replace('⏎', " ");
        Some(Self { name: tool.name.clone(), about, element, text })
    }

    /// Returns `true` if it is offered in any case: without them nothing can be done in most windows.
    pub(crate) fn is_basic(&self) -> bool {
        [CLICK, TYPE].contains(&self.name.as_str())
    }

    /// Returns the words that it is ranked by.
    pub(crate) fn words(&self) -> String {
        format!("{}: {}", self.name.replace('_', " "), self.about)
    }

    /// Its line in a prompt.
    pub(crate) fn line(&self) -> String {
        let text = match &self.text {
            None => String::new(),
            Some((name, kind)) if kind.how().is_empty() => format!(" `text`: the {name}."),
            Some((_, kind)) => format!(" `text`: {}.", kind.how()),
        };
        format!("- {}: {}{text}", self.name, self.about)
    }

    /// The action on an element with a text.
    ///
    /// # Errors
    /// It needs an element or a text that is missing, or the text is not of its kind.
    pub(crate) fn action(
        &self,
        element: Option<ElementId>,
        text: &str,
    ) -> Result<ProposedAction, ReplyError> {
        let mut arguments = Map::new();
        match (self.element, element) {
            (ArgumentRequirement::Always, None) => {
                return Err(ReplyError::field(
                    "element",
                    format!("`{}` needs one of the elements", self.name),
                ));
            }
            (ArgumentRequirement::Never, _) | (ArgumentRequirement::Perhaps, None) => {}
            (ArgumentRequirement::Always | ArgumentRequirement::Perhaps, Some(id)) => {
                arguments.insert(ID.to_owned(), Value::String(id.to_string()));
            }
        }
        if let Some((name, kind)) = &self.text {
            if text.is_empty() {
                return Err(ReplyError::field("text", format!("missing; `{}` needs the {name}", self.name)));
            }
            let value = kind.value(text).map_err(|problem| ReplyError::field("text", problem))?;
            arguments.insert(name.clone(), value);
        }
        Ok(ProposedAction { function: self.name.clone(), arguments, expect: None, carries: Vec::new() })
    }
}

/// The argument for an element.
const ID: &str = "id";

/// A schema, or what it refers to.
fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
    let defined = name.and_then(|name| root.get("$defs").and_then(|all| all.get(name)));
    defined.unwrap_or(schema)
}
