//! Choices that an application makes without saying so: days of calendars, and items of a grid whose cells lie in cells, as the files of
//! Nautilus do. Judged by the log of the application.

use std::fs;

use deskhand_desktop::{Desktop as _, IdleWait as _, LaunchRequest, QuietLimits, TreeLimits, UiTree as _};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionTarget, Click};
use deskhand_desktop_detect::{DetectOptions, DetectingDesktop};
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_ui::{Element, Role, State, Tree, WindowInfo, action::Verdict, geometry::Size};

use crate::{fixtures::outline, programs::has_programs};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/fixtures/picks.py");

struct Picks {
    folder: tempfile::TempDir,
    desktop: DetectingDesktop<LinuxDesktop>,
    window: WindowInfo,
}

impl Picks {
    async fn start(version: &str) -> Option<Self> {
        if !has_programs(&["python3", "tesseract"]) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        fs::write(&log, "").unwrap();
        let size = Size { width: 1024, height: 768 };
        let options = VirtualOptions { size, ..VirtualOptions::default() };
        let desktop = LinuxDesktop::start_virtual(options).await.unwrap();
        let desktop = DetectingDesktop::new(desktop, DetectOptions::default());
        let arguments = ["-B", FIXTURE, version, log.to_str().unwrap()].map(ToOwned::to_owned).to_vec();
        let request = LaunchRequest { program: "/usr/bin/python3".to_owned(), arguments };
        let launched = act::launch(&desktop, &request, &ActLimits::default()).await.unwrap();
        let window = launched.window.clone().unwrap_or_else(|| panic!("{}", launched.summary()));
        Some(Self { folder, desktop, window })
    }

    /// Looks until an element of this name is there.
    async fn named(&self, name: &str) -> Element {
        let mut last = Tree::default();
        for _ in 0..20 {
            let watch = self.desktop.watch(Some(self.window.id)).await.unwrap();
            last = self.desktop.see(self.window.id, TreeLimits::default()).await.unwrap().tree;
            if let Some(found) = last.elements.iter().find(|one| one.name == name) {
                return found.clone();
            }
            self.desktop.settle(watch, QuietLimits::default()).await.unwrap();
        }
        panic!("no {name} in\n{}", outline(&last));
    }

    async fn click(&self, name: &str) -> Verdict {
        let element = self.named(name).await;
        let target = ActionTarget::Element { id: element.id, name: Some(element.name) };
        let limits = ActLimits::default();
        let report = act::click(&self.desktop, self.window.id, &Click::once(target), &limits).await.unwrap();
        println!("click {name}: {} {}", report.effect(), report.summary());
        report.effect()
    }

    /// The last line of the log.
    fn last(&self) -> String {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap();
        log.lines().last().unwrap_or_default().to_owned()
    }
}

async fn days_are_chosen(version: &str) {
    let Some(picks) = Picks::start(version).await else { return };
    // Days that no other month shows.
    for day in ["20", "14", "17"] {
        assert_eq!(picks.click(day).await, Verdict::Seen, "{version} {day}");
        assert_eq!(picks.last(), format!("day 2026-05-{day}"), "{version}");
    }
    // Its white letters are not read in GTK 3.
    if version == "4" {
        assert_ne!(picks.click("17").await, Verdict::Seen, "it is chosen already");
    }
    picks.desktop.into_inner().shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drawn_day_of_a_calendar_in_gtk_3_is_seen_to_be_chosen() {
    days_are_chosen("3").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_day_of_a_calendar_in_gtk_4_is_seen_to_be_chosen() {
    days_are_chosen("4").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_of_a_grid_in_gtk_4_are_selected_with_the_cells_around_them() {
    let Some(picks) = Picks::start("4").await else { return };
    assert_eq!(picks.click("South").await, Verdict::Seen);
    assert_eq!(picks.last(), "items South");
    assert!(picks.named("South").await.states.has(State::Selected));
    assert!(!picks.named("North").await.states.has(State::Selected));
    let tree = picks.desktop.tree(picks.window.id, TreeLimits::default()).await.unwrap();
    let grid = tree.elements.iter().find(|one| one.role == Role::TABLE && one.child_count == 5);
    let grid = grid.unwrap_or_else(|| panic!("no grid in\n{}", outline(&tree))).id;
    let limits = ActLimits::default();
    let report = act::select(&picks.desktop, picks.window.id, grid, "East", &limits).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert_eq!(picks.last(), "items East");
    let names = ["North", "West"].map(ToOwned::to_owned);
    let report = act::select_items(&picks.desktop, picks.window.id, grid, &names, &limits).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert_eq!(picks.last(), "items North, West");
    picks.desktop.into_inner().shut_down().await;
}
