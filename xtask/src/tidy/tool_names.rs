//! Core names tools in one file only, which a test of the runtime checks against the registered tools.

use super::{
    code::first_test_line,
    files::{Finding, SourceFile},
};

/// The file with the names.
const HOME: &str = "agent/machine/src/known_tools.rs";

/// Finds tool names in other files of core.
pub(super) fn check(all: &[SourceFile]) -> Vec<Finding> {
    let Some(home) = all.iter().find(|file| file.path == HOME) else { return Vec::new() };
    let names: Vec<String> = home.text().lines().filter_map(name).collect();
    all.iter()
        .filter(|file| file.path.starts_with("agent/machine/src/") && file.is_rust())
        .filter(|file| file.path != HOME && !file.is_test())
        .flat_map(|file| {
            let product = file.text().lines().take(first_test_line(file.text()) - 1).enumerate();
            product
                .filter(|(_, line)| names.iter().any(|name| line.contains(name.as_str())))
                .map(|(index, _)| file.finding(index + 1, format!("tool name; use the constant in {HOME}")))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// The quoted name that a line such as `pub const A: &str = "a";` defines. Single words are skipped: they have other
/// meanings elsewhere.
fn name(line: &str) -> Option<String> {
    let value = line.strip_prefix("pub const ")?.split_once(": &str = ")?.1.strip_suffix(';')?;
    value.contains('_').then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_names_are_found_in_other_files() {
        let home = "//! A.\npub const A: &str = \"click_element\";\npub const B: &str = \"select\";\n";
        let other = "//! B.\nlet a = (\"select\", \"click_element\");\n#[cfg(test)]\nmod tests {\n\"click_element\"\n}\n";
        let files = [
            SourceFile::sample(HOME, home),
            SourceFile::sample("agent/machine/src/b.rs", other),
            SourceFile::sample("agent/machine/src/b_tests.rs", other),
            SourceFile::sample("agent/runtime/src/b.rs", other),
        ];
        let found: Vec<String> = check(&files).iter().map(ToString::to_string).collect();
        assert_eq!(found, [format!("agent/machine/src/b.rs:2: tool name; use the constant in {HOME}")]);
    }

    #[test]
    fn the_file_with_the_names_exists() {
        let files = super::super::files::read().unwrap();
        let home = files.iter().find(|file| file.path == HOME).unwrap();
        assert!(home.text().lines().filter_map(name).count() > 4);
    }
}
