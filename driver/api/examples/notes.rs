//! Opens a text editor on a desktop of its own, types a line and asserts that it is there.
//!
//! `cargo run -p deskhand-driver --example notes`

#![expect(clippy::print_stdout, reason = "an example shows what it did")]

use deskhand_driver::{
    act::{ActLimits, TypeTextOptions, launch, type_text},
    desktop::LaunchRequest,
    linux::{LinuxDesktop, VirtualOptions},
    ui::action::Verdict,
};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await?;
    let limits = ActLimits::default();
    let editor = LaunchRequest { program: "mousepad".to_owned(), arguments: Vec::new() };
    let opened = launch(&desktop, &editor, &limits).await?;
    let Some(window) = opened.window.as_ref() else { anyhow::bail!(opened.summary()) };
    let window = window.id;
    let text = TypeTextOptions { element: None, name: None, text: "Hello".to_owned(), clear: false };
    let typed = type_text(&desktop, window, &text, &limits).await?;
    assert_eq!(typed.effect(), Verdict::Seen, "{}", typed.summary());
    println!("{}", typed.summary());
    desktop.shut_down().await;
    Ok(())
}
