//! What goes wrong in a run, and when.

use std::{fmt, ops::Range, time::Duration};

use rustix::process::Signal;
use serde::Serialize;

use crate::chance::Chance;

/// A process that is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Victim {
    /// `deskhand run`.
    Owner,
    /// `deskhand keep-desktop`.
    Keeper,
    /// The guard of the desktop.
    Guard,
    /// The X server.
    Display,
    /// The window manager.
    WindowManager,
    /// A message bus.
    Bus,
    /// A service of the accessibility bus.
    Accessibility,
    /// The editor.
    Application,
    /// A supervisor or another stage of a confined program.
    Confinement,
    /// The program of the shell agent.
    Program,
    /// Any process of the run.
    Any,
}

impl Victim {
    const OTHERS: &[Self] = &[
        Self::Keeper,
        Self::Guard,
        Self::Display,
        Self::WindowManager,
        Self::Bus,
        Self::Accessibility,
        Self::Application,
        Self::Confinement,
        Self::Program,
        Self::Any,
    ];

    /// Returns `true` if a process with this command line is one.
    pub(super) fn is(self, line: &[&str]) -> bool {
        let program = line.first().map_or("", |path| path.rsplit('/').next().unwrap_or(path));
        let has = |word: &str| line.contains(&word);
        match self {
            Self::Owner => program == "deskhand" && (has("run") || has("resume")),
            Self::Keeper => has("keep-desktop"),
            Self::Guard => has("deskhand-guard"),
            Self::Display => program == "Xvfb",
            Self::WindowManager => program == "openbox",
            Self::Bus => program == "dbus-daemon",
            Self::Accessibility => program.starts_with("at-spi"),
            Self::Application => program.eq_ignore_ascii_case("mousepad"),
            Self::Confinement => has("sandboxed") || program == super::place::BUBBLEWRAP,
            Self::Program => line.iter().any(|word| word.contains(super::place::APPENDS)) && program == "sh",
            Self::Any => true,
        }
    }
}

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing.
    Nothing,
    /// Processes are killed, one right after the other.
    Kill(Vec<Victim>),
    /// The process that runs the session gets a signal.
    Signal(Signal),
    /// The disk of the sessions is full but for some bytes.
    FullSessions {
        /// What is left of it.
        leave: u64,
    },
    /// The disk of `/tmp` is full but for some bytes.
    FullTemporary {
        /// What is left of it.
        leave: u64,
    },
    /// A program mounts a file system in the private folder of the desktop and does not take it away, as the document portal does
    /// when it is killed.
    Mount,
    /// No process may write a larger file.
    FileLimit {
        /// The limit.
        bytes: u64,
    },
}

/// When it goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    /// Once the journal has so many records; at the start with 0.
    pub(super) records: u64,
    /// So much later.
    pub(super) later: Duration,
}

/// How a run goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) fault: Fault,
    pub(super) moment: Moment,
    /// Whether the desktop outlives its owner.
    pub(super) keeps: bool,
    /// When the process that resumes the session is killed too.
    pub(super) again: Option<Moment>,
}

/// The most records before a fault; a session without one has about 60.
const RECORDS_MAX: u64 = 56;
/// The longest time from them to the fault, in milliseconds.
const PROGRAM_LATER_MAX_MS: u64 = 300;
/// The records around the start of the program of the shell agent.
const PROGRAM_RECORDS: Range<u64> = 26..30;
/// The longest time from a record to the fault, in milliseconds.
const LATER_MAX_MS: u64 = 60;
/// The same from the start: a desktop takes about half a second to start.
const START_MAX_MS: u64 = 2_000;
/// The most bytes that a full disk has left.
const LEAVE_MAX: u64 = 48 * 1024;
/// The highest limit of the size of files; a journal is larger in the end.
const LIMIT_MAX: u64 = 96 * 1024;

impl Plan {
    /// The plan of the run with these random numbers.
    pub(super) fn of(chance: &mut Chance) -> Self {
        let starts = chance.below(6) == 0;
        let mut moment = Moment {
            records: if starts { 0 } else { 1 + chance.below(RECORDS_MAX) },
            later: Duration::from_millis(chance.below(if starts { START_MAX_MS } else { LATER_MAX_MS })),
        };
        let victim = |chance: &mut Chance| chance.one_of(Victim::Owner, Victim::OTHERS);
        let fault = match chance.below(21) {
            0 => Fault::Nothing,
            1..=4 => Fault::Kill(vec![Victim::Owner]),
            5..=9 => Fault::Kill(vec![victim(chance)]),
            10..=12 => Fault::Kill(vec![victim(chance), victim(chance)]),
            13 => Fault::Kill(vec![victim(chance), victim(chance), victim(chance)]),
            14 | 15 => Fault::Signal(chance.one_of(Signal::TERM, &[Signal::HUP, Signal::INT])),
            16 | 17 => Fault::FullSessions { leave: chance.below(LEAVE_MAX) },
            18 => Fault::FullTemporary { leave: chance.below(LEAVE_MAX) },
            19 => Fault::Mount,
            _ => Fault::FileLimit { bytes: chance.below(LIMIT_MAX) },
        };
        if let Fault::Kill(victims) = &fault
            && victims.iter().any(|victim| matches!(victim, Victim::Program | Victim::Confinement))
        {
            // They run for a moment only, once their confinement is made.
            moment.records =
                PROGRAM_RECORDS.start + chance.below(PROGRAM_RECORDS.end - PROGRAM_RECORDS.start);
            moment.later = Duration::from_millis(chance.below(PROGRAM_LATER_MAX_MS));
        }
        let keeps = chance.below(3) > 0;
        let again = (chance.below(4) == 0).then(|| Moment {
            records: chance.below(RECORDS_MAX / 2),
            later: Duration::from_millis(chance.below(LATER_MAX_MS)),
        });
        Self { fault, moment, keeps, again }
    }
}

impl Plan {
    /// Returns `true` if all that could end the desktop is killed at once: without a keeper, its owner does that.
    pub(super) fn leaves_nobody(&self) -> bool {
        let Fault::Kill(victims) = &self.fault else { return false };
        let ours = [Victim::Owner, Victim::Guard].into_iter().chain(self.keeps.then_some(Victim::Keeper));
        // Any of them may be the one that is missing.
        let mut missing = ours.filter(|victim| !victims.contains(victim)).count();
        missing = missing.saturating_sub(victims.iter().filter(|victim| **victim == Victim::Any).count());
        missing == 0
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            Fault::Nothing => write!(f, "nothing")?,
            Fault::Kill(victims) => write!(f, "kill {victims:?}")?,
            Fault::Signal(signal) => write!(f, "signal {}", signal.as_raw())?,
            Fault::FullSessions { leave } => write!(f, "{leave} bytes left for sessions")?,
            Fault::FullTemporary { leave } => write!(f, "{leave} bytes left in /tmp")?,
            Fault::Mount => write!(f, "mount")?,
            Fault::FileLimit { bytes } => write!(f, "files up to {bytes} bytes")?,
        }
        let kept = if self.keeps { "kept" } else { "not kept" };
        write!(f, " at {}, desktop {kept}", self.moment)?;
        self.again.map_or(Ok(()), |moment| write!(f, ", resumed and killed at {moment}"))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {} + {} ms", self.records, self.later.as_millis())
    }
}

impl Fault {
    /// The kind, to count by.
    pub(super) fn kind(&self) -> String {
        match self {
            Self::Nothing => "nothing".to_owned(),
            Self::Kill(victims) => match victims.as_slice() {
                [one] => format!("kill {one:?}").to_lowercase(),
                several => format!("kill {} at once", several.len()),
            },
            Self::Signal(signal) => format!("signal {}", signal.as_raw()),
            Self::FullSessions { .. } => "full disk of the sessions".to_owned(),
            Self::FullTemporary { .. } => "full /tmp".to_owned(),
            Self::Mount => "mount left".to_owned(),
            Self::FileLimit { .. } => "limit of file sizes".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_fault_comes_up_and_a_seed_repeats_it() {
        let plan = |seed| Plan::of(&mut Chance::new(seed));
        let kinds: std::collections::BTreeSet<String> =
            (0..2_000).map(|seed| plan(seed).fault.kind()).collect();
        assert!(kinds.len() >= 20, "{kinds:?}");
        assert_eq!(plan(5), plan(5));
    }

    #[test]
    fn processes_are_told_apart_by_their_command_line() {
        let check = |victim: Victim, line: &[&str], expected: bool| {
            assert_eq!(victim.is(line), expected, "{victim:?} {line:?}");
        };
        check(Victim::Owner, &["/b/deskhand", "run", "x"], true);
        check(Victim::Owner, &["/b/deskhand", "keep-desktop", "--size"], false);
        check(Victim::Keeper, &["/b/deskhand", "keep-desktop", "--size"], true);
        check(Victim::Guard, &["/bin/sh", "-c", "while …", "deskhand-guard", "A=b"], true);
        check(Victim::Display, &["/usr/bin/Xvfb", "-displayfd"], true);
        check(Victim::Accessibility, &["/usr/libexec/at-spi2-registryd"], true);
        check(Victim::Confinement, &["/b/deskhand", "sandboxed", "{}"], true);
        check(Victim::Application, &["mousepad", "note.txt"], true);
    }
}
