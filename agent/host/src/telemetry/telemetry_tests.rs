//! Where traces go, by configuration and environment.

use std::time::Duration;

use super::{
    otlp::{SpanId, TraceId},
    target::TraceCollector,
};
use crate::config::TelemetrySettings;

fn target(endpoint: Option<&str>, variables: &[(&str, &str)]) -> Option<TraceCollector> {
    let settings = TelemetrySettings { endpoint: endpoint.map(str::to_owned), content: false };
    TraceCollector::with(&settings, |name| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn traces_are_sent_where_configuration_or_environment_say() {
    assert_eq!(target(None, &[]), None);
    let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/");
    let url = |endpoint, variables: &[(&str, &str)]| target(endpoint, variables).unwrap().url;
    assert_eq!(url(None, &[base]), "http://collector:4318/v1/traces");
    assert_eq!(url(Some("http://here:1"), &[base]), "http://here:1/v1/traces");
    assert_eq!(url(Some(" "), &[base, ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t/x")]), "http://t/x");
    assert_eq!(target(None, &[base, ("OTEL_SDK_DISABLED", "true")]), None);
    let whole = target(
        None,
        &[
            base,
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x, a = b=c"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "1500"),
            ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test,service.name=other"),
            ("OTEL_SERVICE_NAME", "mine"),
            ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "True"),
        ],
    )
    .unwrap();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(whole.headers, [pair("authorization", "Bearer x"), pair("a", "b=c")]);
    assert_eq!((whole.timeout, whole.content), (Duration::from_millis(1500), true));
    let version = env!("CARGO_PKG_VERSION");
    let resource = [
        pair("deployment.environment", "test"),
        pair("service.name", "mine"),
        pair("service.version", version),
    ];
    assert_eq!(whole.resource, resource);
    assert!(!format!("{whole:?}").contains("Bearer"), "headers may be secrets");
}

#[test]
fn the_parent_comes_from_the_environment() {
    let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");
    let parent = |text: &str| target(None, &[base, ("TRACEPARENT", text)]).map(|target| target.parent);
    let (trace, span) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    let expected = (TraceId::parse(trace).unwrap(), SpanId::parse(span).unwrap());
    assert_eq!(parent(&format!("00-{trace}-{span}-01")), Some(Some(expected)));
    assert_eq!(parent(&format!("00-{trace}-{span}-00")), None, "it is not traced");
    for wrong in ["", "00", &format!("ff-{trace}-{span}-01"), &format!("00-{}-{span}-01", "0".repeat(32))] {
        assert_eq!(parent(wrong), Some(None), "{wrong}");
    }
}
