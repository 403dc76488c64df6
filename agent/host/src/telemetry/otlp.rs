//! Spans as JSON (OTLP 1.x): ids as hexadecimal digits, times as texts of nanoseconds.
//!
//! The types stand here because there are a dozen of them: the crates of OpenTelemetry would bring protobuf and a second way to send.

use serde::{Serialize, Serializer};

/// The id of a trace: 32 hexadecimal digits, not all zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TraceId([u8; 16]);

/// The id of a span: 16 hexadecimal digits, not all zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpanId([u8; 8]);

fn parse<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_lower =
        text.len() == 2 * N && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        let digits = is_lower.then(|| text.get(2 * at..2 * at + 2)).flatten()?;
        *byte = u8::from_str_radix(digits, 16).ok()?;
    }
    (bytes != [0; N]).then_some(bytes)
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl TraceId {
    pub(super) fn parse(text: &str) -> Option<Self> {
        parse(text).map(Self)
    }

    /// From the first bytes of a hash.
    pub(super) fn of_hash(hash: &[u8]) -> Option<Self> {
        Some(Self(hash.get(..16)?.try_into().ok()?))
    }
}

impl SpanId {
    pub(super) fn parse(text: &str) -> Option<Self> {
        parse(text).map(Self)
    }

    /// From the first bytes of a hash.
    pub(super) fn of_hash(hash: &[u8]) -> Option<Self> {
        Some(Self(hash.get(..8)?.try_into().ok()?))
    }
}

impl Serialize for TraceId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&digits(&self.0))
    }
}

impl Serialize for SpanId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&digits(&self.0))
    }
}

/// Content of one export request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Export<'a> {
    pub(super) resource_spans: [ResourceSpans<'a>; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResourceSpans<'a> {
    pub(super) resource: Resource,
    pub(super) scope_spans: [ScopeSpans<'a>; 1],
}

#[derive(Debug, Serialize)]
pub(super) struct Resource {
    pub(super) attributes: Vec<Attribute>,
}

#[derive(Debug, Serialize)]
pub(super) struct ScopeSpans<'a> {
    pub(super) scope: OtlpScope,
    pub(super) spans: &'a [OtlpSpan],
}

#[derive(Debug, Serialize)]
pub(super) struct OtlpScope {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
}

/// A span that has ended.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OtlpSpan {
    pub(super) trace_id: TraceId,
    pub(super) span_id: SpanId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent_span_id: Option<SpanId>,
    pub(super) name: String,
    #[serde(serialize_with = "number")]
    pub(super) kind: OtlpSpanKind,
    #[serde(rename = "startTimeUnixNano", serialize_with = "nanoseconds")]
    pub(super) start_ms: u64,
    #[serde(rename = "endTimeUnixNano", serialize_with = "nanoseconds")]
    pub(super) end_ms: u64,
    pub(super) attributes: Vec<Attribute>,
    pub(super) status: OtlpStatus,
}

/// Kind of a span: an operation inside this program, or a request to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OtlpSpanKind {
    Internal = 1,
    Client = 3,
}

/// Status of a span.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(super) struct OtlpStatus {
    /// 0 for neither, 1 for good, 2 for an error.
    pub(super) code: u8,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) message: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Attribute {
    pub(super) key: String,
    pub(super) value: OtlpValue,
}

/// A value; numbers are texts in JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum OtlpValue {
    StringValue(String),
    IntValue(String),
}

fn number<S: Serializer>(kind: &OtlpSpanKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u8(*kind as u8)
}

fn nanoseconds<S: Serializer>(ms: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&u128::from(*ms).saturating_mul(1_000_000))
}
