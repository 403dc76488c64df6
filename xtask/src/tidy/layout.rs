//! Rules for where things lie, and how large they are.

use super::files::{Finding, SourceFile};

/// Nothing larger is committed.
const SIZE_MAX: u64 = 2 * 1024 * 1024;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["utils.rs", "util.rs", "helpers.rs", "misc.rs", "common.rs", "stuff.rs"];

/// Checks one file.
pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    [size(file), name(file), integration_tests(file)].concat()
}

fn size(file: &SourceFile) -> Vec<Finding> {
    if file.size <= SIZE_MAX {
        return Vec::new();
    }
    vec![file.finding(1, format!("{} bytes; nothing over {SIZE_MAX} is committed", file.size))]
}

fn name(file: &SourceFile) -> Vec<Finding> {
    if !EMPTY_NAMES.contains(&file.name()) {
        return Vec::new();
    }
    vec![file.finding(1, "a name that says nothing about what is inside")]
}

/// Every file right below `tests` is a binary of its own, linked against everything.
fn integration_tests(file: &SourceFile) -> Vec<Finding> {
    let parts: Vec<&str> = file.path.split('/').collect();
    let binary = match parts.as_slice() {
        ["crates", _, "tests", name] => name.ends_with(".rs"),
        ["crates", _, "tests", folder, "main.rs"] => *folder != "it",
        _ => false,
    };
    if !binary {
        return Vec::new();
    }
    vec![file.finding(1, "one integration test binary per crate: put it beside tests/it/main.rs")]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str) -> Vec<String> {
        check(&SourceFile::sample(path, "//! A.\n")).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn large_files_are_found() {
        let mut file = SourceFile::sample("docs/images/a.png", "");
        file.size = SIZE_MAX;
        assert!(check(&file).is_empty());
        file.size += 1;
        assert_eq!(check(&file).len(), 1);
    }

    #[test]
    fn empty_names_are_found() {
        assert_eq!(messages("crates/core/src/utils.rs").len(), 1);
        assert!(messages("crates/core/src/geometry.rs").is_empty());
    }

    #[test]
    fn a_second_test_binary_is_found() {
        assert!(messages("crates/cli/tests/it/main.rs").is_empty());
        assert!(messages("crates/cli/tests/it/run.rs").is_empty());
        assert!(messages("crates/cli/tests/it/run/main.rs").is_empty());
        assert!(messages("crates/cli/src/tests/picture.rs").is_empty());
        assert_eq!(messages("crates/cli/tests/run.rs").len(), 1);
        assert_eq!(messages("crates/cli/tests/other/main.rs").len(), 1);
    }
}
