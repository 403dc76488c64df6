//! A running desktop, and what was opened on it.

use std::{path::Path, time::Duration};

use deskhand_desktop::{IdleWait as _, LaunchRequest, QuietLimits, WindowManagement as _};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, DocumentLaunch, DocumentLaunchOutcome as Shown, VeiledDesktop};
use deskhand_desktop_detect::DetectingDesktop;
use deskhand_desktop_linux::LinuxDesktop;
use deskhand_secret::Secrets;
use deskhand_ui::{WindowInfo, WindowKind, ids::WindowId, secret::SecretPermit};

use super::{DesktopNote, OpenableDocument, WorkspaceError, windows::find_window};
use crate::config::DesktopKind;

/// The types about which LibreOffice asks how to read them.
const ASKS: &[&str] = &["text/csv", "text/tab-separated-values"];

/// A running desktop.
pub struct Workspace {
    /// The desktop itself, as agents see it: secrets are hidden.
    pub desktop: DetectingDesktop<VeiledDesktop<LinuxDesktop>>,
    /// The secrets that may be typed on it.
    pub secrets: Secrets,
    /// Places where the secrets may be typed.
    pub permits: Vec<SecretPermit>,
    /// Its display name: `virtual 1920x1080`.
    pub name: String,
    /// Which kind of desktop it is.
    pub(super) kind: DesktopKind,
    pub(super) opened: OpenedDocuments,
}

/// Windows that were opened on a desktop.
#[derive(Default)]
pub(super) struct OpenedDocuments {
    /// The window that was opened last.
    pub(super) last: Option<WindowInfo>,
    /// The windows that existed before, if later ones are closed at the end.
    pub(super) known: Option<Vec<WindowId>>,
}

impl Workspace {
    /// Returns `true` if it is a desktop of its own, which nobody sits at.
    pub fn is_private(&self) -> bool {
        self.kind == DesktopKind::Virtual
    }

    /// The desktop below, which shows everything.
    pub const fn back_end(&self) -> &LinuxDesktop {
        self.desktop.inner().inner()
    }

    /// Finds a window by id, title or application. Without a name: the one that was opened last, else the active one.
    ///
    /// # Errors
    /// No window or several windows match.
    pub async fn window(&self, wanted: Option<&str>) -> Result<WindowInfo, WorkspaceError> {
        let windows = self.desktop.windows().await?;
        if let Some(text) = wanted {
            return find_window(&windows, text);
        }
        let opened = self.opened.last.as_ref();
        opened
            .and_then(|opened| windows.iter().find(|window| window.id == opened.id))
            .or_else(|| windows.iter().find(|window| window.active))
            .or_else(|| windows.iter().rev().find(|window| window.kind == WindowKind::Normal))
            .cloned()
            .ok_or(WorkspaceError::NoWindow)
    }

    /// Writes the address of the desktop into the session folder and keeps the desktop for this long if this process dies.
    /// Does nothing for a desktop without a keeper.
    ///
    /// # Errors
    /// The note cannot be written, or the keeper has exited.
    pub(crate) fn note_in(&self, folder: &Path, keep: Duration) -> Result<(), WorkspaceError> {
        let Some(handle) = self.back_end().handle() else { return Ok(()) };
        DesktopNote { handle: handle.clone() }.write(folder)?;
        self.keep_for(keep)
    }

    /// Keeps the desktop for this long if this process dies. Does nothing for a desktop without a keeper.
    ///
    /// # Errors
    /// The keeper has ended.
    pub(crate) fn keep_for(&self, duration: Duration) -> Result<(), WorkspaceError> {
        Ok(self.back_end().keep_for(duration)?)
    }

    /// Waits, with a bound, until applications have finished work such as writing a file, before their desktop ends.
    pub(crate) async fn settle(&self) {
        if let Ok(watch) = self.desktop.watch(None).await {
            self.desktop.settle(watch, QuietLimits::default()).await.ok();
        }
    }

    /// Opens documents, all in one go; returns the window of the last one.
    pub(super) async fn open(
        &self,
        documents: &[&OpenableDocument],
    ) -> Result<Option<WindowInfo>, WorkspaceError> {
        for document in documents {
            document
                .begin()
                .map_err(|source| WorkspaceError::Begin { path: document.named.clone(), source })?;
        }
        let last = documents.last().map(|document| document.argument());
        let mut of_last = None;
        for openings in in_turn(documents) {
            match act::open(&self.desktop, &openings, &ActLimits::default()).await? {
                Shown::All(reports) => {
                    let shown = openings.iter().flat_map(|opening| &opening.documents).zip(reports);
                    let found = shown.filter(|(document, _)| last.as_ref() == Some(*document)).last();
                    of_last = found.and_then(|(_, report)| report.window).or(of_last);
                }
                Shown::Failed { document, report } => {
                    let (document, problem) = (document.into(), report.summary());
                    return Err(WorkspaceError::NotOpened { document, problem });
                }
            }
        }
        Ok(of_last)
    }

    pub(super) async fn start(&self, program: &str) -> Result<WindowInfo, WorkspaceError> {
        let request = LaunchRequest { program: program.to_owned(), arguments: Vec::new() };
        let report = act::launch(&self.desktop, &request, &ActLimits::default()).await?;
        let problem = report.summary();
        report.window.ok_or_else(|| WorkspaceError::NoWindowShown { program: program.to_owned(), problem })
    }
}

/// Groups the starts: those that run at once, then those that have to wait. A program that shows a question about
/// a document does not open further documents of the same start, but accepts them from another start.
fn in_turn(documents: &[&OpenableDocument]) -> Vec<Vec<DocumentLaunch>> {
    let asks = |document: &&&OpenableDocument| {
        ASKS.contains(&document.opener.mime.as_str()) && document.opener.takes_several
    };
    let later: Vec<&OpenableDocument> = documents.iter().filter(asks).skip(1).copied().collect();
    let is_later = |document: &&OpenableDocument| later.iter().any(|later| later.named == document.named);
    let first: Vec<&OpenableDocument> = documents.iter().filter(|one| !is_later(one)).copied().collect();
    let one_by_one = later.iter().map(|document| openings(&[document]));
    std::iter::once(openings(&first)).chain(one_by_one).filter(|openings| !openings.is_empty()).collect()
}

/// The starts of programs that open documents: one for all that a program takes at once. A suite with one process for all of its
/// applications is started once: two at the same moment would both want its profile.
fn openings(documents: &[&OpenableDocument]) -> Vec<DocumentLaunch> {
    let mut groups: Vec<Vec<&OpenableDocument>> = Vec::new();
    for document in documents {
        let joins = |group: &&mut Vec<&OpenableDocument>| {
            let first = group.first().map(|first| &first.opener);
            first.is_some_and(|first| first.family == document.opener.family && first.takes_several)
        };
        match groups.iter_mut().find(joins).filter(|_| document.opener.takes_several) {
            Some(group) => group.push(document),
            None => groups.push(vec![document]),
        }
    }
    groups.into_iter().filter_map(opening).collect()
}

fn opening(mut group: Vec<&OpenableDocument>) -> Option<DocumentLaunch> {
    let first = group.first()?.opener.clone();
    let same = group.iter().all(|document| document.opener.entry == first.entry);
    // What asks first keeps all after it waiting.
    group.sort_by_key(|document| ASKS.contains(&document.opener.mime.as_str()));
    let mut documents: Vec<String> = Vec::new();
    for document in group {
        if !documents.contains(&document.argument()) {
            documents.push(document.argument());
        }
    }
    let program = if same { first.entry } else { first.program };
    Some(DocumentLaunch { request: LaunchRequest { program, arguments: documents.clone() }, documents })
}
