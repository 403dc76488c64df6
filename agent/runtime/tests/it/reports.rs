//! Reports of sessions on the office suite in memory.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use deskhand_desktop_fake::office;
use deskhand_machine::{
    record::{JournalEntry, JournalRecord},
    session::{PictureCompression, SessionConfig, SessionEvent},
};
use deskhand_runtime::{ReportFormat, StopSwitch, UnsealedJournalPolicy, fork, verify, write_report};
use deskhand_ui::PictureRef;
use serde_json::{Value, json};

use crate::support::{Ran, config, events, office_script, run_office, run_with};

async fn without_pictures() -> Ran {
    let config = SessionConfig { pictures: false, ..config() };
    run_with(&office_script(), config, office(), &StopSwitch::new(), |_, _| {}).await
}

fn report(ran: &Ran, format: ReportFormat) -> (PathBuf, String) {
    let path = write_report(&ran.end.folder, format, None).unwrap();
    let text = if path.is_file() { fs::read_to_string(&path).unwrap() } else { String::new() };
    (path, text)
}

/// The values of an attribute in a page.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let mark = format!(" {name}=\"");
    page.split(mark.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Replaces the lines of a session's journal by what `edit` makes of them.
fn edit_journal(ran: &Ran, edit: impl FnOnce(Vec<Value>) -> Vec<Value>) {
    let path = ran.end.folder.journal_path();
    let text = fs::read_to_string(&path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let edited: Vec<String> = edit(lines).iter().map(|line| format!("{line}\n")).collect();
    fs::write(path, edited.concat()).unwrap();
}

/// What every page must be: whole in itself, with links that lead somewhere.
fn check_page(page: &str) {
    for name in ["src", "href", "action", "data", "poster", "srcset"] {
        for value in attributes(page, name) {
            assert!(
                value.starts_with('#') || value.starts_with("data:image/png;base64,"),
                "{name}={}",
                &value[..value.len().min(80)]
            );
        }
    }
    let styles = page.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
    for word in ["url(", "@import", "http:", "https:", "//"] {
        assert!(!styles.contains(word), "{word}");
    }
    assert!(page.contains("default-src 'none'"), "the page itself forbids every request");
    assert!(!page.contains("<link") && !page.contains("<iframe"), "nothing is loaded");
    assert_eq!(page.matches("<script").count(), 1, "one script, ours");
    assert_eq!(page.matches("</html>").count(), 1);
    let ids: Vec<&str> = attributes(page, "id");
    assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len(), "ids are unique");
    for link in attributes(page, "href").iter().filter_map(|link| link.strip_prefix('#')) {
        assert!(ids.contains(&link), "#{link} leads nowhere");
    }
    for tag in
        ["article", "section", "details", "svg", "table", "ol", "ul", "dl", "div", "main", "nav", "pre"]
    {
        let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
        let opened = page.matches(&format!("{open} ")).count() + page.matches(&format!("{open}>")).count();
        assert_eq!(opened, page.matches(&close).count(), "{tag}");
    }
    assert_eq!(
        page.matches("<svg").count(),
        page.matches("role=\"img\" aria-label=\"").count() - page.matches("class=\"bar\" role").count()
    );
}

#[tokio::test]
async fn a_page_holds_the_whole_session_and_asks_no_server() {
    let ran = run_office(&office_script()).await;
    let (path, page) = report(&ran, ReportFormat::Html);
    assert_eq!(path, ran.end.folder.path().join("report.html"));
    check_page(&page);
    for step in 1..=7 {
        assert!(
            page.contains(&format!("<article class=\"step good\" id=\"s{step}\""))
                || page.contains(&format!("<article class=\"step plain\" id=\"s{step}\"")),
            "step {step}"
        );
    }
    for word in [
        "finished",
        "charted and saved",
        "read the sales table",
        "15 of 15 cells",
        "push button &quot;Finish&quot;",
        "unknown",
    ] {
        assert!(page.contains(word), "{word}");
    }
    assert!(page.contains("data:image/png;base64,"), "pictures are in it");
    assert!(page.contains("class=\"mark\""), "controls are marked");
    assert!(page.contains("the same as in <a href=\"#s1\">"), "instructions stand there once");
}

#[tokio::test]
async fn a_session_without_pictures_is_sketched_and_says_so() {
    let ran = without_pictures().await;
    let (_, page) = report(&ran, ReportFormat::Html);
    check_page(&page);
    assert!(!page.contains("data:image"));
    assert!(page.contains("No pictures were taken in this session. A sketch of the window"));
    assert!(page.contains("class=\"window\"") && page.contains("class=\"mark\""));
}

#[tokio::test]
async fn whatever_a_name_or_a_reply_says_is_text() {
    let ran = run_office(&office_script()).await;
    let evil = "</pre></script><script>alert(1)</script>\" onload=\"alert(2)";
    edit_journal(&ran, |lines| {
        let text = serde_json::to_string(&lines).unwrap();
        let escaped = serde_json::to_string(evil).unwrap();
        let escaped = escaped.trim_matches('"');
        // In titles, names, thoughts, prompts and the request alike; and once more inside of replies.
        let twice = serde_json::to_string(escaped).unwrap();
        let text = text.replace("Writer is open", twice.trim_matches('"')).replace("sales.odt", escaped);
        serde_json::from_str(&text).unwrap()
    });
    let (_, page) = report(&ran, ReportFormat::Html);
    check_page(&page);
    assert!(page.contains("&lt;script&gt;alert(1)"));
    assert!(!page.contains("onload=\"alert"));
    assert!(page.contains("was modified"), "and the change is reported");
    let (_, markdown) = report(&ran, ReportFormat::Markdown);
    assert!(markdown.contains("&lt;script&gt;") && !markdown.contains("<script"));
}

#[tokio::test]
async fn wherever_a_journal_ends_every_format_is_written_and_says_so() {
    let ran = without_pictures().await;
    let path = ran.end.folder.journal_path();
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    for count in 1..lines.len() {
        fs::write(&path, lines[..count].join("\n") + "\n").unwrap();
        for format in ReportFormat::ALL {
            write_report(&ran.end.folder, format, None).unwrap();
        }
        let (_, page) = report(&ran, ReportFormat::Html);
        check_page(&page);
        assert!(page.contains(&format!("The journal ends here, at record {count}")), "after {count}");
        assert!(count + 3 >= lines.len() || page.contains("unfinished"), "after {count}");
    }
    // In the middle of a command nobody knows what it did.
    let at = lines.iter().position(|line| line.contains("\"tool\":\"write_table\"")).unwrap();
    let call = lines[at..].iter().position(|line| line.contains("\"want\":\"call\"")).unwrap() + at;
    fs::write(&path, lines[..=call].join("\n") + "\n").unwrap();
    let (_, page) = report(&ran, ReportFormat::Html);
    assert!(page.contains("while `write_table` ran; whether it took effect is unknown"), "{page}");
    assert!(page.contains("no result"));
    fs::write(&path, lines[..=call].join("\n") + "\n{\"seq\":").unwrap();
    assert!(report(&ran, ReportFormat::Html).1.contains("were removed"), "they were anchored");
    fs::remove_file(ran.end.folder.seals().anchor_path(&ran.end.session.0)).unwrap();
    assert!(report(&ran, ReportFormat::Html).1.contains("was cut off"));
}

#[tokio::test]
async fn questions_approvals_and_resumptions_stand_in_every_report() {
    let ran = without_pictures().await;
    edit_journal(&ran, |mut lines| {
        let call = lines.iter().position(|line| line["record"]["effect"]["want"] == "call").unwrap();
        let (step, at) = (lines[call]["record"]["step"].clone(), lines[call]["at_ms"].clone());
        let record = |record: Value| json!({"seq": 0, "prev": "", "at_ms": at, "record": record});
        let effect = |id: u64, step: Option<&Value>, effect: Value| {
            let mut line = record(json!({"kind": "effect", "id": id, "round": 1, "effect": effect}));
            if let Some(step) = step {
                line["record"]["step"] = step.clone();
            }
            line
        };
        let event = |id: Option<u64>, event: Value| {
            let mut line = record(json!({"kind": "event", "at_ms": at, "event": event}));
            if let Some(id) = id {
                line["record"]["effect"] = id.into();
            }
            line
        };
        let command = json!({"tool": "delete_file", "arguments": {"path": "a.txt"}});
        let asked = effect(
            900,
            Some(&step),
            json!({"want": "await_approval", "approval": {"commands": [command], "reason": "it is gone then", "asked_by": {"by": "policy", "rule": "deleting is asked about"}}}),
        );
        let approved = event(Some(900), json!({"came": "rejected", "instruction": "keep it"}));
        let resumed = event(None, json!({"came": "resumed", "desktop_kept": false}));
        let question = effect(
            901,
            None,
            json!({"want": "ask_user", "questions": [{"text": "Which colour?", "required": false}]}),
        );
        let answer = event(Some(901), json!({"came": "answered", "answers": ["blue"]}));
        lines.splice(call..call, [asked, approved, resumed]);
        // A question goes out when its step is recorded.
        let next = lines.iter().position(|line| line["record"]["step"]["number"] == 2).unwrap();
        lines.splice(next..next, [question, answer]);
        for (index, line) in lines.iter_mut().enumerate() {
            line["seq"] = (index + 1).into();
        }
        lines
    });
    let words = [
        "delete_file",
        "deleting is asked about",
        "rejected: keep it",
        "Which colour?",
        "blue",
        "the session was resumed after its process ended; the desktop was gone",
    ];
    let (_, page) = report(&ran, ReportFormat::Html);
    check_page(&page);
    let (_, markdown) = report(&ran, ReportFormat::Markdown);
    let markdown = markdown.replace('\\', "");
    for word in words {
        assert!(page.contains(word), "{word}");
        assert!(word == "deleting is asked about" || markdown.contains(word), "{word}: {markdown}");
    }
    let (_, lines) = report(&ran, ReportFormat::Jsonl);
    assert!(lines.contains("rejected: keep it"));
}

#[tokio::test]
async fn lines_for_programs_have_the_documented_fields() {
    let ran = run_office(&office_script()).await;
    let (_, text) = report(&ran, ReportFormat::Jsonl);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 7);
    let steps: Vec<u64> = lines.iter().map(|line| line["step"].as_u64().unwrap()).collect();
    assert_eq!(steps, [1, 2, 3, 4, 5, 6, 7]);
    let documented = include_str!("../../../../docs/guides/reports.md");
    let table = |heading: &str| -> BTreeSet<String> {
        let part = documented
            .split(heading)
            .nth(1)
            .unwrap()
            .split("\n## ")
            .next()
            .unwrap()
            .split("\n### ")
            .next()
            .unwrap();
        part.lines()
            .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
            .map(str::to_owned)
            .collect()
    };
    let fields = |value: &Value| -> BTreeSet<String> { value.as_object().unwrap().keys().cloned().collect() };
    let actions: Vec<&Value> = lines.iter().flat_map(|line| line["actions"].as_array().unwrap()).collect();
    for line in &lines {
        assert_eq!(fields(line), table("### A step"));
    }
    for action in &actions {
        assert_eq!(fields(action), table("### An action"));
    }
    let first = &lines[0];
    assert_eq!(
        (&first["agent"], &first["status"], &first["round_outcome"]),
        (&json!("HostAgent"), &json!("ASSIGN"), &json!("finished"))
    );
    assert_eq!(first["cost_micros"], Value::Null, "an unknown price is not 0");
    let click = actions.iter().find(|action| action["tool"] == "click_element").unwrap();
    assert_eq!((&click["effect"], &click["target_name"]), (&json!("seen"), &json!("Finish")));
    assert_eq!(click["target_bounds"].as_array().unwrap().len(), 4);
    let picture = ran.end.folder.path().join(first["picture"].as_str().unwrap());
    assert!(picture.is_file());
}

#[tokio::test]
async fn the_trajectory_as_text() {
    let ran = run_office(&office_script()).await;
    let (path, text) = report(&ran, ReportFormat::Markdown);
    for step in 1..=7 {
        let name = format!("report-pictures/step-{step:04}.png");
        assert!(text.contains(&format!("({name})")), "{name}");
        assert!(path.with_file_name(name).is_file());
    }
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "[id]");
    settings.add_filter(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d", "[time]");
    settings.add_filter(r"[\d.,]+ (ms|s)\b", "[t]");
    settings.add_filter(
        r"(\(|\\\(|: |· )(observing|the model|acting|everything else) \[t\][^)\n\\]*",
        "$1[phases]",
    );
    settings.add_filter(r"\*\*Tokens\*\*: [\d,]+", "**Tokens**: [n]");
    settings.add_filter(r"([:,]) [\d,]+ tokens", "$1 [n] tokens");
    settings.bind(|| insta::assert_snapshot!(text));
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[tokio::test]
async fn the_folder_of_the_reference_implementation() {
    let ran = run_office(&office_script()).await;
    let (folder, _) = report(&ran, ReportFormat::Ufo);
    let names = names(&folder);
    for name in [
        "request.log",
        "response.log",
        "output.md",
        "output-pictures",
        "ui_trees",
        "action_step0.png",
        "action_step0_annotated.png",
        "action_step0_selected_controls.png",
        "action_step6.png",
        "action_round_0_final.png",
        "action_step_final.png",
    ] {
        assert!(names.contains(name), "{name} in {names:?}");
    }
    assert!(!names.contains("evaluation.log"), "nobody evaluated");
    let read = |name: &str| -> Vec<Value> {
        fs::read_to_string(folder.join(name))
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let (requests, responses) = (read("request.log"), read("response.log"));
    assert_eq!((requests.len(), responses.len()), (7, 7));
    for field in
        ["step", "image_list", "os_info", "plan", "prev_subtask", "request", "blackboard_prompt", "prompt"]
    {
        assert!(requests[0].get(field).is_some(), "{field}");
    }
    for field in ["control_info", "subtask", "current_application", "last_success_actions", "offline_docs"] {
        assert!(requests[1].get(field).is_some(), "{field}");
    }
    assert_eq!(requests[0]["prompt"][0]["role"], "system");
    assert_eq!(responses[0]["agent_type"], "HostAgent");
    assert_eq!(
        (&responses[1]["agent_type"], &responses[1]["session_step"], &responses[1]["round_num"]),
        (&json!("AppAgent"), &json!(1), &json!(0))
    );
    assert_eq!(responses[1]["llm_cost"], Value::Null);
    assert_eq!(responses[2]["subtask_index"], 0);
    for response in &responses {
        for action in response["action"].as_array().unwrap() {
            assert!(
                action["action_string"].as_str().unwrap().starts_with(action["function"].as_str().unwrap())
            );
        }
        assert!(folder.join(response["clean_screenshot_path"].as_str().unwrap()).is_file());
    }
    let tree: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("ui_trees/ui_tree_step1.json")).unwrap())
            .unwrap();
    let root = &tree["windows"][0]["children"][0];
    assert!(root["children"].as_array().is_some_and(|children| !children.is_empty()), "{tree}");
}

#[tokio::test]
async fn a_report_goes_where_it_is_wanted() {
    let ran = without_pictures().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/page.html");
    assert_eq!(write_report(&ran.end.folder, ReportFormat::Html, Some(&path)).unwrap(), path);
    check_page(&fs::read_to_string(&path).unwrap());
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0, "for its owner alone");
    let taken = folder.path().join("file");
    fs::write(&taken, "").unwrap();
    let error = write_report(&ran.end.folder, ReportFormat::Html, Some(&taken.join("x.html"))).unwrap_err();
    assert!(error.to_string().contains("file"), "{error}");
}

/// Asserts that a folder and everything in it is accessible to its owner alone.
fn assert_private(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let file = fs::metadata(path).unwrap();
    let expected = if file.is_dir() { 0o700 } else { 0o600 };
    assert_eq!(file.permissions().mode() & 0o777, expected, "{}", path.display());
    if file.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| assert_private(&entry.unwrap().path()));
    }
}

#[tokio::test]
async fn everything_that_shows_the_screen_is_private() {
    let ran = run_office(&office_script()).await;
    let folder = tempfile::tempdir().unwrap();
    for format in ReportFormat::ALL {
        let path = folder.path().join("reports").join(format.file_name());
        write_report(&ran.end.folder, format, Some(&path)).unwrap();
    }
    assert_private(&folder.path().join("reports"));
    assert_private(ran.end.folder.path());
    assert_private(ran.end.folder.seals().key_path().parent().unwrap());
}

#[tokio::test]
async fn pictures_can_be_kept_and_shown_as_jpeg() {
    let mut config = config();
    config.view.picture_compression = PictureCompression::Jpeg;
    let ran = run_with(&office_script(), config, office(), &StopSwitch::new(), |_, _| {}).await;
    let seen = events(&ran.lines).filter_map(|event| {
        if let SessionEvent::Observed { observation } = event { observation.picture().cloned() } else { None }
    });
    let pictures: Vec<PictureRef> = seen.collect();
    assert!(!pictures.is_empty());
    for picture in &pictures {
        assert_eq!(picture.media_type, "image/jpeg");
        let path = ran.end.folder.picture_path(&picture.sha256);
        assert_eq!(path.extension().unwrap(), "jpg");
        assert!(fs::read(path).unwrap().starts_with(&[0xff, 0xd8, 0xff]));
    }
    let verified = verify(&ran.end.folder).unwrap();
    assert_eq!(verified.findings, []);
    let (_, page) = report(&ran, ReportFormat::Html);
    assert!(page.contains("data:image/jpeg;base64,"));
    let (_, lines) = report(&ran, ReportFormat::Jsonl);
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert!(ran.end.folder.path().join(first["picture"].as_str().unwrap()).is_file(), "{first}");
    let (folder, _) = report(&ran, ReportFormat::Ufo);
    for name in ["action_step0.png", "action_step0_annotated.png", "action_step_final.png"] {
        assert!(fs::read(folder.join(name)).unwrap().starts_with(b"\x89PNG"), "{name}");
    }
    let is_read = |line: &&JournalEntry| matches!(&line.record, JournalRecord::Event(event) if matches!(event.event, SessionEvent::Returned { .. }));
    let at = ran.lines.iter().filter(is_read).nth(1).unwrap().seq;
    let held = fork(&ran.store.0, &ran.end.folder, at, UnsealedJournalPolicy::Refuse).unwrap();
    let copy = held.folder().picture_path(&pictures[0].sha256);
    assert!(copy.is_file() && copy.extension().unwrap() == "jpg", "{}", copy.display());
}
