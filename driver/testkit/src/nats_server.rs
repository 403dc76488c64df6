//! One NATS server with a configuration of its own, on loopback.

use std::{
    fs, io,
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::channel,
    time::{Duration, Instant},
};

use crate::nats::program;

/// How long a server may take until it listens.
const BEGINS_MAX: Duration = Duration::from_secs(60);
/// How often it is looked.
const LOOK: Duration = Duration::from_millis(20);

/// The server; it ends when it is dropped.
pub struct Server {
    /// Its port.
    pub port: u16,
    log: PathBuf,
    /// The folder with the file in which it says where it listens.
    ports: PathBuf,
    process: Child,
}

impl Server {
    /// Starts it with its data in a folder, and waits until it listens. What else its configuration has is in `more`. `None` if the
    /// program is not installed.
    ///
    /// # Errors
    /// It cannot be started, or ends.
    ///
    /// # Panics
    /// The program is not there, although all tests are wanted.
    pub fn start(folder: &Path, more: &str) -> io::Result<Option<Self>> {
        let Some(program) = program() else { return Ok(None) };
        let ports = folder.join("ports");
        fs::create_dir_all(&ports)?;
        let (store, log) = (folder.join("store"), folder.join("nats.log"));
        let config = format!(
            "listen: \"127.0.0.1:-1\"\nports_file_dir: {ports:?}\n\
             jetstream {{ store_dir: {store:?}, max_mem: 64M, max_file: 1G }}\n{more}\n"
        );
        let file = folder.join("nats.conf");
        fs::write(&file, config)?;
        let errors = fs::File::options().create(true).append(true).open(&log)?;
        let mut command = Command::new(program);
        command.arg("-c").arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
        let mut server = Self { port: 0, log, ports: ports.clone(), process: command.spawn()? };
        let begun = Instant::now();
        loop {
            if let Some(port) =
                address_in(&ports, "nats").and_then(|address| address.rsplit(':').next()?.parse().ok())
                && TcpStream::connect(("127.0.0.1", port)).is_ok()
            {
                server.port = port;
                return Ok(Some(server));
            }
            if server.process.try_wait()?.is_some() || begun.elapsed() > BEGINS_MAX {
                return Err(io::Error::other(format!("nats-server does not listen: {}", server.log())));
            }
            // It writes its ports into a file without a word.
            let (_open, silent) = channel::<()>();
            let _ = silent.recv_timeout(LOOK);
        }
    }

    /// What it has written.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// The address of its monitoring, if its configuration has one.
    pub fn monitoring(&self) -> Option<String> {
        address_in(&self.ports, "monitoring")
    }
}

/// An address that a server wrote into its folder.
fn address_in(folder: &Path, kind: &str) -> Option<String> {
    let file = fs::read_dir(folder).ok()?.find_map(Result::ok)?;
    let ports: serde_json::Value = serde_json::from_str(&fs::read_to_string(file.path()).ok()?).ok()?;
    Some(ports.get(kind)?.get(0)?.as_str()?.to_owned())
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
