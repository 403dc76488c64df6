//! What `--open` opens, with the programs that are installed: several documents at once, new ones, folders, addresses.
//!
//! Skipped if the programs of a virtual desktop or of the documents are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    thread,
};

use serde_json::Value;

use crate::support::{World, has_desktop, has_programs};

/// A picture of nothing.
const PICTURE: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"20\" height=\"20\"/>";
const RTF: &str = "{\\rtf1 hello}";

/// The applications that the user has chosen, so that it does not matter which others are installed.
const CHOSEN: &str = "[Default Applications]
text/plain=org.xfce.mousepad.desktop
text/markdown=org.xfce.mousepad.desktop
text/css=org.xfce.mousepad.desktop
text/x-python=org.xfce.mousepad.desktop
text/x-python3=org.xfce.mousepad.desktop
application/json=org.xfce.mousepad.desktop
text/html=chromium.desktop
text/xml=chromium.desktop
application/xml=chromium.desktop
image/svg+xml=chromium.desktop
inode/directory=chromium.desktop
text/csv=libreoffice-calc.desktop
application/rtf=libreoffice-writer.desktop
text/rtf=libreoffice-writer.desktop
";

/// A world whose user has chosen [`CHOSEN`].
fn world_of_chosen() -> World {
    let world = World::new();
    world.file(".config/mimeapps.list", CHOSEN);
    world
}

/// The titles of the windows after these were opened.
fn titles(world: &World, open: &[&str]) -> Vec<String> {
    let windows = windows(world, open);
    windows.iter().map(|window| window["title"].as_str().unwrap().to_owned()).collect()
}

fn windows(world: &World, open: &[&str]) -> Vec<Value> {
    let mut command = world.command(&["windows", "--json", "--desktop", "virtual"]);
    for one in open {
        command.args(["--open", one]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", world.shown(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn several_documents_open_in_one_go_and_each_of_them_once() {
    if !has_desktop() || !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let world = world_of_chosen();
    world.file("notes.txt", "one");
    world.file("doc.md", "two");
    world.file("letter.rtf", RTF);
    world.file("t.csv", "a,b\n1,2\n");
    // One window with a tab for each.
    let editor = titles(&world, &["notes.txt", "doc.md"]);
    assert_eq!(editor.len(), 1, "{editor:?}");
    assert!(editor[0].contains("doc.md"), "the last one is in front: {editor:?}");
    // The question how to read the table counts as its window.
    let office = titles(&world, &["t.csv", "letter.rtf"]);
    let naming = |name: &str| office.iter().filter(|title| title.contains(name)).count();
    assert_eq!((office.len(), naming("letter.rtf"), naming("t.csv")), (2, 1, 1), "{office:?}");
    assert!(!world.path().join(".~lock.letter.rtf#").exists());
}

#[test]
fn a_document_that_does_not_exist_is_begun_and_saved_where_it_was_named() {
    if !has_desktop() || !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let world = World::new();
    let shown = world.run(&["windows", "--desktop", "virtual", "--open", "never.txt"]);
    assert!(shown.starts_with("exit 0") && shown.contains("never.txt"), "{shown}");
    assert!(!world.path().join("never.txt").exists(), "nobody saved it");
    for (name, begins) in [
        ("notes.txt", ""),
        ("table.ods", "application/vnd.oasis.opendocument.spreadsheet"),
        ("letter.odt", "application/vnd.oasis.opendocument.text"),
    ] {
        let shown = world.run(&["act", "--desktop", "virtual", "--open", name, "save"]);
        assert!(shown.starts_with("exit 0") && shown.contains("is saved"), "{name}: {shown}");
        let saved = fs::read(world.path().join(name)).unwrap();
        // The type of a package stands at its beginning (OpenDocument 1.3, part 2, 3.3).
        let rest = String::from_utf8_lossy(saved.get(38..).unwrap_or_default()).into_owned();
        assert!(rest.starts_with(begins), "{name}: {rest:?}");
    }
}

/// The first example of the README.
#[test]
fn a_note_is_written_into_a_new_file_of_an_empty_folder() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    world.file("write.toml", WRITE);
    let arguments = ["run", "Type 'hello' and save", "--open", "notes.txt", "--model", "script:write.toml"];
    let shown = world.run(&arguments);
    assert!(shown.starts_with("exit 0"), "{shown}");
    assert_eq!(fs::read_to_string(world.path().join("notes.txt")).unwrap().trim_end(), "hello", "{shown}");
}

const WRITE: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '''
{"observation": "an editor", "thought": "type there", "status": "ASSIGN", "current_subtask": "type the greeting",
 "control_label": "{{window "notes.txt"}}", "next": []}
'''

[[turn]]
agent = "AppAgent"
reply = '''
{"observation": "a document", "thought": "type and save", "status": "FINISH", "result": "saved",
 "action": [{"function": "type_text", "arguments": {"id": "{{element "text" ""}}", "text": "hello"}, "expect": "hello"},
            {"function": "save", "arguments": {}, "expect": "saved"}]}
'''
"#;

#[test]
fn addresses_and_folders_are_opened() {
    if !has_desktop() || !has_programs(&["chromium"]) {
        return;
    }
    let world = World::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = thread::spawn(move || {
        let mut request = vec![0; 4_096];
        // A browser may connect ahead of its request.
        let (mut stream, count) = loop {
            let (mut stream, _) = listener.accept().unwrap();
            let count = stream.read(&mut request).unwrap_or(0);
            if count > 0 {
                break (stream, count);
            }
        };
        let page = "<title>Here it is</title>";
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
            page.len()
        )
        .unwrap();
        String::from_utf8_lossy(&request[..count]).into_owned()
    });
    let shown = titles(&world, &[&format!("http://127.0.0.1:{port}/page")]);
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(asked.join().unwrap().starts_with("GET /page "));
    world.file("papers/a.txt", "");
    let shown = titles(&world, &["papers"]);
    assert!(shown.len() == 1 && shown[0].contains("papers"), "{shown:?}");
    let local = format!("file://{}", world.file("a page.html", "<p>x").display()).replace(' ', "%20");
    let shown = titles(&world, &[&local]);
    assert!(shown.len() == 1 && shown[0].contains("a page"), "{shown:?}");
}

/// How long they take is measured by hand: it depends on what else the machine does.
#[test]
fn ten_documents_of_ten_types_open_together_and_each_of_them_once() {
    if !has_desktop() || !has_programs(&["mousepad", "chromium", "soffice"]) {
        return;
    }
    let world = world_of_chosen();
    let texts = ["notes.txt", "doc.md", "data.json", "run.py", "style.css"];
    texts.iter().for_each(|name| drop(world.file(name, "x")));
    for (name, content) in
        [("page.html", "<p>x"), ("feed.xml", "<a/>"), ("drawing.svg", PICTURE), ("letter.rtf", RTF)]
    {
        world.file(name, content);
    }
    world.file("papers/x.txt", "");
    let others = ["page.html", "feed.xml", "drawing.svg", "letter.rtf", "papers"];
    let shown = titles(&world, &[&texts[..], &others].concat());
    // One window of the editor, one of the browser, one of the office suite; the others are tabs.
    assert_eq!(shown.len(), 3, "{shown:?}");
    for name in ["Mousepad", "Chromium", "letter.rtf"] {
        assert_eq!(shown.iter().filter(|title| title.contains(name)).count(), 1, "{name}: {shown:?}");
    }
}

#[test]
fn a_new_note_is_begun_beside_one_with_nearly_the_same_name() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    for (there, new) in [("note.txt", "notes.txt"), ("notes.txt", "note.txt"), ("notes-2.txt", "notes.txt")] {
        let world = world_of_chosen();
        world.file(there, "old");
        let titles = titles(&world, &[new]);
        assert!(titles.len() == 1 && titles[0].contains(new), "{there}, {new}: {titles:?}");
        assert_eq!(fs::read_to_string(world.path().join(there)).unwrap(), "old");
    }
}
