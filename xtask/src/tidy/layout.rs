//! Rules for file locations, names and sizes.

use super::files::{Finding, SourceFile};

/// The maximum file size, in bytes.
const SIZE_MAX: u64 = 2 * 1024 * 1024;

/// File names that do not describe their content.
const EMPTY_NAMES: &[&str] = &["utils.rs", "util.rs", "helpers.rs", "misc.rs", "common.rs", "stuff.rs"];

/// Checks one file.
pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    [size(file), name(file), integration_tests(file)].concat()
}

fn size(file: &SourceFile) -> Vec<Finding> {
    if file.size <= SIZE_MAX {
        return Vec::new();
    }
    vec![file.finding(1, format!("{} bytes; the maximum is {SIZE_MAX}", file.size))]
}

fn name(file: &SourceFile) -> Vec<Finding> {
    if !EMPTY_NAMES.contains(&file.name()) {
        return Vec::new();
    }
    vec![file.finding(1, "the file name does not describe the content")]
}

/// Each file directly in `tests` is a separate binary, linked against everything.
fn integration_tests(file: &SourceFile) -> Vec<Finding> {
    let parts: Vec<&str> = file.path.split('/').collect();
    let binary = match parts.as_slice() {
        ["driver" | "agent" | "extras", _, "tests", name] => name.ends_with(".rs"),
        ["driver" | "agent" | "extras", _, "tests", folder, "main.rs"] => *folder != "it",
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
    fn vague_names_are_found() {
        assert_eq!(messages("agent/machine/src/utils.rs").len(), 1);
        assert!(messages("driver/ui/src/geometry.rs").is_empty());
    }

    #[test]
    fn a_second_test_binary_is_found() {
        assert!(messages("agent/cli/tests/it/main.rs").is_empty());
        assert!(messages("agent/cli/tests/it/run.rs").is_empty());
        assert!(messages("agent/cli/tests/it/run/main.rs").is_empty());
        assert!(messages("agent/cli/src/tests/picture.rs").is_empty());
        assert_eq!(messages("agent/cli/tests/run.rs").len(), 1);
        assert_eq!(messages("agent/cli/tests/other/main.rs").len(), 1);
    }
}
