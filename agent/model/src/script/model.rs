//! The scripted model: selects the next turn and renders its reply.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use deskhand_machine::{
    agent::AgentRef,
    model::{ModelFailure, ModelFailureKind, ModelReply, ModelRequest, Usage},
};
use deskhand_ui::duration::milliseconds;
use regex::Regex;

use super::{
    file::{self, Repeat, ScriptError, ScriptTurn},
    mismatch::{self, TurnMismatch},
    placeholder::{Placeholder, ReplyTemplateSegment},
    prompt::{self, PromptListEntry, UnresolvedPlaceholder},
};
use crate::port::{Model, ModelSigns, PictureSource};

/// A model that replies from a file of turns, used in order:
///
/// ```toml
/// [[turn]]
/// title = "press Finish"                     # for messages
/// agent = "AppAgent/libreoffice"             # exactly, or the part before a `/`: "AppAgent"
/// expect = ['dialog "Chart', '(?<rows>\[.*\])']   # each must match the prompt
/// reject = ['error']                         # none may match
/// repeat = 3                                 # answers three prompts in a row; true: as long as it matches
/// usage = { prompt_tokens = 900, completion_tokens = 40 }
/// reply = '''{"action": "click", "id": "{{element "push button" "Finish"}}", "rows": {{capture "rows" as=json}}}'''
/// ```
///
/// Placeholders resolve to the ids listed in the current prompt: by exact name, else by a unique case-insensitive part;
/// `…` equals `...`. `{{var "name"}}` is a variable passed on loading. Variables and groups are inserted as the inside of a
/// JSON string, or verbatim with `as=json`. A turn that does not match is an error that shows the difference; it stays the
/// next turn.
///
/// Without `usage`, one token is counted per four characters, rounded up.
#[derive(Debug)]
pub struct Script {
    name: String,
    file: String,
    variables: BTreeMap<String, String>,
    turns: Vec<ScriptTurn>,
    cursor: Mutex<Cursor>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cursor {
    /// The index of the turn.
    turn: usize,
    /// Number of prompts that the turn has answered.
    uses: usize,
}

/// A rendered reply, not yet returned.
struct ReplyDraft {
    text: String,
    usage: Usage,
    next: Cursor,
}

impl Script {
    /// Loads a script.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is invalid; the message names line and turn.
    pub fn load(path: &Path, variables: BTreeMap<String, String>) -> Result<Self, ScriptError> {
        let turns = file::load(path, &variables)?;
        Ok(Self::new(path.display().to_string(), turns, variables))
    }

    /// Parses a script; `file` is its name in messages.
    ///
    /// # Errors
    ///
    /// If it is invalid; the message names line and turn.
    pub fn parse(file: &str, text: &str, variables: BTreeMap<String, String>) -> Result<Self, ScriptError> {
        let turns = file::parse(file, text, &variables)?;
        Ok(Self::new(file.to_owned(), turns, variables))
    }

    fn new(file: String, turns: Vec<ScriptTurn>, variables: BTreeMap<String, String>) -> Self {
        Self { name: format!("script {file}"), file, variables, turns, cursor: Mutex::default() }
    }

    /// Skips the next `replies` replies.
    ///
    /// # Errors
    ///
    /// If fewer are left, or a turn repeats as long as it matches, so that the count depends on the prompts (see
    /// [`Script::resume`]). Nothing is skipped then.
    pub fn skip(&self, replies: usize) -> Result<(), ScriptError> {
        let mut cursor = self.cursor();
        let mut ahead = *cursor;
        let wrong = |problem: String| ScriptError::Skip { file: self.file.clone(), skip: replies, problem };
        for skipped in 0..replies {
            let Some(turn) = self.turns.get(ahead.turn) else {
                return Err(wrong(format!("only {skipped} left")));
            };
            match turn.repeat {
                Repeat::Open => {
                    return Err(wrong(format!("turn {} repeats as long as it matches", turn.number)));
                }
                Repeat::Times(_) => ahead = ahead.after(turn),
            }
        }
        *cursor = ahead;
        Ok(())
    }

    /// Skips the replies given to these requests in an earlier run.
    ///
    /// # Errors
    ///
    /// If one does not match its turn, as in [`Script::answer`].
    pub fn resume<'request>(
        &self,
        answered: impl IntoIterator<Item = &'request ModelRequest>,
    ) -> Result<(), ModelFailure> {
        answered.into_iter().try_for_each(|request| self.answer(request).map(drop))
    }

    /// Returns the reply to a request. An empty agent name matches any turn.
    ///
    /// # Errors
    ///
    /// [`ModelFailureKind::ScriptMismatch`] if the next turn does not match or none is left; the request can be repeated.
    pub fn answer(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let start = Instant::now();
        let mut cursor = self.cursor();
        let elapsed_ms = || milliseconds(start.elapsed());
        match self.draft(*cursor, request) {
            Ok(draft) => {
                *cursor = draft.next;
                let model = "script".to_owned();
                Ok(ModelReply {
                    text: draft.text,
                    model,
                    usage: draft.usage,
                    attempts: 1,
                    elapsed_ms: elapsed_ms(),
                    ..ModelReply::default()
                })
            }
            Err(message) => Err(ModelFailure {
                attempts: 1,
                elapsed_ms: elapsed_ms(),
                ..ModelFailure::new(ModelFailureKind::ScriptMismatch, message)
            }),
        }
    }

    /// The number of turns that have not replied yet.
    pub fn turns_left(&self) -> usize {
        let cursor = *self.cursor();
        self.turns.len().saturating_sub(cursor.turn + usize::from(cursor.uses > 0))
    }

    fn cursor(&self) -> MutexGuard<'_, Cursor> {
        self.cursor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draft(&self, cursor: Cursor, request: &ModelRequest) -> Result<ReplyDraft, String> {
        let text = prompt::whole_text(request);
        let agent = &match &request.agent {
            AgentRef::Unnamed => "an unnamed agent".to_owned(),
            agent @ (AgentRef::HostAgent
            | AgentRef::AppAgent { .. }
            | AgentRef::Agent { .. }
            | AgentRef::EvaluationAgent) => agent.to_string(),
        };
        let Some(turn) = self.turns.get(cursor.turn) else {
            return Err(mismatch::describe_end(&self.file, self.turns.len(), agent, &text));
        };
        match self.reply(turn, request, &text) {
            Ok(reply) => {
                let usage = turn.usage.unwrap_or_else(|| estimate(&text, &reply));
                Ok(ReplyDraft { text: reply, usage, next: cursor.after(turn) })
            }
            // An open turn ends at the first prompt that it does not match.
            Err(_) if turn.repeat == Repeat::Open && cursor.uses > 0 => {
                self.draft(Cursor { turn: cursor.turn + 1, uses: 0 }, request)
            }
            Err(difference) => Err(mismatch::describe(&self.file, turn, agent, &text, &difference)),
        }
    }

    fn reply<'turn>(
        &self,
        turn: &'turn ScriptTurn,
        request: &ModelRequest,
        text: &str,
    ) -> Result<String, TurnMismatch<'turn>> {
        if let Some(expected) = turn.agent.as_deref().filter(|agent| !is_for(agent, &request.agent)) {
            return Err(TurnMismatch::Agent { expected });
        }
        if let Some(pattern) = turn.expect.iter().find(|pattern| !pattern.is_match(text)) {
            return Err(TurnMismatch::NotFound { pattern });
        }
        if let Some((pattern, found)) = turn.reject.iter().find_map(|p| Some((p, p.find(text)?))) {
            return Err(TurnMismatch::Rejected { pattern, found: found.as_str().to_owned() });
        }
        let things = prompt::listed(request);
        let mut reply = String::new();
        for piece in &turn.reply {
            match piece {
                ReplyTemplateSegment::Text(plain) => reply.push_str(plain),
                ReplyTemplateSegment::Placeholder { placeholder, source } => {
                    reply.push_str(&self.fill(placeholder, source, turn, text, &things)?);
                }
            }
        }
        Ok(reply)
    }

    fn fill<'turn>(
        &self,
        placeholder: &Placeholder,
        source: &'turn str,
        turn: &'turn ScriptTurn,
        text: &str,
        things: &[PromptListEntry],
    ) -> Result<String, TurnMismatch<'turn>> {
        match placeholder {
            Placeholder::Variable(name) => {
                Ok(json_inside(self.variables.get(name).map_or("", String::as_str)))
            }
            Placeholder::Capture { name, json } => {
                let Some(captured) = capture(&turn.expect, name, text) else {
                    let what = "the group did not participate in the match".to_owned();
                    return Err(TurnMismatch::Unresolved { source, what });
                };
                if !json {
                    return Ok(json_inside(captured));
                }
                if serde_json::from_str::<serde_json::Value>(captured).is_err() {
                    return Err(TurnMismatch::NotJson { source, text: captured.to_owned() });
                }
                Ok(captured.to_owned())
            }
            Placeholder::Window { name, .. } | Placeholder::Agent { name, .. } => {
                find(placeholder, source, name, things)
            }
            Placeholder::Element { role, name, .. } => {
                find(placeholder, source, name.as_deref().unwrap_or(role), things)
            }
        }
    }
}

impl Model for Script {
    async fn ask(
        &self,
        request: &ModelRequest,
        _pictures: &dyn PictureSource,
        _signs: &dyn ModelSigns,
    ) -> Result<ModelReply, ModelFailure> {
        self.answer(request)
    }

    fn name(&self) -> &str {
        &self.name
    }
}

impl Cursor {
    /// The position after a reply of `turn`.
    fn after(self, turn: &ScriptTurn) -> Self {
        match turn.repeat {
            Repeat::Times(times) if self.uses + 1 >= times => Self { turn: self.turn + 1, uses: 0 },
            Repeat::Times(_) | Repeat::Open => Self { uses: self.uses + 1, ..self },
        }
    }
}

fn find<'turn>(
    placeholder: &Placeholder,
    source: &'turn str,
    name: &str,
    things: &[PromptListEntry],
) -> Result<String, TurnMismatch<'turn>> {
    match prompt::resolve(placeholder, things) {
        Some(Ok(thing)) => Ok(thing.id.clone()),
        Some(Err(mut unresolved)) => {
            if let UnresolvedPlaceholder::Missing(candidates) = &mut unresolved {
                mismatch::sort_by_likeness(name, candidates);
            }
            Err(TurnMismatch::Unresolved { source, what: mismatch::describe_unresolved(&unresolved) })
        }
        None => Err(TurnMismatch::Unresolved { source, what: "not an id placeholder".to_owned() }),
    }
}

/// Returns `true` if a turn for `wanted` applies to `agent`.
fn is_for(wanted: &str, agent: &AgentRef) -> bool {
    let agent = agent.to_string();
    agent.is_empty()
        || agent == wanted
        || agent.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('/') || wanted.ends_with('/'))
}

fn capture<'text>(patterns: &[Regex], name: &str, text: &'text str) -> Option<&'text str> {
    patterns.iter().find_map(|pattern| Some(pattern.captures(text)?.name(name)?.as_str()))
}

/// Escapes a text for the inside of a JSON string.
fn json_inside(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

fn estimate(prompt: &str, reply: &str) -> Usage {
    let tokens = |text: &str| u64::try_from(text.chars().count().div_ceil(4)).ok();
    Usage { prompt_tokens: tokens(prompt), cached_tokens: None, completion_tokens: tokens(reply) }
}
