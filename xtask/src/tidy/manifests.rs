//! Rules for `Cargo.toml`.

use super::files::{Finding, SourceFile};

/// Checks one file.
pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    if file.name() != "Cargo.toml" {
        return Vec::new();
    }
    if file.path == "Cargo.toml" {
        reasons(file)
    } else {
        [shared_versions(file), shared_lints(file)].concat()
    }
}

/// Each dependency group of the workspace needs a reason.
fn reasons(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut explained = false;
    for (number, section, line) in sectioned(file.text()) {
        if line.is_empty() {
            explained = false;
        } else if line.starts_with('#') {
            explained = true;
        } else if section == "workspace.dependencies" && !explained && !line.contains("path = ") {
            findings.push(file.finding(number, "dependency without a reason: add a comment above it"));
        }
    }
    findings
}

/// Crates use the workspace's dependency versions.
fn shared_versions(file: &SourceFile) -> Vec<Finding> {
    sectioned(file.text())
        .filter(|(_, section, line)| {
            section.ends_with("dependencies")
                && !line.is_empty()
                && !line.starts_with('#')
                && !line.contains("workspace")
        })
        .map(|(number, _, _)| {
            file.finding(number, "declare versions in the workspace manifest: `.workspace = true`")
        })
        .collect()
}

/// Crates use the workspace's lints.
fn shared_lints(file: &SourceFile) -> Vec<Finding> {
    if sectioned(file.text()).any(|(_, section, line)| section == "lints" && line == "workspace = true") {
        return Vec::new();
    }
    vec![file.finding(1, "missing workspace lints: [lints] workspace = true")]
}

/// The lines of a manifest with number and section, without headings.
fn sectioned(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    let mut section = "";
    text.lines().enumerate().filter_map(move |(index, line)| {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
            return None;
        }
        Some((index + 1, section, line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_lines(path: &str, text: &str, expected: &[&str]) {
        let found: Vec<String> =
            check(&SourceFile::sample(path, text)).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, start) in found.iter().zip(expected) {
            assert!(found.starts_with(start), "{found}, not {start}");
        }
    }

    #[test]
    fn dependencies_need_a_reason() {
        let good =
            "[workspace.dependencies]\nours = { path = \"a\" }\n\n# Data.\nserde = \"1\"\ntoml = \"1\"\n";
        check_lines("Cargo.toml", good, &[]);
        let bad = "# A heading.\n[workspace.dependencies]\n# Data.\nserde = \"1\"\n\ntoml = \"1\"\n\n[profile.dev]\ndebug = 1\n";
        check_lines("Cargo.toml", bad, &["Cargo.toml:6: dependency without a reason"]);
    }

    #[test]
    fn crates_share_versions_and_lints() {
        let good = "[package]\nname = \"a\"\n[lints]\nworkspace = true\n[dependencies]\n# Why.\nserde.workspace = true\n";
        check_lines("agent/a/Cargo.toml", good, &[]);
        let bad = "[package]\nname = \"a\"\n\n[target.'cfg(x)'.dependencies]\nserde = \"1\"\n[dev-dependencies]\nz = \"2\"\n";
        let expected = [
            "agent/a/Cargo.toml:5: declare versions",
            "agent/a/Cargo.toml:7: declare versions",
            "agent/a/Cargo.toml:1: missing",
        ];
        check_lines("agent/a/Cargo.toml", bad, &expected);
        check_lines("docs/a.toml", bad, &[]);
    }
}
