//! WebDriver BiDi over a WebSocket: commands, their answers, and what the page complains of meanwhile.

use std::net::TcpStream;

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket, client};

use super::BOUND;

/// A connection to a browser.
pub(super) struct Connection {
    socket: WebSocket<TcpStream>,
    last: u64,
    complaints: Vec<String>,
}

impl Connection {
    /// Connects to an address such as `ws://127.0.0.1:1234/session`.
    pub(super) fn open(address: &str) -> Self {
        let host = address.strip_prefix("ws://").unwrap().split('/').next().unwrap();
        let stream = TcpStream::connect(host.replace("localhost", "127.0.0.1")).unwrap();
        stream.set_read_timeout(Some(BOUND)).unwrap();
        stream.set_nodelay(true).unwrap();
        let (socket, _) = client(address, stream).unwrap();
        Self { socket, last: 0, complaints: Vec::new() }
    }

    /// What pages complained of so far.
    pub(super) fn complaints(&self) -> &[String] {
        &self.complaints
    }

    /// A command, and what came back.
    pub(super) fn asks(&mut self, method: &str, parameters: &Value) -> Result<Value, String> {
        self.last += 1;
        let command = json!({"id": self.last, "method": method, "params": parameters});
        self.socket.send(Message::text(command.to_string())).unwrap();
        loop {
            let message = match self.socket.read() {
                Ok(Message::Text(text)) => serde_json::from_str::<Value>(&text).unwrap(),
                Ok(Message::Close(_)) => panic!("{method}: the browser has closed the connection"),
                Ok(_) => continue,
                Err(error) => panic!("{method}: {error}"),
            };
            if message["type"] == "event" {
                self.complaints.extend(complaint(&message));
            } else if message["id"] == self.last {
                return match message["type"].as_str() {
                    Some("success") => Ok(message["result"].clone()),
                    _ => Err(format!("{}: {}", message["error"], message["message"])),
                };
            }
        }
    }
}

/// The text of an event that is a complaint.
fn complaint(event: &Value) -> Option<String> {
    let entry = &event["params"];
    let is_error = event["method"] == "log.entryAdded" && entry["level"] == "error";
    is_error.then(|| format!("{} ({})", entry["text"], entry["stackTrace"]["callFrames"][0]["url"]))
}
