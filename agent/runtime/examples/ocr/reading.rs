//! One program: its window, what is drawn in it, and what each reader makes of it.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use deskhand_desktop::{
    Capture as _, Desktop as _, IdleWait as _, InputInjection as _, QuietLimits, TreeLimits, UiTree as _,
    WindowManagement as _,
};
use deskhand_desktop_act as act;
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_detect::{DetectOptions, DetectingDesktop, OcrOptions, OcrUse};
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_ui::{
    ElementSource, WindowInfo,
    geometry::{Rect, Screen, Size},
};
use serde_json::{Value, json};

use crate::{
    Failure,
    programs::{Program, Truth},
    truth::Drawn,
};

/// How often the first look is measured; the median counts.
const TIMES: usize = 3;

/// What a reader found in one look, and how long that took.
struct Look {
    read: Vec<(String, Rect<Screen>)>,
    ms: f64,
}

/// Runs a program and lets all readers look at it.
pub(crate) async fn measure(program: &Program, model: &Path, keep: Option<&Path>) -> Result<Value, Failure> {
    let options = VirtualOptions { size: Size { width: 1280, height: 800 }, ..VirtualOptions::default() };
    let desktop = LinuxDesktop::start_virtual(options).await?;
    let mut desktop = DetectingDesktop::new(desktop, DetectOptions::default());
    let figures = match start(&desktop, program, keep).await {
        Err(error) => Err(error),
        Ok((window, drawn)) => {
            let mut figures =
                json!({ "words": drawn.words.len(), "size": [window.bounds.width, window.bounds.height] });
            let mut failed = None;
            for (name, archive) in [("pp-ocr", Some(model.to_owned())), ("tesseract", None)] {
                let local = std::env::var_os("DESKHAND_PROGRAMS")
                    .map(|folder| Path::new(&folder).join("deskhand-local"));
                let reader = OcrOptions { model: archive, local, ..OcrOptions::default() };
                let options =
                    DetectOptions { tree: false, ocr: OcrUse::Always, reader, ..DetectOptions::default() };
                let mut firsts = Vec::new();
                // The first one also reads files for the first time. Each loads the model anew, or starts the program.
                for _ in 0..=TIMES {
                    desktop = DetectingDesktop::new(desktop.into_inner(), options.clone());
                    firsts.push(look(&desktop, &window).await);
                }
                match compare(&desktop, &window, program, &drawn, firsts).await {
                    Ok((figure, read)) => {
                        keep_text(keep, &format!("{}.{name}", program.name), &read)?;
                        if let Some(figures) = figures.as_object_mut() {
                            figures.insert(name.to_owned(), figure);
                        }
                    }
                    Err(error) => failed = Some(error),
                }
            }
            failed.map_or(Ok(figures), Err)
        }
    };
    desktop.into_inner().shut_down().await;
    figures
}

/// Starts a program; its window, and what is drawn in it.
async fn start(
    desktop: &DetectingDesktop<LinuxDesktop>,
    program: &Program,
    keep: Option<&Path>,
) -> Result<(WindowInfo, Drawn), Failure> {
    let folder = desktop.inner().private_folder().ok_or("the desktop has no folder")?.to_owned();
    let request = program.request(&folder)?;
    let launched = act::launch(desktop, &request, &ActLimits::default()).await?;
    let mut window = launched.window.clone().ok_or_else(|| launched.summary())?;
    settle(desktop, &window).await?;
    for chord in program.keys {
        desktop.press(&chord.parse()?).await?;
        settle(desktop, &window).await?;
    }
    let windows = desktop.windows().await?;
    let own = windows.into_iter().rev().find(|one| one.app.root == window.app.root);
    window = own.ok_or("the window is gone")?;
    let drawn = match program.truth {
        Truth::Tree => {
            let tree = desktop.inner().tree(window.id, TreeLimits::default()).await?;
            Drawn::of_tree(&tree, &window.bounds)
        }
        Truth::Told(text) => Drawn::told(text),
    };
    if let Some(folder) = keep {
        fs::create_dir_all(folder)?;
        let png = desktop.region(window.bounds).await?.to_png()?;
        fs::write(folder.join(format!("{}.png", program.name)), png)?;
        keep_text(keep, &format!("{}.drawn", program.name), &drawn.words.join("\n"))?;
    }
    Ok((window, drawn))
}

/// One look at a window.
async fn look(desktop: &DetectingDesktop<LinuxDesktop>, window: &WindowInfo) -> Result<Look, Failure> {
    let begun = Instant::now();
    let sight = desktop.see(window.id, TreeLimits::default()).await?;
    let ms = begun.elapsed().as_secs_f64() * 1_000.0;
    if let Some(notice) = sight.notices.first() {
        return Err(notice.clone().into());
    }
    let read =
        sight.tree.elements.into_iter().filter(|one| one.source == ElementSource::Ocr && one.depth > 0);
    Ok(Look { read: read.filter_map(|one| Some((one.name, one.bounds?))).collect(), ms })
}

/// The figures of a reader, and what it read; looks again after a small change of the window.
async fn compare(
    desktop: &DetectingDesktop<LinuxDesktop>,
    window: &WindowInfo,
    program: &Program,
    drawn: &Drawn,
    firsts: Vec<Result<Look, Failure>>,
) -> Result<(Value, String), Failure> {
    let firsts = firsts.into_iter().collect::<Result<Vec<Look>, Failure>>()?;
    let mut times: Vec<f64> = firsts.iter().skip(1).map(|look| look.ms).collect();
    times.sort_by(f64::total_cmp);
    let found = firsts.into_iter().next_back().ok_or("there was no look")?;
    desktop.press(&program.change.parse()?).await?;
    settle(desktop, window).await?;
    let later = look(desktop, window).await?;
    let score = drawn.compare(&found.read);
    let figures = json!({
        "right": score.right, "drawn": score.drawn, "read": score.read, "elsewhere": score.elsewhere,
        "missed": score.missed, "wrong": score.wrong,
        "first_ms": times.get(TIMES / 2), "later_ms": later.ms,
    });
    let line = |(text, at): &(String, Rect<Screen>)| {
        format!("{} {} {} {} {text}", at.x - window.bounds.x, at.y - window.bounds.y, at.width, at.height)
    };
    Ok((figures, found.read.iter().map(line).collect::<Vec<_>>().join("\n")))
}

fn keep_text(folder: Option<&Path>, name: &str, text: &str) -> Result<(), Failure> {
    let Some(folder) = folder else { return Ok(()) };
    Ok(fs::write(folder.join(name), text)?)
}

async fn settle(desktop: &DetectingDesktop<LinuxDesktop>, window: &WindowInfo) -> Result<(), Failure> {
    let watch = desktop.watch(Some(window.id)).await?;
    let quiet = Duration::from_millis(1_000);
    let limits = QuietLimits { quiet, first_change: quiet, bound: Duration::from_secs(20) };
    desktop.settle(watch, limits).await?;
    Ok(())
}
