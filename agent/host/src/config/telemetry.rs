//! Settings of traces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Traces of sessions for a collector of OpenTelemetry.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetrySettings {
    /// The address of the collector (OTLP over HTTP), such as `http://127.0.0.1:4318`. Without it, `OTEL_EXPORTER_OTLP_ENDPOINT` of the
    /// environment counts; without both, no traces are sent.
    pub endpoint: Option<String>,
    /// If `true`, traces contain the requests to models and their replies.
    /// `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true` also switches this on.
    pub content: bool,
}
