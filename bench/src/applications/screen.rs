//! What the X server and the kernel say: which windows are open, since when, and which programs run. Nothing here asks the product.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};

use super::drawn::Eye;

/// How long something that an action did may take to be there.
const SHOWN_WITHIN: Duration = Duration::from_secs(5);
/// How long it is between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// The shortest time that a window counts as blank: less is the time between two looks, and what a program needs to draw.
const BLANK_MIN: Duration = Duration::from_millis(250);

impl Listed {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes when each window is first drawn, until nobody looks any more.
fn watch_drawing(eye: &Eye, listed: &Listed) {
    loop {
        let seen = listed.seen();
        if seen.ended {
            return;
        }
        let blank = |one: &&Listing| one.drawn.is_none();
        let ids: Vec<String> = seen.windows.iter().filter(blank).map(|one| one.id.clone()).collect();
        drop(seen);
        for id in &ids {
            let number = id.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok());
            if number.and_then(|number| eye.is_drawn(number)) == Some(false) {
                continue;
            }
            if let Some(one) = listed.seen().windows.iter_mut().find(|one| one.id == *id) {
                one.drawn = Some(Instant::now());
            }
        }
        drop(listed.changed.wait_timeout(listed.seen(), LOOK_AGAIN));
    }
}

/// The screen of a desktop.
pub(super) struct Screen {
    home: String,
    variables: BTreeMap<String, String>,
    spy: Child,
    listed: Arc<Listed>,
}

/// What the window manager has listed.
#[derive(Default)]
struct Listed {
    seen: Mutex<Seen>,
    /// It lists something else, or nobody looks any more.
    changed: Condvar,
}

#[derive(Default)]
struct Seen {
    /// In the order in which they were first listed.
    windows: Vec<Listing>,
    /// Nobody looks any more.
    ended: bool,
}

/// A window that was listed.
#[derive(Debug, Clone)]
pub(super) struct Listing {
    id: String,
    /// When it was first listed.
    pub(super) came: Instant,
    /// When it was first seen with more than one colour, or had gone.
    drawn: Option<Instant>,
}

impl Screen {
    /// The screen of the desktop that runs for the user with this home, found by the environment of its window manager.
    pub(super) fn of(home: &Path) -> Result<Self> {
        let home = home.to_string_lossy().into_owned();
        let variables = processes(&home)
            .into_iter()
            .map(|process| process.variables)
            .find(|variables| variables.contains_key("DISPLAY") && variables.contains_key("XAUTHORITY"))
            .context("find a process on the desktop")?;
        let mut spy = Command::new("xprop")
            .args(["-root", "-spy", "_NET_CLIENT_LIST"])
            .envs(&variables)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("start xprop")?;
        let output = BufReader::new(spy.stdout.take().context("read what xprop says")?);
        let listed = Arc::new(Listed::default());
        let noted = Arc::clone(&listed);
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let mut seen = noted.seen();
                let now = Instant::now();
                for id in ids_in(&line) {
                    if seen.windows.iter().all(|known| known.id != id) {
                        seen.windows.push(Listing { id, came: now, drawn: None });
                    }
                }
                noted.changed.notify_all();
            }
        });
        let (eye, noted) = (Eye::of(&variables)?, Arc::clone(&listed));
        thread::spawn(move || watch_drawing(&eye, &noted));
        Ok(Self { home, variables, spy, listed })
    }

    /// The variables with which programs reach it.
    pub(super) const fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    fn xprop(&self, arguments: &[&str]) -> String {
        let output =
            Command::new("xprop").args(arguments).envs(&self.variables).stderr(Stdio::null()).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
    }

    /// The titles of all windows that the window manager lists.
    pub(super) fn titles(&self) -> Vec<String> {
        let ids = ids_in(&self.xprop(&["-root", "_NET_CLIENT_LIST"]));
        let title = |id: &String| {
            let said = self.xprop(&["-id", id, "_NET_WM_NAME", "WM_NAME"]);
            let quoted = said.lines().find_map(|line| line.split_once(" = "));
            quoted.map(|(_, text)| text.trim_matches('"').to_owned()).unwrap_or_default()
        };
        ids.iter().map(title).collect()
    }

    /// The window that came last.
    pub(super) fn last_window(&self) -> Option<Listing> {
        self.listed.seen().windows.last().cloned()
    }

    /// For how long a window showed one colour alone; zero if that was too short to tell, or it still does.
    pub(super) fn was_blank(&self, window: &Listing) -> Duration {
        let seen = self.listed.seen();
        let drawn = seen.windows.iter().find(|known| known.id == window.id).and_then(|known| known.drawn);
        let blank = drawn.map_or(Duration::ZERO, |at| at.saturating_duration_since(window.came));
        if blank < BLANK_MIN { Duration::ZERO } else { blank }
    }

    /// Waits until something holds for the titles of the windows; `false` if it does not in time.
    pub(super) fn comes(&self, holds: impl Fn(&[String]) -> bool) -> bool {
        self.within(|| holds(&self.titles()))
    }

    /// Looks until something holds, again when the windows change and now and then; `false` if it does not in time.
    pub(super) fn within(&self, holds: impl Fn() -> bool) -> bool {
        let until = Instant::now() + SHOWN_WITHIN;
        while !holds() {
            if Instant::now() >= until {
                return false;
            }
            drop(self.listed.changed.wait_timeout(self.listed.seen(), LOOK_AGAIN));
        }
        true
    }

    /// Returns `true` if a program runs whose file or command line has this part.
    pub(super) fn runs(&self, part: &str) -> bool {
        processes(&self.home).iter().any(|process| process.line.contains(part))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.listed.seen().ended = true;
        self.listed.changed.notify_all();
        let _ = self.spy.kill();
        let _ = self.spy.wait();
    }
}

/// The numbers of windows in a line of xprop.
fn ids_in(line: &str) -> Vec<String> {
    let words = line.split(|c: char| c.is_whitespace() || c == ',');
    words.filter(|word| word.starts_with("0x")).map(str::to_owned).collect()
}

struct Process {
    line: String,
    variables: BTreeMap<String, String>,
}

/// The processes on desktops of the user with this home.
fn processes(home: &str) -> Vec<Process> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok) {
        let Ok(environment) = fs::read(entry.path().join("environ")) else { continue };
        let text = String::from_utf8_lossy(&environment);
        let variables: BTreeMap<String, String> = text
            .split('\0')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        if variables.get("HOME").is_some_and(|own| own == home) && variables.contains_key("DESKHAND_DESKTOP")
        {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            found.push(Process { line, variables });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_read_from_lines_of_xprop() {
        let line = "_NET_CLIENT_LIST(WINDOW): window id # 0x400003, 0x600007";
        assert_eq!(ids_in(line), ["0x400003", "0x600007"]);
        assert!(ids_in("_NET_CLIENT_LIST:  not found.").is_empty());
    }
}
