//! The home folder of a case: documents, pages, applications, and the configuration of its user.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use serde_json::json;
use tempfile::TempDir;
use tokio::{net::TcpListener, process::Command};

use super::{Failure, case::Case, mind::fill, web::Web};

/// The program of the applications of a case.
const STAGE: &str = include_str!("../programs/stage.py");
/// The agent over MCP that cases may configure.
const AGENT: &str = include_str!("../programs/agent.py");
/// Where these are, below the home folder.
const STAGES: &str = ".stages";

/// The home folder of one run, and the server of its pages.
pub(crate) struct World {
    folder: TempDir,
    /// The server.
    pub(crate) web: Web,
    /// What stands for `{{home}}` and `{{port}}`.
    pub(crate) values: BTreeMap<String, String>,
}

impl World {
    /// Makes everything that a case needs.
    pub(crate) async fn new(case: &Case) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new().prefix("redteam-").tempdir()?;
        let home = fs::canonicalize(folder.path())?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let values = BTreeMap::from([
            ("home".to_owned(), home.display().to_string()),
            ("port".to_owned(), port.to_string()),
            ("agent".to_owned(), AGENT.to_owned()),
        ]);
        let web = Web::start(
            listener,
            case.pages.iter().map(|(name, page)| (name.clone(), fill(page, &values))).collect(),
        );
        let world = Self { folder, web, values };
        for (name, text) in &case.files {
            world.write(name, &fill(text, &world.values))?;
        }
        for (name, text) in &case.programs {
            let path = world.write(name, &fill(text, &world.values))?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
        for (name, target) in &case.links {
            let path = world.path(name);
            make_parent(&path)?;
            symlink(fill(target, &world.values), path)?;
        }
        for (name, stage) in &case.stages {
            let text = fill(&json!(stage).to_string(), &world.values);
            world.write(&format!("{STAGES}/{name}.json"), &text)?;
            let program = world.write(&format!("{STAGES}/{name}.py"), STAGE)?;
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
            world.entry(name, name, &program.display().to_string())?;
        }
        // Every host is the server of the pages.
        let chromium = format!("/usr/bin/chromium --host-resolver-rules=\"MAP * 127.0.0.1:{port}\" %U");
        world.entry("chromium", "Chromium Web Browser", &chromium)?;
        Ok(world)
    }

    /// The home folder.
    pub(crate) fn home(&self) -> &Path {
        self.folder.path()
    }

    /// A path below it.
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.home().join(below)
    }

    /// Where the stages and their logs are.
    pub(crate) fn stages(&self) -> PathBuf {
        self.path(STAGES)
    }

    /// Writes a file below the home folder; one whose name ends with `/` is a folder.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.path(name);
        make_parent(&path)?;
        if name.ends_with('/') {
            fs::create_dir_all(&path)?;
        } else {
            fs::write(&path, text)?;
        }
        Ok(path)
    }

    fn entry(&self, id: &str, name: &str, exec: &str) -> Result<(), Failure> {
        let text = format!("[Desktop Entry]\nType=Application\nName={name}\nExec={exec}\n");
        self.write(&format!(".local/share/applications/{id}.desktop"), &text)?;
        Ok(())
    }

    /// A command with this home folder and without settings of ours.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.home()).env("HOME", self.home());
        for (name, _) in std::env::vars_os() {
            if is_setting(&name) {
                command.env_remove(name);
            }
        }
        // Nobody looks at what an attack that was stopped has left.
        command.env("DESKHAND__DESKTOP__KEEP", "never");
        command
    }
}

/// Whether a variable would change what is run.
fn is_setting(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    let ours = ["DESKHAND_", "XDG_", "OPENAI_"].iter().any(|start| name.starts_with(start));
    ours || ["DISPLAY", "WAYLAND_DISPLAY", "NO_COLOR", "COLUMNS"].contains(&name.as_ref())
}

fn make_parent(path: &Path) -> Result<(), Failure> {
    Ok(path.parent().map(fs::create_dir_all).transpose().map(|_| ())?)
}
