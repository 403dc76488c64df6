//! The first page says which sessions wait for their user, as it comes, also for a session that was started in a terminal.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
};

use serde_json::{Value, json};

use crate::{
    browser::{Browser, Kind},
    page::{BOUND, Ending, Service},
    people::GREETING,
    support::World,
};

/// The badge of the newest session in the table.
const BADGE: &str = "document.querySelector('tr[data-session] .state .badge')?.textContent";

/// A session in a terminal, whose user answers there.
struct Terminal {
    child: Child,
    /// Its lines, which are read as they come: it does not wait for who reads them.
    lines: Receiver<Value>,
}

impl Terminal {
    fn start(world: &World, arguments: &[&str]) -> Self {
        let mut command = world.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let read = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in read.lines().map_while(Result::ok) {
                sender.send(serde_json::from_str(&line).unwrap()).ok();
            }
        });
        Self { child, lines }
    }

    /// Answers the next prompt of a kind.
    fn answers(&mut self, kind: &str, mut answer: Value) {
        let asked = loop {
            let line = self.lines.recv_timeout(BOUND).unwrap();
            if line["kind"] == kind {
                break line;
            }
        };
        answer["id"] = asked["id"].clone();
        writeln!(self.child.stdin.as_mut().unwrap(), "{answer}").unwrap();
    }
}

#[test]
fn the_first_page_shows_who_waits_for_an_approval_while_it_waits() {
    if !Kind::Chromium.has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    let _ending = Ending(&world);
    world.file("turns.toml", GREETING);
    let service = Service::start(&world, &[]);
    let browser = Browser::start(Kind::Chromium, "asking");
    browser.open(&format!("http://{}/?token={}", service.address, service.token));
    assert_eq!(browser.reads("document.getElementById('waiting').hidden"), true);
    // As in a terminal: its lines come and go through this process, and no service has started it.
    let run = ["run", "write the greeting", "--model", "script:turns.toml", "--desktop", "virtual", "--json"];
    let mut terminal = Terminal::start(&world, &run);
    browser.until("!document.getElementById('waiting').hidden");
    browser.until("document.title === '(1) Deskhand'");
    let asked = browser.reads("document.getElementById('asking-list').textContent");
    let asked = asked.as_str().unwrap();
    assert!(
        asked.contains("write the greeting") && asked.contains("has a question: Which greeting?"),
        "{asked}"
    );
    terminal.answers("questions", json!({"do": "answer", "answers": ["Guten Tag", "Ada"]}));
    browser.until(
        "document.getElementById('asking-list').textContent.includes('waits for your approval: type_text')",
    );
    browser.picture("asking-live");
    // The same without a script: who opens the page now.
    browser.open(&format!("http://{}/", service.address));
    assert_eq!(browser.reads("document.title"), "(1) Deskhand");
    assert_eq!(browser.reads(BADGE), "waits for your approval");
    browser.picture("asking");
    let row = service.get("/api/sessions?state=running").json()["rows"][0].clone();
    assert_eq!(row["facts"]["asks"]["kind"], "approval");
    terminal.answers("approval", json!({"do": "decide", "approve": "once"}));
    // The script has nothing to say after that, so the session ends.
    drop(terminal.child.stdin.take());
    terminal.child.wait().unwrap();
    browser.until("document.getElementById('waiting').hidden && document.title === 'Deskhand'");
    assert_ne!(browser.until(BADGE), "waits for your approval");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
}
