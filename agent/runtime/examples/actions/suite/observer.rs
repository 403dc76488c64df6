//! What went into a desktop and what changed on it, as a process of its own saw it; see `observer.py`.

use std::{
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use deskhand_desktop_linux::LinuxDesktop;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    sync::watch,
    task::JoinSet,
};

use super::{Failure, judge::Done};

/// How long the observer may take to start.
const BOUND: Duration = Duration::from_secs(20);
/// The first change may come this long after the input.
const FIRST_MS: f64 = 5_000.0;
/// A later change belongs to the same input if it comes this soon after the one before.
const LATER_MS: f64 = 500.0;

/// What was seen of a desktop.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Sight {
    /// An input or an acting call.
    Input,
    /// An accessibility event.
    Change,
}

#[derive(Debug, Default)]
struct Seen {
    /// The least difference between our clock and the observer's, in milliseconds.
    offset_ms: Option<f64>,
    /// Times of the observer's clock, in milliseconds.
    sights: Vec<(f64, Sight)>,
}

/// A running observer.
#[derive(Debug)]
pub(crate) struct Observer {
    seen: Arc<Mutex<Seen>>,
    origin: Instant,
    /// Ends with the observer.
    _reading: JoinSet<()>,
    /// Killed with the observer.
    _child: Child,
}

/// The time from `begun` to `ended` by what it was spent on.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Spent {
    /// From each input to the last change that belongs to it.
    pub(crate) own_ms: f64,
    /// How many inputs went out.
    pub(crate) inputs: usize,
    /// How many changes the application announced.
    pub(crate) changes: usize,
}

impl Observer {
    /// Starts it on a desktop.
    pub(crate) async fn start(desktop: &LinuxDesktop) -> Result<Self, Failure> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/actions/suite/observer.py");
        let address = desktop.accessibility_address().ok_or("the desktop has no accessibility bus")?;
        let mut command = Command::new("/usr/bin/python3");
        command.arg("-B").arg(script).arg(address).env_clear().kill_on_drop(true);
        command.envs(desktop.environment().variables()).stdin(Stdio::null()).stdout(Stdio::piped());
        // It complains when the display ends.
        command.stderr(Stdio::null());
        let mut child = command.spawn()?;
        let mut lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        let (seen, origin) = (Arc::new(Mutex::new(Seen::default())), Instant::now());
        let (told, mut ready) = watch::channel(false);
        let into = Arc::clone(&seen);
        let mut reading = JoinSet::new();
        reading.spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                let now_ms = origin.elapsed().as_secs_f64() * 1e3;
                into.lock().unwrap_or_else(PoisonError::into_inner).take(&line, now_ms);
                told.send_replace(true);
            }
        });
        tokio::time::timeout(BOUND, ready.wait_for(|ready| *ready)).await??;
        Ok(Self { seen, origin, _reading: reading, _child: child })
    }

    /// How the time of an action was spent; what the application logged are changes, too. Without input, as for a launch,
    /// the action itself is what the application answers.
    pub(crate) fn spent(&self, done: &Done) -> Spent {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = seen.offset_ms.unwrap_or_default();
        let ms = |at: Instant| at.duration_since(self.origin).as_secs_f64() * 1e3 - offset;
        #[expect(clippy::cast_precision_loss, reason = "milliseconds since the start of the machine")]
        let logged = done.logged.iter().map(|ns| (*ns as f64 / 1e6, Sight::Change));
        let mut sights: Vec<(f64, Sight)> = seen.sights.iter().copied().chain(logged).collect();
        drop(seen);
        sights.sort_by(|one, other| one.0.total_cmp(&other.0));
        #[expect(clippy::cast_precision_loss, reason = "some milliseconds")]
        let later_ms = LATER_MS + done.later_ms as f64;
        spent(&sights, ms(done.begun), ms(done.ended), later_ms)
    }
}

impl Seen {
    fn take(&mut self, line: &str, now_ms: f64) {
        let mut words = line.split(' ');
        let (Some(kind), Some(at)) = (words.next(), words.next()) else { return };
        let Ok(ns) = at.parse::<u64>() else { return };
        #[expect(clippy::cast_precision_loss, reason = "milliseconds since the start of the machine")]
        let at = ns as f64 / 1e6;
        match kind {
            "clock" => {
                let offset = now_ms - at;
                self.offset_ms = Some(self.offset_ms.map_or(offset, |known| known.min(offset)));
            }
            "input" | "call" => self.sights.push((at, Sight::Input)),
            "change" => self.sights.push((at, Sight::Change)),
            _ => {}
        }
    }
}

/// A later change belongs to the same input if it comes within `later_ms` of the one before.
fn spent(sights: &[(f64, Sight)], begun: f64, ended: f64, later_ms: f64) -> Spent {
    let during: Vec<(f64, Sight)> =
        sights.iter().copied().filter(|(at, _)| (begun..=ended).contains(at)).collect();
    let inputs = during.iter().filter(|(_, sight)| *sight == Sight::Input).count();
    let mut spent = Spent { own_ms: 0.0, inputs, changes: during.len() - inputs };
    let mut since = (inputs == 0).then_some((begun, begun));
    for (at, sight) in during {
        match (sight, since) {
            (Sight::Input, before) => {
                spent.own_ms += before.map_or(0.0, |(input, last)| last - input);
                since = Some((at, at));
            }
            (Sight::Change, Some((input, last))) => {
                let bound = if last > input { later_ms } else { FIRST_MS };
                if at - last <= bound {
                    since = Some((input, at));
                }
            }
            (Sight::Change, None) => {}
        }
    }
    spent.own_ms += since.map_or(0.0, |(input, last)| last - input);
    spent
}
