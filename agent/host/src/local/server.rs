//! The server of a model: a child on the loopback address, with a key of its own. It is started again once if it ends.

use std::{
    fmt, io,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::ExitStatus,
    sync::{Arc, Mutex, PoisonError, Weak},
    thread::available_parallelism,
    time::Duration,
};

use deskhand_process::find_program;
use deskhand_runtime::private;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    process::{Child, Command},
    sync::OnceCell,
    task::JoinSet,
    time::{MissedTickBehavior, interval, timeout},
};

use super::{
    LocalError, LocalModels, python,
    room::{FolderProcessGuard, new_folder, search_path},
};
use crate::config::{LocalModelKind, Provider, expanded};

/// The server that is looked for on the path.
const LLAMA_SERVER: &str = "llama-server";
/// The server for Python.
const SCRIPT: &str = include_str!("server.py");
/// The tokens that a server keeps if nothing else is set.
const CONTEXT_TOKENS: u32 = 8_192;
/// The time between two looks at a server that loads its model.
const LOOKS: Duration = Duration::from_millis(50);
/// Maximum time for one check.
const LOOK_MAX: Duration = Duration::from_secs(2);
/// Maximum number of restarts of a server that ended.
const RESTARTS_MAX: u32 = 1;

/// A program that serves models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ModelServerProgram {
    /// One with the arguments of `llama-server`.
    LlamaServer(PathBuf),
    /// A Python with the package.
    Python(PathBuf),
}

impl fmt::Display for ModelServerProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LlamaServer(path) => path.display().fmt(f),
            Self::Python(_) => f.write_str("for Python (xllamacpp)"),
        }
    }
}

/// The program that serves local models.
///
/// # Errors
/// [`LocalError::NoServer`] with what was looked for.
pub(super) fn program(models: &LocalModels) -> Result<ModelServerProgram, LocalError> {
    let python = || python::with_server(&models.files).map(ModelServerProgram::Python);
    let on_path =
        |name: &Path| find_program(name, &search_path(), Path::new("")).map(ModelServerProgram::LlamaServer);
    let (found, looked) = match models.settings.server.as_str() {
        "auto" => (
            on_path(Path::new(LLAMA_SERVER)).or_else(python),
            "`llama-server` is not on the path, and the one for Python is not installed".to_owned(),
        ),
        "python" => (python(), "the one for Python is not installed".to_owned()),
        path => (on_path(&expanded(Path::new(path))), format!("`{path}` is no program")),
    };
    found.ok_or(LocalError::NoServer { looked })
}

/// Which model to serve, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalChoice {
    name: String,
    file: PathBuf,
    program: ModelServerProgram,
    context_tokens: u32,
    threads: usize,
    start_timeout_s: u64,
}

impl LocalChoice {
    /// A model that is pulled, and a server that is found. Blocking; starts nothing.
    ///
    /// # Errors
    /// The model is unknown or not pulled, or there is no server.
    pub(crate) fn of(models: &LocalModels, name: &str) -> Result<Self, LocalError> {
        let model = models.find(name)?;
        if model.kind != LocalModelKind::Chat {
            return Err(LocalError::NotChat { name: name.to_owned() });
        }
        let file = models.files.model(name, model);
        if !file.is_file() {
            return Err(LocalError::NotPulled { name: name.to_owned() });
        }
        let settings = &models.settings;
        // One processor is left to the applications and to us.
        let usual = || available_parallelism().map_or(1, |count| count.get().saturating_sub(1).max(1));
        Ok(Self {
            name: name.to_owned(),
            file,
            program: program(models)?,
            context_tokens: settings.context_tokens.or(model.context_tokens).unwrap_or(CONTEXT_TOKENS),
            threads: settings.threads.map_or_else(usual, |threads| threads as usize),
            start_timeout_s: settings.start_timeout_s,
        })
    }

    fn command(&self, port: u16, key: &Path) -> Command {
        let (port, context) = (port.to_string(), self.context_tokens.to_string());
        let threads = self.threads.to_string();
        let mut command = match &self.program {
            ModelServerProgram::LlamaServer(program) => {
                let mut command = Command::new(program);
                command.arg("--model").arg(&self.file).args(["--alias", &self.name]);
                command.args(["--host", "127.0.0.1", "--port", &port]);
                command.args(["--ctx-size", &context, "--parallel", "1", "--threads", &threads]);
                command.arg("--api-key-file").arg(key);
                command
            }
            ModelServerProgram::Python(python) => {
                let mut command = Command::new(python);
                command.args(["-I", "-c", SCRIPT]).arg(&self.file);
                command.args([&self.name, &port, &context, &threads]).arg(key);
                command
            }
        };
        // The keys of other models are none of its business.
        for name in Provider::ALL.into_iter().filter_map(|provider| provider.service()?.key_env) {
            command.env_remove(name);
        }
        command
    }
}

/// The servers of this process, so that sessions with the same model share one.
static SERVERS: Mutex<Vec<(LocalChoice, Weak<LocalServer>)>> = Mutex::new(Vec::new());

/// A server of one model. It ends when the last clone of its `Arc` is dropped, or this process dies.
#[derive(Debug)]
pub struct LocalServer {
    choice: LocalChoice,
    port: u16,
    /// The folder of the key and of what the server says.
    folder: TempDir,
    running: OnceCell<RunningModelServer>,
}

/// A server that was started.
#[derive(Debug)]
struct RunningModelServer {
    room: Arc<FolderProcessGuard>,
    /// Waits for the end of the server, and starts it again.
    watch: JoinSet<()>,
}

impl LocalServer {
    /// The server for a model, which others may have started. Starts nothing; its address and key are known.
    ///
    /// # Errors
    /// There is no free port, or its key cannot be written.
    pub(crate) fn of(choice: LocalChoice) -> Result<Arc<Self>, LocalError> {
        let mut servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
        servers.retain(|(_, server)| server.strong_count() > 0);
        if let Some(server) =
            servers.iter().find(|(known, _)| *known == choice).and_then(|(_, server)| server.upgrade())
        {
            return Ok(server);
        }
        let server = Arc::new(
            Self::new(choice.clone()).map_err(LocalError::file("prepare", Path::new("the server")))?,
        );
        servers.push((choice, Arc::downgrade(&server)));
        Ok(server)
    }

    fn new(choice: LocalChoice) -> io::Result<Self> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let folder = new_folder()?;
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| io::Error::other(error.to_string()))?;
        let key: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        private::write_file(&folder.path().join("key"), key.as_bytes())?;
        Ok(Self { choice, port, folder, running: OnceCell::new() })
    }

    /// The address of its OpenAI-compatible interface.
    pub(crate) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The file with the key that it wants.
    pub(crate) fn key_file(&self) -> PathBuf {
        self.folder.path().join("key")
    }

    /// Starts the server, unless it was, and waits until it has loaded the model.
    ///
    /// # Errors
    /// It does not start, or takes longer than `local.start_timeout_s`.
    pub(crate) async fn start(&self) -> Result<(), LocalError> {
        self.running.get_or_try_init(|| self.run()).await.map(drop)
    }

    async fn run(&self) -> Result<RunningModelServer, LocalError> {
        let program = || self.choice.program.to_string();
        let failed =
            |error: io::Error| LocalError::ServerEnded { program: program(), said: error.to_string() };
        let room = Arc::new(FolderProcessGuard::new(self.folder.path()).map_err(failed)?);
        let mut child = self.spawn(&room).map_err(failed)?;
        let bound = Duration::from_secs(self.choice.start_timeout_s);
        let ready = tokio::select! {
            ready = timeout(bound, self.loaded()) => ready.is_ok(),
            ended = child.wait() => {
                let said = format!("{}: {}", how(ended), room.said());
                return Err(LocalError::ServerEnded { program: program(), said });
            }
        };
        if !ready {
            let timeout_s = self.choice.start_timeout_s;
            return Err(LocalError::ServerSilent { program: program(), timeout_s });
        }
        let mut watch = JoinSet::new();
        let again = Again {
            choice: self.choice.clone(),
            port: self.port,
            key: self.key_file(),
            room: Arc::clone(&room),
        };
        watch.spawn(again.watch(child));
        Ok(RunningModelServer { room, watch })
    }

    fn spawn(&self, room: &FolderProcessGuard) -> io::Result<Child> {
        room.spawn(&mut self.choice.command(self.port, &self.key_file()))
    }

    /// Returns once the server says that it has loaded its model: it announces that to nobody.
    async fn loaded(&self) {
        let mut looks = interval(LOOKS);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            if matches!(timeout(LOOK_MAX, is_healthy(self.port)).await, Ok(Ok(true))) {
                return;
            }
        }
    }

    /// Ends the server, and returns when it is gone.
    pub(crate) async fn end(mut self) {
        if let Some(mut running) = self.running.take() {
            running.watch.shutdown().await;
            if let Some(room) = Arc::into_inner(running.room) {
                room.end().await;
            }
        }
    }
}

/// Data that is needed to restart a server.
struct Again {
    choice: LocalChoice,
    port: u16,
    key: PathBuf,
    room: Arc<FolderProcessGuard>,
}

impl Again {
    /// Waits for the end of a server and starts it again on the same port; requests of then are repeated by who sent them.
    async fn watch(self, mut child: Child) {
        for _ in 0..RESTARTS_MAX {
            let ended = child.wait().await;
            let said = self.room.said();
            tracing::warn!(how = how(ended), said, "the server of the local model ended; starting it again");
            child = match self.room.spawn(&mut self.choice.command(self.port, &self.key)) {
                Ok(child) => child,
                Err(error) => {
                    tracing::warn!(%error, "failed to start the server of the local model again");
                    return;
                }
            };
        }
        let ended = child.wait().await;
        tracing::warn!(
            how = how(ended),
            said = self.room.said(),
            "the server of the local model ended again"
        );
    }
}

/// Describes in words how a program ended.
fn how(ended: io::Result<ExitStatus>) -> String {
    ended.map_or_else(|error| error.to_string(), |status| status.to_string())
}

/// Returns `true` if a server at this port reports that it is ready (`GET /health`).
async fn is_healthy(port: u16) -> io::Result<bool> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").await?;
    let mut head = [0; 12];
    stream.read_exact(&mut head).await?;
    Ok(head.ends_with(b" 200"))
}
