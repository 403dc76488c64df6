//! What is between a worker and the servers: connections that can be cut.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, PoisonError},
};

use anyhow::{Context as _, Result};

/// The most bytes that are passed on at once.
const PIECE: usize = 64 * 1024;

/// What the network does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Network {
    /// It passes everything on.
    Open,
    /// Nothing gets through, and nobody hears of it.
    Silent,
    /// Connections are closed, and new ones at once.
    Refused,
}

struct State {
    network: Network,
    connections: Vec<TcpStream>,
}

/// The gate of one worker.
#[derive(Clone)]
pub(super) struct Gate {
    state: Arc<(Mutex<State>, Condvar)>,
    /// The ports to connect to, one for each server.
    pub(super) ports: Vec<u16>,
}

impl Gate {
    /// A gate to these ports of servers. Its threads end with this process.
    pub(super) fn open(servers: &[u16]) -> Result<Self> {
        let state = State { network: Network::Open, connections: Vec::new() };
        let state = Arc::new((Mutex::new(state), Condvar::new()));
        let mut ports = Vec::new();
        for server in servers {
            let listener = TcpListener::bind("127.0.0.1:0").context("listen for a worker")?;
            ports.push(listener.local_addr()?.port());
            let (state, server) = (Arc::clone(&state), *server);
            std::thread::spawn(move || {
                for stream in listener.incoming().filter_map(Result::ok) {
                    join(&state, stream, server).ok();
                }
            });
        }
        Ok(Self { state, ports })
    }

    /// Changes what the network does.
    pub(super) fn set(&self, network: Network) {
        let (state, changed) = &*self.state;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.network = network;
        if network != Network::Silent {
            // What was silent for long is broken for good, as after a failure of a router.
            for connection in std::mem::take(&mut state.connections) {
                connection.shutdown(Shutdown::Both).ok();
            }
        }
        drop(state);
        changed.notify_all();
    }
}

/// Passes on what two sides say.
fn join(state: &Arc<(Mutex<State>, Condvar)>, client: TcpStream, port: u16) -> Result<()> {
    let server = {
        let mut state = state.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.network == Network::Refused {
            return Ok(());
        }
        let server = TcpStream::connect(("127.0.0.1", port))?;
        state.connections.extend([client.try_clone()?, server.try_clone()?]);
        server
    };
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    for (from, to) in [(client.try_clone()?, server.try_clone()?), (server, client)] {
        let state = Arc::clone(state);
        std::thread::spawn(move || pass(&state, from, to));
    }
    Ok(())
}

fn pass((state, changed): &(Mutex<State>, Condvar), mut from: TcpStream, mut to: TcpStream) {
    let mut piece = vec![0; PIECE];
    while let Ok(length) = from.read(&mut piece) {
        let held = state.lock().unwrap_or_else(PoisonError::into_inner);
        let held = changed.wait_while(held, |state| state.network == Network::Silent);
        drop(held);
        let Some(piece) = piece.get(..length).filter(|piece| !piece.is_empty()) else { break };
        if to.write_all(piece).is_err() {
            break;
        }
    }
    from.shutdown(Shutdown::Both).ok();
    to.shutdown(Shutdown::Both).ok();
}
