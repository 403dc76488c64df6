//! Architecture rules as tests: allowed dependencies between our crates, and no IO in core.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use serde_json::Value;

use crate::workspace::{cargo, files, root, stdout};

/// The dependencies of each crate. Changing them changes the architecture.
const ARROWS: &[(&str, &[&str])] = &[
    (
        "deskhand",
        &[
            "deskhand-browser",
            "deskhand-confine",
            "deskhand-desktop",
            "deskhand-desktop-act",
            "deskhand-desktop-detect",
            "deskhand-desktop-linux",
            "deskhand-files",
            "deskhand-fleet",
            "deskhand-host",
            "deskhand-machine",
            "deskhand-model",
            "deskhand-process",
            "deskhand-runtime",
            "deskhand-secret",
            "deskhand-serve",
            "deskhand-ui",
        ],
    ),
    ("deskhand-bench", &["xtask"]),
    ("deskhand-browser", &["deskhand-process"]),
    ("deskhand-confine", &["deskhand-process"]),
    ("deskhand-desktop", &["deskhand-ui"]),
    ("deskhand-desktop-act", &["deskhand-desktop", "deskhand-secret", "deskhand-ui"]),
    (
        "deskhand-desktop-detect",
        &["deskhand-desktop", "deskhand-http", "deskhand-local-client", "deskhand-ui"],
    ),
    ("deskhand-desktop-fake", &["deskhand-desktop", "deskhand-ui"]),
    (
        "deskhand-desktop-linux",
        &[
            "deskhand-desktop",
            "deskhand-desktop-wayland",
            "deskhand-process",
            "deskhand-secret",
            "deskhand-ui",
        ],
    ),
    ("deskhand-desktop-wayland", &["deskhand-desktop", "deskhand-ui"]),
    (
        "deskhand-driver",
        &["deskhand-desktop", "deskhand-desktop-act", "deskhand-desktop-linux", "deskhand-ui"],
    ),
    (
        "deskhand-example-custom-tool",
        &["deskhand-desktop", "deskhand-desktop-act", "deskhand-machine", "deskhand-runtime", "deskhand-ui"],
    ),
    (
        "deskhand-example-embed",
        &[
            "deskhand-desktop",
            "deskhand-desktop-act",
            "deskhand-host",
            "deskhand-machine",
            "deskhand-model",
            "deskhand-runtime",
        ],
    ),
    (
        "deskhand-example-robot-arm",
        &["deskhand-desktop", "deskhand-machine", "deskhand-model", "deskhand-runtime", "deskhand-ui"],
    ),
    ("deskhand-files", &[]),
    ("deskhand-fleet", &[]),
    (
        "deskhand-host",
        &[
            "deskhand-confine",
            "deskhand-desktop",
            "deskhand-desktop-act",
            "deskhand-desktop-detect",
            "deskhand-desktop-linux",
            "deskhand-files",
            "deskhand-http",
            "deskhand-knowledge",
            "deskhand-local-client",
            "deskhand-machine",
            "deskhand-model",
            "deskhand-process",
            "deskhand-runtime",
            "deskhand-secret",
            "deskhand-ui",
        ],
    ),
    ("deskhand-http", &["deskhand-secret"]),
    ("deskhand-knowledge", &["deskhand-files", "deskhand-http", "deskhand-machine", "deskhand-ui"]),
    ("deskhand-local", &["deskhand-local-client"]),
    ("deskhand-local-client", &[]),
    ("deskhand-machine", &["deskhand-ui"]),
    ("deskhand-model", &["deskhand-http", "deskhand-machine", "deskhand-ui"]),
    ("deskhand-process", &[]),
    (
        "deskhand-runtime",
        &[
            "deskhand-confine",
            "deskhand-desktop",
            "deskhand-desktop-act",
            "deskhand-http",
            "deskhand-machine",
            "deskhand-model",
            "deskhand-process",
            "deskhand-secret",
            "deskhand-ui",
        ],
    ),
    ("deskhand-secret", &[]),
    (
        "deskhand-serve",
        &[
            "deskhand-fleet",
            "deskhand-host",
            "deskhand-machine",
            "deskhand-model",
            "deskhand-runtime",
            "deskhand-ui",
        ],
    ),
    ("deskhand-testkit", &["deskhand-process"]),
    ("deskhand-testkit-models", &["deskhand-machine", "deskhand-testkit"]),
    ("deskhand-ui", &[]),
    ("xtask", &[]),
];

/// Crates for tests only; product code must not depend on them.
const TEST_ONLY: &[&str] = &["deskhand-desktop-fake", "deskhand-testkit", "deskhand-testkit-models"];

/// Additional dependencies of tests besides [`TEST_ONLY`]: desktop tests need actions and a back end.
const TESTS_ALSO: &[(&str, &[&str])] = &[
    ("deskhand-desktop-linux", &["deskhand-machine", "deskhand-desktop-act", "deskhand-desktop-detect"]),
    ("deskhand-example-custom-tool", &["deskhand-model"]),
    ("deskhand-example-robot-arm", &["deskhand-desktop-act"]),
    ("deskhand-runtime", &["deskhand-desktop-detect", "deskhand-desktop-linux"]),
];

/// Crates that talk to a display or accessibility bus: only back ends may use them.
const PLATFORM_CRATES: &[&str] = &["atspi", "atspi-common", "wayland-client", "x11rb", "xkeysym", "zbus"];

/// Crates that do IO, read the clock or generate randomness: core must not depend on them.
const IO_CRATES: &[&str] = &[
    "async-io",
    "async-std",
    "atspi",
    "chrono",
    "curl",
    "dbus",
    "fastrand",
    "futures-executor",
    "getrandom",
    "hyper",
    "jiff",
    "libc",
    "mio",
    "nix",
    "polling",
    "rand",
    "reqwest",
    "rusqlite",
    "rustix",
    "rustls",
    "signal-hook",
    "smol",
    "socket2",
    "tempfile",
    "time",
    "tokio",
    "ureq",
    "uuid",
    "walkdir",
    "x11rb",
    "zbus",
];

/// The declared dependencies between our crates: normal ones, and those of tests.
fn declared() -> BTreeMap<String, (BTreeSet<String>, BTreeSet<String>)> {
    let text = stdout(cargo().args(["metadata", "--no-deps", "--offline", "--format-version", "1"])).unwrap();
    let metadata: Value = serde_json::from_str(&text).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let names: BTreeSet<&str> = packages.iter().map(|package| package["name"].as_str().unwrap()).collect();
    let ours = |package: &Value, tests: bool| {
        package["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|dependency| (dependency["kind"] == "dev") == tests)
            .map(|dependency| dependency["name"].as_str().unwrap().to_owned())
            .filter(|name| names.contains(name.as_str()))
            .collect()
    };
    packages
        .iter()
        .map(|package| {
            (package["name"].as_str().unwrap().to_owned(), (ours(package, false), ours(package, true)))
        })
        .collect()
}

#[test]
fn arrows_go_one_way() {
    let declared = declared();
    let expected: BTreeMap<String, BTreeSet<String>> = ARROWS
        .iter()
        .map(|(from, to)| ((*from).to_owned(), to.iter().map(|name| (*name).to_owned()).collect()))
        .collect();
    let found: BTreeMap<String, BTreeSet<String>> =
        declared.iter().map(|(name, (normal, _))| (name.clone(), normal.clone())).collect();
    assert_eq!(found, expected);
}

/// The folder that each crate lies in: `driver`, `agent`, `extras`, `examples` or `xtask`.
fn folders() -> BTreeMap<String, String> {
    let text = stdout(cargo().args(["metadata", "--no-deps", "--offline", "--format-version", "1"])).unwrap();
    let metadata: Value = serde_json::from_str(&text).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .map(|package| {
            let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap());
            let below = manifest.strip_prefix(root()).unwrap();
            let folder = below.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
            (package["name"].as_str().unwrap().to_owned(), folder)
        })
        .collect()
}

#[test]
fn the_driver_stands_without_the_agent() {
    let folders = folders();
    for (name, (normal, _)) in declared() {
        if folders[&name] != "driver" {
            continue;
        }
        let above: Vec<&String> = normal.iter().filter(|other| folders[*other] != "driver").collect();
        assert!(above.is_empty(), "{name} depends on {above:?}");
    }
}

#[test]
fn product_code_does_not_depend_on_test_crates() {
    for (name, (normal, _)) in declared() {
        if TEST_ONLY.contains(&name.as_str()) {
            continue;
        }
        let wrong: Vec<&String> = normal.iter().filter(|other| TEST_ONLY.contains(&other.as_str())).collect();
        assert!(wrong.is_empty(), "{name} depends on {wrong:?}");
    }
}

#[test]
fn tests_add_only_listed_dependencies() {
    for (name, (_, tests)) in declared() {
        let also = TESTS_ALSO.iter().find(|(of, _)| *of == name).map_or(&[][..], |(_, also)| also);
        let listed = |other: &str| TEST_ONLY.contains(&other) || also.contains(&other) || other == name;
        let others: Vec<&String> = tests.iter().filter(|other| !listed(other)).collect();
        assert!(others.is_empty(), "tests of {name} depend on {others:?}");
    }
}

/// The names of a crate's transitive dependencies, itself included, as resolved for this platform.
fn below(package: &str) -> BTreeSet<String> {
    let text = stdout(cargo().args([
        "tree",
        "--offline",
        "--package",
        package,
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ]))
    .unwrap();
    text.lines().filter_map(|line| line.split_whitespace().next()).map(ToOwned::to_owned).collect()
}

#[test]
fn core_is_free_of_io() {
    let crates = below("deskhand-machine");
    assert!(crates.contains("deskhand-ui") && crates.contains("serde"), "{crates:?}");
    let io: Vec<&&str> = IO_CRATES.iter().filter(|name| crates.contains(**name)).collect();
    assert!(io.is_empty(), "deskhand-machine depends on {io:?}");
}

#[test]
fn the_io_list_matches_real_dependencies() {
    let crates = below("deskhand-runtime");
    for name in ["tokio", "rustix", "uuid", "getrandom", "jiff"] {
        assert!(crates.contains(name) && IO_CRATES.contains(&name), "{name}");
    }
}

#[test]
fn actions_and_detection_are_platform_independent() {
    for package in ["deskhand-desktop", "deskhand-desktop-act", "deskhand-desktop-detect"] {
        let crates = below(package);
        let platform: Vec<&&str> = PLATFORM_CRATES.iter().filter(|name| crates.contains(**name)).collect();
        assert!(platform.is_empty(), "{package} depends on {platform:?}");
    }
}

#[test]
fn the_platform_list_matches_real_dependencies() {
    let crates = below("deskhand-desktop-linux");
    for name in ["wayland-client", "x11rb", "zbus"] {
        assert!(crates.contains(name) && PLATFORM_CRATES.contains(&name), "{name}");
    }
}

#[test]
fn the_host_knows_no_command_line_and_never_prints() {
    let crates = below("deskhand-host");
    assert!(crates.contains("deskhand-runtime"), "{crates:?}");
    let found: Vec<&&str> = ["clap", "clap_builder", "tracing-subscriber"]
        .iter()
        .filter(|name| crates.contains(**name))
        .collect();
    assert!(found.is_empty(), "deskhand-host builds on {found:?}");
    let own = |path: &PathBuf| path.starts_with("agent/host/src");
    for file in files().unwrap().into_iter().filter(own) {
        let text = std::fs::read_to_string(root().join(&file)).unwrap();
        for word in ["print!", "println!", "eprint!", "eprintln!", "stdout()", "stderr()"] {
            assert!(!text.contains(word), "{} has {word}", file.display());
        }
    }
}
