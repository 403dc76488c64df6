//! Confined applications: they start, work on documents, and do not see secrets.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_desktop::{LaunchRequest, TreeLimits, UiTree as _, WindowManagement as _};
use deskhand_desktop_act as act;
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_linux::{Confine, ConfineMode, LinuxDesktop, VirtualOptions};
use deskhand_testkit::fixture::{Screen, Toolkit};
use deskhand_ui::{Role, action::Condition, ids::WindowId};
use serde_json::{Value, json};

use crate::{fixtures::Stage, programs::has_programs};

/// How long an application may take.
const BOUND: Duration = Duration::from_secs(60);

/// A folder with documents, and with secrets below it.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        fs::create_dir(home.path("secrets")).unwrap();
        fs::write(home.path("secrets/key"), "the key").unwrap();
        home
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn confine(&self) -> Confine {
        Confine { mode: ConfineMode::Required, hidden: vec![self.path("secrets")], ..Confine::default() }
    }

    async fn desktop(&self) -> LinuxDesktop {
        let options = VirtualOptions { confine: self.confine(), ..VirtualOptions::default() };
        LinuxDesktop::start_virtual(options).await.unwrap()
    }

    /// The process of an application sees the folder but not the secrets, by its own root in `/proc`.
    fn is_kept_from(&self, pid: Option<u32>, title: &str) {
        let root =
            PathBuf::from(format!("/proc/{}/root", pid.unwrap_or_else(|| panic!("{title}: no process"))));
        let seen = |below: &str| root.join(self.path(below).strip_prefix("/").unwrap());
        assert!(seen("secrets").exists(), "{title}");
        assert!(!seen("secrets/key").exists(), "{title} sees the key");
        assert_eq!(fs::read_to_string(self.path("secrets/key")).unwrap(), "the key");
    }
}

async fn launch(desktop: &LinuxDesktop, program: &str, files: &[PathBuf]) -> act::ActionReport {
    let request = LaunchRequest {
        program: program.to_owned(),
        arguments: files.iter().map(|file| file.display().to_string()).collect(),
    };
    act::launch(desktop, &request, &ActLimits::default()).await.unwrap()
}

/// A fixture application starts confined, with its elements, and can be worked with.
async fn works(toolkit: Toolkit) {
    if !has_programs(&["bwrap"]) {
        return;
    }
    let home = Home::new();
    let Some(stage) = Stage::start_confined(toolkit, Screen::Form, home.confine()).await else { return };
    let tree = stage.tree().await;
    for name in ["Count", "Agree", "Name", "Notes"] {
        assert!(tree.elements.iter().any(|element| element.name == name), "{toolkit}: no {name}");
    }
    let put = |value: Value| stage.fixture.ask("put", json!({ "control": "Agree", "value": value }));
    put(json!(true)).await.unwrap();
    assert_eq!(stage.fixture.state().await.unwrap()["Agree"], json!(true), "{toolkit}");
    home.is_kept_from(stage.window.app.pid, &stage.window.title);
    stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gtk_3_works_confined() {
    works(Toolkit::Gtk3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gtk_4_works_confined() {
    works(Toolkit::Gtk4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn qt_works_confined() {
    works(Toolkit::Qt).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_works_confined() {
    works(Toolkit::Page).await;
}

/// Waits until the condition holds.
async fn until(what: &str, condition: impl Fn() -> bool) {
    let holds = async {
        while !condition() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(BOUND, holds).await.expect(what);
}

async fn text_of(desktop: &LinuxDesktop, window: WindowId) -> deskhand_ui::Element {
    let tree = desktop.tree(window, TreeLimits::default()).await.unwrap();
    let is_text = |element: &deskhand_ui::Element| element.role == Role::TEXT;
    tree.elements.into_iter().find(is_text).expect("a text")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_editor_saves_a_document_beside_the_secrets() {
    if !has_programs(&["bwrap", "mousepad"]) {
        return;
    }
    let home = Home::new();
    let document = home.path("letter.txt");
    fs::write(&document, "Dear Ada").unwrap();
    let desktop = home.desktop().await;
    let window = launch(&desktop, "mousepad", std::slice::from_ref(&document)).await.window.unwrap();
    home.is_kept_from(window.app.pid, &window.title);
    let text = text_of(&desktop, window.id).await;
    let limits = ActLimits::default();
    let letter = act::NewValue::Text("Dear Grace".to_owned());
    act::set_value(&desktop, window.id, text.id, None, &letter, &limits).await.unwrap();
    act::press_keys(&desktop, window.id, &["ctrl+s".parse().unwrap()], &limits).await.unwrap();
    let saved = || fs::read_to_string(&document).unwrap_or_default().trim() == "Dear Grace";
    until("the document is saved", saved).await;
    desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn libreoffice_locks_a_document_beside_the_secrets() {
    if !has_programs(&["bwrap", "soffice"]) {
        return;
    }
    let home = Home::new();
    let document = home.path("table.csv");
    fs::write(&document, "a,b\n1,2\n").unwrap();
    let desktop = home.desktop().await;
    let report = launch(&desktop, "localc", std::slice::from_ref(&document)).await;
    let window = report.window.clone().unwrap_or_else(|| panic!("{}", report.summary()));
    home.is_kept_from(window.app.pid, &window.title);
    // A text file asks how to read it; the document follows.
    if window.title.contains("Import") {
        act::press_keys(&desktop, window.id, &["Return".parse().unwrap()], &ActLimits::default())
            .await
            .unwrap();
    }
    let shows = Condition::TitleContains("table".into());
    act::wait_for(&desktop, window.id, &shows, BOUND).await.ok();
    let lock = home.path(".~lock.table.csv#");
    until("the document is locked", || lock.exists()).await;
    desktop.shut_down().await;
}

/// The processes of the desktop with this private folder that have that name.
fn processes_of(private: &Path, name: &str) -> Vec<u32> {
    let mark = format!("DESKHAND_DESKTOP={}", private.display());
    let of = |entry: fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let environment = fs::read(entry.path().join("environ")).ok()?;
        let marked = environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes());
        let named = fs::read_to_string(entry.path().join("comm")).ok()?.trim() == name;
        (marked && named).then_some(pid)
    };
    fs::read_dir("/proc").unwrap().filter_map(Result::ok).filter_map(of).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn services_of_the_session_bus_are_kept_from_secrets() {
    if !has_programs(&["bwrap"]) {
        return;
    }
    let home = Home::new();
    let desktop = home.desktop().await;
    let private = desktop.private_folder().unwrap().to_owned();
    for name in ["dbus-daemon", "at-spi-bus-laun"] {
        let found = processes_of(&private, name);
        assert!(!found.is_empty(), "no {name}");
        found.into_iter().for_each(|pid| home.is_kept_from(Some(pid), name));
    }
    desktop.shut_down().await;
}

/// Tries to reach each place and writes what it reached; its own desktop at the end.
const ATTEMPTS: &str = r#"
import os, socket, sys
results = open(sys.argv[1] + ".new", "w")
def attempt(name, action):
    try:
        action()
        results.write("reached " + name + "\n")
    except OSError:
        pass
def connect(address):
    socket.socket(socket.AF_UNIX).connect(address)
for place in sys.argv[2:]:
    attempt(place, lambda: connect(place))
    attempt("file " + place, lambda: open(place).read(1))
    attempt("list " + place, lambda: os.listdir(place)[0])
for name in os.listdir("/sys/block"):
    attempt("disk " + name, lambda: open("/dev/" + name, "rb"))
attempt("kernel setting", lambda: open("/proc/sys/kernel/core_pattern", "w"))
attempt("system", lambda: open("/usr/deskhand-test", "w"))
attempt("elsewhere", lambda: open("/srv/deskhand-test", "w"))
attempt("own display", lambda: connect("/tmp/.X11-unix/X" + os.environ["DISPLAY"].lstrip(":").split(".")[0]))
attempt("own bus", lambda: connect(os.environ["DBUS_SESSION_BUS_ADDRESS"].split("=", 1)[1].split(",")[0]))
attempt("own folder", lambda: open(os.environ["TMPDIR"] + "/file", "w"))
attempt("own runtime folder", lambda: open(os.environ["XDG_RUNTIME_DIR"] + "/file", "w"))
results.close()
os.rename(sys.argv[1] + ".new", sys.argv[1])
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_application_reaches_its_own_desktop_and_no_other() {
    if !has_programs(&["bwrap", "python3"]) {
        return;
    }
    let home = Home::new();
    // Another display stands for that of the user.
    let other = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    let agent = tempfile::Builder::new().prefix("ssh-").tempdir_in("/tmp").unwrap();
    let agent = agent.path().join("agent.1");
    let _agent = std::os::unix::net::UnixListener::bind(&agent).unwrap();
    let display = format!("/tmp/.X11-unix/X{}", other.display_name().trim_start_matches(':'));
    let mut places = vec![display.into(), agent, home.path("secrets/key")];
    let mut services = Vec::new();
    if rustix::process::geteuid().is_root() {
        let folder = PathBuf::from(format!("/run/user/{}", 1_000_000_000 + std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        services.push(std::os::unix::net::UnixListener::bind(folder.join("bus")).unwrap());
        places.push(folder.join("bus"));
    }
    let desktop = home.desktop().await;
    let (script, results) = (home.path("attempts.py"), home.path("results"));
    fs::write(&script, ATTEMPTS).unwrap();
    let files = [&script, &results].into_iter().chain(&places).map(|path| path.display().to_string());
    // What is kept from applications cannot be named in a launch, so a shell does that.
    let command = format!("python3 {}", files.collect::<Vec<_>>().join(" "));
    let request = LaunchRequest { program: "sh".to_owned(), arguments: vec!["-c".to_owned(), command] };
    desktop.launch(&request).await.unwrap();
    until("the attempts are made", || results.exists()).await;
    if let Some(folder) = places.last().and_then(|place| place.parent()).filter(|_| !services.is_empty()) {
        fs::remove_dir_all(folder).unwrap();
    }
    let expected = "reached own display\nreached own bus\nreached own folder\nreached own runtime folder\n";
    assert_eq!(fs::read_to_string(&results).unwrap(), expected);
    desktop.shut_down().await;
    other.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_among_the_secrets_is_refused_with_the_setting_that_lets_it_in() {
    if !has_programs(&["bwrap", "mousepad"]) {
        return;
    }
    let home = Home::new();
    let desktop = home.desktop().await;
    let request = LaunchRequest {
        program: "mousepad".to_owned(),
        arguments: vec![home.path("secrets/key").display().to_string()],
    };
    let refused = act::launch(&desktop, &request, &ActLimits::default()).await.unwrap_err().chain();
    assert!(refused.contains("secrets") && refused.contains("desktop.allow"), "{refused}");
    desktop.shut_down().await;
}
