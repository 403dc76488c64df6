//! What the ledger, the documents and the journals of a round say. It reads files alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde::Serialize;
use serde_json::Value;

use super::crew::{Kind, json_lines};

/// What became of the tasks of a round.
#[derive(Debug, Default, Clone, Serialize)]
pub(super) struct Verdict {
    pub(super) tasks: usize,
    /// Tasks that are done exactly once, or wait for a person and were done once at most.
    pub(super) accounted: usize,
    pub(super) effects_twice: usize,
    pub(super) lines_lost: usize,
    pub(super) lines_doubled: usize,
    pub(super) lines: usize,
    /// Tasks that went to another worker.
    pub(super) moved: usize,
    /// How often a worker was lost in the middle of a command.
    pub(super) lost_acting: usize,
    /// Of these, the commands whose effect was there although nothing said so, which was seen and not repeated.
    pub(super) found_done: usize,
    /// Tasks that wait for a person, and how many of these had their effect.
    pub(super) person: usize,
    pub(super) person_done: usize,
    /// How long commands were held up, in milliseconds, and how many there were.
    pub(super) held_up_ms: u64,
    pub(super) commands: u64,
    /// What is wrong, in words.
    #[serde(skip)]
    pub(super) problems: Vec<String>,
}

/// Judges by the ledger and by the folder that `deskhand fleet results` wrote.
pub(super) fn judge(ledger: &Path, results: &Path, tasks: usize) -> Verdict {
    let mut written = lines_of(ledger);
    let mut verdict = Verdict { tasks, ..Verdict::default() };
    for number in 0..tasks {
        let kind = Kind::of(number);
        let id = kind.id(number);
        let folder = results.join(&id);
        let effects = match kind {
            Kind::Ledger | Kind::Person => written.remove(&id).unwrap_or_default(),
            Kind::Note => {
                let note = fs::read_to_string(folder.join("documents").join(format!("{id}.md")));
                note.unwrap_or_default().matches(&id).count()
            }
        };
        let result = fs::read(folder.join("result.json")).unwrap_or_default();
        let result: Value = serde_json::from_slice(&result).unwrap_or_default();
        verdict.count(&id, kind, effects, &result);
        verdict.read(&id, &json_lines(&folder.join("journal.jsonl")), &result);
    }
    for id in written.keys() {
        verdict.problems.push(format!("the ledger has {id}, which is no task"));
    }
    verdict
}

/// How often each task is in the ledger.
fn lines_of(ledger: &Path) -> BTreeMap<String, usize> {
    let mut written = BTreeMap::new();
    for line in fs::read_to_string(ledger).unwrap_or_default().lines() {
        let id = line.split(' ').next().unwrap_or_default();
        *written.entry(id.to_owned()).or_default() += 1;
    }
    written
}

/// The tasks that are not in the ledger once, though they should be.
pub(super) fn judge_ledger(ledger: &Path, tasks: usize) -> Vec<String> {
    let written = lines_of(ledger);
    let ids = (0..tasks).filter(|number| Kind::of(*number) != Kind::Note);
    let ids = ids.map(|number| Kind::of(number).id(number));
    ids.filter(|id| written.get(id) != Some(&1)).collect()
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

impl Verdict {
    /// Returns `true` if nothing was lost and nothing done twice.
    pub(super) fn is_good(&self) -> bool {
        self.problems.is_empty()
            && self.accounted == self.tasks
            && self.effects_twice + self.lines_lost + self.lines_doubled == 0
    }

    /// Adds those of another round.
    pub(super) fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.tasks, other.tasks),
            (&mut self.accounted, other.accounted),
            (&mut self.effects_twice, other.effects_twice),
            (&mut self.lines_lost, other.lines_lost),
            (&mut self.lines_doubled, other.lines_doubled),
            (&mut self.lines, other.lines),
            (&mut self.moved, other.moved),
            (&mut self.lost_acting, other.lost_acting),
            (&mut self.found_done, other.found_done),
            (&mut self.person, other.person),
            (&mut self.person_done, other.person_done),
        ];
        for (sum, more) in pairs {
            *sum += more;
        }
        self.held_up_ms += other.held_up_ms;
        self.commands += other.commands;
        self.problems.extend(other.problems.iter().cloned());
    }

    fn count(&mut self, id: &str, kind: Kind, effects: usize, result: &Value) {
        self.effects_twice += usize::from(effects > 1);
        let is_done = text(result, "/outcome") == "done" && result["finished"] == true;
        let is_person = text(result, "/outcome") == "person" && kind == Kind::Person;
        if is_person {
            self.person += 1;
            self.person_done += usize::from(effects == 1);
        }
        if (is_done && effects == 1) || (is_person && effects <= 1) {
            self.accounted += 1;
        } else {
            let result = result.to_string().chars().take(300).collect::<String>();
            self.problems.push(format!("{id} has {effects} effects, and its result is {result}"));
        }
    }

    /// Reads a journal: each line has the number after that of the line before, and one says how it ended.
    fn read(&mut self, id: &str, lines: &[Value], result: &Value) {
        let numbers: Vec<u64> = lines.iter().filter_map(|line| line["seq"].as_u64()).collect();
        let distinct: BTreeSet<u64> = numbers.iter().copied().collect();
        let last = usize::try_from(distinct.last().copied().unwrap_or_default()).unwrap_or(usize::MAX);
        self.lines += numbers.len();
        self.lines_doubled += numbers.len() - distinct.len();
        self.lines_lost += last - distinct.len();
        let has_ended = lines.iter().any(|line| text(line, "/record/effect/want") == "finish");
        if text(result, "/outcome") == "done" && !has_ended {
            self.lines_lost += 1;
            self.problems.push(format!("the journal of {id} has no end"));
        }
        if numbers.len() != lines.len() || !numbers.is_sorted() {
            self.problems.push(format!("the journal of {id} is not in order"));
        }
        self.count_losses(lines);
        let (held_up, commands) = held_up(lines);
        self.held_up_ms += held_up;
        self.commands += commands;
    }

    /// Counts commands that a lost worker had begun, and what its successor did with them.
    fn count_losses(&mut self, lines: &[Value]) {
        let mut acting: Option<(String, u64)> = None;
        let mut was_moved = false;
        let mut unanswered = false;
        for line in lines {
            let effect = line.pointer("/record/effect/want").and_then(Value::as_str);
            match (effect, text(line, "/record/event/came")) {
                (Some("call"), _) => {
                    let tool = text(line, "/record/effect/command/tool").to_owned();
                    unanswered &= tool != "click_element";
                    acting =
                        Some((tool, line.pointer("/record/id").and_then(Value::as_u64).unwrap_or_default()));
                }
                (_, "returned") => acting = None,
                (_, "resumed") => {
                    was_moved = true;
                    if let Some((tool, _)) = acting.take() {
                        self.lost_acting += 1;
                        unanswered |= tool == "click_element";
                    }
                }
                _ => {}
            }
        }
        self.moved += usize::from(was_moved);
        // Nobody pressed the button again, and yet it is done.
        self.found_done += usize::from(unanswered);
    }
}

/// How long the commands of a journal were held up before they were carried out, in milliseconds, and how many there were.
pub(super) fn held_up(lines: &[Value]) -> (u64, u64) {
    let (mut held_up, mut commands, mut begun) = (0, 0, None);
    for line in lines {
        let number = |pointer: &str| line.pointer(pointer).and_then(Value::as_u64);
        if text(line, "/record/effect/want") == "call" {
            begun = number("/at_ms");
        } else if let (Some(from), Some(took)) = (begun, number("/record/event/result/elapsed_ms")) {
            let all = number("/at_ms").unwrap_or_default().saturating_sub(from);
            (held_up, commands, begun) = (held_up + all.saturating_sub(took), commands + 1, None);
        }
    }
    (held_up, commands)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(seq: u64, tool: &str) -> Value {
        let effect = json!({"want": "call", "command": {"tool": tool}});
        json!({"seq": seq, "at_ms": seq * 10, "record": {"kind": "effect", "id": seq, "effect": effect}})
    }

    fn event(seq: u64, came: &str) -> Value {
        let mut event = json!({"came": came});
        if came == "returned" {
            event = json!({"came": came, "result": {"elapsed_ms": 4}});
        }
        json!({"seq": seq, "at_ms": seq * 10, "record": {"kind": "event", "event": event}})
    }

    fn finish(seq: u64) -> Value {
        json!({"seq": seq, "at_ms": seq * 10, "record": {"kind": "effect", "effect": {"want": "finish"}}})
    }

    #[test]
    fn lost_and_doubled_lines_and_commands_without_answers_are_counted() {
        let mut verdict = Verdict::default();
        let (done, button) = (json!({"outcome": "done", "finished": true}), "click_element");
        let lost =
            [call(1, button), event(2, "resumed"), call(3, "set_value"), event(4, "returned"), finish(5)];
        verdict.read("t1", &lost, &done);
        assert_eq!((verdict.lines, verdict.lines_lost, verdict.lines_doubled), (5, 0, 0));
        assert_eq!((verdict.moved, verdict.lost_acting, verdict.found_done), (1, 1, 1));
        assert_eq!((verdict.held_up_ms, verdict.commands), (6, 1));
        let repeated =
            [call(1, button), event(2, "resumed"), call(3, button), event(4, "returned"), finish(5)];
        verdict.read("t2", &repeated, &done);
        assert_eq!((verdict.lost_acting, verdict.found_done), (2, 1));
        assert!(verdict.problems.is_empty());
        verdict.read("t3", &[event(1, "requested"), event(3, "replied"), event(3, "replied")], &done);
        assert_eq!((verdict.lines_lost, verdict.lines_doubled), (2, 1), "one is missing, and the end");
    }

    #[test]
    fn a_task_that_was_done_twice_is_not_accounted_for() {
        let mut verdict = Verdict::default();
        let (done, person) = (json!({"outcome": "done", "finished": true}), json!({"outcome": "person"}));
        verdict.count("t1", Kind::Ledger, 1, &done);
        verdict.count("p5", Kind::Person, 0, &person);
        assert_eq!((verdict.accounted, verdict.effects_twice, verdict.person), (2, 0, 1));
        verdict.count("t2", Kind::Ledger, 2, &done);
        verdict.count("t3", Kind::Ledger, 0, &done);
        verdict.count("t4", Kind::Ledger, 1, &person);
        assert_eq!((verdict.accounted, verdict.effects_twice, verdict.problems.len()), (2, 1, 3));
    }
}
