//! Tests of key sequences.

use super::keys::{KeySequenceItem, parse};

/// Text in quotes, chords unquoted.
fn render(keys: &str) -> String {
    match parse(keys) {
        Ok(parts) => {
            let part = |part: &KeySequenceItem| match part {
                KeySequenceItem::Text(text) => format!("{text:?}"),
                KeySequenceItem::Chords(chords) => chords.join(" "),
            };
            parts.iter().map(part).collect::<Vec<_>>().join(" ")
        }
        Err(problem) => panic!("{keys}: {problem}"),
    }
}

#[test]
fn parses_reference_key_syntax() {
    let check = |keys: &str, expected: &str| assert_eq!(render(keys), expected, "{keys}");
    check("{VK_CONTROL}c", "ctrl+c");
    check("{vk_control}{VK_SHIFT}s", "ctrl+shift+s");
    check("{TAB 2}", "Tab Tab");
    check("{ENTER}", "Return");
    check("{VK_RETURN}{VK_ESCAPE}{VK_PRIOR}{VK_BACK}{VK_F5}{f12}", "Return Escape PageUp BackSpace F5 F12");
    check("{VK_CONTROL down}ac{VK_CONTROL up}v", "ctrl+a ctrl+c \"v\"");
    check("{VK_MENU}{F4}", "alt+F4");
    check("{VK_LWIN}{VK_D}", "super+d");
    check("{VK_CONTROL}{VK_A}{DELETE}", "ctrl+a Delete");
    check("^c", "ctrl+c");
    check("^+s", "ctrl+shift+s");
    check("%{F4}", "alt+F4");
    check("+{TAB 2}", "shift+Tab shift+Tab");
    check("^(ac)v", "ctrl+a ctrl+c \"v\"");
    check("^(a+(bc))", "ctrl+a ctrl+shift+b ctrl+shift+c");
    check("^{+}", "ctrl++");
    check("~", "Return");
    check("+ ", "shift+Space");
}

#[test]
fn text_is_literal_and_braces_escape_signs() {
    let check = |keys: &str, expected: &str| assert_eq!(render(keys), expected, "{keys}");
    check("Hello, world (1)", "\"Hello, world (1)\"");
    check("héllo 東京 😀", "\"héllo 東京 😀\"");
    check("name{TAB}value{ENTER}", "\"name\" Tab \"value\" Return");
    check("one\ntwo\t", "\"one\" Return \"two\" Tab");
    check("50{%} {{}a{}} {^}{~}{+}{(}", "\"50% {a} ^~+(\"");
    check("{x 3}{} 2}", "\"xxx}}\"");
    check("=SUM(A1:A3){ENTER}", "\"=SUM(A1:A3)\" Return");
}

#[test]
fn errors_name_problem_and_next_step() {
    let check = |keys: &str, expected: &str| match parse(keys) {
        Err(problem) => assert!(problem.contains(expected), "{keys}: {problem}"),
        Ok(parts) => panic!("{keys}: {parts:?}"),
    };
    check("", "no keys; write text");
    check("{ENTR}", "`{ENTR}` is not a key; write a name such as {ENTER}");
    check("{ENTER", "`{ENTER` has no closing `}`");
    check("a}b", "literal brace as {}}");
    check("{TAB 65}", "repeat count (1 to 64)");
    check("{TAB x}", "repeat count");
    check("{VK_CONTROL}", "VK_CONTROL is not followed by a key");
    check("50%", "literal sign in braces");
    check("{VK_SHIFT down}a", "{VK_SHIFT down} is never released");
    check("{VK_SHIFT up}", "without a preceding {VK_SHIFT down}");
    check("{VK_CONTROL 3}", "is a modifier");
    check("^(ab", "missing `)`");
    check("{TAB 40}{ENTER 40}", "80 keys in 1 parts are too many");
    check("{VK_F25}", "is not a key");
    check(&"a{TAB}".repeat(7), "split the call");
}
