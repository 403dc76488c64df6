//! Traces of a session, as a collector gets them: a server on loopback that shares no code with what sends them. Times and parents are
//! compared with the journal on disk.
//!
//! Skipped if the programs of a virtual desktop or the editor are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::{World, has_desktop};

/// A greeting without questions.
const SCRIPT: &str = r#"
[[turn]]
agent = "HostAgent"
expect = 'write the greeting'
reply = '''
{"observation": "an empty desktop", "thought": "the editor is not open", "status": "ASSIGN",
 "current_subtask": "type the greeting", "function": "launch_application", "arguments": {"name": "mousepad"}}
'''

[[turn]]
agent = "AppAgent"
expect = 'window "Untitled'
reply = '''
{"observation": "an empty document", "thought": "a SECRET thought", "status": "CONTINUE",
 "action": [{"function": "type_text", "arguments": {"id": "{{element "text" ""}}", "text": "Guten Tag"}}]}
'''

[[turn]]
agent = "AppAgent"
expect = 'Guten Tag'
reply = '''
{"observation": "it stands there", "thought": "done", "status": "FINISH", "result": "typed"}
'''

[[turn]]
agent = "HostAgent"
expect = 'FINISHED'
reply = '''
{"observation": "it stands there", "thought": "all done", "status": "FINISH", "result": "the greeting is written"}
'''
"#;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "b7ad6b7169203331";

/// What a collector received: paths with bodies.
type Received = Arc<Mutex<Vec<(String, Value)>>>;

/// A collector, and its address.
fn collector(answers: bool) -> (String, Received) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let received = Received::default();
    let keeping = Arc::clone(&received);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let keeping = Arc::clone(&keeping);
            thread::spawn(move || receive(stream.unwrap(), answers, &keeping));
        }
    });
    (address, received)
}

fn receive(stream: TcpStream, answers: bool, received: &Received) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut head, mut line) = (String::new(), String::new());
        while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
            head.push_str(&line);
            line.clear();
        }
        let field = |name: &str| {
            let mut lines = head.lines();
            lines.find_map(|line| line.to_lowercase().strip_prefix(name).map(|value| value.trim().to_owned()))
        };
        let Some(length) = field("content-length:") else { return };
        assert_eq!(field("content-type:").as_deref(), Some("application/json"));
        let mut body = vec![0; length.parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        let path = head.split(' ').nth(1).unwrap().to_owned();
        received.lock().unwrap().push((path, serde_json::from_slice(&body).unwrap()));
        if !answers {
            // Until the other end gives up.
            reader.read_to_end(&mut Vec::new()).ok();
            return;
        }
        let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        reader.get_mut().write_all(answer.as_bytes()).unwrap();
    }
}

/// A session of the script; returns how long it took.
fn run(world: &World, variables: &[(&str, &str)]) -> Duration {
    world.file("turns.toml", SCRIPT);
    let mut command =
        world.command(&["run", "--model", "script:turns.toml", "--desktop", "virtual", "write the greeting"]);
    let begun = Instant::now();
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{problem}");
    begun.elapsed()
}

fn spans(received: &Received) -> Vec<Value> {
    let received = received.lock().unwrap();
    assert!(received.iter().all(|(path, _)| path == "/v1/traces"));
    let all = received
        .iter()
        .flat_map(|(_, body)| body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap());
    all.cloned().collect()
}

fn attribute<'a>(span: &'a Value, key: &str) -> Option<&'a str> {
    let mut attributes = span["attributes"].as_array().unwrap().iter();
    let value = &attributes.find(|attribute| attribute["key"] == key)?["value"];
    value["stringValue"].as_str().or_else(|| value["intValue"].as_str())
}

fn operation<'a>(spans: &'a [Value], name: &str) -> Vec<&'a Value> {
    spans.iter().filter(|span| attribute(span, "gen_ai.operation.name") == Some(name)).collect()
}

#[test]
fn a_collector_sees_a_session_with_its_steps_models_and_tools() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let (address, received) = collector(true);
    let parent = format!("00-{TRACE}-{SPAN}-01");
    run(&world, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &address), ("TRACEPARENT", &parent)]);
    let spans = spans(&received);
    assert!(spans.iter().all(|span| span["traceId"] == TRACE));
    let session = spans.iter().find(|span| span["name"] == "session").unwrap();
    assert_eq!(
        (&session["parentSpanId"], attribute(session, "deskhand.outcome")),
        (&SPAN.into(), Some("finished"))
    );
    let (steps, chats, tools) =
        (operation(&spans, "invoke_agent"), operation(&spans, "chat"), operation(&spans, "execute_tool"));
    assert_eq!((steps.len(), chats.len()), (4, 4));
    assert_eq!(spans.len(), 1 + steps.len() + chats.len() + tools.len(), "and nothing else");
    assert!(steps.iter().all(|step| step["parentSpanId"] == session["spanId"]));
    let agents: Vec<&str> = steps.iter().filter_map(|step| attribute(step, "gen_ai.agent.name")).collect();
    assert_eq!(agents, ["HostAgent", "AppAgent/mousepad", "AppAgent/mousepad", "HostAgent"]);
    for (chat, step) in chats.iter().zip(&steps) {
        assert_eq!((&chat["parentSpanId"], &chat["kind"]), (&step["spanId"], &3.into()));
    }
    let names: BTreeMap<&str, &Value> = tools
        .iter()
        .map(|tool| (attribute(tool, "gen_ai.tool.name").unwrap(), &tool["parentSpanId"]))
        .collect();
    assert_eq!(names["type_text"], &steps[1]["spanId"]);
    let typed = tools.iter().find(|tool| tool["name"] == "execute_tool type_text").unwrap();
    assert_eq!(attribute(typed, "deskhand.verdict"), Some("seen"));

    // What was asked and typed is nobody's business.
    let text = serde_json::to_string(&*received.lock().unwrap()).unwrap();
    assert!(!text.contains("SECRET") && !text.contains("write the greeting") && !text.contains("Guten Tag"));

    // The times are those of the journal.
    let sessions = fs::read_dir(world.path().join(".local/state/deskhand/sessions")).unwrap();
    let folder =
        sessions.map(|entry| entry.unwrap().path()).find(|path| path.join("journal.jsonl").exists()).unwrap();
    let journal = fs::read_to_string(folder.join("journal.jsonl")).unwrap();
    let lines: Vec<Value> = journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let at = |line: &Value| format!("{}000000", line["at_ms"]);
    let has =
        |line: &Value, kind: &str, name: &str| line.to_string().contains(&format!("\"{kind}\":\"{name}\""));
    assert_eq!(session["startTimeUnixNano"], at(&lines[0]));
    assert_eq!(session["endTimeUnixNano"], at(lines.last().unwrap()));
    let asked: Vec<String> = lines.iter().filter(|line| has(line, "want", "ask")).map(at).collect();
    let replied: Vec<String> = lines.iter().filter(|line| has(line, "came", "replied")).map(at).collect();
    let times = |key: &str| -> Vec<String> {
        chats.iter().map(|chat| chat[key].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((times("startTimeUnixNano"), times("endTimeUnixNano")), (asked, replied));

    // With content, if that is wanted.
    received.lock().unwrap().clear();
    let content = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
    run(&world, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &address), (content, "true")]);
    let text = serde_json::to_string(&*received.lock().unwrap()).unwrap();
    assert!(text.contains("a SECRET thought") && text.contains("gen_ai.input.messages"));
    assert_eq!(world.orphans(), Vec::<String>::new());
}

#[test]
fn a_collector_that_hangs_or_is_not_there_slows_nothing() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let alone = run(&world, &[]);
    let (address, received) = collector(false);
    let hangs = run(&world, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &address)]);
    assert!(!received.lock().unwrap().is_empty(), "it got something");
    // Nobody listens there any more.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let none = run(&world, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &format!("http://{gone}"))]);
    // The end waits two seconds at most; the rest is what this machine does beside.
    let most = alone * 3 + Duration::from_secs(10);
    assert!(
        hangs < most && none < most,
        "{alone:?} alone, {hangs:?} with one that hangs, {none:?} with none"
    );
    assert_eq!(world.orphans(), Vec::<String>::new());
}
