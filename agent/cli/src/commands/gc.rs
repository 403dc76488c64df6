//! `deskhand gc`: removes old sessions.

use deskhand_host::{Removal, RemovalMode, RemovalResult};
use deskhand_runtime::retention::{KeepReason, Retention};
use serde::Serialize;

use super::host::load;
use crate::{
    args::GcArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
    render::number,
};

#[derive(Serialize)]
struct SessionRemovalRow<'a> {
    session: &'a str,
    removed: bool,
    kept_because: Option<&'static str>,
    bytes: u64,
}

pub(crate) fn gc(args: &GcArgs) -> CommandResult {
    let host = load(args.store.overrides())?;
    let limits = Retention { older_than: args.older_than, keep: args.keep, unfinished: args.unfinished };
    let mode = if args.dry_run { RemovalMode::DryRun } else { RemovalMode::Remove };
    let removals = host.remove_sessions(limits, mode)?;
    let (out, notes) = (Output::to(OutputStream::Out), Output::to(OutputStream::Error));
    let (mut removed, mut freed, mut failed) = (0_u64, 0_u64, false);
    for removal in &removals {
        match &removal.result {
            RemovalResult::Removed => {
                removed += 1;
                freed = freed.saturating_add(removal.bytes);
            }
            RemovalResult::Kept(_) => {}
            RemovalResult::Failed(error) => {
                failed = true;
                notes.line(&StyledLine::of(OutputTone::Doubtful, CliError::from_error(error).to_string()));
            }
        }
        if args.json {
            out.json(&row(removal, args.dry_run));
        } else if let Some(line) = line(removal, args.dry_run) {
            out.line(&line);
        }
    }
    if !args.json {
        let verb = if args.dry_run { "would be removed, freeing" } else { "removed, freeing" };
        let sessions =
            if removed == 1 { "1 session".to_owned() } else { format!("{} sessions", number(removed)) };
        let kept = number(removals.len() as u64 - removed);
        out.text(format!("{sessions} {verb} {}; {kept} kept", size(freed)));
    }
    Ok(if failed { Exit::Negative } else { Exit::Success })
}

fn row(removal: &Removal, dry_run: bool) -> SessionRemovalRow<'_> {
    let kept_because = match &removal.result {
        RemovalResult::Kept(reason) => Some(word(*reason)),
        RemovalResult::Removed | RemovalResult::Failed(_) => None,
    };
    let removed = matches!(removal.result, RemovalResult::Removed) && !dry_run;
    SessionRemovalRow { session: &removal.session.0, removed, kept_because, bytes: removal.bytes }
}

/// The line of a session; `None` if it is recent, or its error was printed.
fn line(removal: &Removal, dry_run: bool) -> Option<StyledLine> {
    let (tone, text) = match &removal.result {
        RemovalResult::Removed if dry_run => (OutputTone::Plain, "would be removed"),
        RemovalResult::Removed => (OutputTone::Plain, "removed"),
        RemovalResult::Kept(reason @ (KeepReason::InUse | KeepReason::Resumable)) => {
            (OutputTone::Faint, word(*reason))
        }
        RemovalResult::Kept(KeepReason::Recent) | RemovalResult::Failed(_) => return None,
    };
    let line = StyledLine::of(OutputTone::Plain, format!("{}  ", removal.session)).with(tone, text);
    Some(line.with(OutputTone::Faint, format!("  {}", size(removal.bytes))))
}

const fn word(kept: KeepReason) -> &'static str {
    match kept {
        KeepReason::InUse => "in use",
        KeepReason::Resumable => "kept, can be resumed",
        KeepReason::Recent => "kept",
    }
}

/// Formats a number of bytes.
fn size(bytes: u64) -> String {
    const KILO: u64 = 1_000;
    match bytes {
        0..KILO => format!("{bytes} B"),
        _ if bytes < KILO * KILO => format!("{} kB", bytes / KILO),
        _ => format!("{} MB", number(bytes / KILO / KILO)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!([size(999), size(12_345), size(5_000_000_000)], ["999 B", "12 kB", "5,000 MB"]);
    }
}
