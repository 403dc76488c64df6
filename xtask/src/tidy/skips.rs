//! Tests may return early only if a program is not installed, as decided by one function of the testkit, which fails where
//! skipping is forbidden.

use super::files::{Finding, SourceFile};

/// The calls that lead to that function.
const ASKS: &[&str] = &["has_programs(", "has_desktop(", "can_run("];

/// Checks one file.
pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    if !file.is_rust() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let (mut is_marked, mut end, mut before) = (false, None, "");
    for (index, line) in file.code().lines().enumerate() {
        let code = line.trim();
        is_marked |= code == "#[test]" || code.starts_with("#[tokio::test");
        if is_marked && (code.starts_with("fn ") || code.starts_with("async fn ")) {
            let indent = line.len() - line.trim_start().len();
            (is_marked, end) = (false, Some(format!("{}}}", " ".repeat(indent))));
        }
        let is_skip = before.starts_with("if ") && ["return;", "return Ok(());"].contains(&code);
        if end.is_some() && is_skip && !ASKS.iter().any(|ask| before.contains(ask)) {
            let message = "do not return early from a test; skip it with `has_programs`";
            findings.push(file.finding(index + 1, message));
        }
        if end.as_deref() == Some(line.trim_end()) {
            end = None;
        }
        if !code.is_empty() {
            before = code;
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_test(condition: &str, found: bool) {
        let text = format!(
            "//! A.\n\n#[tokio::test]\nasync fn a() {{\n    {condition} {{\n        return;\n    }}\n}}\n"
        );
        let findings: Vec<String> = check(&SourceFile::sample("agent/a/tests/it/b.rs", &text))
            .iter()
            .map(ToString::to_string)
            .collect();
        let expected =
            "agent/a/tests/it/b.rs:6: do not return early from a test; skip it with `has_programs`";
        assert_eq!(findings, if found { vec![expected] } else { vec![] }, "{condition}");
    }

    #[test]
    fn tests_are_skipped_by_one_function() {
        check_test("if !has_programs(&[\"soffice\"])", false);
        check_test("if !has_desktop()", false);
        check_test("if std::env::var_os(\"SLOW\").is_none()", true);
        check_test("if !Path::new(\"x\").exists()", true);
    }

    #[test]
    fn other_functions_may_return_early() {
        let text = "#[test]\nfn a() {\n}\nfn b() {\n    if x() {\n        return;\n    }\n}\n";
        assert!(check(&SourceFile::sample("agent/a/tests/it/b.rs", text)).is_empty());
    }
}
