//! A model at an endpoint of its own, for benchmarks that need one that thinks: what it replies is computed from the prompt.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

/// The longest request that is read, in bytes.
const REQUEST_MAX: u64 = 64 * 1024 * 1024;

/// Starts the endpoint; returns its address. It ends with the process.
pub(crate) fn start(reply: fn(&str) -> Value) -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").context("listen for the model")?;
    let address = format!("http://{}/v1", listener.local_addr().context("read the address")?);
    std::thread::spawn(move || {
        for stream in listener.incoming().filter_map(Result::ok) {
            // A client that was killed reads no answer.
            std::thread::spawn(move || serve(stream, reply).ok());
        }
    });
    Ok(address)
}

/// Answers the requests of a connection.
fn serve(mut stream: TcpStream, reply: fn(&str) -> Value) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut request = reader.by_ref().take(REQUEST_MAX);
        let mut length = 0;
        loop {
            let mut line = String::new();
            if request.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        request.read_exact(&mut body)?;
        let reply = reply(&prompt_of(&serde_json::from_slice(&body)?)).to_string();
        let body = json!({
            "id": "1", "object": "chat.completion", "created": 1, "model": "mock",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": reply}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        })
        .to_string();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ";
        stream.write_all(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes())?;
    }
}

/// All texts of a request.
fn prompt_of(request: &Value) -> String {
    let messages = request.get("messages").and_then(Value::as_array).into_iter().flatten();
    let texts = messages.flat_map(|message| match message.get("content") {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
            texts.map(str::to_owned).collect()
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => Vec::new(),
    });
    texts.collect::<Vec<_>>().join("\n")
}
