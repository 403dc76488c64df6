//! What the commands that run sessions have in common: who is asked, what is told, and how it ends.

use std::path::PathBuf;

use deskhand_core::{
    evaluation::Evaluation,
    outcome::OutcomeKind,
    record::{Line as JournalLine, Record},
    session::Effect,
};
use deskhand_host::{Ended, Notice, Observer, Session, SessionRequest, config::Config};
use deskhand_runtime::{
    PhaseTimes, StopSwitch,
    people::{Request, protocol::FromSession},
};
use serde::Serialize;

use super::{host::warn, signals::Signals};
use crate::{
    args::WorkArgs,
    exit::{CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
    people::Asked,
    render::{Progress, Verbosity},
};

/// How a session is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown {
    pub(super) asked: Asked,
    pub(super) json: bool,
    pub(super) verbosity: Verbosity,
}

impl Shown {
    pub(super) fn of(args: &WorkArgs, config: &Config) -> Self {
        let verbosity = match (args.quiet, args.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Normal,
            (false, 1) => Verbosity::Thoughts,
            (false, _) => Verbosity::Everything,
        };
        Self { asked: Asked::of(config, args.json), json: args.json, verbosity }
    }

    /// Where people read: standard output, unless a program reads that.
    pub(super) fn people(&self) -> Output {
        Output::to(if self.json { Stream::Error } else { Stream::Out })
    }
}

/// What arguments say of a session.
pub(super) fn request(args: &WorkArgs, text: Option<&str>, screenshot: Option<&PathBuf>) -> SessionRequest {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    SessionRequest {
        requests: text.map(Request::from).into_iter().collect(),
        converse: false,
        open: args.desktop.setup.open.clone(),
        script_variables: args.model.variables(),
        screenshot: screenshot.cloned(),
    }
}

/// Runs a session with its user and tells what comes of it; Ctrl-C and other signals stop it.
pub(super) async fn carry_out(session: Session, shown: &Shown, converse: bool) -> CommandResult {
    let mut signals = Signals::catch()?;
    let stop = StopSwitch::new();
    let (control, listening) = shown.asked.open(&stop)?;
    let mut teller = Teller::new(shown);
    let ended = tokio::select! {
        ended = session.run(&control, &mut teller) => ended?,
        never = signals.stop_with(&stop) => match never {},
        never = listening => match never {},
    };
    let Some(ended) = ended else {
        Output::to(Stream::Error).text("stopped before the request began");
        return Ok(Exit::Outcome(OutcomeKind::Cancelled));
    };
    let summary = Summary::of(&ended);
    if shown.json {
        Output::to(Stream::Out).json(&summary);
    }
    Ok(match (&ended.outcome, converse) {
        // A conversation without a word is none that failed.
        (None, true) => Exit::Success,
        (_, true | false) => Exit::Outcome(summary.outcome),
    })
}

/// Tells people, and a program if one listens, what happens in a session.
pub(super) struct Teller {
    verbosity: Verbosity,
    people: Output,
    machines: Option<Output>,
    progress: Progress,
}

impl Teller {
    pub(super) fn new(shown: &Shown) -> Self {
        let people = shown.people();
        let mut progress = Progress::new(shown.verbosity, people.width());
        if shown.asked.at_terminal() {
            progress.leave_prompts_to_the_terminal();
        }
        Self {
            verbosity: shown.verbosity,
            people,
            machines: shown.json.then(|| Output::to(Stream::Out)),
            progress,
        }
    }
}

impl Observer for Teller {
    fn past(&mut self, line: &JournalLine) {
        self.progress.read(line);
    }

    fn record(&mut self, line: &JournalLine) {
        if let Some(machines) = &self.machines {
            machines.json(&FromSession::journal(line));
        }
        for line in self.progress.read(line) {
            self.people.line(&line);
        }
        if let (Some(machines), Record::Effect(record)) = (&self.machines, &line.record)
            && let (Effect::Finish { outcome }, Some(round)) =
                (&record.effect, self.progress.summary().rounds.last())
        {
            machines.json(&FromSession::Outcome {
                round: record.round,
                request: &round.request,
                outcome: outcome.kind,
                reason: &outcome.reason,
                used: &round.tally,
                elapsed_ms: round.elapsed_ms,
            });
        }
    }

    fn notice(&mut self, notice: &Notice) {
        if notice.is_warning() {
            warn(notice);
        } else if self.verbosity > Verbosity::Quiet {
            self.people.line(&Line::of(Tone::Faint, notice.to_string()).cut(self.people.width()));
        }
    }
}

/// What `--json` ends with.
#[derive(Debug, Serialize)]
struct Summary {
    kind: &'static str,
    outcome: OutcomeKind,
    reason: String,
    evaluation: Option<Evaluation>,
    session_id: String,
    session_path: PathBuf,
    rounds: usize,
    steps: u32,
    calls: u32,
    model_calls: u32,
    prompt_tokens: u64,
    completion_tokens: u64,
    cost: deskhand_core::money::Cost,
    desktop_start_ms: u64,
    framework_ms: u64,
    framework_ms_per_step_p50: u64,
    phases_ms: PhaseTimes,
    elapsed_ms: u64,
    screenshot: Option<PathBuf>,
    exit_code: u8,
}

impl Summary {
    fn of(ended: &Ended) -> Self {
        let outcome = ended.outcome();
        let summary = &ended.summary;
        Self {
            kind: "summary",
            outcome: outcome.kind,
            reason: outcome.reason,
            evaluation: outcome.evaluation,
            session_id: ended.session.0.clone(),
            session_path: ended.folder.path().to_owned(),
            rounds: summary.rounds.len(),
            steps: summary.tally.steps,
            calls: summary.tally.calls,
            model_calls: summary.tally.model_calls,
            prompt_tokens: summary.tally.prompt_tokens,
            completion_tokens: summary.tally.completion_tokens,
            cost: summary.tally.cost,
            desktop_start_ms: ended.desktop_start_ms,
            framework_ms: summary.phases.framework(),
            framework_ms_per_step_p50: summary.framework_ms_per_step_p50(),
            phases_ms: summary.phases,
            elapsed_ms: ended.elapsed_ms,
            screenshot: ended.screenshot.clone(),
            exit_code: outcome.kind.exit_code(),
        }
    }
}
