//! A desktop to start: which one, and what to open on it.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Duration,
};

use deskhand_desktop::WindowManagement as _;
use deskhand_desktop_act::VeiledDesktop;
use deskhand_desktop_detect::{DetectOptions, DetectingDesktop, OcrUse};
use deskhand_desktop_linux::{BrowserHolder, Confine, KeptOut, LinuxDesktop, VirtualOptions};
use deskhand_runtime::HeldSession;
use deskhand_secret::{Secrets, Veil};
use deskhand_ui::secret::SecretPermit;
use futures_util::future::BoxFuture;

use super::{
    DesktopNote, MissingFilePolicy, OpenableDocument, WorkspaceError, check_documents, keeper,
    open::{OpenedDocuments, Workspace},
};
use crate::{
    HostError,
    config::{Config, DesktopKind, KeepSetting, ScreenSize, confine},
    secrets::{permits, secrets, variables},
};

/// Plan to start or reach a desktop. Everything that can be checked without a desktop has been checked.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkspacePlan {
    pub(crate) kind: DesktopKind,
    pub(crate) size: ScreenSize,
    pub(crate) documents: Vec<OpenableDocument>,
    pub(crate) launch: Option<String>,
    /// Programs whose elements are never read.
    exclude: Vec<String>,
    /// Confinement of the applications of a virtual desktop.
    confine: Confine,
    /// The places that are kept from them, once it was tried out; `None` in it if nothing confines them.
    kept_out: OnceLock<Option<KeptOut>>,
    /// If `true`, windows that were opened during the work are closed at the end.
    pub(crate) close_after: bool,
    /// The secrets that may be typed on it, and what hides them.
    pub(crate) secrets: Secrets,
    /// Places where the secrets may be typed.
    permits: Vec<SecretPermit>,
    /// The variables of our environment that hold secrets.
    secret_variables: Vec<String>,
    /// The detection options.
    detect: DetectOptions,
    /// Settings by which the virtual desktop outlives this process.
    pub(crate) keep: Option<Keep>,
    /// The program that starts browsers and tells their pages.
    pub(crate) browsers: Option<PathBuf>,
}

/// The argument on which a helper program starts a browser and tells its pages; more arguments follow.
const BROWSER_ARGUMENT: &str = "hold-browser";

/// Settings by which a virtual desktop outlives the process that works on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Keep {
    /// The program that holds it.
    pub(crate) helper: PathBuf,
    /// Time to keep the desktop after this process ended.
    pub(crate) duration: Duration,
    /// Condition for keeping the desktop when the session ends, and not only when the process dies.
    pub(crate) when: KeepSetting,
}

impl WorkspacePlan {
    /// Returns `true` if bubblewrap confines the applications that are started. Blocking the first time: it is tried out.
    pub(crate) fn confines_applications(&self) -> bool {
        self.kind == DesktopKind::Virtual && self.kept_out().is_some()
    }

    /// The places that are kept from tools that read files, since keys and secrets are there: our own ones, and what is kept from
    /// applications. Blocking the first time.
    pub(crate) fn hidden_places(&self) -> Vec<PathBuf> {
        let kept = self.kept_out().map(|kept| kept.hidden.as_slice()).unwrap_or_default();
        kept.iter().chain(&self.confine.hidden).cloned().collect()
    }

    fn kept_out(&self) -> Option<&KeptOut> {
        self.kept_out.get_or_init(|| self.confine.kept_out().ok().flatten()).as_ref()
    }

    /// The desktop for requests: a private one, unless the configuration names the current one.
    ///
    /// # Errors
    /// A document cannot be opened, or the current desktop has no display.
    pub fn for_requests(config: &Config, open: &[PathBuf]) -> Result<Self, HostError> {
        Self::of_kind(config.desktop.kind.unwrap_or(DesktopKind::Virtual), config, open)
    }

    /// The desktop for work by hand: the current one, or a private one if there is no display, unless the configuration
    /// names one.
    ///
    /// # Errors
    /// A document cannot be opened, or the current desktop has no display.
    pub fn by_hand(config: &Config, open: &[PathBuf], launch: Option<&str>) -> Result<Self, HostError> {
        let usual = if has_display() { DesktopKind::Current } else { DesktopKind::Virtual };
        let plan = Self::of_kind(config.desktop.kind.unwrap_or(usual), config, open)?;
        Ok(Self { launch: launch.map(ToOwned::to_owned), ..plan })
    }

    /// A private desktop on which nothing is opened.
    ///
    /// # Errors
    /// The configuration of secrets or detection is not valid.
    pub(crate) fn private(config: &Config) -> Result<Self, HostError> {
        Self::of_kind(DesktopKind::Virtual, config, &[])
    }

    fn of_kind(kind: DesktopKind, config: &Config, open: &[PathBuf]) -> Result<Self, HostError> {
        let documents = check_documents(open, MissingFilePolicy::Begun)?;
        if kind == DesktopKind::Current && !has_display() {
            return Err(WorkspaceError::NoDisplay.into());
        }
        Ok(Self {
            kind,
            size: config.desktop.size,
            documents,
            launch: None,
            exclude: config.desktop.exclude.clone(),
            confine: confine(config),
            kept_out: OnceLock::new(),
            secrets: secrets(config, &Veil::of_process())?,
            permits: permits(config),
            secret_variables: variables(config),
            close_after: false,
            detect: config.to_detection()?,
            keep: None,
            browsers: None,
        })
    }

    /// The same, with the text in pictures read in every window.
    #[must_use]
    pub fn with_ocr(mut self) -> Self {
        self.detect.ocr = OcrUse::Always;
        self
    }

    /// Returns `true` if a document is one that was begun and that nobody has saved.
    pub(crate) fn begins(&self, named: &str) -> bool {
        let named = Path::new(named);
        !named.exists() && self.documents.iter().any(|document| document.named == named)
    }

    /// Which kind of desktop it is.
    pub const fn kind(&self) -> DesktopKind {
        self.kind
    }

    /// Starts or connects to the desktop. Nothing is opened on it yet. A virtual one is held by a keeper if it is to
    /// outlive the death of this process.
    ///
    /// # Errors
    /// It does not come up.
    pub async fn start(&self) -> Result<Workspace, WorkspaceError> {
        let desktop = match (self.kind, &self.keep) {
            (DesktopKind::Current, _) => LinuxDesktop::connect_current().await?,
            (DesktopKind::Virtual, Some(keep)) => LinuxDesktop::start_kept(self.keeper(keep)?).await?,
            (DesktopKind::Virtual, None) => {
                let confine = self.confine.clone();
                let options = VirtualOptions { size: self.size.0, confine, ..VirtualOptions::default() };
                LinuxDesktop::start_virtual(options).await?
            }
        };
        let name = match self.kind {
            DesktopKind::Virtual => format!("virtual {}", self.size),
            DesktopKind::Current => format!("current {}", desktop.display_name()),
        };
        self.workspace(desktop, name).await
    }

    /// The command that starts a keeper, without the variables that hold secrets.
    fn keeper(&self, keep: &Keep) -> Result<std::process::Command, WorkspaceError> {
        let mut command = keeper::command(&keep.helper, self.size, &self.confine)?;
        for name in &self.secret_variables {
            command.env_remove(name);
        }
        Ok(command)
    }

    /// Takes over the virtual desktop of a session whose process died; `None` if it has ended.
    pub(crate) async fn take_over(&self, held: &HeldSession) -> Option<Workspace> {
        let note = DesktopNote::find(held.folder())?;
        match LinuxDesktop::attach(&note.handle, held.ids()).await {
            Ok(desktop) => self.workspace(desktop, held.in_force().desktop.clone()).await.ok(),
            Err(error) => {
                tracing::debug!(error = error.chain(), "the desktop of before");
                DesktopNote::remove(held.folder().path());
                None
            }
        }
    }

    pub(crate) async fn workspace(
        &self,
        desktop: LinuxDesktop,
        name: String,
    ) -> Result<Workspace, WorkspaceError> {
        desktop.exclude(&self.exclude).await?;
        let desktop = match self.kind {
            DesktopKind::Virtual => desktop.with_confined_applications(self.confine.clone()),
            DesktopKind::Current => desktop,
        };
        let desktop = match &self.browsers {
            Some(program) => {
                let arguments = vec![BROWSER_ARGUMENT.into()];
                desktop.with_browser_holder(BrowserHolder { program: program.clone(), arguments })
            }
            None => desktop,
        };
        let veiled = VeiledDesktop::new(desktop, self.secrets.veil().clone());
        let desktop = DetectingDesktop::new(veiled, self.detect.clone());
        let (secrets, permits) = (self.secrets.clone(), self.permits.clone());
        Ok(Workspace { desktop, secrets, permits, name, kind: self.kind, opened: OpenedDocuments::default() })
    }

    /// Opens the documents and the program on the desktop.
    ///
    /// # Errors
    /// A program does not start or shows no window.
    pub async fn open_on(&self, workspace: &mut Workspace) -> Result<(), WorkspaceError> {
        self.open_with(workspace, &[]).await
    }

    /// Returns the programs and documents that are opened on the desktop, by path or name.
    pub fn opens(&self) -> Vec<String> {
        let documents = self.documents.iter().map(OpenableDocument::argument);
        self.launch.iter().cloned().chain(documents).collect()
    }

    /// The same, with further documents.
    pub(crate) fn open_with<'a>(
        &'a self,
        workspace: &'a mut Workspace,
        more: &'a [OpenableDocument],
    ) -> BoxFuture<'a, Result<(), WorkspaceError>> {
        Box::pin(async move {
            // A virtual desktop ends with everything on it anyway.
            if self.close_after && self.kind == DesktopKind::Current {
                let windows = workspace.desktop.windows().await?;
                workspace.opened.known = Some(windows.into_iter().map(|window| window.id).collect());
            }
            if let Some(program) = &self.launch {
                workspace.opened.last = Some(workspace.start(program).await?);
            }
            let documents: Vec<&OpenableDocument> = self.documents.iter().chain(more).collect();
            if let Some(last) = workspace.open(&documents).await? {
                workspace.opened.last = Some(last);
            }
            Ok(())
        })
    }
}

fn has_display() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    is_set("WAYLAND_DISPLAY") || is_set("DISPLAY")
}
