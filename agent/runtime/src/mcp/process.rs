//! A server that is a program, from start to exit.

use std::{
    ffi::OsString,
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use deskhand_confine::Enforcement;
use deskhand_process::{ProcessGroup, find_program};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::{Child, ChildStdin, ChildStdout},
    task::JoinSet,
    time::timeout,
};

use super::{error::McpError, settings::ProgramSettings};
use crate::programs::environment::environment;

/// Maximum time for a process to exit after its stdin is closed.
pub(super) const END_BOUND: Duration = Duration::from_secs(2);
/// The maximum log size, in bytes.
const LOG_BYTES_MAX: usize = 1_000_000;
/// Maximum length of the log's end that a report quotes, in bytes.
const LOG_SHOWN: usize = 400;

/// Variables that the process inherits without a sandbox, besides configured ones.
const PASSED: [&str; 8] = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER"];

/// A running program. Dropping it kills it and its descendants.
pub(super) struct Process {
    /// Dropped before the child: it asks a supervisor to end everything, which a killed one could not.
    group: ProcessGroup,
    child: Child,
    log: PathBuf,
    /// Writes the log; stopped with the process.
    logging: JoinSet<()>,
}

impl Process {
    /// Starts the program; its messages on standard error go to `stderr.log` in `folder`.
    pub(super) fn start(
        settings: &ProgramSettings,
        folder: &Path,
    ) -> Result<(Self, ChildStdout, ChildStdin), McpError> {
        let log = folder.join("stderr.log");
        let (mut child, group) = start(settings, folder).map_err(McpError::Start)?;
        let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(McpError::Start("start it: its stdio streams are missing".to_owned()));
        };
        let file = File::options().create(true).append(true).open(&log);
        let file =
            file.map_err(|error| McpError::Start(format!("write its log {}: {error}", log.display())))?;
        let mut logging = JoinSet::new();
        logging.spawn(keep_log(errors, file));
        Ok((Self { group, child, log, logging }, output, input))
    }

    /// Returns `true` if it runs.
    pub(super) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits for it to exit after its stdin was closed; it is killed when this value is dropped.
    pub(super) async fn finish(mut self) {
        if let Ok(Ok(_)) = timeout(END_BOUND, self.child.wait()).await {
            self.group.leader_ended();
        }
    }

    /// Returns the exit status of the process, if it exited, and the end of its log.
    pub(super) async fn ended(&mut self) -> String {
        let how = match timeout(END_BOUND, self.child.wait()).await {
            Ok(Ok(status)) => {
                self.group.leader_ended();
                // The last message may not be in the log yet.
                timeout(END_BOUND, self.logging.join_next()).await.ok();
                format!("; its process exited: {status}")
            }
            Ok(Err(_)) | Err(_) => String::new(),
        };
        format!("{how}{}", self.tail())
    }

    /// The end of its log, for messages.
    pub(super) fn tail(&self) -> String {
        let bytes = std::fs::read(&self.log).unwrap_or_default();
        let end = bytes.get(bytes.len().saturating_sub(LOG_SHOWN)..).unwrap_or_default();
        let text = String::from_utf8_lossy(end).trim().to_owned();
        if text.is_empty() { String::new() } else { format!("; end of its log: {text}") }
    }
}

/// A plan for starting the process.
struct McpLaunchPlan {
    /// The program.
    file: PathBuf,
    /// Its working folder.
    place: PathBuf,
    /// Its environment.
    environment: Vec<(OsString, OsString)>,
    enforcement: Enforcement,
}

impl McpLaunchPlan {
    fn new(settings: &ProgramSettings, program: &str, folder: &Path) -> Result<Self, String> {
        let sandbox = &settings.sandbox;
        let enforcement =
            sandbox.enforcement(settings.folder.as_ref()).map_err(|why| format!("start it: {why}"))?;
        let place = settings.folder.clone().unwrap_or_else(|| folder.to_owned());
        let ours = std::env::vars_os();
        let mut environment = match &enforcement {
            Enforcement::Nothing => {
                let named = |name: &str| {
                    PASSED.contains(&name) || settings.environment.iter().any(|known| known == name)
                };
                ours.filter(|(name, _)| name.to_str().is_some_and(named)).collect()
            }
            Enforcement::Rules | Enforcement::Namespaces { .. } => {
                environment(ours, &settings.environment, folder)
            }
        };
        for (name, value) in &settings.variables {
            environment.retain(|(known, _)| known != name.as_str());
            environment.push((name.into(), value.to_variable()));
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let reachable = sandbox.search_path(&enforcement, &path, std::slice::from_ref(&place));
        for (_, path) in environment.iter_mut().filter(|(name, _)| name == "PATH") {
            path.clone_from(&reachable);
        }
        // The program itself may be anywhere: the user named it.
        let file = find_program(program, &reachable, &place).or_else(|| find_program(program, &path, &place));
        let file = file.ok_or_else(|| format!("start it: program `{program}` not found"))?;
        Ok(Self { file, place, environment, enforcement })
    }

    /// Files that the command names: they are readable, as the user named them.
    fn named_files(&self, arguments: &[String]) -> Vec<PathBuf> {
        let files = arguments.iter().map(PathBuf::from).filter(|path| path.is_absolute() && path.is_file());
        std::iter::once(self.file.clone()).chain(files).collect()
    }
}

fn start(settings: &ProgramSettings, folder: &Path) -> Result<(Child, ProcessGroup), String> {
    let Some((program, arguments)) = settings.command.split_first() else {
        return Err("start it: its command is empty".to_owned());
    };
    let plan = McpLaunchPlan::new(settings, program, folder)?;
    let own = [plan.place.clone(), folder.to_owned()];
    let (mark, value) = ProcessGroup::mark();
    let child = settings
        .sandbox
        .command(&plan.enforcement, &plan.file, (&own, &plan.named_files(arguments)), "not started")
        .map_err(|error| format!("start it: {error}"))?
        .args(arguments)
        .env_clear()
        .envs(plan.environment)
        .env(mark, &value)
        .current_dir(plan.place)
        .process_group(0)
        .kill_on_drop(true)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("start it: {error}"))?;
    let group = settings.sandbox.group(&child, value);
    Ok((child, group))
}

/// Writes the beginning of stderr to the log.
async fn keep_log(mut errors: impl AsyncRead + Unpin, mut file: File) {
    const CHUNK: usize = 4_096;
    let mut buffer = vec![0; CHUNK];
    let mut kept = 0_usize;
    while let Ok(count @ 1..) = errors.read(&mut buffer).await {
        let room = LOG_BYTES_MAX.saturating_sub(kept).min(count);
        if file.write_all(buffer.get(..room).unwrap_or_default()).is_err() {
            return;
        }
        kept = kept.saturating_add(room);
    }
}
