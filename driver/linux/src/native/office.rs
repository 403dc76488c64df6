//! The program that calls LibreOffice: Python with `python3-uno`, which reads calls and writes answers as lines of JSON.

use std::{io, path::Path, process::Stdio, time::Duration};

use deskhand_desktop::{DesktopError, DesktopResult, NativeAnswer, NativeCall};
use tokio::{
    io::{AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::Mutex,
    time::timeout,
};

use super::{
    line::{AskedWindow, NativeCallRequest, ask, read_line},
    pipe::pipe_name,
};
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
/// Paths of the module that the program needs, as distributions install it.
const MODULES: [&str; 3] = [
    "/usr/lib/python3/dist-packages/uno.py",
    "/usr/lib/libreoffice/program/uno.py",
    "/usr/lib64/libreoffice/program/uno.py",
];
/// The Python that these modules are for: another one on the path does not know them.
const PYTHON: &str = "/usr/bin/python3";
/// Maximum time of one call. The program itself gives up earlier, with the reason.
const CALL_BOUND: Duration = Duration::from_secs(150);
/// Maximum time for the program to start.
const START_BOUND: Duration = Duration::from_secs(30);

/// The Python that can call LibreOffice; `None` if its module is not installed.
pub(crate) fn python() -> Option<&'static Path> {
    let python = Path::new(PYTHON);
    (python.exists() && MODULES.iter().any(|module| Path::new(module).exists())).then_some(python)
}

/// The program, started with the first call.
#[derive(Debug, Default)]
pub(crate) struct OfficeWorker(Mutex<Option<UnoBridgeProcess>>);

#[derive(Debug)]
struct UnoBridgeProcess {
    /// Killed when this is dropped.
    _child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    calls: u64,
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
            None => match UnoBridgeProcess::start(environment, private).await? {
                Ok(running) => running,
                Err(reason) => return Ok(NativeAnswer::Refused(reason)),
            },
        };
        running.calls += 1;
        let asked = NativeCallRequest {
            id: running.calls,
            window: AskedWindow { xid, title },
            tool: &call.operation,
            arguments: &call.arguments,
        };
        let streams = (&mut running.input, &mut running.output);
        let answered = ask(streams, &asked, ("call LibreOffice", "LibreOffice"), CALL_BOUND).await?;
        *kept = Some(running);
        Ok(answered.into())
    }
}

impl UnoBridgeProcess {
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
            let ended = || io::Error::other("it ended; is python3-uno of the same version as LibreOffice?");
            read_line(&mut running.output).await?.ok_or_else(ended)
        };
        match timeout(START_BOUND, started).await {
            Ok(Ok(_)) => Ok(Ok(running)),
            Ok(Err(error)) => Err(failed(error)),
            Err(_) => Err(failed(io::ErrorKind::TimedOut.into())),
        }
    }
}
