//! A client of the servers that shares no code with the product. It asks and reads one answer.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(5);
/// The bucket of the records of a fleet.
const RECORDS: &str = "KV_deskhand-records";

/// Asks the server at a port for the answer to a request.
fn ask(port: u16, subject: &str, body: &Value) -> Result<Vec<u8>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).context("connect to a server")?;
    stream.set_read_timeout(Some(ANSWER))?;
    let body = body.to_string();
    write!(
        stream,
        "CONNECT {{\"verbose\":false,\"pedantic\":false,\"headers\":true}}\r\nSUB answer.{port} 1\r\n\
         PUB {subject} answer.{port} {}\r\n{body}\r\n",
        body.len()
    )?;
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            bail!("the server has hung up");
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |word: Option<&&str>| word.and_then(|word| word.parse::<usize>().ok());
        match words.first() {
            Some(&"PING") => stream.write_all(b"PONG\r\n")?,
            Some(&"MSG") => return read(&mut reader, number(words.last()).context("no length")?),
            Some(&"HMSG") => {
                let all = number(words.last()).context("no length")?;
                let head = number(words.iter().rev().nth(1)).context("no length of the head")?;
                let mut answer = read(&mut reader, all)?;
                return Ok(answer.split_off(head.min(answer.len())));
            }
            Some(&"-ERR") => bail!("the server refuses: {line}"),
            Some(_) | None => {}
        }
    }
}

fn read(reader: &mut impl std::io::Read, length: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// How many tasks have an outcome.
pub(super) fn outcomes(port: u16) -> Result<usize> {
    count(port, "outcome")
}

/// How many records of a kind there are.
pub(super) fn count(port: u16, kind: &str) -> Result<usize> {
    let filter = json!({ "subjects_filter": format!("$KV.deskhand-records.{kind}.>") });
    let answer = ask(port, &format!("$JS.API.STREAM.INFO.{RECORDS}"), &filter)?;
    let answer: Value = serde_json::from_slice(&answer)?;
    if answer.get("error").is_some() {
        bail!("no bucket: {answer}");
    }
    let subjects = answer.pointer("/state/subjects").and_then(Value::as_object);
    Ok(subjects.map_or(0, serde_json::Map::len))
}

/// How many messages a stream has.
pub(super) fn messages(port: u16, stream: &str) -> Result<u64> {
    let answer = ask(port, &format!("$JS.API.STREAM.INFO.deskhand-{stream}"), &json!({}))?;
    let answer: Value = serde_json::from_slice(&answer)?;
    answer.pointer("/state/messages").and_then(Value::as_u64).context("no such stream")
}

/// The name of the worker whose controller leads.
pub(super) fn leader(port: u16) -> Result<String> {
    let key = json!({ "last_by_subj": "$KV.deskhand-records.leader" });
    let answer = ask(port, &format!("$JS.API.DIRECT.GET.{RECORDS}"), &key)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
