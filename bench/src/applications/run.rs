//! One application: it is started on a desktop of its own, and each column is tried and judged.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    client::{CALL_MAX, Called, Client},
    documents::{Document, KEPT, LINE},
    models,
    programs::{List, Program, Save, Where},
    row::{Cell, Column, Row},
    screen::{Listing, Screen},
};
use xtask::console;

/// How long a field may take to show, in seconds.
const PAGE_SECONDS: u32 = 8;
/// Files in which a text is not found as it is.
const BINARY: [&str; 4] = [".xcf", ".png", ".ods", ".odt"];
/// The fewest elements of a window that can be worked in.
const ELEMENTS_MIN: usize = 3;
/// The fewest elements of a dialog: what it says, and its button.
const DIALOG_ELEMENTS_MIN: usize = 2;
/// The buttons that close a dialog.
const CLOSING: [&str; 4] = ["Close", "OK", "Dismiss", "Cancel"];
/// How soon after the window its elements have to be there, or after it showed anything: what is blank has none.
const FIRST_ELEMENTS_MAX: Duration = Duration::from_millis(1_500);

/// An application at work.
struct Stage<'a> {
    program: &'a Program,
    home: TempDir,
    client: Client,
    screen: Screen,
    window: String,
    row: Row,
    trace: bool,
}

/// Tries an application, for a user who has pulled these models.
pub(super) fn run(program: &Program, binary: &Path, models: Option<&Path>, trace: bool) -> Row {
    let row = Row::new(program);
    match start(program, binary, models, row.clone()) {
        Ok(mut stage) => {
            stage.trace = trace;
            if let Err(error) = stage.columns() {
                stage.broken(&format!("{error:#}"));
            }
            stage.end()
        }
        Err(error) => row.with(Column::Found, Cell::Fails(format!("{error:#}"))),
    }
}

fn start<'a>(program: &'a Program, binary: &Path, models: Option<&Path>, row: Row) -> Result<Stage<'a>> {
    let home = models::home(models)?;
    let work = home.path().join("work");
    fs::create_dir(&work).context("make a folder")?;
    program.opens.make(&work)?;
    let mut client = Client::start(binary, home.path())?;
    let task = format!("Work in {} with the files in {}", program.asked, work.display());
    client.call("start_desktop", &json!({"task": task}))?;
    let screen = Screen::of(home.path())?;
    Ok(Stage { program, home, client, screen, window: String::new(), row, trace: false })
}

impl Stage<'_> {
    fn columns(&mut self) -> Result<()> {
        if !self.found()? {
            return Ok(());
        }
        self.menus()?;
        self.text_and_save()?;
        self.lists()
    }

    fn work(&self) -> PathBuf {
        self.home.path().join("work")
    }

    fn document(&self) -> Option<PathBuf> {
        self.program.opens.file_name().map(|name| self.work().join(name))
    }

    fn set(&mut self, column: Column, cell: Cell) {
        self.row.set(column, cell);
    }

    /// A call failed in a way that nothing else can be tried after.
    fn broken(&mut self, why: &str) {
        if why.contains("no answer to") {
            self.row.hangs += 1;
        }
        self.row.fail_untried(why);
    }

    /// Starts it by its name, and waits for its first elements.
    fn found(&mut self) -> Result<bool> {
        let files: Vec<PathBuf> = self.document().into_iter().collect();
        let opened = self.timed("open", &json!({"application": self.program.asked, "files": files}))?;
        let runs = self.screen.runs(self.program.process);
        let shows = self.screen.comes(|titles| !titles.is_empty());
        if opened.failed || !runs || !shows {
            let why = if opened.failed { results(&opened.text) } else { "it does not run".to_owned() };
            self.set(Column::Found, Cell::Fails(why));
            self.row.fail_untried("it did not start");
            return Ok(false);
        }
        self.set(Column::Found, Cell::Works);
        self.window = opened_window(&opened.text).context("find its window in what was said")?;
        let window = self.screen.last_window();
        let mut looked = self.look(&self.window.clone())?;
        if looked.failed {
            // A window that greets has the focus and keeps it, or what was opened has gone.
            let listed = self.timed("windows", &json!({}))?.text;
            let other = active_window(&listed).context("find a window")?;
            looked = self.look(&other)?;
        }
        self.first_elements(&looked, window.as_ref());
        self.greetings()?;
        Ok(true)
    }

    /// Judges when the first elements were there: those of this look, or those that a window had while `open` waited.
    fn first_elements(&mut self, looked: &Called, window: Option<&Listing>) {
        let since =
            |at: Instant| window.map(|one| at.saturating_duration_since(one.came)).unwrap_or_default();
        let ready = since(Instant::now());
        let exposed = window.and_then(|one| self.client.elements_since(one.came));
        let first = exposed.map_or(ready, |at| since(at).min(ready));
        let blank = window.map(|one| self.screen.was_blank(one)).unwrap_or_default().min(first);
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        (self.row.first_ms, self.row.ready_ms, self.row.blank_ms) =
            (Some(ms(first)), Some(ms(ready)), ms(blank));
        self.row.read_from_picture = looked.text.contains("by ocr");
        let count = elements(&looked.text);
        let cell = if count < ELEMENTS_MIN {
            Cell::Fails(format!("{count} elements"))
        } else if first.saturating_sub(blank) > FIRST_ELEMENTS_MAX {
            self.row.slow = true;
            let blank = match blank.is_zero() {
                true => String::new(),
                false => format!(", which was blank for {:.1} s", blank.as_secs_f64()),
            };
            Cell::Fails(format!("{:.1} s after its window{blank}", first.as_secs_f64()))
        } else {
            Cell::Works
        };
        self.set(Column::First, cell);
    }

    /// Leaves the windows that come at a first start, and finds the one to work in.
    fn greetings(&mut self) -> Result<()> {
        for (key, title) in self.program.first {
            let shows = |titles: &[String]| titles.iter().any(|one| one.contains(title));
            if !self.screen.comes(shows) {
                continue;
            }
            self.find_window()?;
            let listed = self.timed("windows", &json!({}))?.text;
            let named = format!("window \"{title}");
            let greeting = listed.lines().find(|line| line.contains(&named)).unwrap_or_default();
            let id = windows(greeting).into_iter().next().unwrap_or_default();
            let looked = self.look(&self.window.clone())?;
            let mut shown = section(&looked.text, &id).to_owned();
            let window = if shown.is_empty() { id } else { self.window.clone() };
            if shown.is_empty() {
                shown = self.look(&window)?.text;
            }
            match button_of(&shown, key).or_else(|| closing_button(&shown)) {
                Some(id) => self.act_in(&window, "click_element", &json!({"id": id}))?,
                None => self.act_in(&window, "press_keys", &json!({"keys": key}))?,
            };
            self.screen.comes(|titles| !shows(titles));
        }
        self.find_window()
    }

    /// Takes another window if the one to work in has gone: it told of the start.
    fn find_window(&mut self) -> Result<()> {
        // The next one may be still to come.
        self.screen.comes(|titles| !titles.is_empty());
        let listed = self.timed("windows", &json!({}))?.text;
        if !windows(&listed).contains(&self.window) {
            let main = listed.lines().find(|line| line.starts_with("- [w") && !line.contains("dialog"));
            self.window = windows(main.unwrap_or(&listed)).into_iter().next().context("find its window")?;
        }
        Ok(())
    }

    /// Opens a dialog from a menu, reads it, and closes it.
    fn menus(&mut self) -> Result<()> {
        if self.program.menu.is_empty() {
            return Ok(());
        }
        let before = self.screen.titles();
        let listed = windows(&self.timed("windows", &json!({}))?.text);
        let done = match self.row.read_from_picture {
            false => self.act("visit", &json!({"path": self.program.menu}))?,
            true => self.press_words(self.program.menu)?,
        };
        let opened = self.screen.comes(|titles| titles.len() > before.len());
        self.judge(Column::Menus, &done, opened);
        if !opened {
            self.set(Column::Dialogs, Cell::Fails("none opened".to_owned()));
            self.act("press_keys", &json!({"keys": "Escape", "times": 2}))?;
            return Ok(());
        }
        let now = windows(&self.timed("windows", &json!({}))?.text);
        let dialog = now.into_iter().rev().find(|id| !listed.contains(id));
        let Some(dialog) = dialog else {
            self.set(Column::Dialogs, Cell::Fails("it is not listed".to_owned()));
            return Ok(());
        };
        // It is shown with the window that it belongs to, if it belongs to one; to look at that would bring it to the front.
        let mut shown = section(&done.text, &dialog).to_owned();
        let alone = shown.is_empty();
        if alone {
            shown = self.look(&dialog)?.text;
        }
        let count = elements(&shown);
        let window = if alone { dialog } else { self.window.clone() };
        let done = match closing_button(&shown) {
            Some(id) => self.act_in(&window, "click_element", &json!({"id": id}))?,
            None => self.act_in(&window, "press_keys", &json!({"keys": "Escape"}))?,
        };
        let closed = self.screen.comes(|titles| titles.len() <= before.len());
        if count < DIALOG_ELEMENTS_MIN {
            self.set(Column::Dialogs, Cell::Fails(format!("{count} elements")));
        } else {
            self.judge(Column::Dialogs, &done, closed);
        }
        if !closed {
            self.act_in(&window, "press_keys", &json!({"keys": "Escape"}))?;
        }
        Ok(())
    }

    /// Clicks words that are only drawn, one after the other.
    fn press_words(&mut self, words: &[&str]) -> Result<Called> {
        let mut done = self.timed("windows", &json!({}))?;
        for word in words {
            let looked = self.look(&self.window.clone())?;
            let Some(id) = element_of(&looked.text, word) else {
                done.text = format!("1. click_element: refused\n1. no word {word:?} is read");
                return Ok(done);
            };
            done = self.act("click_element", &json!({"id": id}))?;
        }
        Ok(done)
    }

    fn lists(&mut self) -> Result<()> {
        let (item, opens) = match self.program.list {
            List::None => return Ok(()),
            List::Shows(item) => (item, None),
            List::Opens(item, title) => (item, Some(title)),
        };
        let looked = self.look(&self.window.clone())?;
        let Some(id) = element_of(&looked.text, item) else {
            self.set(Column::Lists, Cell::Fails(format!("{item:?} is not listed")));
            return Ok(());
        };
        let Some(title) = opens else {
            let done = self.act("click_element", &json!({"id": id}))?;
            let cell = match verdict(&done.text) {
                "refused" | "failed" => Cell::Fails(results(&done.text)),
                _ => Cell::Works,
            };
            self.set(Column::Lists, cell);
            return Ok(());
        };
        let done = self.act("click_element", &json!({"id": id, "count": 2}))?;
        let opened = self.screen.comes(|titles| titles.iter().any(|one| one.contains(title)));
        self.judge(Column::Lists, &done, opened);
        Ok(())
    }

    fn text_and_save(&mut self) -> Result<()> {
        let typed = match self.program.text {
            Where::No => None,
            Where::Focused => Some(self.act("type_text", &json!({"text": self.program.types}))?),
            Where::In { role, name } => {
                let id =
                    if name.is_empty() { json!({"role": role}) } else { json!({"role": role, "name": name}) };
                // What a page shows comes after its window.
                if !name.is_empty() {
                    self.act("wait_for", &json!({"name": name, "seconds": PAGE_SECONDS}))?;
                }
                Some(self.act("type_text", &json!({"text": self.program.types, "id": id}))?)
            }
        };
        let written = |file: &Path| fs::metadata(file).and_then(|about| about.modified()).ok();
        let before = self.document().as_deref().and_then(written);
        let saved = match self.program.save {
            Save::No => None,
            Save::Same => Some((self.act("save", &json!({}))?, self.document().unwrap_or_default())),
            Save::Keys(keys) => {
                Some((self.act("press_keys", &json!({"keys": keys}))?, self.document().unwrap_or_default()))
            }
            Save::As(name) => {
                let file = self.work().join(name);
                Some((self.act("save_as", &json!({"path": file}))?, file))
            }
        };
        // What is written as something else than text is there or not.
        let shows_text = |file: &Path| !BINARY.iter().any(|end| file.to_string_lossy().ends_with(end));
        let has = |file: &Path, text: &str| content(file).is_some_and(|content| content.contains(text));
        if let Some((done, file)) = &saved {
            // Whether it has what was typed is the question of the other column.
            let truth = self.screen.within(|| written(file).is_some() && written(file) != before);
            self.judge(Column::Save, done, truth);
            let begun_with =
                !matches!(self.program.save, Save::As(_)) && self.program.opens == Document::Text;
            self.row.destroyed += usize::from(begun_with && !has(file, LINE));
        }
        if let Some(done) = &typed {
            let truth = match &saved {
                Some((_, file)) if shows_text(file) => has(file, self.program.types.trim()),
                Some(_) | None => self.copies(self.program.types.trim())?,
            };
            self.judge(Column::Text, done, truth);
        }
        Ok(())
    }

    /// Whether the focused text has a word: it is copied, and another program reads the clipboard.
    fn copies(&mut self, word: &str) -> Result<bool> {
        self.act("press_keys", &json!({"keys": self.program.copies}))?;
        let read = || {
            let output = Command::new("xclip")
                .args(["-selection", "clipboard", "-o"])
                .envs(self.screen.variables())
                .stderr(Stdio::null())
                .output();
            output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(word))
        };
        Ok(self.screen.within(read))
    }

    /// Compares a verdict with what is true.
    fn judge(&mut self, column: Column, done: &Called, truth: bool) {
        let verdict = verdict(&done.text);
        match (verdict, truth) {
            ("seen", true) => self.set(column, Cell::Works),
            (_, true) => {
                self.set(column, Cell::Works);
                self.row.missed.push(format!("{}: {verdict}, and it was done", column.word()));
            }
            ("seen", false) => {
                let why = results(&done.text);
                self.row.false_seen.push(format!("{}: {why}", column.word()));
                self.set(column, Cell::Fails("said to be done, and was not".to_owned()));
            }
            (_, false) => self.set(column, Cell::Fails(results(&done.text))),
        }
    }

    fn look(&mut self, window: &str) -> Result<Called> {
        self.timed("look", &json!({"window": window}))
    }

    fn act(&mut self, tool: &str, arguments: &Value) -> Result<Called> {
        let window = self.window.clone();
        self.act_in(&window, tool, arguments)
    }

    fn act_in(&mut self, window: &str, tool: &str, arguments: &Value) -> Result<Called> {
        self.timed("act", &json!({"window": window, "actions": [{"tool": tool, "arguments": arguments}]}))
    }

    fn timed(&mut self, tool: &str, arguments: &Value) -> Result<Called> {
        let called = self.client.call(tool, arguments)?;
        self.row.hangs += usize::from(called.took > CALL_MAX / 2 || called.text.contains("does not answer"));
        if self.trace {
            let took = called.took.as_millis();
            console::progress(&format!("{tool} {arguments} ({took} ms)\n{}\n", called.text));
        }
        Ok(called)
    }

    fn end(mut self) -> Row {
        let kept = fs::read_to_string(self.work().join(KEPT)).is_ok_and(|text| text == LINE);
        self.row.destroyed += usize::from(!kept);
        if self.client.call("end_desktop", &json!({})).is_err() {
            self.row.hangs += 1;
        }
        self.row
    }
}

/// The number of elements that a look lists.
fn elements(text: &str) -> usize {
    ids(text).count()
}

/// The ids of elements in a text, each with what it is.
fn ids(text: &str) -> impl Iterator<Item = (&str, &str)> {
    // Small ones share a line.
    text.lines().flat_map(|line| line.split(" | ")).filter_map(|part| {
        let (_, rest) = part.split_once("[e")?;
        let (digits, what) = rest.split_once(']')?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then_some((digits, what))
    })
}

/// The element that has a name, else one that has it among more.
fn element_of(text: &str, name: &str) -> Option<String> {
    let quoted = format!("\"{name}\"");
    let exact = ids(text).find(|(_, what)| what.contains(&quoted));
    exact.or_else(|| ids(text).find(|(_, what)| what.contains(name))).map(|(id, _)| format!("e{id}"))
}

/// The element of a button, or a drawn word, that closes a dialog.
fn closing_button(text: &str) -> Option<String> {
    CLOSING.iter().find_map(|name| button_of(text, name))
}

fn button_of(text: &str, name: &str) -> Option<String> {
    let quoted = format!("\"{name}\"");
    let fits = |what: &&str| {
        what.contains("push button") || what.contains("drawn text") || what.trim().starts_with('"')
    };
    ids(text).find(|(_, what)| fits(what) && what.contains(&quoted)).map(|(id, _)| format!("e{id}"))
}

/// What is in a file, unpacked if it is packed; `None` if it is not there.
fn content(file: &Path) -> Option<String> {
    let output = Command::new("zcat").arg("-f").arg(file).stderr(Stdio::null()).output().ok()?;
    file.is_file().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The ids of the windows that are listed, bottom-most first.
fn windows(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("- [w"));
    lines.filter_map(|rest| rest.split_once(']')).map(|(number, _)| format!("w{number}")).collect()
}

/// The window that was opened, else the one that has the focus.
fn opened_window(text: &str) -> Option<String> {
    let said = text.lines().find_map(|line| line.strip_prefix("1. ")?.split_once(" opened w"));
    let number: Option<String> =
        said.map(|(_, rest)| rest.chars().take_while(char::is_ascii_digit).collect());
    let opened = number.map(|number| format!("w{number}")).filter(|id| windows(text).contains(id));
    opened.or_else(|| active_window(text))
}

/// The window that has the focus, else the last one.
fn active_window(text: &str) -> Option<String> {
    let mut active = text.lines().filter(|line| line.contains("(active"));
    active.find_map(|line| windows(line).pop()).or_else(|| windows(text).pop())
}

/// What is shown of one of several windows.
fn section<'t>(text: &'t str, window: &str) -> &'t str {
    let head = format!("- [{window}]");
    let Some(at) = text.find(&head) else { return "" };
    let rest = text.get(at + head.len()..).unwrap_or_default();
    rest.split("\n- [w").next().unwrap_or_default()
}

/// The verdict on the only action of a call: `1. visit: seen`.
fn verdict(text: &str) -> &str {
    let line = text.lines().find_map(|line| line.strip_prefix("1. ")).unwrap_or_default();
    line.rsplit_once(": ").map_or("failed", |(_, verdict)| verdict)
}

/// What was said of the first action, on one line and in brief.
fn results(text: &str) -> String {
    let said = text.lines().filter_map(|line| line.strip_prefix("1. ")).nth(1);
    let said = said.or_else(|| text.lines().next()).unwrap_or_default();
    said.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_says_is_read() {
        let text = "1. visit: not seen\n<untrusted>\n1. menu item \"About\": nothing changed\n</untrusted>\n\
                    Window w2 shows:\n[e4] push button \"Close\"\n  [e5] label \"Close it\" | [e6] \"x\"\n";
        assert_eq!(verdict(text), "not seen");
        assert_eq!(results(text), "menu item \"About\": nothing changed");
        assert_eq!(elements(text), 3);
        assert_eq!(element_of(text, "Close").as_deref(), Some("e4"));
        assert_eq!(element_of(text, "Close it").as_deref(), Some("e5"));
        let listed =
            "- [w1] window \"a\" of A\n- [w3] window \"b\" of A (active, dialog)\n- [w4] window \"c\" of B\n";
        assert_eq!(windows(listed), ["w1", "w3", "w4"]);
        assert_eq!(opened_window(listed).as_deref(), Some("w3"));
        let said = format!("1. launch_application: seen\n1. A opened w1 “a”\n{listed}");
        assert_eq!(opened_window(&said).as_deref(), Some("w1"));
        let shown = "- [w1] window \"a\"\n[e1] label \"x\"\n- [w2] window \"b\"\n[e2] icon\n[e3] icon\n";
        assert_eq!((elements(section(shown, "w2")), section(shown, "w7")), (2, ""));
    }
}
