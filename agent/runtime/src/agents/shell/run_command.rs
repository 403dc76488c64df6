//! The tool `run_command`: runs one program to completion.

use std::{path::PathBuf, time::Duration};

use deskhand_machine::{
    command::{CallResult, ToolCommand, ToolSpec},
    intent::{Does, take_declarations},
    known_tools::RUN_COMMAND,
};
use deskhand_ui::action::Verdict;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::programs::{ProgramRun, ProgramRunner, STDOUT_KEPT};

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
        ..ToolSpec::default()
    }
}

/// A program that was not started.
fn refused(reason: impl Into<String>) -> CallResult {
    CallResult::failure(Some(Verdict::Refused), reason)
}

/// Runs a command. Dropping the future kills the program and its descendants.
pub(super) async fn run(runner: &ProgramRunner, timeout_max: Duration, command: &ToolCommand) -> CallResult {
    let arguments = Value::Object(command.arguments.clone());
    let input: RunCommand = match serde_path_to_error::deserialize(arguments) {
        Ok(input) => input,
        Err(error) => return refused(format!("invalid arguments: {error}; nothing was done")),
    };
    let folder = match folder_of(runner, input.folder.as_deref()) {
        Ok(folder) => folder,
        Err(problem) => return refused(problem),
    };
    let limit = Duration::from_secs(input.timeout_s.unwrap_or(TIMEOUT_S_DEFAULT)).min(timeout_max);
    let run = ProgramRun {
        program: &input.program,
        arguments: &input.arguments,
        folder: &folder,
        input: Vec::new(),
        limit,
        kept: STDOUT_KEPT,
    };
    runner.run(run).await
}

fn folder_of(runner: &ProgramRunner, below: Option<&str>) -> Result<PathBuf, String> {
    let Some(below) = below.filter(|text| !text.trim().is_empty()) else {
        return Ok(runner.folder().to_owned());
    };
    let folder = runner.folder().join(below);
    let real = folder.canonicalize().map_err(|error| format!("folder `{below}` cannot be used: {error}"))?;
    if real.starts_with(runner.folder()) {
        Ok(real)
    } else {
        Err(format!("folder `{below}` is outside of {}; nothing was done", runner.folder().display()))
    }
}

#[cfg(test)]
mod tests {
    use deskhand_machine::intent::Takes;

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
