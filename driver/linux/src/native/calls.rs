//! Calls of the interfaces of the applications on a desktop.

use deskhand_desktop::{
    DesktopError, DesktopResult, Native, NativeAnswer, NativeCall, Natives, WindowManagement as _, is_office,
};
use deskhand_ui::ids::WindowId;

use super::{office::python as office_python, pages};
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
