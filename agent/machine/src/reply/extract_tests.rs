//! A corpus of model replies, and properties that hold for any text.

use proptest::prelude::*;
use serde_json::json;

use super::{super::lenient, *};

/// The reply, the value, and the repairs that were needed.
fn check(reply: &str, value: &Value, repairs: &[Repair]) {
    match extract_json(reply) {
        Ok(found) => {
            assert_eq!(&found.value, value, "value of {reply:?} ({:?})", found.repaired);
            assert_eq!(found.repaired, repairs, "repairs of {reply:?}");
        }
        Err(error) => panic!("{reply:?} failed: {error}"),
    }
}

fn check_error(reply: &str, message: &str) {
    match extract_json(reply) {
        Ok(found) => panic!("{reply:?} was read as {} ({:?})", found.value, found.repaired),
        Err(error) => assert_eq!(error.to_string(), message, "error of {reply:?}"),
    }
}

#[test]
fn finds_the_object() {
    use Repair::{ByteOrderMark, Reasoning, SeveralObjects, Surroundings};
    let a = json!({"a": 1});
    let corpus: &[(&str, &[Repair])] = &[
        (r#"{"a": 1}"#, &[]),
        ("\n\n  {\"a\": 1}\n", &[]),
        ("\u{feff}{\"a\": 1}", &[ByteOrderMark]),
        ("```json\n{\"a\": 1}\n```", &[Surroundings]),
        ("```\n{\"a\": 1}\n```", &[Surroundings]),
        ("```JSON5 title=reply\n{\"a\": 1}\n```\n", &[Surroundings]),
        ("~~~\n{\"a\": 1}\n~~~", &[Surroundings]),
        ("```json\n{\"a\": 1}", &[Surroundings]),
        ("Sure! Here it is:\n\n{\"a\": 1}\n\nTell me if [e17] is wrong.", &[Surroundings]),
        ("I'll press \"Finish\" (it's the {last} one): {\"a\": 1}", &[Surroundings]),
        ("{x} and {y: } are placeholders\n{\"a\": 1}", &[Surroundings]),
        (
            "```json\n{\"a\": 0}\n```\nwait, better:\n```json\n{\"a\": 1}\n```",
            &[SeveralObjects, Surroundings],
        ),
        ("{\"a\": 0} {\"a\": 1}", &[SeveralObjects, Surroundings]),
        ("{\"a\": 1} and never {}", &[Surroundings]),
        ("<think>maybe {x}</think>{\"a\": 1}", &[Reasoning]),
        ("<think>\n{\"a\": 0}\n</think>\n\n{\"a\": 1}", &[Reasoning]),
        ("<THINKING>it's \"{\" </THINKING>\n```json\n{\"a\": 1}\n```", &[Reasoning, Surroundings]),
        ("the template opened it {\"a\": 0}, {\"b\n</think>\n{\"a\": 1}", &[Reasoning]),
        ("<think>never closed, then {\"a\": 1}", &[Reasoning, Surroundings]),
        ("<think>one</think><think>two {\"a\": 0}</think>{\"a\": 1}", &[Reasoning]),
        ("<answer>{\"a\": 1}</answer>", &[Surroundings]),
        ("{\"a\": 1}}", &[Surroundings]),
        ("{\"a\": 1};", &[Surroundings]),
        ("json\n{\"a\": 1}", &[Surroundings]),
    ];
    for (reply, repairs) in corpus {
        check(reply, &a, repairs);
    }
}

#[test]
fn repairs_unambiguous_errors() {
    use Repair::{
        Comment, ForeignLiteral, InnerQuote, MissingCloser, MissingComma, Quotes, RawControl, SeveralObjects,
        Surroundings, TrailingComma, UnquotedKey, WidePunctuation,
    };
    let corpus: &[(&str, Value, &[Repair])] = &[
        (r#"{"a": 1,}"#, json!({"a": 1}), &[TrailingComma]),
        (r#"{"a": [1, 2, ], }"#, json!({"a": [1, 2]}), &[TrailingComma]),
        ("{'a': 'it''s'}", json!({"a": "it''s"}), &[Quotes, InnerQuote]),
        ("{'a': 'don't'}", json!({"a": "don't"}), &[Quotes, InnerQuote]),
        ("{“a”: “b”, “c”: 1}", json!({"a": "b", "c": 1}), &[Quotes]),
        (r#"{"a": "“b”"}"#, json!({"a": "“b”"}), &[]),
        ("{\"a\": 1, // the first\n \"b\": 2}", json!({"a": 1, "b": 2}), &[Comment]),
        ("{/* x } */ \"a\": 1 # end\n}", json!({"a": 1}), &[Comment]),
        (r#"{"a": "http://x/y"}"#, json!({"a": "http://x/y"}), &[]),
        (r#"{"a": "http://x/y", }"#, json!({"a": "http://x/y"}), &[TrailingComma]),
        ("{a: 1, b_2: {c: []}}", json!({"a": 1, "b_2": {"c": []}}), &[UnquotedKey]),
        (
            r#"{"a": True, "b": None, "c": [False]}"#,
            json!({"a": true, "b": null, "c": [false]}),
            &[ForeignLiteral],
        ),
        (r#"{"a": undefined}"#, json!({"a": null}), &[ForeignLiteral]),
        ("{\"a\": \"one\ntwo\tthree\"}", json!({"a": "one\ntwo\tthree"}), &[RawControl]),
        (
            r#"{"a": "click the "Save" button", "b": 1}"#,
            json!({"a": "click the \"Save\" button", "b": 1}),
            &[InnerQuote],
        ),
        (
            r#"{"a": "press "Save", then "OK"", "b": 1}"#,
            json!({"a": "press \"Save\", then \"OK\"", "b": 1}),
            &[InnerQuote],
        ),
        (r#"{"a": ["say "hi" now", "b"]}"#, json!({"a": ["say \"hi\" now", "b"]}), &[InnerQuote]),
        (r#"{"a": {"b": [1, {"c": 2"#, json!(null), &[]),
        (r#"{"a": {"b": [1, {"c": "d""#, json!({"a": {"b": [1, {"c": "d"}]}}), &[MissingCloser]),
        ("```json\n{\"a\": [true]\n```", json!({"a": [true]}), &[Surroundings, MissingCloser]),
        (
            r#"{"actions": [{"tool": "click", "arguments": {"id": "e1"}], "status": "FINISH"}"#,
            json!({"actions": [{"tool": "click", "arguments": {"id": "e1"}}], "status": "FINISH"}),
            &[MissingCloser],
        ),
        (r#"{"a": [1, 2, "b": 3}"#, json!(null), &[]),
        ("{\"a\": \"b\"\n \"c\": \"d\"}", json!({"a": "b", "c": "d"}), &[MissingComma]),
        ("{\"a\": 1\n \"c\": 2}", json!({"a": 1, "c": 2}), &[MissingComma]),
        (r#"{"a": [{"b": 1} {"b": 2}]}"#, json!({"a": [{"b": 1}, {"b": 2}]}), &[MissingComma]),
        (r#"{"a"：1，"b": 2}"#, json!({"a": 1, "b": 2}), &[WidePunctuation]),
        ("[{\"a\": 1}, {\"a\": 2}]", json!([{"a": 1}, {"a": 2}]), &[]),
        ("Both: [{\"a\": 1}, {\"a\": 2},]", json!([{"a": 1}, {"a": 2}]), &[Surroundings, TrailingComma]),
        ("draft {\"a\": 1} final {'a': 2}", json!({"a": 2}), &[SeveralObjects, Surroundings, Quotes]),
        (
            r#"{"a": "x \' y \u0041\ud83d\ude00",}"#,
            json!({"a": "x ' y A😀"}),
            &[Repair::Backslash, TrailingComma],
        ),
        (r#"{"a": 1.5e3, "b": -2,}"#, json!({"a": 1500.0, "b": -2}), &[TrailingComma]),
    ];
    for (reply, value, repairs) in corpus {
        if value.is_null() {
            extract_json(reply).expect_err("no single reading");
        } else {
            check(reply, value, repairs);
        }
    }
}

#[test]
fn keeps_the_backslashes_of_windows_paths() {
    use Repair::{Backslash, Surroundings, TrailingComma, WindowsPath};
    let corpus: &[(&str, Value, &[Repair])] = &[
        (r#"{"p": "C:\Users\x"}"#, json!({"p": r"C:\Users\x"}), &[WindowsPath]),
        (r#"{"p": "C:\\Users\\new"}"#, json!({"p": r"C:\Users\new"}), &[]),
        (r#"{"p": "C:\\Users\\new",}"#, json!({"p": r"C:\Users\new"}), &[TrailingComma]),
        (r#"{"p": "C:\temp\new"}"#, json!({"p": r"C:\temp\new"}), &[WindowsPath]),
        (r#"{"p": "D:\table.ods"}"#, json!({"p": r"D:\table.ods"}), &[WindowsPath]),
        (r#"{"p": ["C:\new\a.txt", "x\ty"]}"#, json!({"p": [r"C:\new\a.txt", "x\ty"]}), &[WindowsPath]),
        (r#"{"p": "C:\temp\",}"#, json!({"p": r"C:\temp\"}), &[WindowsPath, TrailingComma]),
        (
            r#"{"p": "\\server\new\t.txt", }"#,
            json!({"p": r"\\server\new\t.txt"}),
            &[WindowsPath, TrailingComma],
        ),
        (
            r#"{"p": "save as C:\temp\new.ods,\nthen \quit"}"#,
            json!({"p": "save as C:\\temp\\new.ods,\nthen \\quit"}),
            &[WindowsPath, Backslash],
        ),
        (r#"{"p": "Q:\nWhat?\nA:\nYes"}"#, json!({"p": "Q:\nWhat?\nA:\nYes"}), &[]),
        (r#"{"p": "A:\nYes.txt"}"#, json!({"p": "A:\nYes.txt"}), &[]),
        (r#"{"p": "C:\n"}"#, json!({"p": "C:\n"}), &[]),
        (r#"so: {"p": "\d+\s"}"#, json!({"p": r"\d+\s"}), &[Surroundings, Backslash]),
        (r#"{"p": "C:/Users/x"}"#, json!({"p": "C:/Users/x"}), &[]),
    ];
    for (reply, value, repairs) in corpus {
        check(reply, value, repairs);
    }
}

#[test]
fn errors_name_problem_and_position() {
    let corpus: &[(&str, &str)] = &[
        ("", "the reply is empty; it must be one JSON object"),
        (" \n\t", "the reply is empty; it must be one JSON object"),
        ("I will click Finish.", "no JSON object in the reply, which starts with `I will click Finish.`"),
        ("<think>hm</think>", "the reply contains only a reasoning block; the JSON object must follow it"),
        (
            "<think>hm {\"a\": 1} or else",
            "the reply contains only a reasoning block; the JSON object must follow it",
        ),
        (
            "{\"a\": \"unfinished bus",
            "the JSON is truncated inside the string that starts with \"unfinished bus\", at line 1 column 22; \
             write it again, complete and shorter",
        ),
        (
            "{\"a\": 1,",
            "the JSON is truncated before a key, at line 1 column 9; write it again, complete and shorter",
        ),
        (
            "{\"a\":",
            "the JSON is truncated before the value of \"a\", at line 1 column 6; write it again, complete and shorter",
        ),
        (
            "{\"a\": 12",
            "the JSON is truncated inside the number 12, at line 1 column 9; write it again, complete and shorter",
        ),
        (
            "{\"thou",
            "the JSON is truncated inside the string that starts with \"thou\", at line 1 column 7; \
             write it again, complete and shorter",
        ),
        (
            "draft {\"a\": 1}\nfinal {\"a\": [1,",
            "the JSON is truncated inside a list, at line 2 column 16; write it again, complete and shorter",
        ),
        (
            "{\"status\": CONTINUE}",
            "invalid JSON at line 1 column 12: `CONTINUE` is not a value; text needs double quotes, near `CONTINUE}`",
        ),
        (
            "{\"a\": bad thing, \"arguments\": {\"id\": \"e5\"}}",
            "invalid JSON at line 1 column 7: `bad` is not a value; text needs double quotes, near \
             `bad thing, \"arguments\": {\"id\": \"e5\"}}`",
        ),
        ("{\n  \"a\" 1}", "invalid JSON at line 2 column 7: expected `:` after the key \"a\", near `1}`"),
        (
            "{\"a\": \"one,\n\"b\": \"two\"}",
            "invalid JSON at line 2 column 3: escape quotes inside a string as \\\", and end a string \
 before the next key, near `\": \"two\"}`",
        ),
        ("{\"a\": 1 2}", "invalid JSON at line 1 column 9: expected `,` or `}` after a value, near `2}`"),
        (
            "{\"a\": 1.2.3}",
            "invalid JSON at line 1 column 7: `1.2.3` is not a number; text needs double quotes, near `1.2.3}`",
        ),
        (
            "{\"a\": /* no end",
            "the JSON is truncated inside a comment, at line 1 column 16; write it again, complete and shorter",
        ),
    ];
    for (reply, message) in corpus {
        check_error(reply, message);
    }
}

#[test]
fn is_bounded() {
    let deep = format!("{{\"a\": {}1", "[".repeat(100_000));
    assert_eq!(extract_json(&deep), Err(ExtractError::TooDeep { max: lenient::DEPTH_MAX }));
    let long = " ".repeat(TEXT_MAX + 1);
    assert_eq!(extract_json(&long), Err(ExtractError::TooLong { bytes: TEXT_MAX + 1, max: TEXT_MAX }));
    // Texts that take quadratic time without a limit.
    for piece in ["{", "[", "\"#", "{\"a\": \"#", "<think>", "{'a' ", "`", "{\"a\": \"\" "] {
        let text = piece.repeat(TEXT_MAX / piece.len());
        extract_json(&text).expect_err("nothing in it");
    }
}

/// Any JSON value, with strings of any characters.
fn any_value() -> impl Strategy<Value = Value> {
    let text =
        prop_oneof![".{0,12}", "[\\\\\"'{}\\[\\],:<>`# a-c\n\t]{0,16}", "</?think>", "[C-D]:\\\\[a-z]{0,4}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // Eighths: without `float_roundtrip`, serde_json changes the last bit of other fractions.
        any::<i32>().prop_map(|eighths| Value::from(f64::from(eighths) / 8.0)),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((text.clone(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn has_misread_path(value: &Value) -> bool {
    windows_path::restore_paths(&mut value.clone())
}

/// Returns `true` if a string may look like a path to the lenient reader: it has a backslash at its start, or a control
/// character after a letter and a colon.
fn may_hold_path(value: &Value) -> bool {
    let is_path = |text: &str| {
        let characters: Vec<char> = text.chars().collect();
        text.starts_with('\\')
            || characters
                .windows(3)
                .any(|w| w[0].is_ascii_alphabetic() && w[1] == ':' && (w[2].is_control() || w[2] == '"'))
    };
    match value {
        Value::String(text) => is_path(text),
        Value::Array(items) => items.iter().any(may_hold_path),
        Value::Object(members) => members.iter().any(|(key, item)| is_path(key) || may_hold_path(item)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn valid_json_is_unchanged(
        value in any_value().prop_filter("not a misread path", |v| !has_misread_path(v)),
    ) {
        for text in [value.to_string(), format!("{value:#}")] {
            prop_assert_eq!(extract_json(&text), Ok(ExtractedJson { value: value.clone(), repaired: Vec::new() }));
        }
    }

    #[test]
    fn fenced_object_is_unchanged(
        value in any_value().prop_filter("not a misread path", |v| !has_misread_path(v)),
    ) {
        let object = json!({"value": value});
        let found = extract_json(&format!("Here:\n```json\n{object}\n```\nDone."));
        prop_assert_eq!(found.map(|found| found.value), Ok(object));
    }

    #[test]
    fn lenient_reading_of_valid_json_equals_strict(
        value in any_value().prop_filter("no possible path", |v| !may_hold_path(v)),
    ) {
        let object = json!({"value": value});
        // The trailing comma forces the lenient reader.
        let strict = object.to_string();
        let text = format!("{},}}", strict.strip_suffix('}').unwrap_or(&strict));
        let found = extract_json(&text);
        prop_assert_eq!(found.map(|found| found.value), Ok(object));
    }

    #[test]
    fn any_text_does_not_panic(text in "\\PC{0,200}") {
        drop(extract_json(&text));
    }

    #[test]
    fn broken_json_does_not_panic(text in "[{}\\[\\]\"'“”:,\\\\/#*`<>a-cntu0-9. \n\tC]{0,80}") {
        drop(extract_json(&text));
    }

    #[test]
    fn truncated_json_does_not_panic(value in any_value(), cut in 0.0..1.0_f64) {
        let text = json!({"value": value}).to_string();
        let length = (text.chars().count() as f64 * cut) as usize;
        drop(extract_json(&text.chars().take(length).collect::<String>()));
    }
}
