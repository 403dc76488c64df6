//! Tests of the desktop in memory itself.

use std::time::Duration;

use deskhand_desktop::{ElementPatterns, IdleWait, QuietLimits, TreeLimits, UiTree, WindowManagement};
use deskhand_ui::CellRange;

use crate::{OFFICE_SALES, office};

#[tokio::test]
async fn the_office_shows_its_table() {
    let desktop = office();
    let window = desktop.find_window("Writer").unwrap();
    let tree = desktop.tree(window, TreeLimits::default()).await.unwrap();
    let table = tree.elements.iter().find(|element| element.name == "Sales-1").unwrap();
    let shape = table.table.unwrap();
    let range: CellRange = "A1:C5".parse().unwrap();
    assert_eq!(range.shape(), shape);
    let content = desktop.cells(table.id, range).await.unwrap();
    assert_eq!(content.rows, OFFICE_SALES.map(|row| row.map(str::to_owned).to_vec()));
}

#[tokio::test]
async fn waits_advance_virtual_time_only() {
    let desktop = office();
    let started = std::time::Instant::now();
    let watch = desktop.watch(None).await.unwrap();
    let settled = desktop.settle(watch, QuietLimits::default()).await.unwrap();
    assert!(settled.changes.is_empty() && !settled.timed_out);
    assert_eq!(settled.waited_ms, 30);
    let known = desktop.windows().await.unwrap();
    let after = desktop.windows_changed(&known, Duration::from_secs(60)).await.unwrap();
    assert_eq!(known, after);
    assert_eq!(desktop.now_ms(), 60_030);
    assert!(started.elapsed() < Duration::from_secs(5));
}
