//! The figures for Prometheus: their form by a strict reader of OpenMetrics, their values by the journal on the disk.
//!
//! Skipped if the programs of a virtual desktop or the editor are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{collections::BTreeMap, fs};

use serde_json::Value;

use crate::{
    page::Service,
    support::{World, has_desktop},
};

const TURNS: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '''
{"thought": "open it", "status": "ASSIGN", "current_subtask": "type", "function": "launch_application", "arguments": {"name": "mousepad"}}
'''
usage = { prompt_tokens = 1000, completion_tokens = 20 }

[[turn]]
agent = "AppAgent"
reply = '''
{"thought": "type", "status": "FINISH", "action": [{"function": "type_text", "arguments": {"id": "{{element "text" ""}}", "text": "hello"}}]}
'''

[[turn]]
agent = "HostAgent"
expect = 'FINISHED'
reply = '{"thought": "done", "status": "FINISH", "result": "typed"}'
"#;

type Samples = BTreeMap<String, f64>;

/// The labels of a sample: each a name, an equals sign and a quoted text.
fn check_labels(mut labels: &str, line: &str) {
    while !labels.is_empty() {
        let (name, rest) = labels.split_once("=\"").unwrap_or_else(|| panic!("no label: {line}"));
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.is_empty(), "{line}");
        let end = rest.char_indices().scan(false, |escaped, (at, c)| {
            let ends = c == '"' && !*escaped;
            *escaped = c == '\\' && !*escaped;
            Some((at, ends))
        });
        let end = end.into_iter().find(|(_, ends)| *ends).unwrap_or_else(|| panic!("no end: {line}")).0;
        labels = rest[end + 1..].strip_prefix(',').unwrap_or(&rest[end + 1..]);
    }
}

/// Reads the text, and checks its form: declared names, counters that say so, buckets that add up, an end.
fn read(text: &str) -> Samples {
    let mut samples = Samples::new();
    let (mut declared, mut kind) = (String::new(), "");
    assert!(text.ends_with("# EOF\n"), "{text}");
    for line in text.trim_end_matches("# EOF\n").lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let parts: Vec<&str> = comment.splitn(3, ' ').collect();
            match *parts {
                ["TYPE", name, of] => (declared, kind) = (name.to_owned(), of),
                ["HELP" | "UNIT", ..] => {}
                _ => panic!("{line}"),
            }
            continue;
        }
        let (sample, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = sample.split_once('{').unwrap_or((sample, "}"));
        check_labels(labels.strip_suffix('}').unwrap(), line);
        let suffix = name.strip_prefix(&declared).unwrap_or_else(|| panic!("not declared: {line}"));
        let suffixes: &[&str] = match kind {
            "counter" => &["_total"],
            "gauge" => &[""],
            "histogram" => &["_sum", "_count", "_bucket"],
            _ => panic!("{line}"),
        };
        assert!(suffixes.contains(&suffix), "{kind}: {line}");
        let known = samples.insert(sample.to_owned(), value.parse().unwrap());
        assert!(known.is_none(), "twice: {line}");
    }
    for (count, value) in samples.iter().filter(|(name, _)| name.ends_with("_count")) {
        let name = count.trim_end_matches("_count");
        assert_eq!(samples[&format!("{name}_bucket{{le=\"+Inf\"}}")], *value, "{name}");
        let buckets = text.lines().filter_map(|line| line.strip_prefix(&format!("{name}_bucket")));
        let counts: Vec<f64> =
            buckets.map(|line| line.rsplit_once(' ').unwrap().1.parse().unwrap()).collect();
        assert!(counts.is_sorted() && counts.len() > 2, "{counts:?}");
    }
    samples
}

fn figures(service: &Service) -> Samples {
    let answer = service.get("/metrics");
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.head.contains("application/openmetrics-text; version=1.0.0"), "{}", answer.head);
    read(&answer.body)
}

/// Those that count, without those of the service itself.
fn counters(samples: &Samples) -> Samples {
    let counts =
        |name: &&String| !name.starts_with("deskhand_sessions") && !name.contains("refused_requests");
    let is_gauge =
        |name: &&String| name.starts_with("deskhand_connections") || name.starts_with("deskhand_watchers");
    let kept = samples.iter().filter(|(name, _)| counts(name) && !is_gauge(name));
    kept.map(|(name, value)| (name.clone(), *value)).collect()
}

#[test]
fn figures_are_those_of_the_journal_and_never_go_backwards() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let script = world.file("turns.toml", TURNS);
    let model = format!("--model=script:{}", script.display());
    let ran = world.run(&["run", "type hello", &model, "--desktop=virtual"]);
    assert!(ran.starts_with("exit 0"), "{ran}");
    let folder = fs::read_dir(world.store().root()).unwrap().map(|entry| entry.unwrap().path());
    let folder = folder.into_iter().find(|path| path.is_dir()).unwrap();
    let journal = fs::read_to_string(folder.join("journal.jsonl")).unwrap();
    let records: Vec<Value> = journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let wanted = |want: &str| {
        let all = records.iter().filter(|line| line["record"]["effect"]["want"] == want).count();
        f64::from(u32::try_from(all).unwrap())
    };

    let service = Service::start(&world, &[]);
    assert_eq!(service.asks("GET /metrics", &[], "").status, 401);
    let first = figures(&service);
    assert_eq!(first["deskhand_sessions{state=\"ended\",outcome=\"finished\"}"], 1.0, "{first:?}");
    assert_eq!(first["deskhand_steps_total"], wanted("ask"));
    assert_eq!(first["deskhand_step_seconds_count"], wanted("ask"));
    assert_eq!(first["deskhand_requests_total{outcome=\"finished\"}"], 1.0);
    assert_eq!(first["deskhand_request_seconds_count"], 1.0);
    let sum = |name: &str| {
        first.iter().filter(|(key, _)| key.starts_with(name)).map(|(_, value)| value).sum::<f64>()
    };
    assert_eq!(sum("deskhand_calls_total"), wanted("call"));
    assert_eq!(sum("deskhand_model_calls_total"), wanted("ask"));
    assert!(sum("deskhand_tokens_total") >= 1_020.0, "{first:?}");
    assert_eq!(first["deskhand_refused_requests_total{status=\"401\"}"], 1.0);
    assert_eq!(first["deskhand_connections"], 1.0);
    assert!(first.keys().any(|name| name.starts_with("deskhand_build_info{version=")), "{first:?}");

    let id = folder.file_name().unwrap().to_str().unwrap();
    let gone =
        service.asks(&format!("DELETE /api/sessions/{id}"), &[("Authorization", &service.bearer())], "");
    assert_eq!(gone.status, 204, "{}", gone.body);
    let second = figures(&service);
    assert_eq!(counters(&second), counters(&first), "a session was removed");
    assert_eq!(second.get("deskhand_sessions{state=\"ended\",outcome=\"finished\"}"), None);
    service.kill();
    let service = Service::start(&world, &[]);
    assert_eq!(counters(&figures(&service)), counters(&first), "the service was started again");
}
