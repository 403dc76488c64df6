//! The first page says which sessions wait for their user, as it comes, also for a session that was started in a terminal.

use std::process::Stdio;

use serde_json::json;

use crate::{
    browser::{Browser, Kind},
    page::{Ending, Service},
    people::GREETING,
    support::World,
};

/// The badge of the newest session in the table.
const BADGE: &str = "document.querySelector('tr[data-session] .state .badge')?.textContent";

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
    let mut child = world.command(&run).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    browser.until("!document.getElementById('waiting').hidden");
    browser.until("document.title === '(1) Deskhand'");
    let asked = browser.reads("document.getElementById('asking-list').textContent");
    let asked = asked.as_str().unwrap();
    assert!(
        asked.contains("write the greeting") && asked.contains("has a question: Which greeting?"),
        "{asked}"
    );
    let id = browser.reads("document.querySelector('#asking-list a').getAttribute('href')");
    let id = id.as_str().unwrap().strip_prefix("/sessions/").unwrap().to_owned();
    let path = format!("/api/sessions/{id}/do");
    let prompt = service.asked(&id, "questions");
    let answer = json!({"do": "answer", "id": prompt["id"], "answers": ["Guten Tag", "Ada"]});
    assert_eq!(service.post(&path, &answer).status, 202);
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
    let prompt = service.asked(&id, "approval");
    let no = json!({"do": "decide", "id": prompt["id"], "approve": "no", "instruction": "stop it"});
    assert_eq!(service.post(&path, &no).status, 202);
    child.wait().unwrap();
    browser.until("document.getElementById('waiting').hidden && document.title === 'Deskhand'");
    assert_ne!(browser.until(BADGE), "waits for your approval");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
}
