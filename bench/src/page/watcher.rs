//! Somebody who reads the events of a session, and comes again with the number of the last one when the connection breaks.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead as _, BufReader, Read, Write as _},
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
    thread::park_timeout,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::service::{BOUND, connect, head};

/// How soon a client comes again.
const AGAIN: Duration = Duration::from_millis(20);
/// The longest message, in bytes.
const MESSAGE_MAX: u64 = 64 << 20;

/// How events come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Events,
    Socket,
}

/// What a client has seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The parts of the page as they are now.
    pub(super) parts: BTreeMap<String, String>,
    /// The number of the last record.
    pub(super) seq: u64,
    /// How often it connected.
    pub(super) connections: usize,
    /// What must not be.
    pub(super) problems: Vec<String>,
    /// All parts as they came, to find what comes twice.
    came: BTreeSet<(String, String)>,
}

impl Seen {
    /// Takes a message in; whether the session is over.
    fn read(&mut self, message: &Value) -> bool {
        let seq = message.get("seq").and_then(Value::as_u64);
        if let Some(seq) = seq {
            if seq < self.seq {
                self.problems.push(format!("record {seq} came after record {}", self.seq));
            }
            self.seq = seq;
        }
        if message.get("anew") == Some(&Value::Bool(true)) {
            self.problems.push("the page was made anew".to_owned());
        }
        for part in message.get("parts").and_then(Value::as_array).into_iter().flatten() {
            let text = |name: &str| part.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (id, html) = (text("id"), text("html"));
            if !self.came.insert((id.clone(), html.clone())) {
                self.problems.push(format!("part {id} came twice as it was, up to record {}", self.seq));
            }
            self.parts.insert(id, html);
        }
        message.get("running") == Some(&Value::Bool(false))
    }
}

/// Reads the events of a session until it is over; a client that comes again and again.
pub(super) fn watch(address: &str, token: &str, session: &str, way: Way, is_over: &AtomicBool) -> Seen {
    let mut seen = Seen::default();
    let mut heard = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        let before = seen.seq;
        let watched = match way {
            Way::Events => events(address, token, session, &mut seen),
            Way::Socket => socket(address, token, session, &mut seen),
        };
        if watched.unwrap_or(false) {
            return seen;
        }
        if seen.seq > before {
            heard = Instant::now();
        }
        if heard.elapsed() > BOUND {
            seen.problems.push("nothing comes any more".to_owned());
            return seen;
        }
        park_timeout(AGAIN);
    }
    seen
}

fn events(address: &str, token: &str, session: &str, seen: &mut Seen) -> Result<bool> {
    let mut stream = connect(address)?;
    let line = format!("GET /api/sessions/{session}/events");
    let known = format!("Last-Event-ID: {}\r\n\r\n", seen.seq);
    stream.write_all(head(&line, address, token, &known).as_bytes())?;
    seen.connections += 1;
    let (mut event, mut id) = (String::new(), seen.seq);
    for line in BufReader::new(stream).lines() {
        let line = line?;
        // An event that is not followed by an empty line is none.
        if let Some(number) = line.strip_prefix("id: ") {
            id = number.parse().context("read the number of an event")?;
        } else if let Some(data) = line.strip_prefix("data: ") {
            data.clone_into(&mut event);
        } else if line.is_empty() && !event.is_empty() {
            let message = serde_json::from_str(&std::mem::take(&mut event)).context("read an event")?;
            let is_over = seen.read(&message);
            seen.seq = id;
            if is_over {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn socket(address: &str, token: &str, session: &str, seen: &mut Seen) -> Result<bool> {
    let path = format!("/api/sessions/{session}/watch?after={}", seen.seq);
    let mut reader = open_socket(address, token, &path)?;
    seen.connections += 1;
    while let Some((_, message)) = frame(&mut reader)? {
        let message = serde_json::from_slice(&message).context("read a message")?;
        if seen.read(&message) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Opens a WebSocket.
pub(super) fn open_socket(address: &str, token: &str, path: &str) -> Result<BufReader<TcpStream>> {
    let mut stream = connect(address)?;
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes())?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    if !line.contains(" 101 ") {
        reader.read_to_string(&mut line).ok();
        bail!("no WebSocket at {path}: {line}");
    }
    while reader.read_line(&mut line)? > 2 {}
    Ok(reader)
}

/// The next text or binary message, with its opcode; `None` at the end.
pub(super) fn frame(reader: &mut impl Read) -> Result<Option<(u8, Vec<u8>)>> {
    loop {
        let [first, second] = array(reader)?;
        let length = match second & 0x7f {
            126 => u64::from(u16::from_be_bytes(array(reader)?)),
            127 => u64::from_be_bytes(array(reader)?),
            short => u64::from(short),
        };
        if length > MESSAGE_MAX || first & 0x80 == 0 {
            bail!("a message in pieces, or too long");
        }
        let mut message = vec![0; usize::try_from(length)?];
        reader.read_exact(&mut message)?;
        match first & 0x0f {
            opcode @ (1 | 2) => return Ok(Some((opcode, message))),
            8 => return Ok(None),
            _ => {}
        }
    }
}

fn array<const N: usize>(reader: &mut impl Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_comes_twice_or_backwards_is_a_problem() {
        let mut seen = Seen::default();
        let parts =
            |seq: u64, html: &str| json!({"seq": seq, "anew": false, "parts": [{"id": "s1", "html": html}]});
        assert!(!seen.read(&parts(3, "a")) && !seen.read(&parts(4, "b")));
        assert!(seen.problems.is_empty() && seen.parts["s1"] == "b");
        seen.read(&parts(5, "a"));
        seen.read(&parts(2, "c"));
        assert_eq!(seen.problems.len(), 2, "{:?}", seen.problems);
        assert!(seen.read(&json!({"running": false})));
    }

    #[test]
    fn frames_of_all_lengths_are_read() {
        let long = vec![7; 70_000];
        let mut bytes = vec![0x89, 0, 0x81, 2, b'h', b'i', 0x82, 126, 0, 200];
        bytes.extend(&long[..200]);
        bytes.extend([0x82, 127, 0, 0, 0, 0, 0, 1, 0x11, 0x70]);
        bytes.extend(&long);
        bytes.extend([0x88, 0]);
        let mut reader = bytes.as_slice();
        assert_eq!(frame(&mut reader).unwrap(), Some((1, b"hi".to_vec())));
        assert_eq!(frame(&mut reader).unwrap().unwrap().1.len(), 200);
        assert_eq!(frame(&mut reader).unwrap().unwrap().1.len(), 70_000);
        assert_eq!(frame(&mut reader).unwrap(), None);
    }
}
