//! Watches what a person does on the desktop of a session while they have taken over.

use deskhand_desktop::{DesktopResult, TimedPersonInput};
use deskhand_desktop_linux::InputWatch;
use deskhand_runtime::people::{HandsWatch, WatchHands};
use deskhand_ui::WindowInfo;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::Receiver;

use crate::{demonstration::OwnTerminal, workspace::Workspace};

/// Mouse and keyboard of a desktop. What is done in the terminal from which the session runs is left out.
pub(super) struct HandsOn<'a> {
    workspace: &'a Workspace,
    own: OwnTerminal,
}

impl<'a> HandsOn<'a> {
    pub(super) fn of(workspace: &'a Workspace) -> Self {
        Self { workspace, own: OwnTerminal::of_this_process() }
    }
}

struct TakeoverInputWatcher(InputWatch);

impl HandsWatch for TakeoverInputWatcher {
    fn inputs(&mut self) -> &mut Receiver<TimedPersonInput> {
        self.0.inputs()
    }
}

impl WatchHands for HandsOn<'_> {
    fn begin(&self) -> BoxFuture<'_, DesktopResult<Box<dyn HandsWatch>>> {
        Box::pin(async {
            let watch = self.workspace.back_end().watch_input().await?;
            let watch: Box<dyn HandsWatch> = Box::new(TakeoverInputWatcher(watch));
            Ok(watch)
        })
    }

    fn leaves_out(&self, window: &WindowInfo) -> bool {
        self.own.has(window)
    }
}
