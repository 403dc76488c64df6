//! Attacks the program with content that gives orders and a model that obeys them, and with a second player: hostile programs, pages,
//! servers, clients, workflows, users and peers. Run by `cargo xtask redteam`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people and for `cargo xtask`")]
#![expect(clippy::indexing_slicing, reason = "indexing JSON values never fails")]

mod suite;

use std::path::PathBuf;

use tokio::task::JoinSet;

use crate::suite::{
    Account, Case, Confinement, Failure, Figures, Mode, Played, Way, attacks, attacks_in, play, tasks,
};

/// What to play.
#[derive(Default)]
struct Options {
    deskhand: PathBuf,
    only: Vec<String>,
    short: bool,
    control: bool,
    /// Control runs alone.
    control_only: bool,
    list: bool,
    trace: bool,
    lanes: usize,
    file: Option<PathBuf>,
    confinements: Vec<Confinement>,
    accounts: Vec<Account>,
}

fn options() -> Result<Options, Failure> {
    let mut options = Options { lanes: 1, ..Options::default() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--deskhand" => options.deskhand = value()?.into(),
            "--only" => options.only.push(value()?),
            "--lanes" => options.lanes = value()?.parse::<usize>()?.max(1),
            "--confine" => options.confinements.push(confinement_of(&value()?)?),
            "--as" => options.accounts.push(account_of(&value()?)?),
            "--attacks" => options.file = Some(value()?.into()),
            "--short" => options.short = true,
            "--control" => options.control = true,
            "--control-only" => (options.control, options.control_only) = (true, true),
            "--list" => options.list = true,
            "--trace" => options.trace = true,
            _ => return Err(format!("unknown argument {argument}").into()),
        }
    }
    Ok(options)
}

fn confinement_of(word: &str) -> Result<Confinement, Failure> {
    match word {
        "on" => Ok(Confinement::Bubblewrap),
        "off" => Ok(Confinement::Bare),
        _ => Err(format!("--confine {word}: it is on or off").into()),
    }
}

fn account_of(word: &str) -> Result<Account, Failure> {
    let is_root = rustix::process::geteuid().is_root();
    match (word, is_root) {
        ("root", true) | ("user", false) => Ok(Account::Own),
        ("user", true) => Ok(Account::Nobody),
        ("root", false) => Err("--as root: only root can play as root".into()),
        _ => Err(format!("--as {word}: it is root or user").into()),
    }
}

impl Options {
    /// The modes to play in: what was chosen, or all that this machine can.
    fn modes(&self) -> Vec<Mode> {
        let all = |chosen: &[Account]| match chosen {
            [] if rustix::process::geteuid().is_root() => vec![Account::Own, Account::Nobody],
            [] => vec![Account::Own],
            chosen => chosen.to_vec(),
        };
        let confinements = match &*self.confinements {
            [] => vec![Confinement::Bubblewrap, Confinement::Bare],
            chosen => chosen.to_vec(),
        };
        let accounts = all(&self.accounts);
        let with = |confinement: &Confinement| {
            let confinement = *confinement;
            accounts.iter().map(move |account| Mode::guarded(confinement, *account))
        };
        confinements.iter().flat_map(with).collect()
    }

    /// The cases to play.
    fn choose(&self) -> Result<Vec<Case>, Failure> {
        let mut cases = match &self.file {
            Some(file) => attacks_in(file)?,
            None => attacks()?.into_iter().chain(tasks()?).collect(),
        };
        for only in &self.only {
            if !cases.iter().any(|case| is(case, only)) {
                return Err(
                    format!("no attack, task or carrier is named `{only}`; `--list` lists them").into()
                );
            }
        }
        cases.retain(|case| {
            let chosen = self.only.is_empty() || self.only.iter().any(|only| is(case, only));
            chosen && (case.short || !self.short)
        });
        Ok(cases)
    }
}

/// Returns `true` if a case, or its carrier, has this name.
fn is(case: &Case, name: &str) -> bool {
    case.name == name || case.carrier == name
}

/// A case with how it is to be played, and its place in the list.
type Job = (usize, Case, Mode);

/// Plays jobs side by side and returns them in order.
async fn play_all(jobs: Vec<Job>, options: &Options) -> Result<Vec<(Job, Played)>, Failure> {
    let count = jobs.len();
    let mut waiting = jobs.into_iter();
    let mut lanes = JoinSet::new();
    let mut played = Vec::new();
    loop {
        while lanes.len() < options.lanes
            && let Some(job) = waiting.next()
        {
            let deskhand = options.deskhand.clone();
            lanes.spawn(async move {
                let done = play(&job.1, job.2, &deskhand).await;
                (job, done)
            });
        }
        let Some(lane) = lanes.join_next().await else { break };
        let (job, done) = lane?;
        let done = done.unwrap_or_else(|error| Played::broken(&*error));
        tell(&job, &done, (played.len() + 1, count), options.trace);
        played.push((job, done));
    }
    played.sort_by_key(|((at, ..), _)| *at);
    Ok(played)
}

/// Prints what came of a case.
fn tell((_, case, mode): &Job, played: &Played, (done, all): (usize, usize), trace: bool) {
    let seconds = played.took.as_secs_f64();
    let kind = if mode.way == Way::Control { "control of " } else { "" };
    let how = if case.second { format!(" ({mode})") } else { String::new() };
    eprintln!("{done}/{all} {kind}{}{how}: {} ({seconds:.0} s)", case.name, played.outcome);
    if trace || !played.outcome.is_good() {
        for line in &played.trace {
            eprintln!("    {line}");
        }
        for asked in &played.asked {
            let answer = if asked.approved { "approved" } else { "rejected" };
            eprintln!("    asked: {} → {answer}", asked.text);
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let options = options()?;
    let cases = options.choose()?;
    if options.list {
        for case in &cases {
            println!("{:<11} {:<46} {}", case.carrier, case.name, case.goal);
        }
        return Ok(());
    }
    let modes = options.modes();
    let mut jobs = Vec::new();
    for case in cases {
        let played: Vec<Mode> = modes.iter().copied().filter(|mode| case.is_played(*mode)).collect();
        // Nothing guards in a control run, so that one is enough.
        let control = played.first().filter(|_| options.control && case.has_control());
        let guarded = played.iter().copied().filter(|_| !options.control_only);
        for mode in control.map(|mode| mode.control()).into_iter().chain(guarded) {
            jobs.push((jobs.len(), case.clone(), mode));
        }
    }
    let mut figures = Figures::default();
    for ((_, case, mode), played) in play_all(jobs, &options).await? {
        figures.add(&case, mode, &played);
    }
    println!("{}", figures.to_json());
    Ok(())
}
