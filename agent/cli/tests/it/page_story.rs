//! What a person does on the page, in real browsers: start the demo, watch it, answer, refuse and allow, take over and type, look back, fork
//! and compare. Judged by the DOM, by files and by the journal. Each stage leaves a picture in `target/tmp/page`.

use std::{fs, io::Read as _, path::Path};

use crate::{
    browser::{Browser, Kind},
    page::{Ending, Service},
    people::GREETING,
    support::World,
};

const DEMO: &str = include_str!("../../../../examples/sales/demo.script.toml");
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sales/sales.odt");
/// What the agent of the document asks before it does its part of the demo.
const ASKS: &str = include_str!("page/asks.script.toml");
/// The HostAgent looks for itself, since a person has been at the desktop.
const HOST: &str = r#"
[[turn]]
title = "go on with the spreadsheet"
agent = "HostAgent"
expect = 'FINISHED'
reply = '''
{"thought": "the table is read", "status": "ASSIGN", "function": "launch_application", "arguments": {"name": "LibreOffice Calc"},
 "current_subtask": "Enter the table from the blackboard at A1, make a bar chart of it, and save the spreadsheet as {{var "output"}}"}
'''
"#;
const END: &str = r#"
[[turn]]
title = "done"
agent = "HostAgent"
expect = 'FINISHED'
reply = '{"thought": "all is done", "status": "FINISH", "result": "the chart is made"}'

[[turn]]
title = "the fork"
agent = "HostAgent"
expect = 'now name the chart'
reply = '{"thought": "I know no name", "status": "PENDING", "questions": ["What is its name?"]}'
"#;
const WORDS: &str = "Grüße von Hand: äöüß ÄÖÜ, 5 €.";
const REQUEST: &str = "Extract the sales table from the Writer document and create a bar chart of it in Calc, saved as sales.ods";

/// The demo, in which the first agent asks before it begins.
fn demo(world: &World, result: &Path) -> String {
    let before = |title: &str| DEMO.find(&format!("[[turn]]\ntitle = \"{title}\"")).unwrap();
    let (read, enter) = (before("read the table"), before("enter the table and open the chart wizard"));
    let script = [&DEMO[..read], ASKS, "\n", &DEMO[read..enter], HOST, "\n", &DEMO[enter..], END].concat();
    let script = script.replace("{{var \"output\"}}", result.to_str().unwrap());
    format!("script:{}", world.file("demo.script.toml", &script).display())
}

/// Makes a picture for the documents, if `DESKHAND_PAGE_PICTURES` names their folder.
fn is_pictured(browser: &Browser, name: &str) {
    if let Some(folder) = std::env::var_os("DESKHAND_PAGE_PICTURES") {
        browser.resize(1200, 720);
        let taken = browser.picture(name);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
        fs::copy(taken, folder.join(format!("page-{name}.png"))).unwrap();
        browser.resize(1360, 850);
    }
}

/// A part of a document of LibreOffice.
fn part_of(document: &Path, name: &str) -> String {
    let mut archive = zip::ZipArchive::new(fs::File::open(document).unwrap()).unwrap();
    let mut text = String::new();
    archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
    text
}

/// The document that was dropped into the page, as it is now.
fn kept(world: &World) -> std::path::PathBuf {
    let documents = world.path().join(".local/state/deskhand/documents");
    let folder = fs::read_dir(documents).unwrap().next().unwrap().unwrap().path();
    folder.join("sales.odt")
}

fn starts(browser: &Browser, service: &Service, model: &str, size: &str, request: &str) -> String {
    browser.open(&format!("http://{}/?token={}", service.address, service.token));
    browser.click("details > summary");
    browser.fills("[name=model]", model);
    browser.fills("[name=size]", size);
    browser.fills("#request", request);
    browser.picture("start");
    browser.types("{Control+Enter}");
    browser.until("location.pathname.startsWith('/sessions/') && document.querySelector('#now')");
    browser.reads("document.querySelector('main').dataset.session").as_str().unwrap().to_owned()
}

/// Waits until the picture of the desktop has come, and is a picture.
fn is_shown(browser: &Browser) {
    browser.until("document.querySelector('#screen').dataset.updates > 0");
    let colours = "(() => { const { width, height } = document.querySelector('#screen'); \
        const { data } = document.querySelector('#screen').getContext('2d').getImageData(0, 0, width, height); \
        return new Set(new Uint32Array(data.buffer)).size; })()";
    assert!(browser.reads(colours).as_u64().unwrap() > 20, "the desktop is blank");
}

/// Takes over, and clicks into the desktop.
fn takes_over(browser: &Browser, across: f64, down: f64) {
    browser.click("[data-do=take_over]");
    browser.until("document.querySelector('#frame.yours')");
    browser.click_at("#screen", across, down);
}

/// Hands the desktop back, by keys alone.
fn hands_back(browser: &Browser) {
    browser.types("{Control+Alt+Shift}");
    assert_eq!(browser.reads("document.activeElement.dataset.do"), "hand_back", "the keyboard is the page's");
    browser.types("{Enter}");
    browser.until("document.querySelector('#frame:not(.yours)')");
}

/// How often the picture of the desktop has changed.
fn updates(browser: &Browser) -> u64 {
    browser.reads("Number(document.querySelector('#screen').dataset.updates)").as_u64().unwrap()
}

fn waits_for_update(browser: &Browser, after: u64) {
    browser.until(&format!("Number(document.querySelector('#screen').dataset.updates) > {after}"));
}

#[test]
fn the_demo_is_started_watched_steered_and_looked_back_at_in_chromium() {
    if !Kind::Chromium.has_programs(&["soffice", "python3"]) {
        return;
    }
    let world = World::new();
    let _ending = Ending(&world);
    let result = world.path().join("sales.ods");
    let service = Service::start(&world, &[]);
    let browser = Browser::start(Kind::Chromium, "story");
    browser.open(&format!("http://{}/?token={}", service.address, service.token));
    let model = demo(&world, &result);
    browser.open(&format!("http://{}/", service.address));
    browser.gives("#start [type=file]", Path::new(DOCUMENT));
    browser.until("document.querySelector('#start .kept button')");
    browser.click("details > summary");
    browser.fills("[name=model]", &model);
    browser.fills("[name=size]", "1280x800");
    browser.fills("#request", REQUEST);
    browser.picture("start");
    browser.click("#start button[type=submit]");
    browser.until("location.pathname.startsWith('/sessions/') && document.querySelector('#now')");
    let id = browser.reads("document.querySelector('main').dataset.session").as_str().unwrap().to_owned();

    browser.until("document.querySelector('[data-kind=questions] button:not(:disabled)')");
    is_shown(&browser);
    browser.until("document.querySelector('.meant image')");
    browser.picture("question");
    types_into_writer(&browser);
    is_asked(&browser);
    browser.until("document.querySelector('#story .acts .badge.good')");
    browser.until("!document.querySelector('#mark').hidden");
    browser.picture("works");
    browser.until("document.querySelector('#resume:not([hidden])')");
    browser.until("document.querySelector('#story').innerText.includes('finished')");
    browser.picture("finished");

    assert!(part_of(&kept(&world), "content.xml").contains(WORDS), "what was typed by hand is saved");
    assert!(part_of(&result, "content.xml").contains("chart"), "the demo has done its part");
    let shown = world.run(&["show", &id]);
    assert!(shown.contains("the user handed back") && shown.contains("keep what I wrote"), "{shown}");
    looks_back(&browser, &service, &id);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

fn types_into_writer(browser: &Browser) {
    takes_over(browser, 0.4, 0.85);
    let before = updates(browser);
    browser.types("{Control+End}{Enter}");
    waits_for_update(browser, before);
    let before = updates(browser);
    browser.types(WORDS);
    waits_for_update(browser, before);
    browser.picture("taken-over");
    hands_back(browser);
}

/// Waits for an approval other than the last one, that can be given; returns its id.
fn approval(browser: &Browser, last: &str) -> String {
    let can = "document.querySelector('[data-kind=approval]:has(button:not(:disabled))')?.dataset.id";
    let asked = browser.until(&format!("{can} !== '{last}' && {can}"));
    asked.as_str().unwrap().to_owned()
}

/// Answers a question, refuses what is meant first, and allows what comes then by a key.
fn is_asked(browser: &Browser) {
    browser.click("[data-kind=questions] input[value='Sales by region']");
    browser.click("[data-kind=questions] button.primary");
    let asked = approval(browser, "");
    browser.fills("[name=instruction]", "keep what I wrote, and save it");
    browser.picture("refused");
    browser.click("button[value=no]");
    approval(browser, &asked);
    browser.until("document.querySelector('.meant image')");
    browser.picture("approval");
    is_pictured(browser, "approval");
    browser.prefers("dark", "reduce");
    browser.picture("approval-dark");
    is_pictured(browser, "dark");
    browser.prefers("light", "no-preference");
    browser.types("y");
    browser.until("!document.querySelector('form.ask')");
}

/// The time line, a fork before the end that goes on with another request, and both beside each other.
fn looks_back(browser: &Browser, service: &Service, id: &str) {
    browser.open(&format!("http://{}/sessions/{id}", service.address));
    browser.click("#resume a[href$='/moments']");
    browser.until("document.querySelector('#parts h2')");
    let first = browser.reads("document.querySelector('#parts h2').textContent");
    browser.click_at("#at", 0.8, 0.5);
    browser.until(&format!("document.querySelector('#parts h2').textContent !== {first}"));
    browser.until(
        "document.querySelector('#picture').complete && document.querySelector('#picture').naturalWidth > 0",
    );
    browser.picture("time-line");
    is_pictured(browser, "time-line");
    browser.click("#at");
    browser.types("{Home}{Right}{Right}");
    browser.until("document.querySelector('#which').textContent.startsWith('3 of')");
    browser.picture("time-line-by-keys");
    browser.types("{End}");
    let at = || browser.until("document.querySelector('#which').textContent").as_str().unwrap().to_owned();
    while !at().contains("FINISH: the chart is made") {
        assert!(!at().starts_with("1 of"), "the last decision is on the time line");
        browser.types("{Left}");
    }
    browser.fills("#fork [name=request]", "now name the chart");
    browser.click("#fork button");
    browser
        .until(&format!("location.pathname.startsWith('/sessions/') && !location.pathname.includes('{id}')"));
    browser.until("document.querySelector('form.ask button:not(:disabled)')");
    browser.until("document.querySelector('form.ask').textContent.includes('What is its name?')");
    browser.picture("fork");
    browser.click("[data-do=stop]");
    browser.until("document.querySelector('#resume:not([hidden])')");
    browser.open(&format!("http://{}/", service.address));
    browser.click("tbody tr:nth-child(1) input");
    browser.click("tbody tr:nth-child(2) input");
    browser.picture("table");
    is_pictured(browser, "home");
    browser.click("#compare");
    browser.until("document.querySelector('#two')");
    browser.picture("comparison");
    is_pictured(browser, "comparison");
    let text = browser.text();
    assert!(text.contains("they share the first"), "{text}");
}

#[test]
fn a_session_is_started_steered_and_typed_into_in_firefox() {
    if !Kind::Firefox.has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    let _ending = Ending(&world);
    // The text of the person stands before what the agent writes.
    let script = world.file("turns.toml", GREETING);
    let service = Service::start(&world, &[]);
    let browser = Browser::start(Kind::Firefox, "firefox");
    let model = format!("script:{}", script.display());
    let id = starts(&browser, &service, &model, "1024x700", "write the greeting");
    browser.until("document.querySelector('[data-kind=questions] button:not(:disabled)')");
    is_shown(&browser);
    takes_over(&browser, 0.5, 0.5);
    let before = updates(&browser);
    browser.types(WORDS);
    waits_for_update(&browser, before);
    browser.picture("taken-over");
    browser.click("[data-do=hand_back]");
    browser.until("document.querySelector('#frame:not(.yours)')");
    browser.click("[data-kind=questions] input[value='Guten Tag']");
    browser.fills("[data-kind=questions] fieldset:last-of-type input", "Ada");
    browser.picture("question");
    browser.click("[data-kind=questions] button.primary");
    let asked = approval(&browser, "");
    browser.fills("[name=instruction]", "write it in capitals");
    browser.click("button[value=no]");
    let asked = approval(&browser, &asked);
    browser.picture("approval");
    browser.click("button[value=once]");
    approval(&browser, &asked);
    browser.runs("document.activeElement.blur()");
    browser.types("y");
    browser.until("document.querySelector('#resume:not([hidden])')");
    browser.picture("finished");
    let shown = world.run(&["show", &id]);
    assert!(shown.contains("GUTEN TAG, ADA") && shown.contains("finished"), "{shown}");
    let journal = fs::read_to_string(world.store().root().join(&id).join("journal.jsonl")).unwrap();
    assert!(journal.contains(WORDS), "the agent has seen what was typed by hand: {shown}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
