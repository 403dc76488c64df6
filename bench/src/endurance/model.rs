//! A model at an endpoint: it carries the request out and survives every fault. It looks before it repeats something, as a
//! careful model does.

use serde_json::{Value, json};

use super::place::{APPENDS, SUBTASKS, WORDS};

/// How often the model tries one sub-task.
const TRIES_MAX: usize = 6;

/// What the model replies to a prompt.
pub(super) fn reply(prompt: &str) -> Value {
    if prompt.contains("You are the HostAgent") {
        host(prompt)
    } else if prompt.contains(&format!("# Your sub-task\n\n{}", SUBTASKS[1])) {
        shell(prompt)
    } else {
        editor(prompt)
    }
}

fn fails(why: &str) -> Value {
    json!({"observation": "-", "thought": why, "status": "FAIL", "reason": why, "result": why})
}

/// The id in `[…]` of the first line that contains all the parts.
fn id_of(prompt: &str, parts: &[&str]) -> Option<String> {
    let line = prompt.lines().rfind(|line| parts.iter().all(|part| line.contains(part)))?;
    let (_, rest) = line.split_once('[')?;
    rest.split_once(']').map(|(id, _)| id.to_owned())
}

/// The HostAgent assigns the first sub-task that was not assigned before.
fn host(prompt: &str) -> Value {
    let reported = |subtask: &str| {
        prompt.lines().rfind(|line| line.starts_with("- “") && line.contains(&format!("“{subtask}”")))
    };
    for (at, subtask) in SUBTASKS.iter().enumerate() {
        match reported(subtask) {
            Some(line) if line.contains("FINISHED") => continue,
            // The agent looks before it appends.
            Some(_) if at == 1 && prompt.matches(&format!("“{subtask}” by")).count() < TRIES_MAX => {}
            Some(_) => return fails("a sub-task failed"),
            None => {}
        }
        let target =
            if at == 1 { id_of(prompt, &["agent \"shell\""]) } else { id_of(prompt, &["- [w", "note.txt"]) };
        return match target {
            Some(id) => json!({
                "observation": "-", "thought": "next", "status": "ASSIGN", "current_subtask": subtask, "control_label": id,
                "next": [],
            }),
            None => fails("its target is not there"),
        };
    }
    json!({"observation": "-", "thought": "all is done", "status": "FINISH", "result": "written and appended"})
}

/// The AppAgent types its word unless it is there, and saves.
fn editor(prompt: &str) -> Value {
    let word =
        if prompt.contains(&format!("# Your sub-task\n\n{}", SUBTASKS[0])) { WORDS[0] } else { WORDS[2] };
    let own_steps = prompt.split("# Your steps on this sub-task so far").nth(1).unwrap_or_default();
    if own_steps.matches("\nStep ").count() > TRIES_MAX {
        return fails("it does not work");
    }
    let save = json!({"function": "save", "arguments": {}});
    let text = |line: &&str| line.contains("] text ") && line.contains("[e") && !line.contains("type_text");
    let Some(line) = prompt.lines().rfind(text) else { return fails("there is no text") };
    let id = line.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(id, _)| id);
    let mut actions = vec![save];
    if !line.contains(word) {
        let typed = format!("{word}\n");
        actions.insert(0, json!({"function": "type_text", "arguments": {"id": id, "text": typed}}));
    }
    json!({"observation": "-", "thought": "type and save", "status": "FINISH", "action": actions, "result": "saved"})
}

/// The shell agent appends its line unless there is a file already.
fn shell(prompt: &str) -> Value {
    if prompt.contains("\n- log.txt (") {
        return json!({"observation": "-", "thought": "it ran", "status": "FINISH", "result": "appended"});
    }
    let script = format!("{APPENDS} log.txt; seq 400000 | tail -n 1");
    json!({
        "observation": "-", "thought": "append", "status": "CONTINUE",
        "action": [{"function": "run_command", "arguments": {"program": "sh", "arguments": ["-c", script]}}],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_goes_on_with_what_is_not_done() {
        let prompt = |done: &str| {
            format!(
                "You are the HostAgent\n# Sub-tasks so far\n{done}\n# Targets\n- [w1] window \"note.txt - Mousepad\" of Mousepad\n- [a1] agent \"shell\""
            )
        };
        let check = |done: &str, status: &str, target: &str| {
            let reply = host(&prompt(done));
            assert_eq!(
                (reply["status"].as_str(), reply["control_label"].as_str()),
                (Some(status), Some(target).filter(|t| !t.is_empty())),
                "{done}"
            );
        };
        let line =
            |at: usize, state: &str| format!("- “{}” by AppAgent/mousepad: {state} — x\n", SUBTASKS[at]);
        check("", "ASSIGN", "w1");
        check(&line(0, "FINISHED"), "ASSIGN", "a1");
        check(&(line(0, "FINISHED") + &line(1, "FAILED")), "ASSIGN", "a1");
        check(&(line(0, "FINISHED") + &line(1, "FINISHED")), "ASSIGN", "w1");
        check(&line(0, "FAILED"), "FAIL", "");
        check(&(line(0, "FINISHED") + &line(1, "FINISHED") + &line(2, "FINISHED")), "FINISH", "");
    }

    #[test]
    fn a_word_that_is_there_is_not_typed_again() {
        let actions = |text: &str| {
            let prompt = format!("# Your sub-task\n\n{}\n[e4] text \"\" (focused){text}", SUBTASKS[0]);
            editor(&prompt)["action"].as_array().unwrap().len()
        };
        assert_eq!(actions(""), 2);
        assert_eq!(actions(&format!(" = \"{}\"", WORDS[0])), 1);
    }
}
