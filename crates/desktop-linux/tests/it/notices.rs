//! Windows that take no focus: panels, and pop-ups of programs without another window, as notifications are. They are clicked where they
//! are, and get what is sent.

use deskhand_core::{
    geometry::Point,
    ui::{WindowKind, is_notice},
};
use deskhand_desktop::Windowing as _;
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, Click, Target};

use crate::{
    linux_x11::{desktop, window_titled},
    programs::has_programs,
    x11_client::{Client, Place},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn windows_that_take_no_focus_are_clicked_where_they_are() {
    if !has_programs(&["soffice"]) {
        return;
    }
    let panel = Place { panel: true, ..Place::default() };
    let notice = Place { pop_up: true, ..Place::default() };
    for (title, place, kind) in [("Bar", panel, WindowKind::Panel), ("Notice", notice, WindowKind::Popup)] {
        let desktop = desktop().await;
        let mut client = Client::open(&desktop, title, place);
        let window = window_titled(&desktop, title).await;
        client.wait_until_drawn();
        assert_eq!(window.kind, kind);
        let windows = desktop.windows().await.unwrap();
        assert_eq!(is_notice(&windows, &window), kind == WindowKind::Popup, "{windows:?}");
        let at = Point::new(window.bounds.x + 11, window.bounds.y + 12);
        let click = Click::once(Target::Point(at));
        let limits = ActLimits::default();
        let report = act::click(&desktop, window.id, &click, &limits).await.unwrap();
        assert_eq!(client.read_buttons(2), ["+1 11,12", "-1 11,12"], "{title}: {}", report.summary());
        desktop.shut_down().await;
    }
}
