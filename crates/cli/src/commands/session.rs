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
    session::{Effect, SessionConfig},
};
use deskhand_desktop::{Capture as _, QuietLimits, Settling as _};
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_detect::Seeing;
use deskhand_desktop_linux::{IdsGiven, LinuxDesktop};
use deskhand_host::config::{Config, Loaded, price_table};
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
    model::{ModelChoice, ModelSetup},
    resume::catch_up,
    screenshot::save,
    setup::Setup,
    signals::Signals,
    stage::{Stage, StagePlan, desktop_error},
    store::store_of,
};
use crate::{
    args::WorkArgs,
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
    /// What the configuration says; no request yet.
    ///
    /// # Errors
    /// No model is named, a document cannot be opened, or there is no display where one is asked for.
    pub(super) fn of(args: &WorkArgs, config: &Config) -> Result<Self, CliError> {
        Self::with_model(args, config, ModelSetup::of(&args.model, config))
    }

    fn with_model(args: &WorkArgs, config: &Config, model: ModelSetup) -> Result<Self, CliError> {
        let setup = model.clone().absolute();
        let model = model.choice()?;
        let session = SessionConfig {
            limits: config.limits.to_limits()?,
            session_limits: config.session_limits.to_limits()?,
            evaluate: config.evaluation.to_evaluate(),
            policy: config.policy.to_policy(),
            model: model.price_name().to_owned(),
            prices: price_table(&config.prices)?,
            verify: config.work.verify.to_verify(),
            pictures: model.sees() && config.view.pictures,
            ask_questions: config.people.ask_questions,
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
        let stage = StagePlan::to_work_on(config, &args.desktop.open)?;
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
            agents: enabled(config)?,
            store: store_of(config),
            asked: Asked::of(config, args.json),
            screenshot: None,
            json: args.json,
            verbosity,
        })
    }

    /// What a session that is resumed was begun with, and what this run overrides. No request yet.
    ///
    /// # Errors
    /// The session's model is not known and none is named, or a document cannot be opened.
    pub(super) fn going_on(args: &WorkArgs, loaded: &Loaded, held: &HeldSession) -> Result<Self, CliError> {
        let before = Setup::of(held);
        let merged = before.as_ref().map(|before| loaded.for_session(&before.layer(held))).transpose()?;
        let loaded = merged.as_ref().unwrap_or(loaded);
        let config = &loaded.config;
        let mut model = ModelSetup::of(&args.model, config);
        if let Some(before) = before.as_ref().filter(|_| !loaded.chooses_model()) {
            model = model.with_variables_of(&before.model);
        }
        let mut plan = Self::with_model(args, config, model)?;
        let in_force = held.in_force();
        let names: Vec<String> = in_force.config.agents.iter().map(|agent| agent.name.clone()).collect();
        (plan.keep, plan.agents) = (keep_of(config), enable(config, &names)?);
        plan.config = overridden(&in_force.config, &plan.config, loaded);
        check_price(&plan.config)?;
        plan.prompts = in_force.prompts.clone();
        for document in before.map(|before| before.documents).unwrap_or_default() {
            if !plan.setup.documents.contains(&document) {
                plan.setup.documents.push(document);
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

/// The configuration of a session that is resumed: as it was, but for what this run overrides and for what belongs to the
/// model and to the people of today.
fn overridden(before: &SessionConfig, now: &SessionConfig, loaded: &Loaded) -> SessionConfig {
    let mut session = before.clone();
    let (limits, wanted) = (&mut session.limits, &now.limits);
    let is_set = |key: &str| loaded.overrides(key);
    if is_set("limits.steps_max") {
        limits.steps_max = wanted.steps_max;
    }
    if is_set("limits.model_calls_max") {
        limits.model_calls_max = wanted.model_calls_max;
    }
    if is_set("limits.tokens_max") {
        limits.tokens_max = wanted.tokens_max;
    }
    if is_set("limits.cost_max") {
        limits.money_max = wanted.money_max;
    }
    if is_set("limits.minutes_max") {
        limits.wall_ms_max = wanted.wall_ms_max;
    }
    if is_set("work.verify") {
        session.verify = now.verify;
    }
    if is_set("policy.safe_guard") {
        session.policy.safe_guard = now.policy.safe_guard;
    }
    if is_set("evaluation.enabled") {
        session.evaluate.clone_from(&now.evaluate);
    }
    session.pictures &= now.pictures;
    session.model.clone_from(&now.model);
    session.ask_questions = now.ask_questions;
    session.prices.clone_from(&now.prices);
    session
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
