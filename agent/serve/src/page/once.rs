//! Requests that may be sent again: one with an `Idempotency-Key` is carried out once.
//!
//! What was answered is kept in the folder of the service, so that this also holds when the service was killed meanwhile: a key is written
//! down before anything is done, with the id of the session that may come of it, and its answer after. A request that comes again with the
//! same key and body gets that answer; one whose answer was never written down is completed by handlers that can tell how far it came.

use std::{
    collections::HashSet,
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use aide::{
    OperationInput,
    generate::GenContext,
    openapi::Operation,
    operation::{ParamLocation, add_parameters, parameters_from_schema},
};
use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{FromRequestParts, Request, State},
    http::{
        HeaderMap, HeaderValue, Method, StatusCode, header::CONTENT_TYPE, request::Parts, uri::PathAndQuery,
    },
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use deskhand_runtime::{new_id, private};
use deskhand_ui::ids::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;

use super::{PageService, error::PageApiError};

/// The header that has the key.
const HEADER: &str = "idempotency-key";
/// The longest key, in bytes.
const KEY_MAX: usize = 255;
/// The folder of the keys, in that of the service.
const FOLDER: &str = "once";
/// The version of their files.
const VERSION: u32 = 1;
/// The most keys that are kept, and for how long.
const KEYS_MAX: usize = 4096;
const KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The most bytes of an answer that is kept.
const ANSWER_MAX: usize = 64 * 1024;

/// A request that is carried out once.
#[derive(Debug, Clone)]
pub(crate) struct IdempotentAttempt {
    /// The id of a session that it starts.
    pub(crate) session: SessionId,
    /// When it came before, if its answer is not known: something of it may have been done.
    pub(crate) before: Option<SystemTime>,
}

impl IdempotentAttempt {
    /// One without a key.
    pub(crate) fn first() -> Self {
        Self { session: new_id(), before: None }
    }
}

/// The header, as the API describes it.
#[derive(JsonSchema)]
struct Headers {
    /// A text of the client's own, such as a UUID. A request with the same key and body is not carried out again but answered as the
    /// first one; with another body it is refused (409), and so it is while the first one is carried out.
    #[serde(rename = "Idempotency-Key", default)]
    #[schemars(with = "String", regex(pattern = "^[!-~]+$"), length(min = 1, max = 255))]
    _key: Option<String>,
}

impl OperationInput for IdempotentAttempt {
    fn operation_input(context: &mut GenContext, operation: &mut Operation) {
        let schema = context.schema.subschema_for::<Headers>();
        let parameters = parameters_from_schema(context, schema, ParamLocation::Header);
        add_parameters(context, operation, parameters);
    }
}

impl<S: Sync> FromRequestParts<S> for IdempotentAttempt {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let known = parts.extensions.remove::<Self>();
        Ok(known.unwrap_or_else(Self::first))
    }
}

/// The stored record of a key.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct IdempotencyRecord {
    version: u32,
    /// The hash of what was asked for.
    asked: String,
    session: String,
    begun: SystemTime,
    /// `None` until it was answered.
    answer: Option<RecordedReply>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct RecordedReply {
    status: u16,
    kind: Option<String>,
    body: String,
}

impl RecordedReply {
    /// Returns `true` if an answer stays. After another one nothing has begun, and the request may be put right or come again.
    fn stays(status: StatusCode) -> bool {
        status.is_success() || status == StatusCode::CONFLICT
    }

    fn response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, self.body).into_response();
        response.headers_mut().remove(CONTENT_TYPE);
        if let Some(kind) = self.kind.and_then(|kind| HeaderValue::from_str(&kind).ok()) {
            response.headers_mut().insert(CONTENT_TYPE, kind);
        }
        response
    }
}

/// The keys of a service.
pub(crate) struct IdempotencyStore {
    folder: PathBuf,
    /// The files of the keys whose requests are carried out now.
    busy: Mutex<HashSet<PathBuf>>,
}

/// A key whose request is carried out, until this is dropped.
struct Busy {
    service: Arc<PageService>,
    file: PathBuf,
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.service.once.busy().remove(&self.file);
    }
}

impl IdempotencyStore {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.join(FOLDER), busy: Mutex::default() }
    }

    fn busy(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a key; `None` while its request is carried out.
    fn take(service: &Arc<PageService>, key: &str) -> Option<Busy> {
        let file = service.once.folder.join(format!("{}.json", hash_of(&[key.as_bytes()])));
        let is_free = service.once.busy().insert(file.clone());
        is_free.then(|| Busy { service: Arc::clone(service), file })
    }

    /// Removes keys that are old, and the oldest ones if there are too many.
    fn prune(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            files.push((entry.metadata()?.modified()?, entry.path()));
        }
        files.sort();
        let (now, too_many) = (SystemTime::now(), (files.len() + 1).saturating_sub(KEYS_MAX));
        for (at, (modified, file)) in files.into_iter().enumerate() {
            if at < too_many || now.duration_since(modified).is_ok_and(|age| age > KEPT_FOR) {
                fs::remove_file(file)?;
            }
        }
        Ok(())
    }
}

/// Reads the stored record of a key, if there is one. An unreadable record does not say what was done, so it is
/// an error.
fn read(file: &Path) -> io::Result<Option<IdempotencyRecord>> {
    let text = match private::read_deciding(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let kept: IdempotencyRecord = serde_json::from_slice(&text).map_err(io::Error::other)?;
    if kept.version == VERSION { Ok(Some(kept)) } else { Err(io::Error::other("it is of another version")) }
}

/// Writes something down as JSON, so that it is there whole or not at all, also after the machine has stopped.
pub(super) fn write_whole(file: &Path, kept: &impl Serialize) -> io::Result<()> {
    private::replace_file(file, &serde_json::to_vec(kept)?)
}

/// Writes a key down that comes the first time.
fn begin(once: &IdempotencyStore, file: &Path, asked: String) -> io::Result<IdempotencyRecord> {
    DirBuilder::new().recursive(true).mode(0o700).create(&once.folder)?;
    once.prune()?;
    let session = new_id().0;
    let kept = IdempotencyRecord { version: VERSION, asked, session, begun: SystemTime::now(), answer: None };
    write_whole(file, &kept)?;
    Ok(kept)
}

fn hash_of(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The key of a request. It may stand in quotes, as the draft of the header has it.
fn key_of(headers: &HeaderMap) -> Result<Option<String>, PageApiError> {
    let Some(value) = headers.get(HEADER) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    let key = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    if key.is_empty() || key.len() > KEY_MAX {
        let words = format!("an Idempotency-Key is a text of 1 to {KEY_MAX} visible characters of ASCII");
        return Err(PageApiError::wrong(words));
    }
    Ok(Some(key.to_owned()))
}

/// Returns `true` if the handler of a path tells how far an earlier attempt came.
fn goes_on(path: &str) -> bool {
    path == "/api/sessions" || path.ends_with("/resume")
}

/// Carries requests with a key out once. Their bodies must be bounded already.
pub(super) async fn once(State(service): State<Arc<PageService>>, request: Request, next: Next) -> Response {
    // Nothing else is carried out, and a method that is not there is answered as such.
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    match key_of(request.headers()) {
        Ok(Some(key)) => {
            carry_out(service, &key, request, next).await.unwrap_or_else(PageApiError::into_response)
        }
        Ok(None) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

async fn carry_out(
    service: Arc<PageService>,
    key: &str,
    request: Request,
    next: Next,
) -> Result<Response, PageApiError> {
    let failed = |error: &io::Error| PageApiError::failed("keep the Idempotency-Key", error);
    let broken = |error: &tokio::task::JoinError| PageApiError::failed("keep the Idempotency-Key", error);
    let (mut parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await;
    let body = body.map_err(|_| {
        PageApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large, or broke off")
    })?;
    let place = parts.uri.path_and_query().map(PathAndQuery::as_str).unwrap_or_default();
    let asked = hash_of(&[place.as_bytes(), &body]);
    let busy = IdempotencyStore::take(&service, key);
    let busy = busy.ok_or_else(|| {
        PageApiError::conflict("the first request with this Idempotency-Key is still carried out")
    })?;
    let (file, asking) = (busy.file.clone(), asked.clone());
    let looking = Arc::clone(&service);
    let known = spawn_blocking(move || match read(&file)? {
        Some(kept) => Ok((kept, true)),
        None => Ok((begin(&looking.once, &file, asking)?, false)),
    });
    let (kept, is_known) = known.await.map_err(|error| broken(&error))?.map_err(|error| failed(&error))?;
    if kept.asked != asked {
        let words = "this Idempotency-Key came with another request before; use a new one for each request";
        return Err(PageApiError::conflict(words));
    }
    if let Some(answer) = kept.answer {
        return Ok(answer.response());
    }
    if is_known && !goes_on(parts.uri.path()) {
        let words = "the service ended while it carried this request out; look whether it came about, and send what is missing with a new Idempotency-Key";
        return Err(PageApiError::conflict(words));
    }
    let before = is_known.then_some(kept.begun);
    parts.extensions.insert(IdempotentAttempt { session: SessionId(kept.session.clone()), before });
    let response = next.run(Request::from_parts(parts, Body::from(body))).await;
    let (head, body) = response.into_parts();
    let body =
        to_bytes(body, ANSWER_MAX).await.map_err(|error| PageApiError::failed("keep the answer", &error))?;
    let kept = RecordedReply::stays(head.status)
        .then(|| IdempotencyRecord { answer: Some(answer_of(head.status, &head.headers, &body)), ..kept });
    let file = busy.file.clone();
    let keeping = spawn_blocking(move || match kept {
        Some(kept) => write_whole(&file, &kept),
        None => fs::remove_file(&file),
    });
    keeping.await.map_err(|error| broken(&error))?.map_err(|error| failed(&error))?;
    drop(busy);
    Ok(Response::from_parts(head, Body::from(body)))
}

fn answer_of(status: StatusCode, headers: &HeaderMap, body: &Bytes) -> RecordedReply {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).map(str::to_owned);
    RecordedReply { status: status.as_u16(), kind, body: String::from_utf8_lossy(body).into_owned() }
}
