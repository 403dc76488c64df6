//! Everything about one moment.

use deskhand_machine::{
    command::{CallResult, ToolCommand},
    model::{MessagePart, ModelFailure, ModelMessage, ModelReply, Speaker},
    observation::Observation,
    prompt::window_line,
    record::{JournalEntry, JournalRecord},
    session::{Effect, EffectRecord, SessionEvent},
};
use deskhand_secret::Veil;
use deskhand_ui::{
    action::{ActionOutcome, ActionRoute, CallReport},
    text::clip,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    scan::{ANSWERED_WITHIN, JournalLineSpan, JournalScan, ScannedLineKind},
    timeline::file_of,
};
use crate::{
    journal::{JournalError, SessionFolder},
    passwords::{hidden, veil_of},
    story::{CommandTarget, delegation_of, target_of},
    tree_words::tree_text,
    words::{effect_word, result_words, whole_command_words},
};

/// The most characters of the output of a call.
const OUTPUT_CHARS_MAX: usize = 100_000;

/// Details of a moment: the last observation, the prompt and reply since then, and the calls made.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MomentParts {
    /// The number of the record.
    pub record: u64,
    /// When it was written, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// The record of the last observation; `None` before the first.
    pub seen: Option<u64>,
    /// The observation, a line each: the windows of a desktop, the elements of a window with its dialogs, or the text
    /// of an agent.
    pub tree: Vec<String>,
    /// The file of the picture of that observation, in the folder `pictures` of the session.
    pub picture: Option<String>,
    /// The record of the question to the model since that observation; `None` if it was not asked yet.
    pub asked: Option<u64>,
    /// The question, message by message.
    pub prompt: Vec<PromptMessage>,
    /// The reply to it.
    pub reply: Option<ReplyPart>,
    /// The calls of this record: those that were refused before it, and the one that it asks for.
    pub calls: Vec<CallPart>,
}

/// A message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromptMessage {
    /// Who wrote it: the system, the agent or the model.
    #[schemars(schema_with = "crate::schema::speaker")]
    pub speaker: Speaker,
    /// Its text; a picture is named by its size.
    pub text: String,
    /// The files of its pictures, in the folder `pictures` of the session.
    pub pictures: Vec<String>,
}

/// A reply of a model, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplyPart {
    /// Its record.
    pub record: u64,
    /// The text as it came; of a failure, what failed.
    pub text: String,
    /// The model that replied; empty for a failure.
    pub model: String,
    /// Set if the model failed.
    pub failed: bool,
    /// Tokens read, if the provider reports them.
    pub prompt_tokens: Option<u64>,
    /// Tokens written, if the provider reports them.
    pub completion_tokens: Option<u64>,
    /// The time until the reply, in milliseconds.
    pub elapsed_ms: u64,
}

/// A call with its proof.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallPart {
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// The call in words.
    pub words: String,
    /// Its target control or window, in words.
    pub target: Option<String>,
    /// The record of its result; `None` if there is none.
    pub answer: Option<u64>,
    /// The result in one word: a verdict, `read`, `failed`, `skipped`, or `no result`.
    pub verdict: String,
    /// The result, in words.
    pub result: String,
    /// Proof of the effect, or the reason why there is none, as data: one entry for each action of the call.
    pub proof: Vec<Value>,
    /// Which way it went: `semantic` or `input`; `None` if nothing was sent.
    #[schemars(schema_with = "crate::schema::route_or_null")]
    pub route: Option<ActionRoute>,
    /// The data that the tool returned, as indented JSON; empty if none. Long output is cut.
    pub output: String,
    /// The time of the call, in milliseconds.
    pub elapsed_ms: u64,
}

/// Reads everything about the moment of a record; `None` if there is no such record. Passwords are replaced by dots. Blocking. Other
/// lines are passed over without being parsed, and their seals are not checked.
///
/// # Errors
/// [`JournalError`] if the journal cannot be read, or a line that is needed is not valid.
pub fn moment_parts(folder: &SessionFolder, record: u64) -> Result<Option<MomentParts>, JournalError> {
    let veil = veil_of(folder)?;
    let mut reader = MomentReader { scan: JournalScan::up_to(folder, record)?, veil };
    let Some(place) = reader.scan.place(record) else { return Ok(None) };
    let line = reader.read(place)?;
    let mut parts = MomentParts { record, at_ms: line.at_ms, ..MomentParts::default() };
    let observation = reader.observation(record, &mut parts)?;
    reader.question(record, &mut parts)?;
    reader.calls(&line, place, observation.as_ref(), &mut parts)?;
    Ok(Some(parts))
}

struct MomentReader {
    scan: JournalScan,
    veil: Veil,
}

impl MomentReader {
    fn read(&mut self, place: JournalLineSpan) -> Result<JournalEntry, JournalError> {
        let line = self.scan.read(place)?;
        Ok(if self.veil.is_empty() { line } else { hidden(line, &self.veil) })
    }

    fn event(&mut self, place: JournalLineSpan) -> Result<Option<SessionEvent>, JournalError> {
        let JournalRecord::Event(record) = self.read(place)?.record else { return Ok(None) };
        Ok(Some(record.event))
    }

    /// Reads the last observation.
    fn observation(
        &mut self,
        record: u64,
        parts: &mut MomentParts,
    ) -> Result<Option<Observation>, JournalError> {
        let Some(place) = self.scan.last(ScannedLineKind::Observed, record) else { return Ok(None) };
        let Some(SessionEvent::Observed { observation }) = self.event(place)? else { return Ok(None) };
        parts.seen = Some(place.record);
        parts.picture = observation.picture().map(file_of);
        parts.tree = tree_of(&observation);
        Ok(Some(observation))
    }

    /// Reads the prompt sent since the last observation, and the reply to it.
    fn question(&mut self, record: u64, parts: &mut MomentParts) -> Result<(), JournalError> {
        let since = parts.seen.unwrap_or(0);
        let Some(place) = self.scan.last(ScannedLineKind::Ask, record).filter(|place| place.record > since)
        else {
            return Ok(());
        };
        if let JournalRecord::Effect(asked) = self.read(place)?.record
            && let Effect::Ask { request } = asked.effect
        {
            parts.asked = Some(place.record);
            parts.prompt = request.messages.iter().map(message_part).collect();
        }
        let replied =
            self.scan.last(ScannedLineKind::Replied, record).filter(|reply| reply.record > place.record);
        if let Some(replied) = replied {
            parts.reply = match self.event(replied)? {
                Some(SessionEvent::Replied { reply, .. }) => Some(reply_part(replied.record, reply)),
                Some(SessionEvent::ModelFailed { failure }) => Some(failure_part(replied.record, &failure)),
                Some(_) | None => None,
            };
        }
        Ok(())
    }

    /// The calls of a record: as an effect those that it asks for, as an event the one that it answers.
    fn calls(
        &mut self,
        line: &JournalEntry,
        place: JournalLineSpan,
        observation: Option<&Observation>,
        parts: &mut MomentParts,
    ) -> Result<(), JournalError> {
        match &line.record {
            JournalRecord::Effect(record) => {
                for refused in &record.refused {
                    parts.calls.push(call_part(&refused.command, observation, None, Some(&refused.result)));
                }
                if let Some(command) = command_of(record) {
                    let (answer, result) = self.answer(record, place)?.unzip();
                    parts.calls.push(call_part(&command, observation, answer, result.as_ref()));
                }
            }
            JournalRecord::Event(record) => {
                let Some(asked) = self.scan.last(ScannedLineKind::Call, place.record) else { return Ok(()) };
                if place.kind != ScannedLineKind::Returned {
                    return Ok(());
                }
                let JournalRecord::Effect(effect) = self.read(asked)?.record else { return Ok(()) };
                if record.effect == Some(effect.id)
                    && let Some(command) = command_of(&effect)
                {
                    let result = result_of(&record.event);
                    parts.calls.push(call_part(&command, observation, Some(place.record), result.as_ref()));
                }
            }
            JournalRecord::Header(_) | JournalRecord::Changed(_) => {}
        }
        Ok(())
    }

    /// The result of a call, with its record.
    fn answer(
        &mut self,
        asked: &EffectRecord,
        place: JournalLineSpan,
    ) -> Result<Option<(u64, CallResult)>, JournalError> {
        let after = (1..=ANSWERED_WITHIN).filter_map(|by| self.scan.place(place.record.saturating_add(by)));
        let Some(found) = after.into_iter().find(|found| found.kind == ScannedLineKind::Returned) else {
            return Ok(None);
        };
        let JournalRecord::Event(record) = self.read(found)?.record else { return Ok(None) };
        let result = result_of(&record.event).filter(|_| record.effect == Some(asked.id));
        Ok(result.map(|result| (found.record, result)))
    }
}

/// The command of an effect; a delegation as the command `delegate`.
fn command_of(record: &EffectRecord) -> Option<ToolCommand> {
    match &record.effect {
        Effect::Call { command } => Some(command.clone()),
        Effect::Delegate { agent, subtask, message, context, .. } => {
            Some(delegation_of(*agent, subtask, message, context))
        }
        Effect::AwaitRequest
        | Effect::Observe { .. }
        | Effect::Rank { .. }
        | Effect::Retrieve { .. }
        | Effect::Ask { .. }
        | Effect::AskUser { .. }
        | Effect::AwaitApproval { .. }
        | Effect::Finish { .. } => None,
    }
}

fn result_of(event: &SessionEvent) -> Option<CallResult> {
    if let SessionEvent::Returned { result } = event {
        Some(result.clone())
    } else if let SessionEvent::Delegated { report } = event {
        Some(crate::story::result_of(report))
    } else {
        None
    }
}

fn call_part(
    command: &ToolCommand,
    observation: Option<&Observation>,
    answer: Option<u64>,
    result: Option<&CallResult>,
) -> CallPart {
    let target = target_of(command, observation).map(|target: CommandTarget| target.label);
    let output = result.map(|result| &result.output).filter(|output| !output.is_null());
    let output = output.map(|output| serde_json::to_string_pretty(output).unwrap_or_default());
    CallPart {
        tool: command.tool.clone(),
        arguments: command.arguments.clone(),
        words: whole_command_words(command, target.as_deref()),
        target,
        answer,
        verdict: result.map_or("no result", effect_word).to_owned(),
        result: result.map(result_words).unwrap_or_default(),
        proof: result.map(|result| proofs(&result.report)).unwrap_or_default(),
        route: result.and_then(|result| result.route),
        output: output.map(|output| clip(&output, OUTPUT_CHARS_MAX)).unwrap_or_default(),
        elapsed_ms: result.map_or(0, |result| result.elapsed_ms),
    }
}

/// The evidence of each action.
fn proofs(report: &CallReport) -> Vec<Value> {
    let evidence = |action: &ActionOutcome| serde_json::to_value(&action.evidence).unwrap_or_default();
    report.actions().iter().map(evidence).collect()
}

fn message_part(message: &ModelMessage) -> PromptMessage {
    let text = message.parts.iter().map(|part| match part {
        MessagePart::Text { text } => text.clone(),
        MessagePart::Picture { picture } => {
            format!("[picture, {} × {} pixels]", picture.width, picture.height)
        }
    });
    let pictures = message.parts.iter().filter_map(|part| match part {
        MessagePart::Text { .. } => None,
        MessagePart::Picture { picture } => Some(file_of(picture)),
    });
    PromptMessage {
        speaker: message.speaker,
        text: text.collect::<Vec<_>>().join("\n"),
        pictures: pictures.collect(),
    }
}

fn reply_part(record: u64, reply: ModelReply) -> ReplyPart {
    ReplyPart {
        record,
        text: reply.text,
        model: reply.model,
        failed: false,
        prompt_tokens: reply.usage.prompt_tokens,
        completion_tokens: reply.usage.completion_tokens,
        elapsed_ms: reply.elapsed_ms,
    }
}

fn failure_part(record: u64, failure: &ModelFailure) -> ReplyPart {
    ReplyPart {
        record,
        text: failure.to_string(),
        model: String::new(),
        failed: true,
        prompt_tokens: failure.usage.prompt_tokens,
        completion_tokens: failure.usage.completion_tokens,
        elapsed_ms: failure.elapsed_ms,
    }
}

/// Renders an observation, a line each.
fn tree_of(observation: &Observation) -> Vec<String> {
    match observation {
        Observation::Desktop(view) => view.windows.iter().chain(&view.dialogs).map(window_line).collect(),
        Observation::Window(view) => view
            .surfaces
            .iter()
            .flat_map(|surface| std::iter::once(window_line(&surface.window)).chain(tree_text(&surface.tree)))
            .collect(),
        Observation::Agent(view) => view.text.lines().map(str::to_owned).collect(),
    }
}
