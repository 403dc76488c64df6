//! `cargo xtask bench applications`: real applications of many toolkits, each started by its name and operated.
//!
//! - `programs` has an entry for each application, `documents` what they open.
//! - `client` speaks with `deskhand mcp`, `screen` with the X server and the kernel, which judge; `drawn` sees whether a window is blank.
//! - `models` has the model that reads what is only drawn.
//! - `capacity` measures what desktops with them take.
//! - `tasks` has tasks of several steps, judged by the files that they leave.
//! - `run` tries the columns of one application, `row` holds what came of it, `page` writes `docs/applications.md`.

mod capacity;
mod client;
mod documents;
mod drawn;
mod models;
mod page;
mod programs;
mod row;
mod run;
mod screen;
mod tasks;

use std::{
    fs,
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

pub(crate) use self::capacity::{CapacityArguments, run as run_capacity};
use self::{
    programs::{PROGRAMS, Program},
    row::Row,
};
use xtask::{
    console,
    product::{self, Build},
    setup, workspace,
};

/// The page that is written.
const PAGE: &str = "docs/applications.md";
/// What judges.
const TOOLS: &[&str] = &["Xvfb", "openbox", "dbus-daemon", "xprop", "xclip", "tesseract"];

/// Options of `cargo xtask bench applications`.
#[derive(Args)]
pub(crate) struct ApplicationsArguments {
    /// Try only this application or task, by a part of its name or toolkit; repeatable. The page is left as it is.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Try what is installed, and install nothing. The page is left as it is.
    #[arg(long)]
    installed: bool,
    /// Do tasks of several steps instead, judged by the files that they leave.
    #[arg(long)]
    tasks: bool,
    /// Use a build without optimisations, which takes less time to build.
    #[arg(long)]
    debug: bool,
    /// Print what is asked and answered.
    #[arg(long)]
    trace: bool,
    /// Also write the figures to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the benchmark. Fails if something was said to be done that was not, something hung, or something was lost.
pub(crate) fn run(arguments: &ApplicationsArguments) -> Result<ExitCode> {
    for tool in TOOLS {
        ensure!(workspace::is_program(tool), "{tool} is not installed; run `cargo xtask setup`");
    }
    if arguments.tasks {
        let binary = product::built(build(arguments.debug))?;
        let models = models::pull(&binary, build(arguments.debug))?;
        let all_done = tasks::run(&binary, &models, &arguments.only, arguments.installed)?;
        return Ok(if all_done { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let chosen: Vec<&Program> =
        PROGRAMS.iter().filter(|program| is_chosen(program, &arguments.only)).collect();
    ensure!(!chosen.is_empty(), "no application is named so; there are {}", names());
    let binary = product::built(build(arguments.debug))?;
    let models = models::pull(&binary, build(arguments.debug))?;
    let mut rows: Vec<Row> = Vec::new();
    for program in chosen {
        let packages: Vec<&str> = [program.package].iter().chain(program.with).copied().collect();
        if !setup::are_installed(&packages)? {
            if arguments.installed {
                continue;
            }
            console::progress(&format!("installing {} …", packages.join(" ")));
            setup::install_packages(&packages)?;
        }
        console::progress(&format!("{} …", program.name));
        let row = run::run(program, &binary, Some(&models), arguments.trace);
        console::result(&page::line(&row));
        page::problems(&row).iter().for_each(|problem| console::result(&format!("    {problem}")));
        rows.push(row);
    }
    let figures = page::figures(&rows);
    console::result(&figures.to_string());
    console::write_figures(arguments.json.as_deref(), &figures)?;
    if arguments.only.is_empty() && !arguments.installed {
        let file = workspace::root().join(PAGE);
        fs::write(&file, page::page(&rows, &today()?, &load()?))
            .with_context(|| format!("write {}", file.display()))?;
    }
    let is_clean = |name: &str| figures.get(name).and_then(serde_json::Value::as_u64) == Some(0);
    let clean = ["false_seen", "hangs", "destroyed"].into_iter().all(is_clean);
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn is_chosen(program: &Program, only: &[String]) -> bool {
    let has = |part: &String| {
        let part = part.to_lowercase();
        [program.name, program.toolkit, program.package]
            .iter()
            .any(|name| name.to_lowercase().contains(&part))
    };
    only.is_empty() || only.iter().any(has)
}

fn names() -> String {
    PROGRAMS.iter().map(|program| program.name).collect::<Vec<_>>().join(", ")
}

/// How the product is built.
const fn build(debug: bool) -> Build {
    if debug { Build::Tests } else { Build::Release }
}

/// The mean load of the last 15 minutes, with the number of processors.
fn load() -> Result<String> {
    let text = fs::read_to_string("/proc/loadavg").context("read /proc/loadavg")?;
    let mean = text.split(' ').nth(2).unwrap_or_default();
    let processors = std::thread::available_parallelism().context("count the processors")?;
    Ok(format!("{mean} on {processors} processors"))
}

fn today() -> Result<String> {
    let output =
        Command::new("date").arg("+%Y-%m-%d").stderr(Stdio::inherit()).output().context("run date")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn there_are_forty_applications_of_ten_toolkits_each_with_a_name_of_its_own() {
        let names: HashSet<&str> = PROGRAMS.iter().map(|program| program.name).collect();
        let toolkits: HashSet<&str> = PROGRAMS.iter().map(|program| program.toolkit).collect();
        assert_eq!(names.len(), PROGRAMS.len());
        assert!(names.len() >= 40 && toolkits.len() >= 10, "{} of {}", names.len(), toolkits.len());
    }

    /// The short form: what the tests of desktops install anyway.
    #[test]
    fn an_editor_and_a_terminal_do_what_they_have() {
        const NAMES: [&str; 2] = ["Mousepad", "XTerm"];
        let binary = workspace::root().join("target/debug/deskhand");
        let missing = TOOLS.iter().chain(&["mousepad", "xterm"]).any(|tool| !workspace::is_program(tool));
        let tries = binary.is_file() && (!missing || std::env::var_os("DESKHAND_ALL_TESTS").is_some());
        for program in PROGRAMS.iter().filter(|program| tries && NAMES.contains(&program.name)) {
            let row = run::run(program, &binary, /*models*/ None, /*trace*/ false);
            // How long it takes depends on what else runs here.
            let problems: Vec<String> = page::problems(&row);
            let others: Vec<&String> =
                problems.iter().filter(|one| !one.contains("after its window")).collect();
            assert!(others.is_empty(), "{}: {problems:#?}", program.name);
        }
    }

    #[test]
    fn applications_are_chosen_by_name_toolkit_and_package() {
        let check =
            |only: &str| PROGRAMS.iter().filter(|program| is_chosen(program, &[only.to_owned()])).count();
        assert_eq!(check("mousepad"), 1);
        assert!(check("gtk 3") > 5);
        assert_eq!(check("no such application"), 0);
    }
}
