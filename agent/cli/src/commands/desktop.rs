//! `deskhand desktop`: a virtual desktop to work on by hand, and the desktops of sessions that are still there.

use deskhand_desktop_linux::{DesktopHandle, VncInput, VncServer};
use deskhand_host::{AttachedDesktop, Host, HostError, Workspace, config::Overrides};
use serde_json::json;

use super::{
    host::{load, warn},
    signals::StopSignals,
};
use crate::{
    args::{AttachDesktopArgs, DesktopCommand, DesktopCommandArgs, EndDesktopArgs, ListDesktopsArgs},
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream},
};

/// The variables that another shell needs to use the desktop.
const VARIABLES: &[&str] = &["DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"];

pub(crate) async fn desktop(args: &DesktopCommandArgs) -> CommandResult {
    match &args.command {
        None => start(args).await,
        Some(DesktopCommand::List(args)) => list(args),
        Some(DesktopCommand::Attach(args)) => attach(args).await,
        Some(DesktopCommand::End(args)) => end(args).await,
    }
}

async fn start(args: &DesktopCommandArgs) -> CommandResult {
    let overrides = Overrides::default().set("desktop.kind", "virtual", "deskhand desktop").set_if(
        "desktop.size",
        args.size.map(String::from),
        "the flag --size",
    );
    let plan = load(overrides)?.workspace(&[], args.launch.as_deref())?;
    let mut signals = StopSignals::catch()?;
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
    print_variables(&workspace);
    let notes = Output::to(OutputStream::Error);
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

/// Prints how other programs reach a desktop.
pub(super) fn print_variables(workspace: &Workspace) {
    let out = Output::to(OutputStream::Out);
    for name in VARIABLES {
        if let Some(value) = workspace.back_end().environment().find(name) {
            out.text(export(name, &value.to_string_lossy()));
        }
    }
}

fn list(args: &ListDesktopsArgs) -> CommandResult {
    let kept = load(args.store.overrides())?.kept_desktops()?;
    let out = Output::to(OutputStream::Out);
    if kept.is_empty() && !args.json {
        Output::to(OutputStream::Error).text("no desktop of a session is kept");
    }
    for one in kept {
        if args.json {
            let display = &one.handle.display;
            out.json(&json!({"session": one.session, "display": display, "in_use": one.in_use}));
        } else {
            let state = if one.in_use { "in use" } else { "kept" };
            out.text(format!("{}  {:<6}  display {}", one.session, state, one.handle.display));
        }
    }
    Ok(Exit::Success)
}

async fn attach(args: &AttachDesktopArgs) -> CommandResult {
    let host = load(args.store.overrides())?;
    let kept = host.kept_desktop(&args.session)?;
    let mut signals = StopSignals::catch()?;
    let attached = host.attach(&kept.session.0).await?;
    let shown = show(args, &kept.handle, attached.as_ref(), &mut signals).await;
    let Some(attached) = attached else { return shown };
    if attached.workspace().back_end().has_ended() {
        return Err(CliError::new("the desktop ended"));
    }
    let minutes = attached.leave().await?.as_secs().div_ceil(60);
    Output::to(OutputStream::Error).text(format!("left the desktop; it stays for {minutes} minutes"));
    shown
}

/// Shows a desktop until a signal comes or it ends.
async fn show(
    args: &AttachDesktopArgs,
    handle: &DesktopHandle,
    attached: Option<&AttachedDesktop>,
    signals: &mut StopSignals,
) -> CommandResult {
    let (out, notes) = (Output::to(OutputStream::Out), Output::to(OutputStream::Error));
    for (name, value) in handle.variables() {
        out.text(export(name, &value));
    }
    let input = if attached.is_some() { VncInput::Full } else { VncInput::ViewOnly };
    let server = match args.no_vnc {
        true => None,
        false => VncServer::start(handle, input).await.map_err(|error| CliError::new(error.chain()))?,
    };
    match &server {
        Some(server) => {
            let only =
                if input == VncInput::ViewOnly { " (only to look at: its session is at work)" } else { "" };
            out.text(format!("# vncviewer 127.0.0.1::{}    password {}{only}", server.port, server.password));
        }
        None if args.no_vnc => {}
        None => notes.text("to look at it, install `x11vnc` and a viewer, and run this again"),
    }
    notes.text("press Ctrl-C to leave it");
    let ended = async {
        match (attached, server) {
            (Some(attached), _server) => attached.workspace().back_end().display_ended().await,
            (None, Some(mut server)) => server.ended().await,
            (None, None) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = signals.next() => {}
        () = ended => {}
    }
    Ok(Exit::Success)
}

async fn end(args: &EndDesktopArgs) -> CommandResult {
    let host = load(args.store.overrides())?;
    let Some(name) = &args.session else {
        for kept in host.kept_desktops()?.into_iter().filter(|kept| !kept.in_use) {
            end_one(&host, &kept.session.0).await?;
        }
        return Ok(Exit::Success);
    };
    if !end_one(&host, name).await? {
        return Err(CliError::new(format!("the session {name} is at work on its desktop"))
            .with_help("stop it with Ctrl-C in its terminal"));
    }
    Ok(Exit::Success)
}

/// Ends the desktop of a session; false if another process uses it.
async fn end_one(host: &Host, name: &str) -> Result<bool, HostError> {
    let Some(attached) = host.attach(name).await? else { return Ok(false) };
    attached.end().await.iter().for_each(warn);
    Ok(true)
}

fn export(name: &str, value: &str) -> String {
    format!("export {name}={}", quoted(value))
}

/// Quotes a value for a shell.
fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/.:_-,=+@".contains(c);
    if value.chars().all(plain) { value.to_owned() } else { format!("'{}'", value.replace('\'', r"'\''")) }
}
