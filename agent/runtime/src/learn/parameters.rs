//! Parameters of a workflow: values that occur in the request and differ from run to run.

use std::collections::BTreeMap;

use deskhand_machine::workflow::{
    Parameter, ParameterKind, WorkflowStep, literal,
    selector::{NamePattern, Selector},
};
use serde_json::Value;

use super::WorkflowDraft;

/// The longest value that can be a parameter, in characters.
const VALUE_CHARS_MAX: usize = 500;
/// Words that stand in most requests; a name that is one of them is no parameter.
const COMMON: &[&str] =
    &["all", "new", "and", "the", "for", "with", "into", "from", "file", "save", "open", "insert", "edit"];

/// A text that may be a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsure {
    /// The text.
    pub value: String,
    /// The proposed name of the parameter.
    pub name: String,
    /// The place of the text in the workflow.
    pub place: String,
}

/// Finds the parameters of a draft. Values that were typed and stand in the request are parameters; names of elements that stand there
/// may be.
pub(super) fn find(draft: &mut WorkflowDraft, request: &str) {
    let documents = std::mem::take(&mut draft.workflow.documents);
    let mut typed = Vec::new();
    collect(&draft.workflow.steps, &mut typed);
    for path in &documents {
        add(draft, &plain(path), "document", ParameterKind::File);
    }
    draft.workflow.documents = documents;
    replace_documents(draft);
    // Paths first: words of them are no values of their own.
    typed.sort_by_key(|(value, _)| kind_of(value) != ParameterKind::File);
    for (value, hint) in typed {
        let kind = kind_of(&value);
        // A path belongs to one run, whether the request says it or not.
        if kind == ParameterKind::File || stands_in(request, &value) {
            let hint = if kind == ParameterKind::File { "output" } else { hint.as_str() };
            add(draft, &value, hint, kind);
        }
    }
    let mut named = Vec::new();
    names(&draft.workflow.steps, &mut named);
    for (value, place) in named {
        let is_word = value.chars().count() < 2 || COMMON.contains(&value.to_lowercase().as_str());
        let is_known = draft.workflow.parameters.values().any(|known| known.example == value);
        let is_asked = draft.unsure.iter().any(|known| known.value == value);
        if !is_word && !is_known && !is_asked && stands_in(request, &value) {
            let name = draft.free_name(&slug(&value, "item"));
            draft.unsure.push(Unsure { value, name, place });
        }
    }
}

impl WorkflowDraft {
    /// Makes a text that was unsure a parameter.
    pub fn accept(&mut self, unsure: &Unsure) {
        add_as(self, &unsure.value, unsure.name.clone(), kind_of(&unsure.value));
        self.unsure.retain(|known| known != unsure);
    }

    /// A name that no parameter has.
    fn free_name(&self, wanted: &str) -> String {
        let taken = |name: &str| self.workflow.parameters.contains_key(name);
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        std::iter::once(wanted.to_owned()).chain(numbered).find(|name| !taken(name)).unwrap_or_default()
    }
}

fn kind_of(value: &str) -> ParameterKind {
    let is_number = value.trim().parse::<f64>().is_ok_and(f64::is_finite);
    match () {
        () if is_number => ParameterKind::Number,
        () if value.starts_with('/') || value.starts_with("~/") => ParameterKind::File,
        () => ParameterKind::Text,
    }
}

/// Makes a value a parameter, unless it is one.
fn add(draft: &mut WorkflowDraft, value: &str, hint: &str, kind: ParameterKind) {
    let is_known = draft.workflow.parameters.values().any(|known| known.example == value);
    if value.trim().is_empty() || is_known || value.chars().count() > VALUE_CHARS_MAX {
        return;
    }
    let name = draft.free_name(hint);
    add_as(draft, value, name, kind);
}

fn add_as(draft: &mut WorkflowDraft, value: &str, name: String, kind: ParameterKind) {
    let written = format!("{{{name}}}");
    let said = match kind {
        ParameterKind::File => value.rsplit('/').next().unwrap_or(value),
        ParameterKind::Text | ParameterKind::Number => value,
    };
    draft.workflow.request = replaced(&draft.workflow.request, &literal(said), &written);
    put_in(&mut draft.workflow.steps, value, &written);
    if kind == ParameterKind::File && said.contains('.') && said != value {
        // Titles and dialogs show the name of a file without its folder.
        put_in(&mut draft.workflow.steps, said, &format!("{{{name}.name}}"));
    }
    // A path belongs to one run; everything else is as it was unless it is given.
    let default = (kind != ParameterKind::File).then(|| value.to_owned());
    let parameter = Parameter { kind, example: value.to_owned(), default, ..Parameter::default() };
    draft.workflow.parameters.insert(name, parameter);
}

/// Ranges that are as large as a table that was entered at A1 before follow its size.
pub(super) fn follow_sizes(steps: &mut [WorkflowStep], size: &dyn Fn(&str) -> Option<String>) {
    let mut entered: Option<(String, String)> = None;
    for step in steps {
        let rows = step
            .arguments
            .get("rows")
            .and_then(Value::as_str)
            .and_then(|text| text.strip_prefix('{')?.strip_suffix('}'));
        let start = step.arguments.get("start").and_then(Value::as_str).unwrap_or("A1");
        if let Some(path) = rows.filter(|_| start == "A1") {
            entered = size(path).map(|corner| (path.to_owned(), corner));
        }
        if let (Some((path, corner)), Some(Value::String(range))) =
            (&entered, step.arguments.get_mut("range"))
            && *range == format!("A1:{corner}")
        {
            *range = format!("A1:{{{path}.corner}}");
        }
    }
}

fn replace_documents(draft: &mut WorkflowDraft) {
    let examples: BTreeMap<String, String> =
        draft.workflow.parameters.iter().map(|(name, known)| (known.example.clone(), name.clone())).collect();
    for document in &mut draft.workflow.documents {
        if let Some(name) = examples.get(&plain(document)) {
            *document = format!("{{{name}}}");
        }
    }
}

/// A written text as it is meant.
fn plain(text: &str) -> String {
    text.replace("{{", "{").replace("}}", "}")
}

/// The values that steps enter, with a word for what they are.
fn collect(steps: &[WorkflowStep], into: &mut Vec<(String, String)>) {
    for step in steps {
        let named = |aim: &Selector| aim.name.as_ref().map(NamePattern::plain).or_else(|| aim.label.clone());
        let field = step.aims.values().next().and_then(named).map(|name| slug(&name, ""));
        let field = field.filter(|name| !name.is_empty());
        for (argument, value) in &step.arguments {
            let hint = field.clone().unwrap_or_else(|| slug(argument, "value"));
            texts(value, &mut |text| into.push((plain(text), hint.clone())));
        }
        collect(&step.steps, into);
    }
}

/// The texts of an argument that have no values in them yet.
fn texts(value: &Value, found: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) if !is_reference(text) => found(text),
        Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| texts(value, found)),
        Value::Number(number) => found(&number.to_string()),
        Value::String(_) | Value::Null | Value::Bool(_) => {}
    }
}

fn is_reference(text: &str) -> bool {
    text.replace("{{", "").contains('{')
}

/// The names of elements that are chosen among others of their kind: items, cells, tabs.
fn names(steps: &[WorkflowStep], into: &mut Vec<(String, String)>) {
    for step in steps {
        for aim in step.aims.values() {
            let rows = aim.row.iter().cloned();
            let name = aim.name.as_ref().filter(|name| name.is_literal() && is_chosen(aim.role.name()));
            for text in rows.chain(name.map(NamePattern::plain)) {
                if !is_reference(&text) {
                    into.push((plain(&text), aim.describe()));
                }
            }
        }
        names(&step.steps, into);
    }
}

/// Returns `true` if elements of a role are distinguished by what they stand for.
fn is_chosen(role: &str) -> bool {
    const CHOSEN: &[&str] =
        &["list item", "table cell", "tree item", "page tab", "menu item", "link", "radio button", "icon"];
    CHOSEN.contains(&role)
}

/// Puts a parameter in the place of a value: whole texts, and whole words of names.
fn put_in(steps: &mut [WorkflowStep], value: &str, written: &str) {
    let from = literal(value);
    for step in steps {
        for argument in step.arguments.values_mut() {
            put_in_value(argument, &from, written);
        }
        if let Some(opens) = &mut step.expect.opens {
            *opens = replaced(opens, &from, written);
        }
        for aim in step.aims.values_mut() {
            if aim.name.as_ref().is_some_and(|name| plain(&name.plain()) == value) {
                aim.name = Some(NamePattern::new(written));
            }
            for text in &mut aim.row {
                if *text == from {
                    written.clone_into(text);
                }
            }
        }
        put_in(&mut step.steps, value, written);
    }
}

fn put_in_value(argument: &mut Value, from: &str, written: &str) {
    match argument {
        Value::String(text) if is_reference(text) => {}
        Value::String(text) => {
            *text = if text == from { written.to_owned() } else { replaced(text, from, written) }
        }
        Value::Number(number) if number.to_string() == from => *argument = Value::String(written.to_owned()),
        Value::Array(values) => values.iter_mut().for_each(|value| put_in_value(value, from, written)),
        Value::Object(fields) => fields.values_mut().for_each(|value| put_in_value(value, from, written)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns `true` if a text has these words, as whole ones.
fn stands_in(text: &str, words: &str) -> bool {
    !words.trim().is_empty() && places(text, words).next().is_some()
}

/// Finds the places of `words` in a text, ignoring case. Matches whole words only.
fn places<'a>(text: &'a str, words: &'a str) -> impl Iterator<Item = (usize, usize)> + 'a {
    let (text_low, words_low) = (text.to_lowercase(), words.to_lowercase());
    // Lower case may have another length; then only the same case is found.
    let same = text_low.len() == text.len() && words_low.len() == words.len();
    let (haystack, needle) = if same { (text_low, words_low) } else { (text.to_owned(), words.to_owned()) };
    let length = needle.len();
    let found: Vec<usize> = haystack.match_indices(needle.as_str()).map(|(at, _)| at).collect();
    found.into_iter().map(move |at| (at, at + length)).filter(move |(from, to)| {
        let before = text.get(..*from).and_then(|text| text.chars().next_back());
        let after = text.get(*to..).and_then(|text| text.chars().next());
        let is_inner = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        !is_inner(before) && !is_inner(after)
    })
}

/// A text with a parameter in the place of whole words.
fn replaced(text: &str, words: &str, written: &str) -> String {
    if words.is_empty() {
        return text.to_owned();
    }
    let mut new = String::new();
    let mut last = 0;
    for (from, to) in places(text, words) {
        if from >= last {
            new.push_str(text.get(last..from).unwrap_or_default());
            new.push_str(written);
            last = to;
        }
    }
    new.push_str(text.get(last..).unwrap_or_default());
    new
}

/// A name for a parameter out of a text: lower-case letters, digits and underscores.
fn slug(text: &str, otherwise: &str) -> String {
    const CHARS_MAX: usize = 24;
    let mut slug = String::new();
    for c in text.chars().take(CHARS_MAX) {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.ends_with('_') && !slug.is_empty() {
            slug.push('_');
        }
    }
    let slug = slug.trim_end_matches('_');
    let begins = slug.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins { slug.to_owned() } else { otherwise.to_owned() }
}
