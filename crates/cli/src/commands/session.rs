//! One session from the checks before it to the desktop's end: what `run`, `follow` and `batch` have in common.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use deskhand_core::{
    outcome::{Outcome, OutcomeKind},
    prompt::PromptSet,
    record::{Line as JournalLine, Record},
    session::{Effect, SessionConfig},
};
use deskhand_desktop::{Capture as _, QuietLimits, Settling as _, act::ActLimits, linux::LinuxDesktop};
use deskhand_model::AnyModel;
use deskhand_runtime::{
    PhaseTimes, RunEnd, RunOptions, RunSummary, SessionStore, StopSwitch, Toolbox,
    people::{Request, protocol::FromSession},
};
use serde::Serialize;

use super::{
    model::{ModelChoice, choose},
    screenshot::save,
    signals::Signals,
    stage::{Stage, StagePlan, desktop_error},
    store::store_of,
};
use crate::{
    args::WorkArgs,
    config::Config,
    exit::{CliError, CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
    people::{Asked, UserSide},
    render::{Progress, Verbosity},
};

/// How long the picture at the end may take.
const PICTURE_BOUND: Duration = Duration::from_secs(5);

/// What a session is run with, checked before anything starts.
#[derive(Clone)]
pub(super) struct SessionPlan {
    pub(super) requests: Vec<Request>,
    /// Whether further requests come from the user.
    pub(super) converse: bool,
    pub(super) model: ModelChoice,
    pub(super) stage: StagePlan,
    pub(super) config: SessionConfig,
    pub(super) store: SessionStore,
    pub(super) asked: Asked,
    pub(super) screenshot: Option<PathBuf>,
    pub(super) json: bool,
    pub(super) verbosity: Verbosity,
}

impl SessionPlan {
    /// What flags and configuration say; no request yet.
    ///
    /// # Errors
    /// No model is named, a document cannot be opened, or there is no display where one is asked for.
    pub(super) fn of(args: &WorkArgs, mut config: Config) -> Result<Self, CliError> {
        let model = choose(&args.model, &config)?;
        let limits = &mut config.limits;
        limits.steps_max = args.limits.max_steps.unwrap_or(limits.steps_max);
        limits.model_calls_max = args.limits.max_model_calls.unwrap_or(limits.model_calls_max);
        limits.tokens_max = args.limits.max_tokens.or(limits.tokens_max);
        limits.minutes_max = args.limits.max_minutes.or(limits.minutes_max);
        let session = SessionConfig {
            limits: limits.to_limits(),
            pictures: model.sees() && !args.no_pictures,
            ask_questions: Asked::questions(&args.ask, &config),
            ..SessionConfig::default()
        };
        let verbosity = match (args.quiet, args.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Normal,
            (false, 1) => Verbosity::Thoughts,
            (false, _) => Verbosity::Everything,
        };
        Ok(Self {
            requests: Vec::new(),
            converse: false,
            stage: StagePlan::of_desktop(&args.desktop, &config)?,
            model,
            config: session,
            store: store_of(&args.store, &config),
            asked: Asked::of(&args.ask, &config, args.json),
            screenshot: None,
            json: args.json,
            verbosity,
        })
    }

    /// Runs the session with its user and tells what comes of it; Ctrl-C and other signals stop it.
    pub(super) async fn carry_out(&self) -> CommandResult {
        let model = self.model.clone().open()?;
        let mut signals = Signals::catch()?;
        let stop = StopSwitch::new();
        let (user, listening) = self.asked.open(self.converse, &stop)?;
        let mut teller = Teller::new(self);
        let mut observer = |line: &JournalLine| teller.tell(line);
        let work = self.run(&model, &stop, &user, &mut observer);
        let ended = tokio::select! {
            ended = work => ended?,
            never = signals.stop_with(&stop) => match never {},
            never = listening => match never {},
        };
        Ok(match ended {
            None => {
                Output::to(Stream::Error).text("stopped before the request began");
                Exit::Outcome(OutcomeKind::Cancelled)
            }
            Some(ended) => {
                let summary = Summary::of(&ended);
                if self.json {
                    Output::to(Stream::Out).json(&summary);
                }
                match (&ended.end.outcome, self.converse) {
                    // A conversation without a word is none that failed.
                    (None, true) => Exit::Success,
                    (_, true | false) => Exit::Outcome(summary.outcome),
                }
            }
        })
    }

    /// Runs the session on its desktop, from start to clean-up; none when it was stopped before it began.
    ///
    /// # Errors
    /// The desktop does not come up, a program does not start, or the journal cannot be written.
    pub(super) async fn run(
        &self,
        model: &AnyModel,
        stop: &StopSwitch,
        user: &UserSide,
        observer: &mut (dyn FnMut(&JournalLine) + Send),
    ) -> Result<Option<Ended>, CliError> {
        let begun = Instant::now();
        // Until there is a session nothing is to be recorded: a stop ends it all.
        let mut stage = tokio::select! {
            stage = self.stage.start() => stage?,
            _ = stop.wait() => return Ok(None),
        };
        let furnished = tokio::select! {
            furnished = self.stage.furnish(&mut stage) => furnished.map(|()| true),
            _ = stop.wait() => Ok(false),
        };
        if !matches!(furnished, Ok(true)) {
            stage.close().await;
            return furnished.map(|_| None);
        }
        let ended = self.on_stage(&stage, model, stop, user, observer).await;
        let desktop_start_ms = stage.desktop.startup().total_ms;
        stage.close().await;
        let (end, summary, screenshot) = ended?;
        let elapsed_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(Some(Ended { end, summary, desktop_start_ms, elapsed_ms, screenshot }))
    }

    async fn on_stage(
        &self,
        stage: &Stage,
        model: &AnyModel,
        stop: &StopSwitch,
        user: &UserSide,
        observer: &mut (dyn FnMut(&JournalLine) + Send),
    ) -> Result<(RunEnd, RunSummary, Option<PathBuf>), CliError> {
        let tools = Toolbox::standard(ActLimits::default())
            .map_err(|error| CliError::failed_to("set up the tools", error))?;
        let mut summary = RunSummary::default();
        let mut observer = |line: &JournalLine| {
            summary.add(line);
            observer(line);
        };
        let options = RunOptions {
            store: &self.store,
            desktop: &stage.desktop,
            desktop_name: stage.name.clone(),
            model,
            tools: &tools,
            config: self.config.clone(),
            prompts: PromptSet::default(),
            requests: self.requests.clone(),
            people: user.people(),
            stop: stop.clone(),
            program: concat!("deskhand ", env!("CARGO_PKG_VERSION")).to_owned(),
            setup: serde_json::Value::Null,
        };
        let end = deskhand_runtime::run(options, &mut observer).await.map_err(|error| {
            CliError::failed_to("run the request", error).with_help(
                "check that the folder of the sessions can be written to; `--state-dir DIR` names another",
            )
        })?;
        if end.outcome.as_ref().is_some_and(|outcome| outcome.kind == OutcomeKind::Finished) {
            come_to_rest(&stage.desktop).await;
        }
        let screenshot = picture(&stage.desktop, self.screenshot.as_deref()).await;
        Ok((end, summary, screenshot))
    }
}

/// A session that was run, and what it came to.
pub(super) struct Ended {
    pub(super) end: RunEnd,
    pub(super) summary: RunSummary,
    pub(super) desktop_start_ms: u64,
    /// With the desktop's start and end.
    pub(super) elapsed_ms: u64,
    pub(super) screenshot: Option<PathBuf>,
}

impl Ended {
    /// How the last round ended.
    pub(super) fn outcome(&self) -> Outcome {
        let none = || Outcome::new(OutcomeKind::Cancelled, "stopped before the request began");
        self.end.outcome.clone().unwrap_or_else(none)
    }
}

/// Tells people, and a program if one listens, what happens in a session.
pub(super) struct Teller {
    people: Output,
    machines: Option<Output>,
    progress: Progress,
}

impl Teller {
    pub(super) fn new(plan: &SessionPlan) -> Self {
        let people = Output::to(if plan.json { Stream::Error } else { Stream::Out });
        let machines = plan.json.then(|| Output::to(Stream::Out));
        let mut progress = Progress::new(plan.verbosity, people.width());
        if plan.asked.at_terminal() {
            progress.leave_prompts_to_the_terminal();
        }
        Self { people, machines, progress }
    }

    pub(super) fn tell(&mut self, line: &JournalLine) {
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
}

/// What `--json` ends with.
#[derive(Debug, Serialize)]
struct Summary {
    kind: &'static str,
    outcome: OutcomeKind,
    reason: String,
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
            session_id: ended.end.session.0.clone(),
            session_path: ended.end.folder.path().to_owned(),
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

/// Lets applications finish what they are at, such as a file that is being written, before their desktop goes.
/// Bounded; a desktop that cannot tell is left as it is.
async fn come_to_rest(desktop: &LinuxDesktop) {
    if let Ok(watch) = desktop.watch(None).await {
        desktop.settle(watch, QuietLimits::default()).await.ok();
    }
}

/// Saves a picture of the screen as it is now. That it cannot be taken is told and changes no outcome.
async fn picture(desktop: &LinuxDesktop, file: Option<&Path>) -> Option<PathBuf> {
    let file = file?;
    let taken = match tokio::time::timeout(PICTURE_BOUND, desktop.screen()).await {
        Ok(Ok(picture)) => save(&picture, file),
        Ok(Err(error)) => Err(desktop_error(&error)),
        Err(_) => {
            Err(CliError::new(format!("the screen gave no picture within {} s", PICTURE_BOUND.as_secs())))
        }
    };
    match taken {
        Ok(()) => Some(std::path::absolute(file).unwrap_or_else(|_| file.to_owned())),
        Err(error) => {
            let line =
                Line::of(Tone::Doubtful, "warning:").with(Tone::Plain, format!(" no screenshot: {error}"));
            Output::to(Stream::Error).line(&line);
            None
        }
    }
}
