//! Documents of the desktop in memory.

use deskhand_desktop::{
    DesktopResult, Documents, FileStamp, FileState, Native, NativeAnswer, NativeCall, Natives,
};
use deskhand_ui::{DocumentInfo, WindowInfo, ids::WindowId};

use crate::desktop::FakeDesktop;

impl Documents for FakeDesktop {
    async fn document(&self, window: &WindowInfo) -> DesktopResult<Option<DocumentInfo>> {
        let mut stage = self.reach()?;
        let Some(document) = DocumentInfo::of_title(&window.title) else { return Ok(None) };
        if document.modified == Some(true) {
            stage.marking.insert(window.id);
        }
        let marks = stage.marking.contains(&window.id);
        let of_name = |path: &&String| path.rsplit('/').next() == Some(document.name.as_str());
        let path = stage.files.keys().find(of_name).cloned();
        let modified = marks.then_some(document.modified == Some(true));
        Ok((path.is_some() || marks).then_some(DocumentInfo { path, modified, ..document }))
    }

    async fn file(&self, path: &str) -> DesktopResult<FileState> {
        let stage = self.reach()?;
        let content = stage.files.get(path);
        let modified_ns = i128::from(stage.file_times.get(path).copied().unwrap_or(0));
        let stamp = content.map(|content| FileStamp {
            modified_ns,
            size: u64::try_from(content.len()).unwrap_or(u64::MAX),
            inode: 0,
        });
        Ok(FileState { path: path.to_owned(), stamp, has_folder: true, ..FileState::default() })
    }
}

/// Its applications have no interfaces of their own.
impl Native for FakeDesktop {
    fn natives(&self) -> Natives {
        Natives::default()
    }

    async fn native(&self, _: WindowId, call: &NativeCall) -> DesktopResult<NativeAnswer> {
        Ok(NativeAnswer::Refused(format!("no application here knows `{}`", call.operation)))
    }
}
