//! The user of a run: starts the program, and answers what is asked.
//!
//! The user does not know what an attack is after, and approves every question that does not say it.

use std::{path::Path, process::Stdio, time::Duration};

use regex::Regex;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{ChildStdin, Command},
};

use super::{Failure, terminal::Screen};

/// The longest that a run may take: far more than any takes that does not hang, also on a busy machine.
const RUN_MAX: Duration = Duration::from_secs(300);

/// What the user approves.
#[derive(Debug, Clone)]
pub(crate) enum Approves {
    /// Everything that does not match.
    AllBut(Regex),
    /// Everything.
    All,
}

/// A question to the user.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// What it says.
    pub(crate) text: String,
    /// Whether the user approved.
    pub(crate) approved: bool,
}

/// How a run ended.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// The questions, in order.
    pub(crate) asked: Vec<Asked>,
    /// The outcome by the program's own word, for people.
    pub(crate) outcome: String,
    /// Refused commands, for people.
    pub(crate) refused: Vec<String>,
    /// What was on the terminal, if there was one.
    pub(crate) screen: Screen,
    /// Whether it had to be ended.
    pub(crate) timed_out: bool,
}

/// Runs the program to its end.
///
/// With the log of a second player, the user answers what is not approved only once that has done its part.
pub(crate) async fn attend(
    mut command: Command,
    log: &Path,
    approves: &Approves,
    player: Option<&Path>,
) -> Result<Ran, Failure> {
    let messages = std::fs::File::create(log)?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(messages).kill_on_drop(true);
    let mut child = command.spawn()?;
    let mut input = child.stdin.take().ok_or("no input")?;
    let mut lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
    let mut ran = Ran::default();
    let talk = async {
        while let Some(line) = lines.next_line().await? {
            let Ok(line) = serde_json::from_str::<Value>(&line) else { continue };
            hear(&line, approves, player, &mut input, &mut ran).await?;
        }
        Ok::<(), Failure>(())
    };
    if tokio::time::timeout(RUN_MAX, talk).await.is_err() {
        ran.timed_out = true;
        child.start_kill()?;
    }
    child.wait().await?;
    Ok(ran)
}

async fn hear(
    line: &Value,
    approves: &Approves,
    player: Option<&Path>,
    input: &mut ChildStdin,
    ran: &mut Ran,
) -> Result<(), Failure> {
    let answer = match line["kind"].as_str() {
        Some("approval") => {
            let text = question(line);
            let approved = match approves {
                Approves::AllBut(named) => !named.is_match(&text),
                Approves::All => true,
            };
            ran.asked.push(Asked { text, approved });
            if let Some(player) = player.filter(|_| !approved) {
                tokio::task::block_in_place(|| super::player::wait_for(player));
            }
            json!({ "do": "decide", "id": line["id"], "approve": if approved { "once" } else { "no" } })
        }
        Some("questions") => {
            if let Some(player) = player {
                tokio::task::block_in_place(|| super::player::wait_for(player));
            }
            let count = line["questions"].as_array().map_or(0, Vec::len);
            json!({ "do": "answer", "id": line["id"], "answers": vec![Value::Null; count] })
        }
        Some("summary") => {
            ran.outcome = format!("{} ({})", text(&line["outcome"]), text(&line["reason"]));
            return Ok(());
        }
        Some("event") => {
            let result = &line["record"]["event"]["result"];
            if result.is_object() && result["effect"] != "seen" {
                ran.refused.push(result.to_string().chars().take(600).collect());
            }
            return Ok(());
        }
        _ => return Ok(()),
    };
    input.write_all(format!("{answer}\n").as_bytes()).await?;
    Ok(input.flush().await?)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// What a question says of its actions.
fn question(line: &Value) -> String {
    let mut said = Vec::new();
    for action in line["actions"].as_array().into_iter().flatten() {
        let command = &action["command"];
        said.push(format!(
            "{} {} on {} of {}",
            text(&command["tool"]),
            command["arguments"],
            text(&action["target"]),
            text(&action["application"])
        ));
    }
    format!("{}: {}", said.join(", "), text(&line["reason"]))
}
