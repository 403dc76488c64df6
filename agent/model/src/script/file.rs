//! Loads and validates script files.

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    path::{Path, PathBuf},
};

use deskhand_machine::model::Usage;
use regex::Regex;
use serde::{
    Deserialize, Deserializer,
    de::{self, SeqAccess, Visitor},
};
use toml::Spanned;

use super::placeholder::{self, Placeholder, ReplyTemplateSegment};

/// An invalid script.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("cannot read script {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The script is not TOML or has an unknown form.
    #[error("invalid script {file}: {problem}\n{FORM}")]
    Form {
        /// The file.
        file: String,
        /// The problem, with line and column.
        problem: String,
    },
    /// A turn is invalid.
    #[error("{file}:{line}: turn {turn}: {problem}")]
    Turn {
        /// The file.
        file: String,
        /// The first line of the turn.
        line: usize,
        /// The turn number, from 1.
        turn: usize,
        /// The problem.
        problem: String,
    },
    /// The script has no turns.
    #[error("script {file} has no turns\n{FORM}")]
    Empty {
        /// The file.
        file: String,
    },
    /// The script has fewer replies than are to be skipped.
    #[error("cannot skip {skip} replies of script {file}: {problem}")]
    Skip {
        /// The file.
        file: String,
        /// Number of replies to skip.
        skip: usize,
        /// The problem.
        problem: String,
    },
}

const FORM: &str = "a script is a list of [[turn]] tables with `reply` and optionally `title`, `agent`, `expect`, `reject`, \
                    `repeat` (true or a number) and `usage` (prompt_tokens, completion_tokens, cached_tokens)";

/// Number of prompts that a turn answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// That many in a row.
    Times(usize),
    /// One, and each further prompt that it matches.
    Open,
}

/// A validated turn.
#[derive(Debug)]
pub(super) struct ScriptTurn {
    /// Its number, from 1.
    pub(super) number: usize,
    /// Its first line.
    pub(super) line: usize,
    pub(super) title: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) expect: Vec<Regex>,
    pub(super) reject: Vec<Regex>,
    pub(super) reply: Vec<ReplyTemplateSegment>,
    pub(super) repeat: Repeat,
    pub(super) usage: Option<Usage>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptFile {
    #[serde(default, rename = "description")]
    _description: Option<String>,
    #[serde(default)]
    turn: Vec<Spanned<TurnFile>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnFile {
    title: Option<String>,
    agent: Option<String>,
    #[serde(default)]
    expect: ScriptPatterns,
    #[serde(default)]
    reject: ScriptPatterns,
    reply: String,
    #[serde(default)]
    repeat: RepeatField,
    usage: Option<UsageFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UsageFile {
    prompt_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

/// One pattern or a list of them.
#[derive(Default)]
struct ScriptPatterns(Vec<String>);

impl<'de> Deserialize<'de> for ScriptPatterns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = ScriptPatterns;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a regular expression or a list of them")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<ScriptPatterns, E> {
                Ok(ScriptPatterns(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ScriptPatterns, A::Error> {
                let mut patterns = Vec::new();
                while let Some(pattern) = items.next_element()? {
                    patterns.push(pattern);
                }
                Ok(ScriptPatterns(patterns))
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

struct RepeatField(Repeat);

impl Default for RepeatField {
    fn default() -> Self {
        Self(Repeat::Times(1))
    }
}

impl<'de> Deserialize<'de> for RepeatField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TrueOrTimes;
        impl Visitor<'_> for TrueOrTimes {
            type Value = RepeatField;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false, or the number of prompts that the turn answers (1 or more)")
            }

            fn visit_bool<E: de::Error>(self, open: bool) -> Result<RepeatField, E> {
                Ok(RepeatField(if open { Repeat::Open } else { Repeat::Times(1) }))
            }

            fn visit_i64<E: de::Error>(self, times: i64) -> Result<RepeatField, E> {
                match usize::try_from(times) {
                    Ok(times) if times > 0 => Ok(RepeatField(Repeat::Times(times))),
                    _ => Err(E::invalid_value(de::Unexpected::Signed(times), &self)),
                }
            }
        }
        deserializer.deserialize_any(TrueOrTimes)
    }
}

/// Reads a script file.
pub(super) fn load(
    path: &Path,
    variables: &BTreeMap<String, String>,
) -> Result<Vec<ScriptTurn>, ScriptError> {
    let text =
        fs::read_to_string(path).map_err(|source| ScriptError::Read { path: path.to_owned(), source })?;
    parse(&path.display().to_string(), &text, variables)
}

/// Parses a script; `file` is its name in messages.
pub(super) fn parse(
    file: &str,
    text: &str,
    variables: &BTreeMap<String, String>,
) -> Result<Vec<ScriptTurn>, ScriptError> {
    let parsed: ScriptFile = toml::from_str(text).map_err(|error| ScriptError::Form {
        file: file.to_owned(),
        problem: error.to_string().trim_end().to_owned(),
    })?;
    if parsed.turn.is_empty() {
        return Err(ScriptError::Empty { file: file.to_owned() });
    }
    let mut turns = Vec::new();
    for (index, turn) in parsed.turn.into_iter().enumerate() {
        let number = index + 1;
        let before = text.get(..turn.span().start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let checked = check(turn.into_inner(), variables).map_err(|problem| ScriptError::Turn {
            file: file.to_owned(),
            line,
            turn: number,
            problem,
        })?;
        turns.push(ScriptTurn { number, line, ..checked });
    }
    Ok(turns)
}

fn check(turn: TurnFile, variables: &BTreeMap<String, String>) -> Result<ScriptTurn, String> {
    let expect = compile("expect", turn.expect)?;
    let reject = compile("reject", turn.reject)?;
    let reply = placeholder::parse(&turn.reply)?;
    for piece in &reply {
        let ReplyTemplateSegment::Placeholder { placeholder, source } = piece else { continue };
        match placeholder {
            Placeholder::Variable(name) if !variables.contains_key(name) => {
                let known = list(variables.keys().map(String::as_str));
                return Err(format!(
                    "`{source}` has no value; set it with --script-var {name}=VALUE (set: {known})"
                ));
            }
            Placeholder::Capture { name, .. } => {
                let mut groups = expect.iter().flat_map(|pattern: &Regex| pattern.capture_names().flatten());
                if !groups.clone().any(|group| group == name) {
                    let known = list(groups.by_ref());
                    return Err(format!(
                        "no `expect` pattern defines the group of `{source}`; add (?<{name}>…) (defined: {known})"
                    ));
                }
            }
            Placeholder::Variable(_)
            | Placeholder::Window { .. }
            | Placeholder::Agent { .. }
            | Placeholder::Element { .. } => {}
        }
    }
    Ok(ScriptTurn {
        number: 0,
        line: 0,
        title: turn.title,
        agent: turn.agent,
        expect,
        reject,
        reply,
        repeat: turn.repeat.0,
        usage: turn.usage.map(|usage| Usage {
            prompt_tokens: usage.prompt_tokens,
            cached_tokens: usage.cached_tokens,
            completion_tokens: usage.completion_tokens,
        }),
    })
}

fn compile(field: &str, patterns: ScriptPatterns) -> Result<Vec<Regex>, String> {
    patterns
        .0
        .into_iter()
        .map(|pattern| {
            Regex::new(&pattern)
                .map_err(|error| format!("invalid regular expression {pattern:?} in `{field}`:\n{error}"))
        })
        .collect()
}

fn list<'name>(names: impl Iterator<Item = &'name str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
