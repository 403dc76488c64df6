//! What happened: files, what the server of the pages was asked for, the logs of stages. Shares no code with the product.

use std::{fs, io::Read as _, path::Path};

use regex::Regex;

use super::{Failure, case::Effect, mind::Mind, terminal::Screen, world::World};

/// Whether the effect of a case has happened.
///
/// `player` is the log of the second player's program.
pub(crate) fn sees(
    effect: &Effect,
    world: &World,
    mind: &Mind,
    screen: &Screen,
    player: Option<&Path>,
) -> Result<bool, Failure> {
    let mut seen = Vec::new();
    let home = world.home();
    if !effect.file.is_empty() {
        let path = home.join(mind.filled(&effect.file));
        let bytes = fs::read(&path);
        let content =
            bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default();
        seen.push(fs::symlink_metadata(&path).is_ok());
        if !effect.holds.is_empty() {
            seen.push(content.contains(&mind.filled(&effect.holds)));
        }
        if !effect.lacks.is_empty() {
            seen.push(!content.contains(&mind.filled(&effect.lacks)));
        }
        if !effect.content.is_empty() {
            let content = content_of(&path).unwrap_or_default();
            seen.push(Regex::new(&mind.filled(&effect.content))?.is_match(&content));
        }
    }
    if !effect.gone.is_empty() {
        seen.push(fs::symlink_metadata(home.join(mind.filled(&effect.gone))).is_err());
    }
    if !effect.visited.is_empty() {
        let pattern = Regex::new(&mind.filled(&effect.visited))?;
        seen.push(world.web.visits.all().iter().any(|visit| pattern.is_match(visit)));
    }
    if !effect.tree.is_empty() {
        let pattern = Regex::new(&mind.filled(&effect.tree_holds))?;
        let files = files_below(&home.join(mind.filled(&effect.tree)));
        seen.push(files.iter().any(|file| pattern.is_match(file)));
    }
    if !effect.journal.is_empty() {
        let pattern = Regex::new(&mind.filled(&effect.journal))?;
        seen.push(journals(home).iter().any(|journal| journal.lines().any(|line| pattern.is_match(line))));
    }
    if !effect.stage.is_empty() {
        let file = world.stages().join(format!("{}.log", effect.stage));
        let log = fs::read_to_string(player.filter(|_| effect.stage == "player").unwrap_or(&file));
        let log = log.unwrap_or_default();
        let pattern = Regex::new(&mind.filled(&effect.logs))?;
        seen.push(log.lines().any(|line| pattern.is_match(line)));
    }
    if effect.prompt_over > 0 {
        seen.push(mind.longest > effect.prompt_over);
    }
    if !effect.model_sees.is_empty() {
        seen.push(mind.was_shown(&mind.filled(&effect.model_sees)));
    }
    if !effect.screen.is_empty() {
        let pattern = Regex::new(&mind.filled(&effect.screen))?;
        seen.push(screen.lines().any(|line| pattern.is_match(&line)));
    }
    if seen.is_empty() {
        return Err("the case has no effect to look for".into());
    }
    Ok(seen.into_iter().all(|one| one))
}

/// The files below a folder, each as its path and content.
fn files_below(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
            files.extend(files_below(&path));
        } else if fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
            let content = fs::read(&path).unwrap_or_default();
            files.push(format!("{}: {}", path.display(), String::from_utf8_lossy(&content)));
        }
    }
    files
}

/// The journals of all sessions of a user, as they are on the disk.
fn journals(home: &Path) -> Vec<String> {
    let sessions = fs::read_dir(home.join(".local/state/deskhand/sessions")).into_iter().flatten().flatten();
    sessions.filter_map(|session| fs::read_to_string(session.path().join("journal.jsonl")).ok()).collect()
}

/// The content of an OpenDocument file.
fn content_of(path: &Path) -> Option<String> {
    let mut archive = zip::ZipArchive::new(fs::File::open(path).ok()?).ok()?;
    let mut text = String::new();
    archive.by_name("content.xml").ok()?.read_to_string(&mut text).ok()?;
    Some(text)
}
