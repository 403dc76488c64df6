//! Builds and runs the product, and reports the result.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, IsTerminal, Write},
    path::{Path, PathBuf},
    process::{Command, ExitCode, ExitStatus, Stdio},
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};

use super::{
    checks::{self, Checks, Expected},
    summary::RunSummary,
};
use crate::{
    console,
    product::{self, Build},
    setup, workspace,
};

const REQUEST: &str = "Extract the sales table from the Writer document and create a bar chart of it in Calc";

/// How many demo folders are retained without `--keep`.
const FOLDERS_MAX: usize = 10;

/// Options of `cargo xtask demo`.
#[derive(Args)]
pub struct DemoArguments {
    /// Model to use: the example script, or the configured endpoint.
    #[arg(long, value_enum, default_value_t = DemoModel::Script)]
    model: DemoModel,
    /// Also write the summary to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Size of the virtual screen.
    #[arg(long, value_name = "WIDTHxHEIGHT")]
    size: Option<String>,
    /// Keep the folders of all earlier demos instead of the newest ten.
    #[arg(long)]
    keep: bool,
    /// Additional arguments for `deskhand run`.
    #[arg(last = true)]
    extra: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum DemoModel {
    Script,
    Openai,
}

/// Runs the command: exits 0 if the run finished and all checks passed.
pub fn run(arguments: &DemoArguments) -> Result<ExitCode> {
    let example = workspace::root().join("examples/sales");
    let expected = Expected::read(&example.join("expected.json"))?;
    setup::ensure_installed()?;
    let start = Instant::now();
    console::progress("demo: building deskhand");
    let binary = product::built(Build::Release)?;
    console::progress(&format!("demo: built in {}", console::duration(start.elapsed())));

    let demos = demos_folder(&binary)?;
    let folder = new_folder(&demos)?;
    if !arguments.keep {
        remove_old(&demos)?;
    }
    let document = folder.join("sales.odt");
    fs::copy(example.join("sales.odt"), &document).context("copy the example document")?;
    let result = folder.join("sales.ods");
    let mut command = deskhand(arguments, &binary, &example, &folder)?;
    let (status, summary) = run_deskhand(&mut command, &folder)?;
    let summary = summary
        .unwrap_or_else(|| RunSummary::interrupted(format!("deskhand exited without a summary ({status})")));
    let checks = checks::check_file(&expected, &result)?;
    report(arguments, &summary, status, &checks, &result)
}

fn report(
    arguments: &DemoArguments,
    summary: &RunSummary,
    status: ExitStatus,
    checks: &Checks,
    result: &Path,
) -> Result<ExitCode> {
    let result = Some(result).filter(|path| path.is_file());
    console::result("");
    for line in summary.to_lines(result, checks) {
        console::result(&line);
    }
    console::write_figures(arguments.json.as_deref(), &summary.to_json(result, checks))?;
    for failure in &checks.failed {
        console::problem(failure);
    }
    if !is_finished(summary, status) {
        console::problem(&format!("the run did not finish; deskhand exited with {status}"));
    }
    let success = is_finished(summary, status) && checks.failed.is_empty();
    Ok(if success { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns `true` if both the outcome and the exit code report success.
fn is_finished(summary: &RunSummary, status: ExitStatus) -> bool {
    summary.outcome.as_deref() == Some("finished") && status.success()
}

/// `target/demo`, next to the folder of the executable.
fn demos_folder(binary: &Path) -> Result<PathBuf> {
    let target = binary.parent().and_then(Path::parent).context("find the target folder")?;
    Ok(target.join("demo"))
}

/// Creates a folder named by the time, so that names sort by age.
fn new_folder(demos: &Path) -> Result<PathBuf> {
    fs::create_dir_all(demos).with_context(|| format!("create {}", demos.display()))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).context("read the clock")?;
    for attempt in 0..100_u32 {
        let folder = demos.join(format!("{:010}-{attempt:02}", now.as_secs()));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| format!("create {}", folder.display())),
        }
    }
    bail!("create a new folder in {}", demos.display())
}

fn remove_old(demos: &Path) -> Result<()> {
    let mut folders: Vec<PathBuf> = fs::read_dir(demos)
        .with_context(|| format!("list {}", demos.display()))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    let old = folders.len().saturating_sub(FOLDERS_MAX);
    for folder in folders.iter().take(old) {
        fs::remove_dir_all(folder).with_context(|| format!("remove {}", folder.display()))?;
    }
    Ok(())
}

/// The command line of the demo run.
fn deskhand(arguments: &DemoArguments, binary: &Path, example: &Path, folder: &Path) -> Result<Command> {
    let result = folder.join("sales.ods");
    let mut command = Command::new(binary);
    command.arg("run").arg(format!("{REQUEST}. Save the spreadsheet as {}", result.display()));
    command.arg("--open").arg(folder.join("sales.odt")).args(["--desktop", "virtual"]);
    match arguments.model {
        DemoModel::Script => {
            let script = example.join("demo.script.toml");
            ensure!(script.is_file(), "{} is missing", script.display());
            command.arg("--model").arg(format!("script:{}", script.display()));
            command.arg("--script-var").arg(format!("output={}", result.display()));
        }
        DemoModel::Openai => {
            command.args(["--model", "openai"]);
        }
    }
    command.arg("--screenshot").arg(folder.join("final.png")).arg("--json");
    if let Some(size) = &arguments.size {
        command.arg("--size").arg(size);
    }
    if !std::io::stderr().is_terminal() {
        // Show progress in CI logs too.
        command.arg("-v");
    }
    command.args(&arguments.extra);
    Ok(command)
}

/// Runs the product; saves its events in `events.jsonl` and returns the summary.
fn run_deskhand(command: &mut Command, folder: &Path) -> Result<(ExitStatus, Option<RunSummary>)> {
    let path = folder.join("events.jsonl");
    let mut events = File::create(&path).with_context(|| format!("create {}", path.display()))?;
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("run deskhand")?;
    let stdout = child.stdout.take().context("read the events of deskhand")?;
    let mut summary = None;
    for line in BufReader::new(stdout).lines() {
        let line = line.context("read the events of deskhand")?;
        writeln!(events, "{line}").with_context(|| format!("write {}", path.display()))?;
        summary = RunSummary::in_line(&line).or(summary);
    }
    let status = child.wait().context("wait for deskhand")?;
    Ok((status, summary))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn arguments(model: DemoModel) -> DemoArguments {
        DemoArguments {
            model,
            json: None,
            size: Some("1280x800".to_owned()),
            keep: false,
            extra: vec!["-q".to_owned()],
        }
    }

    fn words(command: &Command) -> Vec<String> {
        command.get_args().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_live_model_runs_without_a_script() {
        let folder = tempfile::tempdir().unwrap();
        let command =
            deskhand(&arguments(DemoModel::Openai), Path::new("deskhand"), folder.path(), folder.path())
                .unwrap();
        let words = words(&command);
        assert!(words[1].starts_with(REQUEST) && words[1].ends_with("sales.ods"), "{words:?}");
        assert!(words.windows(2).any(|pair| pair == ["--model", "openai"]), "{words:?}");
        assert!(words.windows(2).any(|pair| pair == ["--size", "1280x800"]), "{words:?}");
        assert!(!words.iter().any(|word| word.contains("script")), "{words:?}");
        assert_eq!(words.last().unwrap(), "-q");
    }

    #[test]
    fn the_script_gets_the_output_path() {
        let folder = tempfile::tempdir().unwrap();
        let example = tempfile::tempdir().unwrap();
        let arguments = arguments(DemoModel::Script);
        let missing = deskhand(&arguments, Path::new("deskhand"), example.path(), folder.path()).unwrap_err();
        assert!(missing.to_string().ends_with("demo.script.toml is missing"), "{missing}");
        fs::write(example.path().join("demo.script.toml"), "").unwrap();
        let command = deskhand(&arguments, Path::new("deskhand"), example.path(), folder.path()).unwrap();
        let output = format!("output={}", folder.path().join("sales.ods").display());
        assert!(words(&command).windows(2).any(|pair| pair[0] == "--script-var" && pair[1] == output));
    }

    #[test]
    fn old_folders_are_removed() {
        let demos = tempfile::tempdir().unwrap();
        for index in 0..FOLDERS_MAX + 3 {
            fs::create_dir(demos.path().join(format!("{index:010}-00"))).unwrap();
        }
        let newest = new_folder(demos.path()).unwrap();
        remove_old(demos.path()).unwrap();
        assert_eq!(fs::read_dir(demos.path()).unwrap().count(), FOLDERS_MAX);
        assert!(newest.is_dir());
        assert!(!demos.path().join("0000000003-00").exists());
        assert!(demos.path().join("0000000004-00").exists());
    }

    #[test]
    fn folder_names_are_unique_within_a_second() {
        let demos = tempfile::tempdir().unwrap();
        assert_ne!(new_folder(demos.path()).unwrap(), new_folder(demos.path()).unwrap());
    }

    fn ended_with(code: i32) -> ExitStatus {
        Command::new("sh").args(["-c", &format!("exit {code}")]).status().unwrap()
    }

    fn summary_of(outcome: &str) -> RunSummary {
        RunSummary::in_line(&format!("{{\"kind\":\"summary\",\"outcome\":\"{outcome}\",\"steps\":3}}"))
            .unwrap()
    }

    #[test]
    fn success_requires_outcome_and_exit_code() {
        assert!(is_finished(&summary_of("finished"), ended_with(0)));
        assert!(!is_finished(&summary_of("finished"), ended_with(13)));
        assert!(!is_finished(&summary_of("failed"), ended_with(0)));
        assert!(!is_finished(&RunSummary::interrupted("gone".to_owned()), ended_with(0)));
    }

    #[test]
    fn the_report_fails_unless_all_checks_passed() {
        let folder = tempfile::tempdir().unwrap();
        let result = folder.path().join("sales.ods");
        let json = folder.path().join("summary.json");
        let arguments = DemoArguments { json: Some(json.clone()), ..arguments(DemoModel::Script) };
        let check = |checks: &Checks, expected: ExitCode, path: Value| {
            let code = report(&arguments, &summary_of("finished"), ended_with(0), checks, &result).unwrap();
            assert_eq!(format!("{code:?}"), format!("{expected:?}"), "{checks:?}");
            let written: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
            assert_eq!(written["result_path"], path);
            assert_eq!(written["checks_failed"], checks.failed.len());
        };
        let failed = Checks { passed: 0, failed: vec!["open it".to_owned()] };
        check(&failed, ExitCode::FAILURE, Value::Null);
        fs::write(&result, "").unwrap();
        check(&failed, ExitCode::FAILURE, result.to_str().into());
        check(&Checks { passed: 23, failed: Vec::new() }, ExitCode::SUCCESS, result.to_str().into());
    }

    #[test]
    fn events_are_saved_and_the_summary_is_parsed() {
        let folder = tempfile::tempdir().unwrap();
        let mut echo = Command::new("printf");
        echo.arg("{\"kind\":\"step\"}\\n{\"kind\":\"summary\",\"outcome\":\"finished\"}\\n");
        let (status, summary) = run_deskhand(&mut echo, folder.path()).unwrap();
        assert!(status.success());
        assert_eq!(summary.unwrap().outcome.as_deref(), Some("finished"));
        assert_eq!(fs::read_to_string(folder.path().join("events.jsonl")).unwrap().lines().count(), 2);
    }
}
