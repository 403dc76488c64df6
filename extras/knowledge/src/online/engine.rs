//! Search engines as data, and the requests that they want.

use deskhand_http::{HttpCredential, http_url};
use reqwest::{
    Client, RequestBuilder, Url,
    header::{ACCEPT, AUTHORIZATION, HeaderName},
};
use serde_json::json;

use super::error::OnlineError;

/// Default endpoint of Brave, unless another is configured.
const BRAVE: &str = "https://api.search.brave.com/res/v1/web/search";
/// Default endpoint of Tavily, unless another is configured.
const TAVILY: &str = "https://api.tavily.com/search";
/// The header of Brave's key.
const BRAVE_KEY: HeaderName = HeaderName::from_static("x-subscription-token");
/// The most results that Brave and Tavily give.
const COUNT_MAX: usize = 20;
/// Placeholder for the query in an address.
const QUERY: &str = "{query}";

/// A search engine.
#[derive(Debug, Clone)]
pub enum SearchEngine {
    /// SearXNG, with `json` among its formats.
    SearxNg {
        /// Its address, without `/search`.
        url: String,
        /// A token for a proxy before it, if there is one.
        key: Option<HttpCredential>,
    },
    /// The API of Brave.
    Brave {
        /// Its address, if it is not the usual one.
        url: Option<String>,
        /// The key.
        key: HttpCredential,
    },
    /// The API of Tavily.
    Tavily {
        /// Its address, if it is not the usual one.
        url: Option<String>,
        /// The key.
        key: HttpCredential,
    },
    /// Any that answers with JSON.
    Json(JsonEngine),
}

/// A search engine that answers with JSON.
#[derive(Debug, Clone)]
pub struct JsonEngine {
    /// Name of the engine.
    pub name: String,
    /// Its address, with `{query}` in place of what is searched for.
    pub url: String,
    /// Location of the list of results (RFC 6901), such as `/data/items`; empty if the whole reply is the list.
    pub results: String,
    /// Location of the title in a result, such as `/title`.
    pub title: String,
    /// Location of the address in a result.
    pub address: String,
    /// Location of the snippet in a result.
    pub snippet: String,
    /// The key, and the header that it stands in.
    pub key: Option<(SearchKeyHeader, HttpCredential)>,
}

/// The header that a key stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchKeyHeader {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// A header with the key alone.
    Named(String),
}

impl SearchEngine {
    /// Returns the name of the engine in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::SearxNg { .. } => "SearXNG",
            Self::Brave { .. } => "Brave",
            Self::Tavily { .. } => "Tavily",
            Self::Json(engine) => &engine.name,
        }
    }

    /// Its key, to take it out of what it says.
    pub(super) const fn key(&self) -> Option<&HttpCredential> {
        match self {
            Self::SearxNg { key, .. } => key.as_ref(),
            Self::Brave { key, .. } | Self::Tavily { key, .. } => Some(key),
            Self::Json(engine) => match &engine.key {
                Some((_, key)) => Some(key),
                None => None,
            },
        }
    }

    /// Checks the configuration; sends nothing.
    pub(super) fn check(&self) -> Result<(), OnlineError> {
        self.address("test", 1)?;
        if let Self::Json(engine) = self {
            let fields = [&engine.results, &engine.title, &engine.address, &engine.snippet];
            if let Some(wrong) = fields.iter().find(|field| !field.is_empty() && !field.starts_with('/')) {
                return Err(self.wrong(format!("`{wrong}` is no JSON pointer: it must begin with `/`")));
            }
            if let Some((SearchKeyHeader::Named(name), _)) = &engine.key {
                header(name).ok_or_else(|| self.wrong(format!("`{name}` is no name of a header")))?;
            }
        }
        Ok(())
    }

    /// The address of a search.
    pub(super) fn address(&self, wanted: &str, count: usize) -> Result<Url, OnlineError> {
        let parse = |text: &str| {
            http_url(text).map_err(|error| {
                self.wrong(format!("`{}` is no address: {error}", error.redacted(without_query(text))))
            })
        };
        match self {
            Self::SearxNg { url, .. } => {
                let base = url.trim().trim_end_matches('/');
                let mut url = parse(&format!("{}/search", base.strip_suffix("/search").unwrap_or(base)))?;
                url.query_pairs_mut().append_pair("q", wanted).append_pair("format", "json");
                Ok(url)
            }
            Self::Brave { url, .. } => {
                let mut url = parse(url.as_deref().unwrap_or(BRAVE))?;
                let count = count.clamp(1, COUNT_MAX).to_string();
                url.query_pairs_mut().append_pair("q", wanted).append_pair("count", &count);
                Ok(url)
            }
            Self::Tavily { url, .. } => parse(url.as_deref().unwrap_or(TAVILY)),
            Self::Json(engine) => {
                if !engine.url.contains(QUERY) {
                    return Err(self.wrong(format!("its address has no `{QUERY}`")));
                }
                let host = |url: &Url| url.origin();
                let url = parse(&engine.url.replace(QUERY, &percent_encoded(wanted)))?;
                // What is searched for must not choose the server.
                if host(&url) != host(&parse(&engine.url.replace(QUERY, "x"))?) {
                    return Err(self.wrong(format!("`{QUERY}` may only stand behind the host")));
                }
                Ok(url)
            }
        }
    }

    /// The request of a search.
    pub(super) fn request(&self, client: &Client, url: Url, wanted: &str, count: usize) -> RequestBuilder {
        let get = || client.get(url.clone()).header(ACCEPT, "application/json");
        match self {
            Self::SearxNg { key, .. } => match key {
                Some(key) => get().header(AUTHORIZATION, key.bearer()),
                None => get(),
            },
            Self::Brave { key, .. } => get().header(BRAVE_KEY, key.plain()),
            Self::Tavily { key, .. } => {
                let body = json!({"query": wanted, "max_results": count.clamp(1, COUNT_MAX)});
                client.post(url).header(AUTHORIZATION, key.bearer()).json(&body)
            }
            Self::Json(engine) => match &engine.key {
                Some((SearchKeyHeader::Bearer, key)) => get().header(AUTHORIZATION, key.bearer()),
                Some((SearchKeyHeader::Named(name), key)) => match header(name) {
                    Some(name) => get().header(name, key.plain()),
                    None => get(),
                },
                None => get(),
            },
        }
    }

    /// Returns the suggested next step if the engine replies with 401, 403 or 429.
    pub(super) fn next_step(&self, status: u16) -> &'static str {
        match (self, status) {
            (_, 429) => "its quota is used up: wait, or ask it less often",
            (Self::SearxNg { .. }, 403) => {
                "add `json` to `search.formats` in its settings.yml, or allow this machine in its limiter"
            }
            (Self::SearxNg { .. } | Self::Brave { .. } | Self::Tavily { .. } | Self::Json(_), _) => {
                "check its key"
            }
        }
    }

    pub(super) fn wrong(&self, problem: String) -> OnlineError {
        OnlineError::Configuration { engine: self.name().to_owned(), problem }
    }
}

fn header(name: &str) -> Option<HeaderName> {
    HeaderName::try_from(name).ok()
}

/// An address without its query, which may contain a key.
fn without_query(address: &str) -> &str {
    address.split(['?', '#']).next().unwrap_or_default()
}

/// Text as it may stand anywhere in an address.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}
