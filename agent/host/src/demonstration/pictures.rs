//! The pictures of a demonstration: one of each step, as it was before it.

use std::{
    fs,
    path::PathBuf,
    sync::mpsc,
    thread::{self, JoinHandle},
    time::Instant,
};

use deskhand_desktop::Picture;
use deskhand_runtime::{demonstration::DemonstratedActs, private};

use super::DemonstrationError;
use crate::knowledge::Knowledge;

/// Maximum number of pictures that wait to be written; more are left out.
const WAITING_MAX: usize = 8;

/// Writes pictures as they come, in a thread of its own. What is not kept is removed when it is dropped.
#[derive(Debug)]
pub(super) struct StepPictureWriter {
    /// Folder of the pictures that wait.
    waiting: tempfile::TempDir,
    /// Folder of the pictures that are stored.
    folder: PathBuf,
    sender: Option<mpsc::SyncSender<(Instant, Picture)>>,
    writer: Option<JoinHandle<Vec<(Instant, PathBuf)>>>,
}

impl StepPictureWriter {
    /// Begins to write those of a demonstration.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub(super) fn begin(knowledge: &Knowledge, id: &str) -> Result<Self, DemonstrationError> {
        let all = knowledge.folder().join("demonstrations");
        let failed = |source| DemonstrationError::Pictures { folder: all.clone(), source };
        private::create_folders(&all).map_err(failed)?;
        let waiting = tempfile::Builder::new().prefix(".watched-").tempdir_in(&all).map_err(failed)?;
        let (sender, receiver) = mpsc::sync_channel::<(Instant, Picture)>(WAITING_MAX);
        let place = waiting.path().to_owned();
        let writer = thread::Builder::new().name("pictures".to_owned()).spawn(move || {
            let mut written = Vec::new();
            for (at, picture) in receiver {
                let path = place.join(format!("{}.png", written.len()));
                let png = picture.to_png().ok();
                if png.is_some_and(|png| private::write_file(&path, &png).is_ok()) {
                    written.push((at, path));
                }
            }
            written
        });
        let folder = all.join(id);
        Ok(Self { waiting, folder, sender: Some(sender), writer: Some(writer.map_err(failed)?) })
    }

    /// Takes in a picture of what was there at a time. It is left out if too many wait.
    pub(super) fn add(&mut self, at: Instant, picture: Picture) {
        if let Some(sender) = &self.sender {
            // A missing picture is no reason to hold a person up.
            let _ = sender.try_send((at, picture));
        }
    }

    /// Keeps for each act the picture before it, as `step-1.png` and so on. Returns their folder.
    ///
    /// # Errors
    /// They cannot be moved there.
    pub(super) fn keep(mut self, shown: &DemonstratedActs) -> Result<PathBuf, DemonstrationError> {
        drop(self.sender.take());
        let written = self.writer.take().and_then(|writer| writer.join().ok()).unwrap_or_default();
        let failed = |source| DemonstrationError::Pictures { folder: self.folder.clone(), source };
        private::create_folders(&self.folder).map_err(failed)?;
        for (number, act) in (1_usize..).zip(&shown.acts).filter(|(_, act)| !shown.shows_password(act)) {
            let before = written.iter().rev().find(|(at, _)| *at <= act.at).or(written.first());
            if let Some((_, picture)) = before {
                fs::copy(picture, self.folder.join(format!("step-{number}.png"))).map_err(failed)?;
            }
        }
        let Self { waiting, folder, .. } = self;
        // The others are in the way of nobody if they cannot be removed.
        let _ = waiting.close();
        Ok(folder)
    }
}
