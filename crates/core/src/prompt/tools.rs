//! The descriptions of tools in prompts.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::Value;

use crate::{
    command::{Listing, ToolSpec},
    text::one_line,
};

/// Describes the tools: signature, description and arguments. Arguments that several tools describe in the same words
/// are explained once, at the top.
pub fn tools_text(tools: &[ToolSpec]) -> String {
    let listed = |wanted: Listing| {
        let tools = tools.iter().filter(move |tool| tool.listing == wanted);
        tools.map(|tool| (tool, arguments(tool))).collect::<Vec<(&ToolSpec, Vec<Argument>)>>()
    };
    let (described, named) = (listed(Listing::Whole), listed(Listing::Name));
    let mut uses: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for argument in described.iter().flat_map(|(_, arguments)| arguments) {
        *uses.entry((&argument.name, &argument.about)).or_default() += 1;
    }
    let is_shared = |argument: &Argument| {
        !argument.about.is_empty()
            && uses.get(&(&argument.name, &argument.about)).is_some_and(|count| *count > 2)
    };
    let mut text = String::new();
    let mut shared: Vec<&Argument> = Vec::new();
    for argument in
        described.iter().flat_map(|(_, arguments)| arguments).filter(|argument| is_shared(argument))
    {
        if !shared.iter().any(|known| known.name == argument.name && known.about == argument.about) {
            shared.push(argument);
        }
    }
    if !shared.is_empty() {
        text.push_str("Unless a tool says otherwise:\n");
        for argument in shared {
            let _ = writeln!(text, "- `{}`: {}", argument.name, argument.about);
        }
        text.push('\n');
    }
    for (tool, arguments) in &described {
        let _ = writeln!(text, "## {}\n{}", signature(tool, arguments), tool.description.trim());
        for argument in arguments.iter().filter(|argument| !is_shared(argument) && !argument.about.is_empty())
        {
            let _ = writeln!(text, "- `{}`: {}", argument.name, argument.about);
        }
        text.push('\n');
    }
    if !named.is_empty() {
        let named: Vec<String> = named.iter().map(|(tool, arguments)| signature(tool, arguments)).collect();
        let _ = writeln!(text, "Also available: {}.", named.join(", "));
    }
    text.trim_end().to_owned()
}

/// `read_text(id, name?)`
fn signature(tool: &ToolSpec, arguments: &[Argument]) -> String {
    let arguments: Vec<String> = arguments.iter().map(Argument::signature).collect();
    format!("{}({})", tool.name, arguments.join(", "))
}

struct Argument {
    name: String,
    /// Its type; `None` for a string.
    kind: Option<String>,
    required: bool,
    about: String,
}

impl Argument {
    /// `name`, `count?: integer`
    fn signature(&self) -> String {
        let optional = if self.required { "" } else { "?" };
        match &self.kind {
            Some(kind) => format!("{}{optional}: {kind}", self.name),
            None => format!("{}{optional}", self.name),
        }
    }
}

fn arguments(tool: &ToolSpec) -> Vec<Argument> {
    let properties = tool.parameters.get("properties").and_then(Value::as_object);
    let required = tool.parameters.get("required").and_then(Value::as_array);
    let argument = |(name, schema): (&String, &Value)| {
        let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let kind = type_text(schema, &tool.parameters);
        Argument {
            name: name.clone(),
            kind: (kind != "string").then_some(kind),
            required: required.is_some_and(|names| names.iter().any(|known| known == name.as_str())),
            about: one_line(about).replace('⏎', " "),
        }
    };
    properties.into_iter().flatten().map(argument).collect()
}

/// The type of a schema in words: `string`, `list of string`, `left|right`.
fn type_text(schema: &Value, root: &Value) -> String {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()) {
        let target = root.get("$defs").and_then(|definitions| definitions.get(name));
        return target.map_or_else(|| name.to_owned(), |target| type_text(target, root));
    }
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<String> = options.iter().map(Value::to_string).collect();
        return words.join("|");
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(options) = schema.get(key).and_then(Value::as_array) {
            let mut words: Vec<String> = options
                .iter()
                .filter(|option| option.get("type").and_then(Value::as_str) != Some("null"))
                .map(|option| match option.get("const") {
                    Some(constant) => constant.to_string(),
                    None => type_text(option, root),
                })
                .collect();
            words.dedup();
            return words.join(" or ");
        }
    }
    let named = match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or("any").to_owned()
        }
        _ => "any".to_owned(),
    };
    match schema.get("items").filter(|_| named == "array") {
        Some(items) => format!("list of {}", type_text(items, root)),
        None => named,
    }
}
