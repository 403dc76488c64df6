//! Texts with values in braces.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::{Map, Value};

/// A text that cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A brace is not closed, or closes nothing.
    #[error("a brace of `{text}` has no partner; write `{{{{` and `}}}}` for braces that are meant")]
    Brace {
        /// The text.
        text: String,
    },
    /// A value does not exist.
    #[error("there is no value `{name}`{}", .has.as_ref().map(|has| format!("; there is {has}")).unwrap_or_default())]
    Missing {
        /// Its path.
        name: String,
        /// Contents of the part of its path that exists.
        has: Option<String>,
    },
}

/// A part of a text.
pub(super) enum ValueTextSegment<'a> {
    Text(String),
    /// The path of a value.
    Value(&'a str),
}

/// The parts of a text.
pub(super) fn pieces(text: &str) -> Result<Vec<ValueTextSegment<'_>>, TemplateError> {
    let error = || TemplateError::Brace { text: text.to_owned() };
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        if let Some(after) = from.strip_prefix("{{") {
            plain.push('{');
            rest = after;
        } else if let Some(after) = from.strip_prefix("}}") {
            plain.push('}');
            rest = after;
        } else {
            let (name, after) =
                from.strip_prefix('{').and_then(|from| from.split_once('}')).ok_or_else(error)?;
            if name.trim().is_empty() || name.contains('{') {
                return Err(error());
            }
            parts.push(ValueTextSegment::Text(std::mem::take(&mut plain)));
            parts.push(ValueTextSegment::Value(name.trim()));
            rest = after;
        }
    }
    plain.push_str(rest);
    parts.push(ValueTextSegment::Text(plain));
    Ok(parts)
}

/// The names that a text refers to, without what follows them in a path.
pub(super) fn names_in(text: &str) -> Result<BTreeSet<String>, TemplateError> {
    let first = |path: &str| path.split('.').next().unwrap_or_default().to_owned();
    let name = |part: ValueTextSegment<'_>| match part {
        ValueTextSegment::Value(path) => Some(first(path)),
        ValueTextSegment::Text(_) => None,
    };
    Ok(pieces(text)?.into_iter().filter_map(name).collect())
}

/// The names that the texts of a value refer to.
pub(super) fn names_in_value(value: &Value) -> Result<BTreeSet<String>, TemplateError> {
    let mut names = BTreeSet::new();
    match value {
        Value::String(text) => names.extend(names_in(text)?),
        Value::Array(values) => {
            for value in values {
                names.extend(names_in_value(value)?);
            }
        }
        Value::Object(fields) => {
            for value in fields.values() {
                names.extend(names_in_value(value)?);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(names)
}

/// Returns the text before the first of these names; `None` if the text has none of them.
pub(super) fn before_value(text: &str, is_one: &dyn Fn(&str) -> bool) -> Option<String> {
    let mut before = String::new();
    for piece in pieces(text).ok()? {
        match piece {
            ValueTextSegment::Text(plain) => before.push_str(&plain),
            ValueTextSegment::Value(path) if is_one(path.split('.').next().unwrap_or_default().trim()) => {
                return Some(before);
            }
            // A parameter is the user's, but is not what the file itself says.
            ValueTextSegment::Value(_) => before.push('{'),
        }
    }
    None
}

/// A text that stands for itself: its braces are doubled.
pub fn literal(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// The parameters and saved values of a run.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Values(BTreeMap<String, Value>);

impl Values {
    /// Those of parameters.
    pub fn of(parameters: &BTreeMap<String, String>) -> Self {
        Self(parameters.iter().map(|(name, value)| (name.clone(), Value::String(value.clone()))).collect())
    }

    /// Saves a value.
    pub fn save(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// The value at a path: `table`, `table.rows.0.2`. Besides, a list has its `count` and, as the rows of a table at A1, its `corner`, such
    /// as C5; a path of a file has its `name`, `stem` and `folder`.
    ///
    /// # Errors
    /// There is none.
    pub fn at(&self, path: &str) -> Result<Cow<'_, Value>, TemplateError> {
        let mut names = path.split('.').map(str::trim);
        let first = names.next().unwrap_or_default();
        let known = || self.0.keys().cloned().collect::<Vec<_>>().join(", ");
        let missing = |has: Option<String>| TemplateError::Missing { name: path.to_owned(), has };
        let mut value = self.0.get(first).ok_or_else(|| missing(Some(known())))?;
        while let Some(name) = names.next() {
            let next = match value {
                Value::Array(values) => name.parse::<usize>().ok().and_then(|index| values.get(index)),
                Value::Object(fields) => fields.get(name),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
            };
            value = match next {
                Some(next) => next,
                None => {
                    let derived = derived(value, name).filter(|_| names.next().is_none());
                    return derived.map(Cow::Owned).ok_or_else(|| missing(Some(shape(value))));
                }
            };
        }
        Ok(Cow::Borrowed(value))
    }

    /// The text with its values filled in.
    ///
    /// # Errors
    /// A brace has no partner, or a value does not exist.
    pub fn fill(&self, text: &str) -> Result<String, TemplateError> {
        self.fill_with(text, str::to_owned)
    }

    /// The same with each value as `form` writes it.
    pub(super) fn fill_with(
        &self,
        text: &str,
        form: impl Fn(&str) -> String,
    ) -> Result<String, TemplateError> {
        let mut filled = String::new();
        for part in pieces(text)? {
            match part {
                ValueTextSegment::Text(text) => filled.push_str(&text),
                ValueTextSegment::Value(path) => filled.push_str(&form(&text_of(&*self.at(path)?))),
            }
        }
        Ok(filled)
    }

    /// A value with the values of its texts filled in. A text that is nothing but a value becomes that value: a table stays a table.
    ///
    /// # Errors
    /// As of [`Self::fill`].
    pub fn fill_value(&self, value: &Value) -> Result<Value, TemplateError> {
        Ok(match value {
            Value::String(text) => match pieces(text)?.as_slice() {
                [
                    ValueTextSegment::Text(before),
                    ValueTextSegment::Value(path),
                    ValueTextSegment::Text(after),
                ] if before.is_empty() && after.is_empty() => self.at(path)?.into_owned(),
                _ => Value::String(self.fill(text)?),
            },
            Value::Array(values) => {
                Value::Array(values.iter().map(|value| self.fill_value(value)).collect::<Result<_, _>>()?)
            }
            Value::Object(fields) => Value::Object(self.fill_map(fields)?),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        })
    }

    /// Arguments with the values of their texts filled in.
    ///
    /// # Errors
    /// As of [`Self::fill`].
    pub fn fill_map(&self, fields: &Map<String, Value>) -> Result<Map<String, Value>, TemplateError> {
        fields.iter().map(|(name, value)| Ok((name.clone(), self.fill_value(value)?))).collect()
    }
}

/// Returns a derived property of a value, besides its parts.
fn derived(value: &Value, name: &str) -> Option<Value> {
    match (value, name) {
        (Value::Array(values), "count") => Some(Value::from(values.len())),
        (Value::Array(rows), "corner") => {
            let columns = rows.iter().filter_map(Value::as_array).map(Vec::len).max()?;
            Some(Value::from(format!("{}{}", letters(columns), rows.len())))
        }
        (Value::String(path), "name") => Some(Value::from(path.rsplit('/').next()?)),
        (Value::String(path), "stem") => {
            let name = path.rsplit('/').next()?;
            Some(Value::from(name.rsplit_once('.').map_or(name, |(stem, _)| stem)))
        }
        (Value::String(path), "folder") => {
            Some(Value::from(path.rsplit_once('/').map_or("", |(folder, _)| folder)))
        }
        (_, _) => None,
    }
}

/// The letters of a column, from 1: A, Z, AA.
fn letters(mut column: usize) -> String {
    let mut letters = Vec::new();
    while column > 0 {
        let last = u8::try_from((column - 1) % 26).unwrap_or(0);
        letters.push(char::from(b'A' + last));
        column = (column - 1) / 26;
    }
    letters.iter().rev().collect()
}

/// A value as a part of a text.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// Describes the contents of a value, for a message.
fn shape(value: &Value) -> String {
    match value {
        Value::Array(values) => format!("a list of {}", values.len()),
        Value::Object(fields) => fields.keys().cloned().collect::<Vec<_>>().join(", "),
        Value::Null => "nothing".to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => format!("the value {value}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn values() -> Values {
        let mut values = Values::of(&BTreeMap::from([("quarter".to_owned(), "Q3".to_owned())]));
        values.save("table", json!({"rows": [["Acme", 12.5], ["Duck", 7]]}));
        values
    }

    #[test]
    fn values_are_filled_in() {
        let check = |text: &str, expected: &str| assert_eq!(values().fill(text).unwrap(), expected, "{text}");
        check("Sales {quarter}", "Sales Q3");
        check("{ table.rows.1.0 }: {table.rows.0.1}", "Duck: 12.5");
        check("{{quarter}} of {quarter}", "{quarter} of Q3");
        check("", "");
        check("A1:{table.rows.corner} of {table.rows.count}", "A1:B2 of 2");
        assert_eq!(
            (letters(1), letters(26), letters(27), letters(703)),
            ("A".into(), "Z".into(), "AA".into(), "AAA".into())
        );
        let mut values = values();
        values.save("file", json!("/home/ann/a.b.ods"));
        assert_eq!(values.fill("{file.name} {file.stem} {file.folder}").unwrap(), "a.b.ods a.b /home/ann");
        assert_eq!(values.fill(&literal("a {b} }c{")).unwrap(), "a {b} }c{");
    }

    #[test]
    fn a_text_that_is_a_value_keeps_its_form() {
        let filled =
            values().fill_value(&json!({"rows": "{table.rows}", "as": ["{table.rows.0.1}", "{quarter}!"]}));
        let expected = json!({"rows": [["Acme", 12.5], ["Duck", 7]], "as": [12.5, "Q3!"]});
        assert_eq!(filled.unwrap(), expected);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let check = |text: &str, expected: &str| {
            assert_eq!(values().fill(text).unwrap_err().to_string(), expected, "{text}");
        };
        check("{month}", "there is no value `month`; there is quarter, table");
        check("{table.rows.9}", "there is no value `table.rows.9`; there is a list of 2");
        check("{quarter.x}", "there is no value `quarter.x`; there is the value \"Q3\"");
        for text in ["{open", "close}", "{}", "{a{b}"] {
            let problem = values().fill(text).unwrap_err().to_string();
            assert!(problem.contains("has no partner"), "{problem}");
        }
    }

    #[test]
    fn names_are_found_in_all_texts() {
        let value = json!({"a": ["{x.1}", {"b": "{y} {{z}}"}], "c": 3});
        assert_eq!(names_in_value(&value).unwrap(), BTreeSet::from(["x".to_owned(), "y".to_owned()]));
    }
}
