//! The desktop on GNOME and KDE, by their portals: on headless ones, started by `cargo xtask test --portals` alone. What they cannot do is
//! named where the contract is called.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use deskhand_desktop::{
    Button, Capture as _, Desktop as _, DesktopError, ElementPatterns as _, InputInjection as _,
    LaunchRequest, TreeLimits, UiTree as _, WindowManagement as _,
};
use deskhand_desktop_linux::{LinuxDesktop, write_gnome_extension};
use deskhand_testkit::{
    fixture::Toolkit,
    portals::{PortalSession, Shell},
};
use deskhand_ui::{Role, WindowInfo, WindowKind};

use crate::{
    contract::{PLAIN_MOUSEPAD, contract},
    programs::has_programs,
    wayland::form_is_filled_in,
};

/// The variable that asks for these tests: their programs are too large for every machine.
const ASKED: &str = "DESKHAND_PORTALS";
/// What a test waits for an application.
const BOUND: Duration = Duration::from_secs(20);
/// The version of GNOME Shell that they are written for, if it does not say its own.
const GNOME: u32 = 43;

fn start(shell: Shell) -> PortalSession {
    let prepare = |data: &Path| match shell {
        Shell::Gnome => write_gnome_extension(&data.join("gnome-shell/extensions"), gnome_version()),
        Shell::KWin => Ok(()),
    };
    PortalSession::start(shell, prepare).unwrap()
}

fn gnome_version() -> u32 {
    let output = std::process::Command::new("gnome-shell").arg("--version").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = text.split_whitespace().last().and_then(|version| version.split('.').next()?.parse().ok());
    number.unwrap_or(GNOME)
}

/// A session; `None` where these tests are not asked for, or something is not installed.
fn started(shell: Shell, programs: &[&str]) -> Option<PortalSession> {
    let asked = std::env::var_os(ASKED).is_some();
    (asked && has_programs(&[&shell.needs(), programs].concat())).then(|| start(shell))
}

/// A session with a desktop on it that a person has allowed.
async fn session(shell: Shell) -> Option<(PortalSession, LinuxDesktop)> {
    let mut session = started(shell, &["mousepad"])?;
    session.answer(true).unwrap();
    let desktop = LinuxDesktop::connect_to(session.variables().iter().cloned()).await;
    let desktop = desktop.unwrap_or_else(|error| panic!("{}", error.chain()));
    Some((session, desktop))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_desktop_on_gnome_keeps_the_contract() {
    let Some((_session, desktop)) = session(Shell::Gnome).await else { return };
    assert_eq!(desktop.capabilities().platform, "linux-wayland");
    contract(&desktop, &PLAIN_MOUSEPAD).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forms_in_gtk_are_filled_in_on_gnome() {
    let Some((_session, desktop)) = session(Shell::Gnome).await else { return };
    for toolkit in [Toolkit::Gtk3, Toolkit::Gtk4] {
        form_is_filled_in(&desktop, toolkit, "Anna {x} ~").await;
    }
}

/// Without a graphics card KWin sends no pictures to PipeWire, and what needs none works: windows, elements, keys and clicks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn windows_and_input_work_on_kwin_without_pictures() {
    let Some((_session, desktop)) = session(Shell::KWin).await else { return };
    let request = LaunchRequest { program: "mousepad".to_owned(), arguments: Vec::new() };
    let launched = desktop.launch(&request).await.unwrap();
    let window = window_of(&desktop, |info| info.app.pid == Some(launched.pid)).await;
    assert!(window.title.contains("Mousepad") && !window.bounds.is_empty(), "{window:?}");
    desktop.activate(window.id).await.unwrap();
    let deadline = Instant::now() + BOUND;
    let text = loop {
        let tree = desktop.tree(window.id, TreeLimits::default()).await.unwrap();
        let found = tree.elements.into_iter().find(|one| one.role == Role::TEXT && one.bounds.is_some());
        match found {
            Some(text) => break text,
            None => assert!(Instant::now() < deadline, "no text in {window:?}"),
        }
    };
    desktop.click(text.bounds.unwrap().center(), Button::Left, 1).await.unwrap();
    desktop.type_text("Plain & short: {x} ~").await.unwrap();
    assert_eq!(desktop.text(text.id, 100).await.unwrap(), "Plain & short: {x} ~");
    let error = desktop.type_text("東").await.unwrap_err();
    assert!(matches!(error, DesktopError::Key { .. }), "{}", error.chain());
    assert_eq!(desktop.text(text.id, 100).await.unwrap(), "Plain & short: {x} ~");
    desktop.close(window.id).await.unwrap();
    let question = window_of(&desktop, |info| info.owner == Some(window.id)).await;
    assert_eq!(question.kind, WindowKind::Dialog, "{question:?}");
    if !desktop.capabilities().capture {
        let error = desktop.screen().await.unwrap_err().chain();
        assert!(error.contains("no picture"), "{error}");
    }
}

/// A window that comes up.
async fn window_of(desktop: &LinuxDesktop, is: impl Fn(&WindowInfo) -> bool) -> WindowInfo {
    let deadline = Instant::now() + BOUND;
    loop {
        let known = desktop.windows().await.unwrap();
        match known.iter().find(|info| is(info)) {
            Some(info) => return info.clone(),
            None => assert!(Instant::now() < deadline, "{known:?}"),
        }
        desktop.windows_changed(&known, Duration::from_millis(200)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_who_refuses_is_taken_at_their_word() {
    let Some(mut session) = started(Shell::Gnome, &[]) else { return };
    session.answer(false).unwrap();
    let connect = LinuxDesktop::connect_to(session.variables().iter().cloned());
    let answer = tokio::time::timeout(Duration::from_secs(60), connect).await.unwrap();
    let error = answer.err().unwrap();
    assert!(matches!(error, DesktopError::Start { .. }), "{}", error.chain());
    let text = error.to_string();
    assert!(text.contains("refused") && text.contains("--desktop virtual"), "{text}");
}
