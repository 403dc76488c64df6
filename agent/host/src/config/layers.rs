//! Layers of settings; each value remembers its source.

use std::{collections::BTreeMap, fmt, ops::Range, path::PathBuf};

use deskhand_ui::suggest::nearest;
use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use super::{
    ConfigError,
    schema::{allowed, every_key, expects, is_section, keys_of, node, type_word, value_at},
};

/// The source of a value. Later ones win.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    /// A line of the file.
    File {
        /// The file.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
    },
    /// An environment variable.
    Environment(String),
    /// The resumed session.
    Session(String),
    /// An override of this run, by the name that the caller gave it, such as `the flag --size`.
    Override(String),
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) => write!(f, "the environment variable {name}"),
            Self::Session(id) => write!(f, "session {id}"),
            Self::Override(name) => f.write_str(name),
        }
    }
}

/// Merged settings: the values, and the origin of each by key.
#[derive(Debug, Clone, Default)]
pub(super) struct Layers {
    pub(super) values: Map<String, Value>,
    pub(super) origins: BTreeMap<String, SettingOrigin>,
}

impl Layers {
    /// Adds the text of the file.
    pub(super) fn add_file(
        &mut self,
        path: &std::path::Path,
        text: &str,
        schema: &Value,
    ) -> Result<(), ConfigError> {
        self.add_text(path, text, schema, &mut Vec::new())
    }

    fn add_text(
        &mut self,
        path: &std::path::Path,
        text: &str,
        schema: &Value,
        below: &mut Vec<String>,
    ) -> Result<(), ConfigError> {
        let line_of = |span: Option<Range<usize>>| {
            let end = span.map_or(0, |span| span.start);
            text.get(..end).map_or(1, |head| head.matches('\n').count() + 1)
        };
        let table = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
            place: format!("{}:{}", path.display(), line_of(error.span())),
            problem: error.message().replace('\n', "; "),
        })?;
        let origin_of =
            |span: Range<usize>| SettingOrigin::File { path: path.to_owned(), line: line_of(Some(span)) };
        self.add_table(table.get_ref(), below, schema, &origin_of)
    }

    /// Adds the text of a file that has the keys of `section`, in place of what was there.
    pub(super) fn add_section_file(
        &mut self,
        section: &str,
        path: &std::path::Path,
        text: &str,
        schema: &Value,
    ) -> Result<(), ConfigError> {
        let below = format!("{section}.");
        self.origins.retain(|key, _| !key.starts_with(&below));
        self.values.remove(section);
        self.add_text(path, text, schema, &mut vec![section.to_owned()])
    }

    fn add_table(
        &mut self,
        table: &DeTable<'_>,
        path: &mut Vec<String>,
        schema: &Value,
        origin_of: &dyn Fn(Range<usize>) -> SettingOrigin,
    ) -> Result<(), ConfigError> {
        for (key, value) in table {
            path.push(key.get_ref().to_string());
            let origin = origin_of(key.span());
            check_known(path, schema, &origin)?;
            match value.get_ref() {
                DeValue::Table(inner) => self.add_table(inner, path, schema, origin_of)?,
                scalar @ (DeValue::String(_)
                | DeValue::Integer(_)
                | DeValue::Float(_)
                | DeValue::Boolean(_)
                | DeValue::Datetime(_)
                | DeValue::Array(_)) => self.set(path, to_json(scalar), origin),
            }
            path.pop();
        }
        Ok(())
    }

    /// Adds one environment variable whose name, after `DESKHAND__`, is `rest`.
    pub(super) fn add_variable(
        &mut self,
        name: &str,
        rest: &str,
        text: &str,
        schema: &Value,
    ) -> Result<(), ConfigError> {
        let path: Vec<String> = rest.split("__").map(str::to_ascii_lowercase).collect();
        let origin = SettingOrigin::Environment(name.to_owned());
        check_known(&path, schema, &origin)?;
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        let kind = node(schema, &parts).map_or("any", type_word);
        let value = match kind {
            "integer" => {
                text.trim().parse::<u64>().map_or_else(|_| Value::String(text.to_owned()), Value::from)
            }
            "number" => {
                text.trim().parse::<f64>().map_or_else(|_| Value::String(text.to_owned()), Value::from)
            }
            "boolean" => {
                text.trim().parse::<bool>().map_or_else(|_| Value::String(text.to_owned()), Value::from)
            }
            "array" => text
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(|item| Value::String(item.to_owned()))
                .collect(),
            _ => Value::String(text.to_owned()),
        };
        self.set(&path, value, origin);
        Ok(())
    }

    /// Adds a value by its key.
    ///
    /// # Errors
    /// [`ConfigError::UnknownKey`] with the closest one.
    pub(super) fn add_value(
        &mut self,
        key: &str,
        value: Value,
        origin: SettingOrigin,
        schema: &Value,
    ) -> Result<(), ConfigError> {
        let path: Vec<String> = key.split('.').map(str::to_owned).collect();
        check_known(&path, schema, &origin)?;
        self.set(&path, value, origin);
        Ok(())
    }

    fn set(&mut self, path: &[String], value: Value, origin: SettingOrigin) {
        self.origins.insert(path.join("."), origin);
        let Some((last, sections)) = path.split_last() else { return };
        let mut values = &mut self.values;
        for section in sections {
            let inner = values.entry(section.clone()).or_insert_with(|| Value::Object(Map::new()));
            if !inner.is_object() {
                *inner = Value::Object(Map::new());
            }
            let Value::Object(inner) = inner else { return };
            values = inner;
        }
        values.insert(last.clone(), value);
    }

    /// Parses the values into their types.
    pub(super) fn parse<T: serde::de::DeserializeOwned>(&self, schema: &Value) -> Result<T, ConfigError> {
        self.check_ranges(schema)?;
        serde_path_to_error::deserialize(Value::Object(self.values.clone()))
            .map_err(|error| self.wrong_value(schema, &error.path().to_string(), &error.inner().to_string()))
    }

    /// Checks minimums, which the schema has and the types do not.
    fn check_ranges(&self, schema: &Value) -> Result<(), ConfigError> {
        let root = Value::Object(self.values.clone());
        for key in self.origins.keys() {
            let path: Vec<&str> = key.split('.').collect();
            let least = node(schema, &path).and_then(|node| node.get("minimum")).and_then(Value::as_u64);
            let value = value_at(&root, &path).and_then(Value::as_u64);
            if value.zip(least).is_some_and(|(value, least)| value < least) {
                return Err(self.wrong_value(schema, key, "too small"));
            }
        }
        Ok(())
    }

    fn wrong_value(&self, schema: &Value, key: &str, problem: &str) -> ConfigError {
        let root = Value::Object(self.values.clone());
        let found = follow(&root, key, &|value, name| value.get(name), &|value, at| value.get(at));
        let described = follow(schema, key, &|part, name| node(part, &[name]), &|part, _| part.get("items"));
        let origin = self.origin_of(key.split('[').next().unwrap_or(key)).to_string();
        let section = key.rsplit_once('.').map_or("", |(section, _)| section);
        let around =
            || follow(schema, section, &|part, name| node(part, &[name]), &|part, _| part.get("items"));
        // In a list of sections, keys are only known to be wrong here.
        if described.is_none()
            && let Some(known) = around().and_then(keys_of)
        {
            return ConfigError::UnknownKey { key: key.to_owned(), origin, nearest: None, known };
        }
        let words: Vec<String> =
            described.map(allowed).unwrap_or_default().into_iter().map(|(word, _)| word).collect();
        ConfigError::WrongValue {
            key: key.to_owned(),
            origin,
            found: found.map_or_else(|| "missing".to_owned(), ToString::to_string),
            expected: described.map_or_else(|| problem.to_owned(), expects),
            nearest: found.and_then(Value::as_str).and_then(|said| nearest(said, words)),
        }
    }

    fn origin_of(&self, key: &str) -> SettingOrigin {
        self.origins
            .get(key)
            .or_else(|| self.origins.iter().find(|(name, _)| name.starts_with(key)).map(|(_, origin)| origin))
            .cloned()
            .unwrap_or_else(|| SettingOrigin::Environment("DESKHAND__…".to_owned()))
    }
}

/// Checks that each part of a key exists and that its sections are sections.
fn check_known(path: &[String], schema: &Value, origin: &SettingOrigin) -> Result<(), ConfigError> {
    let mut at = schema;
    for (depth, name) in path.iter().enumerate() {
        let section = path.get(..depth).unwrap_or_default().join(".");
        let full =
            |name: &str| if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") };
        if !is_section(at) {
            return Err(ConfigError::WrongValue {
                key: section.clone(),
                origin: origin.to_string(),
                found: "a section".to_owned(),
                expected: expects(at),
                nearest: None,
            });
        }
        let Some(next) = node(at, &[name]) else {
            let known: Vec<String> = keys_of(at).unwrap_or_default().iter().map(|key| full(key)).collect();
            let key = full(name);
            return Err(ConfigError::UnknownKey {
                nearest: nearest(&key, known.clone()).or_else(|| nearest_anywhere(name, schema)),
                key,
                origin: origin.to_string(),
                known,
            });
        };
        at = next;
    }
    Ok(())
}

/// A key of another section with the same last name.
fn nearest_anywhere(name: &str, schema: &Value) -> Option<String> {
    every_key(schema).into_iter().find(|key| key.rsplit('.').next() == Some(name))
}

/// Follows a key such as `policy.rules[0].tool` down from `root`.
fn follow<'a>(
    root: &'a Value,
    key: &str,
    member: &dyn Fn(&'a Value, &str) -> Option<&'a Value>,
    item: &dyn Fn(&'a Value, usize) -> Option<&'a Value>,
) -> Option<&'a Value> {
    key.split('.').try_fold(root, |at, part| {
        let mut pieces = part.split('[');
        let named = member(at, pieces.next()?)?;
        pieces.try_fold(named, |at, index| item(at, index.trim_end_matches(']').parse().ok()?))
    })
}

fn to_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            i64::from_str_radix(&digits, number.radix()).map_or(Value::String(digits), Value::from)
        }
        DeValue::Float(number) => {
            number.as_str().replace('_', "").parse::<f64>().map_or(Value::Null, Value::from)
        }
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(when) => Value::String(when.to_string()),
        DeValue::Array(items) => items.iter().map(|item| to_json(item.get_ref())).collect(),
        DeValue::Table(table) => {
            table.iter().map(|(key, value)| (key.get_ref().to_string(), to_json(value.get_ref()))).collect()
        }
    }
}
