//! Pictures inside of a page: as large as the whole page can afford.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deskhand_core::ui::PictureRef;
use deskhand_desktop::Picture;

use crate::journal::SessionFolder;

/// The most bytes of pictures in one page.
const BYTES_MAX: u64 = 24 * 1024 * 1024;
/// What a picture of half the size takes at most, as a part of the whole one.
const HALF_COSTS: u64 = 3;

/// A picture as it stands in a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shown {
    /// Its bytes, and the id that later uses refer to.
    Whole { id: String, data: String },
    /// It stands further up.
    Again { id: String },
    /// It is not in the page.
    LeftOut { why: &'static str },
}

/// The pictures of one page.
#[derive(Debug)]
pub(super) struct Album<'a> {
    folder: &'a SessionFolder,
    /// 2 where pictures are shown at half their size.
    factor: u32,
    /// Of so many pictures one is shown.
    every: u64,
    asked: u64,
    shown: BTreeSet<String>,
    /// What is wanted and is there.
    sizes: BTreeMap<String, u64>,
}

impl<'a> Album<'a> {
    /// An album for these pictures, by their hashes.
    pub(super) fn of(folder: &'a SessionFolder, pictures: &BTreeSet<String>) -> Self {
        let size = |sha256: &String| fs::metadata(folder.picture_path(sha256)).ok().map(|file| file.len());
        let sizes: BTreeMap<String, u64> =
            pictures.iter().filter_map(|sha256| Some((sha256.clone(), size(sha256)?))).collect();
        let total: u64 = sizes.values().sum();
        let factor = if total > BYTES_MAX { 2 } else { 1 };
        let cost = if factor == 2 { total / HALF_COSTS } else { total };
        Self {
            folder,
            factor,
            every: cost.div_ceil(BYTES_MAX).max(1),
            asked: 0,
            shown: BTreeSet::new(),
            sizes,
        }
    }

    /// What became of the pictures, for the reader of the page; empty where they are as they were taken.
    pub(super) fn note(&self) -> String {
        let size = if self.factor > 1 { "at half their size" } else { "" };
        match (self.every, size) {
            (1, "") => String::new(),
            (1, size) => {
                format!("Pictures are shown {size}; the whole ones are in the folder of the session.")
            }
            (every, size) => format!(
                "Of {every} pictures one is shown, {size}; the others are sketched, and all are in the folder of the session."
            ),
        }
    }

    /// The next picture of the page.
    pub(super) fn show(&mut self, picture: &PictureRef) -> Shown {
        let id: String = picture.sha256.chars().take(16).collect();
        if !self.sizes.contains_key(&picture.sha256) {
            return Shown::LeftOut { why: "The picture is no longer in the folder of the session." };
        }
        if self.shown.contains(&picture.sha256) {
            return Shown::Again { id };
        }
        self.asked += 1;
        if !self.asked.is_multiple_of(self.every) && self.asked != 1 {
            return Shown::LeftOut { why: "The picture was left out to keep this page small." };
        }
        match self.bytes(picture) {
            Some((media_type, bytes)) => {
                self.shown.insert(picture.sha256.clone());
                Shown::Whole { id, data: format!("data:{media_type};base64,{}", STANDARD.encode(bytes)) }
            }
            None => Shown::LeftOut { why: "The picture could not be read." },
        }
    }

    /// The bytes of a picture, and their media type.
    fn bytes(&self, picture: &PictureRef) -> Option<(&'static str, Vec<u8>)> {
        let whole = self.folder.picture(picture).ok()?;
        if self.factor < 2 {
            // What is no picture must not get into a page under that name.
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
