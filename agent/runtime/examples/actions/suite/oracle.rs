//! What is true about an application, told by a process that shares no code with the product; see `oracle.py`.

use std::{path::Path, process::Stdio, time::Duration};

use deskhand_desktop_linux::LinuxDesktop;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use super::Failure;

/// How long one answer may take; `LibreOffice` accepts connections some time after its window is there.
const BOUND: Duration = Duration::from_secs(60);

/// A running oracle.
#[derive(Debug)]
pub(crate) struct Oracle {
    questions: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    /// Killed with the oracle.
    _child: Child,
}

impl Oracle {
    /// Starts it on a desktop, with the port at which `LibreOffice` accepts connections.
    pub(crate) fn start(desktop: &LinuxDesktop, port: u16) -> Result<Self, Failure> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/actions/suite/oracle.py");
        let mut command = Command::new("/usr/bin/python3");
        command.arg("-B").arg(script).arg(port.to_string()).env_clear().kill_on_drop(true);
        command.envs(desktop.environment().variables()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let questions = child.stdin.take().ok_or("no input")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        Ok(Self { questions, answers, _child: child })
    }

    /// Asks; an error says why it cannot be told.
    pub(crate) async fn ask(&mut self, question: &Value) -> Result<Value, Failure> {
        self.questions.write_all(format!("{question}\n").as_bytes()).await?;
        let line = tokio::time::timeout(BOUND, self.answers.next_line()).await??;
        let mut answer: Value = serde_json::from_str(&line.ok_or("the oracle ended")?)?;
        match answer["error"].as_str() {
            Some(error) => Err(error.into()),
            None => Ok(answer["is"].take()),
        }
    }
}
