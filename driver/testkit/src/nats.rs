//! A cluster of three NATS servers with JetStream, on loopback.

use std::{
    fs, io,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// The number of servers.
pub const SERVERS: usize = 3;

/// The program, which the set-up of the project installs.
///
/// # Panics
/// It is not there, although all tests are wanted.
pub fn program() -> Option<PathBuf> {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/wheels/mcp/bin/nats-server");
    let named = std::env::var_os("DESKHAND_NATS_SERVER").map(PathBuf::from);
    let program = named.or_else(|| installed.is_file().then_some(installed));
    assert!(
        program.is_some() || std::env::var_os("DESKHAND_ALL_TESTS").is_none(),
        "there is no nats-server; `cargo xtask setup` installs it"
    );
    program
}

/// The cluster; it ends when it is dropped.
pub struct Cluster {
    program: PathBuf,
    folder: PathBuf,
    /// Of each server the port for clients, and the one for the others.
    ports: Vec<(u16, u16)>,
    servers: Vec<Child>,
}

impl Cluster {
    /// Starts it, with its data in a folder. `None` if the program is not installed.
    ///
    /// # Errors
    /// A server cannot be started.
    ///
    /// # Panics
    /// The program is not there, although all tests are wanted.
    pub fn start(folder: &Path) -> io::Result<Option<Self>> {
        let Some(program) = program() else { return Ok(None) };
        // All are held until the last one is found, so that they differ.
        let held: Vec<TcpListener> =
            (0..2 * SERVERS).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<io::Result<_>>()?;
        let ports: Vec<u16> =
            held.iter().map(|listener| Ok(listener.local_addr()?.port())).collect::<io::Result<_>>()?;
        drop(held);
        let (clients, routes) = ports.split_at(SERVERS);
        let ports = clients.iter().copied().zip(routes.iter().copied()).collect();
        let mut cluster = Self { program, folder: folder.to_owned(), ports, servers: Vec::new() };
        for number in 0..SERVERS {
            let server = cluster.start_one(number)?;
            cluster.servers.push(server);
        }
        Ok(Some(cluster))
    }

    /// The addresses of all servers.
    pub fn addresses(&self) -> Vec<String> {
        self.ports.iter().map(|(client, _)| format!("nats://127.0.0.1:{client}")).collect()
    }

    /// Kills a server and starts it again.
    ///
    /// # Errors
    /// There is no such server, or it cannot be started.
    pub fn restart(&mut self, number: usize) -> io::Result<()> {
        let server = self.servers.get_mut(number).ok_or(io::ErrorKind::NotFound)?;
        server.kill()?;
        server.wait()?;
        *server = start(&self.program, &self.folder, &self.ports, number)?;
        Ok(())
    }

    fn start_one(&self, number: usize) -> io::Result<Child> {
        start(&self.program, &self.folder, &self.ports, number)
    }
}

fn start(program: &Path, folder: &Path, ports: &[(u16, u16)], number: usize) -> io::Result<Child> {
    let (client, route) = ports.get(number).ok_or(io::ErrorKind::NotFound)?;
    let routes: Vec<String> = ports.iter().map(|(_, route)| format!("nats://127.0.0.1:{route}")).collect();
    let config = format!(
        "server_name: n{number}\nlisten: 127.0.0.1:{client}\n\
         jetstream {{ store_dir: \"{}\", max_mem: 64M, max_file: 1G }}\n\
         cluster {{ name: fleet, listen: 127.0.0.1:{route}, routes: [{}] }}\n",
        folder.join(format!("store{number}")).display(),
        routes.join(", ")
    );
    let file = folder.join(format!("n{number}.conf"));
    fs::write(&file, config)?;
    let log = folder.join(format!("n{number}.log"));
    let log = fs::File::options().create(true).append(true).open(log)?;
    let mut command = Command::new(program);
    command.arg("-c").arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn()
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for server in &mut self.servers {
            server.kill().ok();
            server.wait().ok();
        }
    }
}
