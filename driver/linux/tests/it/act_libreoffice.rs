//! The verified actions on real LibreOffice: from a table in a text to a saved chart.

use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use deskhand_desktop::{Desktop, LaunchRequest};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionReport, ActionTarget, Click, TableTarget, TypeTextOptions};
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_ui::{ElementQuery, Role, WindowInfo, action::Verdict, ids::WindowId};

use crate::programs::has_programs;

const SALES: [[&str; 3]; 5] = [
    ["Region", "Units", "Revenue"],
    ["North-East", "70", "2800"],
    ["North", "120", "4800"],
    ["South", "95", "3800"],
    ["West", "140", "5600"],
];

/// A desktop with a person's routine: every step is told with its time, and has to be seen.
struct Routine<'a, D: Desktop> {
    desktop: &'a D,
    limits: ActLimits,
    pictures: PathBuf,
}

impl<D: Desktop> Routine<'_, D> {
    async fn step(
        &self,
        name: &str,
        action: impl Future<Output = deskhand_desktop::DesktopResult<ActionReport>>,
    ) -> ActionReport {
        let started = Instant::now();
        let outcome = action.await;
        let spent_ms = started.elapsed().as_millis();
        let picture = self.desktop.screen().await.unwrap().to_png().unwrap();
        std::fs::write(self.pictures.join(format!("{name}.png")), picture).unwrap();
        let report = match outcome {
            Ok(report) => report,
            Err(error) => panic!("{name}: {} ({spent_ms} ms)", error.chain()),
        };
        println!("{name:20} {spent_ms:6} ms  {:?} {}: {}", report.route(), report.effect(), report.summary());
        assert_eq!(report.effect(), Verdict::Seen, "{name}: {}", report.summary());
        report
    }

    async fn launch(&self, name: &str, program: &str, arguments: &[String]) -> WindowInfo {
        let request = LaunchRequest { program: program.to_owned(), arguments: arguments.to_vec() };
        self.step(name, act::launch(self.desktop, &request, &self.limits)).await.window.unwrap()
    }

    async fn click(&self, name: &str, window: WindowId, wanted: &ElementQuery) -> ActionReport {
        let (_, element) = act::find_element(self.desktop, window, wanted).await.unwrap().unwrap();
        let click = Click::once(ActionTarget::Element { id: element.id, name: Some(element.name) });
        self.step(name, act::click(self.desktop, window, &click, &self.limits)).await
    }
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sales/sales.odt").canonicalize().unwrap()
}

fn chords(texts: &[&str]) -> Vec<deskhand_desktop::keys::KeyChord> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// Half of what a thread has by default, without optimisations: who awaits actions has futures of their own on the stack.
#[test]
fn a_table_of_a_text_becomes_a_saved_chart() {
    const STACK: usize = 1024 * 1024;
    if !has_programs(&["soffice"]) {
        return;
    }
    let work = || {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        runtime.worker_threads(2).enable_all().build().unwrap().block_on(a_person_does_the_main_job());
    };
    thread::Builder::new().stack_size(STACK).spawn(work).unwrap().join().unwrap();
}

async fn a_person_does_the_main_job() {
    let folder = tempfile::tempdir().unwrap();
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("main_job");
    std::fs::create_dir_all(&pictures).unwrap();
    let document = folder.path().join("sales.odt");
    std::fs::copy(example(), &document).unwrap();
    let saved = folder.path().join("result.ods");
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    let routine = Routine { desktop: &desktop, limits: ActLimits::default(), pictures };
    let profile = format!("-env:UserInstallation=file://{}/profile", folder.path().display());
    main_job(&routine, &profile, &document, &saved).await;
    let file = std::fs::read(&saved).unwrap();
    assert!(file.starts_with(b"PK") && file.len() > 5_000, "{} bytes", file.len());
    desktop.shut_down().await;
}

async fn main_job<D: Desktop>(routine: &Routine<'_, D>, profile: &str, document: &Path, saved: &Path) {
    let (desktop, limits) = (routine.desktop, &routine.limits);
    let arguments = [profile.to_owned(), document.display().to_string()];
    let writer = routine.launch("01-writer", "libreoffice-writer", &arguments).await.id;
    let sales = TableTarget::Named("Sales".into());
    let read = routine.step("02-read", act::read_table(desktop, writer, &sales, None)).await;
    let rows: Vec<Vec<String>> = serde_json::from_value(read.output["rows"].clone()).unwrap();
    assert_eq!(rows, SALES.map(|row| row.map(str::to_owned).to_vec()));

    let calc = routine.launch("03-calc", "libreoffice-calc", &[profile.to_owned()]).await.id;
    let sheet = TableTarget::Largest;
    let (start, range) = ("A1".parse().unwrap(), "A1:C5".parse().unwrap());
    routine.step("04-write", act::write_table(desktop, calc, &sheet, start, &rows, limits)).await;
    let read = routine.step("05-read-back", act::read_table(desktop, calc, &sheet, Some(range))).await;
    assert_eq!(read.output["rows"], serde_json::json!(SALES));
    routine.step("06-select", act::select_cells(desktop, calc, &sheet, &range.into(), limits)).await;
    let path = ["Insert".to_owned(), "Chart…".to_owned()];
    let wizard = routine.step("07-insert-chart", act::visit(desktop, calc, &path, limits)).await;
    assert_eq!(wizard.window.unwrap().title, "Chart Type");
    routine.click("08-bar", calc, &ElementQuery::new(Role::TABLE_CELL, "Bar")).await;
    routine.click("09-finish", calc, &ElementQuery::new(Role::PUSH_BUTTON, "Finish")).await;
    let chord = chords(&["ctrl+shift+s"]);
    let dialog = routine.step("10-save-as", act::press_keys(desktop, calc, &chord, limits)).await;
    assert!(dialog.window.unwrap().title.starts_with("Save"));
    let path = saved.display().to_string();
    let text = TypeTextOptions { element: None, name: None, text: path, clear: true };
    routine.step("11-path", act::type_text(desktop, calc, &text, limits)).await;
    routine.click("12-save", calc, &ElementQuery::new(Role::PUSH_BUTTON, "Save")).await;
    let title = deskhand_ui::action::Condition::TitleContains("result.ods".into());
    routine.step("13-title", act::wait_for(desktop, calc, &title, Duration::from_secs(10))).await;
}
