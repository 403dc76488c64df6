//! Tests of the compiler versions: the pinned one and the minimum supported one.

use std::fs;

use serde_json::Value;

use crate::{
    tools::Version,
    workspace::{cargo, root, stdout},
};

/// The value of `key = "value"` at the start of a line in a workspace file.
fn value(file: &str, key: &str) -> String {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='));
    line.unwrap_or_else(|| panic!("{file} has no {key}")).trim().trim_matches('"').to_owned()
}

/// The minimum supported Rust version.
fn oldest() -> Version {
    Version::of_manifest(&value("Cargo.toml", "rust-version")).unwrap()
}

#[test]
fn the_pinned_compiler_meets_the_minimum_version() {
    let pinned = Version::of_manifest(&value("rust-toolchain.toml", "channel")).unwrap();
    assert!(pinned >= oldest(), "{pinned} is pinned, the minimum is {}", oldest());
}

#[test]
fn no_dependency_exceeds_the_minimum_version() {
    let about = stdout(cargo().args(["--version", "--verbose"])).unwrap();
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let arguments = ["metadata", "--format-version", "1", "--offline", "--locked", "--filter-platform", host];
    let metadata: Value = serde_json::from_str(&stdout(cargo().args(arguments)).unwrap()).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 100, "{} packages", packages.len());
    let later: Vec<String> = packages
        .iter()
        .filter_map(|package| {
            let needed = package["rust_version"].as_str()?;
            let version = Version::of_manifest(needed).unwrap();
            (version > oldest()).then(|| format!("{} {} needs {needed}", package["name"], package["version"]))
        })
        .collect();
    assert!(later.is_empty(), "rust-version is {}, but {later:?}", oldest());
}
