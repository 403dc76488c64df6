//! `deskhand mcp`, driven by client libraries of others: the official ones for Python and TypeScript, in both of its versions, and FastMCP.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use deskhand_testkit::programs::can_run;

use crate::{mcp_http::HttpServer, support::World};

/// A rule by which typing is asked about.
const TYPING_IS_ASKED: &str =
    "[[policy.rules]]\ntool = \"type_text\"\ndecision = \"ask\"\nreason = \"typing is asked about\"\n";

/// The Python environment with the clients of others that `cargo xtask setup` makes; `None` if the test is to be skipped.
fn environment() -> Option<PathBuf> {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/wheels/mcp/bin/python");
    let node = python.with_file_name("node");
    let missing =
        (!(python.is_file() && node.exists())).then(|| "the clients of MCP (cargo xtask setup)".to_owned());
    can_run(missing.into_iter().collect(), &["Xvfb", "mousepad"]).then_some(python)
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(name)
}

/// Runs a client that writes a note; everything but `script` comes before the file.
fn writes_a_note(world: &World, mut command: Command, after: &[&str]) {
    let file = world.path().join("note.txt");
    command.arg(&file).args(after);
    world.prepare(&mut command);
    let shown = world.shown(&command.output().unwrap());
    assert!(shown.starts_with("exit 0\n") && shown.contains("ended"), "{shown}");
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), "from another client");
    fs::remove_file(&file).unwrap();
}

#[test]
fn the_official_clients_for_typescript_work() {
    let Some(python) = environment() else { return };
    let bin = python.parent().unwrap();
    let folder = bin.parent().unwrap().join("script").canonicalize().unwrap();
    let world = World::new();
    world.configure(TYPING_IS_ASKED);
    for client in ["mcp_client.mjs", "mcp_modern.mjs"] {
        let mut command = Command::new(bin.join("node"));
        command.arg(script(client)).arg("deskhand");
        writes_a_note(&world, command, &[folder.to_str().unwrap()]);
    }
    assert_eq!(world.processes(), [], "processes are left");
}

#[test]
fn the_official_client_for_python_and_fastmcp_work() {
    let Some(python) = environment() else { return };
    let world = World::new();
    world.configure(TYPING_IS_ASKED);
    for client in [&["mcp_client.py"][..], &["mcp_modern.py", "mcp"], &["mcp_modern.py", "fastmcp"]] {
        let mut command = Command::new(&python);
        command.arg("-I").arg(script(client[0])).args(&client[1..]).arg("deskhand");
        writes_a_note(&world, command, &[]);
    }
    assert_eq!(world.processes(), [], "processes are left");
}

#[test]
fn they_work_over_http() {
    let Some(python) = environment() else { return };
    let world = World::new();
    world.configure(TYPING_IS_ASKED);
    let server = HttpServer::start(&world, &[]);
    for client in [&["mcp_client.py"][..], &["mcp_modern.py", "mcp"], &["mcp_modern.py", "fastmcp"]] {
        let mut command = Command::new(&python);
        command.arg("-I").arg(script(client[0])).args(&client[1..]).arg(&server.url);
        writes_a_note(&world, command, &[&server.token]);
    }
    server.end();
    assert_eq!(world.processes(), [], "processes are left");
}
