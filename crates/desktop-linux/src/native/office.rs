//! The program that calls LibreOffice: Python with `python3-uno`, which reads calls and writes answers as lines of JSON.

use std::{io, path::Path, process::Stdio, time::Duration};

use deskhand_desktop::{DesktopError, DesktopResult, NativeAnswer, NativeCall, NativeEffect};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::Mutex,
    time::timeout,
};

use super::pipe::pipe_name;
use crate::{blocking::run_blocking, virtual_desktop::environment::Environment};

/// The program, in its parts: one name space, in this order.
const PROGRAM: &str = concat!(
    include_str!("uno/common.py"),
    include_str!("uno/calc.py"),
    include_str!("uno/calc_values.py"),
    include_str!("uno/calc_format.py"),
    include_str!("uno/calc_tables.py"),
    include_str!("uno/calc_charts.py"),
    include_str!("uno/writer.py"),
    include_str!("uno/writer_edit.py"),
    include_str!("uno/impress.py"),
    include_str!("uno/documents.py"),
    include_str!("uno/worker.py"),
);
/// Reads the program from standard input, since it is longer than an argument may be: the number of its bytes is the last argument.
const LOADER: &str =
    "import sys; exec(compile(sys.stdin.buffer.read(int(sys.argv.pop())), 'documents', 'exec'))";
/// Where distributions put the module that the program needs.
const MODULES: [&str; 3] = [
    "/usr/lib/python3/dist-packages/uno.py",
    "/usr/lib/libreoffice/program/uno.py",
    "/usr/lib64/libreoffice/program/uno.py",
];
/// The Python that these modules are for: another one on the path does not know them.
const PYTHON: &str = "/usr/bin/python3";
/// How long one call may take. The program itself gives up earlier, with the reason.
const CALL_BOUND: Duration = Duration::from_secs(150);
/// How long the program may take to start.
const START_BOUND: Duration = Duration::from_secs(30);
/// The longest answer, in bytes.
const ANSWER_MAX: u64 = 16 << 20;

/// The Python that can call LibreOffice; `None` if its module is not installed.
pub(crate) fn python() -> Option<&'static Path> {
    let python = Path::new(PYTHON);
    (python.exists() && MODULES.iter().any(|module| Path::new(module).exists())).then_some(python)
}

/// The program, started with the first call.
#[derive(Debug, Default)]
pub(crate) struct OfficeWorker(Mutex<Option<Running>>);

#[derive(Debug)]
struct Running {
    /// Killed when this is dropped.
    _child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    calls: u64,
}

/// A call as the program reads it.
#[derive(Serialize)]
struct Asked<'a> {
    id: u64,
    window: AskedWindow<'a>,
    tool: &'a str,
    arguments: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct AskedWindow<'a> {
    xid: u32,
    title: &'a str,
}

/// An answer as the program writes it.
#[derive(Deserialize)]
struct Answered {
    id: u64,
    #[serde(default)]
    ok: Option<Good>,
    #[serde(default)]
    error: Option<Bad>,
}

#[derive(Deserialize)]
struct Good {
    said: String,
    #[serde(default)]
    output: Value,
    #[serde(default)]
    effect: Option<Effect>,
}

#[derive(Deserialize)]
struct Effect {
    seen: bool,
    #[serde(default)]
    proof: String,
}

#[derive(Deserialize)]
struct Bad {
    kind: BadKind,
    message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum BadKind {
    NoOffice,
    NoDocument,
    WrongKind,
    Invalid,
    Busy,
    ReadOnly,
    Failed,
}

impl OfficeWorker {
    /// Makes one call on the document of a window.
    pub(super) async fn call(
        &self,
        environment: &Environment,
        private: &Path,
        (xid, title): (u32, &str),
        call: &NativeCall,
    ) -> DesktopResult<NativeAnswer> {
        let mut kept = self.0.lock().await;
        // Taken out during the call: one that is dropped ends the program, which may be in the middle of it.
        let mut running = match kept.take() {
            Some(running) => running,
            None => match Running::start(environment, private).await? {
                Ok(running) => running,
                Err(reason) => return Ok(NativeAnswer::Refused(reason)),
            },
        };
        running.calls += 1;
        let asked = Asked {
            id: running.calls,
            window: AskedWindow { xid, title },
            tool: &call.operation,
            arguments: &call.arguments,
        };
        let failed = |error: io::Error| DesktopError::failed("call LibreOffice", error);
        match timeout(CALL_BOUND, running.exchange(&asked)).await {
            Ok(Ok(answered)) => {
                *kept = Some(running);
                Ok(answered.into())
            }
            Ok(Err(error)) => Err(failed(error)),
            Err(_) => Err(DesktopError::NotAnswering {
                operation: "call LibreOffice",
                application: "LibreOffice".to_owned(),
                limit_ms: u64::try_from(CALL_BOUND.as_millis()).unwrap_or(u64::MAX),
            }),
        }
    }
}

impl Running {
    async fn start(environment: &Environment, private: &Path) -> DesktopResult<Result<Self, String>> {
        let Some(python) = python() else {
            return Ok(Err(
                "the Python module of LibreOffice is not installed; install python3-uno".to_owned()
            ));
        };
        let failed =
            |error: io::Error| DesktopError::failed("start the program that calls LibreOffice", error);
        let folder = private.to_owned();
        let name = run_blocking(move || pipe_name(&folder)).await?.map_err(failed)?;
        let mut command = Command::new(python);
        command.args(["-I", "-B", "-c", LOADER, &name, &PROGRAM.len().to_string()]);
        command.env_clear().envs(environment.variables());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(io::Error::other("it has no standard streams")));
        };
        let mut running = Self { _child: child, input, output: BufReader::new(output), calls: 0 };
        let started = async {
            running.input.write_all(PROGRAM.as_bytes()).await?;
            running.line().await
        };
        match timeout(START_BOUND, started).await {
            Ok(Ok(_)) => Ok(Ok(running)),
            Ok(Err(error)) => Err(failed(error)),
            Err(_) => Err(failed(io::ErrorKind::TimedOut.into())),
        }
    }

    /// Sends a call and reads its answer.
    async fn exchange(&mut self, asked: &Asked<'_>) -> io::Result<Answered> {
        let mut line = serde_json::to_vec(asked)?;
        line.push(b'\n');
        self.input.write_all(&line).await?;
        self.input.flush().await?;
        let answered: Answered = serde_json::from_slice(&self.line().await?)?;
        if answered.id == asked.id {
            Ok(answered)
        } else {
            Err(io::Error::other(format!("it answered call {} instead of {}", answered.id, asked.id)))
        }
    }

    async fn line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        (&mut self.output).take(ANSWER_MAX).read_until(b'\n', &mut line).await?;
        match line.last() {
            Some(b'\n') => Ok(line),
            Some(_) => Err(io::Error::other("its answer is too long or was cut")),
            None => Err(io::Error::other("it ended; is python3-uno of the same version as LibreOffice?")),
        }
    }
}

impl From<Answered> for NativeAnswer {
    fn from(answered: Answered) -> Self {
        match (answered.ok, answered.error) {
            (Some(Good { said, output, effect }), _) => Self::Done {
                said,
                output,
                effect: effect.map(|Effect { seen, proof }| NativeEffect { seen, read_back: proof }),
            },
            (None, Some(Bad { kind: BadKind::Failed, message })) => Self::Failed(message),
            (None, Some(Bad { message, .. })) => Self::Refused(format!("{message}; nothing was done")),
            (None, None) => Self::Failed("it answered nothing".to_owned()),
        }
    }
}
