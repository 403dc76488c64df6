//! What applications do not show, found in pictures of real windows by the real program, and acted on.

use deskhand_desktop::{Desktop, TreeLimits, UiTree};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionReport, ActionTarget, Click};
use deskhand_desktop_detect::{DetectOptions, DetectingDesktop, OcrUse};
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_testkit::fixture::{Fixture, Screen, Toolkit};
use deskhand_ui::{
    Element, ElementSource, Role, Tree, WindowInfo,
    action::Verdict,
    geometry::{Rect, Screen as OnScreen, Size},
};
use serde_json::{Value, json};

use crate::{
    fixtures::{outline, request_of},
    programs::has_programs,
};

/// A fixture application on a desktop whose windows are looked at.
struct Stage {
    desktop: DetectingDesktop<LinuxDesktop>,
    fixture: Fixture,
    window: WindowInfo,
}

fn reading() -> DetectOptions {
    DetectOptions { ocr: OcrUse::Always, ..DetectOptions::default() }
}

async fn start(fixture: Fixture, needs: &[&str], options: DetectOptions) -> Option<Stage> {
    if !has_programs(needs) {
        return None;
    }
    let size = Size { width: 1280, height: 900 };
    let desktop =
        LinuxDesktop::start_virtual(VirtualOptions { size, ..VirtualOptions::default() }).await.unwrap();
    let desktop = DetectingDesktop::new(desktop, options);
    let request = request_of(&fixture);
    let launched = act::launch(&desktop, &request, &ActLimits::default()).await.unwrap();
    let window = launched.window.clone().unwrap_or_else(|| panic!("{}", launched.summary()));
    fixture.ready().await.unwrap();
    Some(Stage { desktop, fixture, window })
}

async fn canvas(toolkit: Toolkit) -> Option<Stage> {
    let fixture = Fixture::prepare(toolkit, Screen::Canvas).await.unwrap();
    start(fixture, &[toolkit.needs(), "tesseract"], reading()).await
}

/// The application without elements; read because it has none.
async fn drawn() -> Option<Stage> {
    let fixture = Fixture::prepare_drawn().await.unwrap();
    start(fixture, &["python3", "tesseract"], DetectOptions::default()).await
}

impl Stage {
    async fn see(&self) -> Tree {
        let sight = self.desktop.see(self.window.id, TreeLimits::default()).await.unwrap();
        assert_eq!(sight.notices, Vec::<String>::new());
        sight.tree
    }

    /// Looks until something is there that fits; drawing may come after the answer of an application.
    async fn until(&self, what: &str, fits: impl Fn(&Element) -> bool) -> Element {
        let mut last = Tree::default();
        for _ in 0..20 {
            last = self.see().await;
            if let Some(found) = last.elements.iter().find(|element| fits(element)) {
                return found.clone();
            }
            let watch = deskhand_desktop::IdleWait::watch(&self.desktop, Some(self.window.id)).await.unwrap();
            deskhand_desktop::IdleWait::settle(&self.desktop, watch, Default::default()).await.unwrap();
        }
        panic!("no {what} in\n{}", outline(&last));
    }

    async fn drawn(&self, words: &str) -> Element {
        self.until(words, |element| element.source == ElementSource::Ocr && element.name == words).await
    }

    async fn click(&self, element: &Element) -> ActionReport {
        let target = ActionTarget::Element { id: element.id, name: Some(element.name.clone()) };
        act::click(&self.desktop, self.window.id, &Click::once(target), &ActLimits::default()).await.unwrap()
    }

    async fn ask(&self, command: &str, with: Value) {
        self.fixture.ask(command, with).await.unwrap();
    }

    async fn end(self) {
        self.desktop.into_inner().shut_down().await;
    }
}

fn contains(outer: &Rect<OnScreen>, inner: &Rect<OnScreen>) -> bool {
    outer.intersection(inner).as_ref() == Some(inner)
}

/// The texts of the canvas are found where they are, only they are added, and a click on one reaches it.
async fn canvas_is_read_and_clicked(toolkit: Toolkit) {
    let Some(stage) = canvas(toolkit).await else { return };
    stage.drawn("Print").await;
    let tree = stage.see().await;
    let found: Vec<&Element> =
        tree.elements.iter().filter(|element| element.source != ElementSource::AtSpi).collect();
    let mut words: Vec<&str> = found.iter().map(|element| element.name.as_str()).collect();
    words.sort_unstable();
    assert_eq!(words, ["Open", "Print", "Save"], "{toolkit}:\n{}", outline(&tree));
    assert!(found.iter().all(|element| element.role == Role::DRAWN_TEXT));
    let again = stage.see().await;
    assert_eq!(tree, again, "{toolkit}: the same look at the same window");
    for words in ["Open", "Save"] {
        let mark = stage.fixture.mark();
        let report = stage.click(&stage.drawn(words).await).await;
        assert_ne!(report.effect(), Verdict::Refused, "{toolkit}: {}", report.summary());
        // Nothing that can be seen comes of it.
        assert_ne!(report.effect(), Verdict::Seen, "{toolkit}: {}", report.summary());
        let entry = stage.fixture.happens(mark, |entry| entry.event == "clicked").await.unwrap();
        assert_eq!(entry.control, words, "{toolkit}");
    }
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_on_a_canvas_in_gtk_3_is_read_and_clicked() {
    canvas_is_read_and_clicked(Toolkit::Gtk3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_on_a_canvas_in_gtk_4_is_read_and_clicked() {
    canvas_is_read_and_clicked(Toolkit::Gtk4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_on_a_canvas_in_qt_is_read_and_clicked() {
    canvas_is_read_and_clicked(Toolkit::Qt).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_on_a_canvas_of_a_page_is_read_and_clicked() {
    canvas_is_read_and_clicked(Toolkit::Page).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_without_elements_is_read_without_being_asked() {
    let Some(stage) = drawn().await else { return };
    let own = stage.desktop.inner().tree(stage.window.id, TreeLimits::default()).await.unwrap();
    assert_eq!(own.elements, [], "the application shows nothing");
    stage.drawn("Print").await;
    let tree = stage.see().await;
    let mut words: Vec<&str> = tree.elements.iter().skip(1).map(|element| element.name.as_str()).collect();
    words.sort_unstable();
    assert_eq!(words, ["Hover", "Nothing happened", "Print", "Question", "Save", "Start"]);
    for element in &tree.elements {
        assert!(contains(&stage.window.bounds, &element.bounds.unwrap()), "{}", outline(&tree));
    }
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_click_is_seen_by_other_words_at_its_place_and_by_windows_and_by_nothing_else() {
    let Some(stage) = drawn().await else { return };
    // The words at its place become others.
    let report = stage.click(&stage.drawn("Start").await).await;
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert!(report.summary().contains("now reads \"Finished\""), "{}", report.summary());
    // It is drawn in another colour, as under the pointer, and says what it said.
    for (words, verdict) in [("Hover", Verdict::Unknown), ("Save", Verdict::Unknown)] {
        let mark = stage.fixture.mark();
        let report = stage.click(&stage.drawn(words).await).await;
        assert_eq!(report.effect(), verdict, "{words}: {}", report.summary());
        let entry = stage.fixture.happens(mark, |_| true).await.unwrap();
        assert_eq!(entry.control, words);
    }
    // A second click on the same place: not even the colour changes, though it may be drawn once more.
    let report = stage.click(&stage.drawn("Save").await).await;
    assert!(matches!(report.effect(), Verdict::NotSeen | Verdict::Unknown), "{}", report.summary());
    // A dialog opens.
    let report = stage.click(&stage.drawn("Question").await).await;
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert!(report.summary().contains("Drawn question"), "{}", report.summary());
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_says_something_else_again_and_again_is_never_seen() {
    let Some(stage) = drawn().await else { return };
    let status = stage.drawn("Nothing happened").await;
    stage.ask("say", json!({ "control": "Status", "words": "Monday" })).await;
    let report = stage.click(&status).await;
    assert_eq!(report.effect(), Verdict::Refused, "{}", report.summary());
    let status = stage.drawn("Monday").await;
    stage.ask("tick", json!({ "control": "Status", "every_ms": 400 })).await;
    // Refused where it has changed already, else clicked: never a proof, whatever it says then.
    for _ in 0..3 {
        let report = stage.click(&status).await;
        assert_ne!(report.effect(), Verdict::Seen, "{}", report.summary());
    }
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_moved_is_clicked_where_it_is_and_what_is_gone_is_not() {
    let Some(stage) = drawn().await else { return };
    let save = stage.drawn("Save").await;
    stage.ask("move", json!({ "control": "Save", "x": 300, "y": 220 })).await;
    let mark = stage.fixture.mark();
    let report = stage.click(&save).await;
    assert_ne!(report.effect(), Verdict::Refused, "{}", report.summary());
    let entry = stage.fixture.happens(mark, |_| true).await.unwrap();
    assert_eq!(entry.control, "Save");
    let moved = stage.drawn("Save").await;
    assert_eq!(moved.id, save.id, "the same element at another place");

    let print = stage.drawn("Print").await;
    stage.ask("remove", json!({ "control": "Print" })).await;
    let mark = stage.fixture.mark();
    let report = stage.click(&print).await;
    assert_eq!(report.effect(), Verdict::Refused, "{}", report.summary());
    assert!(report.summary().contains("no longer exists"), "{}", report.summary());
    // Another one lies over it.
    let start = stage.drawn("Start").await;
    stage.ask("move", json!({ "control": "Status", "x": 200, "y": 40 })).await;
    let report = stage.click(&start).await;
    assert_eq!(report.effect(), Verdict::Refused, "{}", report.summary());
    assert!(stage.fixture.since(mark).is_empty(), "nothing was sent");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn named_controls_are_not_found_twice() {
    for toolkit in [Toolkit::Gtk3, Toolkit::Qt] {
        let fixture = Fixture::prepare(toolkit, Screen::Form).await.unwrap();
        let needs = [toolkit.needs(), "tesseract"];
        let Some(stage) = start(fixture, &needs, reading()).await else { return };
        let tree = stage.see().await;
        let (own, found): (Vec<&Element>, Vec<&Element>) =
            tree.elements.iter().partition(|element| element.source == ElementSource::AtSpi);
        for element in &found {
            let twin = own.iter().find(|other| {
                other.role.is_interactive()
                    && deskhand_ui::names_equal(&other.name, &element.name)
                    && other.bounds.zip(element.bounds).is_some_and(|(a, b)| a.intersection(&b).is_some())
            });
            assert!(twin.is_none(), "{toolkit}: {} twice in\n{}", element.label(), outline(&tree));
        }
        let own_tree = stage.desktop.tree(stage.window.id, TreeLimits::default()).await.unwrap();
        assert_eq!(own.len(), own_tree.elements.len(), "nothing of the tree is left out");
        assert!(found.len() * 4 < own.len(), "{toolkit}: too much of it is new:\n{}", outline(&tree));
        stage.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_missing_or_fails_is_a_notice() {
    let fixture = Fixture::prepare(Toolkit::Gtk3, Screen::Canvas).await.unwrap();
    let mut options = reading();
    options.reader.program = "/nowhere/tesseract".into();
    let Some(mut stage) = start(fixture, &["python3", "tesseract"], options).await else { return };
    let sight = stage.desktop.see(stage.window.id, TreeLimits::default()).await.unwrap();
    assert_eq!(
        sight.notices,
        [
            "cannot read text from pictures: the program `/nowhere/tesseract` is not installed; get a model that reads \
          (`deskhand model pull ocr`), install it (`apt-get install tesseract-ocr`), or set `ocr.program`; \
          retried after 30 s"
        ]
    );
    let own = stage.desktop.tree(stage.window.id, TreeLimits::default()).await.unwrap();
    assert_eq!(sight.tree, own);
    for (program, languages, timeout, part) in [
        ("tesseract", "xyz", 15_000, "has no data for the language `xyz`; install `tesseract-ocr-xyz`"),
        ("false", "eng", 15_000, "`false` failed: it said nothing (exit status: 1)"),
        ("tesseract", "eng", 1, "did not finish within 1 ms; raise `ocr.timeout_s`"),
    ] {
        let mut options = reading();
        (options.reader.program, options.reader.languages) = (program.into(), languages.to_owned());
        options.reader.timeout = std::time::Duration::from_millis(timeout);
        stage.desktop = DetectingDesktop::new(stage.desktop.into_inner(), options);
        let sight = stage.desktop.see(stage.window.id, TreeLimits::default()).await.unwrap();
        assert!(sight.notices.iter().any(|notice| notice.contains(part)), "{part}: {:?}", sight.notices);
        assert_eq!(sight.tree, own);
    }
    stage.end().await;
}
