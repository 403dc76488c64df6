//! The files behind windows: which one a window shows, and what is on disk.

use deskhand_ui::{DocumentInfo, WindowInfo};

use crate::DesktopResult;

/// The properties that distinguish two states of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    /// When its content changed, in nanoseconds.
    pub modified_ns: i128,
    /// Its size, in bytes.
    pub size: u64,
    /// Its number in the file system; a file that replaces another one has its own.
    pub inode: u64,
}

/// The state of a path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileState {
    /// The absolute path; `~` stands for the home folder.
    pub path: String,
    /// The state of the file; `None` if there is none.
    pub stamp: Option<FileStamp>,
    /// `true` if it is a folder.
    pub is_folder: bool,
    /// `true` if a process has it open for writing.
    pub is_written: bool,
    /// If nothing is there: whether the folder that it would be in exists.
    pub has_folder: bool,
    /// If nothing is there: the most similar names in its folder, best first.
    pub near: Vec<String>,
}

/// The files behind windows.
pub trait Documents {
    /// The document that a window shows, with its file and whether it has unsaved changes, as far as the application tells;
    /// `None` if it shows none.
    ///
    /// # Errors
    /// [`crate::DesktopError::Failed`] if the file system cannot be asked.
    fn document(
        &self,
        window: &WindowInfo,
    ) -> impl Future<Output = DesktopResult<Option<DocumentInfo>>> + Send;

    /// Returns the current state of a path. A relative path counts from the working folder of this process.
    ///
    /// # Errors
    /// [`crate::DesktopError::Failed`] if the file system cannot be queried.
    fn file(&self, path: &str) -> impl Future<Output = DesktopResult<FileState>> + Send;
}
