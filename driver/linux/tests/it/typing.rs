//! Long texts of mixed scripts, typed into four toolkits beside busy loops.
//!
//! `DESKHAND_TYPING_RUNS` sets how often each text is typed, `DESKHAND_TYPING_LENGTH` how many characters it has.

use std::{
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use deskhand_desktop::{IdleWait as _, InputInjection as _, QuietLimits, WindowManagement as _};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, TypeTextOptions};
use deskhand_testkit::fixture::{Screen, Toolkit};
use deskhand_ui::{Element, WindowKind, action::Verdict};

use crate::{
    fixtures::{Stage, outline},
    linux_atspi::{desktop, editor},
};

/// One busy loop for each core, at the same priority as the applications; ended when dropped.
pub(crate) struct Load(Vec<Child>);

impl Load {
    pub(crate) fn start() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let busy = || {
            Command::new("/bin/sh").args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn().unwrap()
        };
        Self((0..cores).map(|_| busy()).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

/// A text of so many characters, each run another one: ASCII, accents, Cyrillic, CJK and emoji among each other.
fn mixed(length: usize, run: usize) -> String {
    const SCRIPTS: [&str; 5] = [
        "The quick brown Fox jumps over 13 lazy dogs; (x+y)*z = 42! ",
        "Größe, façade, señor, naïve, Łódź, über, žluťoučký kůň. ",
        "Съешь ещё этих мягких французских булок, да выпей чаю. ",
        "東京都は日本の首都。天地玄黄宇宙洪荒日月盈昃。한국어도 있다. ",
        "😀🚀🌍🎉🐍✅🔥💡 ",
    ];
    let mut text = String::new();
    let mut at = run;
    while text.chars().count() < length {
        text.push_str(SCRIPTS[at % SCRIPTS.len()]);
        at += 1 + run % 2;
    }
    // A space at the end would be trimmed by some toolkits.
    let mut cut: String = text.chars().take(length - 1).collect();
    cut.push('.');
    cut
}

pub(crate) fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

async fn types_intact(toolkit: Toolkit) {
    let (runs, length) = (number("DESKHAND_TYPING_RUNS", 1), number("DESKHAND_TYPING_LENGTH", 400));
    let Some(stage) = Stage::start(toolkit, Screen::Text).await else { return };
    let _load = Load::start();
    let tree = stage.tree().await;
    let name = tree.elements.iter().find(|element| element.name == "Name");
    let element: &Element = name.unwrap_or_else(|| panic!("no entry in\n{}", outline(&tree)));
    let mut intact = 0;
    let mut told = Vec::new();
    for run in 0..runs {
        let text = mixed(length, run);
        let request =
            TypeTextOptions { element: Some(element.id), name: None, text: text.clone(), clear: true };
        let begun = Instant::now();
        let report =
            act::type_text(&stage.desktop, stage.window.id, &request, &ActLimits::default()).await.unwrap();
        let truth = stage.fixture.state().await.unwrap();
        let same = truth["Name"] == text;
        let summary = report.summary();
        assert_eq!(report.effect() == Verdict::Seen, same, "{toolkit}: a false verdict: {summary}");
        intact += usize::from(same);
        let how = if same { "" } else { summary.as_str() };
        told.push(format!("{} ms {how}", begun.elapsed().as_millis()));
    }
    println!(
        "typing: {toolkit}: {intact} of {runs} texts of {length} characters intact ({})",
        told.join("; ")
    );
    assert_eq!(intact, runs, "{toolkit}: {told:?}");
    stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_text_arrives_intact_in_gtk_3() {
    types_intact(Toolkit::Gtk3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_text_arrives_intact_in_gtk_4() {
    types_intact(Toolkit::Gtk4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_text_arrives_intact_in_qt() {
    types_intact(Toolkit::Qt).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_text_arrives_intact_in_a_page() {
    types_intact(Toolkit::Page).await;
}

/// The first key of a path opens a field in the file dialog of GTK, and those after it may be lost. Whether the file opens
/// then tells what arrived.
#[tokio::test]
async fn a_path_typed_into_the_list_of_a_file_dialog_is_seen_only_if_it_arrived() {
    let Some(desktop) = desktop(&["mousepad"]).await else { return };
    let window = editor(&desktop, "note.txt").await;
    let path = desktop.private_folder().unwrap().join("other.txt");
    std::fs::write(&path, "second").unwrap();
    let limits = ActLimits::default();
    let chord = ["ctrl+o".parse().unwrap()];
    let opened = act::press_keys(&desktop, window.id, &chord, &limits).await.unwrap();
    assert_eq!(opened.effect(), Verdict::Seen, "{}", opened.summary());
    let request =
        TypeTextOptions { element: None, name: None, text: path.to_str().unwrap().to_owned(), clear: false };
    let typed = act::type_text(&desktop, window.id, &request, &limits).await.unwrap();
    println!("{} {}", typed.effect(), typed.summary());
    let watch = desktop.watch(Some(window.id)).await.unwrap();
    desktop.press(&"Return".parse().unwrap()).await.unwrap();
    desktop
        .settle(watch, QuietLimits { quiet: Duration::from_millis(500), ..QuietLimits::default() })
        .await
        .unwrap();
    let windows = desktop.windows().await.unwrap();
    let is_open = windows.iter().any(|info| info.title.contains("other.txt"))
        && windows.iter().all(|info| info.kind != WindowKind::Dialog);
    assert_eq!(typed.effect() == Verdict::Seen, is_open, "{}: {windows:#?}", typed.summary());
    desktop.shut_down().await;
}
