//! The clipboard of a desktop in memory, and pictures of it.

use std::time::Duration;

use deskhand_desktop::{Capture, Clipboard, DesktopError, DesktopResult, Picture};
use deskhand_ui::geometry::{Rect, Screen};

use crate::desktop::FakeDesktop;

impl Clipboard for FakeDesktop {
    async fn clipboard(&self) -> DesktopResult<Option<String>> {
        Ok(self.reach()?.clipboard.clone())
    }

    async fn set_clipboard(&self, text: Option<&str>) -> DesktopResult<()> {
        self.reach()?.clipboard = text.map(ToOwned::to_owned);
        Ok(())
    }

    async fn set_clipboard_as(&self, _format: &str, content: &str) -> DesktopResult<()> {
        self.set_clipboard(Some(content)).await
    }

    async fn clipboard_taken(&self, _bound: Duration) -> DesktopResult<bool> {
        Ok(self.reach()?.clipboard.is_some())
    }
}

impl Capture for FakeDesktop {
    async fn screen(&self) -> DesktopResult<Picture> {
        Ok(self.reach()?.paint())
    }

    async fn region(&self, region: Rect<Screen>) -> DesktopResult<Picture> {
        let picture = self.reach()?.paint();
        picture
            .part(&region)
            .ok_or_else(|| DesktopError::failed("take a picture", "nothing of the region is on the screen"))
    }

    async fn drawn_text(&self, _region: Rect<Screen>) -> DesktopResult<Option<String>> {
        Ok(None)
    }
}
