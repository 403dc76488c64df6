//! A page with everything that is hard in pages, worked through by the tools of agents. Judged by the page's own log.
#![expect(clippy::needless_pass_by_value, reason = "values made by `json!` read better where they are made")]

use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use deskhand_testkit::pages::PageServer;
use serde_json::{Value, json};

use crate::{
    mcp::Client,
    support::{World, has_desktop, has_programs},
};

/// How long a download may take.
const BOUND: Duration = Duration::from_secs(60);

const WORK: &str = include_str!("pages/work.html");
const FRAME: &str = "<p>Text of the frame</p><button onclick=\"this.textContent = 'Pressed in the frame'; \
                     fetch('/log', {method: 'POST', body: 'frame ' + event.isTrusted})\">Press in the frame</button>";

/// Serves the page; its frame is of another origin.
fn serve() -> PageServer {
    PageServer::start(|path, port| match path {
        "/" => ("text/html", WORK.replace("OTHER", &format!("http://localhost:{port}"))),
        "/frame" => ("text/html", FRAME.to_owned()),
        "/second" => ("text/html", "<title>Second</title><h1>The second page</h1>".to_owned()),
        "/report.csv" => ("text/csv", "a,b\n1,2\n".to_owned()),
        _ => ("text/plain", String::new()),
    })
    .unwrap()
}

fn one(tool: &str, arguments: Value) -> Value {
    json!([{"tool": tool, "arguments": arguments}])
}

fn click(id: Value) -> Value {
    json!({"tool": "click_element", "arguments": {"id": id}})
}

/// A client with the page in a browser.
struct Page {
    client: Client,
    server: PageServer,
    letter: PathBuf,
    /// The name of the button that opens the dialog for a file.
    choose: &'static str,
}

impl Page {
    fn open(world: &World, browser: &str) -> Self {
        let server = serve();
        let letter = world.path().join("letter.txt");
        fs::write(&letter, "Dear Ada").unwrap();
        let mut client = Client::start(world, json!({"elicitation": {}}));
        client.says = "accept";
        let task = format!(
            "On {} press the buttons in frame and shadow, take row 321, upload {}, download the report, \
             clear the list, pick 14 December.",
            server.url("/"),
            letter.display()
        );
        client.does("start_desktop", json!({"task": task}));
        client.does("open", json!({"application": browser, "files": [server.url("/")]}));
        let choose = match browser {
            "chromium" => "Letter: No file chosen",
            _ => "Letter Browse… No file selected.",
        };
        let mut page = Self { client, server, letter, choose };
        page.act(one("wait_for", json!({"title": "Work", "seconds": 60})));
        page
    }

    fn act(&mut self, actions: Value) -> String {
        let done = self.client.does("act", json!({"actions": actions}));
        println!("{done}\n");
        done
    }

    /// Waits until the page has told exactly this.
    fn told(&self, what: &str) {
        self.server.told(|line| line == what);
    }

    /// What accessibility does not tell.
    fn is_read(&mut self) {
        let page = self.act(one("read_page", json!({})));
        for text in ["Text of the frame", "Shadow text:", "Row 0 of the list", "[and a second page]"] {
            assert!(page.contains(text), "{text}: {page}");
        }
        let forms = self.act(one("page_forms", json!({})));
        assert!(forms.contains("Ada") && forms.contains("•••") && !forms.contains("hunter2"), "{forms}");
    }

    /// Real clicks in a frame and in a shadow root, and in a row of a list that only has what it shows.
    fn is_pressed(&mut self) {
        let pressed = self.act(json!([
            click(json!({"name": "Press in the frame"})),
            click(json!({"name": "Press in the shadow"})),
        ]));
        self.told("frame true");
        self.told("shadow true");
        assert!(!pressed.contains("refused"), "{pressed}");
        self.act(json!([
            {"tool": "scroll", "arguments": {"id": {"role": "list", "name": "Rows"}, "until": "Row 321 of"}},
            click(json!({"role": "button", "name": "Take", "row": "Row 321 of the list"})),
        ]));
        self.told("took 321");
    }

    /// A file for the page, and one from it.
    fn is_given_a_file_and_gives_one(&mut self) {
        let (letter, choose) = (self.letter.clone(), self.choose);
        let chosen = self.act(json!([
            click(json!({"role": "button", "name": choose})),
            {"tool": "choose_file", "arguments": {"path": letter}},
        ]));
        self.told("file letter.txt: Dear Ada");
        assert!(chosen.contains("2. choose_file: seen"), "{chosen}");
        assert!(self.act(one("page_forms", json!({}))).contains("letter.txt"));
        // A download shows in no element: its list tells.
        let link = json!([click(json!({"role": "link", "name": "Report"}))]);
        self.client.call("act", json!({"actions": link}));
        let until = Instant::now() + BOUND;
        let downloads = loop {
            let downloads = self.act(one("downloads", json!({})));
            if downloads.contains("completed") {
                break downloads;
            }
            assert!(Instant::now() < until, "{downloads}");
        };
        let is_file = |part: &&str| part.starts_with('/') && part.ends_with("report.csv");
        let path = downloads.split('"').find(is_file).unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "a,b\n1,2\n");
    }

    /// A dialog of the page's script, and a date picker that is no date field.
    fn is_answered(&mut self) {
        let asks = self.act(json!([click(json!({"role": "button", "name": "Clear the list"}))]));
        assert!(asks.contains("1. click_element: seen") && asks.contains("Clear all 5,000 rows?"), "{asks}");
        let dialog = self.act(one("page_dialog", json!({})));
        assert!(dialog.contains("Clear all 5,000 rows?"), "{dialog}");
        let other = json!({"actions": one("answer_dialog", json!({"accept": true, "message": "Go on?"}))});
        assert!(
            self.client.call("act", other).0.contains("Clear all 5,000 rows?"),
            "another one than was judged"
        );
        let message = json!({"accept": true, "message": "Clear all 5,000 rows?"});
        let answered = self.act(one("answer_dialog", message));
        self.told("confirmed true");
        assert!(answered.contains("1. answer_dialog: seen"), "{answered}");
        self.act(json!([
            click(json!({"role": "button", "name": "Pick a day"})),
            click(json!({"role": "button", "name": "Next month"})),
            click(json!({"role": "button", "name": "14", "in": "Calendar"})),
        ]));
        self.told("day 2026-12-14");
    }

    /// Another address, one that answers nothing, and one that is none.
    fn is_left(&mut self) {
        let second = self.server.url("/second");
        let opened = self.act(one("open_url", json!({"url": second})));
        assert!(opened.contains("1. open_url: seen"), "{opened}");
        let mut tries =
            |url: &str| self.client.call("act", json!({"actions": one("open_url", json!({"url": url}))})).0;
        let failed = tries("http://127.0.0.1:1/");
        assert!(failed.contains("1. open_url: not seen"), "{failed}");
        let refused = tries("javascript:alert(1)");
        assert!(refused.contains("refused"), "{refused}");
    }
}

fn works_through(browser: &str) {
    if !has_desktop() || !has_programs(&[browser]) {
        return;
    }
    let world = World::new();
    let mut page = Page::open(&world, browser);
    page.is_read();
    page.is_pressed();
    page.is_given_a_file_and_gives_one();
    page.is_answered();
    page.is_left();
    println!("asked: {:#?}", page.client.asked);
    page.client.does("end_desktop", json!({}));
    assert_eq!(page.client.close(), Some(0));
}

#[test]
fn a_hard_page_is_worked_through_in_chromium() {
    works_through("chromium");
}

#[test]
fn a_hard_page_is_worked_through_in_firefox() {
    works_through("firefox-esr");
}
