//! Documents that are dropped into the page: kept in a folder of their own, for the sessions that open them. Applications write to that
//! folder, so nothing else is there, and no link in it is followed.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use axum::{
    body::Body,
    extract::{Query, State},
    http::StatusCode,
};
use deskhand_runtime::{new_id, private};
use deskhand_ui::text::clip;
use futures_util::StreamExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::{fs::File, io::AsyncWriteExt as _, time::timeout};

use super::api::CreatedResponse;
use crate::page::{PageService, error::PageApiError};

/// The largest document, in bytes.
const BYTES_MAX: u64 = 256 << 20;
/// Maximum time to receive a part of a document.
const PART_BOUND: Duration = Duration::from_secs(20);
/// Maximum time to receive a whole document.
const WHOLE_BOUND: Duration = Duration::from_secs(30 * 60);
const LATE: &str = "the document does not come, or too slowly";
/// The longest name, in bytes; one of more characters than that is refused, and others are cut.
const NAME_MAX: usize = 200;
const NAME_CHARS_MAX: usize = 1_000;
/// The longest suffix that stays when a name is cut, in bytes.
const SUFFIX_MAX: usize = 20;

/// The API description of storing a document.
pub(super) const KEEPING: &str = "It may have 256 MB. Sessions open it by its path.";

/// The name of a document.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct DocumentUploadQuery {
    /// The name of the file, without a folder and not hidden. What is longer than a file system takes is cut, and its suffix stays.
    #[schemars(regex(pattern = r"^[^./\x00][^/\x00]*$"), length(max = 1000))]
    name: String,
}

/// The location of a stored document.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Document")]
pub(super) struct UploadedDocument {
    /// The path, for `open` of a session.
    path: String,
}

/// Keeps a document, and answers with its path.
pub(super) async fn keep(
    State(service): State<Arc<PageService>>,
    Query(named): Query<DocumentUploadQuery>,
    body: Body,
) -> Result<CreatedResponse<UploadedDocument>, PageApiError> {
    let is_name = !named.name.is_empty()
        && named.name.chars().count() <= NAME_CHARS_MAX
        && !named.name.starts_with('.')
        && !named.name.contains(['/', '\0']);
    if !is_name {
        return Err(PageApiError::wrong(format!("`{}` is no name of a file", clip(&named.name, NAME_MAX))));
    }
    let name = cut_name(&named.name);
    let (root, id) = (service.workers.documents(), new_id().0);
    let file = private::new_file_in(root, id.as_ref(), name.as_ref());
    let file = file.map_err(|error| PageApiError::failed("keep the document", &error))?;
    let folder = root.join(id);
    let path = folder.join(&name);
    let mut partial = PartialUpload(Some(folder));
    let written = timeout(WHOLE_BOUND, write(file.into(), body)).await;
    written.map_err(|_| PageApiError::new(StatusCode::REQUEST_TIMEOUT, LATE))??;
    partial.0 = None;
    Ok(CreatedResponse(UploadedDocument { path: path.to_string_lossy().into_owned() }))
}

/// A name that a file system takes: cut before its suffix, if it has one.
fn cut_name(name: &str) -> String {
    if name.len() <= NAME_MAX {
        return name.to_owned();
    }
    let suffix = Path::new(name).extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
    let suffix =
        if suffix.is_empty() || suffix.len() > SUFFIX_MAX { String::new() } else { format!(".{suffix}") };
    let room = NAME_MAX.saturating_sub(suffix.len());
    let end = name
        .char_indices()
        .map(|(at, c)| at.saturating_add(c.len_utf8()))
        .take_while(|end| *end <= room)
        .last();
    format!("{}{suffix}", name.get(..end.unwrap_or_default()).unwrap_or_default())
}

/// The folder of a document that is not whole: removed with it, also when the connection breaks and nobody goes on here.
struct PartialUpload(Option<PathBuf>);

impl Drop for PartialUpload {
    fn drop(&mut self) {
        if let Some(folder) = self.0.take() {
            std::fs::remove_dir_all(folder).ok();
        }
    }
}

async fn write(mut file: File, body: Body) -> Result<(), PageApiError> {
    let failed = |error: &std::io::Error| PageApiError::failed("keep the document", error);
    let (mut parts, mut bytes) = (body.into_data_stream(), 0_u64);
    loop {
        let part = timeout(PART_BOUND, parts.next()).await;
        let part = part.map_err(|_| PageApiError::new(StatusCode::REQUEST_TIMEOUT, LATE))?;
        let Some(part) = part else { break };
        let part = part.map_err(|_| PageApiError::wrong("the document broke off"))?;
        bytes = bytes.saturating_add(u64::try_from(part.len()).unwrap_or(u64::MAX));
        if bytes > BYTES_MAX {
            let words = format!("the document is larger than {} MB", BYTES_MAX >> 20);
            return Err(PageApiError::new(StatusCode::PAYLOAD_TOO_LARGE, words));
        }
        file.write_all(&part).await.map_err(|error| failed(&error))?;
    }
    file.flush().await.map_err(|error| failed(&error))
}
