//! Parts of windows as pictures: what the model of an agent, a client of `deskhand mcp` and a file get, judged by the colours of the cells
//! that the window draws.

use std::{collections::BTreeSet, fs, path::Path, process::Output};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deskhand_desktop::Picture;
use deskhand_machine::{record::JournalRecord, session::SessionEvent};
use deskhand_testkit::endpoint::{Behaviour, MockEndpoint, prompt_text};
use deskhand_ui::geometry::Rect;
use regex::Regex;
use serde_json::{Value, json};

use crate::{
    mcp::Client,
    support::{World, has_programs},
};

const PATTERN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/zoom/pattern.py");

/// How large the cells of the window are, and how large the window is, in pixels.
const CELL: i32 = 10;
const SIZE: (i32, i32) = (700, 400);

/// The picture of a file.
fn decode(file: &[u8]) -> Picture {
    Picture::from_file(file, Rect::new(0, 0, 0, 0)).unwrap()
}

/// Checks the middle of every cell in a picture of the window that begins at a cell and is this many times as large.
#[track_caller]
fn shows_cells(picture: &Picture, (column, row): (i32, i32), times: i32, cells: (i32, i32)) {
    let side = CELL * times;
    assert_eq!((picture.region.width, picture.region.height), (cells.0 * side, cells.1 * side));
    for (x, y) in (0..cells.1).flat_map(|y| (0..cells.0).map(move |x| (x, y))) {
        let (across, down) = (x * side + side / 2, y * side + side / 2);
        let at = usize::try_from(3 * (down * picture.region.width + across)).unwrap();
        let (column, row) = (column + x, row + y);
        let expected = [column * 3, row * 5, (column ^ row) * 2].map(|part| u8::try_from(part).unwrap());
        let near = picture.rgb[at..at + 3].iter().zip(expected).all(|(is, wanted)| is.abs_diff(wanted) <= 1);
        assert!(near, "the cell {column}, {row} is {:?} and not {expected:?}", &picture.rgb[at..at + 3]);
    }
}

/// Where an area of whole cells is in the window, as fractions.
fn fractions((column, row): (i32, i32), cells: (i32, i32)) -> [f64; 4] {
    let part = |place: i32, of: i32| f64::from(place * CELL) / f64::from(of);
    [part(column, SIZE.0), part(row, SIZE.1), part(column + cells.0, SIZE.0), part(row + cells.1, SIZE.1)]
}

/// The files of the pictures in a request.
fn pictures(body: &Value) -> Vec<Vec<u8>> {
    let text = body.to_string();
    let data = Regex::new("data:image/png;base64,([A-Za-z0-9+/=]+)").unwrap();
    data.captures_iter(&text).map(|found| STANDARD.decode(&found[1]).unwrap()).collect()
}

/// The id that a prompt lists before these words.
fn id_of(prompt: &str, words: &str) -> String {
    let listed = Regex::new(&format!(r"\[([ew]\d+)\] {}", regex::escape(words))).unwrap();
    listed.captures_iter(prompt).last().unwrap_or_else(|| panic!("no {words} in {prompt}"))[1].to_owned()
}

/// A model that looks at parts of the window and is done.
fn reply(body: &Value, step: &mut usize) -> Behaviour {
    let prompt = prompt_text(body);
    *step += 1;
    let reply = match *step {
        1 => json!({"thought": "t", "status": "CONTINUE", "function": "launch_application",
            "arguments": {"name": "/usr/bin/python3", "files": ["-B", PATTERN]}}),
        2 => json!({"thought": "t", "status": "ASSIGN", "current_subtask": "read the total",
            "control_label": id_of(&prompt, "window \"Pattern\"")}),
        3 => json!({"thought": "t", "status": "CONTINUE", "action": [
            {"function": "zoom", "arguments": {"area": fractions((0, 0), (7, 4))}},
            {"function": "zoom", "arguments": {"area": [300, 100, 400, 150]}},
            {"function": "zoom", "arguments": {"id": id_of(&prompt, "text \"Total\""), "name": "Total"}},
            {"function": "zoom", "arguments": {"area": [0.5, 0.5, 0.5, 0.9]}},
        ]}),
        4 => json!({"thought": "t", "status": "CONTINUE", "action": [{"function": "summary"}]}),
        5 => json!({"thought": "t", "status": "FINISH", "result": "read"}),
        _ => json!({"thought": "t", "status": "FINISH", "result": "done"}),
    };
    Behaviour::reply(reply.to_string())
}

/// Runs the binary beside the endpoint of the test.
async fn run(world: &World, arguments: &[&str]) -> Output {
    let mut command = world.command(arguments);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

/// Runs a session that zooms, with a setting of `[view]`; returns what its model was sent.
async fn zoomed(view: &str) -> (World, Vec<Value>) {
    let world = World::new();
    let mut step = 0;
    let endpoint = MockEndpoint::answering(move |body| reply(body, &mut step)).await.unwrap();
    world.configure(&format!(
        "[model]\nprovider = \"vllm\"\nmodel = \"m\"\nbase_url = \"{}\"\nattempts_max = 1\n[people]\napprovals = \"all\"\n[view]\n{view}\n",
        endpoint.base_url()
    ));
    let ran = run(&world, &["run", "read the total", "--desktop", "virtual", "--json"]).await;
    assert!(ran.status.success(), "{}", world.shown(&ran));
    let requests = endpoint.requests().into_iter().map(|request| request.body).collect();
    (world, requests)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_question_of_an_agent_shows_what_it_zoomed_to() {
    if !has_programs(&["python3"]) {
        return;
    }
    let (world, requests) = zoomed("marks = false").await;

    let shown: Vec<Vec<Vec<u8>>> = requests.iter().map(pictures).collect();
    let (before, zoomed, after) = (&shown[2], &shown[3], &shown[4]);
    assert_eq!(before.len(), 1, "the window alone");
    assert!(zoomed.len() >= 3, "{} pictures", zoomed.len());
    shows_cells(&decode(&zoomed[0]), (0, 0), 4, (7, 4));
    shows_cells(&decode(&zoomed[1]), (30, 10), 4, (10, 5));
    let field = decode(&zoomed[2]);
    assert!(field.region.width > 3 * 200 && field.region.height > 3 * 30, "{:?}", field.region);
    assert!(after.iter().all(|file| !zoomed[..3].contains(file)), "they are shown once");

    // The text beside them says what they show; what the window says is in no instruction.
    let prompt = prompt_text(&requests[3]);
    let (_, told) = prompt.split_once("Pictures that `zoom` took").unwrap_or_else(|| panic!("{prompt}"));
    assert!(told.contains("\"area\":[0.0,0.0,0.1,0.1]"), "{told}");
    assert!(told.contains("\"area\":[0.4286,0.25,0.5714,0.375]"), "{told}");
    assert!(!told.contains("press_keys"), "{told}");
    assert!(prompt.contains("are not left, top, right and bottom of a part of it"), "{prompt}");
    assert!(!prompt_text(&requests[4]).contains("Pictures that `zoom` took"));

    is_recorded(&world, &zoomed[..3]);
    assert_eq!(world.orphans(), Vec::<String>::new());
}

/// The pictures are in the session folder, once each, and in its reports; it replays without a desktop.
fn is_recorded(world: &World, sent: &[Vec<u8>]) {
    let folder = world.store().find("last").unwrap();
    let returned = folder.read().unwrap().lines.into_iter().filter_map(|line| {
        let JournalRecord::Event(event) = line.record else { return None };
        let SessionEvent::Returned { result } = event.event else { return None };
        result.picture
    });
    let returned: Vec<_> = returned.collect();
    let stored: Vec<Vec<u8>> = returned.iter().map(|picture| folder.picture(picture).unwrap()).collect();
    assert_eq!(stored, sent);
    let ids: BTreeSet<&str> = returned.iter().map(|picture| picture.sha256.as_str()).collect();
    assert_eq!(ids.len(), sent.len());
    for command in ["replay", "verify"] {
        let shown = world.run(&[command, "last"]);
        assert!(shown.starts_with("exit 0\n"), "{shown}");
    }
    let report = |format: &str, output: &str| {
        let shown = world.run(&["report", "last", "--format", format, "--output", output]);
        assert!(shown.starts_with("exit 0\n"), "{shown}");
        fs::read_to_string(world.path().join(output)).unwrap()
    };
    let (page, lines) = (report("html", "page.html"), report("jsonl", "lines.jsonl"));
    let text = report("markdown", "text.md");
    for (picture, file) in returned.iter().zip(sent) {
        assert!(page.contains(&STANDARD.encode(file)), "the page shows {}", picture.sha256);
        assert!(lines.contains(&format!("\"picture\":\"pictures/{}.png\"", picture.sha256)));
    }
    assert_eq!(text.matches("-call-").count(), 2 * sent.len(), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_without_pictures_does_not_offer_it() {
    if !has_programs(&["python3"]) {
        return;
    }
    let (_, requests) = zoomed("pictures = false").await;
    assert!(requests.iter().all(|body| pictures(body).is_empty()));
    assert!(!prompt_text(&requests[2]).contains("zoom("));
    assert!(prompt_text(&requests[3]).contains("this session takes no pictures, so there is no `zoom`"));
}

/// A program that starts the pattern, as a name that `open` finds.
fn program(world: &World) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = world.file("pattern", &format!("#!/bin/sh\nexec /usr/bin/python3 -B {PATTERN}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn a_client_of_mcp_gets_it_as_an_image() {
    if !has_programs(&["python3"]) {
        return;
    }
    let world = World::new();
    let program = program(&world);
    let mut client = Client::start(&world, json!({"elicitation": {}}));
    client.says = "accept";
    client.does("start_desktop", json!({"task": "look"}));
    client.does("open", json!({"application": program}));
    let zoom = json!({"tool": "zoom", "arguments": {"area": fractions((14, 20), (6, 3))}});
    let result = client.result("act", json!({"actions": [zoom]}));
    let content = result["content"].as_array().unwrap();
    let images: Vec<&Value> = content.iter().filter(|part| part["type"] == "image").collect();
    assert_eq!(images.len(), 1, "{result}");
    assert_eq!(images[0]["mimeType"], "image/png");
    let file = STANDARD.decode(images[0]["data"].as_str().unwrap()).unwrap();
    shows_cells(&decode(&file), (14, 20), 4, (6, 3));
    assert!(content[0]["text"].as_str().unwrap().contains("\"area\":[0.2,0.5,0.2857,0.575]"), "{result}");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn a_file_gets_a_part_of_a_window() {
    if !has_programs(&["python3"]) {
        return;
    }
    let world = World::new();
    let program = program(&world);
    let take = |arguments: &[&str]| {
        let common = ["--window", "Pattern", "--desktop", "virtual", "--launch", &program];
        world.run(&[&["screenshot", "part.png"], arguments, &common].concat())
    };
    let file = |path: &Path| decode(&fs::read(path).unwrap());
    let shown = take(&["--area", "0,0,0.1,0.1"]);
    assert!(shown.contains("part.png (280x160)"), "{shown}");
    shows_cells(&file(&world.path().join("part.png")), (0, 0), 4, (7, 4));
    let shown = take(&["--of", "Total"]);
    assert!(shown.starts_with("exit 0\n"), "{shown}");
    assert!(file(&world.path().join("part.png")).region.width > 3 * 200);
    let shown = take(&["--area", "0.5,0,0.4,1"]);
    assert!(shown.contains("are not left, top, right and bottom of a part of it"), "{shown}");
}
