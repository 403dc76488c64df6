//! State of pages, collected from browser events without requests: a dialog may block a page.

use std::collections::VecDeque;

use serde::Serialize;

/// The most pages that are kept.
const PAGES_MAX: usize = 500;
/// The most downloads that are kept.
const DOWNLOADS_MAX: usize = 100;
/// The most dialogs of a page that are kept after they closed.
const CLOSED_DIALOGS_MAX: usize = 5;
/// The most sessions of a page's frames.
const SESSIONS_MAX: usize = 100;
/// The most navigations of a page that are remembered.
const RECENT_MAX: usize = 8;
/// The longest text of a dialog, title or address that is kept, in characters.
const TEXT_CHARACTERS_MAX: usize = 4000;

#[derive(Debug, Default)]
pub(crate) struct BrowserState {
    pub(crate) pages: Vec<BrowserPage>,
    /// Newest last.
    pub(crate) downloads: VecDeque<BrowserDownload>,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct BrowserPage {
    /// The name that the browser gives it.
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) url: String,
    /// A page that is loaded in advance and not shown.
    pub(crate) in_advance: bool,
    pub(crate) load: Load,
    pub(crate) dialog: Option<Dialog>,
    /// Oldest first.
    pub(crate) closed_dialogs: VecDeque<ClosedDialog>,
    /// Number of dialogs closed so far.
    pub(crate) closed_count: u64,
    /// Chromium only: the sessions in which the page and its frames in other processes are asked. The first is the page's own.
    pub(crate) sessions: Vec<FrameSession>,
}

/// A connection to a page or to a frame that runs in another process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FrameSession {
    pub(crate) session: String,
    pub(crate) frame: String,
    pub(crate) parent: Option<String>,
}

/// The last navigation of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Load {
    /// The name of the navigation that began last.
    pub(crate) started: String,
    /// The name of the navigation whose document is shown.
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) loading: bool,
    /// The navigations whose documents were shown before, newest last: a page may lead on to another one at once.
    recent: VecDeque<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Dialog {
    pub(crate) kind: String,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) default: Option<String>,
    /// The session in which it is answered.
    #[serde(skip)]
    pub(crate) session: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ClosedDialog {
    pub(crate) kind: String,
    pub(crate) message: String,
    pub(crate) accepted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct BrowserDownload {
    #[serde(skip)]
    pub(crate) id: String,
    pub(crate) file: String,
    pub(crate) path: Option<String>,
    pub(crate) url: String,
    pub(crate) state: DownloadState,
    pub(crate) bytes: Option<u64>,
    pub(crate) total: Option<u64>,
}

impl BrowserDownload {
    /// One that has begun, by what the browser says of it.
    pub(crate) fn begun(id: impl Into<String>, file: &str, url: &str) -> Self {
        Self {
            id: id.into(),
            file: kept(file),
            path: None,
            url: kept(url),
            state: DownloadState::InProgress,
            bytes: None,
            total: None,
        }
    }

    /// Notes where it is saved, and so its name.
    pub(crate) fn saved_at(&mut self, path: &str) {
        self.file = path.rsplit('/').next().map(kept).unwrap_or_default();
        self.path = Some(kept(path));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DownloadState {
    InProgress,
    Completed,
    Canceled,
}

impl BrowserState {
    pub(crate) fn page(&self, id: &str) -> Option<&BrowserPage> {
        self.pages.iter().find(|page| page.id == id)
    }

    pub(crate) fn page_mut(&mut self, id: &str) -> Option<&mut BrowserPage> {
        self.pages.iter_mut().find(|page| page.id == id)
    }

    /// The page that a session belongs to.
    pub(crate) fn page_of_session(&mut self, session: &str) -> Option<&mut BrowserPage> {
        self.pages.iter_mut().find(|page| page.sessions.iter().any(|known| known.session == session))
    }

    /// The page of a name, which is added if it is new.
    pub(crate) fn page_or_new(&mut self, id: &str) -> Option<&mut BrowserPage> {
        if self.page(id).is_none() {
            if self.pages.len() >= PAGES_MAX {
                return None;
            }
            self.pages.push(BrowserPage { id: id.to_owned(), ..BrowserPage::default() });
        }
        self.page_mut(id)
    }

    pub(crate) fn remove_page(&mut self, id: &str) {
        self.pages.retain(|page| page.id != id);
    }

    pub(crate) fn add_download(&mut self, download: BrowserDownload) {
        if self.downloads.len() >= DOWNLOADS_MAX {
            self.downloads.pop_front();
        }
        self.downloads.push_back(download);
    }

    pub(crate) fn download_mut(&mut self, id: &str) -> Option<&mut BrowserDownload> {
        self.downloads.iter_mut().rev().find(|download| download.id == id)
    }
}

impl Load {
    /// A document is shown.
    pub(crate) fn show(&mut self, id: &str) {
        if self.recent.len() >= RECENT_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(id.to_owned());
        id.clone_into(&mut self.id);
    }

    /// Returns `true` if the document of a navigation is shown or was shown just now.
    pub(crate) fn has_shown(&self, id: &str) -> bool {
        self.recent.iter().any(|recent| recent == id)
    }
}

impl BrowserPage {
    pub(crate) fn add_session(&mut self, session: FrameSession) {
        if self.sessions.len() < SESSIONS_MAX {
            self.sessions.push(session);
        }
    }

    pub(crate) fn main_session(&self) -> Option<&str> {
        self.sessions.first().map(|session| session.session.as_str())
    }

    pub(crate) fn close_dialog(&mut self, accepted: bool, text: Option<String>) {
        let Some(dialog) = self.dialog.take() else { return };
        if self.closed_dialogs.len() >= CLOSED_DIALOGS_MAX {
            self.closed_dialogs.pop_front();
        }
        self.closed_count += 1;
        let text = text.filter(|_| dialog.kind == "prompt" && accepted);
        self.closed_dialogs.push_back(ClosedDialog {
            kind: dialog.kind,
            message: dialog.message,
            accepted,
            text,
        });
    }
}

/// A text of the browser that is kept: cleaned and bounded.
pub(crate) fn kept(text: &str) -> String {
    crate::wire::cut(&crate::wire::cleaned(text), TEXT_CHARACTERS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn downloads_and_dialogs_are_bounded() {
        let mut state = BrowserState::default();
        for number in 0..=DOWNLOADS_MAX {
            state.add_download(BrowserDownload::begun(number.to_string(), "", ""));
        }
        assert_eq!(state.downloads.len(), DOWNLOADS_MAX);
        assert!(state.download_mut("0").is_none() && state.download_mut("1").is_some());

        let page = state.page_or_new("p").unwrap();
        for number in 0..7 {
            page.dialog = Some(Dialog {
                kind: "alert".to_owned(),
                message: number.to_string(),
                default: None,
                session: String::new(),
            });
            page.close_dialog(true, None);
        }
        page.close_dialog(true, None);
        assert_eq!((page.closed_count, page.closed_dialogs.len()), (7, CLOSED_DIALOGS_MAX));
    }
}
