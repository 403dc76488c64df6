//! The wait until a document is saved, and its proof: the file.

use std::time::Duration;

use deskhand_desktop::{Desktop, DesktopResult, FileStamp, FileState, QuietLimits};
use deskhand_ui::{
    DocumentInfo, WindowInfo, WindowKind,
    action::{ActionProof, Evidence, Shortfall, Uncertainty},
    belongs_to,
    duration::milliseconds,
    same_app,
};

use super::questions::{SaveDialogAnswers, answer, buttons};
use crate::{
    oracle,
    report::{ActLimits, Halt},
};

/// The longest wait for one change before the file is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// Maximum time without activity before the document counts as not saved.
const IDLE_MAX: Duration = Duration::from_secs(4);
/// The same where no mark says that there is something to save.
const IDLE_UNMARKED_MAX: Duration = Duration::from_millis(1_500);
/// Maximum number of looks at the file in total.
const LOOKS_MAX: usize = 2_000;

/// A document before it is saved.
#[derive(Debug, Clone)]
pub(crate) struct DocumentSaveWait {
    window: WindowInfo,
    known: Vec<WindowInfo>,
    /// The file, if it is known.
    path: Option<String>,
    /// The file as it was.
    stamp: Option<FileStamp>,
    /// `true` if a process has had it open for writing all along, as office suites have: an open file then proves
    /// nothing.
    is_held: bool,
    modified: Option<bool>,
    /// `true` if the application itself was queried, not the title of its window.
    told: bool,
    /// `true` if the window showed this file before.
    showed: bool,
    /// `true` if a copy in another format is written, which leaves the document as modified as it is.
    exports: bool,
}

/// State of its document that a window shows.
#[derive(Debug, Clone, Copy)]
struct DocumentSaveState {
    /// `true` if it has a mark of unsaved changes; `None` also if the window is gone.
    modified: Option<bool>,
    /// `true` if the document is that of the file, and was not before: it is saved there.
    took_file: bool,
}

/// Outcome of a save.
#[derive(Debug, Clone)]
pub(crate) struct DocumentSaveOutcome {
    pub(crate) evidence: Evidence,
    /// The dialog that asks a question.
    pub(crate) asks: Option<WindowInfo>,
    pub(crate) waited_ms: u64,
}

impl DocumentSaveOutcome {
    /// Returns `true` if the file was not written, and no dialog says why.
    pub(crate) const fn is_missing(&self) -> bool {
        let missing = matches!(
            self.evidence,
            Evidence::NotSeen { shortfall: Shortfall::NotSaved { path: Some(_), changed: false, .. } }
        );
        missing && self.asks.is_none()
    }
}

impl DocumentSaveWait {
    /// Notes the state of the document of `window` and its file.
    pub(crate) async fn begin<D: Desktop>(desktop: &D, window: &WindowInfo) -> DesktopResult<Self> {
        let (document, told) = document_of(desktop, window).await?;
        let path = document.as_ref().and_then(|document| document.path.clone());
        let modified = document.and_then(|document| document.modified);
        let saving = Self { modified, told, showed: true, ..Self::of(desktop, window, path).await? };
        saving.with_stamp(desktop).await
    }

    /// The same for a file that the document is going to be saved to.
    pub(crate) async fn to_file<D: Desktop>(
        desktop: &D,
        window: &WindowInfo,
        path: &str,
    ) -> DesktopResult<Self> {
        let (document, told) = document_of(desktop, window).await?;
        let showed = document.as_ref().is_some_and(|document| document.path.as_deref() == Some(path));
        let modified = document.and_then(|document| document.modified);
        let saving =
            Self { modified, told, showed, ..Self::of(desktop, window, Some(path.to_owned())).await? };
        saving.with_stamp(desktop).await
    }

    /// The same for a copy of the document, if `exports`.
    pub(crate) fn that_exports(self, exports: bool) -> Self {
        Self { exports, ..self }
    }

    async fn of<D: Desktop>(desktop: &D, window: &WindowInfo, path: Option<String>) -> DesktopResult<Self> {
        let known = desktop.windows().await?;
        Ok(Self {
            window: window.clone(),
            known,
            path,
            stamp: None,
            is_held: false,
            modified: None,
            told: false,
            showed: false,
            exports: false,
        })
    }

    async fn with_stamp<D: Desktop>(mut self, desktop: &D) -> DesktopResult<Self> {
        if let Some(path) = &self.path {
            let state = desktop.file(path).await?;
            (self.stamp, self.is_held) = (state.stamp, state.is_written);
        }
        Ok(self)
    }

    /// Returns `true` if the file of the document is known, so that it can prove that it was saved.
    pub(crate) const fn has_file(&self) -> bool {
        self.path.is_some()
    }

    /// The file, if the window shows that the document has no unsaved changes and so needs not be saved. A document that was begun has
    /// none either, and may have no file of its own yet: one whose application was asked is saved all the same.
    pub(crate) fn saved_already(&self) -> Option<ActionProof> {
        let (path, stamp) = (self.path.clone()?, self.stamp?);
        let already = self.modified == Some(false) && !self.told;
        already.then_some(ActionProof::Saved { path, bytes: stamp.size, already })
    }

    /// Waits until the file is written, answering what the application asks; the keys that save were sent.
    pub(crate) async fn finish<D: Desktop>(
        &self,
        desktop: &D,
        answers: SaveDialogAnswers,
        limits: &ActLimits,
    ) -> Result<DocumentSaveOutcome, Halt> {
        let (mut waited_ms, mut idle_ms) = (0, 0);
        let mut last: Option<FileState> = None;
        let mut asked: Option<WindowInfo> = None;
        for _ in 0..LOOKS_MAX {
            let watch = desktop.watch(None).await?;
            let windows = desktop.windows().await?;
            let state = match &self.path {
                Some(path) => Some(desktop.file(path).await?),
                None => None,
            };
            let shown = self.shown_now(desktop, &windows).await?;
            let modified = shown.modified;
            let question = self.question(&windows);
            if let Some(dialog) = &question {
                if answer(desktop, dialog, answers, limits).await? {
                    idle_ms = 0;
                } else if asked.as_ref() == Some(dialog) && !buttons(desktop, dialog).await?.is_empty() {
                    let evidence = Shortfall::Asks { dialog: dialog.into() }.into();
                    return Ok(DocumentSaveOutcome { evidence, asks: question, waited_ms });
                }
            } else if let Some(proof) = self.proof(state.as_ref(), last.as_ref(), shown) {
                return Ok(DocumentSaveOutcome { evidence: proof.into(), asks: None, waited_ms });
            }
            let works =
                state != last || state.as_ref().is_some_and(|state| self.is_being_written(state, shown));
            if works || asked != question {
                idle_ms = 0;
            }
            let is_clean = self.told && modified == Some(false);
            let idle_max = if modified.is_some() && !is_clean { IDLE_MAX } else { IDLE_UNMARKED_MAX };
            if idle_ms >= milliseconds(idle_max) || waited_ms >= milliseconds(limits.launch) {
                return Ok(DocumentSaveOutcome {
                    evidence: self.shortfall(state.as_ref(), modified),
                    asks: question,
                    waited_ms,
                });
            }
            (last, asked) = (state, question);
            let quiet = QuietLimits { first_change: LOOK_AGAIN, bound: LOOK_AGAIN, ..limits.quiet };
            let settled = desktop.settle(watch, quiet).await?;
            waited_ms += settled.waited_ms.max(1);
            idle_ms += settled.waited_ms.max(1);
        }
        Ok(DocumentSaveOutcome { evidence: self.shortfall(last.as_ref(), None), asks: asked, waited_ms })
    }

    async fn shown_now<D: Desktop>(
        &self,
        desktop: &D,
        windows: &[WindowInfo],
    ) -> DesktopResult<DocumentSaveState> {
        let gone = DocumentSaveState { modified: None, took_file: false };
        let Some(now) = windows.iter().find(|info| info.id == self.window.id) else { return Ok(gone) };
        let (Some(document), _) = document_of(desktop, now).await? else { return Ok(gone) };
        let is_it = document.path.is_some() && document.path == self.path;
        Ok(DocumentSaveState { modified: document.modified, took_file: is_it && !self.showed })
    }

    /// The dialog of the application that opened since.
    fn question(&self, windows: &[WindowInfo]) -> Option<WindowInfo> {
        let is_new = |info: &&WindowInfo| {
            info.kind == WindowKind::Dialog
                && self.known.iter().all(|known| known.id != info.id)
                && (belongs_to(windows, info, &self.window) || same_app(info, &self.window))
        };
        windows.iter().rev().find(is_new).cloned()
    }

    /// The proof that the file was written: it is another one than before, nobody writes it, and the mark is gone. Where the
    /// application shows no mark, the file must also be the same in two looks.
    fn proof(
        &self,
        now: Option<&FileState>,
        last: Option<&FileState>,
        shown: DocumentSaveState,
    ) -> Option<ActionProof> {
        let now = now?;
        let stamp = now.stamp.filter(|stamp| Some(*stamp) != self.stamp)?;
        let rests = last.and_then(|last| last.stamp) == Some(stamp);
        let mark_went = self.modified == Some(true) && shown.modified == Some(false);
        let is_unsaved = shown.modified == Some(true) && !self.exports;
        let complete = !self.is_being_written(now, shown) && !is_unsaved && (mark_went || rests);
        complete.then(|| ActionProof::Saved { path: now.path.clone(), bytes: stamp.size, already: false })
    }

    /// An office suite keeps a new file open once it has saved it: then its window shows that file.
    fn is_being_written(&self, now: &FileState, shown: DocumentSaveState) -> bool {
        now.is_written && !self.is_held && !shown.took_file
    }

    /// Returns the evidence of the state found instead, once all activity has ended.
    fn shortfall(&self, state: Option<&FileState>, modified: Option<bool>) -> Evidence {
        let path = self.path.clone();
        let changed = state.and_then(|state| state.stamp) != self.stamp;
        let missing = path.is_some() && state.is_some_and(|state| state.stamp.is_none());
        let stamp = state.and_then(|state| state.stamp);
        if let (true, Some(false), Some(path), Some(stamp)) = (self.told, modified, &path, stamp) {
            return ActionProof::Saved { path: path.clone(), bytes: stamp.size, already: true }.into();
        }
        if modified == Some(true) || missing {
            return Shortfall::NotSaved { path, modified, changed }.into();
        }
        Uncertainty::FileUnchanged { path }.into()
    }
}

/// Returns the document that a window shows, with the information from its application where that can be
/// queried. The second value is `true` if it was queried.
async fn document_of<D: Desktop>(
    desktop: &D,
    window: &WindowInfo,
) -> DesktopResult<(Option<DocumentInfo>, bool)> {
    let shown = desktop.document(window).await?;
    let Some(told) = oracle::document(desktop, window).await else { return Ok((shown, false)) };
    let (name, path) = shown.map_or_else(|| (window.title.clone(), None), |shown| (shown.name, shown.path));
    let document = DocumentInfo { name, path: told.path.or(path), modified: Some(told.modified) };
    Ok((Some(document), true))
}
