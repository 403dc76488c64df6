//! The X11 desktop on a real X server, each test on a virtual desktop of its own.

use deskhand_desktop::linux::{LinuxDesktop, VirtualOptions};

#[tokio::test]
async fn a_desktop_comes_up() {
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    println!("{:?} {:?} {:?}", desktop.startup(), desktop.display_name(), desktop.accessibility_address());
    desktop.close().await;
}
