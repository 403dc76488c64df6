//! Faults of a simulated fleet, as data.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Times that are mostly short and sometimes long: a Pareto distribution up to a longest time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tail {
    /// The shortest time, in milliseconds. Half of the times are below 1.6 times this, 99 % below 22 times this.
    pub shortest_ms: f64,
    /// The longest time, in milliseconds.
    pub longest_ms: f64,
}

/// Effects of every link between a client and a server on messages.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Time that a message takes.
    pub delay: Tail,
    /// Number of lost messages per million.
    pub lost: u32,
    /// Number of requests per million that arrive a second time, up to a minute later.
    pub repeated: u32,
}

/// Whom something befalls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whom {
    /// One of the workers.
    Worker,
    /// A group of workers: a hundredth of them.
    Group,
    /// The worker whose controller leads.
    Leader,
    /// One of the three servers.
    Server,
}

/// The kind of a mishap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SimFault {
    /// Its process is killed, and starts anew after that time.
    Killed,
    /// A worker's process is stopped for that time, as by SIGSTOP.
    Stopped,
    /// Nothing gets through between a worker and the servers, in either direction.
    Cut,
    /// Messages of a worker do not get through; those of servers do.
    Mute,
    /// Messages of servers do not get through to a worker; its own do.
    Deaf,
    /// The disk of a server takes a hundred times as long for all it writes.
    Slow,
}

/// Something that befalls somebody again and again.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mishap {
    /// Whom.
    pub whom: Whom,
    /// The kind.
    pub what: SimFault,
    /// Average time between two mishaps of the same worker or server, in seconds.
    pub every_s: f64,
    /// Minimum and maximum duration, in seconds.
    pub lasts_s: (f64, f64),
}

/// The faults of a fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faults {
    /// The links.
    pub network: Network,
    /// Time that a disk takes for a write.
    pub disk: Tail,
    /// The rates of the workers' clocks are between these: 1.1 for one that is 10 % too fast.
    pub clocks: (f64, f64),
    /// The mishaps of workers and servers.
    pub mishaps: Vec<Mishap>,
}

impl Faults {
    /// A network and disks as they are on a good day. Nothing befalls anybody.
    pub fn none() -> Self {
        Self {
            network: Network { delay: Tail { shortest_ms: 0.3, longest_ms: 5.0 }, lost: 0, repeated: 0 },
            disk: Tail { shortest_ms: 0.5, longest_ms: 20.0 },
            clocks: (1.0, 1.0),
            mishaps: Vec::new(),
        }
    }

    /// Everything that can go wrong, much more often than it does.
    pub fn all() -> Self {
        use SimFault::{Cut, Deaf, Killed, Mute, Slow, Stopped};
        use Whom::{Group, Leader, Server, Worker};
        let mishap = |whom, what, every_s, lasts_s| Mishap { whom, what, every_s, lasts_s };
        Self {
            network: Network {
                delay: Tail { shortest_ms: 0.5, longest_ms: 2_000.0 },
                lost: 500,
                repeated: 500,
            },
            disk: Tail { shortest_ms: 0.5, longest_ms: 3_000.0 },
            clocks: (0.9, 1.1),
            mishaps: vec![
                mishap(Worker, Killed, 3_600.0, (1.0, 120.0)),
                mishap(Worker, Stopped, 3_600.0, (0.1, 60.0)),
                mishap(Worker, Cut, 3_600.0, (1.0, 60.0)),
                mishap(Worker, Mute, 7_200.0, (1.0, 60.0)),
                mishap(Worker, Deaf, 7_200.0, (1.0, 60.0)),
                mishap(Group, Cut, 14_400.0, (5.0, 60.0)),
                mishap(Leader, Killed, 600.0, (1.0, 60.0)),
                mishap(Leader, Stopped, 900.0, (1.0, 60.0)),
                mishap(Leader, Deaf, 900.0, (1.0, 60.0)),
                mishap(Server, Killed, 1_800.0, (2.0, 30.0)),
                mishap(Server, Slow, 900.0, (5.0, 60.0)),
            ],
        }
    }

    /// All of them, so many times as often.
    #[must_use]
    pub fn times(mut self, times: f64) -> Self {
        for mishap in &mut self.mishaps {
            mishap.every_s /= times;
        }
        self
    }
}

/// A time of so many seconds; 0 for what is none.
pub(super) fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
