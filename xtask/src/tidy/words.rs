//! Rules for all texts: white space, notes, machine-specific paths, broken links.

use super::{
    code::first_test_line,
    files::{Finding, SourceFile},
};

/// Notes to self; open work belongs in issues.
const NOTES: &[&str] = &["TODO", "FIXME", "XXX", "HACK"];

/// Folders of a particular machine.
const MACHINE_FOLDERS: &[&str] = &["/home/", "/root/", "/tmp/"];
/// Paths that are the same on every machine, or placeholders.
const SHARED_PATHS: &[&str] = &["/tmp/.X11-unix", "/tmp/.X{}-lock", "/home/me/"];

/// This file contains the patterns itself.
const ITSELF: &str = "xtask/src/tidy/words.rs";
/// Third-party texts.
const FOREIGN: &[&str] = &["Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT"];

/// Checks one file; `all` are the possible link targets.
pub(super) fn check(file: &SourceFile, all: &[SourceFile]) -> Vec<Finding> {
    if FOREIGN.contains(&file.path.as_str()) {
        return Vec::new();
    }
    let mut findings = [line_ends(file), links(file, all)].concat();
    if file.path != ITSELF {
        findings.extend(notes(file));
        findings.extend(machine_folders(file));
    }
    findings
}

fn line_ends(file: &SourceFile) -> Vec<Finding> {
    if file.path.ends_with(".snap") {
        return Vec::new();
    }
    let mut findings: Vec<Finding> = numbered(file.text())
        .filter(|(_, line)| line.ends_with(char::is_whitespace))
        .map(|(number, _)| file.finding(number, "trailing white space"))
        .collect();
    if !file.text().is_empty() && !file.text().ends_with('\n') {
        findings.push(file.finding(file.text().lines().count(), "no newline at end of file"));
    }
    findings
}

fn notes(file: &SourceFile) -> Vec<Finding> {
    numbered(file.text())
        .flat_map(|(number, line)| {
            let words = line.split(|character: char| !character.is_alphanumeric() && character != '_');
            words.filter(|word| NOTES.contains(word)).map(move |word| (number, word))
        })
        .map(|(number, word)| file.finding(number, format!("`{word}`: resolve it or open an issue")))
        .collect()
}

fn machine_folders(file: &SourceFile) -> Vec<Finding> {
    let tests_from = if file.is_test() { 1 } else { first_test_line(file.text()) };
    let mut findings = Vec::new();
    for (number, line) in numbered(file.text()).filter(|(number, _)| *number < tests_from) {
        for folder in MACHINE_FOLDERS {
            if names_path(line, folder) {
                findings.push(file.finding(number, format!("`{folder}`: machine-specific path")));
            }
        }
    }
    findings
}

/// Returns `true` if the line contains a path that starts with `folder`; `target/tmp/` does not start with `/tmp/`.
fn names_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(position, _)| {
        let before = line.get(..position).and_then(|text| text.chars().next_back());
        let after = line.get(position..).unwrap_or_default();
        before.is_none_or(|character| !character.is_alphanumeric() && !"_-.~$*}>/".contains(character))
            && !SHARED_PATHS.iter().any(|path| after.starts_with(path))
    })
}

fn links(file: &SourceFile, all: &[SourceFile]) -> Vec<Finding> {
    if !file.path.ends_with(".md") {
        return Vec::new();
    }
    let mut fenced = false;
    let mut findings = Vec::new();
    for (number, line) in numbered(file.text()) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced || line.trim_start().starts_with("<!--") {
            continue;
        }
        for target in link_targets(line) {
            let path = resolve(&file.path, target);
            if !all.iter().any(|other| other.path == path || other.path.starts_with(&format!("{path}/"))) {
                findings.push(file.finding(number, format!("broken link `{target}`")));
            }
        }
    }
    findings
}

/// The targets of `[text](target)` that are repository files, without anchors.
fn link_targets(line: &str) -> Vec<&str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.split('#').next().unwrap_or(target))
        .filter(|target| !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:"))
        .collect()
}

/// Resolves a relative link to a path below the root.
fn resolve(from: &str, link: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_lines(path: &str, text: &str, expected: &[usize]) {
        let others = [SourceFile::sample("docs/b.md", ""), SourceFile::sample("README.md", "")];
        let found: Vec<String> =
            check(&SourceFile::sample(path, text), &others).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), expected.len(), "{text}\n{found:#?}");
        for (found, line) in found.iter().zip(expected) {
            assert!(found.starts_with(&format!("{path}:{line}: ")), "{found}, not line {line}");
        }
    }

    #[test]
    fn line_endings_are_checked() {
        check_lines("a.md", "a\nb\n", &[]);
        check_lines("a.md", "a \nb\t\nc\r\n", &[1, 2]);
        check_lines("a.md", "a\nb", &[2]);
        check_lines("a.snap", "a \n", &[]);
    }

    #[test]
    fn notes_are_found() {
        check_lines("a.rs", "// TODO: more\n// (FIXME)\n", &[1, 2]);
        check_lines("a.sh", "mktemp deskhand.XXXXXX\n# a todo list\n", &[]);
        check_lines("Cargo.lock", "TODO\n", &[]);
    }

    #[test]
    fn machine_specific_paths_are_found() {
        check_lines(
            "README.md",
            "see /home/jo/a (not /home/me/a)\n`/root/x`, target/tmp/x, ~/tmp/x\n",
            &[1, 2],
        );
        check_lines("agent/a/src/b.rs", "let socket = \"/tmp/.X11-unix/X1\";\nlet x = \"/tmp/x\";\n", &[2]);
        check_lines("agent/a/src/b.rs", "#[cfg(test)]\nmod tests {\n\"/tmp/x\"\n}\n", &[]);
        check_lines("agent/a/tests/it/b.rs", "\"/home/x\"\n", &[]);
    }

    #[test]
    fn broken_links_are_found() {
        check_lines(
            "a.md",
            "[b](docs/b.md) [c](docs/b.md#part) [d](https://example.org/x) [e](#here)\n",
            &[],
        );
        check_lines("a.md", "[b](docs/c.md) ![d](docs/d.png)\n", &[1, 1]);
        check_lines("docs/a.md", "[b](b.md) [r](../README.md) [d](../docs)\n", &[]);
        check_lines("docs/a.md", "[b](docs/b.md)\n```\n[x](y)\n```\n<!-- [x](y) -->\n", &[1]);
    }
}
