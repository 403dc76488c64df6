//! A real office suite on a virtual desktop: its start, and the owners of its dialogs and menus.

use std::time::{Duration, Instant};

use deskhand_desktop::{Capture, IdleWait, InputInjection, LaunchRequest, QuietLimits, WindowManagement};
use deskhand_desktop_linux::LinuxDesktop;
use deskhand_ui::{WindowInfo, WindowKind};

use crate::{
    linux_x11::{BOUND, desktop, windows_until},
    programs::has_programs,
};

/// Waits until the active application is idle and answers: keys pressed before that are lost.
async fn quiet(desktop: &LinuxDesktop) {
    let active = desktop.windows().await.unwrap().iter().find(|window| window.active).map(|window| window.id);
    let watch = desktop.watch(active).await.unwrap();
    let limits = QuietLimits { quiet: Duration::from_millis(300), bound: BOUND, ..QuietLimits::default() };
    desktop.settle(watch, limits).await.unwrap();
}

/// Presses a chord until windows that `wanted` accepts are open. An office suite that is still starting silently
/// drops keys, even after it has answered.
async fn press_until(
    desktop: &LinuxDesktop,
    chord: &str,
    wanted: impl Fn(&[WindowInfo]) -> bool,
) -> Vec<WindowInfo> {
    for _ in 0..5 {
        quiet(desktop).await;
        desktop.press(&chord.parse().unwrap()).await.unwrap();
        let deadline = Instant::now() + BOUND / 5;
        let mut windows = desktop.windows().await.unwrap();
        while !wanted(&windows) && Instant::now() < deadline {
            windows = desktop.windows_changed(&windows, Duration::from_secs(1)).await.unwrap();
        }
        if wanted(&windows) {
            return windows;
        }
    }
    panic!("{chord} has no effect: {:#?}", desktop.windows().await.unwrap());
}

#[tokio::test]
async fn calc_opens_without_a_welcome_dialog() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let request = LaunchRequest { program: "LibreOffice Calc".into(), arguments: vec![] };
    let launched = desktop.launch(&request).await.unwrap();
    assert_eq!(launched.wm_class.as_deref(), Some("libreoffice-calc"));
    let windows = windows_until(&desktop, "Calc", |windows| {
        windows.iter().any(|window| window.title.contains("LibreOffice Calc"))
    })
    .await;
    // Any welcome dialog opens within the first seconds.
    let later = desktop.windows_changed(&windows, Duration::from_secs(3)).await.unwrap();
    let titles: Vec<_> = later.iter().map(|window| window.title.as_str()).collect();
    assert_eq!(titles, ["Untitled 1 - LibreOffice Calc"], "{later:#?}");
    let calc = &later[0];
    assert_eq!(calc.app.name, "LibreOffice Calc");
    assert_eq!(calc.app.root, "libreoffice-calc");
    desktop.activate(calc.id).await.unwrap();
    // A dialog and a menu belong to the window from which they were opened.
    let kind = |kind: WindowKind| {
        move |windows: &[WindowInfo]| {
            windows.iter().any(|window| window.kind == kind && window.owner == Some(calc.id))
        }
    };
    let windows = press_until(&desktop, "ctrl+1", kind(WindowKind::Dialog)).await;
    let dialog = windows.iter().find(|window| window.kind == WindowKind::Dialog).unwrap();
    assert_eq!((dialog.title.as_str(), &dialog.app), ("Format Cells", &calc.app));
    // The dialog is modal: it has the focus on behalf of its owner.
    let focused =
        |windows: &[WindowInfo]| windows.iter().any(|window| window.id == dialog.id && window.active);
    windows_until(&desktop, "the focus on the dialog", focused).await;
    desktop.activate(calc.id).await.unwrap();
    assert!(focused(&desktop.windows().await.unwrap()));
    press_until(&desktop, "Escape", |windows| windows.len() == 1 && windows[0].active).await;
    press_until(&desktop, "alt+f", kind(WindowKind::Popup)).await;
    press_until(&desktop, "Escape", |windows| windows.len() == 1).await;
    if let Some(file) = std::env::var_os("DESKHAND_TEST_PICTURE") {
        std::fs::write(file, desktop.screen().await.unwrap().to_png().unwrap()).unwrap();
    }
    desktop.shut_down().await;
}
