//! Tools and arguments that are declared as data: those of a table, which all do the same with their arguments.

use deskhand_machine::{
    command::{ToolListingLevel, ToolSpec},
    intent::{Does, Takes},
};
use serde_json::{Map, Value, json};

/// The declaration of a tool in a table.
pub(super) struct DeclaredTool {
    pub(super) name: &'static str,
    /// The description of the tool, for models.
    pub(super) about: &'static str,
    pub(super) does: Does,
    pub(super) listing: ToolListingLevel,
    /// The applications that have it; empty for all.
    pub(super) only_in: &'static [&'static str],
    pub(super) arguments: &'static [DeclaredArgument],
}

impl DeclaredTool {
    /// Returns `true` if an argument is the path of a file.
    pub(super) fn is_file(&self, name: &str) -> bool {
        self.arguments.iter().any(|argument| argument.is(name) && argument.takes == Some(Takes::File))
    }

    /// The first required argument that is missing.
    pub(super) fn missing(&self, given: &Map<String, Value>) -> Option<&'static str> {
        let is_given = |name: &str| given.get(name).is_some_and(|value| !value.is_null());
        let required = self.arguments.iter().filter(|argument| !argument.optional);
        required.map(|argument| argument.name).find(|name| !is_given(name))
    }

    pub(super) fn spec(&self) -> ToolSpec {
        let properties: Map<String, Value> =
            self.arguments.iter().map(|argument| (argument.name.to_owned(), argument.schema())).collect();
        let required: Vec<&str> = self
            .arguments
            .iter()
            .filter(|argument| !argument.optional)
            .map(|argument| argument.name)
            .collect();
        let takes = |argument: &DeclaredArgument| Some((argument.name.to_owned(), argument.takes?));
        ToolSpec {
            name: self.name.to_owned(),
            description: self.about.to_owned(),
            parameters: json!({"type": "object", "properties": properties, "required": required}),
            acts: self.does.acts(),
            does: self.does,
            takes: self.arguments.iter().filter_map(takes).collect(),
            listing: self.listing,
            only_in: self.only_in.iter().map(ToString::to_string).collect(),
            source: None,
        }
    }
}

/// An argument.
pub(super) struct DeclaredArgument {
    name: &'static str,
    kind: DeclaredArgumentKind,
    /// The meaning of the argument, for models; empty if the name says it.
    about: &'static str,
    optional: bool,
    /// The kind of the argument, for the policy.
    takes: Option<Takes>,
}

/// The type of an argument.
enum DeclaredArgumentKind {
    Text,
    Integer,
    Number,
    Boolean,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A list of anything.
    List,
    /// Rows of cells.
    Rows,
    /// A name or a number.
    Any,
}

impl DeclaredArgument {
    const fn new(name: &'static str, kind: DeclaredArgumentKind) -> Self {
        Self { name, kind, about: "", optional: true, takes: None }
    }

    pub(super) const fn text(name: &'static str) -> Self {
        Self::new(name, DeclaredArgumentKind::Text)
    }

    pub(super) const fn integer(name: &'static str) -> Self {
        Self::new(name, DeclaredArgumentKind::Integer)
    }

    pub(super) const fn number(name: &'static str) -> Self {
        Self::new(name, DeclaredArgumentKind::Number)
    }

    pub(super) const fn boolean(name: &'static str) -> Self {
        Self::new(name, DeclaredArgumentKind::Boolean)
    }

    pub(super) const fn words(name: &'static str, words: &'static [&'static str]) -> Self {
        Self::new(name, DeclaredArgumentKind::Words(words))
    }

    pub(super) const fn list(name: &'static str) -> Self {
        Self::new(name, DeclaredArgumentKind::List)
    }

    pub(super) const fn rows(name: &'static str) -> Self {
        Self::new(name, DeclaredArgumentKind::Rows)
    }

    pub(super) const fn any(name: &'static str) -> Self {
        Self::new(name, DeclaredArgumentKind::Any)
    }

    /// The path of a file.
    pub(super) const fn file(name: &'static str) -> Self {
        Self::text(name).takes(Takes::File)
    }

    /// Returns `true` if it has this name.
    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    pub(super) const fn required(mut self) -> Self {
        self.optional = false;
        self
    }

    pub(super) const fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    pub(super) const fn takes(mut self, takes: Takes) -> Self {
        self.takes = Some(takes);
        self
    }

    fn schema(&self) -> Value {
        let mut schema: Map<String, Value> = Map::new();
        let mut set = |key: &str, value: Value| schema.insert(key.to_owned(), value);
        match self.kind {
            DeclaredArgumentKind::Text => set("type", "string".into()),
            DeclaredArgumentKind::Integer => set("type", "integer".into()),
            DeclaredArgumentKind::Number => set("type", "number".into()),
            DeclaredArgumentKind::Boolean => set("type", "boolean".into()),
            DeclaredArgumentKind::Words(words) => set("enum", words.into()),
            DeclaredArgumentKind::List => set("type", "array".into()),
            DeclaredArgumentKind::Rows => {
                set("type", "array".into());
                set("items", json!({"type": "array"}))
            }
            DeclaredArgumentKind::Any => None,
        };
        if !self.about.is_empty() {
            schema.insert("description".to_owned(), self.about.into());
        }
        Value::Object(schema)
    }
}
