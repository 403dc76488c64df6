//! Conversion of engine replies into hits.

use deskhand_http::http_url;
use deskhand_machine::retrieval::{Hit, Retriever, Trust};
use deskhand_ui::text::clip;
use serde_json::Value;

use super::{engine::SearchEngine, html::plain};

/// The most characters of a title.
const TITLE_MAX: usize = 200;
/// The most characters of a snippet.
const SNIPPET_MAX: usize = 2_000;
/// The most characters of an address: a longer one is dropped.
const ADDRESS_MAX: usize = 2_000;
/// The score of the first result; each further one has less, down to the lowest.
const SCORE_FIRST: u16 = 1_000;
const SCORE_STEP: u16 = 50;
const SCORE_LAST: u16 = 100;

/// Locations of the fields in the reply of an engine.
struct EngineReplyPaths<'a> {
    results: &'a str,
    title: &'a str,
    address: &'a str,
    snippet: &'a str,
}

fn places(engine: &SearchEngine) -> EngineReplyPaths<'_> {
    match engine {
        SearchEngine::SearxNg { .. } | SearchEngine::Tavily { .. } => {
            EngineReplyPaths { results: "/results", title: "/title", address: "/url", snippet: "/content" }
        }
        SearchEngine::Brave { .. } => EngineReplyPaths {
            results: "/web/results",
            title: "/title",
            address: "/url",
            snippet: "/description",
        },
        SearchEngine::Json(own) => EngineReplyPaths {
            results: &own.results,
            title: &own.title,
            address: &own.address,
            snippet: &own.snippet,
        },
    }
}

/// The results of a reply, at most `max`; the reason if it is none of this engine. Results without an http address are dropped.
pub(super) fn hits(engine: &SearchEngine, reply: &[u8], max: usize) -> Result<Vec<Hit>, String> {
    let reply: Value = serde_json::from_slice(reply).map_err(|error| format!("it is no JSON ({error})"))?;
    let places = places(engine);
    let list = match reply.pointer(places.results) {
        Some(Value::Array(list)) => list,
        // Brave leaves out `web` if it found nothing.
        None if matches!(engine, SearchEngine::Brave { .. }) && reply.get("type").is_some() => {
            return Ok(Vec::new());
        }
        Some(_) | None => return Err(format!("it has no list at `{}`", places.results)),
    };
    let found = list.iter().filter_map(|result| {
        let text = |place: &str| result.pointer(place).and_then(Value::as_str).unwrap_or_default();
        let address = text(places.address).trim();
        let url = http_url(address).ok().filter(|_| address.len() <= ADDRESS_MAX)?;
        let title = plain(text(places.title));
        let title = if title.is_empty() { url.host_str().unwrap_or_default().to_owned() } else { title };
        Some((clip(&title, TITLE_MAX), url.to_string(), clip(&plain(text(places.snippet)), SNIPPET_MAX)))
    });
    let mut hits: Vec<Hit> = Vec::new();
    for (title, origin, text) in found {
        if hits.len() >= max {
            break;
        }
        if hits.iter().any(|hit| hit.origin == origin) {
            continue;
        }
        let rank = u16::try_from(hits.len()).unwrap_or(u16::MAX);
        let score = SCORE_FIRST.saturating_sub(SCORE_STEP.saturating_mul(rank)).max(SCORE_LAST);
        let (retriever, trust) = (Retriever::Search, Trust::Web);
        hits.push(Hit { retriever, trust, score, title, origin, application: None, text });
    }
    Ok(hits)
}
