//! Perception and action by hand, each on a virtual desktop started for one command.
//!
//! Skipped if the programs of a virtual desktop or the editor are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{fs, os::unix::fs::PermissionsExt as _};

use crate::support::{World, has_desktop, has_programs};

const EDITOR: [&str; 4] = ["--desktop", "virtual", "--launch", "mousepad"];

#[test]
fn window_is_listed_read_and_captured() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let windows = world.run(&[&["windows", "--json"], &EDITOR[..]].concat());
    assert!(windows.starts_with("exit 0\n") && windows.contains("\"accessible\": true"), "{windows}");
    let tree = world.run(&[&["tree", "mousepad"], &EDITOR[..]].concat());
    assert!(tree.starts_with("exit 0\n"), "{tree}");
    assert!(tree.contains("] menu \"File\"") && tree.contains("] text"), "{tree}");
    let arguments = [&["screenshot", "screen.png", "--size", "800x600"], &EDITOR[..]].concat();
    assert_eq!(world.run(&arguments), "exit 0\n--- out\nscreen.png (800x600)\n");
    let screen = world.path().join("screen.png");
    assert!(fs::read(&screen).unwrap().starts_with(b"\x89PNG"));
    assert_eq!(fs::metadata(screen).unwrap().permissions().mode() & 0o777, 0o600, "for its owner alone");
    assert_eq!(world.orphans(), Vec::<String>::new());
}

#[test]
fn action_reports_its_effect() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let act = |arguments: &[&str]| world.run(&[&["act"], &EDITOR[..], arguments].concat());
    let typed = act(&["type", "--into", "text", "grüße ☃"]);
    assert!(typed.starts_with("exit 0\n--- out\nseen  ") && typed.contains("grüße ☃"), "{typed}");
    let missing = act(&["click", "Fiel"]);
    assert!(missing.starts_with("exit 1\n"), "{missing}");
    assert!(missing.contains("no element matches `Fiel`") && missing.contains("menu \"File\""), "{missing}");
    let refused = act(&["visit", "File", "Print to the moon"]);
    assert!(refused.starts_with("exit 1\n--- out\nrefused  "), "{refused}");
    let pictured = act(&["press", "ctrl+n", "--screenshot", "after.png"]);
    assert!(pictured.starts_with("exit 0\n"), "{pictured}");
    assert!(fs::read(world.path().join("after.png")).unwrap().starts_with(b"\x89PNG"), "{pictured}");
    assert_eq!(world.orphans(), Vec::<String>::new());
}

#[test]
fn missing_program_or_window() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let shown = world.run(&["windows", "--desktop", "virtual", "--launch", "no-such-program"]);
    assert!(shown.starts_with("exit 1\n") && shown.contains("failed to launch `no-such-program`"), "{shown}");
    let shown = world.run(&["tree", "Calc", "--desktop", "virtual"]);
    assert!(shown.contains("no window matches `Calc`") && shown.contains("--launch PROGRAM"), "{shown}");
    assert_eq!(world.orphans(), Vec::<String>::new());
}

#[test]
fn document_opened_on_a_virtual_desktop_is_not_locked_afterwards() {
    if !has_programs(&["soffice"]) {
        return;
    }
    let world = World::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sales/sales.odt");
    fs::copy(example, world.path().join("sales.odt")).unwrap();
    for _ in 0..2 {
        let shown = world.run(&["act", "--desktop", "virtual", "--open", "sales.odt", "read-table"]);
        assert!(shown.starts_with("exit 0\n") && shown.contains("Region"), "{shown}");
    }
    assert_eq!(world.orphans(), Vec::<String>::new());
}
