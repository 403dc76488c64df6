//! `deskhand desktop`: a virtual desktop to work on by hand.

use deskhand_host::config::Overrides;

use super::{configuration::load, signals::Signals, stage::StagePlan};
use crate::{
    args::DesktopCommandArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Output, Stream},
};

/// What another shell needs to work on it.
const VARIABLES: &[&str] = &["DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"];

pub(crate) async fn desktop(args: &DesktopCommandArgs) -> CommandResult {
    let overrides = Overrides::default().set("desktop.kind", "virtual", "deskhand desktop").set_if(
        "desktop.size",
        args.size.map(String::from),
        "--size",
    );
    let plan = StagePlan::to_work_on(&load(overrides)?.config, &[])?;
    let plan = StagePlan { launch: args.launch.clone(), ..plan };
    let mut signals = Signals::catch()?;
    let mut stage = tokio::select! {
        stage = plan.start() => stage?,
        _ = signals.next() => return Ok(Exit::Success),
    };
    let furnished = tokio::select! {
        furnished = plan.furnish(&mut stage) => furnished.map(|()| true),
        _ = signals.next() => Ok(false),
    };
    if !matches!(furnished, Ok(true)) {
        stage.close().await;
        return furnished.map(|_| Exit::Success);
    }
    let out = Output::to(Stream::Out);
    for name in VARIABLES {
        if let Some(value) = stage.desktop.inner().environment().find(name) {
            out.text(format!("export {name}={}", quoted(&value.to_string_lossy())));
        }
    }
    let notes = Output::to(Stream::Error);
    let ms = stage.desktop.inner().startup().total_ms;
    notes.text(format!("{} is up after {ms} ms; Ctrl-C ends it", stage.name));
    let gone = tokio::select! {
        _ = signals.next() => false,
        () = stage.desktop.inner().display_ended() => true,
    };
    stage.close().await;
    if gone {
        return Err(CliError::new("the display has ended").with_help("start it again: `deskhand desktop`"));
    }
    notes.text("it is gone");
    Ok(Exit::Success)
}

/// A value as a shell reads it.
fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/.:_-,=+@".contains(c);
    if value.chars().all(plain) { value.to_owned() } else { format!("'{}'", value.replace('\'', r"'\''")) }
}
