//! The desktop to work on: which, how it is started, and what is opened on it.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_core::{
    command::Verdict,
    ids::WindowId,
    outcome::OutcomeKind,
    ui::{WindowInfo, WindowKind},
};
use deskhand_desktop::{DesktopError, LaunchRequest, Windowing as _};
use deskhand_desktop_act as act;
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_detect::{DetectOptions, Seeing};
use deskhand_desktop_linux::{IdsGiven, LinuxDesktop, VirtualOptions};
use deskhand_host::config::{Config, DesktopKind, ScreenSize};
use deskhand_runtime::HeldSession;

use super::{
    configuration::load,
    documents::{self, Document},
    keep_desktop,
    kept::DesktopNote,
    signals::Signals,
};
use crate::{
    args::StageArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
};

/// A desktop by what it takes to get it; everything about it was checked that can be without one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StagePlan {
    pub(super) kind: DesktopKind,
    pub(super) size: ScreenSize,
    pub(super) documents: Vec<Document>,
    pub(super) launch: Option<String>,
    /// Programs whose elements are never read.
    pub(super) exclude: Vec<String>,
    /// Whether windows that came while work was done are closed at the end.
    pub(super) close_after: bool,
    /// What finds elements besides the accessibility tree.
    pub(super) detect: DetectOptions,
}

/// A desktop that is up.
pub(super) struct Stage {
    pub(super) desktop: Seeing<LinuxDesktop>,
    /// How people know it: `virtual 1920x1080`.
    pub(super) name: String,
    /// The window that was opened last, where something was opened.
    pub(super) opened: Option<WindowInfo>,
    /// What was opened on a private desktop and ends with it.
    unlock: Vec<Document>,
    /// The windows that were there before, where those that came since are closed at the end.
    known: Option<Vec<WindowId>>,
}

impl StagePlan {
    /// The desktop that is looked at or acted on by hand.
    ///
    /// # Errors
    /// A document cannot be opened, or there is no display where one is asked for.
    pub(super) fn of(args: &StageArgs) -> Result<Self, CliError> {
        let config = load(args.overrides())?.config;
        let kind = config.desktop.kind.unwrap_or(if has_display() {
            DesktopKind::Current
        } else {
            DesktopKind::Virtual
        });
        let plan = Self::of_kind(kind, &config, &args.open)?;
        Ok(Self { launch: args.launch.clone(), ..plan })
    }

    /// The desktop that a request is carried out on: a private one, unless the configuration names the current one.
    ///
    /// # Errors
    /// A document cannot be opened, or there is no display where one is asked for.
    pub(super) fn to_work_on(config: &Config, open: &[PathBuf]) -> Result<Self, CliError> {
        Self::of_kind(config.desktop.kind.unwrap_or(DesktopKind::Virtual), config, open)
    }

    fn of_kind(kind: DesktopKind, config: &Config, open: &[PathBuf]) -> Result<Self, CliError> {
        let documents = documents::check(open)?;
        if kind == DesktopKind::Current && !has_display() {
            return Err(CliError::new("there is no display to work on: DISPLAY is not set").with_help(
                "work on a private one: `--desktop virtual`; or run this in a graphical session",
            ));
        }
        Ok(Self {
            kind,
            size: config.desktop.size,
            documents,
            launch: None,
            exclude: config.desktop.exclude.clone(),
            close_after: false,
            detect: config.to_detection()?,
        })
    }

    /// Starts or connects to the desktop, opens what is to be opened, works on it, and closes it, however that
    /// ends; a signal ends it all.
    ///
    /// # Errors
    /// The desktop does not come up, a program does not start, or the work fails.
    pub(super) async fn work(&self, work: impl AsyncFnOnce(&Stage) -> CommandResult) -> CommandResult {
        let mut signals = Signals::catch()?;
        let cancelled = Ok(Exit::Outcome(OutcomeKind::Cancelled));
        let mut stage = tokio::select! {
            stage = self.start() => stage?,
            _ = signals.next() => return cancelled,
        };
        let worked = tokio::select! {
            result = async {
                self.furnish(&mut stage).await?;
                work(&stage).await
            } => result,
            _ = signals.next() => cancelled,
        };
        stage.close().await;
        worked
    }

    /// Starts or connects to the desktop.
    ///
    /// # Errors
    /// It does not come up.
    pub(super) async fn start(&self) -> Result<Stage, CliError> {
        let (desktop, name) = match self.kind {
            DesktopKind::Virtual => {
                let options = VirtualOptions { size: self.size.0, ..VirtualOptions::default() };
                (LinuxDesktop::start_virtual(options).await, format!("virtual {}", self.size))
            }
            DesktopKind::Current => {
                let name = std::env::var("DISPLAY").unwrap_or_default();
                (LinuxDesktop::connect_current().await, format!("current {name}"))
            }
        };
        let desktop = desktop.map_err(|error| desktop_error(&error))?;
        self.exclude(&desktop).await?;
        Ok(self.stage(desktop, name))
    }

    async fn exclude(&self, desktop: &LinuxDesktop) -> Result<(), CliError> {
        desktop.exclude(&self.exclude).await.map_err(|error| desktop_error(&error))
    }

    /// Starts or connects to the desktop of a session. A virtual one is held by a keeper where it is to outlive the death
    /// of this process.
    ///
    /// # Errors
    /// It does not come up.
    pub(super) async fn start_for_session(&self, keep: Duration) -> Result<Stage, CliError> {
        match self.kind {
            DesktopKind::Virtual if !keep.is_zero() => {
                let keeper = keep_desktop::command(self.size)?;
                let desktop =
                    LinuxDesktop::start_kept(keeper).await.map_err(|error| desktop_error(&error))?;
                self.exclude(&desktop).await?;
                Ok(self.stage(desktop, format!("virtual {}", self.size)))
            }
            DesktopKind::Virtual | DesktopKind::Current => self.start().await,
        }
    }

    /// Takes over the virtual desktop of a session whose process died; none when it is gone.
    pub(super) async fn take_over(&self, held: &HeldSession) -> Option<Stage> {
        let note = DesktopNote::find(held.folder())?;
        let seen = held.ids();
        let given = IdsGiven { window: seen.window, element: seen.element };
        match LinuxDesktop::attach(&note.handle, given).await {
            Ok(desktop) => {
                self.exclude(&desktop).await.ok()?;
                let mut stage = self.stage(desktop, held.in_force().desktop.clone());
                stage.unlock = note.documents.into_iter().map(documents::Document::opened).collect();
                Some(stage)
            }
            Err(error) => {
                tracing::debug!(error = error.chain(), "the desktop of before");
                // It ended without us: what was open there has left its locks.
                for document in note.documents {
                    documents::unlock(&documents::Document::opened(document));
                }
                DesktopNote::remove(held.folder().path());
                None
            }
        }
    }

    fn stage(&self, desktop: LinuxDesktop, name: String) -> Stage {
        let desktop = Seeing::new(desktop, self.detect.clone());
        Stage { desktop, name, opened: None, unlock: Vec::new(), known: None }
    }

    /// Opens what is to be opened.
    ///
    /// # Errors
    /// A program does not start or shows no window.
    pub(super) async fn furnish(&self, stage: &mut Stage) -> Result<(), CliError> {
        // A virtual desktop ends with everything on it anyway.
        if self.close_after && self.kind == DesktopKind::Current {
            let windows = stage.desktop.windows().await.map_err(|error| desktop_error(&error))?;
            stage.known = Some(windows.into_iter().map(|window| window.id).collect());
        }
        if let Some(program) = &self.launch {
            stage.opened = Some(stage.start(program, None).await?);
        }
        for document in &self.documents {
            if self.kind == DesktopKind::Virtual {
                stage.unlock.push(document.clone());
            }
            stage.opened = Some(stage.open(document).await?);
        }
        Ok(())
    }
}

impl Stage {
    /// Notes in the folder of the session where its desktop is, and from then on has it kept for so long should this
    /// process die. Does nothing for a desktop that no keeper holds.
    ///
    /// # Errors
    /// The note cannot be written, or the keeper is gone.
    pub(super) fn note_in(&self, folder: &Path, keep: Duration) -> Result<(), CliError> {
        let Some(handle) = self.desktop.inner().handle() else { return Ok(()) };
        let documents = self.unlock.iter().map(|document| document.path.clone()).collect();
        DesktopNote { handle: handle.clone(), documents }.write(folder)?;
        self.desktop.inner().keep_for(keep).map_err(|error| desktop_error(&error))
    }

    async fn open(&self, document: &Document) -> Result<WindowInfo, CliError> {
        let mut first_error = None;
        for program in document.programs {
            match self.start(program, Some(&document.path)).await {
                Ok(window) => return Ok(window),
                Err(error) => first_error.get_or_insert(error),
            };
        }
        let name = document.path.display();
        Err(first_error
            .unwrap_or_else(|| CliError::new(format!("failed to open {name}: no program for it is known"))))
    }

    async fn start(&self, program: &str, file: Option<&Path>) -> Result<WindowInfo, CliError> {
        let arguments = file.iter().map(|file| file.display().to_string()).collect();
        let request = LaunchRequest { program: program.to_owned(), arguments };
        let report = act::launch(&self.desktop, &request, &ActLimits::default())
            .await
            .map_err(|error| desktop_error(&error))?;
        report.window.ok_or_else(|| {
            CliError::new(format!("failed to open a window of {program}: {}", report.summary))
                .with_help("see how it starts by hand; `deskhand doctor` says what is installed")
        })
    }

    /// The window that is meant: by id, title or application, else the one that was opened, else the active one.
    ///
    /// # Errors
    /// There is none, or several are meant.
    pub(super) async fn window(&self, wanted: Option<&str>) -> Result<WindowInfo, CliError> {
        let windows = self.desktop.windows().await.map_err(|error| desktop_error(&error))?;
        match wanted {
            Some(text) => find_window(&windows, text),
            None => self
                .opened
                .as_ref()
                .and_then(|opened| windows.iter().find(|window| window.id == opened.id))
                .or_else(|| windows.iter().find(|window| window.active))
                .or_else(|| windows.iter().rev().find(|window| window.kind == WindowKind::Normal))
                .cloned()
                .ok_or_else(|| {
                    CliError::new("there is no window on this desktop")
                        .with_help("start something first: `--launch PROGRAM`, or `--open FILE`")
                }),
        }
    }

    /// Closes what came since the beginning, as a person would: an application may ask what to do with unsaved work, and
    /// then stays. That it could not be closed is told and changes no outcome.
    async fn close_new(&self, known: &[WindowId]) {
        let Ok(windows) = self.desktop.windows().await else { return };
        let new =
            windows.iter().filter(|window| window.kind == WindowKind::Normal && !known.contains(&window.id));
        for window in new {
            let closed = act::close(&self.desktop, window.id, &ActLimits::default()).await;
            if !matches!(&closed, Ok(report) if report.effect == Verdict::Seen) {
                let line = Line::of(Tone::Doubtful, "warning:")
                    .with(Tone::Plain, format!(" {} stays open", window.label()));
                Output::to(Stream::Error).line(&line);
            }
        }
    }

    /// Ends a virtual desktop with everything on it; leaves the user's own as it is.
    pub(super) async fn close(self) {
        if let Some(known) = &self.known {
            self.close_new(known).await;
        }
        self.desktop.into_inner().shut_down().await;
        for document in &self.unlock {
            documents::unlock(document);
        }
    }
}

fn has_display() -> bool {
    std::env::var_os("DISPLAY").is_some_and(|name| !name.is_empty())
}

/// The window that a text means: its id, its whole title, else a part of title or application.
pub(super) fn find_window(windows: &[WindowInfo], text: &str) -> Result<WindowInfo, CliError> {
    let text = text.trim();
    let folded = text.to_lowercase();
    let holds = |whole: &str| whole.to_lowercase().contains(&folded);
    let by_id = windows.iter().find(|window| window.id.to_string() == text);
    let by_title = || windows.iter().find(|window| window.title == text);
    if let Some(window) = by_id.or_else(by_title) {
        return Ok(window.clone());
    }
    let matching: Vec<&WindowInfo> =
        windows.iter().filter(|window| holds(&window.title) || holds(&window.app.name)).collect();
    // A dialog is meant by its own title; otherwise the window that it belongs to is.
    let main: Vec<&WindowInfo> =
        matching.iter().copied().filter(|window| window.kind == WindowKind::Normal).collect();
    let labels =
        |windows: &[&WindowInfo]| windows.iter().map(|window| window.label()).collect::<Vec<_>>().join(", ");
    match (main.as_slice(), matching.as_slice()) {
        ([window], _) | ([], [window]) => Ok((*window).clone()),
        ([], []) => {
            let all: Vec<&WindowInfo> = windows.iter().collect();
            let error = CliError::new(format!("there is no window `{text}`"));
            Err(if all.is_empty() {
                error.with_help("there is none at all; start something first: `--launch PROGRAM`")
            } else {
                error.with_help(format!("the windows are {}", labels(&all)))
            })
        }
        (_, several) => Err(CliError::new(format!("several windows match `{text}`"))
            .with_help(format!("name one by its id: {}", labels(several)))),
    }
}

/// An error of a desktop, with the way out.
pub(super) fn desktop_error(error: &DesktopError) -> CliError {
    match error {
        DesktopError::Start { what, fix } => {
            CliError::new(format!("failed to start the desktop: {what}")).with_help(fix.as_str())
        }
        DesktopError::Gone { .. } => {
            CliError::new(format!("failed to {}", error.chain())).with_help("start it again")
        }
        DesktopError::NoWindow(_) => {
            CliError::new(format!("failed to {}", error.chain())).with_help("`deskhand windows` lists them")
        }
        DesktopError::NoElement(_)
        | DesktopError::NotOffered { .. }
        | DesktopError::NotAnswering { .. }
        | DesktopError::Launch { .. }
        | DesktopError::Key { .. }
        | DesktopError::Failed { .. } => CliError::new(format!("failed to {}", error.chain())),
    }
}
