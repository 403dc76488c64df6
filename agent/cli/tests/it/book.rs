//! Runs the commands of the book and the README as a reader would: page by page, from the top, with an empty home folder.
//!
//! - A `console` block has commands after `$ `, followed by their output. In the output, `…` matches any text, and a line with
//!   only `…` matches any lines. `console,exit=10` gives the exit code of the last command.
//! - `<!-- file: NAME -->` before a block: its content is written to this file.
//! - `<!-- given: NAME`, lines, `-->`: the same for a file that the page does not show.
//! - `<!-- norun: REASON -->` before a `console` block: it is not run, but its commands and options must exist, like those in
//!   the text.
//! - Any other `toml` block is a configuration and must be valid.
//! - Repository paths in the text must exist.

mod check;
mod page;
mod play;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use deskhand_testkit::programs::can_run;
use page::{Page, Piece};

use crate::support::{World, has_programs};

/// A test per page, so that they run in parallel and a failure names its page. After `on`: the programs that the page
/// needs.
macro_rules! pages {
    ($($name:ident: $path:literal $(on $($program:literal),+)?;)+) => {
        const PAGES: &[&str] = &[$($path),+];
        $(
            #[test]
            fn $name() {
                try_page($path, &[$($($program),+)?]);
            }
        )+
    };
}

pages! {
    readme: "README.md" on "mousepad";
    contributing: "CONTRIBUTING.md";
    security: "SECURITY.md";
    introduction: "docs/introduction.md";
    get_started: "docs/get-started.md" on "mousepad";
    concepts: "docs/concepts.md";
    glossary: "docs/glossary.md";
    agents: "docs/guides/agents.md";
    clients: "docs/guides/clients.md";
    documents: "docs/guides/documents.md" on "mousepad";
    embedding: "docs/guides/embedding.md";
    local_models: "docs/guides/local-models.md";
    mcp: "docs/guides/mcp.md" on "python3";
    own_desktop: "docs/guides/own-desktop.md";
    pictures: "docs/guides/pictures.md";
    policies: "docs/guides/policies.md" on "mousepad";
    protocol: "docs/guides/protocol.md" on "mousepad";
    recipes: "docs/guides/recipes.md" on "mousepad", "soffice", "chromium";
    reports: "docs/guides/reports.md" on "mousepad";
    scripts: "docs/guides/scripts.md" on "mousepad";
    secrets: "docs/guides/secrets.md" on "mousepad";
    fleet: "docs/guides/fleet.md";
    fleet_security: "docs/guides/fleet-security.md";
    fleet_operations: "docs/guides/fleet-operations.md";
    fleet_capacity: "docs/guides/fleet-capacity.md";
    serve: "docs/guides/serve.md";
    schedules: "docs/guides/schedules.md";
    sessions: "docs/guides/sessions.md" on "mousepad";
    telemetry: "docs/guides/telemetry.md";
    more_tools: "docs/guides/tools.md";
    workflow_files: "docs/guides/workflows.md";
    knowledge: "docs/guides/knowledge.md";
    troubleshooting: "docs/guides/troubleshooting.md" on "mousepad";
    api: "docs/reference/api.md";
    toolkits: "docs/reference/toolkits.md";
    applications: "docs/applications.md";
    commands: "docs/reference/cli.md";
    configuration: "docs/reference/configuration.md";
    mcp_conformance: "docs/reference/mcp-conformance.md";
    model_failures: "docs/reference/model-failures.md";
    script_reference: "docs/reference/scripts.md";
    states: "docs/reference/states.md";
    tools: "docs/reference/tools.md";
    session_machine: "docs/internals/session-machine.md";
    live: "docs/internals/live.md";
    memory: "docs/internals/memory.md";
    gate: "docs/internals/gate.md";
    journal: "docs/internals/journal.md" on "mousepad";
    mirror: "docs/internals/mirror.md" on "mousepad";
    settling: "docs/internals/settling.md";
    effects: "docs/internals/effects.md" on "mousepad";
    measuring_actions: "docs/internals/measuring-actions.md";
    keeper: "docs/internals/keeper.md";
    fleet_simulation: "docs/internals/fleet-simulation.md";
    red_team: "docs/internals/red-team.md";
    sandbox: "docs/internals/sandbox.md";
    decisions: "docs/design/decisions.md";
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> Page {
    Page::parse(path, &fs::read_to_string(root().join(path)).unwrap())
}

fn try_page(path: &str, programs: &[&str]) {
    let page = read(path);
    check::commands_exist(&page);
    check::configurations_are_accepted(&page);
    check::paths_exist(&page, &root());
    if programs.is_empty() || has_programs(programs) {
        play::run(&page, &World::new());
    }
}

/// The README for users of other languages: titles, menus and messages of applications are not English there.
#[test]
fn readme_in_german() {
    readme_in("de_DE.UTF-8");
}

#[test]
fn readme_in_chinese() {
    readme_in("zh_CN.UTF-8");
}

fn readme_in(locale: &'static str) {
    let installed = Command::new("locale").arg("-a").output();
    let names =
        installed.map(|output| String::from_utf8_lossy(&output.stdout).to_lowercase()).unwrap_or_default();
    let installed = names.contains(&locale.to_lowercase().replace("utf-8", "utf8"));
    let missing = if installed { Vec::new() } else { vec![format!("the locale {locale}")] };
    if can_run(missing, &[]) && has_programs(&["mousepad"]) {
        play::run(&read("README.md"), &World::speaking(locale));
    }
}

/// The README for a user without rights; the other tests have those of whoever starts them.
#[test]
fn readme_without_rights() {
    if has_programs(&["mousepad"]) && rustix::process::geteuid().is_root() {
        play::run(&read("README.md"), &World::unprivileged());
    }
}

/// Every page of the book.
fn book_pages() -> BTreeSet<String> {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let links = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    links.map(|link| format!("docs/{link}")).collect()
}

#[test]
fn every_page_of_the_book_has_a_test() {
    let listed: BTreeSet<String> = PAGES.iter().map(|&page| page.to_owned()).collect();
    let missing: Vec<String> = book_pages().difference(&listed).cloned().collect();
    assert_eq!(missing, Vec::<String>::new(), "add these to the list in {}", file!());
}

/// Run with `--no-capture` (nextest) or `--nocapture` (cargo test) to read it.
#[test]
fn every_norun_block_has_a_reason() {
    for path in PAGES {
        for piece in read(path).pieces {
            if let Piece::Commands { line, norun: Some(reason), .. } = piece {
                assert!(reason.split_whitespace().count() > 1, "{path}:{line}: `{reason}` is no reason");
                println!("{path}:{line}: not run: {reason}");
            }
        }
    }
}
