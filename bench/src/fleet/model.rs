//! A model at an endpoint: it carries tasks out, and looks before it repeats something, as a careful model does.

use serde_json::{Value, json};

/// How often the model tries one sub-task.
const TRIES_MAX: usize = 6;
/// What the requests of tasks begin with.
pub(super) const APPENDS: &str = "Append to the ledger: ";
/// See [`APPENDS`].
pub(super) const WRITES: &str = "Write into the note: ";

/// What the model replies to a prompt.
pub(super) fn reply(prompt: &str) -> Value {
    if prompt.contains("You are the HostAgent") {
        return host(prompt);
    }
    let own = prompt.split("# Your sub-task").nth(1).unwrap_or_default();
    match (word_after(own, APPENDS), word_after(own, WRITES)) {
        (Some(word), _) => ledger(prompt, word),
        (None, Some(word)) => editor(prompt, word),
        (None, None) => fails("this is no sub-task of ours"),
    }
}

fn fails(why: &str) -> Value {
    json!({"thought": why, "status": "FAIL", "reason": why, "result": why})
}

/// The word that follows a text.
fn word_after<'p>(prompt: &'p str, before: &str) -> Option<&'p str> {
    let (_, rest) = prompt.rsplit_once(before)?;
    rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().filter(|word| !word.is_empty())
}

/// The id in `[…]` of the last line that contains all the parts.
fn id_of<'p>(prompt: &'p str, parts: &[&str]) -> Option<&'p str> {
    let line = prompt.lines().rfind(|line| parts.iter().all(|part| line.contains(part)))?;
    let at = line.find(parts.first()?)?;
    let (_, rest) = line.get(..at.saturating_add(1))?.rsplit_once('[')?;
    rest.split_once(']').map(|(id, _)| id)
}

/// The HostAgent opens what the task needs, assigns it, and looks at what is reported.
fn host(prompt: &str) -> Value {
    let request = prompt.rsplit_once("# The user's request").map_or("", |(_, request)| request);
    let (before, word) = match (word_after(request, APPENDS), word_after(request, WRITES)) {
        (Some(word), _) => (APPENDS, word),
        (None, Some(word)) => (WRITES, word),
        (None, None) => return fails("this is no request of ours"),
    };
    let subtask = format!("{before}{word}");
    let reported = || prompt.lines().filter(|line| line.starts_with("- “") && line.contains(&subtask));
    if reported().any(|line| line.contains("FINISHED")) {
        return json!({"thought": "it is done", "status": "FINISH", "result": format!("{word} is there")});
    }
    if reported().count() > TRIES_MAX {
        return fails("it does not work");
    }
    let window = if before == APPENDS { "] window \"Ledger" } else { "Mousepad" };
    match (id_of(prompt, &["] window \"", window]), before == APPENDS) {
        (Some(id), _) => {
            json!({"thought": "next", "status": "ASSIGN", "current_subtask": subtask, "control_label": id, "next": []})
        }
        (None, true) => json!({
            "thought": "it is not open", "status": "CONTINUE",
            "function": "launch_application", "arguments": {"name": "ledger"},
        }),
        (None, false) => fails("the note is not open"),
    }
}

/// The AppAgent of the ledger: it looks whether its line is there, and appends it if not.
fn ledger(prompt: &str, word: &str) -> Value {
    let steps = prompt.split("# Your steps on this sub-task so far").nth(1).unwrap_or_default();
    if steps.matches("\nStep ").count() > TRIES_MAX {
        return fails("it does not work");
    }
    let state =
        prompt.lines().rfind(|line| line.contains("] label ") && line.contains("times in the ledger"));
    let times = state.and_then(|line| {
        let (_, rest) = line.split_once(&format!("\"{word} is "))?;
        rest.split(' ').next()?.parse::<usize>().ok()
    });
    let action = match times {
        None => id_of(prompt, &["] text \"Task\""]).map(|id| ("set_value", json!({"id": id, "value": word}))),
        Some(0) => {
            id_of(prompt, &["] push button \"Append\""]).map(|id| ("click_element", json!({"id": id})))
        }
        Some(times) => {
            let result = format!("it is there {times} times");
            return json!({"thought": "it is there", "status": "FINISH", "result": result});
        }
    };
    match action {
        Some((function, arguments)) => json!({
            "thought": "go on", "status": "CONTINUE", "action": [{"function": function, "arguments": arguments}],
        }),
        None => fails("the control is not there"),
    }
}

/// The AppAgent of the editor types its word unless it is there, and saves.
fn editor(prompt: &str, word: &str) -> Value {
    let steps = prompt.split("# Your steps on this sub-task so far").nth(1).unwrap_or_default();
    if steps.matches("\nStep ").count() > TRIES_MAX {
        return fails("it does not work");
    }
    let text = |line: &&str| line.contains("] text ") && line.contains("[e") && !line.contains("type_text");
    let Some(line) = prompt.lines().rfind(text) else { return fails("there is no text") };
    let id = line.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(id, _)| id);
    let mut actions = vec![json!({"function": "save", "arguments": {}})];
    if !line.contains(word) {
        let typed = format!("{word}\n");
        actions.insert(0, json!({"function": "type_text", "arguments": {"id": id, "text": typed}}));
    }
    json!({"thought": "type and save", "status": "FINISH", "action": actions, "result": "saved"})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_ledger_is_not_appended_again() {
        let does = |screen: &str| {
            let prompt = format!(
                "# The user's request\n\n{APPENDS}t1\n\n# Your sub-task\n\n{APPENDS}t1\n\n# The application\n\n\
                 - [w1] window \"Ledger\"\n[e3] text \"Task\" (focused)\n{screen}\n[e5] push button \"Append\"\n"
            );
            let reply = reply(&prompt);
            let action = reply.pointer("/action/0").cloned().unwrap_or_default();
            (reply["status"].clone(), action["function"].clone(), action["arguments"]["id"].clone())
        };
        let check = |screen: &str, status: &str, function: Option<&str>, id: Option<&str>| {
            assert_eq!(does(screen), (status.into(), function.into(), id.into()), "{screen}");
        };
        check("[e4] label \"empty\"", "CONTINUE", Some("set_value"), Some("e3"));
        check("[e4] label \"t1 is 0 times in the ledger\"", "CONTINUE", Some("click_element"), Some("e5"));
        check("[e4] label \"t1 is 1 times in the ledger\"", "FINISH", None, None);
        check("[e4] label \"t12 is 1 times in the ledger\"", "CONTINUE", Some("set_value"), Some("e3"));
    }

    #[test]
    fn the_host_opens_the_ledger_and_believes_what_is_reported() {
        let prompt = |more: &str| {
            format!("You are the HostAgent\n\n# Targets\n\n{more}\n\n# The user's request\n\n{APPENDS}t1\n")
        };
        let check = |more: &str, status: &str, target: Option<&str>| {
            let reply = reply(&prompt(more));
            assert_eq!(
                (&reply["status"], &reply["control_label"]),
                (&status.into(), &target.into()),
                "{more}"
            );
        };
        check("No window is open.", "CONTINUE", None);
        check("- [w2] window \"Ledger\" of Ledger.py (active)", "ASSIGN", Some("w2"));
        check(
            "- “Append to the ledger: t1” by AppAgent/ledger.py: FINISHED — it is there 1 times",
            "FINISH",
            None,
        );
    }
}
