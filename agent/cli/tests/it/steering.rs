//! What can steer a session: everything that a running one offers is in the list, and nothing of it exists for an application.
//!
//! Judges: `/proc` (sockets, ports, processes), the bus daemon (names), the binary (variables), a program that runs as an application does.
//! Skipped if the programs of a virtual desktop are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use deskhand_host::{STEERING_POINTS, SteeringKind, steering_table};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    page::Service,
    support::{World, has_desktop, has_programs},
    talk::Program,
};

/// The lines around the table.
const TABLE: (&str, &str) = ("<!-- steering: generated -->\n", "<!-- end of steering -->");

#[test]
fn the_table_of_what_steers_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../SECURITY.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(TABLE.0).unwrap();
    let (_, after) = rest.split_once(TABLE.1).unwrap();
    let current = format!("{before}{}{}{}{after}", TABLE.0, steering_table(), TABLE.1);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &current).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap() == current,
        "SECURITY.md differs from the list; update it with\n  UPDATE_DOCS=1 cargo nextest run -p deskhand steering"
    );
}

/// Tries all that steers from where an application is, writes down what it reached, and shows a window.
const PROBE: &str = r#"
import glob, json, os, socket
home = os.environ["HOME"]
state = home + "/.local/state/deskhand"
reached = []
folders = [state + "/" + name for name in ["sessions", "seals", "serve", "schedules", "batches"]]
folders += [home + "/.config/deskhand", home + "/.local/share/deskhand/workflows", os.environ["XDG_RUNTIME_DIR"] + "/../own"]
for folder in folders:
    reached += [folder + "/" + name for name in (os.listdir(folder) if os.path.isdir(folder) else [])]
    try:
        os.makedirs(folder, exist_ok=True)
        open(folder + "/forged", "w").close()
        reached.append("wrote " + folder)
    except OSError:
        pass
own = os.path.dirname(os.environ["XDG_RUNTIME_DIR"])
reached += [path for path in glob.glob(os.path.dirname(own) + "/*") if path != own]
names = {line.split()[7] for line in open("/proc/net/unix") if len(line.split()) > 7}
names |= set(glob.glob(state + "/**/*.sock", recursive=True)) | set(glob.glob(own + "/**/*.sock", recursive=True))
def name_of(process):
    try:
        return open(process + "/comm").read()
    except OSError:
        return ""
processes = [process for process in glob.glob("/proc/[0-9]*") if "deskhand" in name_of(process)]
names |= {path + "/root" + name for path in processes for name in names if name.endswith(".sock")}
for process in processes:
    for number in range(64):
        names |= {f"{process}/fd/{number}/control.sock"}
for name in names:
    if not name.endswith(".sock"):
        continue
    try:
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(5)
        client.connect(name)
        client.sendall(b'{"do":"say","text":"words of the probe"}\n')
        if client.recv(1):
            reached.append("heard " + name)
    except OSError:
        pass
json.dump(reached, open(home + "/probe.part", "w"))
os.rename(home + "/probe.part", home + "/probe.json")
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
window = Gtk.Window(title="Probe")
window.connect("destroy", Gtk.main_quit)
window.show_all()
Gtk.main()
"#;

const SCRIPT: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '''
{"observation": "An editor.", "thought": "A program is started.", "status": "CONTINUE",
 "function": "launch_application", "arguments": {"name": "Probe"}}
'''
[[turn]]
agent = "HostAgent"
reply = '''
{"observation": "An editor.", "thought": "It can be typed there.", "status": "ASSIGN",
 "current_subtask": "Type the greeting", "control_label": "{{window "Mousepad"}}", "next": []}
'''
[[turn]]
agent = "AppAgent"
reply = '''
{"observation": "An empty document.", "thought": "One call types it.", "status": "FINISH", "result": "typed",
 "action": [{"function": "type_text", "arguments": {"id": "{{element "text" ""}}", "text": "hello"}}]}
'''
"#;

const CONFIGURATION: &str = r#"
[model]
provider = "script"
script = "steer.script.toml"
[people]
channel = "socket"
[[policy.rules]]
tool = "launch_application"
decision = "allow"
[[policy.rules]]
tool = "type_text"
decision = "ask"
"#;

/// A session that waits for an approval, with the page beside it.
struct Running {
    world: World,
    session: Program,
    _page: Service,
}

impl Running {
    fn start() -> Self {
        let world = World::new();
        world.configure(CONFIGURATION);
        world.file("steer.script.toml", SCRIPT);
        world.file("page.html", "<title>Page</title>a page");
        world.file("notes.txt", "");
        let probe = world.file("probe.py", PROBE);
        let entry = format!(
            "[Desktop Entry]\nType=Application\nName=Probe\nExec=/usr/bin/python3 {}\n",
            probe.display()
        );
        world.file(".local/share/applications/probe.desktop", &entry);
        let page = Service::start(&world, &[]);
        let arguments = ["run", "type hello", "--open", "page.html", "--open", "notes.txt", "--json"];
        let session = Program::start(world.command(&arguments));
        Self { world, session, _page: page }
    }

    /// Processes of this home that run our binary.
    fn processes(&self) -> Vec<PathBuf> {
        let binary = fs::canonicalize(env!("CARGO_BIN_EXE_deskhand")).unwrap();
        let home = format!("HOME={}", self.world.path().display());
        let is_ours = |process: &PathBuf| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            fs::read_link(process.join("exe")).is_ok_and(|exe| exe == binary)
                && environment.split(|byte| *byte == 0).any(|line| line == home.as_bytes())
        };
        let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok).map(|entry| entry.path());
        entries.filter(is_ours).collect()
    }
}

/// The numbers of the sockets that processes have open.
fn sockets_of(processes: &[PathBuf]) -> BTreeSet<String> {
    let descriptors = processes.iter().filter_map(|process| fs::read_dir(process.join("fd")).ok()).flatten();
    let links = descriptors.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    let names = links.map(|link| link.to_string_lossy().into_owned());
    names.filter_map(|name| Some(name.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())).collect()
}

/// The Unix sockets of these numbers that listen, by name.
fn listening(numbers: &BTreeSet<String>) -> Vec<String> {
    let table = fs::read_to_string("/proc/net/unix").unwrap();
    let rows = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    // Flags, then type, state and inode, then the name.
    let listens = |row: &Vec<&str>| u32::from_str_radix(row[3], 16).unwrap() & 0x1_0000 != 0;
    let own = rows.filter(|row| row.len() > 6 && numbers.contains(row[6]) && listens(row));
    own.map(|row| row.get(7).copied().unwrap_or("without a name").to_owned()).collect()
}

/// The TCP ports of these sockets that listen, with their addresses.
fn ports(numbers: &BTreeSet<String>) -> Vec<String> {
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    let rows = tables.iter().flat_map(|table| table.lines().skip(1));
    let rows = rows.map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row[3] == "0A" && numbers.contains(row[9])).map(|row| row[1].to_owned()).collect()
}

/// Returns `true` if a path is at a place of the list.
fn is_at(path: &str, place: &str, folders: &[(&str, String)]) -> bool {
    let place = folders.iter().fold(place.to_owned(), |place, (word, folder)| place.replace(word, folder));
    let pattern = format!("^{}", regex::escape(&place).replace(r"\*", "[^/]*"));
    regex::Regex::new(&pattern).unwrap().is_match(path)
}

#[test]
fn all_that_steers_is_listed_and_does_not_exist_for_applications() {
    if !has_desktop() || !has_programs(&["mousepad", "chromium", "bwrap", "python3", "dbus-send"]) {
        return;
    }
    let mut running = Running::start();
    while running.session.wait_for("waiting")["on"] != "approval" {}
    let home = running.world.path().display().to_string();
    let desktops = std::env::temp_dir().join(format!("deskhand-{}", rustix::process::geteuid().as_raw()));
    let folders = [
        ("STATE", format!("{home}/.local/state/deskhand")),
        ("CONFIG", format!("{home}/.config/deskhand")),
        ("DATA", format!("{home}/.local/share/deskhand")),
        ("DESKTOP", format!("{}/*", desktops.display())),
    ];
    let places = |kind: SteeringKind| STEERING_POINTS.iter().filter(move |point| point.kind == kind);
    let processes = running.processes();
    // The session, the keeper, the page, the holder of the browser.
    assert!(processes.len() >= 4, "{processes:?}");
    let numbers = sockets_of(&processes);
    let sockets = listening(&numbers);
    assert!(sockets.len() >= 3, "{sockets:?}");
    for socket in sockets {
        // A control socket is bound by way of its open folder.
        let is_control = socket.starts_with("/proc/self/fd/") && socket.ends_with("/.control.sock");
        let is_listed = places(SteeringKind::Socket).any(|point| is_at(&socket, point.place, &folders));
        assert!(is_control || is_listed, "{socket} is in no list of what steers");
    }
    let ports = ports(&numbers);
    assert_eq!(ports.len(), 1, "the page alone listens: {ports:?}");
    assert!(ports[0].starts_with("0100007F:"), "it listens on the loopback address: {ports:?}");
    for (_, folder) in &folders[..3] {
        for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            let path = format!("{}/", entry.path().display());
            let is_listed = |place: &str| {
                is_at(&path, place, &folders) || is_at(path.trim_end_matches('/'), place, &folders)
            };
            let is_listed = places(SteeringKind::File).any(|point| is_listed(point.place));
            assert!(is_listed, "{path} is in no list of what steers");
        }
    }
    no_names_on_the_bus(&desktops, &processes);
    let probe = running.world.path().join("probe.json");
    let reached: Value = serde_json::from_slice(&fs::read(&probe).unwrap()).unwrap();
    assert_eq!(reached, Value::Array(Vec::new()), "an application reached what steers");
    // Nothing was said, and nothing decided.
    assert_eq!(fs::read_to_string(running.world.path().join("notes.txt")).unwrap(), "");
    let control = fs::read_dir(format!("{home}/.local/state/deskhand/sessions")).unwrap();
    let folder = control
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.join("journal.jsonl").exists());
    let journal = fs::read_to_string(folder.unwrap().join("journal.jsonl")).unwrap();
    assert!(
        !journal.contains("words of the probe") && !journal.contains(r#""came":"approved""#),
        "{journal}"
    );
    let pid = Pid::from_child(&running.session.child);
    kill_process(pid, Signal::TERM).unwrap();
    running.session.end();
}

/// None of these processes owns a name on the session bus of a desktop.
fn no_names_on_the_bus(desktops: &Path, processes: &[PathBuf]) {
    let ours: BTreeSet<String> = processes
        .iter()
        .filter_map(|process| Some(process.file_name()?.to_string_lossy().into_owned()))
        .collect();
    for desktop in fs::read_dir(desktops).unwrap().filter_map(Result::ok) {
        let bus = format!("--bus=unix:path={}", desktop.path().join("bus").display());
        let call = |method: &str, argument: &[String]| {
            let method = format!("org.freedesktop.DBus.{method}");
            let mut command = Command::new("dbus-send");
            command.args([&bus, "--print-reply", "--dest=org.freedesktop.DBus", "/", &method]).args(argument);
            String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
        };
        let names = call("ListNames", &[]);
        let names = names.lines().filter_map(|line| line.trim().strip_prefix("string \"")?.strip_suffix('"'));
        for name in names.filter(|name| !name.starts_with(':') && *name != "org.freedesktop.DBus") {
            let owner = call("GetConnectionUnixProcessID", &[format!("string:{name}")]);
            let owner = owner.rsplit(' ').next().unwrap_or_default().trim().to_owned();
            assert!(!ours.contains(&owner), "a process of ours owns {name}");
        }
    }
}

#[test]
fn all_variables_that_steer_are_listed() {
    let binary = fs::read(env!("CARGO_BIN_EXE_deskhand")).unwrap();
    // Texts follow each other in a binary without anything between them.
    let names = regex::bytes::Regex::new("DESKHAND_[A-Z_]{1,32}").unwrap();
    let begins =
        |from: usize| names.find_at(&binary, from).map(|name| (name.start(), name.as_bytes().to_vec()));
    let mut found = BTreeSet::new();
    let mut from = 0;
    while let Some((start, name)) = begins(from) {
        found.insert(String::from_utf8(name).unwrap());
        from = start + 1;
    }
    let listed = |name: &str| {
        let kinds = [SteeringKind::Variable, SteeringKind::Property];
        let names = STEERING_POINTS.iter().filter(|point| kinds.contains(&point.kind));
        names
            .flat_map(|point| point.place.split(", "))
            .any(|place| name.starts_with(place.trim_end_matches('*')))
    };
    let missing: Vec<&String> = found.iter().filter(|name| !listed(name)).collect();
    assert!(missing.is_empty(), "{missing:?} are in no list of what steers");
    assert!(found.iter().any(|name| name.starts_with("DESKHAND_CONFIG")), "{found:?}");
}
