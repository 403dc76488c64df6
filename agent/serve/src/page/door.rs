//! Who may come in: who has the token, from this machine's browser or as a program, and from no other page.
//!
//! A browser opens the address with the token once and has a cookie from then on. Programs send `Authorization: Bearer TOKEN`. A request
//! that names another host is refused (DNS rebinding), and so is one that changes something or opens a WebSocket and comes from another
//! page, or does not say where it comes from although it has only the cookie.

use std::{
    fs, io,
    net::{IpAddr, SocketAddr},
    os::unix::fs::DirBuilderExt as _,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri,
        header::{
            AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, COOKIE, HOST, LOCATION,
            ORIGIN, REFERRER_POLICY, SET_COOKIE, TRANSFER_ENCODING, UPGRADE, X_CONTENT_TYPE_OPTIONS,
            X_FRAME_OPTIONS,
        },
    },
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use deskhand_runtime::private;

use super::{PageService, error::PageApiError, visit::ConnectionAdmission};
use crate::token::{is_same, new_token};

/// The file with the token and the key of cookies.
const FILE: &str = "keys";
/// The random bytes of each of them.
const KEY_BYTES: usize = 32;
/// The part of an address that has the token.
const TOKEN_PARAMETER: &str = "token";
/// The most requests in a second, and in a burst: of those who are let in together, and of all others together.
const REQUESTS_PER_SECOND: f64 = 200.0;
const REQUESTS_AT_ONCE: f64 = 400.0;
/// The most wrong tokens in a second, and in a burst, that are answered as such. Nobody guesses the right one, but who tries finds it out.
const WRONG_PER_SECOND: f64 = 2.0;
const WRONG_AT_ONCE: f64 = 20.0;

/// The content security policy: resources of this service, and nothing inline except the widths of bars.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; \
    img-src 'self' blob: data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The token, and what a cookie has in place of it.
#[derive(Clone)]
pub struct PageCredentials {
    token: String,
    cookie: String,
}

impl PageCredentials {
    /// The keys of a folder, which are made the first time and stay: who was let in stays in when the service is started again.
    ///
    /// # Errors
    /// The folder cannot be made or written to, or the system has no random numbers.
    pub fn in_folder(folder: &Path) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let file = folder.join(FILE);
        let known = match private::read_deciding(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            known => known.ok().and_then(|bytes| String::from_utf8(bytes).ok()),
        };
        if let Some(keys) = known.as_deref().and_then(Self::of_text) {
            return Ok(keys);
        }
        let keys = Self { token: new_token::<KEY_BYTES>()?, cookie: new_token::<KEY_BYTES>()? };
        private::replace_file(&file, format!("{}\n{}\n", keys.token, keys.cookie).as_bytes())?;
        Ok(keys)
    }

    fn of_text(text: &str) -> Option<Self> {
        let is_key = |key: &&str| key.len() == 2 * KEY_BYTES && key.chars().all(|c| c.is_ascii_hexdigit());
        let mut keys = text.lines().filter(is_key).map(str::to_owned);
        Some(Self { token: keys.next()?, cookie: keys.next()? })
    }

    /// The token.
    pub fn token(&self) -> &str {
        &self.token
    }
}

/// The names by which the service is asked for.
pub(super) struct ServiceHostNames {
    scheme: &'static str,
    port: u16,
    /// As they stand in a request, with the port unless it is the usual one.
    hosts: Vec<String>,
}

impl ServiceHostNames {
    /// Those of the loopback address, the address itself, and further ones.
    pub(super) fn new(address: SocketAddr, is_secure: bool, more: &[String]) -> Self {
        let (scheme, usual) = if is_secure { ("https", 443) } else { ("http", 80) };
        let port = address.port();
        let ip = match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let is_named = !address.ip().is_unspecified();
        let own = more.iter().cloned().chain(is_named.then_some(ip));
        let loopback = ["127.0.0.1", "localhost", "[::1]"].map(str::to_owned);
        let names = own.chain(loopback).map(|name| name.to_ascii_lowercase());
        let hosts = names.map(|name| if port == usual { name } else { format!("{name}:{port}") }).collect();
        Self { scheme, port, hosts }
    }

    /// The address without a path.
    pub(super) fn base(&self) -> String {
        format!("{}://{}", self.scheme, self.hosts.first().map(String::as_str).unwrap_or_default())
    }

    fn is_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|name| name.eq_ignore_ascii_case(host))
    }

    fn is_origin(&self, origin: &str) -> bool {
        origin.split_once("://").is_some_and(|(scheme, host)| scheme == self.scheme && self.is_host(host))
    }

    /// Returns the cookie attribute that prevents sending without TLS.
    fn secure(&self) -> &'static str {
        if self.scheme == "https" { "; Secure" } else { "" }
    }
}

/// The door.
pub(crate) struct Door {
    names: ServiceHostNames,
    keys: PageCredentials,
    /// The allowance of admitted clients; strangers use none of it.
    guests: RequestRateLimiter,
    strangers: RequestRateLimiter,
    wrong: RequestRateLimiter,
}

/// A rate limit: a burst, and then a rate per second.
struct RequestRateLimiter {
    per_second: f64,
    at_once: f64,
    /// The remaining allowance, as of a time.
    left: Mutex<(f64, Instant)>,
}

impl RequestRateLimiter {
    fn new(per_second: f64, at_once: f64) -> Self {
        Self { per_second, at_once, left: Mutex::new((at_once, Instant::now())) }
    }

    /// Takes one; whether there was one.
    fn take(&self) -> bool {
        let mut kept = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, since) = *kept;
        let now = Instant::now();
        let left = (left + now.duration_since(since).as_secs_f64() * self.per_second).min(self.at_once);
        let has_one = left >= 1.0;
        *kept = (if has_one { left - 1.0 } else { left }, now);
        has_one
    }
}

/// Why somebody is not let in.
type Refusal = (StatusCode, &'static str);

const WRONG_HOST: Refusal = (StatusCode::MISDIRECTED_REQUEST, "this address is not that of the service");
const TOO_MANY: Refusal = (StatusCode::TOO_MANY_REQUESTS, "too many requests; try again in a second");
const TOO_MANY_WRONG: Refusal = (StatusCode::TOO_MANY_REQUESTS, "too many wrong tokens; wait a little");
const WRONG_TOKEN: Refusal = (StatusCode::UNAUTHORIZED, "the token is not that of this service");
const STRANGER: Refusal = (
    StatusCode::UNAUTHORIZED,
    "open the address with the token that `deskhand serve` printed, or send `Authorization: Bearer TOKEN`",
);
const OTHER_PAGE: Refusal = (StatusCode::FORBIDDEN, "this comes from another page");
/// The refusal of a body without a length. Only one way to state the length is accepted, so that no intermediary
/// can read it differently.
const NO_LENGTH: Refusal =
    (StatusCode::LENGTH_REQUIRED, "send the body with Content-Length, and not in chunks");

/// The credential that a request carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageCredentialKind {
    Token,
    Cookie,
}

/// The token of an `Authorization` header, whose scheme is the same in any case.
fn bearer_of(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
}

impl Door {
    pub(super) fn new(names: ServiceHostNames, keys: PageCredentials) -> Self {
        let requests = || RequestRateLimiter::new(REQUESTS_PER_SECOND, REQUESTS_AT_ONCE);
        let wrong = RequestRateLimiter::new(WRONG_PER_SECOND, WRONG_AT_ONCE);
        Self { names, keys, guests: requests(), strangers: requests(), wrong }
    }

    /// The cookie of another port is another one's.
    fn cookie_name(&self) -> String {
        format!("deskhand_{}", self.names.port)
    }

    /// Checks that a token is the right one.
    ///
    /// # Errors
    /// The token is wrong.
    fn check(&self, given: &str) -> Result<(), Refusal> {
        if is_same(given.as_bytes(), self.keys.token.as_bytes()) {
            return Ok(());
        }
        Err(if self.wrong.take() { WRONG_TOKEN } else { TOO_MANY_WRONG })
    }

    /// Returns the credential of a request.
    fn shown(&self, headers: &HeaderMap) -> Result<PageCredentialKind, Refusal> {
        let bearer = headers.get(AUTHORIZATION).and_then(|value| bearer_of(value.to_str().ok()?));
        if let Some(token) = bearer {
            return self.check(token.trim()).map(|()| PageCredentialKind::Token);
        }
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let is_in = pairs
            .any(|(known, value)| known == name && is_same(value.as_bytes(), self.keys.cookie.as_bytes()));
        is_in.then_some(PageCredentialKind::Cookie).ok_or(STRANGER)
    }

    /// Checks that a request is addressed to this service.
    fn checks_address(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let is_one = headers.get_all(HOST).iter().count() == 1;
        (is_one && self.names.is_host(host)).then_some(()).ok_or(WRONG_HOST)
    }

    /// Checks that a request may pass; the error says why not.
    fn refuses(&self, request: &Request) -> Result<(), Refusal> {
        let headers = request.headers();
        self.checks_address(headers)?;
        let shown = match self.shown(headers) {
            Ok(shown) => shown,
            Err(refusal) => return Err(if self.strangers.take() { refusal } else { TOO_MANY }),
        };
        if !self.guests.take() {
            return Err(TOO_MANY);
        }
        if let Some(visit) = request.extensions().get::<ConnectionAdmission>() {
            visit.let_in();
        }
        if headers.contains_key(TRANSFER_ENCODING) {
            return Err(NO_LENGTH);
        }
        let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
        if is_reading && !headers.contains_key(UPGRADE) {
            return Ok(());
        }
        let origin = headers.get(ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
        let is_own = match (origin, shown) {
            (Some(origin), _) => self.names.is_origin(origin),
            (None, PageCredentialKind::Token) => true,
            (None, PageCredentialKind::Cookie) => false,
        };
        is_own.then_some(()).ok_or(OTHER_PAGE)
    }
}

/// Lets a request pass that may, and gives every response the headers that keep a page to itself.
pub(super) async fn pass(State(service): State<Arc<PageService>>, request: Request, next: Next) -> Response {
    let door = &service.door;
    let passed = match token_in(request.uri()) {
        Some(token) if request.method() == Method::GET => door.let_in(&token, &request),
        Some(_) | None => match door.refuses(&request) {
            Ok(()) => Ok(next.run(request).await),
            Err(refusal) => Err(refusal),
        },
    };
    // Who is refused is not listened to any further, whatever else they sent.
    let mut response = passed.unwrap_or_else(|(status, words)| {
        service.metrics.refused(status);
        ([(CONNECTION, "close")], PageApiError::new(status, words)).into_response()
    });
    let headers = response.headers_mut();
    let fixed = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in fixed {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

impl Door {
    /// Answers the address with the token: with the cookie, and the address without it.
    fn let_in(&self, token: &str, request: &Request) -> Result<Response, Refusal> {
        self.checks_address(request.headers())?;
        if let Err(refusal) = self.check(token) {
            return Err(if self.strangers.take() { refusal } else { TOO_MANY });
        }
        let (name, value) = (self.cookie_name(), &self.keys.cookie);
        let secure = self.names.secure();
        let cookie = format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000{secure}");
        let place = request.uri().path().to_owned();
        // A path that begins with two slashes is another host.
        let place = if place.starts_with("//") { "/".to_owned() } else { place };
        Ok((StatusCode::SEE_OTHER, [(SET_COOKIE, cookie), (LOCATION, place)]).into_response())
    }
}

/// The token in an address.
fn token_in(uri: &Uri) -> Option<String> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(name, _)| *name == TOKEN_PARAMETER).map(|(_, value)| value.to_owned()).next()
}
