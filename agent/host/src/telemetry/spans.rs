//! From the lines of a journal to spans: the session, in it the steps of its agents, and in these what models and tools were asked.
//!
//! Names and attributes follow the conventions of OpenTelemetry for generative AI. Arguments and results of tools are never sent, since
//! they may be passwords; messages of models are sent if that is wanted, as the journal has them.

use deskhand_machine::{
    command::{CallResult, CallStatus},
    model::{MessagePart, ModelFailure, ModelReply, ModelRequest, Speaker, Usage},
    outcome::{Outcome, OutcomeKind},
    record::{JournalEntry, JournalRecord},
    session::{Effect, EffectRecord, EventRecord, SessionEvent, StepRef},
};
use deskhand_ui::{ids::EffectId, text::clip};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{
    otlp::{Attribute, OtlpSpan, OtlpSpanKind, OtlpStatus, OtlpValue, SpanId, TraceId},
    target::TraceCollector,
};

/// The most characters of an attribute, and of the messages of a model.
const TEXT_MAX: usize = 256;
const CONTENT_MAX: usize = 64 * 1024;

/// A session that is traced.
#[derive(Default)]
pub(super) struct Spans {
    content: bool,
    parent: Option<(TraceId, SpanId)>,
    session: String,
    model: String,
    trace: Option<TraceId>,
    own: Option<OpenSpan>,
    step: Option<(u32, OpenSpan)>,
    /// Model request in progress.
    asked: Option<(EffectId, OpenSpan)>,
    last_ms: u64,
}

/// A span that has not ended.
struct OpenSpan {
    id: SpanId,
    parent: Option<SpanId>,
    name: String,
    kind: OtlpSpanKind,
    start_ms: u64,
    attributes: Vec<Attribute>,
    status: OtlpStatus,
}

fn text(key: &str, value: impl AsRef<str>) -> Attribute {
    Attribute { key: key.to_owned(), value: OtlpValue::StringValue(clip(value.as_ref(), TEXT_MAX)) }
}

fn number(key: &str, value: impl Into<u64>) -> Attribute {
    Attribute { key: key.to_owned(), value: OtlpValue::IntValue(value.into().to_string()) }
}

fn failed(message: impl AsRef<str>) -> OtlpStatus {
    OtlpStatus { code: 2, message: clip(message.as_ref(), TEXT_MAX) }
}

impl Spans {
    pub(super) fn new(target: &TraceCollector) -> Self {
        Self { content: target.content, parent: target.parent, ..Self::default() }
    }

    /// An id that follows from the place in the session.
    fn id(&self, what: &str, number: u64) -> Option<SpanId> {
        SpanId::of_hash(&Sha256::digest(format!("{} {what} {number}", self.session)))
    }

    /// Reads a line of an earlier run.
    pub(super) fn past(&mut self, line: &JournalEntry) {
        if let JournalRecord::Header(header) = &line.record {
            self.session.clone_from(&header.session.0);
            self.model.clone_from(&header.model);
            let own = TraceId::of_hash(&Sha256::digest(&self.session));
            self.trace = self.parent.map(|(trace, _)| trace).or(own);
        }
    }

    /// Reads a line; returns the spans that ended with it.
    pub(super) fn read(&mut self, line: &JournalEntry) -> Vec<OtlpSpan> {
        self.past(line);
        self.last_ms = self.last_ms.max(line.at_ms);
        if self.own.is_none() {
            self.begin_session(line);
        }
        match &line.record {
            JournalRecord::Header(_) | JournalRecord::Changed(_) => Vec::new(),
            JournalRecord::Effect(record) => self.effect(line, record),
            JournalRecord::Event(record) => self.event(line, record).into_iter().collect(),
        }
    }

    /// Ends all open spans at the time of the last line.
    pub(super) fn end(&mut self) -> Vec<OtlpSpan> {
        let open = [
            self.asked.take().map(|(_, span)| span),
            self.step.take().map(|(_, span)| span),
            self.own.take(),
        ];
        let at = self.last_ms;
        open.into_iter().flatten().filter_map(|span| self.ended(span, at)).collect()
    }

    fn ended(&self, span: OpenSpan, end_ms: u64) -> Option<OtlpSpan> {
        let OpenSpan { id, parent, name, kind, start_ms, attributes, status } = span;
        Some(OtlpSpan {
            trace_id: self.trace?,
            span_id: id,
            parent_span_id: parent,
            name,
            kind,
            start_ms,
            end_ms: end_ms.max(start_ms),
            attributes,
            status,
        })
    }

    fn begin_session(&mut self, line: &JournalEntry) {
        let Some(id) = self.id("session", line.seq) else { return };
        let attributes =
            vec![text("gen_ai.conversation.id", &self.session), text("deskhand.model", &self.model)];
        self.own = Some(OpenSpan {
            id,
            parent: self.parent.map(|(_, span)| span),
            name: "session".to_owned(),
            kind: OtlpSpanKind::Internal,
            start_ms: line.at_ms,
            attributes,
            status: OtlpStatus::default(),
        });
    }

    fn effect(&mut self, line: &JournalEntry, record: &EffectRecord) -> Vec<OtlpSpan> {
        let mut spans = Vec::new();
        let number = record.step.as_ref().map(|step| step.number);
        if number != self.step.as_ref().map(|(number, _)| *number)
            && let Some((_, step)) = self.step.take()
        {
            spans.extend(self.ended(step, line.at_ms));
        }
        if let (Some(step), None) = (&record.step, &self.step) {
            self.begin_step(line, record.round, step);
        }
        let asked = match &record.effect {
            Effect::Ask { request } => self.chat(line, request),
            Effect::Call { command } => self.tool(line, &command.tool),
            Effect::Delegate { .. } => self.tool(line, "delegate"),
            Effect::Finish { outcome } => {
                self.finish(outcome);
                None
            }
            Effect::AwaitRequest
            | Effect::Observe { .. }
            | Effect::Rank { .. }
            | Effect::Retrieve { .. }
            | Effect::AskUser { .. }
            | Effect::AwaitApproval { .. } => None,
        };
        // One that was withdrawn has no answer.
        let withdrawn = self.asked.take().and_then(|(_, span)| self.ended(span, line.at_ms));
        spans.splice(0..0, withdrawn);
        self.asked = asked.map(|span| (record.id, span));
        spans
    }

    fn begin_step(&mut self, line: &JournalEntry, round: u32, step: &StepRef) {
        let Some(id) = self.id("step", u64::from(step.number)) else { return };
        let agent = step.agent.to_string();
        let attributes = vec![
            text("gen_ai.operation.name", "invoke_agent"),
            text("gen_ai.agent.name", &agent),
            text("gen_ai.conversation.id", &self.session),
            number("deskhand.step", step.number),
            number("deskhand.round", round),
        ];
        let span = OpenSpan {
            id,
            parent: self.own.as_ref().map(|session| session.id),
            name: format!("invoke_agent {agent}"),
            kind: OtlpSpanKind::Internal,
            start_ms: line.at_ms,
            attributes,
            status: OtlpStatus::default(),
        };
        self.step = Some((step.number, span));
    }

    /// A span in the step, else in the session.
    fn inner(
        &self,
        line: &JournalEntry,
        name: String,
        kind: OtlpSpanKind,
        attributes: Vec<Attribute>,
    ) -> Option<OpenSpan> {
        let around = self.step.as_ref().map(|(_, step)| step).or(self.own.as_ref());
        Some(OpenSpan {
            id: self.id("record", line.seq)?,
            parent: around.map(|span| span.id),
            name,
            kind,
            start_ms: line.at_ms,
            attributes,
            status: OtlpStatus::default(),
        })
    }

    fn chat(&self, line: &JournalEntry, request: &ModelRequest) -> Option<OpenSpan> {
        let model = request.models.first().unwrap_or(&self.model);
        let mut attributes = vec![
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.request.model", model),
            text("gen_ai.conversation.id", &self.session),
            number("gen_ai.request.max_tokens", request.completion_tokens_max),
        ];
        if self.content {
            let messages = request.messages.iter().map(|message| {
                let parts = message.parts.iter().map(|part| match part {
                    MessagePart::Text { text } => json!({"type": "text", "content": text}),
                    MessagePart::Picture { picture } => json!({"type": "picture", "sha256": picture.sha256}),
                });
                let role = match message.speaker {
                    Speaker::System => "system",
                    Speaker::User => "user",
                    Speaker::Assistant => "assistant",
                };
                json!({"role": role, "parts": parts.collect::<Vec<_>>()})
            });
            let messages = json!(messages.collect::<Vec<_>>()).to_string();
            attributes.push(content("gen_ai.input.messages", &messages));
        }
        self.inner(line, format!("chat {}", clip(model, TEXT_MAX)), OtlpSpanKind::Client, attributes)
    }

    fn tool(&self, line: &JournalEntry, tool: &str) -> Option<OpenSpan> {
        let attributes = vec![text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", tool)];
        self.inner(line, format!("execute_tool {}", clip(tool, TEXT_MAX)), OtlpSpanKind::Internal, attributes)
    }

    fn finish(&mut self, outcome: &Outcome) {
        let Some(session) = &mut self.own else { return };
        session.attributes.retain(|attribute| attribute.key != "deskhand.outcome");
        session.attributes.push(text("deskhand.outcome", outcome.kind.word()));
        session.status = match outcome.kind {
            OutcomeKind::Finished => OtlpStatus { code: 1, message: String::new() },
            OutcomeKind::Error | OutcomeKind::Failed => failed(outcome.kind.word()),
            OutcomeKind::Rejected | OutcomeKind::BudgetExhausted | OutcomeKind::Cancelled => {
                OtlpStatus::default()
            }
        };
    }

    fn event(&mut self, line: &JournalEntry, record: &EventRecord) -> Option<OtlpSpan> {
        let (_, mut span) = self.asked.take_if(|(effect, _)| record.effect == Some(*effect))?;
        if let SessionEvent::Replied { reply, .. } = &record.event {
            replied(&mut span, reply, self.content);
        } else if let SessionEvent::ModelFailed { failure } = &record.event {
            not_replied(&mut span, failure);
        } else if let SessionEvent::Returned { result } = &record.event {
            returned(&mut span, result);
        }
        self.ended(span, line.at_ms)
    }
}

fn content(key: &str, value: &str) -> Attribute {
    Attribute { key: key.to_owned(), value: OtlpValue::StringValue(clip(value, CONTENT_MAX)) }
}

fn replied(span: &mut OpenSpan, reply: &ModelReply, with_content: bool) {
    span.attributes.push(text("gen_ai.response.model", &reply.model));
    span.attributes.push(number("deskhand.attempts", reply.attempts));
    used(span, reply.usage);
    if with_content {
        let parts = json!([{"type": "text", "content": reply.text}]);
        let messages = json!([{"role": "assistant", "parts": parts}]).to_string();
        span.attributes.push(content("gen_ai.output.messages", &messages));
    }
}

fn returned(span: &mut OpenSpan, result: &CallResult) {
    if let Some(verdict) = result.effect {
        span.attributes.push(text("deskhand.verdict", verdict.word()));
    }
    if result.status != CallStatus::Success {
        span.attributes.push(text("error.type", "tool_error"));
        span.status = failed("the call failed");
    }
}

fn not_replied(span: &mut OpenSpan, failure: &ModelFailure) {
    let kind = serde_json::to_value(failure.kind).unwrap_or_default();
    span.attributes.push(text("error.type", kind.as_str().unwrap_or("_OTHER")));
    span.attributes.push(number("deskhand.attempts", failure.attempts));
    used(span, failure.usage);
    span.status = failed("the model did not reply");
}

fn used(span: &mut OpenSpan, usage: Usage) {
    let tokens = [
        ("gen_ai.usage.input_tokens", usage.prompt_tokens),
        ("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens),
        ("gen_ai.usage.output_tokens", usage.completion_tokens),
    ];
    span.attributes.extend(tokens.into_iter().filter_map(|(key, tokens)| Some(number(key, tokens?))));
}
