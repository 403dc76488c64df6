//! `deskhand run`: one request, from the checks before it to its outcome.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use deskhand_core::{
    outcome::{Outcome, OutcomeKind},
    prompt::PromptSet,
    record::Line as JournalLine,
    session::SessionConfig,
};
use deskhand_desktop::{Capture as _, QuietLimits, Settling as _, act::ActLimits, linux::LinuxDesktop};
use deskhand_model::AnyModel;
use deskhand_runtime::{RunEnd, RunOptions, RunSummary, SessionStore, StopSwitch, Toolbox};
use serde::Serialize;

use super::{
    model::{ModelChoice, choose},
    screenshot::save,
    signals::Signals,
    stage::{Stage, StagePlan, desktop_error},
    store::store_of,
};
use crate::{
    args::RunArgs,
    config,
    exit::{CliError, CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
    render::{Progress, Verbosity},
};

/// How long the picture at the end may take.
const PICTURE_BOUND: Duration = Duration::from_secs(5);

/// A request with everything that it needs, checked before anything starts.
struct RunPlan {
    request: String,
    model: ModelChoice,
    stage: StagePlan,
    config: SessionConfig,
    store: SessionStore,
    screenshot: Option<PathBuf>,
    json: bool,
    verbosity: Verbosity,
}

impl RunPlan {
    fn of(args: &RunArgs) -> Result<Self, CliError> {
        let request = args.request.trim().to_owned();
        if request.is_empty() {
            return Err(CliError::usage("the request is empty").with_help(
                "say what to do: deskhand run \"Make a chart of the sales table\" --open sales.ods",
            ));
        }
        let mut config = config::load()?.config;
        let model = choose(&args.model, &config)?;
        let limits = &mut config.limits;
        limits.steps_max = args.limits.max_steps.unwrap_or(limits.steps_max);
        limits.model_calls_max = args.limits.max_model_calls.unwrap_or(limits.model_calls_max);
        limits.tokens_max = args.limits.max_tokens.or(limits.tokens_max);
        limits.minutes_max = args.limits.max_minutes.or(limits.minutes_max);
        let session = SessionConfig {
            limits: limits.to_limits(),
            pictures: model.sees() && !args.no_pictures,
            ..SessionConfig::default()
        };
        let verbosity = match (args.quiet, args.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Normal,
            (false, 1) => Verbosity::Thoughts,
            (false, _) => Verbosity::Everything,
        };
        Ok(Self {
            request,
            stage: StagePlan::of_desktop(&args.desktop, &config)?,
            model,
            config: session,
            store: store_of(&args.store, &config),
            screenshot: args.screenshot.clone(),
            json: args.json,
            verbosity,
        })
    }
}

pub(crate) async fn run(args: &RunArgs) -> CommandResult {
    let plan = RunPlan::of(args)?;
    let model = plan.model.clone().open()?;
    let mut signals = Signals::catch()?;
    let begun = Instant::now();
    // Until there is a session nothing is to be recorded: a signal ends it all.
    let mut stage = tokio::select! {
        stage = plan.stage.start() => stage?,
        _ = signals.next() => return Ok(before_it_began()),
    };
    let furnished = tokio::select! {
        furnished = plan.stage.furnish(&mut stage) => furnished.map(|()| true),
        _ = signals.next() => Ok(false),
    };
    if !matches!(furnished, Ok(true)) {
        stage.close().await;
        return furnished.map(|_| before_it_began());
    }
    let stop = StopSwitch::new();
    let tools = Toolbox::standard(ActLimits::default())
        .map_err(|error| CliError::failed_to("set up the tools", error))?;
    let work = go(&plan, &stage, &model, &tools, stop.clone());
    let ended = tokio::select! {
        ended = work => ended,
        never = signals.stop_with(&stop) => match never {},
    };
    let outcome = match ended {
        Ok((end, progress)) => {
            if end.outcome.as_ref().is_some_and(|outcome| outcome.kind == OutcomeKind::Finished) {
                come_to_rest(&stage.desktop).await;
            }
            let picture = picture(&stage.desktop, plan.screenshot.as_ref()).await;
            let desktop_start_ms = stage.desktop.startup().total_ms;
            let summary = Summary::of(&end, progress.summary(), desktop_start_ms, begun, picture);
            if plan.json {
                Output::to(Stream::Out).json(&summary);
            }
            Ok(Exit::Outcome(summary.outcome))
        }
        Err(error) => Err(error),
    };
    stage.close().await;
    outcome
}

fn before_it_began() -> Exit {
    Output::to(Stream::Error).text("stopped before the request began");
    Exit::Outcome(OutcomeKind::Cancelled)
}

/// Runs the session and shows each line of its journal as it is written.
async fn go(
    plan: &RunPlan,
    stage: &Stage,
    model: &AnyModel,
    tools: &Toolbox<LinuxDesktop>,
    stop: StopSwitch,
) -> Result<(RunEnd, Progress), CliError> {
    let people = Output::to(if plan.json { Stream::Error } else { Stream::Out });
    let machines = plan.json.then(|| Output::to(Stream::Out));
    let mut progress = Progress::new(plan.verbosity, people.width());
    let mut observer = |line: &JournalLine| {
        if let Some(machines) = &machines {
            machines.json(&JournalJson::of(line));
        }
        for line in progress.read(line) {
            people.line(&line);
        }
    };
    let options = RunOptions {
        store: &plan.store,
        desktop: &stage.desktop,
        desktop_name: stage.name.clone(),
        model,
        tools,
        config: plan.config.clone(),
        prompts: PromptSet::default(),
        requests: vec![plan.request.clone()],
        stop,
        program: concat!("deskhand ", env!("CARGO_PKG_VERSION")).to_owned(),
    };
    let end = deskhand_runtime::run(options, &mut observer).await.map_err(|error| {
        CliError::failed_to("run the request", error).with_help(
            "check that the folder of the sessions can be written to; `--state-dir DIR` names another",
        )
    })?;
    Ok((end, progress))
}

/// A line of the journal as it is given out: the record itself with its number and time.
#[derive(Serialize)]
struct JournalJson<'a> {
    kind: &'static str,
    seq: u64,
    at_ms: u64,
    record: &'a deskhand_core::record::Record,
}

impl<'a> JournalJson<'a> {
    fn of(line: &'a JournalLine) -> Self {
        use deskhand_core::record::Record;
        let kind = match &line.record {
            Record::Header(_) => "header",
            Record::Effect(_) => "effect",
            Record::Event(_) => "event",
        };
        Self { kind, seq: line.seq, at_ms: line.at_ms, record: &line.record }
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
    steps: u32,
    model_calls: u32,
    prompt_tokens: u64,
    completion_tokens: u64,
    desktop_start_ms: u64,
    framework_ms: u64,
    framework_ms_per_step_p50: u64,
    phases_ms: deskhand_runtime::PhaseTimes,
    elapsed_ms: u64,
    screenshot: Option<PathBuf>,
    exit_code: u8,
}

impl Summary {
    fn of(
        end: &RunEnd,
        summary: &RunSummary,
        desktop_start_ms: u64,
        begun: Instant,
        screenshot: Option<PathBuf>,
    ) -> Self {
        let outcome = end.outcome.clone().unwrap_or_else(|| Outcome {
            kind: OutcomeKind::Cancelled,
            reason: "stopped before the request began".to_owned(),
        });
        Self {
            kind: "summary",
            outcome: outcome.kind,
            reason: outcome.reason,
            session_id: end.session.0.clone(),
            session_path: end.folder.path().to_owned(),
            steps: summary.tally.steps,
            model_calls: summary.tally.model_calls,
            prompt_tokens: summary.tally.prompt_tokens,
            completion_tokens: summary.tally.completion_tokens,
            desktop_start_ms,
            framework_ms: summary.phases.framework(),
            framework_ms_per_step_p50: summary.framework_ms_per_step_p50(),
            phases_ms: summary.phases,
            elapsed_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            screenshot,
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
async fn picture(desktop: &LinuxDesktop, file: Option<&PathBuf>) -> Option<PathBuf> {
    let file = file?;
    let taken = match tokio::time::timeout(PICTURE_BOUND, desktop.screen()).await {
        Ok(Ok(picture)) => save(&picture, file),
        Ok(Err(error)) => Err(desktop_error(&error)),
        Err(_) => {
            Err(CliError::new(format!("the screen gave no picture within {} s", PICTURE_BOUND.as_secs())))
        }
    };
    match taken {
        Ok(()) => Some(std::path::absolute(file).unwrap_or_else(|_| file.clone())),
        Err(error) => {
            let line =
                Line::of(Tone::Doubtful, "warning:").with(Tone::Plain, format!(" no screenshot: {error}"));
            Output::to(Stream::Error).line(&line);
            None
        }
    }
}
