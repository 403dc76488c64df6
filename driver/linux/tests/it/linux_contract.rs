//! The contract suite on a real desktop.
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};

use crate::{
    contract::{MOUSEPAD, contract},
    programs::has_programs,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_linux_desktop_keeps_the_contract() {
    if !has_programs(&["mousepad"]) {
        return;
    }
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    contract(&desktop, &MOUSEPAD).await;
    desktop.shut_down().await;
}
