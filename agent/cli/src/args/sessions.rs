//! Arguments of the commands on sessions: sessions, show, report, resume, fork, verify, gc, replay.

use std::{path::PathBuf, str::FromStr, time::Duration};

use clap::Args;
use deskhand_runtime::{
    ReportFormat,
    catalogue::{Column, OutcomeFilter},
};

use super::{StoreArgs, WorkArgs};

#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    /// List only sessions in which each of these words occurs: in requests, replies, results, or what applications showed.
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,
    /// List only sessions with this word in a request, the reason of the outcome, an application, a workflow, a model or the id. Looks
    /// only at the table, so it is fast. Can be given several times.
    #[arg(long, value_name = "WORD")]
    pub(crate) search: Vec<String>,
    /// List only sessions with this outcome: finished, failed, rejected, budget_exhausted, cancelled, error, or none. Can be given
    /// several times.
    #[arg(long, value_name = "OUTCOME", value_parser = OutcomeFilter::from_str)]
    pub(crate) outcome: Vec<OutcomeFilter>,
    /// List only sessions that worked in this application, by a part of its name. Can be given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) application: Vec<String>,
    /// Sort by this column: begun, last, id, request, outcome, state, application, model, desktop, steps, actions, model_calls, tokens,
    /// cost or elapsed.
    #[arg(long, value_name = "COLUMN", default_value_t, value_parser = Column::from_str)]
    pub(crate) sort: Column,
    /// Sort from small to great, instead of from great to small.
    #[arg(long)]
    pub(crate) ascending: bool,
    /// List at most this many sessions.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print one line of JSON per session.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A range of numbers, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberRange {
    first: u64,
    last: u64,
}

impl NumberRange {
    /// Every number.
    pub(crate) const ALL: Self = Self { first: 0, last: u64::MAX };

    /// Returns `true` if a number is in the range.
    pub(crate) const fn contains(self, number: u64) -> bool {
        self.first <= number && number <= self.last
    }
}

impl FromStr for NumberRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no range; use a form like `7`, `3..5`, `3..` or `..5`");
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let number = |text: &str, open: u64| {
            if text.is_empty() { Ok(open) } else { text.parse::<u64>().map_err(|_| wrong()) }
        };
        let range = Self { first: number(first, 0)?, last: number(last, u64::MAX)? };
        if text.is_empty() || range.first > range.last { Err(wrong()) } else { Ok(range) }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Session: its id, the start or end of the id, or `last`.
    pub(crate) session: String,
    /// List the numbered records of the journal, one per line.
    #[arg(long)]
    pub(crate) records: bool,
    /// Show only these steps: `7`, `3..5`, `3..` or `..5`, both ends included. With --records, only these records.
    #[arg(long, value_name = "RANGE")]
    pub(crate) steps: Option<NumberRange>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Formats:
  html       one self-contained page: timeline, pictures with marked controls, thoughts, prompts,
             replies, effects, tokens, cost
  markdown   the steps as text, with the pictures in a folder beside it
  jsonl      one line of JSON per step; docs/guides/reports.md describes the fields
  ufo        a folder of logs in the format of the reference implementation: request.log,
             response.log, output.md, …

Examples:
  deskhand report last                     writes report.html and prints its path
  deskhand report last --format jsonl --output /dev/stdout | jq .thought
  deskhand report 0199 --format ufo --output logs/sales

A report contains everything that was on the screen. Check it before you share it.")]
pub(crate) struct ReportArgs {
    /// Session: its id, the start or end of the id, or `last`.
    pub(crate) session: String,
    /// Report format.
    #[arg(long, value_name = "FORMAT", default_value = "html", value_parser = ReportFormat::from_str)]
    pub(crate) format: ReportFormat,
    /// File to write, or folder for `ufo` [default: report.… in the session folder].
    #[arg(long, short, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Session: its id, the start or end of the id, or `last`.
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

const RESUME_EXAMPLES: &str = "\
The session continues where its journal ends, with the same memory, model and limits. An action that
was in progress when the process died is not repeated: the agent learns that it may be half done, and
looks at the result. If the virtual desktop is still kept (desktop.keep_minutes), work continues in
the same windows, else on a new desktop.

Examples:
  deskhand resume last                     continue an interrupted request
  deskhand resume last \"now save it as PDF\"   add another request
  deskhand resume 0196f --model openai:gpt-5-mini   continue with another model";

#[derive(Debug, Args)]
#[command(after_help = RESUME_EXAMPLES)]
pub(crate) struct ResumeArgs {
    /// Session: its id, the start or end of the id, or `last`.
    pub(crate) session: String,
    /// Task to start once the interrupted request has ended.
    pub(crate) request: Option<String>,
    /// Accept a journal whose seals cannot be checked, because another machine wrote it.
    #[arg(long)]
    pub(crate) unsealed: bool,
    /// Save a final screenshot.
    #[arg(long, value_name = "FILE")]
    pub(crate) screenshot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

const FORK_EXAMPLES: &str = "\
The fork is a new session that starts with the first records of another one and continues on a new
desktop. Flags replace the model, prompts, policy and limits of the original session, which stays
unchanged. A record is one line of the journal; `deskhand show ID --records` numbers them.

Examples:
  deskhand fork last --at 24 --model openai:gpt-5-mini     try another model
  deskhand fork last --at 24 --prompts my-prompts/         try other prompts
  deskhand fork last --at 24 --policy careful.toml         try another policy";

#[derive(Debug, Args)]
#[command(after_help = FORK_EXAMPLES)]
pub(crate) struct ForkArgs {
    /// Session: its id, the start or end of the id, or `last`.
    pub(crate) session: String,
    /// Last record to keep.
    #[arg(long, value_name = "RECORD")]
    pub(crate) at: u64,
    /// Task to start once the request in progress at that record has ended.
    pub(crate) request: Option<String>,
    /// Folder of prompts; each file, such as `host_system.md`, replaces the prompt of that name.
    #[arg(long, value_name = "DIR")]
    pub(crate) prompts: Option<PathBuf>,
    /// Accept a journal whose seals cannot be checked, because another machine wrote it.
    #[arg(long)]
    pub(crate) unsealed: bool,
    /// Save a final screenshot.
    #[arg(long, value_name = "FILE")]
    pub(crate) screenshot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

const VERIFY_EXAMPLES: &str = "\
Every record of a journal is sealed with a key that is kept outside of the sessions, usually in
~/.local/state/deskhand/seals, and the last record is noted beside it. Prompts and pictures are named
by their hashes. Every record that was changed, forged, removed or moved is reported by its number.

Without the key, only the hashes can be checked. They show accidents. Whoever changes a journal on
purpose can recompute them; so it is called consistent with itself, and not intact.

Exit codes: 0 intact; 1 modified; 3 consistent with itself, but not proven.

Example:
  deskhand verify last";

#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// Session: its id, the start or end of the id, or `last`.
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

const GC_EXAMPLES: &str = "\
A session in use is never removed. With `--keep`, an interrupted session that can be resumed is kept
until it is as old as `--older-than`, unless `--unfinished` is given.

Examples:
  deskhand gc --dry-run                    list what would be removed: sessions older than 30 days
  deskhand gc --older-than 7d
  deskhand gc --keep 20                    remove all but the newest 20";

#[derive(Debug, Args)]
#[command(after_help = GC_EXAMPLES)]
pub(crate) struct GcArgs {
    /// Remove sessions without activity for this long: `30d`, `12h`, `90m`.
    #[arg(long, value_name = "AGE", default_value = "30d", value_parser = parse_age)]
    pub(crate) older_than: Duration,
    /// Keep the newest N sessions and remove all others, regardless of age.
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<usize>,
    /// Also remove interrupted sessions that can be resumed.
    #[arg(long)]
    pub(crate) unfinished: bool,
    /// List what would be removed, and remove nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one line of JSON per session.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

fn parse_age(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not an age; use a number and a unit, such as 30d, 12h or 90m");
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
