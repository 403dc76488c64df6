//! What goes wrong while tasks are done.

use std::{fmt, time::Duration};

use anyhow::{Context as _, Result};
use rustix::process::Signal;

use super::{
    client,
    crew::{Home, LEASE, Worker},
    gate::Network,
    servers::{Server, first},
};
use crate::{chance::Chance, disk::Disk, pace::pause};

/// One thing that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    KillWorker,
    /// The worker whose controller leads.
    KillLeader,
    /// For longer than its lease.
    StopWorker,
    StopLeader,
    /// For less than its lease.
    StopBriefly,
    KillServer,
    KillAllServers,
    StopServer,
    /// Nothing gets through for longer than the lease.
    Silence,
    /// Connections are closed, for a moment.
    Refuse,
    FullWorker,
    FullServer,
}

/// All of them.
const ALL: [Fault; 12] = [
    Fault::KillWorker,
    Fault::KillLeader,
    Fault::StopWorker,
    Fault::StopLeader,
    Fault::StopBriefly,
    Fault::KillServer,
    Fault::KillAllServers,
    Fault::StopServer,
    Fault::Silence,
    Fault::Refuse,
    Fault::FullWorker,
    Fault::FullServer,
];

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KillWorker => "worker killed",
            Self::KillLeader => "leader killed",
            Self::StopWorker => "worker stopped past its lease",
            Self::StopLeader => "leader stopped past its lease",
            Self::StopBriefly => "worker stopped briefly",
            Self::KillServer => "server killed",
            Self::KillAllServers => "all servers killed",
            Self::StopServer => "server stopped",
            Self::Silence => "network of a worker silent",
            Self::Refuse => "connections of a worker closed",
            Self::FullWorker => "disk of a worker full",
            Self::FullServer => "disk of a server full",
        })
    }
}

/// The faults of a round in the order of its seed.
pub(super) fn deck(chance: &mut Chance) -> Vec<Fault> {
    let mut left = ALL.to_vec();
    let mut deck = Vec::new();
    while !left.is_empty() {
        let at = usize::try_from(chance.below(left.len() as u64)).unwrap_or_default();
        deck.push(left.swap_remove(at));
    }
    deck
}

/// Waits for a random time; nothing says when a fault is over but the clock.
fn last(chance: &mut Chance, shortest: Duration, longest: Duration) {
    let spread = u64::try_from(longest.saturating_sub(shortest).as_millis()).unwrap_or_default();
    pause(shortest + Duration::from_millis(chance.below(spread)));
}

/// Lets it go wrong, and puts it right again. Returns whom it hit; `None` if it cannot be done here.
pub(super) fn happen(
    fault: Fault,
    chance: &mut Chance,
    (home, workers): (&Home, &mut [Worker]),
    servers: &mut [Server],
) -> Result<Option<String>> {
    const MOMENT: Duration = Duration::from_millis(200);
    let hits_leader = matches!(fault, Fault::KillLeader | Fault::StopLeader);
    let leader = if hits_leader { first(servers, client::leader).unwrap_or_default() } else { String::new() };
    let is_leader = |worker: &Worker| leader.starts_with(&format!("{}-", worker.name));
    let any = usize::try_from(chance.below(workers.len() as u64)).unwrap_or_default();
    let at = workers.iter().position(is_leader).unwrap_or(any);
    let worker = workers.get_mut(at).context("no worker")?;
    let one = usize::try_from(chance.below(servers.len() as u64)).unwrap_or_default();
    let server = servers.get_mut(one).context("no server")?;
    let (whom, which) = (worker.name.clone(), format!("server {one}"));
    Ok(Some(match fault {
        Fault::KillWorker | Fault::KillLeader => {
            worker.kill()?;
            last(chance, MOMENT, LEASE * 2);
            worker.start(home, &[])?;
            whom
        }
        Fault::StopWorker | Fault::StopLeader | Fault::StopBriefly => {
            let (shortest, longest) =
                if fault == Fault::StopBriefly { (MOMENT, LEASE / 2) } else { (LEASE * 2, LEASE * 4) };
            worker.signal(Signal::STOP)?;
            last(chance, shortest, longest);
            // It may be gone by now.
            worker.signal(Signal::CONT).ok();
            whom
        }
        Fault::KillServer => {
            server.kill()?;
            last(chance, MOMENT, LEASE);
            server.start()?;
            which
        }
        Fault::KillAllServers => {
            servers.iter_mut().try_for_each(Server::kill)?;
            last(chance, MOMENT, LEASE);
            servers.iter_mut().try_for_each(Server::start)?;
            "all".to_owned()
        }
        Fault::StopServer => {
            server.signal(Signal::STOP)?;
            last(chance, MOMENT, LEASE * 2);
            server.signal(Signal::CONT)?;
            which
        }
        Fault::Silence => {
            worker.gate.set(Network::Silent);
            last(chance, LEASE * 2, LEASE * 4);
            worker.gate.set(Network::Open);
            whom
        }
        Fault::Refuse => {
            worker.gate.set(Network::Refused);
            last(chance, MOMENT, LEASE);
            worker.gate.set(Network::Open);
            whom
        }
        Fault::FullWorker => {
            let Some(disk) = &worker.disk else { return Ok(None) };
            fill(disk, chance)?;
            whom
        }
        Fault::FullServer => {
            let Some(disk) = &server.disk else { return Ok(None) };
            fill(disk, chance)?;
            // Who frees the disk of a server starts it again: it has given up its streams.
            server.kill()?;
            server.start()?;
            which
        }
    }))
}

fn fill(disk: &Disk, chance: &mut Chance) -> Result<()> {
    const LEAVE_MAX: u64 = 48 * 1024;
    disk.fill(chance.below(LEAVE_MAX))?;
    last(chance, LEASE, LEASE * 2);
    disk.free()
}
