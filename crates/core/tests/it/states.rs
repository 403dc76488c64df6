//! The transition tables.

use deskhand_core::states::{
    AppStatus, AppTrigger, HostStatus, HostTrigger, app_transitions, host_transitions, mermaid, next_app,
    next_host, table,
};

#[test]
fn terminal_means_terminal() {
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

#[test]
fn decision_12_status_words_are_trimmed_and_case_folded() {
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

/// `docs/states.md` is written from the code: `UPDATE_DOCS=1 cargo nextest run -p deskhand-core states` renews it.
#[test]
fn the_documentation_shows_the_tables_of_the_code() {
    let mut text = String::from(
        "# The two state machines\n\nWritten from the code (`crates/core/src/states/`); a test holds this page against it. A pair \
         of state and\ntrigger that is not listed changes nothing.\n",
    );
    for (title, transitions) in [("HostAgent", host_transitions()), ("AppAgent", app_transitions())] {
        text.push_str(&format!(
            "\n## {title}\n\n{}\n```mermaid\n{}```\n",
            table(&transitions),
            mermaid(&transitions)
        ));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/states.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), text);
}
