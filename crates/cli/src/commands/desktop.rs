//! `deskhand desktop`: a virtual desktop to work on by hand.

use deskhand_host::config::Overrides;

use super::{host::load, signals::Signals};
use crate::{
    args::DesktopCommandArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Output, Stream},
};

/// The variables that another shell needs to use the desktop.
const VARIABLES: &[&str] = &["DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"];

pub(crate) async fn desktop(args: &DesktopCommandArgs) -> CommandResult {
    let overrides = Overrides::default().set("desktop.kind", "virtual", "deskhand desktop").set_if(
        "desktop.size",
        args.size.map(String::from),
        "the flag --size",
    );
    let plan = load(overrides)?.workspace(&[], args.launch.as_deref())?;
    let mut signals = Signals::catch()?;
    let mut workspace = tokio::select! {
        workspace = plan.start() => workspace?,
        _ = signals.next() => return Ok(Exit::Success),
    };
    let opened = tokio::select! {
        opened = plan.open_on(&mut workspace) => opened.map(|()| true),
        _ = signals.next() => Ok(false),
    };
    if !matches!(opened, Ok(true)) {
        workspace.close().await;
        opened?;
        return Ok(Exit::Success);
    }
    let out = Output::to(Stream::Out);
    for name in VARIABLES {
        if let Some(value) = workspace.back_end().environment().find(name) {
            out.text(format!("export {name}={}", quoted(&value.to_string_lossy())));
        }
    }
    let notes = Output::to(Stream::Error);
    let ms = workspace.back_end().startup().total_ms;
    notes.text(format!("started {} in {ms} ms; press Ctrl-C to end it", workspace.name));
    let gone = tokio::select! {
        _ = signals.next() => false,
        () = workspace.back_end().display_ended() => true,
    };
    workspace.close().await;
    if gone {
        return Err(
            CliError::new("the desktop ended unexpectedly").with_help("start it again: `deskhand desktop`")
        );
    }
    notes.text("ended the desktop");
    Ok(Exit::Success)
}

/// Quotes a value for a shell.
fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/.:_-,=+@".contains(c);
    if value.chars().all(plain) { value.to_owned() } else { format!("'{}'", value.replace('\'', r"'\''")) }
}
