//! The keeper: a session's virtual desktop outlives its owner, for a limited time.
//!
//! Skipped if the programs of a virtual desktop are not installed, unless `DESKHAND_ALL_TESTS` is set.

use deskhand_desktop_linux::{DesktopHandle, LinuxDesktop};
use deskhand_testkit::display::is_left_behind;
use deskhand_ui::ids::IdsSeen;
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::support::{World, has_desktop};

/// The timeout of every wait.
const BOUND: Duration = Duration::from_secs(60);

/// A keeper owned by the test, so that the owner can disconnect as a dying process does.
struct Kept {
    keeper: Child,
    owner: UnixStream,
    handle: DesktopHandle,
}

fn keeper(world: &World) -> Command {
    world.command(&["keep-desktop", "--size", "640x480"])
}

impl Kept {
    /// Starts a keeper with its desktop.
    fn start(world: &World) -> Self {
        let (owner, theirs) = UnixStream::pair().unwrap();
        owner.set_read_timeout(Some(BOUND)).unwrap();
        let mut command = keeper(world);
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        let keeper = command.spawn().unwrap();
        drop(command);
        let mut line = String::new();
        BufReader::new(&owner).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(ready["say"], "ready", "{ready}");
        let handle: DesktopHandle = serde_json::from_value(ready["handle"].clone()).unwrap();
        assert!(handle.private_folder.is_dir() && is_listening(&handle));
        Self { keeper, owner, handle }
    }

    fn keep_for(&mut self, grace: Duration) {
        let order = json!({"say": "keep", "grace_ms": u64::try_from(grace.as_millis()).unwrap()});
        self.owner.write_all(format!("{order}\n").as_bytes()).unwrap();
    }

    /// Disconnects the owner without closing the desktop. Returns what is left.
    fn owner_dies(self) -> (Child, DesktopHandle) {
        (self.keeper, self.handle)
    }
}

/// Returns `true` if programs can connect to the display.
fn is_listening(handle: &DesktopHandle) -> bool {
    let socket = PathBuf::from("/tmp/.X11-unix").join(handle.display.replace(':', "X"));
    UnixStream::connect(socket).is_ok()
}

/// Waits until a keeper exits by itself.
async fn ended(mut keeper: Child) {
    let wait = tokio::task::spawn_blocking(move || keeper.wait().unwrap());
    let status = tokio::time::timeout(BOUND, wait).await.expect("the keeper ends").unwrap();
    assert!(status.success(), "{status}");
}

/// Asserts that nothing of a desktop is left: no process, no display, no file.
fn is_gone(world: &World, handle: &DesktopHandle) {
    assert_eq!(world.orphans(), Vec::<String>::new());
    assert!(!is_left_behind(&handle.display));
    assert!(!handle.private_folder.exists(), "{}", handle.private_folder.display());
}

#[tokio::test]
async fn desktop_without_a_new_owner_ends_after_its_grace_time() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let mut kept = Kept::start(&world);
    kept.keep_for(Duration::from_millis(300));
    let (keeper, handle) = kept.owner_dies();
    ended(keeper).await;
    is_gone(&world, &handle);
    let error = LinuxDesktop::attach(&handle, IdsSeen::default()).await.map(drop).unwrap_err();
    assert!(error.to_string().contains("is no longer available"), "{error}");
}

#[tokio::test]
async fn desktop_ends_with_an_owner_that_did_not_ask_to_keep_it() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let (keeper, handle) = Kept::start(&world).owner_dies();
    ended(keeper).await;
    is_gone(&world, &handle);
}

#[tokio::test]
async fn desktop_is_taken_over_and_leaves_nothing_behind_when_closed() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let mut kept = Kept::start(&world);
    kept.keep_for(Duration::from_hours(1));
    let (keeper, handle) = kept.owner_dies();
    let desktop = LinuxDesktop::attach(&handle, IdsSeen::default()).await.unwrap();
    let error = LinuxDesktop::attach(&handle, IdsSeen::default()).await.map(drop).unwrap_err();
    assert!(error.to_string().contains("is no longer available"), "one owner at a time: {error}");
    desktop.keep_for(Duration::from_hours(1)).unwrap();
    desktop.shut_down().await;
    // A proper end does not wait for the grace time.
    ended(keeper).await;
    is_gone(&world, &handle);
}

#[tokio::test]
async fn desktop_is_gone_when_shutdown_returns() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let desktop = LinuxDesktop::start_kept(keeper(&world)).await.unwrap();
    let handle = desktop.handle().unwrap().clone();
    desktop.keep_for(Duration::from_hours(1)).unwrap();
    desktop.shut_down().await;
    is_gone(&world, &handle);
}
