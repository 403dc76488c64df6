//! Target of traces, and the session data that they contain.

use std::{env, fmt, time::Duration};

use super::otlp::{SpanId, TraceId};
use crate::config::TelemetrySettings;

/// Timeout of a collector, unless the environment sets another one.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The path of traces below the address of a collector.
const TRACES: &str = "v1/traces";

/// A collector of traces.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct TraceCollector {
    pub(super) url: String,
    /// Headers of requests, which may be secrets.
    pub(super) headers: Vec<(String, String)>,
    pub(super) timeout: Duration,
    /// `true` if messages of models are sent.
    pub(super) content: bool,
    /// Attributes that describe this program, by name.
    pub(super) resource: Vec<(String, String)>,
    /// The span that sessions belong to.
    pub(super) parent: Option<(TraceId, SpanId)>,
}

impl fmt::Debug for TraceCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("url", &self.url).finish_non_exhaustive()
    }
}

impl TraceCollector {
    /// The collector of a configuration, else of the environment; `None` if there is none, or the parent span is not traced.
    pub(crate) fn of(settings: &TelemetrySettings) -> Option<Self> {
        Self::with(settings, |name| env::var(name).ok().filter(|value| !value.trim().is_empty()))
    }

    pub(super) fn with(
        settings: &TelemetrySettings,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Option<Self> {
        let is_true =
            |name: &str| variable(name).is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
        let below = |base: String| format!("{}/{TRACES}", base.trim().trim_end_matches('/'));
        let configured = settings.endpoint.clone().filter(|endpoint| !endpoint.trim().is_empty()).map(below);
        let url = configured
            .or_else(|| variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"))
            .or_else(|| variable("OTEL_EXPORTER_OTLP_ENDPOINT").map(below))?;
        let parent = variable("TRACEPARENT").as_deref().and_then(parent_of);
        let is_traced = parent.is_none_or(|(.., is_traced)| is_traced);
        if is_true("OTEL_SDK_DISABLED") || !is_traced {
            return None;
        }
        let specific = |name: &str| {
            variable(&format!("OTEL_EXPORTER_OTLP_TRACES_{name}"))
                .or_else(|| variable(&format!("OTEL_EXPORTER_OTLP_{name}")))
        };
        let timeout = specific("TIMEOUT").and_then(|ms| ms.trim().parse().ok()).map(Duration::from_millis);
        let mut resource = pairs(variable("OTEL_RESOURCE_ATTRIBUTES"));
        let own = [("service.name", variable("OTEL_SERVICE_NAME")), ("service.version", None)];
        let defaults = ["deskhand", env!("CARGO_PKG_VERSION")];
        for ((name, given), default) in own.into_iter().zip(defaults) {
            let is_missing = resource.iter().all(|(known, _)| known != name);
            if given.is_some() || is_missing {
                resource.retain(|(known, _)| known != name);
                resource.push((name.to_owned(), given.unwrap_or_else(|| default.to_owned())));
            }
        }
        Some(Self {
            url,
            headers: pairs(specific("HEADERS")),
            timeout: timeout.unwrap_or(TIMEOUT),
            content: settings.content || is_true("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"),
            resource,
            parent: parent.map(|(trace, span, _)| (trace, span)),
        })
    }
}

/// `name=value,name=value`, where values may have escapes as in addresses.
fn pairs(text: Option<String>) -> Vec<(String, String)> {
    let text = text.unwrap_or_default();
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.trim().to_owned(), unescaped(value.trim()))).collect()
}

fn unescaped(value: &str) -> String {
    let mut bytes = Vec::new();
    let mut parts = value.split('%');
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        match part.split_at_checked(2).map(|(digits, rest)| (u8::from_str_radix(digits, 16), rest)) {
            Some((Ok(byte), rest)) => {
                bytes.push(byte);
                bytes.extend_from_slice(rest.as_bytes());
            }
            Some((Err(_), _)) | None => {
                bytes.push(b'%');
                bytes.extend_from_slice(part.as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The parent in a `TRACEPARENT` (W3C Trace Context), and whether it is traced.
fn parent_of(text: &str) -> Option<(TraceId, SpanId, bool)> {
    let mut parts = text.trim().split('-');
    let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let flags = u8::from_str_radix(flags, 16).ok()?;
    (version.len() == 2 && version != "ff").then_some(())?;
    Some((TraceId::parse(trace)?, SpanId::parse(span)?, flags & 1 == 1))
}
