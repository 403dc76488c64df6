//! The pictures of a session.

use std::{fs, io, sync::Arc};

use axum::{
    extract::{Path, State},
    http::header::{CACHE_CONTROL, CONTENT_TYPE},
    response::{IntoResponse as _, Response},
};
use deskhand_ui::PictureRef;

use crate::page::{PageService, error::PageApiError, fleet::failed};

/// A picture by its SHA-256.
pub(super) async fn picture(
    State(service): State<Arc<PageService>>,
    Path((id, sha256)): Path<(String, String)>,
) -> Result<Response, PageApiError> {
    let missing = || PageApiError::missing("there is no such picture");
    let is_hash = sha256.len() == 64 && sha256.chars().all(|c| c.is_ascii_hexdigit());
    let located = service.locate(&id).await?;
    if !is_hash {
        return Err(missing());
    }
    if let Some(mirror) = &located.mirror {
        mirror.fetch_picture(&sha256).await.map_err(|error| failed(&error))?;
    }
    let path = located.folder.picture_path(&sha256);
    let read = tokio::task::spawn_blocking(move || fs::read(path)).await;
    let bytes = match read {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => return Err(missing()),
        Ok(Err(error)) => return Err(PageApiError::failed("read the picture", &error)),
        Err(error) => return Err(PageApiError::failed("read the picture", &error)),
    };
    // Only what is a picture is sent as one.
    let kind = match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => PictureRef::PNG,
        [0xff, 0xd8, 0xff, ..] => PictureRef::JPEG,
        _ => return Err(missing()),
    };
    let headers = [(CONTENT_TYPE, kind), (CACHE_CONTROL, "private, max-age=31536000, immutable")];
    Ok((headers, bytes).into_response())
}
