//! Programs that the user made tools: a command with typed arguments.

use std::{path::PathBuf, time::Duration};

use deskhand_http::HttpCredential;
use deskhand_machine::{
    command::{CallResult, CallStatus, ToolSpec},
    intent::{Does, Takes},
};
use deskhand_ui::action::Verdict;
use serde_json::{Map, Value, json};

use super::source::{OpenSource, OwnTool, SourceCall, ToolAudience, ToolSource};
use crate::programs::{ProgramRun, ProgramRunner, sandbox::SandboxSettings};

/// Number of bytes retained of the head and tail of a program's output.
const PRINTED_MAX: (usize, usize) = (16_000, 2_000);

/// A tool that is a program.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramTool {
    /// Its name: a verb in `snake_case`.
    pub name: String,
    /// The description of the tool, for models.
    pub description: String,
    /// The program and its arguments. `{name}` in one of them stands for the value of an argument; one that names an argument which is
    /// not given is left out.
    pub command: Vec<String>,
    /// The arguments of the tool, in order.
    pub arguments: Vec<(String, ProgramArgument)>,
    /// The input of the program on stdin.
    pub input: ProgramInput,
    /// The effect of the tool, for the policy.
    pub does: Does,
    /// Who has it.
    pub audience: Vec<ToolAudience>,
    /// The working folder; `None` for a private one per session.
    pub folder: Option<PathBuf>,
    /// The sandbox of the program.
    pub sandbox: SandboxSettings,
    /// Additional variables that it inherits.
    pub environment: Vec<String>,
    /// Variables that it gets, with their values.
    pub variables: Vec<(String, HttpCredential)>,
    /// Maximum run time.
    pub timeout: Duration,
}

/// One argument of a tool that is a program.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProgramArgument {
    /// The kind of the argument.
    pub kind: ArgumentKind,
    /// The meaning of the argument, for models.
    pub description: String,
    /// `true` if the tool can be called without the argument.
    pub optional: bool,
    /// The values that it may have; empty for any.
    pub values: Vec<String>,
}

/// The kind of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArgumentKind {
    /// A text.
    #[default]
    Text,
    /// A number.
    Number,
    /// An integer.
    Integer,
    /// True or false.
    Boolean,
    /// The path of a file, which rules on paths hold for.
    File,
    /// The path of a file that is written.
    NewFile,
}

/// The input of a program on stdin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProgramInput {
    /// Nothing.
    #[default]
    Nothing,
    /// The arguments as a JSON object.
    Json,
}

impl ProgramTool {
    fn spec(&self) -> ToolSpec {
        let properties: Map<String, Value> =
            self.arguments.iter().map(|(name, argument)| (name.clone(), argument.schema())).collect();
        let required: Vec<&str> = self
            .arguments
            .iter()
            .filter(|(_, argument)| !argument.optional)
            .map(|(name, _)| name.as_str())
            .collect();
        let takes = |(name, argument): &(String, ProgramArgument)| match argument.kind {
            ArgumentKind::File | ArgumentKind::NewFile => Some((name.clone(), Takes::File)),
            ArgumentKind::Text | ArgumentKind::Number | ArgumentKind::Integer | ArgumentKind::Boolean => None,
        };
        ToolSpec {
            name: self.name.clone(),
            description: self.description.clone(),
            parameters: json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            }),
            does: self.does,
            takes: self.arguments.iter().filter_map(takes).collect(),
            ..ToolSpec::default()
        }
    }

    /// The program and its arguments with the values of a call.
    fn filled(&self, arguments: &Map<String, Value>) -> Vec<String> {
        self.command.iter().filter_map(|part| filled(part, &self.arguments, arguments)).collect()
    }
}

impl ProgramArgument {
    fn schema(&self) -> Value {
        let kind = match self.kind {
            ArgumentKind::Text | ArgumentKind::File | ArgumentKind::NewFile => "string",
            ArgumentKind::Number => "number",
            ArgumentKind::Integer => "integer",
            ArgumentKind::Boolean => "boolean",
        };
        let mut schema = Map::new();
        schema.insert("type".to_owned(), kind.into());
        if !self.description.is_empty() {
            schema.insert("description".to_owned(), self.description.clone().into());
        }
        if !self.values.is_empty() {
            schema.insert("enum".to_owned(), self.values.clone().into());
        }
        Value::Object(schema)
    }
}

/// One part of a command with the values of arguments. It stays one word, whatever the values contain. `None` if it names an argument
/// that is not given.
fn filled(part: &str, known: &[(String, ProgramArgument)], given: &Map<String, Value>) -> Option<String> {
    let mut text = String::new();
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, behind)) = after.split_once('}') else { break };
        text.push_str(before);
        if known.iter().any(|(argument, _)| argument == name) {
            let value = given.get(name).filter(|value| !value.is_null())?;
            text.push_str(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        } else {
            text.push_str(&format!("{{{name}}}"));
        }
        rest = behind;
    }
    text.push_str(rest);
    Some(text)
}

impl ToolSource for ProgramTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn describe(&self) -> String {
        format!("program {}", self.command.first().map_or("", String::as_str))
    }

    async fn open(&self, folder: PathBuf) -> Result<impl OpenSource, String> {
        let runner = ProgramRunner::new(
            self.sandbox.clone(),
            self.folder.as_ref(),
            self.environment.clone(),
            &folder,
        )?;
        Ok(OpenProgram { tool: self.clone(), runner: runner.with_variables(self.variables.clone()) })
    }
}

struct OpenProgram {
    tool: ProgramTool,
    runner: ProgramRunner,
}

impl OpenSource for OpenProgram {
    fn tools(&self) -> Vec<OwnTool> {
        vec![OwnTool { spec: self.tool.spec(), audience: self.tool.audience.clone() }]
    }

    fn problems(&self) -> Vec<String> {
        Vec::new()
    }

    async fn call(&self, call: SourceCall<'_>) -> CallResult {
        let words = self.tool.filled(call.arguments);
        let Some((program, arguments)) = words.split_first() else {
            let verdict = call.acts.then_some(Verdict::Refused);
            return CallResult::failure(verdict, "its command is empty; nothing was done");
        };
        let input = match self.tool.input {
            ProgramInput::Nothing => Vec::new(),
            ProgramInput::Json => Value::Object(call.arguments.clone()).to_string().into_bytes(),
        };
        let folder = self.runner.folder();
        let ran = self
            .runner
            .run(ProgramRun {
                program,
                arguments,
                folder,
                input,
                limit: self.tool.timeout,
                kept: PRINTED_MAX,
            })
            .await;
        let output = self.output(&ran);
        // What it did is not seen here.
        let effect = match ran.effect {
            Some(Verdict::Seen) | None => Verdict::Unknown,
            Some(other) => other,
        };
        CallResult { output, effect: call.acts.then_some(effect), ..ran }
    }

    async fn close(&self) {}
}

impl OpenProgram {
    /// Returns the output of the program: as data if it is JSON.
    fn output(&self, ran: &CallResult) -> Value {
        if ran.status != CallStatus::Success {
            return ran.output.clone();
        }
        let printed = ran.output.get("stdout").and_then(Value::as_str).unwrap_or_default().trim();
        let (key, said) = match serde_json::from_str::<Value>(printed) {
            Ok(data @ (Value::Object(_) | Value::Array(_))) => ("data", data),
            Ok(_) | Err(_) => ("text", printed.into()),
        };
        let from: Value = self.tool.describe().into();
        Value::Object([("from".to_owned(), from), (key.to_owned(), said)].into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stays_one_word() {
        let argument = |kind| ProgramArgument { kind, optional: true, ..ProgramArgument::default() };
        let tool = ProgramTool {
            name: "convert".to_owned(),
            description: String::new(),
            command: ["convert", "--to={currency}", "{amount}", "{{literal}}"].map(str::to_owned).to_vec(),
            arguments: vec![
                ("currency".to_owned(), argument(ArgumentKind::Text)),
                ("amount".to_owned(), argument(ArgumentKind::Number)),
            ],
            input: ProgramInput::Nothing,
            does: Does::Read,
            audience: Vec::new(),
            folder: None,
            sandbox: SandboxSettings::off(),
            environment: Vec::new(),
            variables: Vec::new(),
            timeout: Duration::from_secs(1),
        };
        let check = |arguments: Value, expected: &[&str]| {
            assert_eq!(tool.filled(arguments.as_object().unwrap()), expected, "{arguments}");
        };
        check(
            json!({"currency": "EUR; rm -rf {amount}", "amount": 2.5}),
            &["convert", "--to=EUR; rm -rf {amount}", "2.5", "{{literal}}"],
        );
        check(json!({"amount": 3}), &["convert", "3", "{{literal}}"]);
        assert_eq!(tool.spec().parameters["properties"]["amount"]["type"], "number");
    }
}
