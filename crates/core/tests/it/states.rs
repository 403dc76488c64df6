//! The transition tables.

use deskhand_core::states::{AppStatus, AppTrigger, HostStatus, HostTrigger, next_app, next_host};

fn host_triggers() -> Vec<HostTrigger> {
    use HostTrigger as T;
    let mut triggers: Vec<T> = HostStatus::WORDS.iter().map(|(_, status)| T::Said(*status)).collect();
    triggers.extend([
        T::ActionFailed,
        T::SubtaskEnded,
        T::SubtasksExhausted,
        T::Answered,
        T::Unanswered,
        T::Approved,
        T::Rejected,
        T::Instructed,
        T::Stopped,
        T::Broke,
    ]);
    triggers
}

fn app_triggers() -> Vec<AppTrigger> {
    use AppTrigger as T;
    let mut triggers: Vec<T> = AppStatus::WORDS.iter().map(|(_, status)| T::Said(*status)).collect();
    triggers.extend([
        T::ActionFailed,
        T::LooksExhausted,
        T::Answered,
        T::Unanswered,
        T::Approved,
        T::Rejected,
        T::Instructed,
        T::WindowGone,
        T::Stopped,
        T::Broke,
    ]);
    triggers
}

#[test]
fn terminal_means_terminal() {
    for (_, from) in HostStatus::WORDS {
        for trigger in host_triggers() {
            let to = next_host(from, trigger);
            assert!(!from.is_terminal() || to == from, "{from} left by {trigger:?}");
            assert!(to != HostStatus::Error || from == HostStatus::Error || trigger == HostTrigger::Broke);
        }
    }
    for (_, from) in AppStatus::WORDS {
        for trigger in app_triggers() {
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
