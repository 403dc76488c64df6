//! Code size, and limits that keep files and functions from growing.

use std::{cmp::Reverse, collections::BTreeMap, fmt::Write as _};

use super::{
    code::first_test_line,
    files::{Finding, SourceFile},
    scanner::is_word,
};

/// The most lines of product code per file: the lines above its tests.
const PRODUCT_LINES_MAX: usize = 500;
/// The most lines per test file, or of product code and tests together.
const FILE_LINES_MAX: usize = 600;
/// The most lines of code per function, without comments and blank lines. Clippy enforces the same limit.
const FUNCTION_LINES_MAX: usize = 80;

/// How many files and functions are reported.
const LISTED: usize = 10;

/// A function and its lines of code.
#[derive(Debug, PartialEq, Eq)]
struct Function<'a> {
    name: &'a str,
    line: usize,
    lines: usize,
}

/// Checks one file.
pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    if !file.is_rust() {
        return Vec::new();
    }
    let mut findings: Vec<Finding> = length(file).into_iter().collect();
    for function in functions(file.code()).iter().filter(|function| function.lines > FUNCTION_LINES_MAX) {
        let Function { name, line, lines } = function;
        let message = format!("`{name}` has {lines} lines, more than {FUNCTION_LINES_MAX}; split it");
        findings.push(file.finding(*line, message));
    }
    findings
}

fn length(file: &SourceFile) -> Option<Finding> {
    let (product, tests) = lines(file);
    if product > PRODUCT_LINES_MAX {
        let message =
            format!("{product} lines of product code, more than {PRODUCT_LINES_MAX}; split the file");
        return Some(file.finding(PRODUCT_LINES_MAX + 1, message));
    }
    let all = product + tests;
    (all > FILE_LINES_MAX).then(|| {
        file.finding(FILE_LINES_MAX + 1, format!("{all} lines, more than {FILE_LINES_MAX}; split the file"))
    })
}

/// The lines of product code and tests in a file.
fn lines(file: &SourceFile) -> (usize, usize) {
    let all = file.text().lines().count();
    let product = if file.is_test() { 0 } else { all.min(first_test_line(file.text()) - 1) };
    (product, all - product)
}

/// The report of `cargo xtask tidy`: lines per crate, longest files, longest functions.
pub(super) fn report(files: &[SourceFile]) -> String {
    let rust: Vec<&SourceFile> = files.iter().filter(|file| file.is_rust()).collect();
    let mut crates: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for file in &rust {
        let (product, tests) = lines(file);
        let sum = crates.entry(crate_of(&file.path)).or_default();
        *sum = (sum.0 + product, sum.1 + tests);
    }
    let all = crates.values().fold((0, 0), |sum, each| (sum.0 + each.0, sum.1 + each.1));
    let mut text = format!("{:28} {:>8} {:>8}\n", "lines", "product", "tests");
    for (name, (product, tests)) in crates.iter().chain([(&"all", &all)]) {
        let _ = writeln!(text, "{name:28} {product:>8} {tests:>8}");
    }
    let mut longest: Vec<(usize, &str)> =
        rust.iter().map(|file| (lines(file).0, file.path.as_str())).collect();
    longest.sort_by_key(|(lines, path)| (Reverse(*lines), *path));
    let _ = writeln!(text, "\nlongest files (at most {PRODUCT_LINES_MAX} lines of product code)");
    for (lines, path) in longest.iter().take(LISTED) {
        let _ = writeln!(text, "{lines:>5} {path}");
    }
    let mut longest: Vec<(usize, String)> = Vec::new();
    for file in rust.iter().filter(|file| !file.is_test()) {
        let of = |function: Function<'_>| {
            (function.lines, format!("{}:{} {}", file.path, function.line, function.name))
        };
        longest.extend(functions(file.code()).into_iter().map(of));
    }
    longest.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let _ = writeln!(text, "\nlongest functions (at most {FUNCTION_LINES_MAX} lines of code)");
    for (lines, function) in longest.iter().take(LISTED) {
        let _ = writeln!(text, "{lines:>5} {function}");
    }
    text
}

/// The crate folder of a file: `agent/machine`, `examples/robot-arm`, `xtask`.
fn crate_of(path: &str) -> &str {
    let folders = if path.starts_with("xtask/") { 1 } else { 2 };
    path.match_indices('/').nth(folders - 1).and_then(|(end, _)| path.get(..end)).unwrap_or(path)
}

/// The functions with a body and their lines of code; `code` is without comments and strings.
fn functions(code: &str) -> Vec<Function<'_>> {
    let mut functions = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let word_before = code.get(..at).and_then(|text| text.chars().next_back()).is_some_and(is_word);
        let Some(rest) = code.get(at + "fn ".len()..).filter(|_| !word_before) else { continue };
        let name_length = rest.find(|character| !is_word(character)).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(name_length);
        let Some(body) = body(rest).filter(|_| !name.is_empty()) else { continue };
        let line = code.get(..at).unwrap_or_default().matches('\n').count() + 1;
        let lines = body.lines().filter(|line| !line.trim().is_empty()).count();
        functions.push(Function { name, line, lines });
    }
    functions
}

/// The body of the function whose parameters start `text`; `None` for a declaration.
fn body(text: &str) -> Option<&str> {
    let mut brackets = 0_usize;
    let start = text.char_indices().find_map(|(at, character)| {
        match character {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.saturating_sub(1),
            '{' | ';' if brackets == 0 => return Some(at),
            _ => {}
        }
        None
    })?;
    let inside = text.get(start..)?.strip_prefix('{')?;
    let mut depth = 1_usize;
    let end = inside.char_indices().find_map(|(at, character)| {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })?;
    inside.get(..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_lines(path: &str, text: &str, expected: &[&str]) {
        let found: Vec<String> =
            check(&SourceFile::sample(path, text)).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected, "{path}");
    }

    const PRODUCT: &str = "agent/runtime/src/a.rs";

    #[test]
    fn long_files_are_found() {
        let lines = |count: usize| "//! a\n".repeat(count);
        let tests = |count: usize| format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "//\n".repeat(count - 3));
        let too_long = format!("{PRODUCT}:501: 501 lines of product code, more than 500; split the file");
        check_lines(PRODUCT, &lines(500), &[]);
        check_lines(PRODUCT, &lines(501), &[&too_long]);
        check_lines(PRODUCT, &(lines(500) + &tests(100)), &[]);
        let together = format!("{PRODUCT}:601: 601 lines, more than 600; split the file");
        check_lines(PRODUCT, &(lines(500) + &tests(101)), &[&together]);
        let test = "agent/runtime/tests/it/a.rs";
        check_lines(test, &lines(600), &[]);
        check_lines(test, &lines(601), &[&format!("{test}:601: 601 lines, more than 600; split the file")]);
        check_lines("docs/a.md", &lines(700), &[]);
    }

    #[test]
    fn functions_are_measured_in_lines_of_code() {
        let check = |code: &str, expected: &[(&str, usize, usize)]| {
            let file = SourceFile::sample(PRODUCT, code);
            let found: Vec<(&str, usize, usize)> =
                functions(file.code()).iter().map(|found| (found.name, found.line, found.lines)).collect();
            assert_eq!(found, expected, "{code}");
        };
        check("fn a() {}\n", &[("a", 1, 0)]);
        check("\nfn a() {\n    one();\n\n    // Why.\n    two();\n}\n", &[("a", 2, 2)]);
        check("trait T {\n    fn a(&self) -> [u8; 3];\n    fn b() {\n{\n}\n}\n}\n", &[("b", 3, 2)]);
        check("fn a() {\nfn b() {\none();\n}\n}\n", &[("a", 1, 3), ("b", 2, 1)]);
        check(
            "type F = fn (u8) -> u8; // fn c() {}\nfn a(f: fn (u8), s: [u8; 2])\nwhere\n{\nx\n}\n",
            &[("a", 2, 1)],
        );
        check("fn a() { \"}\"; '{'\n; }\n", &[("a", 1, 2)]);
    }

    #[test]
    fn long_functions_are_found() {
        let function = |lines: usize| format!("//! A.\nfn a() {{\n{}}}\n", "b();\n".repeat(lines));
        check_lines(PRODUCT, &function(80), &[]);
        check_lines(
            PRODUCT,
            &function(81),
            &[&format!("{PRODUCT}:2: `a` has 81 lines, more than 80; split it")],
        );
    }

    #[test]
    fn the_report_lists_crates_and_longest_items() {
        let files = [
            SourceFile::sample(
                "agent/machine/src/a.rs",
                "//! A.\nfn a() {\nb();\n}\n#[cfg(test)]\nmod tests {\n}\n",
            ),
            SourceFile::sample("agent/machine/tests/it/b.rs", "//! B.\n"),
            SourceFile::sample("xtask/src/main.rs", "//! C.\n"),
            SourceFile::sample("README.md", "text\n"),
        ];
        let expected = "\
lines                         product    tests
agent/machine                       4        4
xtask                               1        0
all                                 5        4

longest files (at most 500 lines of product code)
    4 agent/machine/src/a.rs
    1 xtask/src/main.rs
    0 agent/machine/tests/it/b.rs

longest functions (at most 80 lines of code)
    1 agent/machine/src/a.rs:2 a
";
        assert_eq!(report(&files), expected);
    }
}
