//! The three servers of a cluster: which of them run, who leads, and how long it takes until most have stored something.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{Chance, faults::Tail};

/// Time that the others need to agree on a new leader.
const ELECTION: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));
/// Factor by which a slow disk takes longer.
const SLOWER: f64 = 100.0;

#[derive(Debug, Clone, Copy, Default)]
struct SimClusterNode {
    is_down: bool,
    slow_until: Option<Instant>,
}

#[derive(Debug, Default)]
struct SimClusterState {
    nodes: [SimClusterNode; Cluster::NODES],
    leader: usize,
    /// The leader leads from then on.
    leads_from: Option<Instant>,
    /// Number of times the leader changed.
    terms: u64,
}

/// The servers.
#[derive(Debug)]
pub(super) struct Cluster {
    state: Mutex<SimClusterState>,
    disk: Tail,
    chance: Chance,
}

/// A write that is on its way to the disks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Write {
    pub(super) takes: Duration,
    term: u64,
}

impl Cluster {
    pub(super) const NODES: usize = 3;

    pub(super) fn new(disk: Tail, seed: u64) -> Self {
        Self { state: Mutex::default(), disk, chance: Chance::new(seed) }
    }

    fn state(&self) -> MutexGuard<'_, SimClusterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_up(&self, node: usize) -> bool {
        self.state().nodes.get(node).is_some_and(|node| !node.is_down)
    }

    /// Returns `true` if there is a leader that most servers follow.
    pub(super) fn leads(&self) -> bool {
        let state = self.state();
        let up = state.nodes.iter().filter(|node| !node.is_down).count();
        let is_up = state.nodes.get(state.leader).is_some_and(|node| !node.is_down);
        is_up && up > Self::NODES / 2 && state.leads_from.is_none_or(|from| from <= Instant::now())
    }

    /// Returns the time that the disk of a server takes.
    fn disk(&self, node: SimClusterNode) -> Duration {
        let time = self.chance.tail(self.disk);
        if node.slow_until.is_some_and(|until| until > Instant::now()) { time.mul_f64(SLOWER) } else { time }
    }

    /// A write: it is done once the leader and one other server have it. `None` if nobody leads.
    pub(super) fn write(&self) -> Option<Write> {
        if !self.leads() {
            return None;
        }
        let state = self.state();
        let mut leader = Duration::ZERO;
        let mut others = Duration::MAX;
        for (number, node) in state.nodes.iter().enumerate().filter(|(_, node)| !node.is_down) {
            let disk = self.disk(*node);
            if number == state.leader {
                leader = disk;
            } else {
                others = others.min(disk);
            }
        }
        Some(Write { takes: leader.max(others), term: state.terms })
    }

    /// Returns whether a write whose time has passed was stored, and whether a leader remains to confirm it: a
    /// leader that was killed meanwhile may have handed it on or not.
    pub(super) fn is_stored(&self, write: Write) -> (bool, bool) {
        let is_answered = self.state().terms == write.term;
        (is_answered || self.chance.below(2) == 0, is_answered)
    }

    /// Returns how far a server is behind the leader.
    pub(super) fn behind(&self, node: usize) -> Duration {
        let state = self.state();
        match state.nodes.get(node) {
            Some(follower) if node != state.leader => self.disk(*follower),
            Some(_) | None => Duration::ZERO,
        }
    }

    /// A server is gone, or comes back.
    pub(super) fn down(&self, node: usize, is_down: bool) {
        let mut state = self.state();
        if let Some(node) = state.nodes.get_mut(node) {
            node.is_down = is_down;
        }
        let is_led = state.nodes.get(state.leader).is_some_and(|node| !node.is_down);
        let up = state.nodes.iter().filter(|node| !node.is_down).count();
        if is_led && up > Self::NODES / 2 && (is_down || up == Self::NODES) {
            return;
        }
        let others = (1..=Self::NODES).map(|step| (state.leader + step) % Self::NODES);
        let next = others.filter(|next| state.nodes.get(*next).is_some_and(|node| !node.is_down)).min();
        state.leader = next.unwrap_or(state.leader);
        state.terms += 1;
        state.leads_from = Some(Instant::now() + self.chance.between(ELECTION.0, ELECTION.1));
    }

    pub(super) fn slow(&self, node: usize, until: Instant) {
        if let Some(node) = self.state().nodes.get_mut(node) {
            node.slow_until = Some(until);
        }
    }
}
