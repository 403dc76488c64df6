//! Plays the exchanges of a cassette.

use std::{
    collections::{BTreeSet, VecDeque},
    fs::File,
    io::{ErrorKind, Read as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use deskhand_ui::text::excerpt;
use serde_json::Value;

use super::{CASSETTE_MAX, CassetteError, CassetteHeader, CassetteRequest, Exchange, ExchangeEnd};

/// The fields of bodies that hold the prompt, and one that depends on its length. They differ from one run to the next, so they are not
/// compared.
const PROMPT: [&str; 6] =
    ["/messages", "/system", "/input", "/contents", "/systemInstruction", "/options/num_ctx"];

/// Why a cassette has no reply to a request.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoExchange {
    #[error("the cassette {} has no more than {count} exchanges", path.display())]
    End { path: PathBuf, count: usize },
    #[error(
        "request {number} is another one than in the cassette {}: `{place}` is {now}, and was {then}; record it again",
        path.display()
    )]
    Differs { path: PathBuf, number: usize, place: String, now: String, then: String },
}

/// A cassette that is played.
#[derive(Debug)]
pub(crate) struct Player {
    path: PathBuf,
    count: usize,
    left: Mutex<VecDeque<Exchange>>,
}

impl Player {
    /// Reads the cassette of a model.
    pub(crate) fn open(path: &Path, label: &CassetteHeader) -> Result<Self, CassetteError> {
        let (held, exchanges) = read(path)?;
        label.check(&held, path)?;
        Ok(Self { path: path.to_owned(), count: exchanges.len(), left: Mutex::new(exchanges.into()) })
    }

    /// Returns the result of the next exchange, if it is the one of this request.
    pub(crate) fn next(&self, request: &CassetteRequest) -> Result<ExchangeEnd, NoExchange> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let path = || self.path.clone();
        let Some(next) = left.pop_front() else {
            return Err(NoExchange::End { path: path(), count: self.count });
        };
        let number = self.count - left.len();
        if let Some((place, then, now)) = difference(&next.request, request) {
            return Err(NoExchange::Differs { path: path(), number, place, now, then });
        }
        Ok(next.end)
    }
}

/// The label and the exchanges of a cassette.
pub(crate) fn read(path: &Path) -> Result<(CassetteHeader, Vec<Exchange>), CassetteError> {
    let failed = |source| CassetteError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() > CASSETTE_MAX {
        return Err(CassetteError::TooLong { path: path.to_owned() });
    }
    let mut text = String::new();
    let read = file.take(CASSETTE_MAX).read_to_string(&mut text);
    read.map_err(|error| {
        let is_text = error.kind() != ErrorKind::InvalidData;
        if is_text { failed(error) } else { CassetteError::Other { path: path.to_owned() } }
    })?;
    let mut lines = text.lines().enumerate();
    let label = CassetteHeader::read(lines.next().map(|(_, line)| line).unwrap_or_default(), path)?;
    let exchanges = lines.filter(|(_, line)| !line.trim().is_empty()).map(|(at, line)| {
        serde_json::from_str(line).map_err(|error| CassetteError::Line {
            path: path.to_owned(),
            line: at + 1,
            problem: error.to_string(),
        })
    });
    Ok((label, exchanges.collect::<Result<_, _>>()?))
}

/// Finds a difference between a request and the recorded one: its place, the recorded value and the current
/// value; `None` if nothing but the prompt differs.
fn difference(then: &CassetteRequest, now: &CassetteRequest) -> Option<(String, String, String)> {
    let words = [("method", &then.method, &now.method), ("path", &then.path, &now.path)];
    let different = words.into_iter().find(|(_, then, now)| then != now);
    different
        .map(|(place, then, now)| (place.to_owned(), then.clone(), now.clone()))
        .or_else(|| differs(String::new(), Some(&then.body), Some(&now.body)))
}

fn differs(place: String, then: Option<&Value>, now: Option<&Value>) -> Option<(String, String, String)> {
    if PROMPT.contains(&place.as_str()) {
        return None;
    }
    if let (Some(Value::Object(then)), Some(Value::Object(now))) = (then, now) {
        let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
        return names
            .into_iter()
            .find_map(|name| differs(format!("{place}/{name}"), then.get(name), now.get(name)));
    }
    let shown = |value: Option<&Value>| {
        value.map_or_else(|| "not there".to_owned(), |value| excerpt(&value.to_string(), 80))
    };
    (then != now).then(|| (place, shown(then), shown(now)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sent(body: Value) -> CassetteRequest {
        CassetteRequest { method: "POST".to_owned(), path: "/chat/completions".to_owned(), body }
    }

    #[test]
    fn the_prompt_may_differ_and_nothing_else() {
        let body = json!({"model": "m", "messages": [1], "options": {"num_ctx": 8192, "top": 1}, "tools": [{"name": "a"}]});
        let then = sent(body.clone());
        let now = |pointer: &str, value: Value| {
            let mut body = body.clone();
            *body.pointer_mut(pointer).unwrap() = value;
            difference(&then, &sent(body)).map(|(place, then, now)| format!("{place}: {then}, {now}"))
        };
        assert_eq!(now("/messages", json!([1, 2])), None);
        assert_eq!(now("/options/num_ctx", json!(16384)), None);
        assert_eq!(now("/options/top", json!(2)).unwrap(), "/options/top: 1, 2");
        assert_eq!(now("/tools/0/name", json!("b")).unwrap(), r#"/tools: [{"name":"a"}], [{"name":"b"}]"#);
        let other = CassetteRequest { path: "/responses".to_owned(), ..then.clone() };
        assert_eq!(difference(&then, &other).unwrap().0, "path");
        let fewer = json!({"model": "m", "messages": [1], "options": {"num_ctx": 8192, "top": 1}});
        assert_eq!(difference(&then, &sent(fewer)).unwrap().2, "not there");
    }
}
