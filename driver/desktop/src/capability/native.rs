//! The interfaces of applications of their own, beside accessibility: UNO of LibreOffice, and the protocols of browsers.

use deskhand_ui::{AppInfo, ids::WindowId, pattern::matches};
use serde_json::{Map, Value};

use crate::DesktopResult;

/// A call of an application's own interface.
#[derive(Debug, Clone, PartialEq)]
pub struct NativeCall {
    /// The operation: a verb in `snake_case` that the interface supports.
    pub operation: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum NativeAnswer {
    /// The call was carried out.
    Done {
        /// Description of the action or the value read, as a sentence.
        said: String,
        /// The return value; null if there is none.
        output: Value,
        /// For a call that changes something: what was read back afterwards.
        effect: Option<NativeEffect>,
    },
    /// Nothing was done, with the reason and the next step.
    Refused(String),
    /// The call failed on the way, with the reason: it may be half done.
    Failed(String),
}

/// The state read back after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeEffect {
    /// `true` if it is the intended one.
    pub seen: bool,
    /// The value that was read.
    pub read_back: String,
}

/// LibreOffice, as patterns of the roots of its windows.
const OFFICE: &[&str] = &["libreoffice*", "soffice*"];
/// Browsers with a protocol that tells their pages, as such patterns.
pub const BROWSERS: &[&str] =
    &["chromium*", "google-chrome*", "chrome", "brave*", "microsoft-edge*", "firefox*"];

/// Which applications of a desktop can be called: their interface is switched on where they start, and the program that speaks it is
/// installed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Natives {
    /// LibreOffice, for its documents.
    pub documents: bool,
    /// Browsers, for their pages.
    pub pages: bool,
}

impl Natives {
    /// Returns `true` if this application can be called for its documents.
    pub fn with_documents(self, app: &AppInfo) -> bool {
        self.documents && is_office(app)
    }

    /// Returns `true` if this application can be called for its pages.
    pub fn with_pages(self, app: &AppInfo) -> bool {
        self.pages && is_one_of(app, BROWSERS)
    }
}

/// Returns `true` if an application is LibreOffice.
pub fn is_office(app: &AppInfo) -> bool {
    is_one_of(app, OFFICE)
}

/// Returns `true` if the windows of an application have a root that fits one of these patterns.
fn is_one_of(app: &AppInfo, patterns: &[&str]) -> bool {
    patterns.iter().any(|pattern| matches(pattern, &app.root))
}

/// The interfaces of applications of their own.
pub trait Native {
    /// Which applications on this desktop can be called in this way at all.
    fn natives(&self) -> Natives;

    /// Calls the interface of the application of a window, on the very document that the window shows. Changes are steps of the
    /// document's own undo history. A call that changes something is read back, by the interface, before it returns.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoWindow`] if there is no such window, [`crate::DesktopError::NotAnswering`] if the application does
    /// not answer in time.
    fn native(
        &self,
        window: WindowId,
        call: &NativeCall,
    ) -> impl Future<Output = DesktopResult<NativeAnswer>> + Send;
}
