//! The program beside a browser through which its pages are read: it starts the browser, holds its protocol, and answers on a socket.

use std::{io, path::Path, time::Duration};

use deskhand_desktop::{DesktopResult, NativeAnswer, NativeCall};
use deskhand_process::check_peer;
use tokio::{io::BufReader, net::UnixStream};

use super::line::{AskedWindow, NativeCallRequest, ask};

/// Maximum time of one call. The program itself gives up earlier, with the reason.
const CALL_BOUND: Duration = Duration::from_secs(60);

/// Makes one call on the page that a window shows, by the program at a socket.
pub(super) async fn call(
    socket: &Path,
    (xid, title, application): (u32, &str, &str),
    call: &NativeCall,
) -> DesktopResult<NativeAnswer> {
    let connected = UnixStream::connect(socket).await;
    let connected = connected.and_then(|stream| match check_peer(&stream) {
        Ok(()) => Ok(stream),
        Err(refusal) => Err(io::Error::other(refusal)),
    });
    let stream = match connected {
        Ok(stream) => stream,
        Err(error) => {
            tracing::debug!(%error, "the program beside a browser");
            let reason = format!(
                "the pages of {application} cannot be read here, since it was not started by us; use its elements"
            );
            return Ok(NativeAnswer::Refused(reason));
        }
    };
    let (output, mut input) = stream.into_split();
    let mut output = BufReader::new(output);
    let asked = NativeCallRequest {
        id: 1,
        window: AskedWindow { xid, title },
        tool: &call.operation,
        arguments: &call.arguments,
    };
    let answered =
        ask((&mut input, &mut output), &asked, ("call a browser", application), CALL_BOUND).await?;
    Ok(answered.into())
}
