//! The transition tables as text, for `deskhand states` and `docs/reference/states.md`.

use std::fmt::{Display, Write as _};

use super::{AppStatus, AppTrigger, HostStatus, HostTrigger, next_app, next_host};

/// A transition to another state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// State before.
    pub from: String,
    /// Trigger.
    pub trigger: String,
    /// State after.
    pub to: String,
}

fn transitions<S: Copy + PartialEq + Display, T: Copy>(
    states: &[(&'static str, S)],
    triggers: &[T],
    next: impl Fn(S, T) -> S,
    label: impl Fn(T) -> String,
) -> Vec<Transition> {
    let mut found = Vec::new();
    for (from, state) in states {
        for trigger in triggers {
            let to = next(*state, *trigger);
            if to != *state {
                found.push(Transition {
                    from: (*from).to_owned(),
                    trigger: label(*trigger),
                    to: to.to_string(),
                });
            }
        }
    }
    found
}

/// The HostAgent's transitions. All other pairs change nothing.
pub fn host_transitions() -> Vec<Transition> {
    transitions(&HostStatus::WORDS, &HostTrigger::all(), next_host, HostTrigger::label)
}

/// The AppAgent's transitions. All other pairs change nothing.
pub fn app_transitions() -> Vec<Transition> {
    transitions(&AppStatus::WORDS, &AppTrigger::all(), next_app, AppTrigger::label)
}

/// A Markdown table of transitions.
pub fn table(transitions: &[Transition]) -> String {
    let mut text = String::from("| from | when | to |\n| --- | --- | --- |\n");
    for Transition { from, trigger, to } in transitions {
        let _ = writeln!(text, "| {from} | {trigger} | {to} |");
    }
    text
}

/// A Mermaid state diagram of transitions; transitions between the same two states share an arrow.
pub fn mermaid(transitions: &[Transition]) -> String {
    let mut text = String::from("stateDiagram-v2\n    [*] --> CONTINUE\n");
    let mut arrows: Vec<(&str, &str, String)> = Vec::new();
    for Transition { from, trigger, to } in transitions {
        match arrows.iter_mut().find(|(a, b, _)| a == from && b == to) {
            Some((_, _, label)) => {
                let _ = write!(label, "; {trigger}");
            }
            None => arrows.push((from, to, trigger.clone())),
        }
    }
    for (from, to, label) in arrows {
        let _ = writeln!(text, "    {from} --> {to}: {label}");
    }
    text.push_str("    FINISH --> [*]\n    FAIL --> [*]\n    ERROR --> [*]\n");
    text
}
