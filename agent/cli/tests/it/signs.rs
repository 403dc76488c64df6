//! Signs of life: while a session waits, it says for what and since when.
//!
//! Skipped if the programs of a virtual desktop or the editor are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::process::Command;

use deskhand_testkit::endpoint::{Behaviour, MockEndpoint};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    support::{World, has_desktop},
    talk::{Program, Terminal},
};

/// The reply of a HostAgent that has nothing to do.
const DONE: &str =
    r#"{"observation": "nothing", "thought": "done", "status": "FINISH", "result": "nothing to do"}"#;

/// A request to the model at an address.
fn run(world: &World, address: &str, more: &[&str]) -> Command {
    let arguments = ["run", "do nothing", "--ask", "never", "--model", "openai:mock", "--base-url", address];
    world.command(&[&arguments[..], more].concat())
}

/// The first sign of life after the desktop has started, which takes long on a busy machine.
fn wait_past_desktop(program: &mut Program) -> Value {
    loop {
        let sign = program.wait_for("waiting");
        if sign["on"] != "desktop" {
            return sign;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_model_is_waited_for_with_signs_of_life() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let endpoint = MockEndpoint::start([Behaviour::Held(DONE.to_owned())]).await.unwrap();
    let mut program = Program::start(run(&world, &endpoint.base_url(), &["--json"]));
    let first = tokio::task::block_in_place(|| wait_past_desktop(&mut program));
    assert_eq!((&first["on"], &first["next_try_ms"]), (&"reply".into(), &().into()), "{first}");
    let model = first["detail"].as_str().unwrap();
    assert!(model.contains("mock") && model.contains(&endpoint.base_url()), "{first}");
    // Again as long as it lasts, and since when counts from the beginning.
    let second = tokio::task::block_in_place(|| program.wait_for("waiting"));
    assert!(second["elapsed_ms"].as_u64() > first["elapsed_ms"].as_u64(), "{first} {second}");
    endpoint.release();
    let summary = tokio::task::block_in_place(|| program.wait_for("summary"));
    assert_eq!((&summary["outcome"], &summary["model_calls"]), (&"finished".into(), &1.into()), "{summary}");
    assert_eq!(program.end(), Some(0));
    assert_eq!(endpoint.requests().len(), 1, "a model that works is not asked again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_has_a_line_now_and_then() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let endpoint = MockEndpoint::start([Behaviour::Held(DONE.to_owned())]).await.unwrap();
    let mut terminal = Terminal::start(run(&world, &endpoint.base_url(), &[]));
    tokio::task::block_in_place(|| {
        // A terminal that cannot clear a line gets lines.
        terminal.wait_for("waiting   10 s for a reply of openai mock");
        terminal.wait_for("waiting   20 s for a reply of openai mock");
        endpoint.release();
        terminal.wait_for("nothing to do");
        terminal.wait_for("Finished");
    });
    assert_eq!(terminal.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_has_one_line_that_changes() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let endpoint = MockEndpoint::start([Behaviour::Held(DONE.to_owned())]).await.unwrap();
    let mut command = run(&world, &endpoint.base_url(), &[]);
    command.env("NO_COLOR", "1");
    let mut terminal = Terminal::start_as("xterm", command);
    tokio::task::block_in_place(|| {
        for elapsed in [3, 4, 5] {
            terminal.wait_for(&format!("\r\u{1b}[2K  waiting   {elapsed} s for a reply of openai mock"));
        }
        endpoint.release();
        // What comes next takes its place.
        terminal.wait_for("\r\u{1b}[2K  result    nothing to do\r\n");
        terminal.wait_for("Finished");
    });
    assert_eq!(terminal.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_is_down_is_named_with_the_next_try() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let busy = Behaviour::error(429, "rate_limit", "slow down").with_header("retry-after", "3");
    let mut endpoint =
        MockEndpoint::start([busy, Behaviour::status(503, "boom"), Behaviour::reply(DONE)]).await.unwrap();
    let mut terminal = Terminal::start(run(&world, &endpoint.base_url(), &[]));
    tokio::task::block_in_place(|| {
        terminal.wait_for("model     next try in 3 s, 2 of 8:");
        terminal.wait_for("429");
        // Up to two seconds: half of a wait is left to chance.
        terminal.wait_for("s, 3 of 8:");
        terminal.wait_for("503");
        terminal.wait_for("Finished");
    });
    assert_eq!(terminal.end(), Some(0));

    let address = endpoint.base_url();
    endpoint.kill().await;
    let mut program = Program::start(run(&world, &address, &["--json"]));
    let sign = tokio::task::block_in_place(|| wait_past_desktop(&mut program));
    assert_eq!(sign["on"], "retry", "{sign}");
    assert!(sign["detail"].as_str().unwrap().contains("cannot connect"), "{sign}");
    assert!(sign["next_try_ms"].as_u64().unwrap() <= 1_000, "{sign}");
    kill_process(Pid::from_child(&program.child), Signal::INT).unwrap();
    tokio::task::block_in_place(|| program.wait_for("summary"));
    assert_eq!(program.end(), Some(130));
    assert_eq!(world.orphans(), Vec::<String>::new());
}
