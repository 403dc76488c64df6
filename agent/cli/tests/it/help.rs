//! Help texts.

use crate::support::World;

#[test]
fn every_command_has_help_and_the_first_page_has_examples() {
    let world = World::new();
    let first = world.run(&["--help"]);
    assert!(first.contains("Examples:") && first.contains("deskhand doctor"), "{first}");
    for command in [
        "run",
        "doctor",
        "desktop",
        "windows",
        "tree",
        "screenshot",
        "act",
        "sessions",
        "show",
        "replay",
        "config",
    ] {
        assert!(first.contains(&format!("\n  {command} ")), "{command} in {first}");
        let help = world.run(&[command, "--help"]);
        assert!(help.starts_with("exit 0\n") && help.contains("Usage: deskhand"), "{help}");
    }
    assert!(world.run(&["run", "--help"]).contains("Examples:"));
}

#[test]
fn version_is_printed() {
    assert_eq!(
        World::new().run(&["--version"]),
        format!("exit 0\n--- out\ndeskhand {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn closed_pipe_is_not_an_error() {
    let world = World::new();
    let shell = format!("{} config schema | head -n 1", env!("CARGO_BIN_EXE_deskhand"));
    let output =
        std::process::Command::new("sh").args(["-c", &shell]).env("HOME", world.path()).output().unwrap();
    assert_eq!(world.shown(&output), "exit 0\n--- out\n{\n");
}
