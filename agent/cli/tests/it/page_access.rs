//! Who cannot see, hold a mouse or read small print can use the page: axe-core finds nothing on any page, in any state, in light and dark
//! and on a narrow screen.

use std::{cell::RefCell, fs, path::Path};

use serde_json::{Value, json};

use crate::{
    browser::{Browser, Kind},
    page::{Ending, Service},
    people::GREETING,
    support::World,
};

/// What `cargo xtask setup` installs.
const AXE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/wheels/axe/node_modules/axe-core/axe.min.js");
/// The addresses of pages without a session.
const PAGES: &[(&str, &str)] = &[
    ("home-empty", "/"),
    ("nothing-found", "/?q=nothing"),
    ("no-such-session", "/sessions/0"),
    ("no-such-page", "/no-such-page"),
    ("wrong-filter", "/?outcome=wrong"),
    ("workflows-empty", "/workflows"),
    ("batches-empty", "/batches"),
    ("schedules-empty", "/schedules"),
];
/// Light and dark, wide and narrow.
const LOOKS: &[(&str, u32)] = &[("light", 1360), ("dark", 360), ("dark", 1360), ("light", 360)];

/// A browser with the engine.
struct Checked {
    browser: Browser,
    axe: String,
    found: RefCell<Vec<String>>,
}

impl Checked {
    /// Looks at the page as it is, in each look.
    fn looks_at(&self, what: &str) {
        for (scheme, width) in LOOKS {
            self.browser.prefers(scheme, "reduce");
            self.browser.resize(*width, 850);
            self.browser.until("document.getAnimations().every((one) => one.playState === 'finished')");
            self.browser.picture(&format!("{what}-{scheme}-{width}"));
            if self.browser.reads("typeof axe") == "undefined" {
                self.browser.runs(&self.axe);
            }
            let found = self.browser.runs(
                "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => JSON.stringify(violations.map((one) => \
                 [one.id, one.help, one.nodes.map((node) => [node.target.join(' '), node.failureSummary])])))",
            );
            let found: Value = serde_json::from_str(found.as_str().unwrap()).unwrap();
            let finds = |found: Value| {
                self.found.borrow_mut().push(format!("{what}, {scheme}, {width} pixels wide: {found:#}"));
            };
            if found != json!([]) {
                finds(found);
            }
            let wider = "[document.documentElement, ...document.querySelectorAll('.steer, #story')] \
                .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.outerHTML.slice(0, 80))";
            let wider = self.browser.reads(wider);
            if wider != json!([]) {
                let out = "[...document.querySelectorAll('body *')].filter((one) => !one.closest('.scroll') && \
                    one.getBoundingClientRect().right > document.documentElement.clientWidth).map((one) => one.outerHTML.slice(0, 80))";
                finds(json!(["wider than the page", wider, self.browser.reads(out)]));
            }
        }
    }
}

#[test]
fn no_page_keeps_anybody_out() {
    if !Kind::Chromium.has_programs(&["mousepad"]) {
        return;
    }
    assert!(Path::new(AXE).is_file(), "{AXE} is missing: run `cargo xtask setup`");
    let world = World::new();
    let _ending = Ending(&world);
    let script = world.file("turns.toml", GREETING);
    let service = Service::start(&world, &[]);
    let page = Checked {
        browser: Browser::start(Kind::Chromium, "access"),
        axe: fs::read_to_string(AXE).unwrap(),
        found: RefCell::default(),
    };
    let address = |path: &str| format!("http://{}{path}", service.address);
    page.browser.open(&address("/"));
    page.looks_at("locked-out");
    page.browser.open(&address(&format!("/?token={}", service.token)));
    for (name, path) in PAGES {
        page.browser.open(&address(path));
        page.looks_at(name);
    }
    let model = format!("script:{}", script.display());
    let wanted = json!({"request": "write the greeting", "model": model, "size": "1024x700"});
    let started = service.post("/api/sessions", &wanted);
    assert_eq!(started.status, 201, "{}", started.body);
    let id = started.json()["id"].as_str().unwrap().to_owned();
    steps_of_a_session(&page, &service, &id);
    let fork = service.post(&format!("/api/sessions/{id}/fork"), &json!({"at": 5}));
    assert_eq!(fork.status, 201, "{}", fork.body);
    let fork = fork.json()["id"].as_str().unwrap().to_owned();
    page.browser.open(&address(&format!("/sessions/{fork}")));
    page.browser.until("document.querySelector('form.ask')");
    for (name, path) in [
        ("home", "/".to_owned()),
        ("time-line", format!("/sessions/{id}/moments")),
        ("report", format!("/sessions/{id}/report")),
        ("comparison", format!("/compare?left={id}&right={fork}")),
    ] {
        page.browser.open(&address(&path));
        page.looks_at(name);
    }
    pages_of_work(&page, &service, &id, &model);
    let found = page.found.into_inner();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Workflows, schedules and batches, with one of each.
fn pages_of_work(page: &Checked, service: &Service, id: &str, model: &str) {
    let made = |path: &str, wanted: Value| {
        let made = service.post(path, &wanted);
        assert_eq!(made.status, 201, "{path}: {}", made.body);
        made.json()
    };
    made(&format!("/api/sessions/{id}/learn"), json!({"name": "greet"}));
    made(
        "/api/schedules",
        json!({"name": "morning", "when": "Mon..Fri 07:00", "request": "write the greeting"}),
    );
    let tasks = json!([{"request": "write the greeting"}, {"request": "write another one"}]);
    let batch = made("/api/batches", json!({"tasks": tasks, "model": model}));
    let batch = batch["id"].as_str().unwrap();
    for (name, path) in [
        ("workflows", "/workflows".to_owned()),
        ("schedules", "/schedules?workflow=greet".to_owned()),
        ("batches", "/batches".to_owned()),
        ("batch", format!("/batches/{batch}")),
    ] {
        page.browser.open(&format!("http://{}{path}", service.address));
        page.looks_at(name);
    }
    assert_eq!(service.post(&format!("/api/batches/{batch}/stop"), &json!({})).status, 202);
}

/// A session from its first question to its end.
fn steps_of_a_session(page: &Checked, service: &Service, id: &str) {
    let browser = &page.browser;
    let says = |line: Value| assert_eq!(service.post(&format!("/api/sessions/{id}/do"), &line).status, 202);
    browser.open(&format!("http://{}/sessions/{id}", service.address));
    browser.until("document.querySelector('[data-kind=questions] button:not(:disabled)')");
    browser.until("document.querySelector('#screen').dataset.updates > 0");
    page.looks_at("question");
    says(json!({"do": "take_over"}));
    browser.until("!document.querySelector('[data-do=hand_back]').hidden");
    page.looks_at("taken-over");
    says(json!({"do": "hand_back"}));
    let asked = browser.until("document.querySelector('[data-kind=questions]')?.dataset.id");
    let asked: Value = serde_json::from_str(asked.as_str().unwrap()).unwrap();
    says(json!({"do": "answer", "id": asked, "answers": ["Guten Tag", "Ada"]}));
    browser.until("document.querySelector('[data-kind=approval] button:not(:disabled)')");
    page.looks_at("approval");
    browser.runs("document.querySelector('.site button').click()");
    browser.until("document.querySelector('dialog').open");
    page.looks_at("keys");
    browser.runs("document.querySelector('dialog').close()");
    browser.open(&format!("http://{}/", service.address));
    browser.until("document.querySelector('.wall canvas').dataset.updates > 0");
    page.looks_at("home-running");
    browser.open(&format!("http://{}/sessions/{id}", service.address));
    let mut last = json!(null);
    for approve in ["no", "once", "once"] {
        let expression = format!(
            "(() => {{ const key = document.querySelector('[data-kind=approval]')?.dataset.id; return key !== {last} && key; }})()"
        );
        let asked = browser.until(&expression);
        last = asked.clone();
        let asked: Value = serde_json::from_str(asked.as_str().unwrap()).unwrap();
        let mut line = json!({"do": "decide", "id": asked, "approve": approve});
        if approve == "no" {
            line["instruction"] = json!("write it in capitals");
        }
        says(line);
    }
    browser.until("document.querySelector('#resume:not([hidden])')");
    page.looks_at("finished");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
