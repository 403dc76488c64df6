//! Markup in every text that comes from outside: a session is made of it, and no page, no part of its events and no report has an element
//! or an attribute that comes from it, by the word of a parser that follows the rules of browsers.
//!
//! Skipped if the programs of a virtual desktop or the editor are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
};

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};
use serde_json::{Value, json};

use crate::{
    page::{Ending, Service},
    support::{World, has_programs},
};

const WINDOW: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/pages/markup.py");

/// A text that would be markup. `name` is where it is put.
fn marker(name: &str) -> String {
    format!("zq{name}z\"'><img src=x onerror=boo><script>boo</script><a href=javascript:boo>")
}

/// A name of a file that would be markup.
fn file_marker(name: &str) -> String {
    format!("zq{name}z\"'><img src=x onerror=boo><script>boo")
}

/// What of a page comes from a marker, and the markers that it shows as text.
#[derive(Debug, Default)]
struct Found {
    foreign: Vec<String>,
    shown: BTreeSet<String>,
}

impl Found {
    fn read(&mut self, place: &str, html: &str) {
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        let mut in_script = false;
        for token in Tokenizer::new_with_emitter(html, emitter) {
            let Ok(token) = token;
            match token {
                Token::StartTag(tag) => {
                    in_script = &**tag.name == b"script";
                    self.tag(place, &tag);
                }
                Token::EndTag(_) => in_script = false,
                Token::String(text) => {
                    let text = String::from_utf8_lossy(&text).into_owned();
                    if in_script && text.contains("boo") {
                        self.foreign.push(format!("{place}: script {text}"));
                    }
                    self.note(&text);
                }
                Token::Comment(text) => {
                    if String::from_utf8_lossy(&text).contains("boo") {
                        self.foreign.push(format!("{place}: a comment"));
                    }
                }
                Token::Doctype(_) | Token::Error(_) => {}
            }
        }
    }

    fn tag(&mut self, place: &str, tag: &StartTag<()>) {
        let name = String::from_utf8_lossy(&tag.name).into_owned();
        let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "-:_".contains(c));
        let mut foreign = !is_plain(&name) || name.contains("zq");
        for (attribute, value) in &tag.attributes {
            let attribute = String::from_utf8_lossy(attribute).into_owned();
            let value = String::from_utf8_lossy(value).into_owned();
            let is_address = ["src", "href", "action", "formaction"].contains(&&*attribute);
            let leads_on = ["/", "#", "data:", "?"].iter().any(|start| value.starts_with(start));
            foreign |= attribute.starts_with("on") || !is_plain(&attribute) || (is_address && !leads_on);
            self.note(&value);
        }
        if foreign {
            self.foreign.push(format!("{place}: <{name} {:?}>", tag.attributes));
        }
    }

    /// Notes the markers in a text.
    fn note(&mut self, text: &str) {
        let starts = text.match_indices("zq");
        let names = starts.filter_map(|(at, _)| text.get(at + 2..)?.split_once('z').map(|(name, _)| name));
        self.shown
            .extend(names.filter(|name| name.chars().all(|c| c.is_ascii_lowercase())).map(str::to_owned));
    }

    /// All texts of a message of the events: each may become an element.
    fn read_event(&mut self, place: &str, event: &Value) {
        let parts = event["parts"].as_array().into_iter().flatten().map(|part| &part["html"]);
        for html in parts.chain([&event["now"], &event["prompt"]["html"]]) {
            self.read(place, html.as_str().unwrap_or_default());
        }
    }
}

#[test]
fn the_judge_sees_what_is_not_escaped() {
    let raw = marker("raw");
    for html in [
        format!("<p>{raw}</p>"),
        format!("<p title=\"{raw}\">x</p>"),
        format!("<p title='{raw}'>x</p>"),
        format!("<title>{raw}</title></title><script>boo</script>"),
        format!("<a href=\"{}\">x</a>", "javascript:boo"),
        format!("<!-- --{raw}"),
    ] {
        let mut found = Found::default();
        found.read("", &html);
        assert!(!found.foreign.is_empty(), "{html}");
    }
    let mut found = Found::default();
    found.read("", "<p title=\"zqonez&quot;&gt;\">zqtwoz&lt;img src=x onerror=boo&gt;</p>");
    assert!(found.foreign.is_empty(), "{found:?}");
    assert_eq!(found.shown, ["one".to_owned(), "two".to_owned()].into());
}

/// A turn of a script. Quotes in the names of placeholders are escaped as a script wants it.
fn turn(agent: &str, reply: &Value, placeholders: &[(&str, &str, &str)]) -> String {
    let mut reply = reply.to_string();
    for (key, kind, name) in placeholders {
        let name = name.replace('"', "\\\"");
        reply = reply.replace(key, &format!("{{{{{kind} \"{name}\"}}}}"));
    }
    format!("[[turn]]\nagent = \"{agent}\"\nreply = '''\n{reply}\n'''\n\n")
}

fn script(world: &World) -> String {
    let (title, label) = (marker("title"), marker("element"));
    let entry = [("@entry@", "element \"text\"", label.as_str())];
    let files = json!(["-B", WINDOW, title, label, marker("label")]);
    let host = |reply: Value| turn("HostAgent", &reply, &[("@window@", "window", &title)]);
    let app = |reply: Value| turn("AppAgent", &reply, &entry);
    let typed =
        |name: &str| json!([{"function": "type_text", "arguments": {"id": "@entry@", "text": marker(name)}}]);
    let turns = [
        host(
            json!({"observation": marker("observation"), "thought": marker("thought"), "status": "CONTINUE",
            "function": "launch_application", "arguments": {"name": "/usr/bin/python3", "files": files}}),
        ),
        host(
            json!({"thought": "go on", "status": "ASSIGN", "current_subtask": marker("subtask"), "message": [marker("message")],
            "plan": [marker("plan")], "control_label": "@window@"}),
        ),
        app(json!({"thought": marker("appthought"), "status": "PENDING", "questions": [
            {"question": marker("question"), "choices": [marker("choice"), "b"], "default": marker("choice")},
            {"question": marker("free"), "default": marker("default")}]})),
        app(json!({"thought": marker("confirmed"), "status": "CONFIRM", "action": typed("typed")})),
        app(json!({"thought": "again", "status": "CONFIRM", "action": typed("again")})),
        app(json!({"thought": "wrong", "status": "CONTINUE", "action": [
            {"function": marker("tool"), "arguments": {"id": marker("id"), "name": marker("name")}}]})),
        app(json!({"thought": "no such element", "status": "CONTINUE", "action": [
            {"function": "click_element", "arguments": {"id": "@entry@", "name": marker("wrongname")}}]})),
        app(
            json!({"thought": "give up", "status": "FAIL", "result": marker("failed"), "comment": marker("comment")}),
        ),
        host(
            json!({"thought": "well", "status": "FINISH", "result": marker("result"), "comment": marker("finished")}),
        ),
    ];
    let file = world.file(&format!("{}.toml", file_marker("model")), &turns.concat());
    format!("script:{}", file.display())
}

/// Plays the session, and reads whatever the page is sent meanwhile.
fn play(service: &Service, id: &str) -> Found {
    let found = RefCell::new(Found::default());
    let (said, rejected) = (Cell::new(false), Cell::new(false));
    let answered = RefCell::new(BTreeSet::new());
    let path = format!("/api/sessions/{id}/do");
    service.waits_for(id, |_, event| {
        found.borrow_mut().read_event("an event", event);
        let prompt = &event["state"]["prompt"];
        if !said.replace(true) {
            service.post(&path, &json!({"do": "say", "text": marker("said")}));
            service.post(&path, &json!({"do": marker("wish")}));
        }
        if prompt["id"].is_null() || !answered.borrow_mut().insert(prompt["id"].to_string()) {
            return event["running"] == false;
        }
        found.borrow_mut().read("the page", &service.get(&format!("/sessions/{id}")).body);
        let line = if prompt["kind"] == "questions" {
            json!({"do": "answer", "id": prompt["id"], "answers": [marker("choice"), marker("answer")]})
        } else if prompt.to_string().contains("zqtypedz") && !rejected.replace(true) {
            json!({"do": "decide", "id": prompt["id"], "approve": "no", "instruction": marker("instruction")})
        } else {
            json!({"do": "decide", "id": prompt["id"], "approve": "once"})
        };
        assert_eq!(service.post(&path, &line).status, 202, "{line}");
        false
    });
    found.into_inner()
}

/// Where text stands that came from outside: `ID` is the session, `TEXT` a marker.
const PAGES: &str = "
    / /sessions/ID /sessions/ID/moments /sessions/ID/report /compare?left=ID&right=ID /?q=TEXT /?application=TEXT /?state=TEXT
    /?outcome=TEXT /?sort=TEXT /?model=TEXT /?cost_min=TEXT /sessions/TEXT /TEXT /assets/TEXT /compare?left=TEXT&right=TEXT
    /api/sessions/TEXT/moments/TEXT /api/sessions/ID/moments/TEXT /api/documents?name=TEXT";
/// The markers that must be seen somewhere, or the test shows nothing.
const SEEN: &str = "request model document title element observation thought subtask appthought question choice free default answer \
    confirmed typed instruction again tool failed result said query";

#[test]
fn what_others_wrote_is_text_everywhere() {
    if !has_programs(&["mousepad", "python3"]) {
        return;
    }
    let world = World::new();
    let _ending = Ending(&world);
    let document = world.file(&format!("{}.txt", file_marker("document")), &marker("content"));
    let service = Service::start(&world, &[]);
    let wanted = json!({"request": marker("request"), "model": script(&world), "open": [document]});
    let started = service.post("/api/sessions", &wanted);
    assert_eq!(started.status, 201, "{}", started.body);
    let id = started.json()["id"].as_str().unwrap().to_owned();
    let mut found = play(&service, &id);
    let query: String = marker("query").bytes().map(|byte| format!("%{byte:02x}")).collect();
    for page in PAGES.split_whitespace().map(|page| page.replace("ID", &id).replace("TEXT", &query)) {
        let answer = service.get(&page);
        let head = answer.head.to_lowercase();
        assert!(head.contains("x-content-type-options: nosniff"), "{page}");
        if head.contains("content-type: text/html") {
            found.read(&page, &answer.body);
        }
    }
    // As data it is whole; the scripts of the page put it in as text.
    let moments = service.get(&format!("/api/sessions/{id}/moments"));
    assert!(moments.head.contains("application/json"), "{}", moments.head);
    assert_eq!(found.foreign, Vec::<String>::new());
    let missing: Vec<&str> = SEEN.split_whitespace().filter(|name| !found.shown.contains(*name)).collect();
    assert!(missing.is_empty(), "nowhere to be seen: {missing:?}\n{}", world.run(&["show", &id]));
    service.kill();
    assert_eq!(world.orphans(), Vec::<String>::new());
}
