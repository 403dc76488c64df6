//! The driver by itself, on a real application. The file that is saved is the judge.

use std::fs;

use deskhand_driver::{
    act::{self, ActLimits, TypeTextOptions},
    desktop::LaunchRequest,
    linux::{LinuxDesktop, VirtualOptions, diagnose},
    ui::action::Verdict,
};
use deskhand_testkit::programs::can_run;

/// Returns `true` if a virtual desktop with these programs can be started here.
fn has_programs(programs: &[&str]) -> bool {
    let missing = diagnose().into_iter().filter(|finding| finding.required && !finding.ok);
    can_run(missing.map(|finding| finding.name).collect(), programs)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_is_typed_and_saved_without_an_agent() {
    if !has_programs(&["Xvfb", "mousepad"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("note.txt");
    fs::write(&path, "").unwrap();
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    let limits = ActLimits::default();
    let editor =
        LaunchRequest { program: "mousepad".to_owned(), arguments: vec![path.display().to_string()] };
    let window = act::launch(&desktop, &editor, &limits).await.unwrap().window.unwrap().id;
    let text = TypeTextOptions { element: None, name: None, text: "Hello".to_owned(), clear: false };
    let typed = act::type_text(&desktop, window, &text, &limits).await.unwrap();
    assert_eq!(typed.effect(), Verdict::Seen, "{}", typed.summary());
    let saved = act::save(&desktop, window, None, &limits).await.unwrap();
    assert_eq!(saved.effect(), Verdict::Seen, "{}", saved.summary());
    assert_eq!(fs::read_to_string(&path).unwrap().trim_end(), "Hello");
    desktop.shut_down().await;
}
