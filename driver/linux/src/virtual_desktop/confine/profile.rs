//! The mounts that an application is started with.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fs, io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use deskhand_process::{OWN_FOLDER, find_helper, succeeds};

use super::{
    places::{DOCUMENTS, NAME_SERVERS, RUN, RUN_KEPT, SECRETS, SYSTEM, of_the_user},
    settings::{Confine, ConfineMode},
    users::{KEPT_PRIVILEGES, NamespaceEntry, NamespaceHolder, Namespaces},
};
use crate::virtual_desktop::{environment::Environment, folders::desktops_folder};

/// The view of applications before anything is covered: everything, read-only. They do not end with the
/// process that starts them, which may die before its desktop does; the guard of the desktop ends them.
const BASE: [&str; 3] = ["--ro-bind", "/", "/"];
/// Of devices, those that every program needs. Root could read disks.
const DEVICES: [&str; 5] = ["--dev", "/dev", "--dev-bind-try", "/dev/dri", "/dev/dri"];
/// Processes. The kernel checks who looks into them and changes them. Settings of the kernel it lets root change.
const PROCESSES: &str = "/proc";
/// Without a namespace of users, an application could look into other processes of the user, and through them see what they see.
const OWN_USERS: &str = "--unshare-user";

/// The way a place is mounted. If there are several for one place, the first counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MountAccess {
    /// Nothing of it can be seen.
    Hidden,
    /// The place can be read.
    ReadOnly,
    /// The place can be written.
    Writable,
}

/// A place and how it is mounted.
type CoveredPlace = (PathBuf, MountAccess);

/// The surroundings in which a program is started.
pub(crate) struct SandboxEnvironment<'a> {
    /// The home folder of the user.
    pub(crate) home: Option<&'a OsStr>,
    /// Search path of programs.
    pub(crate) path: &'a OsStr,
    /// The private folder of the virtual desktop; none before there is one.
    pub(crate) private: Option<&'a Path>,
    /// The socket of its display; none if that does not run yet.
    pub(crate) display: Option<PathBuf>,
    /// The files that the program opens.
    pub(crate) files: &'a [String],
}

/// Restrictions on applications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptOut {
    /// The places they do not see.
    pub hidden: Vec<PathBuf>,
    /// The places they can write to; everything else they see is read-only.
    pub writable: Vec<PathBuf>,
}

/// The places that applications cannot see or change, as they are now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Profile {
    bubblewrap: PathBuf,
    entry: NamespaceEntry,
    /// Existing files and folders, without links, outer ones first.
    covers: Vec<CoveredPlace>,
    anchors: Vec<MountAnchor>,
}

/// A mount that fixes a folder above a hidden one in place, so that applications cannot replace it.
///
/// Linux refuses to move a folder that is a mount point in the namespace of the caller, by whatever path
/// that mount was made. So the folder is mounted on in a second view of its parent, below two mounts on the
/// hidden folder. Files are moved in and out of it as before, which a mount on its own path would prevent:
/// the trash is in `~/.local`. A namespace that an application makes for itself keeps these mounts, because
/// they are in the hidden folder: it cannot copy the parent without them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct MountAnchor {
    hidden: PathBuf,
    parent: PathBuf,
    name: OsString,
}

impl Confine {
    /// Returns the restrictions on applications that are started now, for messages; `None` if there are none.
    /// Blocking.
    ///
    /// # Errors
    /// They have to be confined and cannot be.
    pub fn kept_out(&self) -> Result<Option<KeptOut>, String> {
        let environment = Environment::of_this_process();
        let profile = self.profile(&SandboxEnvironment {
            home: environment.find("HOME"),
            path: environment.path(),
            private: None,
            display: None,
            files: &[],
        })?;
        let places = |profile: &Profile, wanted: MountAccess| -> Vec<PathBuf> {
            let covers = profile.covers.iter().filter(|(_, how)| *how == wanted);
            covers.map(|(path, _)| path.clone()).filter(|path| path != Path::new(PROCESSES)).collect()
        };
        Ok(profile.map(|profile| KeptOut {
            hidden: places(&profile, MountAccess::Hidden),
            writable: places(&profile, MountAccess::Writable),
        }))
    }

    /// The profile of a program; `None` if it is not confined. Blocking.
    ///
    /// # Errors
    /// Why the program cannot be started: it has to be confined and cannot be, or a file is in a place that is kept from it,
    /// with the setting that lets it in.
    pub(crate) fn profile(&self, surroundings: &SandboxEnvironment<'_>) -> Result<Option<Profile>, String> {
        if self.mode == ConfineMode::Off {
            return Ok(None);
        }
        let superuser = rustix::process::geteuid().is_root();
        let found = find_helper("bwrap", surroundings.path);
        let of_desktop = match surroundings.private.map(Namespaces::of_desktop) {
            Some(Ok(Some(namespaces))) => namespaces.entry(surroundings.path).map(Some),
            Some(Err(error)) => Err(error),
            Some(Ok(None)) | None => Ok(None),
        };
        let of_desktop = of_desktop.map_err(|error| format!("cannot confine it: {error}"))?;
        let found = found.and_then(|file| match of_desktop {
            Some(entry) => Some((entry, file)),
            None => Some((works(&file, superuser)?, file)),
        });
        let Some((entry, bubblewrap)) = found else {
            return match self.mode {
                ConfineMode::Required => Err("it has to be confined (`desktop.confine`), and `bwrap` is not installed or \
                                              cannot make mounts here: install bubblewrap, or set it to \"if_possible\""
                    .to_owned()),
                ConfineMode::IfPossible | ConfineMode::Off => Ok(None),
            };
        };
        let (covers, anchors) =
            self.covers(surroundings, superuser).map_err(|error| format!("cannot confine it: {error}"))?;
        let profile = Profile { bubblewrap, entry, covers, anchors };
        let hidden = surroundings.files.iter().find_map(|file| profile.hides(&plain(file)));
        match hidden {
            Some(place) => Err(format!(
                "it cannot see {}, which is kept from applications; to let them in, add it to `desktop.allow`",
                place.display()
            )),
            None => Ok(Some(profile)),
        }
    }

    fn covers(
        &self,
        surroundings: &SandboxEnvironment<'_>,
        superuser: bool,
    ) -> io::Result<(Vec<CoveredPlace>, Vec<MountAnchor>)> {
        let home = surroundings.home.map(Path::new);
        let mut all = Covers::default();
        let ours = self.read_only.iter().map(|path| (path, MountAccess::ReadOnly));
        let documents = self.documents.iter().map(|path| (path, MountAccess::Writable));
        for (path, how) in
            ours.chain(self.hidden.iter().map(|path| (path, MountAccess::Hidden))).chain(documents)
        {
            // If it were missing, an application could make it.
            if !path.exists() {
                fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
            }
            all.add(path, how);
        }
        self.programs.iter().for_each(|program| all.add(program, MountAccess::ReadOnly));
        // Of the desktops of this user, an application sees its own.
        all.add(&desktops_folder(), MountAccess::Hidden);
        SYSTEM.iter().for_each(|path| all.add(Path::new(path), MountAccess::ReadOnly));
        all.add(Path::new(PROCESSES), if superuser { MountAccess::ReadOnly } else { MountAccess::Writable });
        all.add(Path::new(RUN), MountAccess::Hidden);
        let secrets = home.into_iter().flat_map(|home| SECRETS.iter().map(|secret| home.join(secret)));
        let others = of_the_user(surroundings.private, surroundings.display.as_deref());
        let allowed = self.allow.iter().map(|path| in_home(path, home));
        let allowed: Vec<PathBuf> = allowed.filter_map(|path| path.canonicalize().ok()).collect();
        for place in secrets.chain(others) {
            if !place.canonicalize().is_ok_and(|real| allowed.contains(&real)) {
                all.add(&place, MountAccess::Hidden);
            }
        }
        let beside = surroundings.files.iter().filter_map(|file| folder_of(&plain(file)));
        // What is kept from applications stays so: the folder of a document, or of documents, cannot open it.
        let beside: Vec<PathBuf> =
            beside.filter(|folder| !all.keeps(folder) && folder.parent().is_some()).collect();
        let temporary = [std::env::temp_dir()].into_iter().filter(|folder| !all.keeps(folder));
        let home = home.filter(|home| home.parent().is_some()).map(Path::to_owned);
        let places = DOCUMENTS.iter().map(PathBuf::from).chain(temporary).chain(home.clone());
        let writable: Vec<PathBuf> =
            places.chain(beside).chain(allowed).filter_map(|folder| folder.canonicalize().ok()).collect();
        let (anchors, pinned) = self.kept_in_place(&writable);
        for folder in
            writable.iter().chain(&pinned).filter(|folder| !all.keeps(folder)).cloned().collect::<Vec<_>>()
        {
            all.add(&folder, MountAccess::Writable);
        }
        for place in RUN_KEPT.iter().chain([&NAME_SERVERS]).map(Path::new).filter(|path| is_below_run(path)) {
            all.add(place, MountAccess::ReadOnly);
        }
        for own in surroundings.private.into_iter().chain(surroundings.display.as_deref()) {
            all.add(own, MountAccess::Writable);
        }
        // What steers the desktop.
        if let Some(private) = surroundings.private {
            all.add(&private.join(OWN_FOLDER), MountAccess::Hidden);
        }
        // An outer mount would hide an inner one that was made before it.
        all.0.sort_by_key(|(path, _)| path.components().count());
        Ok((all.0, anchors))
    }

    /// The folders above ours, wherever applications can write: those above a hidden folder have an anchor in it; the others become mounts
    /// of their own.
    fn kept_in_place(&self, writable: &[PathBuf]) -> (Vec<MountAnchor>, Vec<PathBuf>) {
        let is_movable =
            |folder: &Path| writable.iter().any(|place| folder != place && folder.starts_with(place));
        let above = |path: &Path| -> Vec<PathBuf> {
            path.ancestors().skip(1).filter(|folder| is_movable(folder)).map(Path::to_owned).collect()
        };
        let real = |paths: &[PathBuf]| -> Vec<PathBuf> {
            paths.iter().filter_map(|path| path.canonicalize().ok()).collect()
        };
        let mut kept = BTreeSet::new();
        let mut anchors = Vec::new();
        for hidden in real(&self.hidden).into_iter().filter(|path| path.is_dir()) {
            for folder in above(&hidden) {
                if let (Some(parent), Some(name)) = (folder.parent(), folder.file_name())
                    && kept.insert(folder.clone())
                {
                    let (hidden, parent) = (hidden.clone(), parent.to_owned());
                    anchors.push(MountAnchor { hidden, parent, name: name.to_owned() });
                }
            }
        }
        let others =
            [&self.hidden, &self.read_only, &self.programs, &self.documents].map(|paths| real(paths));
        let pinned = others.iter().flatten().flat_map(|path| above(path));
        (anchors, pinned.filter(|folder| !kept.contains(folder)).collect())
    }
}

/// Places with how they are mounted.
#[derive(Default)]
struct Covers(Vec<CoveredPlace>);

impl Covers {
    /// Adds a place, if it exists and has none yet.
    fn add(&mut self, path: &Path, how: MountAccess) {
        // What does not exist cannot be covered, and holds nothing.
        if let Ok(real) = path.canonicalize()
            && !self.0.iter().any(|(known, _)| *known == real)
        {
            self.0.push((real, how));
        }
    }

    /// Returns `true` if a place is in one that cannot be written.
    fn keeps(&self, place: &Path) -> bool {
        self.0.iter().any(|(path, how)| *how != MountAccess::Writable && place.starts_with(path))
    }
}

/// A path of the configuration.
fn in_home(path: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(below), Some(home)) => home.join(below),
        (Ok(_) | Err(_), _) => path.to_owned(),
    }
}

/// The path of a file that may be named by its address.
fn plain(file: &str) -> PathBuf {
    PathBuf::from(file.strip_prefix("file://").unwrap_or(file))
}

/// The folder that a file is in, without links; also of one that does not exist yet.
fn folder_of(file: &Path) -> Option<PathBuf> {
    match file.canonicalize() {
        Ok(real) => real.parent().map(Path::to_owned),
        Err(_) if file.is_absolute() => file.parent()?.canonicalize().ok(),
        Err(_) => None,
    }
}

fn is_below_run(path: &Path) -> bool {
    path.canonicalize().is_ok_and(|real| real.starts_with(RUN))
}

impl Profile {
    /// The program that makes the mounts and starts the application, or starts the one that does.
    pub(crate) fn program(&self) -> &Path {
        self.entry.before.first().map_or(&self.bubblewrap, Path::new)
    }

    /// Makes the user namespaces that the programs of a desktop share, and has this program enter them, and all with a profile that is made
    /// for the same private folder from now on. Where that does not work, they do without; `None` then. Blocking.
    ///
    /// # Errors
    /// The private folder cannot be written.
    pub(crate) fn enter_new_namespaces(
        &mut self,
        private: &Path,
        path: &OsStr,
        superuser: bool,
    ) -> io::Result<Option<NamespaceHolder>> {
        let holder = match NamespaceHolder::start(private, path, superuser) {
            Ok(holder) => holder,
            Err(error) => {
                tracing::warn!(%error, "the desktop has no user namespace of its own");
                return Ok(None);
            }
        };
        let Ok(entry) = holder.namespaces().entry(path) else {
            return holder.give_up().map(|()| None);
        };
        let without = std::mem::replace(&mut self.entry, entry);
        let works = succeeds(self.program(), self.arguments(&self.bubblewrap, vec!["--version".into()]));
        if works {
            return Ok(Some(holder));
        }
        self.entry = without;
        tracing::warn!("programs cannot enter the user namespace of the desktop");
        holder.give_up().map(|()| None)
    }

    /// Its arguments that start a program with these arguments.
    pub(crate) fn arguments(&self, program: &Path, arguments: Vec<OsString>) -> Vec<OsString> {
        let NamespaceEntry { before, inside, .. } = &self.entry;
        let mut all: Vec<OsString> = before.iter().skip(1).cloned().collect();
        if !before.is_empty() {
            all.push(self.bubblewrap.clone().into());
        }
        all.extend(self.options(rustix::process::geteuid().is_root()));
        all.push("--".into());
        all.extend(inside.iter().cloned());
        all.push(program.into());
        all.extend(arguments);
        all
    }

    fn options(&self, superuser: bool) -> Vec<OsString> {
        let mut all: Vec<OsString> = BASE.into_iter().chain(DEVICES).map(OsString::from).collect();
        all.extend(self.entry.options.iter().cloned());
        if superuser {
            all.extend(["--cap-drop", "ALL"].map(OsString::from));
            all.extend(KEPT_PRIVILEGES.iter().flat_map(|name| ["--cap-add".into(), name.into()]));
        }
        let mut closed = Vec::new();
        for (path, how) in &self.covers {
            let is_folder = path.is_dir();
            let path = path.as_os_str();
            let options: Vec<&OsStr> = match how {
                MountAccess::Writable => vec![OsStr::new("--bind"), path, path],
                MountAccess::ReadOnly => vec![OsStr::new("--ro-bind"), path, path],
                MountAccess::Hidden if is_folder => {
                    closed.extend([OsStr::new("--remount-ro"), path]);
                    vec![OsStr::new("--tmpfs"), path]
                }
                MountAccess::Hidden => vec![OsStr::new("--ro-bind"), OsStr::new("/dev/null"), path],
            };
            all.extend(options.into_iter().map(OsStr::to_owned));
            all.extend(self.anchored_in(Path::new(path)));
        }
        // Once everything in them is mounted.
        all.extend(closed.into_iter().map(OsStr::to_owned));
        all
    }

    /// The options that make the anchors in a hidden folder, and cover them.
    fn anchored_in(&self, hidden: &Path) -> Vec<OsString> {
        let mut all: Vec<OsString> = Vec::new();
        for (at, anchor) in self.anchors.iter().filter(|anchor| anchor.hidden == hidden).enumerate() {
            let view = hidden.join(at.to_string());
            let folder = view.join(&anchor.name);
            all.extend(["--bind".into(), anchor.parent.clone().into(), view.into()]);
            all.extend(["--tmpfs".into(), folder.into()]);
        }
        if !all.is_empty() {
            all.extend(["--tmpfs".into(), hidden.into()]);
        }
        all
    }

    /// The hidden place that a file is in.
    fn hides(&self, file: &Path) -> Option<&Path> {
        let real = file.canonicalize().ok().or_else(|| folder_of(file))?;
        let (place, how) = self.covers.iter().rfind(|(path, _)| real.starts_with(path))?;
        (*how == MountAccess::Hidden).then_some(place)
    }
}

/// The user namespace with which this bubblewrap can make mounts here: one for each program, or ours. Root needs none of its own, and would
/// lose what it may do with files of others.
fn works(bubblewrap: &Path, superuser: bool) -> Option<NamespaceEntry> {
    let with = |options: &[&str]| {
        let options = options.iter().copied().chain(BASE).chain(DEVICES).chain(["--"]).map(OsStr::new);
        succeeds(bubblewrap, options.chain([bubblewrap.as_os_str(), "--version".as_ref()]))
    };
    if !superuser && with(&[OWN_USERS]) {
        return Some(NamespaceEntry { options: vec![OWN_USERS.into()], ..NamespaceEntry::default() });
    }
    with(&[]).then(NamespaceEntry::default)
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
