//! A person's pointer and keyboard on a desktop.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use deskhand_desktop::{DesktopError, DesktopResult};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::hands::{self, LiveInputJob};
use crate::{
    virtual_desktop::protocol::DesktopHandle,
    x11::{display::X11Address, fault::gone},
};

/// Maximum time for an X server to accept the connection of a person.
const OPEN_BOUND: Duration = Duration::from_secs(5);
/// Maximum time for one input, such as a long text in a slow application.
const INPUT_BOUND: Duration = Duration::from_secs(60);

/// An input of a person. As JSON: `{"t":"move","x":1,"y":2}`, `{"t":"down","button":1,"x":1,"y":2}`,
/// `{"t":"up","button":1,"x":1,"y":2}`, `{"t":"key","keysym":65307,"down":true}`, `{"t":"text","text":"…"}`,
/// `{"t":"release"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "snake_case", deny_unknown_fields)]
pub enum InputMessage {
    /// The pointer moves to a pixel of the screen.
    Move {
        /// From the left edge.
        x: i32,
        /// From the top edge.
        y: i32,
    },
    /// A button goes down at a pixel of the screen.
    Down {
        /// 1 left, 2 middle, 3 right; 4 to 7 are the wheel: up, down, left, right.
        button: u8,
        /// From the left edge.
        x: i32,
        /// From the top edge.
        y: i32,
    },
    /// A button that is held goes up. Outside of the screen it goes up where the pointer is.
    Up {
        /// As in [`Self::Down`].
        button: u8,
        /// From the left edge.
        x: i32,
        /// From the top edge.
        y: i32,
    },
    /// A key goes down or up.
    Key {
        /// The X symbol that the key stands for with the modifiers that the person holds, such as 0x41 for an `A` with Shift.
        /// It is produced whatever the keyboard of the desktop looks like. Shift, Ctrl and others are keys of their own; Caps Lock
        /// and Num Lock do nothing, because symbols already go by them. Symbols without a key get a spare one.
        keysym: u32,
        /// `true` when it goes down. A key that is held repeats by itself: further ones without an `up` do nothing.
        down: bool,
    },
    /// A text is typed, such as one that was pasted: at most 10000 characters, any of Unicode, line ends as Return. What is held
    /// is released before.
    Text {
        /// The text.
        text: String,
    },
    /// Everything that is held is released, and a text that is being typed ends.
    Release,
}

/// A person's pointer and keyboard. They have a connection of their own to the X server; inputs are sent in order. When this is
/// dropped, what is held is released and keys that were bound are restored.
#[derive(Debug)]
pub struct LiveInput {
    jobs: mpsc::Sender<LiveInputJob>,
    /// Counts what ends a text that is being typed.
    interruptions: Arc<AtomicU64>,
    name: String,
}

impl LiveInput {
    /// Reaches a virtual desktop that a keeper holds. Its session is not involved, and does not know of it.
    ///
    /// # Errors
    /// [`DesktopError`] if its X server is gone, does not answer, or takes no input (no XTEST extension).
    pub async fn open(handle: &DesktopHandle) -> DesktopResult<Self> {
        Self::open_at(handle.address()?, handle.display.clone()).await
    }

    /// Reaches the desktop that `DISPLAY` and `XAUTHORITY` of the environment name.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn open_current() -> DesktopResult<Self> {
        Self::open_at(X11Address::Environment, X11Address::name_of_environment()).await
    }

    async fn open_at(address: X11Address, name: String) -> DesktopResult<Self> {
        let (jobs, queue) = mpsc::channel();
        let (opened, ready) = oneshot::channel();
        let interruptions = Arc::new(AtomicU64::new(0));
        let (called, interrupted) = (name.clone(), Arc::clone(&interruptions));
        thread::Builder::new()
            .name("live-input".to_owned())
            .spawn(move || hands::run(&address, &called, &queue, interrupted, opened))
            .map_err(|error| DesktopError::failed("start a thread for a person's input", error))?;
        tokio::time::timeout(OPEN_BOUND, ready)
            .await
            .map_err(|_| DesktopError::Gone {
                what: format!("the X server of display {name} does not answer"),
            })?
            .map_err(|_| gone(&name))??;
        Ok(Self { jobs, interruptions, name })
    }

    /// Does what a person does, and returns when the X server has it. An input that was sent cannot be cancelled.
    ///
    /// # Errors
    /// [`DesktopError::Failed`] for a place outside of the screen, another button, or a text that is too long;
    /// [`DesktopError::Key`] for a symbol that no key can get; [`DesktopError::NotAnswering`] if an application does not take the keys
    /// of a text; [`DesktopError::Gone`] when the X server has ended or does not answer.
    pub async fn send(&self, input: InputMessage) -> DesktopResult<()> {
        if input == InputMessage::Release {
            self.interrupt();
        }
        let (answer, done) = oneshot::channel();
        let job = LiveInputJob { input, number: self.interruptions.load(Ordering::Relaxed), answer };
        self.jobs.send(job).map_err(|_| gone(&self.name))?;
        match tokio::time::timeout(INPUT_BOUND, done).await {
            Ok(done) => done.map_err(|_| gone(&self.name))?,
            Err(_) => Err(DesktopError::Gone {
                what: format!("the X server of display {} did not answer within {INPUT_BOUND:?}", self.name),
            }),
        }
    }

    /// Releases all keys and buttons that this holds, and ends a text that is being typed. What others hold stays.
    ///
    /// # Errors
    /// [`DesktopError::Gone`] when the X server has ended or does not answer.
    pub async fn release_all(&self) -> DesktopResult<()> {
        self.send(InputMessage::Release).await
    }

    fn interrupt(&self) {
        self.interruptions.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for LiveInput {
    fn drop(&mut self) {
        // The thread releases everything once the channel is closed.
        self.interrupt();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_documented() {
        let read = |text: &str| serde_json::from_str::<InputMessage>(text);
        for (text, expected) in [
            (r#"{"t":"move","x":1,"y":2}"#, InputMessage::Move { x: 1, y: 2 }),
            (r#"{"t":"down","button":3,"x":1,"y":2}"#, InputMessage::Down { button: 3, x: 1, y: 2 }),
            (r#"{"t":"up","button":3,"x":-1,"y":2}"#, InputMessage::Up { button: 3, x: -1, y: 2 }),
            (r#"{"t":"key","keysym":65307,"down":true}"#, InputMessage::Key { keysym: 0xff1b, down: true }),
            (r#"{"t":"text","text":"é"}"#, InputMessage::Text { text: "é".to_owned() }),
            (r#"{"t":"release"}"#, InputMessage::Release),
        ] {
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
        for wrong in [
            r#"{"t":"move","x":1}"#,
            r#"{"t":"move","x":1,"y":2,"z":3}"#,
            r#"{"t":"key","keysym":-1,"down":true}"#,
            r#"{"t":"down","button":256,"x":0,"y":0}"#,
            r#"{"t":"reboot"}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
