//! Shared by the commands that run sessions: the user channel, what is printed, and the exit.

use std::path::{Path, PathBuf};

use deskhand_host::{EndedSession, HostError, Notice, Observer, PreparedSession, SessionRequest};
use deskhand_machine::{evaluation::Evaluation, outcome::OutcomeKind, record::JournalEntry as JournalLine};
use deskhand_runtime::{
    PhaseTimes, StopSwitch, UnsealedJournalPolicy,
    people::{UserRequest, protocol::FromSession},
};
use serde::Serialize;

use super::{host::warn, print_options::SessionPrintOptions, signals::StopSignals, signs::show_waits};
use crate::{
    args::WorkArgs,
    exit::{CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
    render::{RunProgressView, Verbosity},
};

/// The session request of the arguments.
pub(super) fn request(args: &WorkArgs, text: Option<&str>, screenshot: Option<&PathBuf>) -> SessionRequest {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    SessionRequest {
        id: args.id.clone(),
        requests: text.map(UserRequest::from).into_iter().collect(),
        converse: false,
        open: args.documents.open.clone(),
        script_variables: args.script.variables(),
        screenshot: screenshot.cloned(),
        schedule: args.schedule.clone(),
        moved: false,
    }
}

/// Returns the policy for journals that are not proven.
pub(super) fn unsealed(accept: bool) -> UnsealedJournalPolicy {
    if accept { UnsealedJournalPolicy::Accept } else { UnsealedJournalPolicy::Refuse }
}

/// Runs a session and prints its progress and result. Ctrl-C and other signals stop it. A conversation has a file for what is typed
/// in it.
pub(super) async fn carry_out(
    session: PreparedSession,
    shown: &SessionPrintOptions,
    history: Option<&Path>,
) -> CommandResult {
    carry_out_then(session, shown, history, |_| Ok(())).await
}

/// The same, with something to do at the end.
pub(super) async fn carry_out_then(
    session: PreparedSession,
    shown: &SessionPrintOptions,
    history: Option<&Path>,
    then: impl FnOnce(&EndedSession) -> Result<(), HostError>,
) -> CommandResult {
    if shown.detached {
        // Out of the reach of what ends the service that started it. Who is a leader already is not in its reach.
        rustix::process::setsid().ok();
    }
    let mut signals = StopSignals::catch()?;
    let stop = StopSwitch::new();
    let (control, listening) = shown.asked.open(&stop, history)?;
    let mut printer = SessionPrinter::new(shown);
    let ended = tokio::select! {
        ended = session.run(&control, &mut printer) => ended?,
        never = signals.stop_with(&stop) => match never {},
        never = listening => match never {},
        never = show_waits(&control.waits, shown) => match never {},
    };
    let Some(ended) = ended else {
        Output::to(OutputStream::Error).text("stopped before the request began");
        return Ok(Exit::Outcome(OutcomeKind::Cancelled));
    };
    printer.ended(&ended);
    then(&ended)?;
    let summary = RunSummaryLine::of(&ended);
    if shown.json {
        Output::to(OutputStream::Out).json(&summary);
    }
    Ok(match (&ended.outcome, history) {
        // A conversation without a request did not fail.
        (None, Some(_)) => Exit::Success,
        (_, Some(_) | None) => Exit::Outcome(summary.outcome),
    })
}

/// Prints what happens in a session, for people and over `--json`.
pub(super) struct SessionPrinter {
    verbosity: Verbosity,
    people: Output,
    machines: Option<Output>,
    progress: RunProgressView,
}

impl SessionPrinter {
    pub(super) fn new(shown: &SessionPrintOptions) -> Self {
        let people = shown.people();
        let mut progress = RunProgressView::new(shown.verbosity, people.width());
        if shown.asked.at_terminal() {
            progress.leave_prompts_to_the_terminal();
        }
        Self {
            verbosity: shown.verbosity,
            people,
            machines: shown.json.then(|| Output::to(OutputStream::Out)),
            progress,
        }
    }
}

impl SessionPrinter {
    /// Prints what the journal does not say of the end: how a round goes on that is not over, and what became of the desktop.
    fn ended(&self, ended: &EndedSession) {
        let outcome = ended.outcome();
        let mut lines = Vec::new();
        if ended.suspended.is_some() {
            lines.extend(self.progress.suspended(&outcome));
        }
        lines.extend(self.progress.left_behind(&ended.desktop, &outcome));
        lines.iter().for_each(|line| self.people.line(line));
    }
}

impl Observer for SessionPrinter {
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
        if let (Some(machines), Some(outcome)) =
            (&self.machines, FromSession::outcome(line, self.progress.summary()))
        {
            machines.json(&outcome);
        }
    }

    fn notice(&mut self, notice: &Notice) {
        if notice.is_warning() {
            warn(notice);
        } else if self.verbosity > Verbosity::Quiet {
            self.people.line(&StyledLine::of(OutputTone::Faint, notice.to_string()).cut(self.people.width()));
        }
    }
}

/// The last line of `--json`.
#[derive(Debug, Serialize)]
struct RunSummaryLine {
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
    cost: deskhand_machine::money::Cost,
    desktop_start_ms: u64,
    framework_ms: u64,
    framework_ms_per_step_p50: u64,
    phases_ms: PhaseTimes,
    elapsed_ms: u64,
    screenshot: Option<PathBuf>,
    /// `true` if `deskhand resume` continues the session without another request.
    resumable: bool,
    /// Documents with unsaved changes.
    unsaved: Vec<String>,
    /// Time for which the desktop is retained, in seconds; `null` if it ended.
    desktop_kept_s: Option<u64>,
    exit_code: u8,
}

impl RunSummaryLine {
    fn of(ended: &EndedSession) -> Self {
        let outcome = ended.outcome();
        let summary = &ended.summary;
        let unsaved =
            outcome.unsaved.iter().chain(ended.desktop.unsaved_besides(&outcome)).cloned().collect();
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
            resumable: ended.is_resumable(),
            unsaved,
            desktop_kept_s: ended.desktop.kept.map(|kept| kept.as_secs()),
            exit_code: outcome.kind.exit_code(),
        }
    }
}
