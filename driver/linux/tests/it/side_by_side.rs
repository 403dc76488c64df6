//! Several desktops at once.

use deskhand_desktop::WindowManagement as _;

use crate::{
    linux_x11::{desktop, window_titled},
    programs::has_programs,
    x11_client::{Client, Place},
};

#[tokio::test]
async fn desktops_run_side_by_side() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let (one, other) = tokio::join!(desktop(), desktop());
    assert_ne!(one.display_name(), other.display_name());
    assert_ne!(one.accessibility_address(), other.accessibility_address());
    let _client = Client::open(&one, "Only here", Place::default());
    window_titled(&one, "Only here").await;
    assert_eq!(other.windows().await.unwrap(), []);
    tokio::join!(one.shut_down(), other.shut_down());
}
