//! Text that is only drawn, read by a model: of an application that draws all, and of one in Tk with menus, lists and pop-ups. What was
//! done is told by the file that it writes.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_desktop::{Desktop, IdleWait, LaunchRequest, QuietLimits, TreeLimits};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionReport, ActionTarget, Click};
use deskhand_desktop_detect::{DetectOptions, DetectingDesktop, OcrOptions};
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_testkit::fixture::{Fixture, Screen, Toolkit};
use deskhand_ui::{
    Element, ElementQuery, ElementSource, Tree, WindowInfo,
    action::{Condition, Verdict},
    geometry::Size,
};
use serde_json::json;

use crate::{
    fixtures::{outline, request_of},
    programs::has_programs,
};

/// A window in Tk. It writes what is done to it into the file that is named to it.
const TK: &str = r#"
import sys, tkinter
from tkinter import ttk
log = open(sys.argv[1], "a", buffering=1)
window = tkinter.Tk()
window.title("Parts")
window.geometry("420x260")
status = tkinter.StringVar(value="Ready to start")
def say(words):
    log.write(words + "\n")
    status.set(words)
bar = tkinter.Menu(window)
for name, items in {"File": ["New part", "Close part"], "View": ["Zoom in", "Zoom out"]}.items():
    menu = tkinter.Menu(bar, tearoff=False)
    for item in items:
        menu.add_command(label=item, command=lambda item=item: say(item + " done"))
    bar.add_cascade(label=name, menu=menu)
window.config(menu=bar)
material = tkinter.StringVar(value="Copper")
box = ttk.Combobox(window, textvariable=material, values=["Copper", "Iron", "Nickel", "Silver"], state="readonly")
box.bind("<<ComboboxSelected>>", lambda event: (box.selection_clear(), log.write("material " + material.get() + "\n")))
box.place(x=30, y=30, width=160)
tkinter.Button(window, text="Later", command=lambda: window.after(1500, lambda: say("Größe geändert"))).place(x=240, y=28)
tkinter.Label(window, textvariable=status).place(x=30, y=180)
window.mainloop()
"#;

/// The wheel with the model, where set-up puts it.
fn model() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/wheels");
    let mut files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let file = files.find(|path| path.file_name().unwrap().to_string_lossy().starts_with("rapidocr-"));
    file.unwrap_or_else(|| panic!("no wheel in {}: `cargo xtask setup` gets it", folder.display()))
}

/// The program that reads with the model, which Cargo builds beside the folder of this test.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("deskhand-local");
    assert!(program.exists(), "no {}: `cargo build --package deskhand-local` builds it", program.display());
    program
}

/// A window on a desktop of its own that is read by the model.
pub(crate) struct Stage {
    pub(crate) desktop: DetectingDesktop<LinuxDesktop>,
    pub(crate) window: WindowInfo,
}

impl Stage {
    async fn start(request: impl FnOnce(&Path) -> LaunchRequest) -> Self {
        let size = Size { width: 1024, height: 768 };
        let options = VirtualOptions { size, ..VirtualOptions::default() };
        let desktop = LinuxDesktop::start_virtual(options).await.unwrap();
        let request = request(desktop.private_folder().unwrap());
        let reader = OcrOptions { model: Some(model()), local: Some(program()), ..OcrOptions::default() };
        let desktop = DetectingDesktop::new(desktop, DetectOptions { reader, ..DetectOptions::default() });
        let launched = act::launch(&desktop, &request, &ActLimits::default()).await.unwrap();
        let window = launched.window.clone().unwrap_or_else(|| panic!("{}", launched.summary()));
        Self { desktop, window }
    }

    async fn see(&self) -> Tree {
        let sight = self.desktop.see(self.window.id, TreeLimits::default()).await.unwrap();
        assert_eq!(sight.notices, Vec::<String>::new());
        sight.tree
    }

    /// Looks until words are there; drawing may come after the answer of an application.
    pub(crate) async fn drawn(&self, words: &str) -> Element {
        let mut last = Tree::default();
        for _ in 0..20 {
            let watch = self.desktop.watch(Some(self.window.id)).await.unwrap();
            last = self.see().await;
            let is_it = |one: &&Element| one.source == ElementSource::Ocr && one.name == words;
            if let Some(found) = last.elements.iter().find(is_it) {
                return found.clone();
            }
            self.desktop.settle(watch, QuietLimits::default()).await.unwrap();
        }
        panic!("no {words} in\n{}", outline(&last));
    }

    async fn click(&self, words: &str) -> ActionReport {
        let element = self.drawn(words).await;
        let target = ActionTarget::Element { id: element.id, name: Some(element.name) };
        act::click(&self.desktop, self.window.id, &Click::once(target), &ActLimits::default()).await.unwrap()
    }

    async fn visit(&self, path: &[&str]) -> ActionReport {
        let path: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
        act::visit(&self.desktop, self.window.id, &path, &ActLimits::default()).await.unwrap()
    }

    async fn waits(&self, condition: Condition) -> Verdict {
        let bound = Duration::from_secs(30);
        act::wait_for(&self.desktop, self.window.id, &condition, bound).await.unwrap().effect()
    }

    pub(crate) async fn end(self) {
        self.desktop.into_inner().shut_down().await;
    }
}

/// The window in Tk, and the file that it writes.
async fn parts() -> Option<(Stage, PathBuf)> {
    tk(TK, &[]).await
}

/// A program in Tk, whose first argument is the file that it writes, with that file.
pub(crate) async fn tk(text: &str, more: &[&str]) -> Option<(Stage, PathBuf)> {
    if !has_programs(&["/usr/bin/python3"]) {
        return None;
    }
    let mut log = PathBuf::new();
    let stage = Stage::start(|folder| {
        let script = folder.join("program.py");
        log = folder.join("program.log");
        fs::write(&script, text).unwrap();
        fs::write(&log, "").unwrap();
        let files = [&script, &log].map(|path| path.display().to_string());
        let arguments = files.into_iter().chain(more.iter().map(|one| (*one).to_owned())).collect();
        LaunchRequest { program: "/usr/bin/python3".to_owned(), arguments }
    })
    .await;
    Some((stage, log))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_reads_what_is_drawn_and_later_only_what_changed() {
    if !has_programs(&["python3"]) {
        return;
    }
    let fixture = Fixture::prepare_drawn().await.unwrap();
    let stage = Stage::start(|_| request_of(&fixture)).await;
    fixture.ready().await.unwrap();
    stage.drawn("Print").await;
    let first = stage.see().await;
    let mut words: Vec<&str> = first.elements.iter().skip(1).map(|element| element.name.as_str()).collect();
    words.sort_unstable();
    assert_eq!(words, ["Hover", "Nothing happened", "Print", "Question", "Save", "Start"]);
    let with = json!({ "control": "Status", "words": "Über 100 Äpfel, 3,50 €" });
    fixture.ask("say", with).await.unwrap();
    let status = stage.drawn("Über 100 Äpfel, 3,50 €").await;
    let before = first.elements.iter().find(|one| one.name == "Nothing happened").unwrap();
    assert_ne!(status.id, before.id, "other words are another element");
    let later = stage.see().await;
    for (one, other) in first.elements.iter().zip(&later.elements).filter(|(one, _)| one.id != before.id) {
        assert_eq!(one, other, "what did not change");
    }
    let report = stage.click("Start").await;
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert!(report.summary().contains("now reads \"Finished\""), "{}", report.summary());
    // What opens is told by its words.
    let report = stage.click("Question").await;
    assert_eq!((report.effect(), &report.output), (Verdict::Seen, &json!({ "drawn": ["Yes"] })));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_panel_without_elements_is_read_in_a_window_that_has_some() {
    if !has_programs(&[Toolkit::Gtk3.needs()]) {
        return;
    }
    let fixture = Fixture::prepare(Toolkit::Gtk3, Screen::Canvas).await.unwrap();
    let stage = Stage::start(|_| request_of(&fixture)).await;
    fixture.ready().await.unwrap();
    stage.drawn("Print").await;
    let tree = stage.see().await;
    let found = tree.elements.iter().filter(|one| one.source == ElementSource::Ocr);
    let mut words: Vec<&str> = found.map(|one| one.name.as_str()).collect();
    words.sort_unstable();
    assert_eq!(words, ["Open", "Print", "Save"], "{}", outline(&tree));
    let mark = fixture.mark();
    let report = stage.click("Save").await;
    assert_ne!(report.effect(), Verdict::Refused, "{}", report.summary());
    assert_eq!(fixture.happens(mark, |entry| entry.event == "clicked").await.unwrap().control, "Save");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn menus_that_are_only_drawn_are_followed_by_their_words() {
    let Some((stage, log)) = parts().await else { return };
    stage.drawn("Ready to start").await;
    let report = stage.visit(&["View", "Zoom out"]).await;
    assert_ne!(report.effect(), Verdict::Refused, "{}", report.summary());
    stage.drawn("Zoom out done").await;
    let report = stage.visit(&["File", "New part"]).await;
    assert_ne!(report.effect(), Verdict::Refused, "{}", report.summary());
    stage.drawn("New part done").await;
    assert_eq!(fs::read_to_string(&log).unwrap(), "Zoom out done\nNew part done\n");
    // What is not there is named with what is, and the menu is closed again.
    let report = stage.visit(&["File", "Open part"]).await;
    assert_eq!(report.effect(), Verdict::Refused, "{}", report.summary());
    assert!(report.summary().contains("Close part"), "{}", report.summary());
    let windows = deskhand_desktop::WindowManagement::windows(&stage.desktop).await.unwrap();
    assert!(windows.iter().all(|info| !info.kind.is_popup()), "{windows:?}");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_of_a_drawn_list_are_selected_and_drawn_words_are_waited_for() {
    let Some((stage, log)) = parts().await else { return };
    let list = stage.drawn("Copper").await;
    let select = async |item: &str| {
        act::select(&stage.desktop, stage.window.id, list.id, item, &ActLimits::default()).await.unwrap()
    };
    let report = select("Nickel").await;
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert_eq!(fs::read_to_string(&log).unwrap(), "material Nickel\n");
    stage.drawn("Nickel").await;

    let report = stage.click("Later").await;
    assert_ne!(report.effect(), Verdict::Refused, "{}", report.summary());
    let words = || ElementQuery::named("Größe geändert");
    assert_eq!(stage.waits(Condition::Appears(words())).await, Verdict::Seen);
    assert!(fs::read_to_string(&log).unwrap().ends_with("Größe geändert\n"));
    assert_eq!(
        stage.waits(Condition::Disappears(ElementQuery::named("Ready to start"))).await,
        Verdict::Seen
    );
    let still = Condition::Disappears(words());
    let second = Duration::from_secs(1);
    let report = act::wait_for(&stage.desktop, stage.window.id, &still, second).await.unwrap();
    assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());
    stage.end().await;
}
