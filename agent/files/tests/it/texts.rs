//! Plain text, JSON and HTML: encodings, lines, and how to read on.

use std::fs;

use deskhand_files::{ContentForm, ReadContinuation, ReadOptions, ReadRange};

use crate::support::{file, message, text_of};

fn lines(first: usize, last: usize) -> ReadOptions {
    ReadOptions { lines: Some(ReadRange::between(first, last)), ..ReadOptions::default() }
}

#[test]
fn encodings_are_recognised() {
    let check = |bytes: &[u8], encoding: &str, text: &str| {
        let (_folder, path) = file("a.txt", bytes);
        let found = text_of(&path, &ReadOptions::default()).unwrap();
        assert_eq!((found.encoding.as_deref(), found.text.as_str()), (Some(encoding), text), "{bytes:?}");
    };
    check(b"", "UTF-8", "");
    check("Gr\u{f6}\u{df}e\n".as_bytes(), "UTF-8", "Größe\n");
    check(b"\xef\xbb\xbfmark", "UTF-8", "mark");
    check(b"Gr\xf6\xdfe f\xfcr M\xfcller\r\nend\r", "windows-1252", "Größe für Müller\nend\n");
    check(b"\xff\xfeh\0i\0\n\0", "UTF-16LE", "hi\n");
    check(b"\xfe\xff\0h\0i\0\n", "UTF-16BE", "hi\n");
    check(b"h\0e\0l\0l\0o\0!\0", "UTF-16LE", "hello!");
}

#[test]
fn broken_characters_are_reported() {
    let mut bytes = "Größe und Öl über Äpfel ".repeat(20).into_bytes();
    bytes.extend(b"\xff end");
    let (_folder, path) = file("a.txt", bytes);
    let text = text_of(&path, &ReadOptions::default()).unwrap();
    assert!(text.text.ends_with("\u{fffd} end"));
    assert!(text.notes[0].contains("not valid UTF-8"), "{:?}", text.notes);
}

#[test]
fn lines_are_cut_out_and_the_rest_is_named() {
    let content: String = (1..=100).map(|number| format!("line {number}\n")).collect();
    let (_folder, path) = file("a.log", &content);
    let text = text_of(&path, &lines(10, 12)).unwrap();
    assert_eq!(text.text, "line 10\nline 11\nline 12\n");
    assert_eq!((text.lines, text.lines_total), (Some(ReadRange::between(10, 12)), Some(100)));
    let left_out = text.left_out.unwrap();
    assert_eq!(left_out.to_string(), "left out: lines 13 to 100; read on with lines from 13");
    assert_eq!(text_of(&path, &lines(99, 200)).unwrap().left_out, None);
    let error = message(text_of(&path, &lines(101, 200)));
    assert!(error.starts_with("find line 101 in ") && error.ends_with("it has 100 lines"), "{error}");
    // What is left out can be read with what the text says, until all is there.
    let mut options = ReadOptions { characters_max: 50, ..ReadOptions::default() };
    let mut all = String::new();
    loop {
        let text = text_of(&path, &options).unwrap();
        assert!(text.text.len() <= 51, "{}", text.text);
        all.push_str(&text.text);
        match text.left_out.and_then(|left_out| left_out.next) {
            Some(ReadContinuation::Line(line)) => options.lines = Some(ReadRange::from(line)),
            None => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(all, content);
}

#[test]
fn a_long_line_is_read_in_parts() {
    let (_folder, path) = file("a.txt", format!("first\n{}end\nlast", "ä".repeat(1_000)));
    let mut options =
        ReadOptions { characters_max: 300, lines: Some(ReadRange::from(2)), ..ReadOptions::default() };
    let mut all = String::new();
    loop {
        let text = text_of(&path, &options).unwrap();
        all.push_str(&text.text);
        match text.left_out.and_then(|left_out| left_out.next) {
            Some(ReadContinuation::Character { line, skip }) => {
                options.lines = Some(ReadRange::from(line));
                options.skip_characters = skip;
            }
            Some(ReadContinuation::Line(line)) => {
                options.lines = Some(ReadRange::from(line));
                options.skip_characters = 0;
            }
            None => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(all, format!("{}end\nlast", "ä".repeat(1_000)));
}

#[test]
fn json_is_formatted_and_pointers_find_parts() {
    let (_folder, path) = file("a.json", r#"{"z":[1,{"c":null}],"a":"ä"}"#);
    let text = text_of(&path, &ReadOptions::default()).unwrap();
    assert_eq!(
        text.text,
        "{\n  \"z\": [\n    1,\n    {\n      \"c\": null\n    }\n  ],\n  \"a\": \"ä\"\n}\n"
    );
    let at = |pointer: &str| ReadOptions { json_pointer: Some(pointer.to_owned()), ..ReadOptions::default() };
    assert_eq!(text_of(&path, &at("/z/1")).unwrap().text, "{\n  \"c\": null\n}\n");
    let error = message(text_of(&path, &at("/z/7/x")));
    assert!(error.ends_with("\"/z\" is an array of 2 items"), "{error}");
    assert!(message(text_of(&path, &at("z"))).contains("starts with /"));
    fs::write(&path, "{\"a\": 1").unwrap();
    let text = text_of(&path, &ReadOptions::default()).unwrap();
    assert_eq!(text.text, "{\"a\": 1");
    assert!(text.notes[0].contains("not valid JSON"), "{:?}", text.notes);
    assert!(message(text_of(&path, &at("/a"))).contains("not valid JSON"));
}

#[test]
fn html_becomes_text() {
    let check = |html: &str, expected: &str| {
        let (_folder, path) = file("a.html", html);
        let text = text_of(&path, &ReadOptions::default()).unwrap();
        assert_eq!(text.text, expected, "{html}");
    };
    check("<p>a  b<b>c</b>\n d<br>e", "a bc d\ne\n");
    check("<head><title>T &amp; x</title><style>p{}</style></head><body><h2>Hi</h2>", "# T & x\n\n## Hi\n");
    check("<ul><li>x<ul><li>y</ul><li>z</ul>end", "- x\n  - y\n- z\nend\n");
    check("<script>if (a<b) {}</script>x<!-- no --><template><p>y</p></template>", "x\n");
    check("<table><tr><th>A<th>B|<tr><td>1<td>2</table>", "| A | B\\| |\n|---|---|\n| 1 | 2 |\n");
    check("<pre>x\n  y</pre><img alt='a map'>&lt;&euro;&#x41;", "x\n  y\n[image: a map]<€A\n");
    check("<table><tr><td>a<table><tr><td>b<td>c</table></table>", "| a<br>b ; c |\n|---|\n");
    let (_folder, path) = file("page", "<!DOCTYPE html><p>no extension");
    assert_eq!(text_of(&path, &ReadOptions::default()).unwrap().text, "no extension\n");
}

#[test]
fn what_is_no_text_is_an_error_that_says_what_it_is() {
    let (folder, path) = file("a.bin", b"\x7fELF\x02\x01\0\0\0\0");
    let error = message(text_of(&path, &ReadOptions::default()));
    assert!(error.contains("7f 45 4c 46 02") && error.contains("(.ELF"), "{error}");
    let error = message(text_of(folder.path(), &ReadOptions::default()));
    assert!(error.ends_with("it is a folder; list it instead"), "{error}");
    assert!(message(text_of(&folder.path().join("none"), &ReadOptions::default())).contains("No such file"));
    let (_folder, path) = file("a.txt", "text");
    let options = ReadOptions { pages: Some(ReadRange::from(1)), ..ReadOptions::default() };
    assert!(message(text_of(&path, &options)).contains("has no pages; give lines"));
    let (_folder, path) = file("a.json", "[]");
    let options = ReadOptions { what: ContentForm::Table, ..ReadOptions::default() };
    assert!(message(text_of(&path, &options)).contains("has no tables"));
}
