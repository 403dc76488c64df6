//! `deskhand gc`: clears old sessions away.

use std::time::{Duration, SystemTime};

use clap::Args;
use deskhand_runtime::retention::{self, Retention, Sentence, Stays};
use serde::Serialize;

use super::store::open_store;
use crate::{
    args::StoreArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
    render::number,
};

const EXAMPLES: &str = "\
A session that a process works on never goes. One that was broken off and can be resumed goes only once it is as old as
`--older-than` says, or with `--unfinished`.

Examples:
  deskhand gc --dry-run                    what would go: all that is older than 30 days
  deskhand gc --older-than 7d
  deskhand gc --keep 20                    all but the newest 20";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GcArgs {
    /// How long ago something must have happened in a session for the last time: `30d`, `12h`, `90m`.
    #[arg(long, value_name = "AGE", default_value = "30d", value_parser = parse_age)]
    older_than: Duration,
    /// Keep the newest N, however old they are; all others go, however young they are.
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// Clear away those that can be resumed, too.
    #[arg(long)]
    unfinished: bool,
    /// Say what would go, and remove nothing.
    #[arg(long)]
    dry_run: bool,
    /// Write a line of JSON for each session.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Serialize)]
struct Row<'a> {
    session: &'a str,
    removed: bool,
    kept_because: Option<&'static str>,
    bytes: u64,
}

pub(crate) fn gc(args: &GcArgs) -> CommandResult {
    let store = open_store(&args.store)?;
    let limits = Retention { older_than: args.older_than, keep: args.keep, unfinished: args.unfinished };
    let now = SystemTime::now();
    let plan = retention::plan(&store, limits, now).map_err(|error| CliError::from_error(&error))?;
    let (out, notes) = (Output::to(Stream::Out), Output::to(Stream::Error));
    let (mut removed, mut freed, mut failed) = (0_u64, 0_u64, false);
    for sentence in &plan {
        let mut goes = sentence.stays.is_none();
        if goes && !args.dry_run {
            // One that cannot be removed must not keep the others.
            if let Err(error) = retention::remove(&store, &sentence.session) {
                notes.line(&Line::of(Tone::Doubtful, CliError::from_error(&error).to_string()));
                (goes, failed) = (false, true);
            }
        }
        if goes {
            removed += 1;
            freed = freed.saturating_add(sentence.bytes);
        }
        if args.json {
            let kept_because = sentence.stays.map(word);
            let session = &sentence.session.0;
            out.json(&Row { session, removed: goes && !args.dry_run, kept_because, bytes: sentence.bytes });
        } else if goes || matches!(sentence.stays, Some(Stays::InUse | Stays::Resumable)) {
            out.line(&line(sentence, args.dry_run));
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

fn line(sentence: &Sentence, dry_run: bool) -> Line {
    let (tone, text) = match sentence.stays {
        None if dry_run => (Tone::Plain, "would go"),
        None => (Tone::Plain, "removed"),
        Some(stays) => (Tone::Faint, word(stays)),
    };
    Line::of(Tone::Plain, format!("{}  ", sentence.session))
        .with(tone, text)
        .with(Tone::Faint, format!("  {}", size(sentence.bytes)))
}

const fn word(stays: Stays) -> &'static str {
    match stays {
        Stays::InUse => "in use",
        Stays::Resumable => "kept: can be resumed",
        Stays::Kept => "kept",
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

fn parse_age(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no age; write a number and a unit, such as 30d, 12h or 90m");
    let split = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let (digits, unit) = text.split_at(split);
    let count: u64 = digits.parse().map_err(|_| wrong())?;
    let seconds = match unit {
        "d" => 24 * 60 * 60,
        "h" => 60 * 60,
        "m" => 60,
        "s" => 1,
        _ => return Err(wrong()),
    };
    Ok(Duration::from_secs(count.saturating_mul(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_sizes() {
        assert_eq!(parse_age("30d"), Ok(Duration::from_hours(30 * 24)));
        assert_eq!(parse_age("90m"), Ok(Duration::from_mins(90)));
        for wrong in ["", "30", "d", "3 d", "-1d", "1y"] {
            assert!(parse_age(wrong).is_err(), "{wrong}");
        }
        assert_eq!([size(999), size(12_345), size(5_000_000_000)], ["999 B", "12 kB", "5,000 MB"]);
    }
}
