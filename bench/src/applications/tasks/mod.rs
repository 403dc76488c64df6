//! `cargo xtask bench applications --tasks`: tasks of several steps in applications of five toolkits, each a workflow that `deskhand do`
//! runs without a model. The files that they leave are judged by programs that share no code with the product.

mod judges;

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};

use super::models;
use xtask::{console, setup};

/// How long a task may take.
const TASK_MAX: Duration = Duration::from_secs(180);

/// A task.
struct Task {
    name: &'static str,
    /// The Debian packages that it needs.
    packages: &'static [&'static str],
    workflow: &'static str,
    /// Makes the files that it works with in a folder.
    prepare: fn(&Path) -> Result<()>,
    /// Judges the files that it leaves there, and in the home of the user, which is above.
    judge: fn(&Path) -> Result<()>,
}

const TASKS: &[Task] = &[
    Task {
        name: "Tk: enter an order",
        packages: &["python3-tk"],
        workflow: include_str!("tk.toml"),
        prepare: |folder| put(folder, "orders.py", include_str!("orders.py")),
        judge: judges::order,
    },
    Task {
        name: "Swing: enter an order",
        packages: &["openjdk-17-jdk", "libatk-wrapper-java", "libatk-wrapper-java-jni"],
        workflow: include_str!("swing.toml"),
        prepare: |folder| put(folder, "Orders.java", include_str!("Orders.java")),
        judge: judges::order,
    },
    Task {
        name: "GIMP: turn a picture over and export it",
        packages: &["gimp", "python3-pil"],
        workflow: include_str!("gimp.toml"),
        prepare: |folder| super::documents::Document::Picture.make(folder),
        judge: judges::picture,
    },
    Task {
        name: "KeePassXC: add an entry",
        packages: &["keepassxc"],
        workflow: include_str!("keepassxc.toml"),
        prepare: judges::make_database,
        judge: judges::database,
    },
    Task {
        name: "Thunderbird: add a contact",
        packages: &["thunderbird"],
        workflow: include_str!("thunderbird.toml"),
        prepare: |_| Ok(()),
        judge: judges::contact,
    },
];

fn put(folder: &Path, name: &str, text: &str) -> Result<()> {
    fs::write(folder.join(name), text).with_context(|| format!("write {name}"))
}

/// Does the tasks whose names have one of these parts, or all; whether each left what it should.
pub(super) fn run(binary: &Path, models: &Path, only: &[String], installed: bool) -> Result<bool> {
    let is_chosen = |task: &&Task| {
        let name = task.name.to_lowercase();
        only.is_empty() || only.iter().any(|part| name.contains(&part.to_lowercase()))
    };
    let mut all_done = true;
    for task in TASKS.iter().filter(is_chosen) {
        if !setup::are_installed(task.packages)? {
            if installed {
                continue;
            }
            console::progress(&format!("installing {} …", task.packages.join(" ")));
            setup::install_packages(task.packages)?;
        }
        let begun = Instant::now();
        let done = task.run(binary, models);
        let seconds = begun.elapsed().as_secs_f64();
        match done {
            Ok(()) => console::result(&format!("{:<44} done   {seconds:>6.1} s", task.name)),
            Err(error) => {
                all_done = false;
                console::result(&format!("{:<44} FAILED {seconds:>6.1} s\n{error:#}", task.name));
            }
        }
    }
    Ok(all_done)
}

impl Task {
    fn run(&self, binary: &Path, models: &Path) -> Result<()> {
        let home = models::home(Some(models))?;
        let work = home.path().join("work");
        fs::create_dir(&work).context("make a folder")?;
        (self.prepare)(&work)?;
        let workflow = home.path().join("task.toml");
        fs::write(&workflow, self.workflow).context("write the workflow")?;
        let log = home.path().join("task.log");
        let output = File::create(&log).context("make the log")?;
        let status = Command::new("timeout")
            .args(["--kill-after=10", &TASK_MAX.as_secs().to_string()])
            .arg(binary)
            .args([
                "do",
                "--trust",
                "--approve",
                "all",
                "--no-safe-guard",
                "--keep=never",
                "--size",
                "1280x900",
                "-v",
            ])
            .arg(&workflow)
            .arg("--folder")
            .arg(&work)
            .env("HOME", home.path())
            // Java takes the home of the user from elsewhere.
            .env("JAVA_TOOL_OPTIONS", format!("-Duser.home={}", home.path().display()))
            .env_remove("DISPLAY")
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .env_remove("XDG_RUNTIME_DIR")
            .current_dir(home.path())
            .stdin(Stdio::null())
            .stderr(output.try_clone().context("share the log")?)
            .stdout(output)
            .status()
            .with_context(|| format!("start {}", binary.display()))?;
        ensure!(status.success(), "{status}\n{}", last_lines(&log));
        (self.judge)(&work)
    }
}

/// The end of a log.
fn last_lines(log: &Path) -> String {
    const LINES: usize = 30;
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default().join("\n")
}
