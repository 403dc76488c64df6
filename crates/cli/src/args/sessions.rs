//! Arguments of the commands on sessions: list, show, report, resume, fork, verify, clear away, replay.

use std::{path::PathBuf, str::FromStr as _, time::Duration};

use clap::Args;
use deskhand_runtime::ReportFormat;

use super::{StoreArgs, WorkArgs};

#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Write a line of JSON for each.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The session: its id, the beginning or end of it, or `last`.
    pub(crate) session: String,
    /// List the records of the journal by their numbers, a line each.
    #[arg(long)]
    pub(crate) records: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Formats:
  html       one page that holds everything: time line, pictures with the controls that were acted on, thoughts, prompts,
             replies, effects, tokens, cost; opens offline
  markdown   the trajectory as text, with the pictures in a folder beside it
  jsonl      a line of JSON for each step, for other programs; docs/guides/reports.md explains the fields
  ufo        a folder of logs with the names of the reference implementation: request.log, response.log, output.md, …

Examples:
  deskhand report last                     writes report.html into the folder of the session and prints where it is
  deskhand report last --format jsonl --output /dev/stdout | jq .thought
  deskhand report 0199 --format ufo --output logs/sales

A report holds what was on the screen and what was asked: share it as you would share those.")]
pub(crate) struct ReportArgs {
    /// The session: its id, the beginning or end of it, or `last`.
    pub(crate) session: String,
    /// What to write.
    #[arg(long, value_name = "FORMAT", default_value = "html", value_parser = ReportFormat::from_str)]
    pub(crate) format: ReportFormat,
    /// The file to write, or the folder for `ufo` [default: report.… in the folder of the session].
    #[arg(long, short, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The session: its id, the beginning or end of it, or `last`.
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

const RESUME_EXAMPLES: &str = "\
A session goes on where its journal ends, with the memory of its agents, the same model and the same limits. An action
that was going on when the process died is not done again: the agent is told that it may be half done, and looks. If
the virtual desktop is still kept (desktop.keep_minutes), work goes on in the same windows; else on a new desktop.

Examples:
  deskhand resume last                     go on with what was broken off
  deskhand resume last \"now save it as PDF\"   another request to the same session
  deskhand resume 0196f --model openai:gpt-5-mini   the same, with another model";

#[derive(Debug, Args)]
#[command(after_help = RESUME_EXAMPLES)]
pub(crate) struct ResumeArgs {
    /// The session: its id, the beginning or end of it, or `last`.
    pub(crate) session: String,
    /// What to do next, once what was broken off is done.
    pub(crate) request: Option<String>,
    /// Save a picture of the screen at the end.
    #[arg(long, value_name = "FILE")]
    pub(crate) screenshot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

const FORK_EXAMPLES: &str = "\
The fork has the first records of the session, and goes on from there on a new desktop: with the model, prompts, policy
and limits that are given here, else with those of the session. The session itself is left as it is. A record is one
line of the journal; `deskhand show ID --records` numbers them.

Examples:
  deskhand fork last --at 24 --model openai:gpt-5-mini     what another model makes of it
  deskhand fork last --at 24 --prompts my-prompts/         what other prompts lead to
  deskhand fork last --at 24 --policy careful.toml         under other rules";

#[derive(Debug, Args)]
#[command(after_help = FORK_EXAMPLES)]
pub(crate) struct ForkArgs {
    /// The session: its id, the beginning or end of it, or `last`.
    pub(crate) session: String,
    /// The last record that the fork has in common with it.
    #[arg(long, value_name = "RECORD")]
    pub(crate) at: u64,
    /// What to do next, once what is going on at that record is done.
    pub(crate) request: Option<String>,
    /// A folder of prompts: each file there, such as `host_system.md`, takes the place of the prompt of that name.
    #[arg(long, value_name = "DIR")]
    pub(crate) prompts: Option<PathBuf>,
    /// A policy to go on under: a TOML file of rules.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Save a picture of the screen at the end.
    #[arg(long, value_name = "FILE")]
    pub(crate) screenshot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

const VERIFY_EXAMPLES: &str = "\
Every line of a journal carries the hash of its own bytes and of the line before it; prompts and pictures lie beside it
under their hashes. A byte that was changed anywhere is named with its record. Exit code 0: all is as it was written;
1: it is not.

Example:
  deskhand verify last";

#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// The session: its id, the beginning or end of it, or `last`.
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Write what was found as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

const GC_EXAMPLES: &str = "\
A session that a process works on never goes. One that was broken off and can be resumed goes only once it is as old as
`--older-than` says, or with `--unfinished`.

Examples:
  deskhand gc --dry-run                    what would go: all that is older than 30 days
  deskhand gc --older-than 7d
  deskhand gc --keep 20                    all but the newest 20";

#[derive(Debug, Args)]
#[command(after_help = GC_EXAMPLES)]
pub(crate) struct GcArgs {
    /// How long ago something must have happened in a session for the last time: `30d`, `12h`, `90m`.
    #[arg(long, value_name = "AGE", default_value = "30d", value_parser = parse_age)]
    pub(crate) older_than: Duration,
    /// Keep the newest N, however old they are; all others go, however young they are.
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<usize>,
    /// Clear away those that can be resumed, too.
    #[arg(long)]
    pub(crate) unfinished: bool,
    /// Say what would go, and remove nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write a line of JSON for each session.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
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
    fn ages() {
        assert_eq!(parse_age("30d"), Ok(Duration::from_hours(30 * 24)));
        assert_eq!(parse_age("90m"), Ok(Duration::from_mins(90)));
        for wrong in ["", "30", "d", "3 d", "-1d", "1y"] {
            assert!(parse_age(wrong).is_err(), "{wrong}");
        }
    }
}
