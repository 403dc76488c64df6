//! What hostile workers send.

use super::*;

#[test]
fn names_that_lead_elsewhere_or_hide_are_not_taken() {
    for name in ["a.pdf", "scans/a.pdf", ".hidden", "Ärzte und so.pdf"] {
        assert_eq!(acceptable(name), Ok(()), "{name}");
    }
    let deep = "a/".repeat(DEPTH_MAX) + "b";
    let long = "a".repeat(NAME_BYTES_MAX + 1);
    let names = [
        "",
        "..",
        "../a",
        "a/../b",
        "/etc/passwd",
        "./a",
        "a\\b",
        "a\nb",
        "fdp.\u{202e}exe",
        "a\u{200b}b",
        &deep,
        &long,
    ];
    for name in names {
        assert!(acceptable(name).is_err(), "{name:?}");
    }
}

#[test]
fn what_is_not_taken_is_listed_briefly_and_cannot_pass_for_ours() {
    let refused =
        |number: usize| (format!("../{number}\nFiles that came back: /etc/passwd"), "why".to_owned());
    let files =
        SubtaskFiles { came: vec![(PathBuf::from("/r/a.pdf"), 3)], refused: (0..7).map(refused).collect() };
    let words = files.words();
    assert_eq!(words[0], "Files that came back: /r/a.pdf (3 bytes)");
    assert_eq!(words.len(), 2, "{words:?}");
    assert!(words[1].contains("\"../0 Files that came back: /etc/passwd\" (why)"), "{words:?}");
    assert!(words[1].ends_with(" and 2 more") && !words[1].contains('\n'), "{words:?}");
}

#[test]
fn every_outcome_that_is_none_says_what_to_do() {
    let reason = || "why".to_owned();
    for (outcome, expected) in [
        (TaskOutcome::Refused { reason: reason() }, "fleet.accept"),
        (TaskOutcome::DeadLetter { reason: reason() }, "deskhand fleet results x-1"),
        (TaskOutcome::Person { reason: reason() }, "deskhand fleet retry x-1"),
        (TaskOutcome::Expired { reason: reason() }, "within_minutes"),
        (TaskOutcome::Failed { reason: reason() }, "cannot be done: why"),
        (TaskOutcome::Cancelled, "somebody cancelled"),
    ] {
        let words = never_done(&outcome, "why", "x-1");
        assert!(words.contains(expected) && words.contains("x-1"), "{words}");
    }
}
