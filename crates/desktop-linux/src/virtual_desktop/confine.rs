//! What applications of a virtual desktop cannot see or change: places of secrets, our own files, the system.
//!
//! Applications open and save anywhere in the home folder, and leave lock files beside documents, so the home folder stays as it
//! is, and single places of it are covered by mounts of bubblewrap. Landlock cannot do that: what it allows for a folder, it
//! allows for all that is in it.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use deskhand_process::{find_program, succeeds};

/// Whether applications are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConfineMode {
    /// Always; they are not started otherwise.
    Required,
    /// Where bubblewrap is installed and works.
    #[default]
    IfPossible,
    /// Never.
    Off,
}

/// How the applications of a virtual desktop are confined.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confine {
    /// Whether they are.
    pub mode: ConfineMode,
    /// Places of secrets that they may see nevertheless; `~/` stands for the home folder.
    pub allow: Vec<PathBuf>,
    /// Files and folders of ours that they cannot see.
    pub hidden: Vec<PathBuf>,
    /// Files and folders of ours that they can read only.
    pub read_only: Vec<PathBuf>,
}

/// Where secrets are kept, below the home folder: keys, key rings, passwords of browsers, tokens of clouds and tools.
const SECRETS: &[&str] = &[
    ".1password",
    ".aws",
    ".azure",
    ".bitcoin",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/1Password",
    ".config/Bitwarden",
    ".config/BraveSoftware",
    ".config/chromium",
    ".config/doctl",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/google-chrome",
    ".config/hub",
    ".config/keepassxc",
    ".config/microsoft-edge",
    ".config/op",
    ".config/rclone",
    ".config/sops",
    ".docker/config.json",
    ".ethereum",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".mozilla",
    ".my.cnf",
    ".netrc",
    ".npmrc",
    ".oci",
    ".password-store",
    ".pgpass",
    ".pki",
    ".pypirc",
    ".ssh",
    ".terraform.d/credentials.tfrc.json",
    ".thunderbird",
    ".vault-token",
    "snap/chromium",
    "snap/firefox",
];

/// Folders of the system that applications can read only, also as root.
const SYSTEM: &[&str] = &["/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/opt", "/sbin", "/usr"];

/// What root needs to work with files of every user; all other privileges are dropped, so that no mount can be undone.
const KEPT_PRIVILEGES: &[&str] =
    &["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_SETGID", "CAP_SETUID"];

/// What applications see before anything is covered: everything. They do not end with the process that starts them, which may die
/// before its desktop does; the guard of the desktop ends them.
const BASE: [&str; 3] = ["--dev-bind", "/", "/"];

/// What is covered by a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cover {
    /// Nothing of it can be seen.
    Hidden,
    /// It can be read.
    ReadOnly,
}

/// The places that applications cannot see or change, as they are now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Profile {
    bubblewrap: PathBuf,
    /// Existing files and folders, without links.
    covers: Vec<(PathBuf, Cover)>,
}

impl Confine {
    /// Applications are not confined.
    pub fn off() -> Self {
        Self { mode: ConfineMode::Off, ..Self::default() }
    }

    /// The profile of an application that opens these files; `None` if it is not confined. Blocking.
    ///
    /// # Errors
    /// Why the application cannot be started: it has to be confined and cannot be, or a file is in a place that is kept from it,
    /// with the setting that lets it in.
    pub(crate) fn profile(
        &self,
        home: Option<&OsStr>,
        path: &OsStr,
        files: &[String],
    ) -> Result<Option<Profile>, String> {
        if self.mode == ConfineMode::Off {
            return Ok(None);
        }
        let Some(bubblewrap) = find_program("bwrap", path, Path::new("")).filter(|file| works(file)) else {
            return match self.mode {
                ConfineMode::Required => Err("it has to be confined (`desktop.confine`), and `bwrap` is not installed or \
                                              cannot make mounts here: install bubblewrap, or set it to \"if_possible\""
                    .to_owned()),
                ConfineMode::IfPossible | ConfineMode::Off => Ok(None),
            };
        };
        let covers =
            self.covers(home.map(Path::new)).map_err(|error| format!("cannot confine it: {error}"))?;
        let profile = Profile { bubblewrap, covers };
        let plain = |file: &str| PathBuf::from(file.strip_prefix("file://").unwrap_or(file));
        match files.iter().find_map(|file| profile.hides(&plain(file))) {
            Some(place) => Err(format!(
                "it cannot see {}, where secrets are kept; to let applications in, add it to `desktop.allow`",
                place.display()
            )),
            None => Ok(Some(profile)),
        }
    }

    fn covers(&self, home: Option<&Path>) -> io::Result<Vec<(PathBuf, Cover)>> {
        let in_home = |path: &Path| match (path.strip_prefix("~"), home) {
            (Ok(below), Some(home)) => home.join(below),
            (Ok(_) | Err(_), _) => path.to_owned(),
        };
        let allowed: Vec<PathBuf> =
            self.allow.iter().filter_map(|path| in_home(path).canonicalize().ok()).collect();
        let mut covers = Vec::new();
        let mut cover = |path: &Path, how: Cover| {
            // What does not exist cannot be covered, and is no secret.
            if let Ok(real) = path.canonicalize()
                && !covers.iter().any(|(known, _)| *known == real)
            {
                covers.push((real, how));
            }
        };
        SYSTEM.iter().for_each(|path| cover(Path::new(path), Cover::ReadOnly));
        let ours = self.read_only.iter().map(|path| (path, Cover::ReadOnly));
        for (path, how) in ours.chain(self.hidden.iter().map(|path| (path, Cover::Hidden))) {
            // If it were missing, an application could make it.
            if !path.exists() {
                fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
            }
            cover(path, how);
        }
        for secret in home.into_iter().flat_map(|home| SECRETS.iter().map(|secret| home.join(secret))) {
            let is_allowed = secret.canonicalize().is_ok_and(|real| allowed.contains(&real));
            if !is_allowed {
                cover(&secret, Cover::Hidden);
            }
        }
        // An outer mount would hide an inner one that was made before it.
        covers.sort_by_key(|(path, _)| path.components().count());
        Ok(covers)
    }
}

impl Profile {
    /// The program that makes the mounts and starts the application.
    pub(crate) fn program(&self) -> &Path {
        &self.bubblewrap
    }

    /// Its arguments, followed by the application and the application's own.
    pub(crate) fn arguments(&self, superuser: bool) -> Vec<OsString> {
        let mut all: Vec<OsString> = BASE.map(OsString::from).to_vec();
        if superuser {
            all.extend(["--cap-drop", "ALL"].map(OsString::from));
            all.extend(KEPT_PRIVILEGES.iter().flat_map(|name| ["--cap-add".into(), name.into()]));
        }
        for (path, how) in &self.covers {
            let path = path.as_os_str();
            let options: Vec<&OsStr> = match how {
                Cover::ReadOnly => vec![OsStr::new("--ro-bind"), path, path],
                Cover::Hidden if Path::new(path).is_dir() => {
                    vec![OsStr::new("--tmpfs"), path, OsStr::new("--remount-ro"), path]
                }
                Cover::Hidden => vec![OsStr::new("--ro-bind"), OsStr::new("/dev/null"), path],
            };
            all.extend(options.into_iter().map(OsStr::to_owned));
        }
        all.push("--".into());
        all
    }

    /// The hidden place that a file is in.
    fn hides(&self, file: &Path) -> Option<&Path> {
        let real = file.canonicalize().ok()?;
        let covers = self.covers.iter().filter(|(_, how)| *how == Cover::Hidden);
        covers.map(|(path, _)| path.as_path()).find(|path| real.starts_with(path))
    }
}

/// Whether this bubblewrap can make mounts here.
fn works(bubblewrap: &Path) -> bool {
    let options = BASE.into_iter().chain(["--"]).map(OsStr::new);
    succeeds(bubblewrap, options.chain([bubblewrap.as_os_str(), "--version".as_ref()]))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Output};

    use super::*;

    /// A home folder with secrets, documents, and files of ours.
    struct Home(tempfile::TempDir);

    impl Home {
        fn new() -> Self {
            let home = Self(tempfile::tempdir().unwrap());
            for name in [".ssh/id", ".netrc", ".config/own/config.toml", "state/journal", "Documents/letter"]
            {
                fs::create_dir_all(home.path(name).parent().unwrap()).unwrap();
                fs::write(home.path(name), "the content").unwrap();
            }
            home
        }

        fn path(&self, below: &str) -> PathBuf {
            self.0.path().join(below)
        }

        fn confine(&self) -> Confine {
            Confine {
                mode: ConfineMode::Required,
                hidden: vec![self.path(".config/own"), self.path(".config/missing")],
                read_only: vec![self.path("state"), self.path("state/missing")],
                ..Confine::default()
            }
        }

        fn profile(&self, confine: &Confine, files: &[String]) -> Result<Option<Profile>, String> {
            confine.profile(Some(self.0.path().as_os_str()), &std::env::var_os("PATH").unwrap(), files)
        }

        /// Runs a script in a profile, in the home folder.
        fn run(&self, profile: &Profile, script: &str) -> Output {
            Command::new(profile.program())
                .args(profile.arguments(rustix::process::geteuid().is_root()))
                .args(["/bin/sh", "-c", script])
                .current_dir(self.0.path())
                .output()
                .unwrap()
        }
    }

    /// A home folder and its profile; none without bubblewrap.
    fn confined() -> Option<(Home, Profile)> {
        let home = Home::new();
        let if_possible = Confine { mode: ConfineMode::IfPossible, ..home.confine() };
        let profile = home.profile(&if_possible, &[]).unwrap()?;
        Some((home, profile))
    }

    #[test]
    fn secrets_and_our_own_files_are_out_of_reach() {
        let Some((home, profile)) = confined() else { return };
        let script = "cat .ssh/id .netrc .config/own/config.toml; ls .ssh; echo x >> .ssh/new; echo x >> .netrc; \
                      echo x >> .config/own/config.toml; mkdir .config/missing/x; \
                      echo x > state/missing/x; rmdir state/missing; echo x >> state/journal; rm state/journal; \
                      mv .ssh moved; rm -r .config/own; umount .ssh; cat state/journal";
        let output = home.run(&profile, script);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "the content");
        for name in [".ssh/id", ".netrc", ".config/own/config.toml", "state/journal"] {
            assert_eq!(fs::read_to_string(home.path(name)).unwrap(), "the content", "{name}");
        }
        for name in [".ssh/new", ".config/missing/x", "state/missing/x"] {
            assert!(!home.path(name).exists(), "{name}");
        }
        assert!(home.path("state/missing").exists());
    }

    #[test]
    fn documents_are_opened_saved_and_created_anywhere_else() {
        let Some((home, profile)) = confined() else { return };
        let script = "set -e; echo more >> Documents/letter; echo lock > '.~lock.letter#'; cat '.~lock.letter#'; rm '.~lock.letter#'; \
                      echo new > new; mv new renamed; mkdir -p .config/editor; echo 1 > .config/editor/settings; echo ok";
        let output = home.run(&profile, script);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "lock\nok\n", "{output:?}");
        assert_eq!(fs::read_to_string(home.path("Documents/letter")).unwrap(), "the contentmore\n");
        assert_eq!(fs::read_to_string(home.path("renamed")).unwrap(), "new\n");
    }

    #[test]
    fn the_system_is_read_only() {
        let Some((home, profile)) = confined() else { return };
        let output = home.run(
            &profile,
            "touch /etc/deskhand-test /usr/deskhand-test; cat /etc/passwd > /dev/null && echo read",
        );
        assert_eq!(String::from_utf8_lossy(&output.stdout), "read\n");
        assert!(!Path::new("/etc/deskhand-test").exists() && !Path::new("/usr/deskhand-test").exists());
    }

    #[test]
    fn a_hidden_document_is_named_with_the_setting_that_lets_it_in() {
        let Some((home, _)) = confined() else { return };
        let file = home.path(".ssh/id").display().to_string();
        let refused = home.profile(&home.confine(), std::slice::from_ref(&file)).unwrap_err();
        assert!(refused.contains(".ssh") && refused.contains("desktop.allow"), "{refused}");
        let allowed = Confine { allow: vec!["~/.ssh".into()], ..home.confine() };
        let profile = home.profile(&allowed, &[file]).unwrap().unwrap();
        let output = home.run(&profile, "cat .ssh/id; cat .netrc");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "the content");
    }

    #[test]
    fn without_bubblewrap_the_mode_decides() {
        let home = Home::new();
        let with = |mode: ConfineMode| {
            let confine = Confine { mode, ..home.confine() };
            confine.profile(None, OsStr::new("/no-such-folder"), &[])
        };
        assert!(with(ConfineMode::Required).unwrap_err().contains("install bubblewrap"));
        assert_eq!(with(ConfineMode::IfPossible), Ok(None));
        assert_eq!(with(ConfineMode::Off), Ok(None));
    }
}
