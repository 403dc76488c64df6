//! Pictures embedded in a page, as large as the size budget allows.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deskhand_desktop::Picture;
use deskhand_ui::PictureRef;

use crate::journal::SessionFolder;

/// The most bytes of pictures per page.
const BYTES_MAX: u64 = 24 * 1024 * 1024;
/// The maximum size of a half-size picture, relative to the full one.
const HALF_COSTS: u64 = 3;

/// Returns `true` if a picture may be called like this. Journals also come from other machines: a name leads nowhere but into the session folder.
fn is_name(sha256: &str) -> bool {
    !sha256.is_empty() && sha256.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// A picture on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PagePicture {
    /// Its data, and the id for later references.
    Whole { id: String, data: String },
    /// Already shown above.
    Again { id: String },
    /// Not on the page.
    LeftOut { why: &'static str },
}

/// The pictures of one page.
#[derive(Debug)]
pub(super) struct Album {
    folder: SessionFolder,
    /// The address prefix of pictures, which their hashes follow; `None` unless the page links to them.
    links: Option<String>,
    /// 2 if pictures are shown at half size.
    factor: u32,
    /// One of this many pictures is shown.
    every: u64,
    asked: u64,
    shown: BTreeSet<String>,
    /// The available pictures, by hash.
    sizes: BTreeMap<String, u64>,
}

impl Album {
    /// Plans these pictures, given by hash.
    pub(super) fn of(folder: &SessionFolder, pictures: &BTreeSet<String>) -> Self {
        let size = |sha256: &String| fs::metadata(folder.picture_path(sha256)).ok().map(|file| file.len());
        let named = pictures.iter().filter(|sha256| is_name(sha256));
        let sizes: BTreeMap<String, u64> =
            named.filter_map(|sha256| Some((sha256.clone(), size(sha256)?))).collect();
        let total: u64 = sizes.values().sum();
        let factor = if total > BYTES_MAX { 2 } else { 1 };
        let cost = if factor == 2 { total / HALF_COSTS } else { total };
        Self {
            folder: folder.clone(),
            links: None,
            factor,
            every: cost.div_ceil(BYTES_MAX).max(1),
            asked: 0,
            shown: BTreeSet::new(),
            sizes,
        }
    }

    /// All pictures, by links.
    pub(super) fn linked(folder: &SessionFolder, links: &str) -> Self {
        Self { links: Some(links.to_owned()), ..Self::of(folder, &BTreeSet::new()) }
    }

    /// A note on reduced or omitted pictures; empty if there are none.
    pub(super) fn note(&self) -> String {
        let size = if self.factor > 1 { "at half their size" } else { "" };
        match (self.every, size) {
            (1, "") => String::new(),
            (1, size) => {
                format!("Pictures are shown {size}; the originals are in the session folder.")
            }
            (every, size) => format!(
                "One of {every} pictures is shown {size}; the others are sketched. All are in the session folder."
            ),
        }
    }

    /// The next picture of the page.
    pub(super) fn show(&mut self, picture: &PictureRef) -> PagePicture {
        if !is_name(&picture.sha256) {
            return PagePicture::LeftOut { why: "The picture has a name that no picture has." };
        }
        if let Some(links) = &self.links {
            // Each part of a live page stands for itself.
            return PagePicture::Whole { id: String::new(), data: format!("{links}{}", picture.sha256) };
        }
        let id: String = picture.sha256.chars().take(16).collect();
        if !self.sizes.contains_key(&picture.sha256) {
            return PagePicture::LeftOut { why: "The picture is missing from the session folder." };
        }
        if self.shown.contains(&picture.sha256) {
            return PagePicture::Again { id };
        }
        self.asked += 1;
        if !self.asked.is_multiple_of(self.every) && self.asked != 1 {
            return PagePicture::LeftOut { why: "The picture is omitted to keep this page small." };
        }
        match self.bytes(picture) {
            Some((media_type, bytes)) => {
                self.shown.insert(picture.sha256.clone());
                PagePicture::Whole {
                    id,
                    data: format!("data:{media_type};base64,{}", STANDARD.encode(bytes)),
                }
            }
            None => PagePicture::LeftOut { why: "The picture cannot be read." },
        }
    }

    /// The data and media type of a picture.
    fn bytes(&self, picture: &PictureRef) -> Option<(&'static str, Vec<u8>)> {
        let whole = self.folder.picture(picture).ok()?;
        if self.factor < 2 {
            // Only embed files that are pictures.
            return match whole.as_slice() {
                [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some((PictureRef::PNG, whole)),
                [0xff, 0xd8, 0xff, ..] => Some((PictureRef::JPEG, whole)),
                _ => None,
            };
        }
        let small = Picture::from_file(&whole, picture.region).ok()?.shrunk(self.factor);
        Some((PictureRef::PNG, small.to_small_png().ok()?))
    }
}
