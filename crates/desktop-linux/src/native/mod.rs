//! The interfaces of applications of their own: UNO of LibreOffice.
//!
//! LibreOffice starts with a listening pipe of a random name on a virtual desktop (`pipe`). A Python program that Debian calls
//! `python3-uno` connects to it (`office`); it is our process, works on the document of one window at a time, and reads back what it
//! changed. On the desktop of the user, where we do not start LibreOffice with a pipe, there is nothing to call.

mod office;
mod pipe;

use deskhand_core::ids::WindowId;
use deskhand_desktop::{DesktopResult, Native, NativeAnswer, NativeCall, Windowing as _};
pub(crate) use office::{OfficeWorker, python as office_python};
pub(crate) use pipe::{OfficePipe, pipe_name};

use crate::desktop::LinuxDesktop;

/// The start of the `WM_CLASS` of LibreOffice's windows.
const OFFICE: [&str; 2] = ["libreoffice", "soffice"];

impl Native for LinuxDesktop {
    fn has_native(&self) -> bool {
        self.private_folder().is_some() && office_python().is_some()
    }

    async fn native(&self, window: WindowId, call: &NativeCall) -> DesktopResult<NativeAnswer> {
        let windows = self.windows().await?;
        let Some(info) = windows.iter().find(|info| info.id == window) else {
            return Err(deskhand_desktop::DesktopError::NoWindow(window));
        };
        if !OFFICE.iter().any(|start| info.app.root.starts_with(start)) {
            let reason =
                format!("{} is no application that can be called this way; use its elements", info.app.name);
            return Ok(NativeAnswer::Refused(reason));
        }
        let Some(private) = self.private_folder() else {
            let reason = "LibreOffice can be called only on a virtual desktop; use its elements".to_owned();
            return Ok(NativeAnswer::Refused(reason));
        };
        let xid = self.x_window(window).unwrap_or_default();
        self.office().call(self.environment(), private, (xid, &info.title), call).await
    }
}
