//! One session from the checks before it to the desktop's end: what `run`, `follow` and `batch` have in common.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use deskhand_core::{
    evaluation::Evaluation,
    outcome::{Outcome, OutcomeKind},
    prompt::PromptSet,
    record::{Line as JournalLine, Record},
    session::{Effect, Limits, SessionConfig},
};
use deskhand_desktop::{Capture as _, QuietLimits, Settling as _};
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_detect::Seeing;
use deskhand_desktop_linux::{IdsGiven, LinuxDesktop};
use deskhand_model::AnyModel;
use deskhand_runtime::{
    HeldSession, PhaseTimes, RunEnd, RunOptions, RunSummary, SessionStore, StopSwitch, Toolbox,
    agents::EnabledAgents,
    people::{Request, protocol::FromSession},
};
use serde::Serialize;

use super::{
    agents::{enable, enabled},
    documents::{self, Document},
    kept::DesktopNote,
    model::{ModelChoice, ModelSetup, settle},
    resume::catch_up,
    screenshot::save,
    setup::Setup,
    signals::Signals,
    stage::{Stage, StagePlan, desktop_error},
    store::store_of,
};
use crate::{
    args::{LimitArgs, WorkArgs},
    config::{Config, price_table},
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
    /// What the journal keeps of all this.
    pub(super) setup: Setup,
    /// How long a virtual desktop is kept should this process die.
    pub(super) keep: Duration,
    pub(super) config: SessionConfig,
    pub(super) prompts: PromptSet,
    pub(super) agents: EnabledAgents,
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
    pub(super) fn of(args: &WorkArgs, config: Config) -> Result<Self, CliError> {
        let model = settle(&args.model, &config, None)?;
        Self::with_model(args, config, model)
    }

    fn with_model(args: &WorkArgs, mut config: Config, model: ModelSetup) -> Result<Self, CliError> {
        let setup = model.clone().absolute();
        let model = model.choice()?;
        let limits = &mut config.limits;
        limits.steps_max = args.limits.max_steps.unwrap_or(limits.steps_max);
        limits.model_calls_max = args.limits.max_model_calls.unwrap_or(limits.model_calls_max);
        limits.tokens_max = args.limits.max_tokens.or(limits.tokens_max);
        limits.minutes_max = args.limits.max_minutes.or(limits.minutes_max);
        limits.cost_max = args.limits.max_cost.or(limits.cost_max);
        config.policy.safe_guard &= !args.limits.no_safe_guard;
        let no_amount = |key: &str| {
            CliError::usage(format!("`{key}` is no amount of money")).with_help("name dollars: 0.50")
        };
        let prices = price_table(&config.prices).map_err(|problem| {
            CliError::usage(problem).with_help("prices are US dollars for a million tokens")
        })?;
        let session = SessionConfig {
            limits: config.limits.to_limits().map_err(no_amount)?,
            session_limits: config.session_limits.to_limits().map_err(no_amount)?,
            evaluate: config.evaluation.to_evaluate(args.evaluate),
            policy: config.policy.to_policy(),
            model: model.price_name().to_owned(),
            prices,
            verify: args.limits.verify.unwrap_or(config.work.verify).to_verify(),
            pictures: model.sees() && !args.no_pictures,
            ask_questions: Asked::questions(&args.ask, &config),
            view: config.view.to_view(),
            action_sequences: config.view.action_sequences,
            ..SessionConfig::default()
        };
        check_price(&session)?;
        let verbosity = match (args.quiet, args.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Normal,
            (false, 1) => Verbosity::Thoughts,
            (false, _) => Verbosity::Everything,
        };
        let stage = StagePlan::of_desktop(&args.desktop, &config)?;
        Ok(Self {
            requests: Vec::new(),
            converse: false,
            setup: Setup {
                model: setup,
                desktop: stage.kind,
                size: stage.size,
                documents: stage.documents.iter().map(|document| document.path.clone()).collect(),
            },
            stage,
            keep: Duration::ZERO,
            prompts: PromptSet::default(),
            model,
            config: session,
            agents: enabled(&config)?,
            store: store_of(&args.store, &config),
            asked: Asked::of(&args.ask, &config, args.json),
            screenshot: None,
            json: args.json,
            verbosity,
        })
    }

    /// What flags say for a session that goes on; what they do not speak of is as it was. No request yet.
    ///
    /// # Errors
    /// The session's model is not known and none is named, or a document cannot be opened.
    pub(super) fn going_on(args: &WorkArgs, config: Config, held: &HeldSession) -> Result<Self, CliError> {
        let before = Setup::of(held);
        let mut args = args.clone();
        if let Some(before) = &before {
            args.desktop.desktop = args.desktop.desktop.or(Some(before.desktop));
            args.desktop.size = args.desktop.size.or(Some(before.size));
        }
        let model = settle(&args.model, &config, before.as_ref().map(|before| &before.model))?;
        let keep = keep_of(&config);
        let names: Vec<String> =
            held.in_force().config.agents.iter().map(|agent| agent.name.clone()).collect();
        let agents = enable(&config, &names)?;
        let mut plan = Self::with_model(&args, config, model)?;
        (plan.keep, plan.agents) = (keep, agents);
        let in_force = held.in_force();
        let mut session = in_force.config.clone();
        put_limits(&args.limits, &mut session.limits);
        session.pictures = if args.no_pictures { false } else { session.pictures && plan.model.sees() };
        session.model.clone_from(&plan.config.model);
        session.ask_questions = plan.config.ask_questions;
        session.prices.clone_from(&plan.config.prices);
        if args.limits.max_cost.is_some() {
            session.limits.money_max = plan.config.limits.money_max;
        }
        if args.limits.verify.is_some() {
            session.verify = plan.config.verify;
        }
        session.policy.safe_guard &= !args.limits.no_safe_guard;
        check_price(&session)?;
        plan.config = session;
        plan.prompts = in_force.prompts.clone();
        if let Some(before) = before {
            for document in before.documents {
                if !plan.setup.documents.contains(&document) {
                    plan.setup.documents.push(document);
                }
            }
        }
        Ok(plan)
    }

    /// Runs the session with its user and tells what comes of it; Ctrl-C and other signals stop it.
    pub(super) async fn carry_out(&self) -> CommandResult {
        let model = self.model.clone().open()?;
        self.carry(None, model).await
    }

    /// Goes on with a session. `same_script`: a script is the one of before and has given its first replies already.
    pub(super) async fn carry_on(&self, held: HeldSession, same_script: bool) -> CommandResult {
        let model = self.model.clone().open()?;
        if same_script {
            catch_up(&model, held.folder())?;
        }
        self.carry(Some(held), model).await
    }

    async fn carry(&self, held: Option<HeldSession>, model: AnyModel) -> CommandResult {
        let mut signals = Signals::catch()?;
        let stop = StopSwitch::new();
        let (user, listening) = self.asked.open(self.converse, &stop)?;
        let mut teller = Teller::new(self);
        if let Some(held) = &held {
            let past = held.folder().read_lines(&mut |line| teller.remember(line));
            past.map_err(|error| CliError::from_error(&error))?;
        }
        let mut observer = |line: &JournalLine| teller.tell(line);
        let work = self.run_from(held, &model, &stop, &user, &mut observer);
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
        self.run_from(None, model, stop, user, observer).await
    }

    async fn run_from(
        &self,
        held: Option<HeldSession>,
        model: &AnyModel,
        stop: &StopSwitch,
        user: &UserSide,
        observer: &mut (dyn FnMut(&JournalLine) + Send),
    ) -> Result<Option<Ended>, CliError> {
        let begun = Instant::now();
        // Until there is a session nothing is to be recorded: a stop ends it all.
        let (mut stage, kept) = tokio::select! {
            started = self.start_stage(held.as_ref()) => started?,
            _ = stop.wait() => return Ok(None),
        };
        let mut plan = self.stage.clone();
        if held.is_some() && !kept {
            plan.documents.extend(documents_of_before(&self.setup.documents, &plan.documents));
        }
        let furnished = tokio::select! {
            furnished = plan.furnish(&mut stage) => furnished.map(|()| true),
            _ = stop.wait() => Ok(false),
        };
        if !matches!(furnished, Ok(true)) {
            stage.close().await;
            return furnished.map(|_| None);
        }
        let going_on = held.map(|held| (held, kept));
        let ended = self.on_stage(&stage, going_on, model, stop, user, observer).await;
        let desktop_start_ms = stage.desktop.inner().startup().total_ms;
        stage.close().await;
        let (end, summary, screenshot) = ended?;
        DesktopNote::remove(end.folder.path());
        let elapsed_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(Some(Ended { end, summary, desktop_start_ms, elapsed_ms, screenshot }))
    }

    /// The desktop, and whether it is the one that the session had before.
    async fn start_stage(&self, held: Option<&HeldSession>) -> Result<(Stage, bool), CliError> {
        let Some(held) = held else { return Ok((self.stage.start_for_session(self.keep).await?, false)) };
        if let Some(stage) = self.stage.take_over(held).await {
            // What was out when the process died may have its effect only now.
            come_to_rest(&stage.desktop).await;
            return Ok((stage, true));
        }
        let stage = self.stage.start_for_session(self.keep).await?;
        let seen = held.ids();
        stage.desktop.inner().start_ids_above(IdsGiven { window: seen.window, element: seen.element });
        Ok((stage, false))
    }

    async fn on_stage(
        &self,
        stage: &Stage,
        going_on: Option<(HeldSession, bool)>,
        model: &AnyModel,
        stop: &StopSwitch,
        user: &UserSide,
        observer: &mut (dyn FnMut(&JournalLine) + Send),
    ) -> Result<(RunEnd, RunSummary, Option<PathBuf>), CliError> {
        let tools = Toolbox::standard(ActLimits::default())
            .map_err(|error| CliError::failed_to("set up the tools", error))?;
        let mut summary = RunSummary::default();
        if let Some((held, _)) = &going_on {
            let past = held.folder().read_lines(&mut |line| summary.add(line));
            past.map_err(|error| CliError::from_error(&error))?;
        }
        let note = |folder: &Path| {
            // A desktop that cannot be kept is one that a resumed session has to do without; no reason to stop.
            if let Err(error) = stage.note_in(folder, self.keep) {
                Output::to(Stream::Error).line(&Line::of(Tone::Doubtful, format!("warning: {error}")));
            }
        };
        let mut observer = |line: &JournalLine| {
            if let Record::Header(header) = &line.record {
                note(&self.store.root().join(&header.session.0));
            }
            summary.add(line);
            observer(line);
        };
        let options = RunOptions {
            store: &self.store,
            desktop: &stage.desktop,
            desktop_name: stage.name.clone(),
            model,
            tools: &tools,
            agents: self.agents.clone(),
            config: self.config.clone(),
            prompts: self.prompts.clone(),
            requests: self.requests.clone(),
            people: user.people(),
            stop: stop.clone(),
            program: concat!("deskhand ", env!("CARGO_PKG_VERSION")).to_owned(),
            setup: self.setup.to_json(),
        };
        let ran = match going_on {
            None => deskhand_runtime::run(options, &mut observer).await,
            Some((held, desktop_kept)) => {
                note(held.folder().path());
                deskhand_runtime::resume(held, desktop_kept, options, &mut observer).await
            }
        };
        let end = ran.map_err(|error| {
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

/// How long the desktop of a session is kept should its process die.
pub(super) fn keep_of(config: &Config) -> Duration {
    Duration::from_secs(config.desktop.keep_minutes.saturating_mul(60))
}

/// Puts the limits that flags name into those of a session.
fn put_limits(args: &LimitArgs, limits: &mut Limits) {
    limits.steps_max = args.max_steps.unwrap_or(limits.steps_max);
    limits.model_calls_max = args.max_model_calls.unwrap_or(limits.model_calls_max);
    limits.tokens_max = args.max_tokens.or(limits.tokens_max);
    limits.wall_ms_max =
        args.max_minutes.map(|minutes| minutes.saturating_mul(60_000)).or(limits.wall_ms_max);
}

/// The documents that a session was begun with, to be opened again on a new desktop. One that cannot be is told of and
/// left out: the agents see what is there.
fn documents_of_before(before: &[PathBuf], opened: &[Document]) -> Vec<Document> {
    let missing = before.iter().filter(|path| opened.iter().all(|document| document.path != **path));
    missing
        .filter_map(|path| match documents::check(std::slice::from_ref(path)) {
            Ok(documents) => documents.into_iter().next(),
            Err(error) => {
                let words = format!("warning: {} is not opened again: {error}", path.display());
                Output::to(Stream::Error).line(&Line::of(Tone::Doubtful, words));
                None
            }
        })
        .collect()
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

    /// Takes a line that was told before.
    fn remember(&mut self, line: &JournalLine) {
        self.progress.read(line);
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

/// A limit on money can only be kept where the price is known.
fn check_price(config: &SessionConfig) -> Result<(), CliError> {
    let limited = config.limits.money_max.or(config.session_limits.money_max).is_some();
    let model = &config.model;
    if limited && config.prices.find(model).is_none() {
        return Err(CliError::usage(format!(
            "the price of the model `{model}` is not known, so that a limit on its cost cannot be kept"
        ))
        .with_help(format!(
            "write it down in the configuration, under [prices.\"{model}\"], or take the limit away"
        )));
    }
    Ok(())
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
async fn come_to_rest(desktop: &Seeing<LinuxDesktop>) {
    if let Ok(watch) = desktop.watch(None).await {
        desktop.settle(watch, QuietLimits::default()).await.ok();
    }
}

/// Saves a picture of the screen as it is now. That it cannot be taken is told and changes no outcome.
async fn picture(desktop: &Seeing<LinuxDesktop>, file: Option<&Path>) -> Option<PathBuf> {
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
