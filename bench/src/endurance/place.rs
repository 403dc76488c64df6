//! The folders, settings and commands of a run.

use std::{
    ffi::OsString,
    fs::{self, File},
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};

use super::fault::{Fault, Plan};

/// The sub-tasks of the request, in order: by the editor, by the shell agent, by the editor.
pub(super) const SUBTASKS: [&str; 3] = ["write the first word", "append the line", "write the last word"];
/// What each of them leaves in a file, once.
pub(super) const WORDS: [&str; 3] = ["alpha-word", "beta-line", "gamma-word"];
/// How the program of the shell agent begins.
pub(super) const APPENDS: &str = "echo beta-line >>";

/// The program that makes namespaces for what is confined.
pub(super) const BUBBLEWRAP: &str = "bwrap";

/// How long the desktop of a killed session is kept, in minutes.
const KEEP_MINUTES: u64 = 1;

/// The folders of a run.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) home: PathBuf,
    binary: PathBuf,
    endpoint: String,
}

impl Place {
    /// Creates the folders and settings.
    pub(super) fn create(home: &Path, binary: &Path, endpoint: String, plan: &Plan) -> Result<Self> {
        let place = Self { home: home.to_owned(), binary: binary.to_owned(), endpoint };
        let mut private = fs::DirBuilder::new();
        private.recursive(true).mode(0o700);
        for folder in [place.state(), place.runtime(), home.join("work"), home.join(".config/deskhand")] {
            private.create(&folder).with_context(|| format!("create {}", folder.display()))?;
        }
        let settings = format!(
            "[desktop]\nkeep = \"never\"\nkeep_minutes = {}\nsize = \"800x600\"\n[agents]\nenabled = [\"shell\"]\n[agents.shell]\nfolder = \"{}\"\n\
             [people]\napprovals = \"all\"\n",
            if plan.keeps { KEEP_MINUTES } else { 0 },
            home.join("work").display()
        );
        fs::write(home.join(".config/deskhand/config.toml"), settings).context("write the settings")?;
        fs::write(place.note(), "").context("write the document")?;
        Ok(place)
    }

    /// The folder of the sessions and seals.
    pub(super) fn state(&self) -> PathBuf {
        self.home.join(".local/state")
    }

    /// The folder of the sessions.
    pub(super) fn sessions(&self) -> PathBuf {
        self.state().join("deskhand/sessions")
    }

    /// The runtime folder of the user.
    pub(super) fn runtime(&self) -> PathBuf {
        self.home.join("runtime")
    }

    /// The document in the editor.
    pub(super) fn note(&self) -> PathBuf {
        self.home.join("note.txt")
    }

    /// The file that the shell agent appends to.
    pub(super) fn log(&self) -> PathBuf {
        self.home.join("work/log.txt")
    }

    /// `deskhand` with these arguments, in the home folder. Its messages go to `name` there.
    pub(super) fn deskhand(&self, arguments: &[&str], name: &str, fault: &Fault) -> Result<Command> {
        let mut command = if let Fault::FileLimit { bytes } = fault {
            // Ignored, the signal of the limit becomes an error, as of a full disk.
            let mut command = Command::new("prlimit");
            command.arg(format!("--fsize={bytes}")).args(["env", "--ignore-signal=XFSZ"]).arg(&self.binary);
            command
        } else {
            Command::new(&self.binary)
        };
        let errors = File::create(self.home.join(name)).context("create a file for messages")?;
        let folder = self.binary.parent().unwrap_or(Path::new("/")).to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&path)))
            .unwrap_or_else(|_| OsString::from("/usr/bin:/bin"));
        command.args(arguments).current_dir(&self.home).env_clear().env("PATH", path).env("HOME", &self.home);
        command.env("XDG_RUNTIME_DIR", self.runtime()).env("LANG", "C.UTF-8");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors);
        Ok(command)
    }

    /// The command that begins the session.
    pub(super) fn run(&self, fault: &Fault) -> Result<Command> {
        let request = "write the words and append the line";
        self.deskhand(
            &[
                "run",
                request,
                "--open",
                "note.txt",
                "--model",
                "openai:mock",
                "--base-url",
                &self.endpoint,
                "--json",
            ],
            "run.err",
            fault,
        )
    }

    /// The command that resumes it.
    pub(super) fn resume(&self, name: &str) -> Result<Command> {
        let model = ["--model", "openai:mock", "--base-url", &self.endpoint, "--json"];
        self.deskhand(&[&["resume", "last"], &model[..]].concat(), name, &Fault::Nothing)
    }

    /// What a command said on standard error.
    pub(super) fn messages(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.home.join(name)).unwrap_or_default()).into_owned()
    }
}

/// Prepares `/tmp` of the run, which is empty.
pub(super) fn prepare_temporary() -> Result<()> {
    let sockets = Path::new("/tmp/.X11-unix");
    fs::create_dir(sockets).context("create the folder of X sockets")?;
    fs::set_permissions(sockets, fs::Permissions::from_mode(0o1777)).context("open the folder of X sockets")
}

/// Hides bubblewrap in the mount namespace of this process, as if it was not installed.
pub(super) fn hide_bubblewrap() -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    for program in std::env::split_paths(&path).map(|folder| folder.join(BUBBLEWRAP)) {
        // In a folder that is a link to another one it is hidden already.
        if fs::metadata(&program).is_ok_and(|data| data.is_file()) {
            let status = Command::new("mount").args(["--bind", "/dev/null"]).arg(&program).status();
            let status = status.context("run mount")?;
            ensure!(status.success(), "hide {}: {status}", program.display());
        }
    }
    Ok(())
}
