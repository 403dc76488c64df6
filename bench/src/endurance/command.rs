//! Starts the runs and counts what came of them.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::{Value, json};

use super::one::{self, Report};
use xtask::{
    console,
    product::{self, Build},
    workspace,
};

/// Options of `cargo xtask bench endurance`.
#[derive(Args)]
pub(crate) struct EnduranceArguments {
    /// Number of runs.
    #[arg(long, value_name = "N", default_value_t = 100)]
    runs: u64,
    /// Seed of the first run; each later one has the next seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Number of runs side by side.
    #[arg(long, value_name = "N", default_value_t = 2)]
    lanes: u64,
    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Hold a shared lock on this file during each run, so that a program with an exclusive one can measure in peace.
    #[arg(long, value_name = "FILE")]
    lock: Option<PathBuf>,
    /// Use this binary instead of building one.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// The home folder of a single run, in the namespaces of this process.
    #[arg(long, value_name = "DIR", hide = true)]
    one: Option<PathBuf>,
}

/// Where each run has a file system of its own.
const TEMPORARY: &str = "/tmp";
/// With so many runs, some do all that they were asked for; otherwise nothing was tried.
const RUNS_TELL: usize = 10;

/// The programs of a run.
const PROGRAMS: &[&str] = &["unshare", "mount", "prlimit", "Xvfb", "openbox", "dbus-daemon", "mousepad"];

/// Runs the suite; fails if a run has a problem.
pub(crate) fn run(arguments: &EnduranceArguments) -> Result<ExitCode> {
    if let (Some(home), Some(binary)) = (&arguments.one, &arguments.binary) {
        let report = one::one(arguments.seed, binary, home)?;
        if !report.problems.is_empty() {
            one::keep_sessions(home);
        }
        console::result(&serde_json::to_string(&report)?);
        return Ok(ExitCode::SUCCESS);
    }
    for program in PROGRAMS {
        ensure!(workspace::is_program(program), "{program} is not installed; run `cargo xtask setup`");
    }
    // Not for release: applications take most of the time.
    let binary = product::executable(arguments.binary.as_deref(), Build::Tests)?;
    let (homes, binary) = places(binary)?;
    let begun = Instant::now();
    let suite = Suite {
        arguments,
        binary: &binary,
        homes: &homes,
        next: AtomicU64::new(0),
        reports: Mutex::default(),
    };
    std::thread::scope(|scope| {
        for _ in 0..arguments.lanes.max(1) {
            scope.spawn(|| suite.lane());
        }
    });
    let mut reports = suite.reports.into_inner().unwrap_or_else(PoisonError::into_inner);
    reports.sort_by_key(|report| report.seed);
    let elapsed = console::duration(begun.elapsed());
    let lines = lines(&reports);
    lines.iter().for_each(|line| console::result(line));
    let failed: Vec<&Report> = reports.iter().filter(|report| !report.problems.is_empty()).collect();
    let bare = reports.iter().filter(|report| report.bare).count();
    console::result(&format!(
        "{} runs in {elapsed}, {bare} of them without bubblewrap, {} with a problem",
        reports.len(),
        failed.len()
    ));
    console::result("changed in home folders:");
    changed(&reports).iter().for_each(|line| console::result(line));
    console::write_figures(arguments.json.as_deref(), &figures(&reports))?;
    if !homes.starts_with(workspace::root()) && failed.is_empty() {
        fs::remove_dir_all(&homes).with_context(|| format!("remove {}", homes.display()))?;
    }
    let is_tried = reports.len() < RUNS_TELL || reports.iter().any(|report| report.complete);
    ensure!(is_tried, "no run did what it was asked for");
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The folder of all home folders, and the program. Each run has a `/tmp` of its own, which hides both if they are there.
fn places(binary: PathBuf) -> Result<(PathBuf, PathBuf)> {
    let homes = workspace::root().join("target/endurance");
    if !homes.starts_with(TEMPORARY) && !binary.starts_with(TEMPORARY) {
        fs::create_dir_all(&homes).with_context(|| format!("create {}", homes.display()))?;
        return Ok((homes, binary));
    }
    // Not in `/var/tmp`: applications have one of their own.
    let home = std::env::home_dir().filter(|home| !home.starts_with(TEMPORARY));
    let home = home.with_context(|| {
        format!("the checkout and the home folder are in {TEMPORARY}, which the runs hide")
    })?;
    let homes = home.join(".cache").join(format!("deskhand-endurance-{}", std::process::id()));
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&homes)
        .with_context(|| format!("create {}", homes.display()))?;
    console::progress(&format!("the runs hide {TEMPORARY}, so their folders are in {}", homes.display()));
    // What is saved beside a program counts as one.
    let programs = homes.join("bin");
    fs::create_dir(&programs).with_context(|| format!("create {}", programs.display()))?;
    let copy = programs.join("deskhand");
    fs::copy(&binary, &copy).with_context(|| format!("copy {}", binary.display()))?;
    Ok((homes, copy))
}

struct Suite<'a> {
    arguments: &'a EnduranceArguments,
    binary: &'a Path,
    homes: &'a Path,
    next: AtomicU64,
    reports: Mutex<Vec<Report>>,
}

impl Suite<'_> {
    /// Runs one after the other until all are done.
    fn lane(&self) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.arguments.runs {
                return;
            }
            let seed = self.arguments.seed.saturating_add(number);
            let report = self.one(seed).unwrap_or_else(|error| Report {
                seed,
                problems: vec![format!("the run could not be judged: {error:#}")],
                ..Report::default()
            });
            for problem in &report.problems {
                console::problem(&format!("seed {seed} ({}): {problem}", report.plan));
            }
            let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
            reports.push(report);
            if reports.len().is_multiple_of(50) {
                console::progress(&format!("{} of {} runs", reports.len(), self.arguments.runs));
            }
        }
    }

    /// One run in a process with namespaces of its own. Its home folder stays if it has a problem.
    fn one(&self, seed: u64) -> Result<Report> {
        let lock = self.arguments.lock.as_ref().map(File::open).transpose().context("open the lock")?;
        if let Some(lock) = &lock {
            lock.lock_shared().context("wait for the lock")?;
        }
        let home = self.homes.join(seed.to_string());
        if home.exists() {
            fs::remove_dir_all(&home).context("remove the folder of an earlier run")?;
        }
        fs::create_dir(&home).context("create a home folder")?;
        let mut command = Command::new("unshare");
        if !rustix::process::geteuid().is_root() {
            command.args(["--user", "--map-root-user"]);
        }
        command.args([
            "--mount",
            "--propagation",
            "private",
            "--ipc",
            "--pid",
            "--fork",
            "--mount-proc",
            "--kill-child",
        ]);
        // A shell as the first process reaps those that lose their parent.
        command.args(["--", "sh", "-c", "\"$@\"; exit $?", "sh"]);
        command.arg(std::env::current_exe().context("find this program")?);
        command.args(["endurance", "--seed", &seed.to_string(), "--binary"]).arg(self.binary);
        command.arg("--one").arg(&home);
        let output = command.stdin(Stdio::null()).stderr(Stdio::piped()).output().context("run unshare")?;
        let report: Report = serde_json::from_slice(&output.stdout)
            .with_context(|| String::from_utf8_lossy(&output.stderr).trim().to_owned())?;
        if report.problems.is_empty() {
            fs::remove_dir_all(&home).context("remove the home folder")?;
        }
        Ok(report)
    }
}

/// How often each fault led to what.
fn lines(reports: &[Report]) -> Vec<String> {
    let mut kinds = BTreeMap::<&str, [usize; 5]>::new();
    for report in reports {
        let resumed = report.resumed.starts_with("finished");
        let told = !report.problems.is_empty();
        let counts = kinds.entry(&report.kind).or_default();
        for (count, is) in counts.iter_mut().zip([true, report.happened, resumed, report.complete, told]) {
            *count += usize::from(is);
        }
    }
    let head = format!(
        "{:<28} {:>5} {:>5} {:>8} {:>9} {:>9}",
        "fault", "runs", "hit", "resumed", "complete", "problems"
    );
    let rows = kinds.into_iter().map(|(kind, [runs, hit, resumed, complete, problems])| {
        format!("{kind:<28} {runs:>5} {hit:>5} {resumed:>8} {complete:>9} {problems:>9}")
    });
    [head].into_iter().chain(rows).collect()
}

/// What changed in how many home folders.
fn changed(reports: &[Report]) -> Vec<String> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for change in reports.iter().flat_map(|report| &report.changed) {
        *counts.entry(change).or_default() += 1;
    }
    counts.into_iter().map(|(change, count)| format!("{count:>5} {change}")).collect()
}

fn figures(reports: &[Report]) -> Value {
    let problems: usize = reports.iter().filter(|report| !report.problems.is_empty()).count();
    json!({ "runs": reports.len(), "with_problems": problems, "reports": reports })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_counted_by_their_fault() {
        let report = |kind: &str, resumed: &str, problems: &[&str]| Report {
            kind: kind.to_owned(),
            resumed: resumed.to_owned(),
            happened: true,
            problems: problems.iter().map(|text| (*text).to_owned()).collect(),
            ..Report::default()
        };
        let reports = [report("kill owner", "finished: x", &[]), report("kill owner", "error: y", &["left"])];
        let lines = lines(&reports);
        assert_eq!(lines.len(), 2);
        let words: Vec<&str> = lines[1].split_whitespace().collect();
        assert_eq!(words, ["kill", "owner", "2", "2", "1", "0", "1"]);
        assert_eq!(figures(&reports)["with_problems"], 1);
    }
}
