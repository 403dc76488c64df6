//! Runs the commands of a page and compares their output with the page.

use std::process::{Command, Stdio};

use deskhand_ui::text::collapse_whitespace;

use super::page::{self, Page, Piece};
use crate::support::World;

/// The timeout of one command, in seconds.
const COMMAND_S: &str = "120";

/// Runs the commands of a page in order, each in its own shell in the home folder.
pub(super) fn run(page: &Page, world: &World) {
    for piece in &page.pieces {
        match piece {
            Piece::File { name, text } => {
                world.file(name, text);
            }
            Piece::Commands { commands, exit, norun: None, .. } => {
                for (index, command) in commands.iter().enumerate() {
                    let is_last = index + 1 == commands.len();
                    type_command(page, command, if is_last { *exit } else { 0 }, world);
                }
            }
            Piece::Commands { norun: Some(_), .. } | Piece::Configuration { .. } => {}
        }
    }
    assert_eq!(world.orphans(), Vec::<String>::new(), "{}: what its commands left running", page.path);
}

fn type_command(page: &Page, command: &page::Command, exit: i32, world: &World) {
    let mut shell = Command::new("timeout");
    world.prepare(&mut shell);
    let script = format!("exec 2>&1\n{}", command.text);
    let output = shell.args([COMMAND_S, "sh", "-c", &script]).stdin(Stdio::null()).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let printed = world.scrub(&printed, "/home/me");
    let at = format!("{}:{}: `{}`", page.path, command.line, command.text);
    assert_eq!(output.status.code(), Some(exit), "{at} printed:\n{printed}");
    let shown: Vec<&str> = command.output.iter().map(String::as_str).collect();
    let lines: Vec<&str> = printed.lines().collect();
    assert!(
        shown.is_empty() || fits(&shown, &lines),
        "{at} printed:\n{printed}\nand the page shows:\n{}",
        shown.join("\n")
    );
}

/// Returns `true` if lines match the page.
fn fits(shown: &[&str], printed: &[&str]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((&"…", rest)), None) => fits(rest, printed),
        (Some((&"…", rest)), Some((_, after))) => fits(rest, printed) || fits(shown, after),
        (Some((line, rest)), Some((first, after))) => fits_line(line, first) && fits(rest, after),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// Returns `true` if a line matches the page, ignoring the padding of columns.
fn fits_line(shown: &str, printed: &str) -> bool {
    let mut parts = shown.split('…').map(str::trim);
    let printed = collapse_whitespace(printed);
    let Some(mut rest) = parts.next().and_then(|start| printed.strip_prefix(&collapse_whitespace(start)))
    else {
        return false;
    };
    let parts: Vec<String> = parts.map(collapse_whitespace).collect();
    for (index, part) in parts.iter().enumerate() {
        let is_last = index + 1 == parts.len();
        let found = if is_last {
            rest.ends_with(part.as_str()).then(|| rest.len() - part.len())
        } else {
            rest.find(part)
        };
        match found.and_then(|at| rest.get(at + part.len()..)) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    !parts.is_empty() || rest.is_empty()
}

#[test]
fn dots_match_any_text_and_any_lines() {
    let check = |shown: &[&str], printed: &[&str], expected: bool| {
        assert_eq!(fits(shown, printed), expected, "{shown:?} {printed:?}");
    };
    check(&["a", "b"], &["a", "b"], true);
    check(&["a"], &["a", "b"], false);
    check(&["a", "b"], &["a"], false);
    check(&["a", "…"], &["a"], true);
    check(&["…", "c"], &["a", "b", "c"], true);
    check(&["…", "c", "…"], &["a", "b", "c", "d"], true);
    check(&["…", "x", "…"], &["a", "b"], false);
    check(&["session …"], &["session    01a2"], true);
    check(&["a … c"], &["a b c"], true);
    check(&["a … c"], &["a b"], false);
    check(&["… c"], &["c c"], true);
    check(&["a b"], &["a   b  "], true);
}
