//! Files outside of the home folder that not everybody may read: the tools for files read one only if the user named it, or a rule or a
//! person allowed it. Whoever runs a session may have more rights than its user means to lend to agents.

use std::{
    fs::{self, Metadata},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_machine::{
    command::ToolCommand,
    intent::{CommandAim, Does},
    policy::{PathRoots, Policy, PolicyDecision, Subject, ValueKind, ValueOrigin},
};

/// The longest that a file system may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// The tools that read the first file that they name and write another one.
const READ_FIRST: [&str; 2] = ["unpack_archive", "move_file"];

/// Refuses a command that reads such a file.
///
/// # Errors
/// Why it is refused, and what to do.
pub(super) async fn admit(command: &ToolCommand, policy: &Policy, places: &PathRoots) -> Result<(), String> {
    let files = read_by(command, places);
    if files.is_empty() || is_allowed(command, policy, places) {
        return Ok(());
    }
    let places = places.clone();
    let look = tokio::task::spawn_blocking(move || files.iter().find_map(|file| private(file, &places)));
    let Ok(Ok(found)) = tokio::time::timeout(ANSWER_MAX, look).await else {
        return Err("not run: the file system does not answer".to_owned());
    };
    let Some(Private { path, mode, owner }) = found else { return Ok(()) };
    Err(format!(
        "not run: `{}` is outside of the home folder and not everybody may read it (mode {mode:04o}, owner {owner}); name it in the \
         request, or allow it by a rule for this tool and path",
        path.display()
    ))
}

/// The files that a command reads and that the user has not named.
fn read_by(command: &ToolCommand, places: &PathRoots) -> Vec<String> {
    let files = command.intent.aims.iter();
    let files =
        files.filter_map(|aimed| if let CommandAim::Files { files } = aimed { Some(files) } else { None });
    let most = if matches!(command.intent.does, Does::Read | Does::Open) {
        usize::MAX
    } else {
        usize::from(READ_FIRST.contains(&command.tool.as_str()))
    };
    let named = |path: &String| {
        let mut values = command.judged.iter().flat_map(|judged| &judged.values);
        values.any(|one| one.kind == ValueKind::Path && one.text == *path && one.origin == ValueOrigin::User)
    };
    let paths = files.flatten().take(most).filter_map(|file| places.absolute(file));
    paths.filter(|path| !named(path)).collect()
}

/// Returns `true` if a person approved the command, or a rule allows it.
fn is_allowed(command: &ToolCommand, policy: &Policy, places: &PathRoots) -> bool {
    let ruling = policy.decide(&Subject::led(command, places, &|_| None));
    let is_ruled = ruling.decision == PolicyDecision::Allow && !ruling.why.is_empty();
    is_ruled || command.judged.as_ref().is_some_and(|judged| judged.approved)
}

/// A file that not everybody may read.
struct Private {
    path: PathBuf,
    mode: u32,
    owner: u32,
}

/// Returns the restriction that keeps others from a file. `None` if there is none, or the file is the user's own
/// or in the folder where the session works. Blocking.
fn private(file: &str, places: &PathRoots) -> Option<Private> {
    let path = Path::new(file).canonicalize().ok()?;
    let is_below = |folder: &String| {
        let real = Path::new(folder).canonicalize();
        !folder.is_empty() && real.is_ok_and(|real| path.starts_with(real))
    };
    if [&places.home, &places.folder].into_iter().any(is_below) {
        return None;
    }
    let own = rustix::process::getuid();
    let found = path.ancestors().find_map(|part| {
        let metadata = fs::metadata(part).ok()?;
        let is_own = !own.is_root() && metadata.uid() == own.as_raw();
        let is_open = is_own || is_public(&metadata, part == path);
        (!is_open).then(|| (part.to_owned(), metadata.mode() & 0o7777, metadata.uid()))
    });
    found.map(|(path, mode, owner)| Private { path, mode, owner })
}

/// Returns `true` if everybody may read a file or list a folder; of a folder on the way, whether everybody may pass.
fn is_public(metadata: &Metadata, is_last: bool) -> bool {
    let wanted = match (is_last, metadata.is_dir()) {
        (true, true) => 0o005,
        (true, false) => 0o004,
        (false, _) => 0o001,
    };
    metadata.mode() & wanted == wanted
}
