//! Live screens and inputs of the desktops that there are: one that a keeper holds, and that of the environment.

use std::{
    os::{fd::AsFd as _, unix::net::UnixStream},
    process::Command,
    time::Duration,
};

use deskhand_desktop::{Capture as _, DesktopError, Picture};
use deskhand_desktop_linux::{
    InputMessage, LinuxDesktop, LiveInput, LiveScreen, ScreenUpdate, VirtualOptions, keep_desktop,
};
use deskhand_ui::{
    geometry::{Point, Size},
    ids::IdsSeen,
};
use x11rb::protocol::xproto::ConnectionExt as _;

use crate::{
    linux_x11::{BOUND, active_client, desktop},
    programs::has_programs,
    x11_client::{Place, connect},
};

/// What a test does that runs itself in a child process.
const ROLE: &str = "DESKHAND_TEST_LIVE";

/// This test binary, with one test and a role.
fn itself(name: &str, role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture"]).env(ROLE, role);
    command
}

async fn next(screen: &mut LiveScreen) -> ScreenUpdate {
    tokio::time::timeout(BOUND, screen.next()).await.expect("an update").unwrap()
}

/// Takes updates until the pointer is there.
async fn until_pointer_at(screen: &mut LiveScreen, x: i32, y: i32) {
    while next(screen).await.pointer != Point::new(x, y) {}
}

/// The viewer goes by what stands beside the journal, and does not care whether the desktop has an owner.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kept_desktop_is_watched_with_and_without_its_owner() {
    const NAME: &str = "live_desktops::a_kept_desktop_is_watched_with_and_without_its_owner";
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    if std::env::var_os(ROLE).is_some() {
        let owner = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned().unwrap());
        let size = Size { width: 800, height: 600 };
        return keep_desktop(VirtualOptions { size, ..VirtualOptions::default() }, owner).await.unwrap();
    }
    let desktop = LinuxDesktop::start_kept(itself(NAME, "keeper")).await.unwrap();
    let handle = desktop.handle().unwrap().clone();
    let mut screen = LiveScreen::open(&handle).await.unwrap();
    let input = LiveInput::open(&handle).await.unwrap();
    assert_eq!(screen.size(), Size { width: 800, height: 600 });
    let first = next(&mut screen).await;
    let picture = desktop.screen().await.unwrap();
    assert_eq!(first.parts[0].region, picture.region);
    let shown = Picture::from_png(&first.parts[0].png, picture.region).unwrap();
    assert!(shown == picture, "it shows what the session sees");
    desktop.leave(Duration::from_secs(60)).await.unwrap();
    input.send(InputMessage::Move { x: 123, y: 45 }).await.unwrap();
    until_pointer_at(&mut screen, 123, 45).await;
    // The next owner releases what is held on the desktop; so does the person, who holds it.
    input.send(InputMessage::Down { button: 1, x: 321, y: 54 }).await.unwrap();
    let desktop = LinuxDesktop::attach(&handle, IdsSeen::default()).await.unwrap();
    until_pointer_at(&mut screen, 321, 54).await;
    input.release_all().await.unwrap();
    let (_, ended) = tokio::join!(desktop.shut_down(), async {
        loop {
            if let Err(error) = tokio::time::timeout(BOUND, screen.next()).await.expect("it ends") {
                break error;
            }
        }
    });
    assert!(matches!(ended, DesktopError::Gone { .. }), "{ended:?}");
}

/// The test runs itself in a child process, with the variables of a desktop that another process started.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_desktop_of_the_environment_is_watched_and_used() {
    const NAME: &str = "live_desktops::the_desktop_of_the_environment_is_watched_and_used";
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    if std::env::var_os(ROLE).is_some() {
        let mut screen = LiveScreen::open_current().await.unwrap();
        assert!(next(&mut screen).await.whole);
        assert_eq!(screen.size(), Size { width: 1024, height: 768 });
        let input = LiveInput::open_current().await.unwrap();
        input.send(InputMessage::Move { x: 700, y: 600 }).await.unwrap();
        until_pointer_at(&mut screen, 700, 600).await;
        return input.send(InputMessage::Text { text: "ab".to_owned() }).await.unwrap();
    }
    let desktop = desktop().await;
    let mut client = active_client(&desktop, Place { silent: true, ..Place::default() }).await;
    let mut child = itself(NAME, "current").envs(desktop.environment().variables()).spawn().unwrap();
    assert_eq!(client.read_keys(2), "ab");
    assert!(child.wait().unwrap().success());
    let (connection, root) = connect(&desktop);
    let pointer = connection.query_pointer(root).unwrap().reply().unwrap();
    assert_eq!((pointer.root_x, pointer.root_y), (700, 600));
    // Nobody is there: it says so, and does not wait.
    let mut nobody = itself(NAME, "current");
    nobody.env("DISPLAY", ":4711").env_remove("XAUTHORITY");
    assert!(!nobody.stderr(std::process::Stdio::null()).status().unwrap().success());
    desktop.shut_down().await;
}
