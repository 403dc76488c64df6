//! The search engine of a configuration.

use deskhand_http::HttpCredential;
use deskhand_knowledge::online::{JsonEngine, Online, OnlineLimits, SearchEngine, SearchKeyHeader};
use deskhand_secret::SecretSource;

use crate::{
    HostError,
    config::{ConfigError, EngineKind, EngineSettings, ValueSource, expanded},
};

/// The search engine; `None` if none is configured. Sends nothing.
///
/// # Errors
/// Its address or key is missing or wrong.
pub(super) fn engine(settings: &EngineSettings) -> Result<Option<Online>, HostError> {
    let Some(kind) = settings.kind else { return Ok(None) };
    let url = settings.url.clone();
    let address = || {
        url.clone().ok_or_else(|| unfit("url", "it is not set", "set it to the address of the search engine"))
    };
    let key = settings.key.as_ref().map(key).transpose()?;
    let needed = || key.clone().ok_or_else(|| unfit("key", "it is not set", "set its `env` or `file`"));
    let engine = match kind {
        EngineKind::Searxng => SearchEngine::SearxNg { url: address()?, key },
        EngineKind::Brave => SearchEngine::Brave { url: url.clone(), key: needed()? },
        EngineKind::Tavily => SearchEngine::Tavily { url: url.clone(), key: needed()? },
        EngineKind::Json => SearchEngine::Json(JsonEngine {
            name: "the search engine".to_owned(),
            url: address()?,
            results: settings.results.clone(),
            title: settings.title.clone(),
            address: settings.address.clone(),
            snippet: settings.snippet.clone(),
            key: key.map(|key| {
                (settings.key_header.clone().map_or(SearchKeyHeader::Bearer, SearchKeyHeader::Named), key)
            }),
        }),
    };
    let online = Online::new(engine, OnlineLimits::default());
    let fix = "`deskhand config explain knowledge.engine.url` says what it has to be";
    online.map(Some).map_err(|error| unfit("url", &error.to_string(), fix))
}

/// Reads a key.
fn key(source: &ValueSource) -> Result<HttpCredential, HostError> {
    let source = match (&source.env, &source.file) {
        (Some(name), None) => SecretSource::Environment(name.clone()),
        (None, Some(file)) => SecretSource::File(expanded(file)),
        (Some(_), Some(_)) | (None, None) => {
            return Err(unfit("key", "it needs exactly one source", "set `env` or `file`"));
        }
    };
    let fix = "set it, or remove `knowledge.engine.kind`";
    HttpCredential::read(&source).map_err(|error| unfit("key", &format!("{source} {error}"), fix))
}

fn unfit(key: &str, problem: &str, fix: &str) -> HostError {
    let (problem, fix) = (problem.to_owned(), fix.to_owned());
    ConfigError::Unfit { key: format!("knowledge.engine.{key}"), problem, fix }.into()
}
