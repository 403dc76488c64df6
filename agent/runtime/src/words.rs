//! Short descriptions of commands, results and numbers for people.

use deskhand_machine::{
    agent::AgentRef,
    command::{CallResult, CallStatus, ToolCommand},
    intent::Does,
    money::{Cost, Money},
    session::RoundTally,
};
use deskhand_ui::{
    action::{Verdict, words::outcome},
    text::{clip, one_line},
};
use serde_json::Value;

use crate::story::{ModelUse, RunSummary};

/// Describes a command in a few words: `click push button "Finish"`, `visit Insert › Chart…`.
pub fn command_words(command: &ToolCommand, target: Option<&str>) -> String {
    const SHOWN: usize = 60;
    clip(&whole_command_words(command, target), SHOWN)
}

/// Describes a command in full, on one line.
pub fn whole_command_words(command: &ToolCommand, target: Option<&str>) -> String {
    const SUFFIXES: &[&str] = &["_application_window", "_application", "_element", "_window", "_text"];
    let verb = SUFFIXES
        .iter()
        .find_map(|suffix| command.tool.strip_suffix(suffix))
        .unwrap_or(&command.tool)
        .replace('_', " ");
    let argument = |name: &str| command.arguments.get(name).filter(|value| !value.is_null());
    let mut words = vec![verb];
    words.extend(argument("item").map(|item| format!("{} in", plain(item))));
    let path = argument("path").and_then(Value::as_array).map(|path| {
        let names: Vec<&str> = path.iter().filter_map(Value::as_str).collect();
        names.join(" › ")
    });
    if let Some(target) = target {
        words.extend(path.map(|path| format!("{path} of")));
        words.push(target.to_owned());
    } else if let Some(path) = path {
        words.push(path);
    } else if let Some(name) = ["name", "program", "keys", "key", "id"].iter().find_map(|name| argument(name))
    {
        words.push(plain(name));
    }
    const DETAILS: [&str; 13] = [
        "range", "start", "cell", "option", "text", "value", "x", "y", "start_x", "start_y", "end_x",
        "end_y", "seconds",
    ];
    for name in DETAILS {
        if let Some(value) = argument(name) {
            words.push(if name == "text" { format!("“{}”", plain(value)) } else { plain(value) });
        }
    }
    one_line(&words.join(" "))
}

/// Everything about a command that a person approves, beside the words for it: what is run with all arguments, each value in full,
/// the window, the page and the document.
pub fn action_details(command: &ToolCommand) -> Vec<(String, String)> {
    const PROGRAM: [&str; 2] = ["program", "name"];
    const LISTS: [&str; 2] = ["arguments", "files"];
    let mut details = Vec::new();
    let given = |name: &str| command.arguments.get(name).filter(|value| !value.is_null());
    let program = PROGRAM.iter().find_map(|name| given(name)).and_then(Value::as_str);
    let list = LISTS.iter().find_map(|name| given(name)).and_then(Value::as_array);
    let runs = program.filter(|_| list.is_some() || command.intent.does == Does::Run);
    if let Some(program) = runs {
        let arguments = list.into_iter().flatten().map(plain);
        let words = std::iter::once(program.to_owned()).chain(arguments);
        details.push(("runs".to_owned(), words.map(|word| shell_word(&word)).collect::<Vec<_>>().join(" ")));
    }
    let is_told = |name: &str| runs.is_some() && (PROGRAM.contains(&name) || LISTS.contains(&name));
    for (name, value) in command.arguments.iter().filter(|(name, value)| !is_told(name) && !value.is_null()) {
        details.push((name.clone(), value.to_string()));
    }
    let Some(judged) = &command.judged else { return details };
    let place = [("window", &judged.window), ("document", &judged.document.clone().unwrap_or_default())];
    details.extend(place.map(|(name, text)| (name.to_owned(), text.clone())));
    details.push(("page of".to_owned(), judged.hosts.join(", ")));
    details.retain(|(_, text)| !text.is_empty());
    details
}

/// A word as it would be typed in a shell.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,~".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Renders the result of a call, without the command and duration, which are shown next to it.
pub fn result_words(result: &CallResult) -> String {
    outcome(&result.report)
}

/// Renders the acts of a person who took over, as one text.
pub fn hands_words(acts: &[String], unwatched: &[String], words: Option<&str>) -> String {
    let did = match acts {
        [] => String::new(),
        acts => format!(", having done themselves: {}", acts.join("; ")),
    };
    let unknown = match unwatched {
        [] => String::new(),
        unwatched => format!("; not known: {}", unwatched.join("; ")),
    };
    let said = words.map(|words| format!("; they said: {words}")).unwrap_or_default();
    format!("the user handed back{did}{unknown}{said}")
}

/// A one-word result of a call.
pub fn effect_word(result: &CallResult) -> &'static str {
    match (result.status, result.effect) {
        (CallStatus::Skipped, _) => "skipped",
        (_, Some(Verdict::NotSeen)) => "not seen",
        (_, Some(verdict)) => verdict.word(),
        (CallStatus::Success, None) => "read",
        (CallStatus::Failure, None) => "failed",
    }
}

/// The short name of an agent: `libreoffice-calc` for its AppAgent; other agents keep theirs.
pub fn agent_words(agent: &AgentRef) -> String {
    match agent {
        AgentRef::AppAgent { application, .. } => short_name(application).to_owned(),
        AgentRef::HostAgent | AgentRef::Agent { .. } | AgentRef::EvaluationAgent | AgentRef::Unnamed => {
            short_name(agent.kind_word()).to_owned()
        }
    }
}

/// Seconds with one decimal: `11.2 s`.
pub fn seconds(ms: u64) -> String {
    let tenths = ms.saturating_add(50) / 100;
    format!("{}.{} s", tenths / 10, tenths % 10)
}

/// A duration: `87 ms`, `4.9 s`, `3 min 5 s`, `2 h 10 min`.
pub fn duration(ms: u64) -> String {
    const MINUTE: u64 = 60_000;
    const HOUR: u64 = 60 * MINUTE;
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..MINUTE => seconds(ms),
        MINUTE..HOUR => format!("{} min {} s", ms / MINUTE, ms % MINUTE / 1_000),
        _ => format!("{} h {} min", ms / HOUR, ms % HOUR / MINUTE),
    }
}

/// A time for people, in the local time zone with its offset: `2026-11-25 12:15:55 +01:00`.
pub fn local_time(ms: u64) -> String {
    timestamp(ms).map_or_else(String::new, |when| {
        when.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S %:z").to_string()
    })
}

/// A time for programs, in UTC by ISO 8601: `2026-11-25T11:15:55.042Z`; empty if it is out of range.
pub fn iso_time(ms: u64) -> String {
    timestamp(ms).map_or_else(String::new, |when| format!("{when:.3}"))
}

/// Milliseconds since 1970-01-01 UTC as a time, if it is in range.
fn timestamp(ms: u64) -> Option<jiff::Timestamp> {
    i64::try_from(ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
}

/// A number with thousands separators: `14,210`.
pub fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 step`, `2 steps`.
pub fn count(value: u64, noun: &str) -> String {
    format!("{} {noun}{}", number(value), if value == 1 { "" } else { "s" })
}

/// The short name of an application: the last word of `LibreOffice Calc`.
pub fn short_name(name: &str) -> &str {
    name.split_whitespace().next_back().unwrap_or(name)
}

/// The share of what was read that came from a provider's cache: `, 62 % of those read from the cache`; nothing if none did.
pub fn cached_words(tally: &RoundTally) -> String {
    let share = tally.cached_tokens.saturating_mul(100).checked_div(tally.prompt_tokens).unwrap_or(0);
    if tally.cached_tokens == 0 { String::new() } else { format!(", {share} % of those read from the cache") }
}

/// The cost of a model: `$0.12`, `cost unknown`, `at least $0.12`.
pub fn cost_words(cost: Cost) -> String {
    if cost.known == Money(0) && cost.unknown_calls > 0 { format!("cost {cost}") } else { cost.to_string() }
}

/// Renders the usage of each model by each agent, a line each.
pub fn uses_of_models(summary: &RunSummary) -> Vec<String> {
    let line = |used: &ModelUse| {
        let ModelUse { agent, model, tally } = used;
        let tokens = tally.prompt_tokens.saturating_add(tally.completion_tokens);
        let (calls, tokens) = (count(u64::from(tally.model_calls), "call"), count(tokens, "token"));
        format!("{agent} · {model}: {calls}, {tokens}{}, {}", cached_words(tally), cost_words(tally.cost))
    };
    summary.models.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::{duration, iso_time};

    #[test]
    fn times_for_programs_have_all_their_digits() {
        assert_eq!(iso_time(1_795_621_322_000), "2026-11-25T15:42:02.000Z");
        assert_eq!(iso_time(u64::MAX), "");
    }

    #[test]
    fn durations_use_suitable_units() {
        let words = [0, 999, 1_000, 59_940, 61_000, 3_600_000, 7_830_000].map(duration);
        assert_eq!(words, ["0 ms", "999 ms", "1.0 s", "59.9 s", "1 min 1 s", "1 h 0 min", "2 h 10 min"]);
    }
}
