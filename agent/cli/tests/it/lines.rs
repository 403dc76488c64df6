//! The protocol for programs over WebSockets of `deskhand serve`, spoken over a bare socket. What is read is compared with the journal.
//!
//! Skipped if the programs of a virtual desktop or the editor are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
};

use serde_json::{Value, json};

use crate::{
    page::{BOUND, Ending, Service},
    people::GREETING,
    support::{World, has_desktop},
};

/// The kinds of frames.
const TEXT: u8 = 1;
const CLOSE: u8 = 8;

/// A WebSocket of a client.
struct Socket(BufReader<TcpStream>);

impl Socket {
    fn open(service: &Service, path: &str) -> Self {
        let mut stream = TcpStream::connect(&service.address).unwrap();
        stream.set_read_timeout(Some(BOUND)).unwrap();
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            service.address,
            service.bearer()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.contains(" 101 "), "{line}");
        while line.trim() != "" {
            line.clear();
            reader.read_line(&mut line).unwrap();
        }
        Self(reader)
    }

    /// Sends a text, masked with zeros.
    fn say(&mut self, value: &Value) {
        let text = value.to_string();
        let length = u16::try_from(text.len()).unwrap();
        let mut frame = vec![0x80 | TEXT, 0x80 | 126];
        frame.extend(length.to_be_bytes());
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        self.0.get_mut().write_all(&frame).unwrap();
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// The next line, or the code that the socket is closed with.
    fn next(&mut self) -> Result<Value, u16> {
        loop {
            let [kind, length] = self.bytes();
            let length = match length {
                126 => u64::from(u16::from_be_bytes(self.bytes())),
                127 => u64::from_be_bytes(self.bytes()),
                short => u64::from(short),
            };
            let mut payload = vec![0; usize::try_from(length).unwrap()];
            self.0.read_exact(&mut payload).unwrap();
            match kind & 0x0f {
                TEXT => return Ok(serde_json::from_slice(&payload).unwrap()),
                CLOSE => return Err(u16::from_be_bytes([payload[0], payload[1]])),
                _ => {}
            }
        }
    }

    fn waits_for(&mut self, kind: &str) -> Value {
        loop {
            let line = self.next().unwrap_or_else(|code| panic!("closed with {code} before {kind}"));
            if line["kind"] == kind {
                return line;
            }
        }
    }

    /// All that comes, and the code of the end.
    fn rest(mut self) -> (Vec<Value>, u16) {
        let mut lines = Vec::new();
        loop {
            match self.next() {
                Ok(line) => lines.push(line),
                Err(code) => return (lines, code),
            }
        }
    }
}

fn numbers(lines: &[Value]) -> Vec<u64> {
    let is_record =
        |line: &&Value| ["header", "effect", "event", "changed"].iter().any(|kind| line["kind"] == *kind);
    lines.iter().filter(is_record).map(|line| line["seq"].as_u64().unwrap()).collect()
}

#[test]
fn a_session_is_run_over_a_websocket_and_followed_by_others() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let _ending = Ending(&world);
    let script = world.file("turns.toml", GREETING);
    let service = Service::start(&world, &[]);
    let mut wrong = Socket::open(&service, "/api/run");
    wrong.say(&json!({"do": "request"}));
    let (lines, code) = wrong.rest();
    assert_eq!(code, 1008);
    assert!(lines[0]["message"].as_str().unwrap().contains("unknown field"), "{lines:?}");

    let mut program = Socket::open(&service, "/api/run");
    program.say(&json!({"request": "write the greeting", "model": format!("script:{}", script.display())}));
    let id = program.waits_for("started")["id"].as_str().unwrap().to_owned();
    // It reads nothing until the session has ended.
    let slow = Socket::open(&service, &format!("/api/sessions/{id}/lines"));
    program.say(&json!({"do": "dance"}));
    assert!(program.waits_for("error")["message"].as_str().unwrap().contains("dance"));
    let asked = program.waits_for("questions");
    program.say(&json!({"do": "answer", "id": asked["id"], "answers": ["Guten Tag", "Ada"]}));
    let asked = program.waits_for("approval");
    program.say(
        &json!({"do": "decide", "id": asked["id"], "approve": "no", "instruction": "write it in capitals"}),
    );
    for _ in 0..2 {
        let asked = program.waits_for("approval");
        program.say(&json!({"do": "decide", "id": asked["id"], "approve": "once"}));
    }
    let outcome = program.waits_for("outcome");
    assert_eq!(
        (&outcome["outcome"], &outcome["reason"]),
        (&json!("finished"), &json!("the greeting is written"))
    );
    let (last, code) = program.rest();
    assert_eq!(code, 1000);
    assert_eq!(last.last().unwrap()["kind"], "summary");

    let folder = world.path().join(".local/state/deskhand/sessions").join(&id);
    let journal = fs::read_to_string(folder.join("journal.jsonl")).unwrap();
    let written: Vec<u64> = journal
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap())
        .collect();
    let (all, _) = slow.rest();
    assert_eq!(numbers(&all), written);
    assert_eq!(all.iter().filter(|line| line["kind"] == "outcome").count(), 1);
    let after = written[written.len() / 2];
    let (rest, _) = Socket::open(&service, &format!("/api/sessions/{id}/lines?after={after}")).rest();
    assert_eq!(numbers(&rest), written[written.len() / 2 + 1..]);

    // The same as a body, for who knows the last record by its header.
    let headers = [("Authorization", &*service.bearer()), ("Last-Event-ID", &*after.to_string())];
    let body = service.asks(&format!("GET /api/sessions/{id}/lines"), &headers, "").body;
    let body: Vec<Value> = body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(body, rest);
    // A line to a session that has ended.
    let mut late = Socket::open(&service, &format!("/api/sessions/{id}/lines"));
    late.say(&json!({"do": "pause"}));
    let (lines, code) = late.rest();
    assert_eq!((lines.last().unwrap()["kind"].as_str(), code), (Some("summary"), 1000));
    service.kill();
    assert_eq!(world.orphans(), Vec::<String>::new());
}
