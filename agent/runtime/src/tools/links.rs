//! The files that paths lead to by links: the rules rule on these, too, just before a command runs.
//!
//! The gate judges paths as they are written and cannot look at the disk. A link that is made between this look and the moment in which the
//! application opens the file is not seen.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_machine::{
    command::ToolCommand,
    intent::CommandAim,
    policy::{PathRoots, Policy, PolicyDecision, Subject},
};

/// The most paths of a command that are followed; a command with more is refused.
const PATHS_MAX: usize = 64;
/// The most links that follow each other.
const LINKS_MAX: usize = 40;
/// The longest that a file system may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// Refuses a command whose paths lead to files that the rules do not let it reach.
///
/// # Errors
/// Why it is refused.
pub(crate) async fn follow(command: &ToolCommand, policy: &Policy, places: &PathRoots) -> Result<(), String> {
    let paths = named(command, places);
    if paths.is_empty() {
        return Ok(());
    }
    if paths.len() > PATHS_MAX {
        return Err(format!("not run: it names more than {PATHS_MAX} files"));
    }
    let home = places.home.clone();
    let work = tokio::task::spawn_blocking(move || leads(paths, &home));
    let Ok(Ok(led)) = tokio::time::timeout(ANSWER_MAX, work).await else {
        return Err("not run: the file system does not answer".to_owned());
    };
    if led.is_empty() {
        return Ok(());
    }
    let as_written = policy.decide(&Subject::led(command, places, &|_| None));
    let ruling = policy.decide(&Subject::led(command, places, &|path| led.get(path).cloned()));
    if ruling == as_written {
        return Ok(());
    }
    let links: Vec<String> = led.iter().map(|(path, file)| format!("`{path}` leads to `{file}`")).collect();
    let links = links.join(", ");
    match ruling.decision {
        PolicyDecision::Allow => Ok(()),
        PolicyDecision::Ask => Err(format!(
            "not run: {links}, and that was not approved ({}); name that file itself, so that it can be",
            ruling.why
        )),
        PolicyDecision::Deny => Err(format!("not run: {links}, which the policy denies ({})", ruling.why)),
    }
}

/// The paths of a command, with how they were judged: `..` after a link is another folder than the one that is written.
fn named(command: &ToolCommand, places: &PathRoots) -> BTreeMap<String, PathBuf> {
    let Some(judged) = &command.judged else { return BTreeMap::new() };
    let all = judged.paths.iter().chain(&judged.document);
    let mut named: BTreeMap<String, PathBuf> = all.map(|path| (path.clone(), PathBuf::from(path))).collect();
    for aimed in &command.intent.aims {
        let CommandAim::Files { files } = aimed else { continue };
        for file in files {
            if let (Some(path), Some(raw)) = (places.absolute(file), raw(file, places))
                && let Some(known) = named.get_mut(&path)
            {
                *known = raw;
            }
        }
    }
    named
}

/// A path as it is written, absolute.
fn raw(file: &str, places: &PathRoots) -> Option<PathBuf> {
    let file = file.trim();
    if file.contains("://") {
        return None;
    }
    Some(match file.strip_prefix("~/") {
        Some(rest) => Path::new(&places.home).join(rest),
        None => Path::new(&places.folder).join(file),
    })
}

/// The paths that lead elsewhere, and where.
fn leads(paths: BTreeMap<String, PathBuf>, home: &str) -> BTreeMap<String, String> {
    // A home folder that is itself behind a link is the same.
    let real_home = Path::new(home).canonicalize().ok().filter(|_| !home.is_empty());
    let mut led = BTreeMap::new();
    for (path, raw) in paths {
        let file = destination(&raw);
        let in_home = real_home.as_ref().and_then(|real| file.strip_prefix(real).ok());
        let file = in_home.map_or_else(|| file.clone(), |rest| Path::new(home).join(rest));
        let file = file.to_string_lossy().into_owned();
        if file.trim_end_matches('/') != path.trim_end_matches('/') {
            led.insert(path, file);
        }
    }
    led
}

/// The file that a path leads to; for one that is not there yet, where it would be made. One that cannot be reached is opened by nobody
/// and stays as it is.
fn destination(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        if let Ok(found) = path.canonicalize() {
            return found;
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return path };
        // A link whose file is missing: what is written there makes it.
        match path.read_link() {
            Ok(to) => path = folder.join(to),
            Err(_) => return destination_of_folder(folder).join(name),
        }
    }
    path
}

/// The folder that a path leads to, as far as it is there.
fn destination_of_folder(folder: &Path) -> PathBuf {
    let known = folder.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    match known {
        Some((part, real)) => {
            folder.strip_prefix(part).map_or_else(|_| folder.to_owned(), |rest| real.join(rest))
        }
        None => folder.to_owned(),
    }
}
