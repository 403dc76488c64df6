//! The tool `run_command`: runs one program to completion.

use std::{
    io,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use deskhand_confine::{NOT_STARTED, OVER_LIMIT};
use deskhand_core::{
    action::Report,
    command::{CallResult, CallStatus, Command, Listing, ToolSpec, Verdict},
    intent::{Does, take_declarations},
    known_tools::RUN_COMMAND,
};
use deskhand_process::{ProcessGroup, find_program};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{process::Child, time::timeout};

use super::{
    kind::Shell,
    output::{TruncatedOutput, read_to_end},
};

/// How much of the head and tail of standard output is kept, in bytes.
const STDOUT_KEPT: (usize, usize) = (2_400, 1_600);
/// How much of the head and tail of standard error is kept, in bytes.
const STDERR_KEPT: (usize, usize) = (800, 800);
/// How long to drain the streams of an exited program.
const DRAIN_BOUND: Duration = Duration::from_secs(2);
/// The default timeout, in seconds.
const TIMEOUT_S_DEFAULT: u64 = 60;

/// Runs one program with arguments and waits for it to exit. There is no shell, hence no pipes, wildcards or variables;
/// stdin is closed. Returns the exit code and the output; long output is truncated in the middle.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunCommand {
    /// The program: a name on the path, or a file in the folder such as ./build.sh.
    #[schemars(extend("x-takes" = "program"))]
    program: String,
    /// Its arguments, passed verbatim.
    #[serde(default)]
    #[schemars(extend("x-takes" = "files"))]
    arguments: Vec<String>,
    /// The folder to run in, relative to the working folder; default: the working folder.
    folder: Option<String>,
    /// Timeout in seconds; default 60.
    timeout_s: Option<u64>,
}

/// The tool specification for the model.
pub(super) fn spec() -> ToolSpec {
    let mut schema = schemars::schema_for!(RunCommand).to_value();
    let mut description = String::new();
    let mut takes = Vec::new();
    if let Some(object) = schema.as_object_mut() {
        takes = take_declarations(object);
        if let Some(Value::String(text)) = object.shift_remove("description") {
            description = text;
        }
        object.shift_remove("$schema");
        object.shift_remove("title");
    }
    ToolSpec {
        name: RUN_COMMAND.to_owned(),
        description,
        parameters: schema,
        acts: true,
        does: Does::Run,
        takes,
        listing: Listing::Whole,
    }
}

/// A program that was not started.
fn refused(reason: impl Into<String>) -> CallResult {
    CallResult::failure(Some(Verdict::Refused), reason)
}

impl Shell {
    /// Runs a command. Dropping the future kills the program and its descendants.
    pub(super) async fn run_command(&self, command: &Command) -> CallResult {
        let arguments = Value::Object(command.arguments.clone());
        let input: RunCommand = match serde_path_to_error::deserialize(arguments) {
            Ok(input) => input,
            Err(error) => return refused(format!("invalid arguments: {error}; nothing was done")),
        };
        let folder = match self.folder_of(input.folder.as_deref()) {
            Ok(folder) => folder,
            Err(problem) => return refused(problem),
        };
        let Some(program) = find_program(&input.program, &self.path(), &folder) else {
            return refused(format!("program `{}` not found; nothing was done", input.program));
        };
        let limit = Duration::from_secs(input.timeout_s.unwrap_or(TIMEOUT_S_DEFAULT)).min(self.timeout_max());
        let mark = uuid::Uuid::now_v7().to_string();
        match self.start(&program, &input.arguments, &folder, &mark) {
            Ok((child, group)) => {
                result_of(&input.program, run_to_end(child, group, limit).await, limit, &mark)
            }
            Err(error) => refused(format!("failed to start `{}`: {error}", input.program)),
        }
    }

    fn folder_of(&self, below: Option<&str>) -> Result<PathBuf, String> {
        let Some(below) = below.filter(|text| !text.trim().is_empty()) else {
            return Ok(self.folder().to_owned());
        };
        let folder = self.folder().join(below);
        let real =
            folder.canonicalize().map_err(|error| format!("folder `{below}` cannot be used: {error}"))?;
        if real.starts_with(self.folder()) {
            Ok(real)
        } else {
            Err(format!("folder `{below}` is outside of {}; nothing was done", self.folder().display()))
        }
    }

    fn start(
        &self,
        program: &Path,
        arguments: &[String],
        folder: &Path,
        mark: &str,
    ) -> io::Result<(Child, ProcessGroup)> {
        let mut command = self.command(program, mark)?;
        let (name, value) = ProcessGroup::mark();
        command
            .args(arguments)
            .env_clear()
            .envs(self.environment())
            .env(name, &value)
            .current_dir(folder)
            .process_group(0)
            .kill_on_drop(true)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn()?;
        let group = self.group(&child, value);
        Ok((child, group))
    }
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
        return refused(format!("`{name}` was not run{}; nothing was done", why.trim_end()));
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
        report: Report::text(format!("`{name}` {what}{left}")),
        output: json!({"exit_code": code, "stdout": ran.output.to_text(), "stderr": errors}),
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
    /// How many processes it left running.
    left: usize,
}

async fn run_to_end(mut child: Child, mut group: ProcessGroup, limit: Duration) -> io::Result<Ran> {
    let (mut output, mut errors) = (TruncatedOutput::new(STDOUT_KEPT), TruncatedOutput::new(STDERR_KEPT));
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (status, left) = {
        let reading = async {
            tokio::join!(read_to_end(stdout, &mut output), read_to_end(stderr, &mut errors));
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

#[cfg(test)]
mod tests {
    use deskhand_core::intent::Takes;

    use super::*;

    #[test]
    fn the_tool_declares_its_program_and_arguments() {
        let spec = spec();
        assert_eq!(spec.does, Does::Run);
        let takes: Vec<(&str, Takes)> =
            spec.takes.iter().map(|(name, takes)| (name.as_str(), *takes)).collect();
        assert_eq!(takes, [("program", Takes::Program), ("arguments", Takes::Files)]);
    }
}
