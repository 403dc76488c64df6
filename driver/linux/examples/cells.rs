//! Measures how long cells take to get into a spreadsheet: by its own interface, and through its window as an agent would.
//!
//! Arguments: rows by the interface, rows through the window. Prints JSON. Run by `cargo xtask bench cells`.
#![expect(clippy::print_stdout, reason = "it prints its figures")]

use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use deskhand_desktop::{LaunchRequest, Native as _, NativeAnswer, NativeCall};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, TableTarget};
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_ui::{action::Verdict, ids::WindowId};
use serde_json::{Value, json};

/// The columns of both.
const COLUMNS: usize = 20;

#[tokio::main]
async fn main() -> Result<()> {
    let mut rows = std::env::args().skip(1).map(|text| text.parse::<usize>());
    let native = rows.next().transpose()?.unwrap_or(1_000);
    let typed = rows.next().transpose()?.unwrap_or(5);
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await?;
    let request = LaunchRequest { program: "soffice".to_owned(), arguments: vec!["--calc".to_owned()] };
    let limits = ActLimits::default();
    let window = act::launch(&desktop, &request, &limits).await?.window.context("Calc opened no window")?.id;
    let through_window = through_window(&desktop, window, typed, &limits).await?;
    let by_interface = by_interface(&desktop, window, native).await?;
    desktop.shut_down().await;
    let cells = |rows: usize| (rows * COLUMNS) as f64;
    let (one, other) = (by_interface / cells(native), through_window / cells(typed));
    println!(
        "{}",
        json!({
            "by_interface": {"cells": cells(native), "seconds": by_interface},
            "through_window": {"cells": cells(typed), "seconds": through_window},
            "ratio": other / one,
        })
    );
    Ok(())
}

/// What stands in a cell: a name, numbers, and a sum at the end.
fn cell(row: usize, column: usize) -> Value {
    match column {
        0 => json!(format!("Item {row}")),
        19 => json!(format!("=SUM(B{0}:S{0})", row + 1)),
        column => json!(row * 100 + column),
    }
}

async fn call(desktop: &LinuxDesktop, window: WindowId, operation: &str, arguments: Value) -> Result<Value> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let call = NativeCall { operation: operation.to_owned(), arguments };
    match desktop.native(window, &call).await? {
        NativeAnswer::Done { output, effect, .. } => {
            ensure!(effect.is_none_or(|effect| effect.seen), "{operation} was not read back");
            Ok(output)
        }
        NativeAnswer::Refused(why) | NativeAnswer::Failed(why) => bail!("{operation}: {why}"),
    }
}

/// Writes rows in one call, read back with it, and returns the seconds. The first call starts the program, and is not measured.
async fn by_interface(desktop: &LinuxDesktop, window: WindowId, rows: usize) -> Result<f64> {
    call(desktop, window, "document_info", json!({})).await?;
    let all: Vec<Vec<Value>> =
        (0..rows).map(|row| (0..COLUMNS).map(|column| cell(row, column)).collect()).collect();
    let begun = Instant::now();
    call(desktop, window, "set_range_values", json!({"rows": all})).await?;
    let seconds = begun.elapsed().as_secs_f64();
    call(desktop, window, "undo", json!({})).await?;
    Ok(seconds)
}

/// Writes rows through the window, each cell read back, and returns the seconds.
async fn through_window(
    desktop: &LinuxDesktop,
    window: WindowId,
    rows: usize,
    limits: &ActLimits,
) -> Result<f64> {
    let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let all: Vec<Vec<String>> =
        (0..rows).map(|row| (0..COLUMNS).map(|column| text(cell(row, column))).collect()).collect();
    let start = "A1".parse().context("read a cell")?;
    let begun = Instant::now();
    let report = act::write_table(desktop, window, &TableTarget::Largest, start, &all, limits).await?;
    ensure!(report.effect() == Verdict::Seen, "{}", report.summary());
    Ok(begun.elapsed().as_secs_f64())
}
