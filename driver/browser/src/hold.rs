//! Starts a browser and serves its pages until it ends.

use std::{
    ffi::OsString,
    io,
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    process::ExitStatus,
};

use deskhand_process::{check_peer, without_new_privileges};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    net::UnixListener,
    process::{Child, Command},
    runtime::Handle,
    signal::unix::{SignalKind, signal},
    sync::watch,
    task::JoinSet,
};

use crate::{
    bidi::{self, Bidi},
    browser::BrowserConnection,
    cdp::{self, Cdp, Pipes},
    socket::{BrowserReadiness, bind, serve_client},
};

/// The argument in whose place the one of the protocol is put.
pub const PROTOCOL_ARGUMENT: &str = "{protocol}";
/// The most clients at once; more wait.
const CLIENTS_MAX: usize = 32;
/// Offset that shells add to the number of the signal that ended a program.
const SIGNAL_CODE: i32 = 128;

/// Which protocol a browser speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrowserProtocol {
    /// Chromium and its relatives.
    Chromium,
    /// Firefox and its relatives.
    Firefox,
}

/// A browser to start.
#[derive(Debug, Clone)]
pub struct BrowserLaunchOptions {
    /// `true` if the browser is started with `no_new_privs`, like all applications of a confined desktop.
    pub confined: bool,
    /// Which protocol it speaks.
    pub engine: BrowserProtocol,
    /// Path of the socket that serves calls, in a folder that only the owner may enter.
    pub socket: PathBuf,
    /// The profile folder, which `arguments` also names.
    pub profile: PathBuf,
    /// The browser, or a program that starts it and passes on file descriptors.
    pub program: PathBuf,
    /// Its arguments. [`PROTOCOL_ARGUMENT`] stands where the browser reads its options.
    pub arguments: Vec<OsString>,
}

/// Starts the browser, serves its pages until it ends, and returns its exit code.
///
/// If another holder serves the socket, the program is started without a protocol: it hands over to the browser that
/// runs with this profile, and ends.
///
/// # Errors
///
/// The program cannot be started, or the socket cannot be bound.
pub async fn hold(hold: BrowserLaunchOptions) -> io::Result<u8> {
    let Some(bound) = bind(&hold.socket).await? else {
        let mut child = spawn(&hold, command(&hold, None))?;
        return Ok(code(waited(&mut child).await?));
    };
    let result = match hold.engine {
        BrowserProtocol::Chromium => chromium(&hold, &bound.listener).await,
        BrowserProtocol::Firefox => firefox(&hold, &bound.listener).await,
    };
    // The next holder removes what is left.
    let _ = std::fs::remove_file(&hold.socket);
    Ok(code(result?))
}

async fn chromium(hold: &BrowserLaunchOptions, listener: &UnixListener) -> io::Result<ExitStatus> {
    let mut command = command(hold, Some("--remote-debugging-pipe"));
    let pipes = Pipes::new(&mut command)?;
    // Only the browser has the other ends of the pipes then.
    let mut child = spawn(hold, command)?;
    let (reach, reached) = watch::channel(BrowserReadiness::Starting);
    let (link, served) = cdp::serve(pipes);
    let connected = async {
        talk(BrowserConnection::Chromium(Cdp::new(link)), served, &reach).await;
        std::future::pending::<()>().await;
    };
    serve(&mut child, connected, listener, &reached).await
}

async fn firefox(hold: &BrowserLaunchOptions, listener: &UnixListener) -> io::Result<ExitStatus> {
    bidi::remove_announcement(&hold.profile)?;
    let mut child = spawn(hold, command(hold, Some("--remote-debugging-port=0")))?;
    let (reach, reached) = watch::channel(BrowserReadiness::Starting);
    let connected = async {
        match bidi::connect(&hold.profile).await {
            Ok(connection) => {
                let (link, served) = bidi::serve(connection);
                talk(BrowserConnection::Firefox(Bidi::new(link)), served, &reach).await;
            }
            Err(error) => {
                let reason =
                    format!("Firefox cannot be asked about its pages: {error}; use its window alone");
                reach.send_replace(BrowserReadiness::Absent(reason));
            }
        }
        std::future::pending::<()>().await;
    };
    serve(&mut child, connected, listener, &reached).await
}

/// Answers calls until the browser ends.
async fn serve(
    child: &mut Child,
    connected: impl Future<Output = ()>,
    listener: &UnixListener,
    reached: &watch::Receiver<BrowserReadiness>,
) -> io::Result<ExitStatus> {
    tokio::select! {
        status = waited(child) => status,
        () = connected => Err(io::ErrorKind::BrokenPipe.into()),
        failed = accept(listener, reached) => Err(failed),
    }
}

/// Serves the connection until it ends.
async fn talk(
    browser: BrowserConnection,
    served: impl Future<Output = io::Result<()>>,
    reach: &watch::Sender<BrowserReadiness>,
) {
    tokio::select! {
        result = served => if let Err(error) = result {
            tracing::warn!(%error, "the connection to the browser broke");
        },
        () = announce(browser, reach) => {}
    }
    let reason = "the browser has closed its connection; open it again".to_owned();
    reach.send_replace(BrowserReadiness::Absent(reason));
}

/// Lets calls through once the browser answers.
async fn announce(browser: BrowserConnection, reach: &watch::Sender<BrowserReadiness>) {
    let greeted = browser.greet().await;
    reach.send_replace(match greeted {
        Ok(()) => BrowserReadiness::Ready(browser),
        Err(trouble) => {
            BrowserReadiness::Absent(format!("the browser does not answer: {}", trouble.message()))
        }
    });
    std::future::pending::<()>().await;
}

/// The command; without a protocol its place is left out.
fn command(hold: &BrowserLaunchOptions, protocol: Option<&str>) -> Command {
    let arguments = hold.arguments.iter().filter_map(|argument| {
        if argument == PROTOCOL_ARGUMENT { protocol.map(OsString::from) } else { Some(argument.clone()) }
    });
    let mut command = Command::new(Path::new(&hold.program));
    command.args(arguments).kill_on_drop(true);
    command
}

fn spawn(hold: &BrowserLaunchOptions, mut command: Command) -> io::Result<Child> {
    if !hold.confined {
        return command.spawn();
    }
    let runtime = Handle::current();
    without_new_privileges(|| {
        let _entered = runtime.enter();
        command.spawn()
    })?
}

/// Answers clients; returns only if the socket fails.
async fn accept(listener: &UnixListener, reached: &watch::Receiver<BrowserReadiness>) -> io::Error {
    let mut clients = JoinSet::new();
    loop {
        let full = clients.len() >= CLIENTS_MAX;
        tokio::select! {
            accepted = listener.accept(), if !full => match accepted {
                // A page that could call for itself would answer its own dialogs.
                Ok((stream, _)) => match check_peer(&stream) {
                    Ok(()) => {
                        clients.spawn(serve_client(stream, reached.clone()));
                    }
                    Err(refusal) => tracing::warn!(%refusal, "a client of the browser's socket is refused"),
                },
                Err(error) => return error,
            },
            Some(_) = clients.join_next() => {}
        }
    }
}

/// Waits for the browser. A request to end is passed on; the others are for the browser alone.
async fn waited(child: &mut Child) -> io::Result<ExitStatus> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut ignored =
        [signal(SignalKind::hangup())?, signal(SignalKind::interrupt())?, signal(SignalKind::quit())?];
    let [hangup, interrupt, quit] = &mut ignored;
    loop {
        tokio::select! {
            status = child.wait() => return status,
            _ = terminate.recv() => end(child),
            _ = hangup.recv() => {}
            _ = interrupt.recv() => {}
            _ = quit.recv() => {}
        }
    }
}

fn end(child: &Child) {
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may just have ended.
        let _ = kill_process(pid, Signal::TERM);
    }
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| SIGNAL_CODE + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
