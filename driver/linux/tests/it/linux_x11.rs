//! The X11 desktop on a real X server, each test on its own virtual desktop.
//!
//! Without the programs of a virtual desktop these tests print that and pass, unless `DESKHAND_ALL_TESTS` is set:
//! then they fail.

use std::{
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use deskhand_desktop::{
    Button, Capture, DesktopError, InputInjection, LaunchRequest, PointerChord, WindowManagement,
    keys::KeyModifier,
};
use deskhand_desktop_linux::{LinuxDesktop, ScreenEvent, VirtualOptions};
use deskhand_testkit::display::is_left_behind;
use deskhand_ui::{
    WindowInfo, WindowKind,
    geometry::{Point, Rect, Size},
};

use crate::{
    programs::has_programs,
    x11_client::{Client, Place, set_monitors},
};

/// The longest wait for something that must happen.
pub(crate) const BOUND: Duration = Duration::from_secs(30);

pub(crate) async fn desktop() -> LinuxDesktop {
    let size = Size { width: 1024, height: 768 };
    LinuxDesktop::start_virtual(VirtualOptions { size, ..VirtualOptions::default() }).await.unwrap()
}

/// Waits for windows that `wanted` accepts.
pub(crate) async fn windows_until(
    desktop: &LinuxDesktop,
    what: &str,
    wanted: impl Fn(&[WindowInfo]) -> bool,
) -> Vec<WindowInfo> {
    let deadline = Instant::now() + BOUND;
    let mut windows = desktop.windows().await.unwrap();
    while !wanted(&windows) {
        assert!(Instant::now() < deadline, "{what}: {windows:#?}");
        windows = desktop.windows_changed(&windows, Duration::from_secs(1)).await.unwrap();
    }
    windows
}

pub(crate) async fn window_titled(desktop: &LinuxDesktop, title: &str) -> WindowInfo {
    let windows =
        windows_until(desktop, title, |windows| windows.iter().any(|window| window.title == title)).await;
    windows.into_iter().find(|window| window.title == title).unwrap()
}

/// The processes that have the name of a folder in their environment or command line.
fn processes_of(folder: &Path) -> Vec<String> {
    let name = folder.to_str().unwrap().as_bytes();
    let mut found = Vec::new();
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let read = |file: &str| std::fs::read(process.path().join(file)).unwrap_or_default();
        let mentions = |bytes: &[u8]| bytes.windows(name.len()).any(|part| part == name);
        let pid: Option<u32> = process.file_name().to_str().and_then(|name| name.parse().ok());
        if pid.is_some_and(|pid| pid != std::process::id())
            && (mentions(&read("environ")) || mentions(&read("cmdline")))
        {
            found.push(String::from_utf8_lossy(&read("cmdline")).replace('\0', " "));
        }
    }
    found
}

/// Waits until nothing of a desktop is left; other processes send no event to wait for.
async fn nothing_left(folder: &Path) {
    let deadline = Instant::now() + BOUND;
    loop {
        let left = processes_of(folder);
        if left.is_empty() && !folder.exists() {
            return;
        }
        assert!(Instant::now() < deadline, "{} left: {left:#?}", folder.display());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_closed_desktop_leaves_nothing() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let folder = desktop.private_folder().unwrap().to_owned();
    println!("{:?}", desktop.startup());
    // A program that leaves its group and session, and one that ignores SIGTERM.
    let script = "trap '' TERM HUP; setsid sh -c 'sleep 600' & sleep 600";
    let request = LaunchRequest { program: "sh".into(), arguments: vec!["-c".into(), script.into()] };
    desktop.launch(&request).await.unwrap();
    assert_eq!(desktop.windows().await.unwrap(), []);
    assert!(desktop.accessibility_address().unwrap().contains(folder.to_str().unwrap()));
    assert!(processes_of(&folder).len() >= 5, "{:?}", processes_of(&folder));
    desktop.shut_down().await;
    assert_eq!(processes_of(&folder), Vec::<String>::new());
    assert!(!folder.exists());
}

#[tokio::test]
async fn a_dropped_desktop_leaves_nothing() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let folder = desktop.private_folder().unwrap().to_owned();
    let display = desktop.display_name().to_owned();
    drop(desktop);
    nothing_left(&folder).await;
    assert!(!is_left_behind(&display));
}

/// The test runs itself in a child process that starts a desktop and is killed.
#[tokio::test]
async fn a_killed_deskhand_leaves_nothing() {
    const ROLE: &str = "DESKHAND_TEST_TO_BE_KILLED";
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    if std::env::var_os(ROLE).is_some() {
        let desktop = desktop().await;
        let request = LaunchRequest { program: "mousepad".into(), arguments: vec![] };
        desktop.launch(&request).await.unwrap();
        windows_until(&desktop, "mousepad", |windows| !windows.is_empty()).await;
        println!("FOLDER={}", desktop.private_folder().unwrap().display());
        return std::future::pending().await;
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "linux_x11::a_killed_deskhand_leaves_nothing", "--nocapture"])
        .env(ROLE, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let folder = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .find_map(|line| line.split_once("FOLDER=").map(|(_, folder)| PathBuf::from(folder)))
        .expect("the child brings a desktop up");
    assert!(processes_of(&folder).len() >= 6, "{:?}", processes_of(&folder));
    child.kill().unwrap();
    child.wait().unwrap();
    nothing_left(&folder).await;
}

#[tokio::test]
async fn a_dead_x_server_fails_every_call_soon() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let mut events = desktop.screen_events();
    let known = desktop.windows().await.unwrap();
    let server = find_process(desktop.private_folder().unwrap(), "Xvfb");
    let begun = Instant::now();
    let waiting = desktop.windows_changed(&known, Duration::from_secs(60));
    let (waited, ()) = tokio::join!(waiting, async {
        assert!(Command::new("kill").args(["-KILL", &server]).status().unwrap().success());
    });
    let is_gone = |error: &DesktopError| matches!(error, DesktopError::Gone { .. });
    assert!(is_gone(&waited.unwrap_err()));
    assert!(is_gone(&desktop.windows().await.unwrap_err()));
    assert!(is_gone(&desktop.screen().await.unwrap_err()));
    assert!(is_gone(&desktop.type_text("é").await.unwrap_err()));
    assert!(begun.elapsed() < BOUND, "{:?}", begun.elapsed());
    tokio::time::timeout(BOUND, desktop.display_ended()).await.unwrap();
    while events.recv().await.unwrap() != ScreenEvent::DisplayGone {}
    let folder = desktop.private_folder().unwrap().to_owned();
    desktop.shut_down().await;
    nothing_left(&folder).await;
}

pub(crate) fn find_process(folder: &Path, name: &str) -> String {
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let read = |file: &str| std::fs::read_to_string(process.path().join(file)).unwrap_or_default();
        if read("comm").trim() == name && read("cmdline").contains(folder.to_str().unwrap()) {
            return process.file_name().into_string().unwrap();
        }
    }
    panic!("no {name}");
}

/// Stopped, not ended: the socket stays open and nothing answers.
#[tokio::test]
async fn a_hanging_x_server_counts_as_gone() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let server = find_process(desktop.private_folder().unwrap(), "Xvfb");
    let folder = desktop.private_folder().unwrap().to_owned();
    assert!(Command::new("kill").args(["-STOP", &server]).status().unwrap().success());
    let begun = Instant::now();
    let error = desktop.windows().await.unwrap_err();
    assert!(matches!(error, DesktopError::Gone { .. }), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    desktop.shut_down().await;
    nothing_left(&folder).await;
}

#[tokio::test]
async fn a_screenshot_shows_the_windows() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let client = Client::open(&desktop, "Red", Place { color: 0x00ff_0102, ..Place::default() });
    let window = window_titled(&desktop, "Red").await;
    client.wait_until_drawn();
    let bounds = window.bounds;
    assert_eq!((bounds.width, bounds.height), (200, 100));
    let picture = desktop.region(bounds).await.unwrap();
    assert_eq!(picture.region, bounds);
    assert_eq!(picture.rgb.len(), 200 * 100 * 3);
    assert!(picture.rgb.chunks_exact(3).all(|pixel| pixel == [0xff, 1, 2]));
    let screen = desktop.screen().await.unwrap();
    assert_eq!(screen.region, Rect::new(0, 0, 1024, 768));
    let red = screen.rgb.chunks_exact(3).filter(|pixel| *pixel == [0xff, 1, 2]).count();
    assert_eq!(red, 200 * 100);
    // Larger than the first, smaller again, clipped at the edge, and outside.
    let cut = desktop.region(Rect::new(1000, -5, 100, 10)).await.unwrap();
    assert_eq!(cut.region, Rect::new(1000, 0, 24, 5));
    assert!(matches!(desktop.region(Rect::new(5000, 0, 9, 9)).await, Err(DesktopError::Failed { .. })));
    assert!(screen.to_png().unwrap().starts_with(b"\x89PNG"));
    desktop.shut_down().await;
}

#[tokio::test]
async fn windows_have_titles_owners_and_ids() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let first = Client::open(&desktop, "First", Place::default());
    let one = window_titled(&desktop, "First").await;
    assert_eq!(one.kind, WindowKind::Normal);
    assert_eq!(one.app.name, "TestClient");
    assert_eq!(one.app.root, "testclient");
    assert_eq!(one.app.pid, Some(std::process::id()));
    assert_eq!(desktop.x_window(one.id), Some(first.window()));
    assert_eq!(desktop.window_id(first.window()), Some(one.id));

    let dialog = Client::open(
        &desktop,
        "Question",
        Place { transient_for: Some(first.window()), dialog: true, ..Place::default() },
    );
    let question = window_titled(&desktop, "Question").await;
    assert_eq!((question.kind, question.owner), (WindowKind::Dialog, Some(one.id)));
    let menu = Client::open(&desktop, "Menu", Place { pop_up: true, ..Place::default() });
    let pop_up = window_titled(&desktop, "Menu").await;
    assert_eq!((pop_up.kind, pop_up.owner), (WindowKind::Popup, Some(one.id)));
    assert_eq!(desktop.windows().await.unwrap().len(), 3, "nothing of the window manager is listed");
    assert_eq!(desktop.windows().await.unwrap().last().unwrap().id, pop_up.id);

    // A new title is waited for; an outdated list of windows is answered at once.
    let known = windows_until(&desktop, "the focus on the dialog", |windows| {
        windows.iter().any(|window| window.id == question.id && window.active)
    })
    .await;
    first.rename("Naïve – 東");
    let changed = desktop.windows_changed(&known, BOUND).await.unwrap();
    assert!(changed.iter().any(|window| window.id == one.id && window.title == "Naïve – 東"), "{changed:#?}");
    let begun = Instant::now();
    desktop.windows_changed(&known, BOUND).await.unwrap();
    assert!(begun.elapsed() < BOUND);
    let same = desktop.windows_changed(&changed, Duration::from_millis(50)).await.unwrap();
    assert_eq!(same, changed);

    drop((dialog, menu));
    let left = windows_until(&desktop, "one window", |windows| windows.len() == 1).await;
    assert_eq!(left[0].id, one.id);
    assert!(matches!(desktop.activate(question.id).await, Err(DesktopError::NoWindow(_))));
    assert!(matches!(desktop.close(question.id).await, Err(DesktopError::NoWindow(_))));
    desktop.shut_down().await;
}

#[tokio::test]
async fn a_window_is_brought_to_the_front_and_closed() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let _below = Client::open(&desktop, "Below", Place { color: 0x0000_ff00, ..Place::default() });
    let below = window_titled(&desktop, "Below").await;
    let upper = Client::open(&desktop, "Above", Place::default());
    let above = window_titled(&desktop, "Above").await;
    for wanted in [below.id, above.id, below.id, below.id] {
        desktop.activate(wanted).await.unwrap();
        let windows = desktop.windows().await.unwrap();
        let active: Vec<_> = windows.iter().filter(|window| window.active).map(|window| window.id).collect();
        assert_eq!(active, [wanted]);
        assert_eq!(windows.last().unwrap().id, wanted, "it is the top-most");
    }
    desktop.close(above.id).await.unwrap();
    upper.close_when_asked();
    windows_until(&desktop, "closed", |windows| windows.iter().all(|window| window.id != above.id)).await;
    desktop.shut_down().await;
}

#[tokio::test]
async fn a_window_tells_which_monitor_it_is_on() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let client = Client::open(&desktop, "Wanderer", Place::default());
    let wanderer = window_titled(&desktop, "Wanderer").await;
    assert_eq!(wanderer.monitor, None, "there are not several");
    set_monitors(&desktop, &[512, 512], 768);
    for (x, monitor) in [(10, 1), (700, 2), (20, 1)] {
        client.moves_to(x);
        let is = |one: &WindowInfo| one.id == wanderer.id && one.monitor == Some(monitor);
        let is_there = |windows: &[WindowInfo]| windows.iter().any(is);
        windows_until(&desktop, &format!("monitor {monitor}"), is_there).await;
    }
    desktop.shut_down().await;
}

/// As on the display of `xvfb-run`. This window manager has ended and left its properties behind.
#[tokio::test]
async fn windows_get_keys_without_a_window_manager() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let mut clients = [
        Client::open(&desktop, "Below", Place { silent: true, ..Place::default() }),
        Client::open(&desktop, "Above", Place { silent: true, ..Place::default() }),
    ];
    let ids = [window_titled(&desktop, "Below").await.id, window_titled(&desktop, "Above").await.id];
    let manager = find_process(desktop.private_folder().unwrap(), "openbox");
    assert!(Command::new("kill").args(["-KILL", &manager]).status().unwrap().success());
    clients.iter().for_each(Client::wait_until_nobody_manages_it);
    for at in [0, 1, 0, 0] {
        desktop.activate(ids[at]).await.unwrap();
        let windows = desktop.windows().await.unwrap();
        let active: Vec<_> = windows.iter().filter(|window| window.active).map(|window| window.id).collect();
        assert_eq!(active, [ids[at]]);
        assert_eq!(windows.last().unwrap().id, ids[at], "it is the top-most");
        desktop.type_text("yes").await.unwrap();
        assert_eq!(clients[at].read_keys(3), "yes");
    }
    desktop.close(ids[0]).await.unwrap();
    let [below, _above] = clients;
    below.close_when_asked();
    windows_until(&desktop, "closed", |windows| windows.iter().all(|window| window.id != ids[0])).await;
    desktop.shut_down().await;
}

#[tokio::test]
async fn damage_is_reported_by_window() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let client = Client::open(&desktop, "Painted", Place::default());
    window_titled(&desktop, "Painted").await;
    client.wait_until_drawn();
    let mut events = desktop.screen_events();
    for _ in 0..3 {
        client.paint();
        let damage = async {
            while !matches!(events.recv().await.unwrap(), ScreenEvent::Damage { window, .. } if window == client.window())
            {
            }
        };
        tokio::time::timeout(BOUND, damage).await.unwrap();
    }
    desktop.shut_down().await;
}

/// A client with a focused window.
pub(crate) async fn active_client(desktop: &LinuxDesktop, place: Place) -> Client {
    let client = Client::open(desktop, "Editor", place);
    let window = window_titled(desktop, "Editor").await;
    desktop.activate(window.id).await.unwrap();
    client
}

/// ASCII with signs on the shift level, and other scripts; the application is busy until everything has been typed.
#[tokio::test]
async fn any_text_arrives_as_it_was_typed() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let mut client = active_client(&desktop, Place { silent: true, ..Place::default() }).await;
    for text in [
        "Hello, World! \"Quoted\": 1+1=2? <a>{b}[c]|~`@#$%^&*()_-\\/;'",
        "Éé ß € Кириллица Ελληνικά 東京 😀👍 ñ",
        "back to ASCII",
    ] {
        desktop.type_text(text).await.unwrap();
        assert_eq!(client.read_keys(text.chars().count()), text);
    }
    desktop.shut_down().await;
}

/// Keys must be rebound while the application processes them.
#[tokio::test]
async fn more_symbols_than_there_are_spare_keys_arrive() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let mut client = active_client(&desktop, Place::default()).await;
    let many: String = (0..300_u32).filter_map(|number| char::from_u32(0x4e00 + number * 7 % 1000)).collect();
    let count = many.chars().count();
    let taking = tokio::task::spawn_blocking(move || {
        let typed = [client.read_keys(count), client.read_keys(count)];
        client.answer_until_closed();
        typed
    });
    // The keys of the first text are rebound in the second.
    let again: String = many.chars().rev().collect();
    desktop.type_text(&many).await.unwrap();
    desktop.type_text(&again).await.unwrap();
    desktop.shut_down().await;
    assert_eq!(taking.await.unwrap(), [many, again]);
}

#[tokio::test]
async fn chords_hold_their_modifiers() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let mut client = active_client(&desktop, Place::default()).await;
    for (chord, expected) in [
        ("ctrl+s", "ctrl+s"),
        ("ctrl+S", "ctrl+s"),
        ("ctrl+shift+s", "ctrl+shift+S"),
        ("alt+F4", "alt+F4"),
        ("ctrl++", "ctrl+shift++"),
        ("Return", "Return"),
        ("Page_Down", "Next"),
        ("é", "é"),
        ("A", "shift+A"),
    ] {
        desktop.press(&chord.parse().unwrap()).await.unwrap();
        assert_eq!(client.read_chord(), expected, "{chord}");
    }
    assert!(matches!(desktop.type_text("a\u{1}").await, Err(DesktopError::Key { .. })));
    desktop.shut_down().await;
}

#[tokio::test]
async fn the_pointer_clicks_drags_and_scrolls() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let mut client = Client::open(&desktop, "Board", Place::default());
    let window = window_titled(&desktop, "Board").await;
    client.wait_until_drawn();
    let at = |x: i32, y: i32| Point::new(window.bounds.x + x, window.bounds.y + y);
    desktop.click(at(10, 20), Button::Left, 2).await.unwrap();
    assert_eq!(client.read_buttons(4), ["+1 10,20", "-1 10,20", "+1 10,20", "-1 10,20"]);
    desktop.click(at(30, 40), Button::Right, 1).await.unwrap();
    assert_eq!(client.read_buttons(2), ["+3 30,40", "-3 30,40"]);
    desktop.scroll(at(5, 5), 0, -2).await.unwrap();
    assert_eq!(client.read_buttons(4), ["+4 5,5", "-4 5,5", "+4 5,5", "-4 5,5"]);
    assert!(desktop.click(Point::new(4000, 5), Button::Left, 1).await.is_err());
    // A drag continues as the application takes part in it.
    let taking = tokio::task::spawn_blocking(move || {
        let buttons = client.read_buttons(2);
        let motions = client.motions();
        client.answer_until_closed();
        (buttons, motions)
    });
    let held =
        PointerChord { button: Button::Middle, modifiers: vec![KeyModifier::Ctrl, KeyModifier::Shift] };
    desktop.drag(at(20, 20), at(120, 60), &held).await.unwrap();
    desktop.shut_down().await;
    let (buttons, motions) = taking.await.unwrap();
    assert_eq!(buttons, ["+ctrl+shift+2 20,20", "-ctrl+shift+2 120,60"]);
    assert!(motions >= 10, "{motions} positions in between");
}

#[tokio::test]
async fn programs_are_found_by_name_and_watched() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let launch = |program: &str, arguments: &[&str]| {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        LaunchRequest { program: program.to_owned(), arguments }
    };
    let error = desktop.launch(&launch("Mosepad", &[])).await.unwrap_err().to_string();
    assert!(error.contains("`Mosepad`") && error.contains("did you mean `Mousepad`?"), "{error}");
    let error = desktop.launch(&launch("zzqqxx", &[])).await.unwrap_err().to_string();
    assert!(error.contains("command on PATH"), "{error}");

    let ended = desktop.launch(&launch("sh", &["-c", "echo a; echo b >&2; exit 3"])).await.unwrap();
    let deadline = Instant::now() + BOUND;
    while desktop.process_ended(ended.pid).is_none() {
        assert!(Instant::now() < deadline);
        tokio::task::yield_now().await;
    }
    assert_eq!(desktop.process_ended(ended.pid).unwrap().to_string(), "exit status: 3");
    assert_eq!(desktop.last_words(ended.pid), "a\nb");

    let file = desktop.private_folder().unwrap().join("note.txt");
    std::fs::write(&file, "").unwrap();
    let launched = desktop.launch(&launch("mousepad", &[file.to_str().unwrap()])).await.unwrap();
    assert_eq!(launched.name, "Mousepad");
    let windows = windows_until(&desktop, "mousepad", |windows| {
        windows.iter().any(|window| window.title.contains("note.txt"))
    })
    .await;
    let window = &windows[0];
    assert_eq!(window.app.pid, Some(launched.pid));
    assert_eq!((window.app.name.as_str(), window.app.root.as_str()), ("Mousepad", "mousepad"));
    desktop.activate(window.id).await.unwrap();
    let text = "Hi \"there\": é Кириллица 東 😀!?";
    desktop.type_text(text).await.unwrap();
    desktop.press(&"ctrl+s".parse().unwrap()).await.unwrap();
    let deadline = Instant::now() + BOUND;
    let mut saved = String::new();
    while saved.trim_end() != text {
        assert!(Instant::now() < deadline, "{saved:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
        saved.clear();
        std::fs::File::open(&file).unwrap().read_to_string(&mut saved).unwrap();
    }
    assert_eq!(desktop.process_ended(launched.pid), None);
    desktop.shut_down().await;
}

/// The test runs itself in a child process, with the variables of a desktop that another process started.
#[tokio::test]
async fn the_users_desktop_is_used_and_left_unchanged() {
    const ROLE: &str = "DESKHAND_TEST_CURRENT";
    const NAME: &str = "linux_x11::the_users_desktop_is_used_and_left_unchanged";
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    match std::env::var(ROLE).as_deref() {
        Ok("none") => {
            let error = LinuxDesktop::connect_current().await.err().unwrap().to_string();
            assert!(error.contains("nor DISPLAY is set") && error.contains("--desktop virtual"), "{error}");
            return;
        }
        Ok("refused") => {
            let error = LinuxDesktop::connect_current().await.err().unwrap().to_string();
            assert!(error.contains("refused the connection") && error.contains("XAUTHORITY"), "{error}");
            return;
        }
        Ok(_) => {
            let desktop = LinuxDesktop::connect_current().await.unwrap();
            assert!(desktop.accessibility_address().is_some());
            assert_eq!(desktop.private_folder(), None);
            assert_eq!(desktop.screen().await.unwrap().region, Rect::new(0, 0, 1024, 768));
            let request = LaunchRequest { program: "mousepad".into(), arguments: vec![] };
            desktop.launch(&request).await.unwrap();
            let windows = windows_until(&desktop, "mousepad", |windows| !windows.is_empty()).await;
            desktop.activate(windows[0].id).await.unwrap();
            desktop.type_text("東").await.unwrap();
            return desktop.shut_down().await;
        }
        Err(_) => {}
    }
    let desktop = desktop().await;
    let again = |role: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", NAME, "--nocapture"]).env(ROLE, role).env_remove("DISPLAY");
        command
    };
    assert!(again("none").status().unwrap().success());
    let mut refused = again("refused");
    refused.env("DISPLAY", desktop.display_name()).env("XAUTHORITY", "/dev/null");
    assert!(refused.status().unwrap().success());
    assert!(again("connect").envs(desktop.environment().variables()).status().unwrap().success());
    let windows = desktop.windows().await.unwrap();
    assert!(windows.iter().any(|window| window.app.name == "Mousepad"), "it stays: {windows:#?}");
    let folder = desktop.private_folder().unwrap().to_owned();
    desktop.shut_down().await;
    nothing_left(&folder).await;
}
