//! The transition tables.

use deskhand_machine::states::{
    AppStatus, AppTrigger, HostStatus, HostTrigger, app_transitions, host_transitions, mermaid, next_app,
    next_host, table,
};

#[test]
fn terminal_states_are_never_left() {
    for (_, from) in HostStatus::WORDS {
        for trigger in HostTrigger::all() {
            let to = next_host(from, trigger);
            assert!(!from.is_terminal() || to == from, "{from} left by {trigger:?}");
            assert!(to != HostStatus::Error || from == HostStatus::Error || trigger == HostTrigger::Broke);
        }
    }
    for (_, from) in AppStatus::WORDS {
        for trigger in AppTrigger::all() {
            let to = next_app(from, trigger);
            assert!(!from.is_terminal() || to == from, "{from} left by {trigger:?}");
            assert!(to != AppStatus::Error || from == AppStatus::Error || trigger == AppTrigger::Broke);
        }
    }
}

// docs/design/decisions.md, decision 1
#[test]
fn status_words_are_trimmed_and_case_folded() {
    for word in ["FINISH", "finish", " Finish ", "\"FINISH\"", "**finish**", "finish."] {
        assert_eq!(word.parse::<HostStatus>(), Ok(HostStatus::Finish), "{word}");
        assert_eq!(word.parse::<AppStatus>(), Ok(AppStatus::Finish), "{word}");
    }
    let error = "COMPLETED".parse::<AppStatus>().unwrap_err().to_string();
    assert_eq!(
        error,
        "`COMPLETED` is not a status; use one of CONTINUE, SCREENSHOT, FINISH, FAIL, PENDING, CONFIRM"
    );
}

/// `docs/reference/states.md` is written from the code: `UPDATE_DOCS=1 cargo nextest run -p deskhand-machine states` renews it.
#[test]
fn documented_tables_match_the_code() {
    let mut text = String::from(
        "# State tables\n\nGenerated from `agent/machine/src/states/`; a test compares this page with the code. A state does not \
         change on a\ntrigger that is not listed for it. `deskhand states` prints the same tables, and `deskhand states --format \
         mermaid`\nprints them as diagrams.\n",
    );
    for (title, transitions) in [("HostAgent", host_transitions()), ("AppAgent", app_transitions())] {
        text.push_str(&format!("\n## {title}\n\n{}", table(&transitions)));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/states.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), text);
}

#[test]
fn diagrams_have_an_arrow_per_transition() {
    for transitions in [host_transitions(), app_transitions()] {
        let diagram = mermaid(&transitions);
        for row in table(&transitions).lines().skip(2) {
            let [_, from, when, to, _] = row.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
                panic!("{row}")
            };
            let arrow = diagram.lines().find(|line| line.trim().starts_with(&format!("{from} --> {to}: ")));
            assert!(arrow.is_some_and(|arrow| arrow.contains(when)), "{row}\n{diagram}");
        }
    }
}
