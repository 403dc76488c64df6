//! Who is told that work has ended: a web server of the test on loopback, and a desktop of another language on a bus of its own.
//!
//! Skipped if the programs of a virtual desktop are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
};

use serde_json::{Value, json};

use crate::{
    page::BOUND,
    support::{World, has_programs},
};

const DONE: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '{"observation": "nothing", "thought": "done", "status": "FINISH", "result": "<b>done</b> & dusted"}'
"#;

/// What a web server was sent: the path, and the body.
type Sent = (String, Value);

/// A web server that answers with these statuses, one after the other, and then with 204.
fn serve(statuses: &'static [u16]) -> (u16, Receiver<Sent>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, sent) = channel();
    thread::spawn(move || {
        let mut statuses = statuses.iter();
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut head = Vec::new();
            let mut line = String::new();
            while stream.read_line(&mut line).unwrap() > 2 {
                head.push(std::mem::take(&mut line).to_lowercase());
            }
            let length = head.iter().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            let mut body = vec![0; length.trim().parse().unwrap()];
            stream.read_exact(&mut body).unwrap();
            let path = head[0].split(' ').nth(1).unwrap().to_owned();
            let status = statuses.next().unwrap_or(&204);
            let answer = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
            if sender.send((path, serde_json::from_slice(&body).unwrap())).is_err() {
                return;
            }
        }
    });
    (port, sent)
}

fn configure(world: &World, more: &str) {
    let script = world.file("turns.toml", DONE);
    world.configure(&format!("[model]\nprovider = \"script\"\nscript = \"{}\"\n{more}", script.display()));
}

/// A session bus with a desktop that shows notifications.
struct Desktop {
    bus: Child,
    shows: Child,
    lines: BufReader<ChildStdout>,
    address: String,
}

impl Desktop {
    fn start(world: &World) -> Self {
        let mut bus = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--print-address=1"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(bus.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        let script = world.file("desktop.py", include_str!("notifications/desktop.py"));
        let mut shows = Command::new("/usr/bin/python3")
            .arg(script)
            .env("DBUS_SESSION_BUS_ADDRESS", address.trim())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(shows.stdout.take().unwrap());
        let mut desktop = Self { bus, shows, lines, address: address.trim().to_owned() };
        assert_eq!(desktop.line(), "ready");
        desktop
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        for child in [&mut self.shows, &mut self.bus] {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

#[test]
fn a_webhook_and_the_desktop_are_told_once_and_no_output_has_the_address() {
    if !has_programs(&["python3", "dbus-daemon"]) {
        return;
    }
    let world = World::new();
    let (port, sent) = serve(&[503]);
    let address = world.file("hook", &format!("http://127.0.0.1:{port}/canary-7f3a?key=canary-8e2b\n"));
    configure(
        &world,
        &format!("[notify]\nwebhook_from = {{ file = \"{}\" }}\ndesktop = true\n", address.display()),
    );
    let mut desktop = Desktop::start(&world);
    let run = |arguments: &[&str]| {
        let mut command = world.command(arguments);
        command.env("DBUS_SESSION_BUS_ADDRESS", &desktop.address).env("DESKHAND_LOG", "trace");
        world.shown(&command.output().unwrap())
    };
    let shown = run(&["run", "look at it", "--desktop", "virtual", "--json"]);
    assert!(shown.starts_with("exit 0\n") && !shown.contains("canary"), "{shown}");
    let (path, first) = sent.recv_timeout(BOUND).unwrap();
    let (_, second) = sent.recv_timeout(BOUND).unwrap();
    assert_eq!(path, "/canary-7f3a?key=canary-8e2b");
    assert_eq!(first, second, "the attempt that was refused is repeated, with the same id");
    assert!(sent.try_recv().is_err(), "what arrived is not sent again");
    let expected = json!({"format": 1, "kind": "session", "outcome": "finished", "request": "look at it"});
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&first[name], value, "{first}");
    }
    assert!(shown.contains(first["session"].as_str().unwrap()), "{first}");
    let seen: Value = serde_json::from_str(&desktop.line()).unwrap();
    assert_eq!((&seen["program"], &seen["summary"]), (&json!("Deskhand"), &json!("A request: finished")));
    assert_eq!(seen["body"], "look at it\n&lt;b&gt;done&lt;/b&gt; &amp; dusted", "what is no markup is none");

    // A batch tells of itself, and its sessions do not.
    world.file("tasks/one.txt", "the first");
    world.file("tasks/two.txt", "the second");
    let mut command =
        world.command(&["batch", "--trust", "tasks", "--desktop", "virtual", "--parallel", "2"]);
    let shown = world.shown(&command.env("DBUS_SESSION_BUS_ADDRESS", &desktop.address).output().unwrap());
    assert!(shown.starts_with("exit 0\n"), "{shown}");
    let (_, news) = sent.recv_timeout(BOUND).unwrap();
    assert_eq!((&news["kind"], &news["tasks"], &news["finished"]), (&json!("batch"), &json!(2), &json!(2)));
    assert!(sent.try_recv().is_err(), "once");
    let seen: Value = serde_json::from_str(&desktop.line()).unwrap();
    assert_eq!(seen["summary"], "2 of 2 tasks finished: finished");
}

#[test]
fn what_is_not_wanted_is_not_told_and_what_cannot_be_told_changes_nothing() {
    if !has_programs(&[]) {
        return;
    }
    let world = World::new();
    let (port, sent) = serve(&[404]);
    let hook = format!("[notify]\nwebhook = \"http://127.0.0.1:{port}/\"\n");
    configure(&world, &format!("{hook}on = [\"failed\", \"error\"]\n"));
    let run = || {
        let mut command = world.command(&["run", "look at it", "--desktop", "virtual"]);
        command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nothing");
        world.shown(&command.output().unwrap())
    };
    let shown = run();
    assert!(shown.starts_with("exit 0\n") && !shown.contains("not told"), "{shown}");
    assert!(sent.try_recv().is_err());
    configure(&world, &format!("{hook}desktop = true\n"));
    let shown = run();
    assert!(shown.starts_with("exit 0\n"), "{shown}");
    assert!(
        shown.contains("the webhook answered 404") && shown.contains("shows no notifications"),
        "{shown}"
    );
    assert_eq!(sent.recv_timeout(BOUND).unwrap().1["outcome"], "finished");
    assert!(sent.try_recv().is_err(), "what cannot help is not tried again");

    // A schedule that cannot begin its session says so.
    world.file(
        ".config/deskhand/config.toml",
        &format!("[model]\nprovider = \"script\"\nscript = \"/gone\"\n{hook}"),
    );
    let mut command = world.command(&["schedule", "add", "night", "look at it", "--when", "daily"]);
    assert!(command.env_remove("DBUS_SESSION_BUS_ADDRESS").output().unwrap().status.success());
    let shown = world.run(&["schedule", "run", "night"]);
    assert!(shown.contains("/gone"), "{shown}");
    let (_, news) = sent.recv_timeout(BOUND).unwrap();
    assert_eq!((&news["schedule"], &news["outcome"]), (&json!("night"), &json!("error")), "{news}");
    assert!(news["reason"].as_str().unwrap().contains("/gone"), "{news}");
    assert!(world.run(&["schedule", "list"]).contains("/gone"));
}
