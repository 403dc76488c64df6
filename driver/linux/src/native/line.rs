//! Calls and answers as lines of JSON, as the programs beside applications read and write them.

use std::{io, time::Duration};

use deskhand_desktop::{DesktopError, DesktopResult, NativeAnswer, NativeEffect};
use deskhand_ui::duration::milliseconds;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    time::timeout,
};

/// The longest answer, in bytes.
const ANSWER_MAX: u64 = 16 << 20;

/// A call as the program reads it.
#[derive(Serialize)]
pub(super) struct NativeCallRequest<'a> {
    pub(super) id: u64,
    pub(super) window: AskedWindow<'a>,
    pub(super) tool: &'a str,
    pub(super) arguments: &'a Map<String, Value>,
}

/// The window that a call is about.
#[derive(Serialize)]
pub(super) struct AskedWindow<'a> {
    /// Its X11 id.
    pub(super) xid: u32,
    pub(super) title: &'a str,
}

/// An answer as the program writes it.
#[derive(Deserialize)]
pub(super) struct NativeCallReply {
    id: u64,
    #[serde(default)]
    ok: Option<NativeCallOutput>,
    #[serde(default)]
    error: Option<NativeErrorReply>,
}

#[derive(Deserialize)]
struct NativeCallOutput {
    said: String,
    #[serde(default)]
    output: Value,
    #[serde(default)]
    effect: Option<NativeCallEffect>,
}

#[derive(Deserialize)]
struct NativeCallEffect {
    seen: bool,
    #[serde(default)]
    proof: String,
}

#[derive(Deserialize)]
struct NativeErrorReply {
    kind: BadKind,
    message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum BadKind {
    NoOffice,
    NoPages,
    NoDocument,
    WrongKind,
    Invalid,
    Busy,
    ReadOnly,
    Failed,
}

/// Sends a call and waits for its answer, at most `bound`. The operation and the application are those of error messages.
///
/// # Errors
/// [`DesktopError::NotAnswering`] after that time; [`DesktopError::Failed`] if the other end is gone, or answers something else.
pub(super) async fn ask(
    (input, output): (&mut (impl AsyncWrite + Unpin), &mut (impl AsyncBufRead + Unpin)),
    asked: &NativeCallRequest<'_>,
    (operation, application): (&'static str, &str),
    bound: Duration,
) -> DesktopResult<NativeCallReply> {
    match timeout(bound, exchange(input, output, asked)).await {
        Ok(answered) => answered.map_err(|error| DesktopError::failed(operation, error)),
        Err(_) => Err(DesktopError::NotAnswering {
            operation,
            application: application.to_owned(),
            limit_ms: milliseconds(bound),
        }),
    }
}

async fn exchange(
    input: &mut (impl AsyncWrite + Unpin),
    output: &mut (impl AsyncBufRead + Unpin),
    asked: &NativeCallRequest<'_>,
) -> io::Result<NativeCallReply> {
    let mut line = serde_json::to_vec(asked)?;
    line.push(b'\n');
    input.write_all(&line).await?;
    input.flush().await?;
    let line = read_line(output).await?.ok_or_else(|| io::Error::other("it ended"))?;
    let answered: NativeCallReply = serde_json::from_slice(&line)?;
    if answered.id == asked.id {
        Ok(answered)
    } else {
        Err(io::Error::other(format!("it answered call {} instead of {}", answered.id, asked.id)))
    }
}

/// The next line; `None` at the end.
///
/// # Errors
/// It is too long, or was cut.
pub(super) async fn read_line(output: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    output.take(ANSWER_MAX).read_until(b'\n', &mut line).await?;
    match line.last() {
        Some(b'\n') => Ok(Some(line)),
        Some(_) => Err(io::Error::other("its answer is too long or was cut")),
        None => Ok(None),
    }
}

impl From<NativeCallReply> for NativeAnswer {
    fn from(answered: NativeCallReply) -> Self {
        match (answered.ok, answered.error) {
            (Some(NativeCallOutput { said, output, effect }), _) => Self::Done {
                said,
                output,
                effect: effect
                    .map(|NativeCallEffect { seen, proof }| NativeEffect { seen, read_back: proof }),
            },
            (None, Some(NativeErrorReply { kind: BadKind::Failed, message })) => Self::Failed(message),
            (None, Some(NativeErrorReply { message, .. })) => {
                Self::Refused(format!("{message}; nothing was done"))
            }
            (None, None) => Self::Failed("it answered nothing".to_owned()),
        }
    }
}
