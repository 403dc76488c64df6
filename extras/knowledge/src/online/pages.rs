//! Pages of the web: each hop is asked of the caller, its addresses are looked at, and only they are connected to.
//!
//! With a proxy in the environment, the proxy resolves the names once more. Hosts must resolve here all the same.

use std::{
    io::Write as _,
    net::{IpAddr, SocketAddr},
};

use deskhand_http::{BodyError, http_url, install_tls, read_body, root_cause};
use deskhand_machine::retrieval::{Hit, Retriever, Trust};
use deskhand_ui::text::clip;
use reqwest::{
    Client, Response, Url,
    header::{ACCEPT, CONTENT_TYPE, LOCATION},
    redirect::Policy,
};
use tokio::{net::lookup_host, task::spawn_blocking, time::timeout};

use super::{
    address::{AddressScope, PageHostAccess, reach},
    error::PageReadError,
    html::visible,
    limits::OnlineLimits,
};
use crate::{
    passages::{TextPassage, passages},
    reading::DocumentTextReader,
    score, words,
};

/// The most addresses of a host that are looked at.
const ADDRESSES_MAX: usize = 32;
/// Media types accepted in requests.
const ACCEPTED: &str = "text/html, application/xhtml+xml, text/markdown, text/plain, application/pdf";
/// Media types that are read, and the endings of files of them.
const TYPES: [(&str, &str); 6] = [
    ("text/html", ".html"),
    ("application/xhtml+xml", ".html"),
    ("text/plain", ".txt"),
    ("text/markdown", ".md"),
    ("text/x-markdown", ".md"),
    ("application/pdf", ".pdf"),
];

/// Decides if pages may be requested from a host, by its name as written in the address.
type Allows<'a> = &'a (dyn Fn(&str) -> PageHostAccess + Sync);

/// A page as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebPage {
    /// Its address after all redirects.
    pub address: String,
    /// Its title; the host if it has none.
    pub title: String,
    /// Its text.
    pub text: String,
    /// `true` if the text was cut at its limit.
    pub is_cut: bool,
}

impl WebPage {
    /// The passages of the page that have most of the words that are wanted, the best first; none if none has one.
    #[must_use]
    pub fn hits(&self, wanted: &str, hits_max: usize) -> Vec<Hit> {
        let passages = passages(&self.text, &self.title);
        let count = |word: &String| {
            let has = passages.iter().filter(|passage| words::stems(&passage.text).contains(word)).count();
            u64::try_from(has).unwrap_or(u64::MAX)
        };
        let counted = words::wanted(wanted).into_iter().map(|word| {
            let count = count(&word);
            (word, count)
        });
        let total = u64::try_from(passages.len()).unwrap_or(u64::MAX);
        let weighted = score::WeightedTerms::new(counted.collect(), total);
        let share = |passage: &TextPassage| weighted.share(&format!("{}\n{}", passage.title, passage.text));
        let mut fits: Vec<(f32, &TextPassage)> =
            passages.iter().map(|passage| (share(passage), passage)).filter(|(fit, _)| *fit > 0.0).collect();
        fits.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let hit = |(fit, passage): (f32, &TextPassage)| Hit {
            retriever: Retriever::Search,
            trust: Trust::Web,
            score: score::score(fit),
            title: passage.title.clone(),
            origin: self.address.clone(),
            application: None,
            text: passage.text.clone(),
        };
        fits.into_iter().take(hits_max).map(hit).collect()
    }
}

/// Reads pages.
#[derive(Debug, Clone, Default)]
pub struct Pages {
    limits: OnlineLimits,
    texts: DocumentTextReader,
}

impl Pages {
    /// Reads pages within limits; `texts` makes them to text. A page is hostile: a caller that can should have it read in a confined
    /// process.
    #[must_use]
    pub const fn new(limits: OnlineLimits, texts: DocumentTextReader) -> Self {
        Self { limits, texts }
    }

    /// Fetches a page. `allows` is asked for the host of the address and for that of each redirect, before anything is sent there.
    ///
    /// # Errors
    /// A host is not allowed or not public, the page does not come within its limits, or it has no text.
    pub async fn fetch_page(&self, address: &str, allows: Allows<'_>) -> Result<WebPage, PageReadError> {
        let url = parse(address)?;
        let (limit, host) = (self.limits.time_max, host(&url));
        let fetched = timeout(limit, self.follow(url, allows)).await;
        fetched.unwrap_or(Err(PageReadError::TimedOut { host, limit }))
    }

    async fn follow(&self, mut url: Url, allows: Allows<'_>) -> Result<WebPage, PageReadError> {
        for _ in 0..=self.limits.redirects_max {
            let response = self.hop(&url, allows).await?;
            let status = response.status();
            if !status.is_redirection() {
                return self.page(&url, response).await;
            }
            let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let Some(location) = location else {
                return Err(PageReadError::Status { host: host(&url), status: status.as_u16() });
            };
            url = redirected(&url, location)?;
        }
        Err(PageReadError::Redirects { host: host(&url), limit: self.limits.redirects_max })
    }

    /// Asks one host, and follows nothing.
    async fn hop(&self, url: &Url, allows: Allows<'_>) -> Result<Response, PageReadError> {
        let name = host(url);
        let addresses = permitted(url, allows).await?;
        let failed = |error: &reqwest::Error| {
            if error.is_timeout() {
                return PageReadError::TimedOut { host: name.clone(), limit: self.limits.time_max };
            }
            PageReadError::Unreachable { host: name.clone(), reason: root_cause(error) }
        };
        install_tls();
        let mut builder = Client::builder()
            .redirect(Policy::none())
            .referer(false)
            .timeout(self.limits.time_max)
            .user_agent("Mozilla/5.0 (compatible; Deskhand)")
            // Only the addresses that were looked at: a name may mean something else the next time.
            .resolve_to_addrs(&name, &addresses);
        if addresses.iter().any(|address| reach(address.ip()) != AddressScope::Public) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| failed(&error))?;
        let request = client.get(url.clone()).header(ACCEPT, ACCEPTED);
        request.send().await.map_err(|error| failed(&error))
    }

    async fn page(&self, url: &Url, mut response: Response) -> Result<WebPage, PageReadError> {
        let host = host(url);
        let status = response.status();
        if !status.is_success() {
            return Err(PageReadError::Status { host, status: status.as_u16() });
        }
        let found = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let found = found.and_then(|value| value.split(';').next()).unwrap_or_default().trim().to_lowercase();
        let Some((_, ending)) = TYPES.iter().find(|(known, _)| *known == found) else {
            return Err(PageReadError::ContentType { host, found: clip(&found, 80) });
        };
        let limit = self.limits.page_bytes_max;
        let body = read_body(&mut response, limit).await.map_err(|error| match error {
            BodyError::TooLong { limit } => PageReadError::TooLong { host: host.clone(), limit },
            BodyError::Silent { .. } => {
                PageReadError::TimedOut { host: host.clone(), limit: self.limits.time_max }
            }
            BodyError::Truncated { source, .. } => {
                PageReadError::Unreachable { host: host.clone(), reason: root_cause(&source) }
            }
        })?;
        let (texts, ending) = (self.texts.clone(), *ending);
        let text = spawn_blocking(move || text(&texts, &body, ending)).await;
        let text = text.map_err(|error| error.to_string()).and_then(|text| text);
        let text = text.map_err(|reason| PageReadError::Text { host: host.clone(), reason })?;
        let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(&host);
        let title = clip(title.trim(), 200);
        let cut = clip(text.trim(), self.limits.page_characters_max);
        Ok(WebPage { address: url.to_string(), title, is_cut: cut.len() < text.trim().len(), text: cut })
    }
}

/// The text of a body. Of HTML, only what is shown.
fn text(texts: &DocumentTextReader, body: &[u8], ending: &str) -> Result<String, String> {
    if ending == ".pdf" && !body.starts_with(b"%PDF-") {
        // It would be read as what it is, such as HTML with all that it hides.
        return Err("it says that it is PDF, and is not".to_owned());
    }
    let mut file = tempfile::Builder::new()
        .prefix("page-")
        .suffix(ending)
        .tempfile()
        .map_err(|error| error.to_string())?;
    file.write_all(body).and_then(|()| file.flush()).map_err(|error| error.to_string())?;
    if ending != ".html" {
        return texts.read(file.path());
    }
    // The reader knows encodings: as plain text, it gives the source of the page.
    let source = tempfile::Builder::new().prefix("page-").suffix(".txt").tempfile();
    let mut source = source.map_err(|error| error.to_string())?;
    source.write_all(body).and_then(|()| source.flush()).map_err(|error| error.to_string())?;
    let html = texts.read(source.path())?;
    let shown = format!("<!doctype html><meta charset=\"utf-8\">{}", visible(&html));
    std::fs::write(file.path(), shown).map_err(|error| error.to_string())?;
    texts.read(file.path())
}

/// The addresses of a host, all of which may be asked.
async fn permitted(url: &Url, allows: Allows<'_>) -> Result<Vec<SocketAddr>, PageReadError> {
    let host = host(url);
    let allowed = allows(&host);
    if allowed == PageHostAccess::No {
        return Err(PageReadError::NotAllowed { host });
    }
    let port = url.port_or_known_default().unwrap_or(443);
    let addresses: Vec<SocketAddr> = match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => vec![SocketAddr::new(address, port)],
        Err(_) => {
            let found = lookup_host((host.as_str(), port)).await;
            let unknown = |reason: String| PageReadError::Unreachable { host: host.clone(), reason };
            let found: Vec<_> =
                found.map_err(|error| unknown(error.to_string()))?.take(ADDRESSES_MAX).collect();
            if found.is_empty() {
                return Err(unknown("it has no address".to_owned()));
            }
            found
        }
    };
    for address in addresses.iter().map(SocketAddr::ip) {
        match (reach(address), allowed) {
            (AddressScope::Public, _) | (AddressScope::Private, PageHostAccess::AlsoPrivate) => {}
            (AddressScope::Private, PageHostAccess::No | PageHostAccess::Public) => {
                return Err(PageReadError::Private { host, address });
            }
            (AddressScope::Never, _) => return Err(PageReadError::Forbidden { host, address }),
        }
    }
    Ok(addresses)
}

fn parse(address: &str) -> Result<Url, PageReadError> {
    http_url(address).map_err(|error| PageReadError::Address {
        address: clip(&error.redacted(address), 200),
        problem: error.to_string(),
    })
}

/// Returns the target of a redirect; never from an encrypted page to one that is not.
fn redirected(from: &Url, location: &str) -> Result<Url, PageReadError> {
    let wrong = |problem: String| PageReadError::Address { address: clip(location, 200), problem };
    let url = from.join(location).map_err(|error| wrong(error.to_string()))?;
    let url = parse(url.as_str())?;
    if from.scheme() == "https" && url.scheme() != "https" {
        return Err(wrong("an https page redirects to it, and it is not encrypted".to_owned()));
    }
    Ok(url)
}

fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}
