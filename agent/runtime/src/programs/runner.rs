//! Runs one confined program to completion.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use deskhand_confine::{Enforcement, NOT_STARTED, OVER_LIMIT};
use deskhand_http::HttpCredential;
use deskhand_machine::command::{CallResult, CallStatus};
use deskhand_process::{ProcessGroup, find_program};
use deskhand_ui::action::{CallReport, Verdict};
use serde_json::json;
use tokio::{
    io::AsyncWriteExt as _,
    process::{Child, ChildStdin},
    time::timeout,
};

use super::{
    environment::environment,
    output::{TruncatedOutput, read_to_end},
    sandbox::SandboxSettings,
};
use crate::private;

/// Number of bytes of the head and tail of standard output that a model usually gets.
pub(crate) const STDOUT_KEPT: (usize, usize) = (2_400, 1_600);
/// Number of bytes retained of the head and tail of standard error.
const STDERR_KEPT: (usize, usize) = (800, 800);
/// Maximum time to drain the streams of an exited program.
const DRAIN_BOUND: Duration = Duration::from_secs(2);

/// The environment and confinement in which programs run.
pub(crate) struct ProgramRunner {
    sandbox: SandboxSettings,
    /// Names of variables that programs inherit besides the usual ones.
    environment: Vec<String>,
    /// Variables that programs get, with their values.
    variables: Vec<(String, HttpCredential)>,
    folder: PathBuf,
    scratch: PathBuf,
    enforcement: Enforcement,
}

/// One run of a program.
pub(crate) struct ProgramRun<'a> {
    /// The program: a name on the path, or a path.
    pub(crate) program: &'a str,
    /// Its arguments.
    pub(crate) arguments: &'a [String],
    /// The folder that it runs in.
    pub(crate) folder: &'a Path,
    /// The input of the program on stdin, which is then closed.
    pub(crate) input: Vec<u8>,
    /// Maximum run time.
    pub(crate) limit: Duration,
    /// Number of bytes retained of the head and tail of standard output.
    pub(crate) kept: (usize, usize),
}

impl ProgramRunner {
    /// Prepares to run programs in `folder`, by default in a private one in `own`.
    ///
    /// # Errors
    /// The sandbox cannot be enforced, or a folder cannot be used; with the next step.
    pub(crate) fn new(
        sandbox: SandboxSettings,
        folder: Option<&PathBuf>,
        environment: Vec<String>,
        own: &Path,
    ) -> Result<Self, String> {
        let enforcement = sandbox.enforcement(folder)?;
        let private = |name: &str| -> io::Result<PathBuf> {
            let folder = own.join(name);
            private::create_folders(&folder)?;
            folder.canonicalize()
        };
        let scratch = private("scratch").map_err(|error| format!("create its folder: {error}"))?;
        let folder = match folder {
            Some(folder) => folder.canonicalize(),
            None => private("work"),
        };
        let folder = folder.map_err(|error| format!("open its working folder: {error}"))?;
        if !folder.is_dir() {
            return Err(format!("{} is not a folder", folder.display()));
        }
        Ok(Self { sandbox, environment, variables: Vec::new(), folder, scratch, enforcement })
    }

    /// The same with variables for its programs: tokens of services.
    pub(crate) fn with_variables(self, variables: Vec<(String, HttpCredential)>) -> Self {
        Self { variables, ..self }
    }

    /// The working folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the confinement of programs.
    pub(crate) const fn sandbox(&self) -> &SandboxSettings {
        &self.sandbox
    }

    /// Returns the mechanism that enforces the confinement.
    pub(crate) const fn enforcement(&self) -> &Enforcement {
        &self.enforcement
    }

    /// Runs a program. Dropping the future kills it and its descendants.
    pub(crate) async fn run(&self, run: ProgramRun<'_>) -> CallResult {
        let environment = self.environment();
        let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
        let Some(program) = find_program(run.program, &path.unwrap_or_default(), run.folder) else {
            return not_run(format!("program `{}` not found; nothing was done", run.program));
        };
        let mark = uuid::Uuid::now_v7().to_string();
        match self.start(&program, &run, environment, &mark) {
            Ok((child, group)) => {
                let (name, limit) = (run.program, run.limit);
                result_of(name, run_to_end(child, group, run.input, (limit, run.kept)).await, limit, &mark)
            }
            Err(error) => not_run(format!("failed to start `{}`: {error}", run.program)),
        }
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut all = environment(std::env::vars_os(), &self.environment, &self.scratch);
        for (_, path) in all.iter_mut().filter(|(name, _)| name == "PATH") {
            *path = self.sandbox.search_path(&self.enforcement, path, &self.own());
        }
        all.extend(self.variables.iter().map(|(name, value)| (name.into(), value.to_variable())));
        all
    }

    /// The folders that its programs may write to in any case.
    fn own(&self) -> [PathBuf; 2] {
        [self.folder.clone(), self.scratch.clone()]
    }

    fn start(
        &self,
        program: &Path,
        run: &ProgramRun<'_>,
        environment: Vec<(OsString, OsString)>,
        mark: &str,
    ) -> io::Result<(Child, ProcessGroup)> {
        let mut command = self.sandbox.command(&self.enforcement, program, (&self.own(), &[]), mark)?;
        let (name, value) = ProcessGroup::mark();
        command
            .args(run.arguments)
            .env_clear()
            .envs(environment)
            .env(name, &value)
            .current_dir(run.folder)
            .process_group(0)
            .kill_on_drop(true)
            .stdin(if run.input.is_empty() { Stdio::null() } else { Stdio::piped() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn()?;
        let group = self.sandbox.group(&child, value);
        Ok((child, group))
    }
}

/// A program that was not run.
fn not_run(reason: impl Into<String>) -> CallResult {
    CallResult::failure(Some(Verdict::Refused), reason)
}

/// The result of a program, for the model. Only exit code 0 is a success.
fn result_of(name: &str, ran: io::Result<Ran>, limit: Duration, mark: &str) -> CallResult {
    let ran = match ran {
        Ok(ran) => ran,
        Err(error) => {
            let summary = format!("lost track of `{name}` after starting it: {error}");
            return CallResult::failure(Some(Verdict::Unknown), summary);
        }
    };
    let errors = ran.errors.to_text();
    let code = ran.status.and_then(|status| status.code());
    if code == Some(i32::from(NOT_STARTED))
        && let Some(why) = errors.strip_prefix(mark)
    {
        return not_run(format!("`{name}` was not run{}; nothing was done", why.trim_end()));
    }
    let limit_exceeded = match code == Some(i32::from(OVER_LIMIT)) {
        true => errors.rsplit_once(mark).map(|(_, why)| why.trim_start_matches(':').trim().to_owned()),
        false => None,
    };
    let (status, effect, what) = match (ran.status, code) {
        (Some(_), Some(_)) if let Some(why) = &limit_exceeded => {
            (CallStatus::Failure, Verdict::Unknown, format!("was ended: {why}; its work may be half done"))
        }
        (None, _) => (
            CallStatus::Failure,
            Verdict::Unknown,
            format!("timed out after {} s and was killed; its work may be half done", limit.as_secs()),
        ),
        (Some(_), Some(0)) => (CallStatus::Success, Verdict::Seen, "exited with code 0".to_owned()),
        (Some(_), Some(code)) => (CallStatus::Failure, Verdict::Unknown, format!("exited with code {code}")),
        (Some(status), None) => (CallStatus::Failure, Verdict::Unknown, format!("was killed: {status}")),
    };
    let left = match ran.left {
        0 => String::new(),
        count => format!("; killed {count} leftover processes"),
    };
    CallResult {
        status,
        effect: Some(effect),
        route: None,
        report: CallReport::text(format!("`{name}` {what}{left}")),
        output: json!({"exit_code": code, "stdout": ran.output.to_text(), "stderr": errors}),
        picture: None,
        window: None,
        elapsed_ms: 0,
    }
}

/// A finished program.
struct Ran {
    /// The exit status; `None` if it was killed.
    status: Option<ExitStatus>,
    output: TruncatedOutput,
    errors: TruncatedOutput,
    /// Number of processes that the program left running.
    left: usize,
}

/// Writes the input and closes it; a program that does not read it all is not wrong.
async fn write_all(stdin: Option<ChildStdin>, input: Vec<u8>) {
    let Some(mut stdin) = stdin else { return };
    if let Err(error) = stdin.write_all(&input).await {
        tracing::debug!(%error, "a program did not read its input");
    }
}

async fn run_to_end(
    mut child: Child,
    mut group: ProcessGroup,
    input: Vec<u8>,
    (limit, kept): (Duration, (usize, usize)),
) -> io::Result<Ran> {
    let (mut output, mut errors) = (TruncatedOutput::new(kept), TruncatedOutput::new(STDERR_KEPT));
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (status, left) = {
        let reading = async {
            tokio::join!(
                write_all(stdin, input),
                read_to_end(stdout, &mut output),
                read_to_end(stderr, &mut errors)
            );
        };
        tokio::pin!(reading);
        let mut read = false;
        // The streams may close before the program exits, and its descendants may keep them open after it.
        let ended = timeout(limit, async {
            tokio::select! {
                status = child.wait() => status,
                () = &mut reading => {
                    read = true;
                    child.wait().await
                }
            }
        })
        .await;
        let ended = match ended {
            Ok(status) => {
                group.leader_ended();
                (Some(status?), group.end())
            }
            Err(_) => {
                group.end();
                child.wait().await?;
                (None, 0)
            }
        };
        if !read && timeout(DRAIN_BOUND, &mut reading).await.is_err() {
            tracing::debug!("streams still open after exit");
        }
        ended
    };
    Ok(Ran { status, output, errors, left })
}
