//! `deskhand gc`: clears old sessions away.

use std::time::SystemTime;

use deskhand_runtime::retention::{self, KeepReason, Retention, RetentionDecision};
use serde::Serialize;

use super::host::load;
use crate::{
    args::GcArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
    render::number,
};

#[derive(Serialize)]
struct Row<'a> {
    session: &'a str,
    removed: bool,
    kept_because: Option<&'static str>,
    bytes: u64,
}

pub(crate) fn gc(args: &GcArgs) -> CommandResult {
    let store = load(args.store.overrides())?.sessions();
    let limits = Retention { older_than: args.older_than, keep: args.keep, unfinished: args.unfinished };
    let now = SystemTime::now();
    let plan = retention::plan(&store, limits, now).map_err(|error| CliError::from_error(&error))?;
    let (out, notes) = (Output::to(Stream::Out), Output::to(Stream::Error));
    let (mut removed, mut freed, mut failed) = (0_u64, 0_u64, false);
    for decision in &plan {
        let mut goes = decision.kept.is_none();
        if goes && !args.dry_run {
            // One that cannot be removed must not keep the others.
            if let Err(error) = retention::remove(&store, &decision.session) {
                notes.line(&Line::of(Tone::Doubtful, CliError::from_error(&error).to_string()));
                (goes, failed) = (false, true);
            }
        }
        if goes {
            removed += 1;
            freed = freed.saturating_add(decision.bytes);
        }
        if args.json {
            let kept_because = decision.kept.map(word);
            let session = &decision.session.0;
            out.json(&Row { session, removed: goes && !args.dry_run, kept_because, bytes: decision.bytes });
        } else if goes || matches!(decision.kept, Some(KeepReason::InUse | KeepReason::Resumable)) {
            out.line(&line(decision, args.dry_run));
        }
    }
    if !args.json {
        let verb = if args.dry_run { "would go, which would free" } else { "removed, which freed" };
        let sessions =
            if removed == 1 { "1 session".to_owned() } else { format!("{} sessions", number(removed)) };
        out.text(format!("{sessions} {verb} {}; {} kept", size(freed), number(plan.len() as u64 - removed)));
    }
    Ok(if failed { Exit::Negative } else { Exit::Success })
}

fn line(decision: &RetentionDecision, dry_run: bool) -> Line {
    let (tone, text) = match decision.kept {
        None if dry_run => (Tone::Plain, "would go"),
        None => (Tone::Plain, "removed"),
        Some(kept) => (Tone::Faint, word(kept)),
    };
    Line::of(Tone::Plain, format!("{}  ", decision.session))
        .with(tone, text)
        .with(Tone::Faint, format!("  {}", size(decision.bytes)))
}

const fn word(kept: KeepReason) -> &'static str {
    match kept {
        KeepReason::InUse => "in use",
        KeepReason::Resumable => "kept: can be resumed",
        KeepReason::Recent => "kept",
    }
}

/// A number of bytes for people.
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
