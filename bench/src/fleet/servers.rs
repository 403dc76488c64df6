//! Three servers, each with a small disk of its own where that can be mounted.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, anyhow};
use rustix::process::{Pid, Signal, kill_process};

use crate::{chance::Chance, disk::Disk};
use xtask::workspace;

/// Ports that no outgoing connection has.
const PORTS: std::ops::Range<u64> = 20_000..30_000;
/// The disk of a server, in MB.
const DISK_MB: u64 = 700;

/// A server.
pub(super) struct Server {
    /// Where clients connect.
    pub(super) port: u16,
    config: PathBuf,
    log: PathBuf,
    pub(super) disk: Option<Disk>,
    child: Option<Child>,
}

impl Server {
    /// Starts it, if it does not run.
    pub(super) fn start(&mut self) -> Result<()> {
        if self.child.is_some() {
            return Ok(());
        }
        let log = fs::File::options().create(true).append(true).open(&self.log)?;
        let mut command = Command::new(program());
        command.arg("-c").arg(&self.config).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.child = Some(command.spawn().context("start nats-server")?);
        Ok(())
    }

    pub(super) fn kill(&mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill().context("kill nats-server")?;
            child.wait()?;
        }
        Ok(())
    }

    pub(super) fn signal(&self, signal: Signal) -> Result<()> {
        let pid = self.child.as_ref().and_then(|child| Pid::from_raw(child.id().try_into().ok()?));
        kill_process(pid.context("the server does not run")?, signal).context("send a signal to nats-server")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill().ok();
    }
}

/// The program, which `cargo xtask setup` installs.
pub(super) fn program() -> PathBuf {
    workspace::root().join("target/wheels/mcp/bin/nats-server")
}

/// Free ports.
pub(super) fn ports(chance: &mut Chance, count: usize) -> Vec<u16> {
    let mut held = Vec::new();
    while held.len() < count {
        let port = PORTS.start + chance.below(PORTS.end - PORTS.start);
        let port = u16::try_from(port).unwrap_or_default();
        held.extend(TcpListener::bind(("127.0.0.1", port)).ok().map(|listener| (port, listener)));
    }
    held.into_iter().map(|(port, _)| port).collect()
}

/// Starts three servers with their data in a folder.
pub(super) fn start(folder: &Path, chance: &mut Chance) -> Result<Vec<Server>> {
    let ports = ports(chance, 6);
    let (clients, routes) = ports.split_at(3);
    let others: Vec<String> = routes.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
    let mut servers = Vec::new();
    for (number, (port, route)) in clients.iter().zip(routes).enumerate() {
        let store = folder.join(format!("store{number}"));
        fs::create_dir_all(&store)?;
        let disk = Disk::mount(&store, DISK_MB, "0700").ok();
        // Workers reach them through their gates alone.
        let text = format!(
            "server_name: n{number}\nlisten: 127.0.0.1:{port}\n\
             jetstream {{ store_dir: \"{}\", max_mem: 64M, max_file: 4G }}\n\
             cluster {{ name: fleet, listen: 127.0.0.1:{route}, no_advertise: true, routes: [{}] }}\n",
            store.display(),
            others.join(", ")
        );
        let config = folder.join(format!("n{number}.conf"));
        fs::write(&config, text)?;
        let log = folder.join(format!("n{number}.log"));
        let mut server = Server { port: *port, config, log, disk, child: None };
        server.start()?;
        servers.push(server);
    }
    Ok(servers)
}

/// What the first server that answers says.
pub(super) fn first<T>(servers: &[Server], ask: impl Fn(u16) -> Result<T>) -> Result<T> {
    let mut answers = servers.iter().map(|server| ask(server.port));
    let first = answers.find(Result::is_ok);
    first.unwrap_or_else(|| Err(anyhow!("no server answers")))
}
