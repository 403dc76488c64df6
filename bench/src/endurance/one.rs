//! One run: a session, its fault, and what is left.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, ExitStatus, Output},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use super::{
    fault::{Fault, Moment, Plan, Victim},
    home::Home,
    judge::{self, Verified},
    left::{self, Seen},
    model,
    place::{self, BUBBLEWRAP, Place},
};
use crate::{chance::Chance, disk::Disk, endpoint};

/// How long a command may take. Only a failure takes that long.
const COMMAND_BOUND: Duration = Duration::from_secs(120);
/// How long the end of a desktop may take, once nobody wants it.
const END_BOUND: Duration = Duration::from_secs(20);
/// The same if it is kept for the next owner, and nobody comes.
const KEPT_BOUND: Duration = Duration::from_secs(60 + 20);
/// The sizes of the file systems of a run, in megabytes.
const TEMPORARY_MB: u64 = 64;
const SESSIONS_MB: u64 = 8;
/// One of so many runs has no bubblewrap.
const BARE_EACH: u64 = 4;

/// What came of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) seed: u64,
    /// What was planned.
    pub(super) plan: String,
    /// The kind of fault.
    pub(super) kind: String,
    /// Whether it happened before the session ended.
    pub(super) happened: bool,
    /// How the first process ended.
    pub(super) ended: String,
    /// What `verify` said then.
    pub(super) verified: String,
    /// How the session was resumed.
    pub(super) resumed: String,
    /// Whether all that the request asks for is on the disk.
    pub(super) complete: bool,
    /// Whether programs were confined without bubblewrap.
    pub(super) bare: bool,
    /// What changed in the home folder.
    pub(super) changed: Vec<String>,
    /// What must not be.
    pub(super) problems: Vec<String>,
    pub(super) ms: u64,
}

/// Runs the session with that seed, in the namespaces of this process.
pub(super) fn one(seed: u64, binary: &Path, home: &Path) -> Result<Report> {
    let begun = Instant::now();
    let mut chance = Chance::new(seed);
    let plan = Plan::of(&mut chance);
    let bare = seed.is_multiple_of(BARE_EACH);
    let words = if bare { format!("{plan}, without bubblewrap") } else { plan.to_string() };
    let report = Report { seed, plan: words, kind: plan.fault.kind(), bare, ..Report::default() };
    let place = Place::create(home, binary, endpoint::start(model::reply)?, &plan)?;
    let temporary = Disk::mount(Path::new("/tmp"), TEMPORARY_MB, "1777")?;
    place::prepare_temporary()?;
    if bare {
        place::hide_bubblewrap()?;
    }
    let sessions = Disk::mount(&place.state(), SESSIONS_MB, "700")?;
    let before = Seen::now(&place).context("look before the run")?;
    let home_before = Home::now(&place).context("look at the home folder")?;
    let tries_while_full = chance.below(2) == 0;
    let mut run = Run { plan, place, chance, temporary, sessions, before, report };
    run.begin()?;
    if tries_while_full && matches!(run.plan.fault, Fault::FullSessions { .. }) {
        run.resume_while_full()?;
    }
    run.sessions.free()?;
    run.temporary.free()?;
    run.go_on()?;
    let changes = home_before.changes(&Home::now(&run.place).context("look at the home folder")?);
    run.report.changed = changes.all;
    run.report.problems.extend(changes.wrong);
    run.report.ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(run.report)
}

struct Run {
    plan: Plan,
    place: Place,
    chance: Chance,
    temporary: Disk,
    sessions: Disk,
    before: Seen,
    report: Report,
}

impl Run {
    fn problem(&mut self, problem: impl Into<String>) {
        self.report.problems.push(problem.into());
    }

    /// Runs the session until its first process has ended.
    fn begin(&mut self) -> Result<()> {
        let session = Started::of(&mut self.place.run(&self.plan.fault)?)?;
        self.report.happened = session.runs_until(self.plan.moment.records) && {
            session.runs_for(self.plan.moment.later);
            self.go_wrong(session.pid)?
        };
        let output = session.end().unwrap_or_else(|problem| {
            self.problem(problem);
            None
        });
        let status = output.as_ref().map(|output| output.status);
        let outcome = output.as_ref().and_then(|output| judge::outcome(&output.stdout));
        self.report.ended = match (&outcome, status) {
            (Some((kind, reason)), _) => format!("{kind}: {reason}"),
            (None, Some(status)) => format!("{status}: {}", self.place.messages("run.err").trim()),
            (None, None) => String::new(),
        };
        if matches!(self.plan.fault, Fault::Nothing) && outcome.is_none_or(|(kind, _)| kind != "finished") {
            self.problem(format!("it did not finish: {}", self.report.ended));
        }
        // Only the death of its owner lets a desktop live on, for the next one.
        let is_kept = self.plan.keeps && status.is_some_and(|status| status.code().is_none());
        if self.plan.leaves_nobody() {
            self.start_another_desktop()?;
        } else if !is_kept {
            self.nothing_is_left(END_BOUND)?;
        }
        Ok(())
    }

    /// If all that could end a desktop was killed at once, the next desktop that starts ends what is left of it.
    fn start_another_desktop(&mut self) -> Result<()> {
        let windows = ["windows", "--desktop", "virtual", "--size", "640x480"];
        let output = self.command(&mut self.place.deskhand(&windows, "windows.err", &Fault::Nothing)?)?;
        if !output.status.success() {
            self.problem(format!("no other desktop starts: {}", self.place.messages("windows.err").trim()));
        }
        self.nothing_is_left(if self.plan.keeps { KEPT_BOUND } else { END_BOUND })
    }

    /// Applies the fault; whether it hit something.
    fn go_wrong(&mut self, owner: Pid) -> Result<bool> {
        self.report.problems.extend(left::of_desktops_for_long());
        let has_namespaces = left::processes().iter().any(|process| process.is_of(BUBBLEWRAP));
        if self.report.bare && has_namespaces {
            self.problem("bubblewrap runs although it is hidden");
        }
        match self.plan.fault.clone() {
            Fault::Nothing | Fault::FileLimit { .. } => Ok(true),
            Fault::Kill(victims) => {
                let killed = victims.iter().filter(|victim| self.kill(**victim)).count();
                Ok(killed > 0)
            }
            Fault::Signal(signal) => Ok(kill_process(owner, signal).is_ok()),
            Fault::Mount => {
                for folder in left::desktops() {
                    let place = folder.join("run/doc");
                    fs::create_dir(&place).context("create a folder to mount at")?;
                    Disk::mount(&place, 1, "700")?;
                }
                Ok(!left::desktops().is_empty())
            }
            Fault::FullSessions { leave } => self.sessions.fill(leave).map(|()| true),
            Fault::FullTemporary { leave } => self.temporary.fill(leave).map(|()| true),
        }
    }

    fn kill(&mut self, victim: Victim) -> bool {
        let is = |process: &left::Process| {
            let line: Vec<&str> = process.line.iter().map(String::as_str).collect();
            victim.is(&line)
        };
        let found: Vec<left::Process> = left::processes().into_iter().filter(is).collect();
        let at = usize::try_from(self.chance.below(found.len() as u64)).unwrap_or_default();
        found.get(at).is_some_and(|process| kill_process(process.pid, Signal::KILL).is_ok())
    }

    /// A session cannot go on while its disk is full, and says so.
    fn resume_while_full(&mut self) -> Result<()> {
        let output = self.command(&mut self.place.resume("full.err")?)?;
        let messages = self.place.messages("full.err");
        let is_told = messages.contains("error:") || judge::outcome(&output.stdout).is_some();
        if !output.status.success() && !is_told {
            self.problem(format!("resumed on a full disk: {} and no reason", output.status));
        }
        self.nothing_is_left(KEPT_BOUND)
    }

    /// Verifies and resumes the session.
    fn go_on(&mut self) -> Result<()> {
        let verified = self.verify("verify.err")?;
        self.report.verified = format!("{verified:?}");
        if let Verified::Wrong(wrong) = &verified {
            self.problem(wrong.clone());
        }
        if let Some(moment) = self.plan.again {
            self.resume_and_kill(moment)?;
        }
        let verified = self.verify("verify.err")?;
        if let Verified::Wrong(wrong) = &verified {
            self.problem(wrong.clone());
        }
        let journal = judge::journal(&self.place);
        let is_over = journal.as_deref().is_some_and(judge::has_ended);
        let output = self.command(&mut self.place.resume("resume.err")?)?;
        let messages = self.place.messages("resume.err").trim().to_owned();
        let outcome = judge::outcome(&output.stdout);
        self.report.resumed = match &outcome {
            Some((kind, reason)) => format!("{kind}: {reason}"),
            None => format!("{}: {messages}", output.status),
        };
        let has_finished = journal.as_deref().is_some_and(judge::has_finished);
        let is_told = match (&verified, is_over) {
            // A request that did not finish is taken up again.
            (_, true) if !has_finished && outcome.is_some() => true,
            (_, true) => messages.contains("has ended"),
            (Verified::NoRecord(_), _) => {
                messages.contains("no session") || messages.contains("no complete record")
            }
            // It was begun, and nothing was asked of it yet.
            _ if messages.contains("is waiting for a request") => true,
            _ => outcome.is_some(),
        };
        if !is_told {
            self.problem(format!("not resumed: {}", self.report.resumed));
        }
        self.nothing_is_left(KEPT_BOUND)?;
        self.report.problems.extend(left::of_sessions(&self.place));
        let Some(journal) =
            judge::journal(&self.place).filter(|_| !matches!(verified, Verified::NoRecord(_)))
        else {
            return Ok(());
        };
        let verified = self.verify("verified.err")?;
        if verified != Verified::Intact {
            self.problem(format!("after it was resumed: {verified:?}"));
        }
        let replay =
            self.command(&mut self.place.deskhand(&["replay", "last"], "replay.err", &Fault::Nothing)?)?;
        if !replay.status.success() {
            self.problem(format!("the replay differs: {}", String::from_utf8_lossy(&replay.stdout).trim()));
        }
        let repeated = judge::repeated(&self.place, &journal);
        self.report.problems.extend(repeated);
        self.report.complete = judge::is_complete(&self.place);
        let finished =
            self.report.ended.starts_with("finished") || self.report.resumed.starts_with("finished");
        // A model may go on although an effect is not known.
        if finished && !self.report.complete && judge::claims_all(&journal) {
            self.problem("it finished, and something is missing on the disk");
        }
        // On the same desktop, nothing is lost with the process that runs the session.
        let is_kept = self.plan.keeps && self.plan.fault == Fault::Kill(vec![Victim::Owner]);
        if is_kept && !is_over && !self.report.complete {
            self.problem(format!(
                "it was resumed on the same desktop and not completed: {}",
                self.report.resumed
            ));
        }
        Ok(())
    }

    /// Kills the process that resumes the session.
    fn resume_and_kill(&mut self, moment: Moment) -> Result<()> {
        let session = Started::of(&mut self.place.resume("again.err")?)?;
        if session.runs_until(moment.records) {
            session.runs_for(moment.later);
            // It may have ended by then.
            kill_process(session.pid, Signal::KILL).ok();
        }
        match session.end() {
            Ok(_) => {}
            Err(problem) => self.problem(problem),
        }
        if self.plan.keeps { Ok(()) } else { self.nothing_is_left(END_BOUND) }
    }

    fn verify(&mut self, name: &str) -> Result<Verified> {
        let output =
            self.command(&mut self.place.deskhand(&["verify", "last", "--json"], name, &Fault::Nothing)?)?;
        Ok(Verified::of(&output, &self.place.messages(name)))
    }

    /// Runs a command to its end.
    fn command(&mut self, command: &mut std::process::Command) -> Result<Output> {
        match Started::of(command)?.end() {
            Ok(Some(output)) => Ok(output),
            Ok(None) => anyhow::bail!("a command has no output"),
            Err(problem) => {
                self.problem(problem.clone());
                anyhow::bail!(problem)
            }
        }
    }

    fn nothing_is_left(&mut self, bound: Duration) -> Result<()> {
        for process in left::await_end(bound) {
            self.problem(format!("process left: {}", process.line.join(" ")));
            // Killed, so that the look at what the run left does not report its files again.
            kill_process(process.pid, Signal::KILL).ok();
        }
        let now = Seen::now(&self.place).context("look after the run")?;
        let left = self.before.left(&now);
        self.report.problems.extend(left);
        self.before = now;
        Ok(())
    }
}

/// A command that runs.
struct Started {
    child: Child,
    pid: Pid,
    lines: Receiver<String>,
    reader: JoinHandle<Vec<u8>>,
}

impl Started {
    fn of(command: &mut std::process::Command) -> Result<Self> {
        let mut child = command.spawn().context("start a command")?;
        let output = child.stdout.take().context("read the output of a command")?;
        let (sender, lines) = channel();
        let reader = std::thread::spawn(move || {
            let mut all = Vec::new();
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                all.extend_from_slice(line.as_bytes());
                all.push(b'\n');
                // Nobody counts any more.
                sender.send(line).ok();
            }
            all
        });
        let pid = Pid::from_child(&child);
        Ok(Self { child, pid, lines, reader })
    }

    /// Waits until the session has so many records; whether it has.
    fn runs_until(&self, records: u64) -> bool {
        let mut seen = 0;
        let until = Instant::now() + COMMAND_BOUND;
        while seen < records {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => seen += u64::from(line.contains("\"seq\":")),
                Err(_) => return false,
            }
        }
        true
    }

    /// Lets it run for a time, or to its end.
    fn runs_for(&self, time: Duration) {
        let until = Instant::now() + time;
        while !matches!(
            self.lines.recv_timeout(until.saturating_duration_since(Instant::now())),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected)
        ) {}
    }

    /// Waits for its end, with its output. An error says that it did not end by itself.
    fn end(mut self) -> Result<Option<Output>, String> {
        let ends = left::ends(self.pid, COMMAND_BOUND);
        if !ends {
            self.child.kill().ok();
        }
        let status: Option<ExitStatus> = self.child.wait().ok();
        let stdout = self.reader.join().unwrap_or_default();
        if !ends {
            return Err(format!("a command did not end within {} s", COMMAND_BOUND.as_secs()));
        }
        Ok(status.map(|status| Output { status, stdout, stderr: Vec::new() }))
    }
}

/// Copies what is on the disk of the sessions, for a look at it later.
pub(super) fn keep_sessions(home: &Path) {
    let (from, to) = (home.join(".local/state"), home.join("state-of-failed-run"));
    let copied = std::process::Command::new("cp").arg("-a").arg(&from).arg(&to).status();
    if copied.is_err() {
        fs::remove_dir_all(to).ok();
    }
}
