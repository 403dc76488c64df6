//! The interfaces of applications of their own: UNO of LibreOffice, and the protocols of browsers.
//!
//! Each is spoken by a program of ours beside the application, which reads calls and writes answers as lines of JSON (`line`).
//!
//! - LibreOffice starts with a listening pipe of a random name on a virtual desktop (`pipe`). A Python program that Debian calls
//!   `python3-uno` connects to it (`office`); it works on the document of one window at a time, and reads back what it changed.
//! - A browser is started by a program that holds its protocol and answers on a socket in the private folder (`pages`).
//!
//! On the desktop of the user, where we start neither in this way, there is nothing to call.

mod line;
mod office;
mod pages;
mod pipe;

use deskhand_desktop::{
    DesktopError, DesktopResult, Native, NativeAnswer, NativeCall, Natives, WindowManagement as _, is_office,
};
use deskhand_ui::ids::WindowId;
pub(crate) use office::{OfficeWorker, python as office_python};
pub(crate) use pipe::{OfficePipe, pipe_name};

use crate::{desktop::LinuxDesktop, virtual_desktop::programs::browser_of};

impl Native for LinuxDesktop {
    fn natives(&self) -> Natives {
        let is_virtual = self.private_folder().is_some();
        Natives {
            documents: is_virtual && office_python().is_some(),
            pages: is_virtual && self.browser_holder().is_some(),
        }
    }

    async fn native(&self, window: WindowId, call: &NativeCall) -> DesktopResult<NativeAnswer> {
        let xid = self.existing(window)?;
        let windows = self.windows().await?;
        let info = windows.iter().find(|info| info.id == window).ok_or(DesktopError::NoWindow(window))?;
        let (name, title) = (info.app.name.as_str(), info.title.as_str());
        let cannot = || {
            let reason = format!("{name} cannot be called in this way here, only by its elements; use these");
            Ok(NativeAnswer::Refused(reason))
        };
        let Some(private) = self.private_folder() else { return cannot() };
        let answer = if is_office(&info.app) {
            self.office().call(self.environment(), private, (xid, title), call).await
        } else if let Some(browser) = browser_of(&info.app.root) {
            pages::call(&browser.socket(private), (xid, title, name), call).await
        } else {
            return cannot();
        };
        // What it shows is something else after a change, which it does not always announce.
        let only_read = matches!(answer, Ok(NativeAnswer::Done { effect: None, .. }));
        if let Some(accessibility) = self.accessibility().filter(|_| !only_read) {
            accessibility.drawn_unknown();
        }
        answer
    }
}
