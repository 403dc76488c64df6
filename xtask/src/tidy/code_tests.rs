//! Tests of the rules for Rust sources.

use super::*;

/// Checks the findings in a file, as `number: start of the message`.
fn check_lines(path: &str, text: &str, expected: &[(usize, &str)]) {
    let file = SourceFile::sample(path, text);
    let found: Vec<String> = check(&file).iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), expected.len(), "{text}\n{found:#?}");
    for (found, (line, start)) in found.iter().zip(expected) {
        assert!(found.starts_with(&format!("{path}:{line}: {start}")), "{found}, not {line}: {start}");
    }
}

const PRODUCT: &str = "agent/runtime/src/a.rs";

#[test]
fn modules_need_documentation() {
    check_lines(PRODUCT, "//! Good.\n", &[]);
    check_lines(PRODUCT, "#![cfg(test)]\n\n//! Good.\n", &[]);
    check_lines(PRODUCT, "use std::fmt;\n//! late\n", &[(1, "start the module with")]);
    check_lines(PRODUCT, "// A comment is no documentation.\n", &[(1, "start the module with")]);
    check_lines(PRODUCT, "", &[(1, "start the module with")]);
}

#[test]
fn unwanted_code_is_found_only_in_code() {
    let check = |line: &str, found: bool| {
        let expected: &[_] = if found { &[(2, "`")] } else { &[] };
        check_lines(PRODUCT, &format!("//! A.\n{line}\n"), expected);
    };
    check("#[allow(dead_code)]", true);
    check("#![allow(dead_code)]", true);
    check("#[ignore]", true);
    check("#[ignore = \"slow\"]", true);
    check("let x = dbg!(y);", true);
    check("fn a() { todo!() }", true);
    check("fn a() { unimplemented!(\"later\") }", true);
    check("// todo!() in words", false);
    check("let text = \"todo!()\";", false);
    check("let text = r#\"a \" todo!()\"#;", false);
    check("let (quote, rest) = ('\"', todo!()); // \"", true);
    check("let tick = '\\''; todo!()", true);
    check("fn a<'a>(x: &'a str) { todo!() }", true);
    check("let text = \"\\\\\"; dbg!(text);", true);
    check("/* todo!() /* nested */ dbg!() */", false);
    check("let bytes = br\"todo!()\";", false);
    check("for\"todo!()\"", false);
}

#[test]
fn fixed_waits_are_found_only_in_product_code() {
    let wait = "//! A.\nfn a() { std::thread::sleep(SECOND); }\n";
    check_lines(PRODUCT, wait, &[(2, "fixed wait")]);
    check_lines("agent/runtime/src/a_tests.rs", wait, &[]);
    check_lines("agent/runtime/src/a_tests/b.rs", wait, &[]);
    check_lines("agent/runtime/tests/it/a.rs", wait, &[]);
    for (allowed, reason) in FIXED_WAITS_ALLOWED {
        assert!(!reason.is_empty(), "{allowed}");
        check_lines(allowed, wait, &[]);
    }
    check_lines("xtask/src/a.rs", wait, &[]);
    let check = |line: &str, found: bool| {
        let expected: &[_] = if found { &[(2, "fixed wait")] } else { &[] };
        check_lines(PRODUCT, &format!("//! A.\n{line}\n"), expected);
    };
    check("tokio::time::sleep(bound).await;", true);
    check("use tokio::time::{sleep, timeout}; sleep(bound).await;", true);
    check("sleep_until(instant).await;", true);
    check("let mut ticks = tokio::time::interval(bound);", true);
    check("tokio::time::timeout(bound, event).await", false);
    check("let asleep = 1;", false);
    check("// no thread::sleep here", false);
}

#[test]
fn inline_tests_may_sleep() {
    let text = "//! A.\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() { sleep(x) }\n}\n";
    check_lines(PRODUCT, text, &[]);
    let elsewhere = "//! A.\n#[cfg(test)]\n#[path = \"a_tests.rs\"]\nmod tests;\nfn b() { sleep(x) }\n";
    check_lines(PRODUCT, elsewhere, &[(5, "fixed wait")]);
}

#[test]
fn target_conditions_have_one_place() {
    let text = "//! A.\n#[cfg(target_os = \"linux\")]\nmod linux;\n";
    check_lines(PRODUCT, text, &[(2, "target condition")]);
    check_lines(SYSTEM_CONDITIONS_HOME, text, &[]);
    check_lines(PRODUCT, "//! A.\n#[cfg(unix)]\nmod a;\n", &[(2, "target condition")]);
    check_lines(PRODUCT, "//! `target_os` in words.\n", &[]);
}
