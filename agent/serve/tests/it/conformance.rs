//! The official conformance suite, against the server of Deskhand with the fixtures that the suite expects.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    extract::Request,
    http::{HeaderValue, header::AUTHORIZATION},
    middleware,
};
use deskhand_serve::mcp::{HttpOptions, HttpServer};
use deskhand_testkit::programs::can_run;
use serde_json::Value;
use tokio::{process::Command, sync::oneshot, task::JoinSet, time::timeout};

use crate::fixture::Fixture;

/// How long a run of the suite may take on a machine under load.
const BOUND: Duration = Duration::from_secs(600);
/// The page with the results.
const PAGE: &str = "docs/reference/mcp-conformance.md";
/// The origins that it lets in.
const ORIGINS: [&str; 2] = ["http://127.0.0.1:*", "http://localhost:*"];
/// The token of the server.
const TOKEN: &str = "the token of the test";
/// The revisions of the protocol whose requirements are checked.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The suite that `cargo xtask setup` installs, and the program that runs it; `None` if the test is to be skipped.
fn suite() -> Option<(PathBuf, PathBuf)> {
    let node = root().join("target/wheels/mcp/bin/node");
    let suite = root().join("target/wheels/mcp/script/node_modules/@modelcontextprotocol/conformance");
    let missing = (!(node.exists() && suite.is_dir()))
        .then(|| "the conformance suite of MCP (cargo xtask setup)".to_owned());
    can_run(missing.into_iter().collect(), &[]).then_some((node, suite))
}

/// The suite sends no token: it is put into its requests here.
fn with_token(routes: Router) -> Router {
    routes.layer(middleware::map_request(|mut request: Request| async move {
        let bearer = HeaderValue::from_str(&format!("Bearer {TOKEN}")).unwrap();
        request.headers_mut().insert(AUTHORIZATION, bearer);
        request
    }))
}

/// The verdicts of a scenario.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Scenario {
    passed: usize,
    failed: Vec<String>,
    warned: Vec<String>,
    skipped: usize,
}

/// Runs the scenarios that a revision requires of a server.
async fn check(
    revision: &str,
    url: &str,
    (node, suite): &(PathBuf, PathBuf),
) -> (String, BTreeMap<String, Scenario>) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(node);
    command.arg(suite.join("dist/index.js"));
    command.args(["server", "--url", url, "--requirements", revision, "-o"]).arg(folder.path());
    command.current_dir(folder.path()).kill_on_drop(true);
    let output = timeout(BOUND, command.output()).await.expect("the suite does not end").unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let mut scenarios = BTreeMap::new();
    for entry in fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
        let Ok(checks) = fs::read_to_string(entry.path().join("checks.json")) else { continue };
        let name = entry.file_name().to_string_lossy().into_owned();
        let name = scenario_name(&name);
        let scenario: &mut Scenario = scenarios.entry(name).or_default();
        for check in serde_json::from_str::<Vec<Value>>(&checks).unwrap() {
            let told = || format!("{}: {}", check["id"].as_str().unwrap(), check["errorMessage"]);
            match check["status"].as_str().unwrap() {
                "SUCCESS" => scenario.passed += 1,
                "FAILURE" => scenario.failed.push(told()),
                "WARNING" => scenario.warned.push(told()),
                _ => scenario.skipped += 1,
            }
        }
    }
    (said, scenarios)
}

/// The scenarios that a revision runs without requiring them: of extensions, or that the suite's own server does not pass.
fn not_required(revision: &str, (_, suite): &(PathBuf, PathBuf)) -> Vec<String> {
    let file = suite.join("requirements").join(format!("{revision}.yaml"));
    let text = fs::read_to_string(file).unwrap();
    let names = text.lines().filter_map(|line| line.trim().strip_prefix("- scenario: "));
    names.map(str::to_owned).collect()
}

/// The scenario of a folder: `server-tools-list-2026-11-29T13-27-55-075Z`.
fn scenario_name(folder: &str) -> String {
    const TIME: &str = "-2026-11-29T13-27-55-075Z";
    let name = folder.strip_prefix("server-").unwrap_or(folder);
    name.get(..name.len().saturating_sub(TIME.len())).unwrap_or(name).to_owned()
}

/// The scenarios of a revision by their names, each with whether it is required.
type Scenarios = BTreeMap<String, (bool, Scenario)>;

fn page(version: &str, results: &[(&str, Scenarios)]) -> String {
    let mut page = format!(
        "# Conformance of the MCP server\n\n\
         The results of the official conformance suite (`@modelcontextprotocol/conformance` {version}) for the server behind `deskhand mcp`, with \
         the tools, prompts and resources that the suite expects. Each revision is checked with the scenarios that it requires of a server, over \
         streamable HTTP. Scenarios of extensions, and those that the suite's own server does not pass, are run but not required: of the extensions, this \
         server offers none.\n\n\
         `cargo nextest run -p deskhand-serve conformance` runs the suite and compares this page.\n"
    );
    for (revision, scenarios) in results {
        let _ = write!(
            page,
            "\n## {revision}\n\n| scenario | required | checks | passed | not passed |\n| --- | --- | --- | --- | --- |\n"
        );
        for (name, (is_required, scenario)) in scenarios {
            let Scenario { passed, failed, warned, skipped } = scenario;
            let all = passed + failed.len() + warned.len() + skipped;
            let mut rest = Vec::new();
            rest.extend((!failed.is_empty()).then(|| format!("{} failed", failed.len())));
            rest.extend((!warned.is_empty()).then(|| format!("{} warnings", warned.len())));
            rest.extend((*skipped > 0).then(|| format!("{skipped} not applicable")));
            let rest = if rest.is_empty() { "none".to_owned() } else { rest.join(", ") };
            let required = if *is_required { "yes" } else { "no" };
            let _ = writeln!(page, "| `{name}` | {required} | {all} | {passed} | {rest} |");
        }
    }
    page
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_conforms() {
    let Some(suite) = suite() else { return };
    let idle = Duration::from_secs(600);
    let options =
        HttpOptions { port: 0, token: TOKEN.to_owned(), origins: ORIGINS.map(str::to_owned).into(), idle };
    let server = HttpServer::bind(options).await.unwrap();
    let url = server.url.clone();
    let (end, ended) = oneshot::channel::<()>();
    let fixture = Arc::new(Fixture::new());
    let mut serving = JoinSet::new();
    serving.spawn(server.serve_catalog(fixture, with_token, async { ended.await.unwrap() }));
    let mut results = Vec::new();
    for revision in REVISIONS {
        let (said, scenarios) = check(revision, &url, &suite).await;
        assert!(scenarios.len() > 20, "{revision}: {said}");
        let not_required = not_required(revision, &suite);
        let is_short = |name: &str, scenario: &Scenario| {
            let is_required = !not_required.iter().any(|known| known == name);
            is_required && !(scenario.failed.is_empty() && scenario.warned.is_empty())
        };
        let short: Vec<_> = scenarios.iter().filter(|(name, scenario)| is_short(name, scenario)).collect();
        assert!(short.is_empty(), "{revision}: {short:#?}\n{said}");
        let scenarios = scenarios.into_iter().map(|(name, scenario)| {
            let is_required = !not_required.contains(&name);
            (name, (is_required, scenario))
        });
        let scenarios: BTreeMap<_, _> = scenarios.collect();
        results.push((revision, scenarios));
    }
    end.send(()).unwrap();
    serving.join_next().await.unwrap().unwrap().unwrap();
    let package = fs::read_to_string(suite.1.join("package.json")).unwrap();
    let package: Value = serde_json::from_str(&package).unwrap();
    let page = page(package["version"].as_str().unwrap(), &results);
    let file = root().join(PAGE);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&file, &page).unwrap();
    }
    let known = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(known, page, "{PAGE} is not up to date; UPDATE_DOCS=1 writes it");
}
