//! Scripts: placeholders, turn order, and mismatch messages.

use std::collections::BTreeMap;

use deskhand_machine::{
    model::{ModelFailureKind, ModelRequest, Usage},
    prompt::{element_line, window_line},
};
use deskhand_model::{AnyModel, Model, NoModelSigns, NoPictures, Script};
use deskhand_ui::{
    AppInfo, Element, ElementCapability, Role, ValueRange, WindowInfo, WindowKind, WindowState,
    geometry::Rect,
    ids::{ElementId, WindowId},
};
use insta::assert_snapshot;

use crate::request;

const PROMPT: &str = r#"Windows:
- [w1] window "sales.odt — LibreOffice Writer" of LibreOffice Writer
- [w2] window "Untitled 1 — LibreOffice Calc" of LibreOffice Calc (active)
Agents:
- [a1] agent "ShellAgent" — runs "commands"
Elements:
[e1] frame "Untitled 1 — LibreOffice Calc"
  [e2] menu "Insert" (focusable)
    [e3] menu item "Chart…" (focusable)
    [e4] menu item "Chart from File..."
  [e5] push button "Save" (focusable)
  [e6] push button "Save As"
  [e7] push button "Say \"hi\""
  [e8] entry "Name:" (editable) = "x"
  [e9] entry "Name:" (editable)
  [e10] document spreadsheet (focused)
rows: [["Region","Q1"],["North",12]]
"#;

fn script(text: &str) -> Script {
    let variables = BTreeMap::from([("output".to_owned(), "/tmp/a \"b\".ods".to_owned())]);
    Script::parse("demo.toml", text, variables).unwrap()
}

/// The reply of a script of one turn, or its failure message.
fn answer(turn: &str) -> Result<String, String> {
    match script(&format!("\n[[turn]]\n{turn}")).answer(&request(PROMPT)) {
        Ok(reply) => Ok(reply.text),
        Err(failure) => {
            assert_eq!(failure.kind, ModelFailureKind::ScriptMismatch);
            Err(failure.message)
        }
    }
}

fn resolve(placeholder: &str) -> Result<String, String> {
    answer(&format!("reply = '''{placeholder}'''"))
}

#[test]
fn placeholders_are_resolved_against_the_prompt() {
    for (placeholder, id) in [
        (r#"{{window "LibreOffice Calc"}}"#, "w2"),
        (r#"{{window "sales.odt"}}"#, "w1"),
        (r#"{{window "Untitled 1 — LibreOffice Calc"}}"#, "w2"),
        (r#"{{agent "shellagent"}}"#, "a1"),
        (r#"{{element "menu item" "Chart..."}}"#, "e3"),
        (r#"{{ element "menu item" "from file…" }}"#, "e4"),
        (r#"{{element "push button" "Save"}}"#, "e5"),
        (r#"{{element "push button" "save"}}"#, "e5"),
        (r#"{{element "push button" "save" nth=1}}"#, "e5"),
        (r#"{{element "push button" "Say \"hi\""}}"#, "e7"),
        (r#"{{element "entry" "Name:" nth=2}}"#, "e9"),
        (r#"{{element "document spreadsheet"}}"#, "e10"),
    ] {
        assert_eq!(resolve(placeholder).as_deref(), Ok(id), "{placeholder}");
    }
}

fn element(id: u32, role: Role, name: &str) -> Element {
    Element::new(ElementId(id), role, name)
}

/// Lines as core renders them.
#[test]
fn parses_lines_rendered_by_core() {
    let window = WindowInfo {
        id: WindowId(3),
        title: r#"a "b" \ c of d (x)"#.to_owned(),
        app: AppInfo { name: "Text Editor".to_owned(), root: "editor".to_owned(), pid: None },
        bounds: Rect::new(0, 0, 1, 1),
        kind: WindowKind::Dialog,
        owner: None,
        active: true,
        accessible: false,
        document: None,
        state: WindowState::default(),
        monitor: None,
    };
    let slider = Element {
        value: Some(ValueRange { current: 3.0, minimum: 0.0, maximum: 10.0, increment: 1.0 }),
        patterns: vec![ElementCapability::Value],
        ..element(1, Role::SLIDER, "")
    };
    let entry = Element { text: Some("push button".to_owned()), ..element(2, Role::ENTRY, "") };
    let described = Element { description: "closes".to_owned(), ..element(5, Role::TOGGLE_BUTTON, "") };
    let path = element(4, Role::LABEL, r"C:\new\table");
    let lines = [
        window_line(&window),
        element_line(&slider),
        format!("    {}", element_line(&entry)),
        element_line(&path),
        element_line(&described),
    ];
    let prompt = lines.join("\n");
    for (placeholder, id) in [
        (r#"{{window "a \"b\" \\ c of d (x)"}}"#, "w3"),
        (r#"{{window "text editor"}}"#, "w3"),
        (r#"{{element "slider"}}"#, "e1"),
        (r#"{{element "entry"}}"#, "e2"),
        (r#"{{element "label" "C:\\new\\table"}}"#, "e4"),
        (r#"{{element "toggle button"}}"#, "e5"),
    ] {
        let script = script(&format!("[[turn]]\nreply = '{placeholder}'"));
        let reply = script.answer(&request(&prompt)).map(|reply| reply.text);
        assert_eq!(reply.as_deref(), Ok(id), "{placeholder} in {prompt}");
    }
}

#[test]
fn removed_elements_are_unlisted_and_lines_may_hold_several() {
    let prompt = r#"
[e1] menu "File" | [e2] "Edit | not \" an end" | [e3] "View" (disabled)
[e4] toggle button "Menu" | [e5] (checked) in "Styles" | [e6] in "Gallery"
[e7] text = "a | [e9] b" | [e8] = "c"
gone: e1, e5 to e6
[e3] menu "Look"
"#;
    let prompt = prompt.replace(r"\\", r"\");
    for (placeholder, found) in [
        (r#"{{element "menu" "Look"}}"#, Some("e3")),
        (r#"{{element "menu" nth=1}}"#, Some("e2")),
        (r#"{{element "toggle button"}}"#, Some("e4")),
        (r#"{{element "text" nth=2}}"#, Some("e8")),
        (r#"{{element "menu" "File"}}"#, None),
        (r#"{{element "text" nth=3}}"#, None),
    ] {
        let script = script(&format!("[[turn]]\nreply = '{placeholder}'"));
        let reply = script.answer(&request(&prompt)).map(|reply| reply.text).ok();
        assert_eq!(reply.as_deref(), found, "{placeholder} in {prompt}");
    }
}

#[test]
fn variables_and_groups_are_inserted() {
    assert_eq!(
        answer(
            r#"expect = ['rows: (?<rows>\[.*\])', '(?<menu>menu item "Chart…")']
               reply = '''{"path": "{{var "output"}}", "rows": {{capture "rows" as=json}}, "menu": "{{capture "menu"}}"}'''"#
        )
        .as_deref(),
        Ok(
            r#"{"path": "/tmp/a \"b\".ods", "rows": [["Region","Q1"],["North",12]], "menu": "menu item \"Chart…\""}"#
        )
    );
}

#[test]
fn nested_objects_are_not_placeholders() {
    assert_eq!(resolve(r#"{"a": {"b": {"c": 1}}}"#).as_deref(), Ok(r#"{"a": {"b": {"c": 1}}}"#));
}

#[test]
fn an_unresolved_placeholder_lists_candidates() {
    assert_snapshot!(resolve(r#"{{element "push button" "Finish"}}"#).unwrap_err(), @r#"
turn 1 (demo.toml:2) does not match the prompt of AppAgent/libreoffice
  placeholder {{element "push button" "Finish"}}: no match; candidates in the prompt:
    [e6] push button "Save As"
    [e7] push button "Say \"hi\""
    [e5] push button "Save" (focusable)
"#);
    // Without a match for the role, all elements are candidates.
    let unknown_role = resolve(r#"{{element "check box" "Finish"}}"#).unwrap_err();
    assert_eq!(
        unknown_role.lines().filter(|line| line.trim().starts_with("[e")).count(),
        10,
        "{unknown_role}"
    );
    assert_snapshot!(resolve(r#"{{element "entry" "Name:"}}"#).unwrap_err(), @r#"
turn 1 (demo.toml:2) does not match the prompt of AppAgent/libreoffice
  placeholder {{element "entry" "Name:"}}: 2 matches; select one with nth=…:
    [e8] entry "Name:" (editable) = "x"
    [e9] entry "Name:" (editable)
"#);
    assert_snapshot!(resolve(r#"{{element "entry" "Name:" nth=3}}"#).unwrap_err(), @r#"
turn 1 (demo.toml:2) does not match the prompt of AppAgent/libreoffice
  placeholder {{element "entry" "Name:" nth=3}}: only 2 matches:
    [e8] entry "Name:" (editable) = "x"
    [e9] entry "Name:" (editable)
"#);
    assert_snapshot!(resolve(r#"{{window "LibreOffice"}}"#).unwrap_err(), @r#"
turn 1 (demo.toml:2) does not match the prompt of AppAgent/libreoffice
  placeholder {{window "LibreOffice"}}: 2 matches; select one with nth=…:
    - [w1] window "sales.odt — LibreOffice Writer" of LibreOffice Writer
    - [w2] window "Untitled 1 — LibreOffice Calc" of LibreOffice Calc (active)
"#);
}

#[test]
fn an_unmatched_pattern_shows_the_nearest_lines() {
    assert_snapshot!(
        answer("title = \"open the chart\"\nexpect = ['rows:', 'menu item \"Insert Chart…\"']\nreply = 'x'").unwrap_err(),
        @r#"
turn 1 “open the chart” (demo.toml:2) does not match the prompt of AppAgent/libreoffice
  pattern not found: menu item "Insert Chart…"
  nearest lines of the prompt:
    [e3] menu item "Chart…" (focusable)
    [e4] menu item "Chart from File..."
    [e2] menu "Insert" (focusable)
"#
    );
    assert_snapshot!(answer("reject = 'push button \"Save.*'\nreply = 'x'").unwrap_err(), @r#"
turn 1 (demo.toml:2) does not match the prompt of AppAgent/libreoffice
  rejected pattern: push button "Save.*
  matched in the prompt: push button "Save" (focusable)
"#);
    assert_snapshot!(answer("agent = \"HostAgent\"\nreply = 'x'").unwrap_err(), @r#"
turn 1 (demo.toml:2) does not match the prompt of AppAgent/libreoffice
  the turn expects agent HostAgent
  the agents ran in another order, or the script misses a turn before this one
"#);
    assert_snapshot!(
        answer("expect = '(?<rows>push button)'\nreply = '{{capture \"rows\" as=json}}'").unwrap_err(),
        @r#"
turn 1 (demo.toml:2) does not match the prompt of AppAgent/libreoffice
  placeholder {{capture "rows" as=json}}: the group is not JSON: push button
"#
    );
}

fn texts(script: &Script, prompts: &[&str]) -> Vec<String> {
    let answers = prompts.iter().map(|prompt| script.answer(&request(prompt)));
    answers
        .map(|answer| answer.map_or_else(|failure| format!("! {}", failure.message), |reply| reply.text))
        .collect()
}

#[test]
fn turns_are_used_in_order() {
    let script = script(
        "[[turn]]\nexpect = 'one'\nrepeat = 2\nreply = '1'\n[[turn]]\nexpect = 'two'\nrepeat = true\nreply = '2'\n\
         [[turn]]\nagent = 'AppAgent'\nreply = '3'",
    );
    assert_eq!(script.turns_left(), 3);
    assert_eq!(texts(&script, &["one", "one", "two", "two", "two", "three"]), ["1", "1", "2", "2", "2", "3"]);
    assert_eq!(script.turns_left(), 0);
    assert_snapshot!(texts(&script, &["more\nlast line\n"]).join(""), @r#"
! script demo.toml has no turns left: all 3 are used and AppAgent/libreoffice sent another prompt
  the prompt ends with: last line
"#);
}

#[test]
fn an_unmatched_turn_stays_the_next() {
    let script = script("[[turn]]\nexpect = 'one'\nreply = '1'");
    let answers = texts(&script, &["two", "one"]);
    assert!(answers[0].starts_with("! turn 1"), "{answers:?}");
    assert_eq!(answers[1], "1");
}

#[test]
fn a_script_resumes_after_an_earlier_run() {
    let text = "[[turn]]\nrepeat = 2\nreply = '1'\n[[turn]]\nexpect = 'two'\nrepeat = true\nreply = '2'\n[[turn]]\nreply = '3'";
    let skipped = script(text);
    skipped.skip(1).unwrap();
    assert_eq!(texts(&skipped, &["x", "two", "x"]), ["1", "2", "3"]);
    let error = script(text).skip(3).unwrap_err().to_string();
    assert_eq!(error, "cannot skip 3 replies of script demo.toml: turn 2 repeats as long as it matches");
    let error = script("[[turn]]\nreply = '1'").skip(2).unwrap_err().to_string();
    assert_eq!(error, "cannot skip 2 replies of script demo.toml: only 1 left");
    let resumed = script(text);
    let earlier: Vec<ModelRequest> = ["x", "x", "two", "two"].iter().map(|prompt| request(prompt)).collect();
    resumed.resume(&earlier).unwrap();
    assert_eq!(texts(&resumed, &["x"]), ["3"]);
}

#[tokio::test]
async fn usage_is_given_or_estimated() {
    let script = script(
        "[[turn]]\nusage = { prompt_tokens = 9, cached_tokens = 4 }\nreply = '1'\n[[turn]]\nreply = '12345'",
    );
    let model = AnyModel::Script(script);
    assert_eq!(model.name(), "script demo.toml");
    let mut asked = request("");
    asked.messages.truncate(1);
    let first = model.ask(&asked, &NoPictures, &NoModelSigns).await.unwrap();
    assert_eq!((first.attempts, first.model.as_str()), (1, "script"));
    assert_eq!(
        first.usage,
        Usage { prompt_tokens: Some(9), cached_tokens: Some(4), completion_tokens: None }
    );
    let second = model.ask(&asked, &NoPictures, &NoModelSigns).await.unwrap();
    let characters = "Answer in JSON. Example: [e999] push button \"Finish\"\n".len() as u64;
    assert_eq!(second.usage.prompt_tokens, Some(characters.div_ceil(4)));
    assert_eq!(second.usage.completion_tokens, Some(2));
}

#[test]
fn errors_name_file_line_and_turn() {
    let error = |text: &str| Script::parse("demo.toml", text, BTreeMap::new()).unwrap_err().to_string();
    let cases = [
        "",
        "[[turn]]\nreply = 'x'\nexpects = 'y'",
        "[[turn]]\nexpect = 'y'",
        "[[turn]]\nreply = 'x'\nrepeat = 0",
        "# first\n\n[[turn]]\nreply = 'x'\n\n[[turn]]\nexpect = '(open'\nreply = 'x'",
        "[[turn]]\nreply = '{{element push}}'",
        "[[turn]]\nreply = '{{click \"x\"}}'",
        "[[turn]]\nreply = '{{window \"x\" nth=0}}'",
        "[[turn]]\nreply = '{{window \"x}}'",
        "[[turn]]\nreply = '{{var \"output\"}}'",
        "[[turn]]\nexpect = '(?<row>x)'\nreply = '{{capture \"rows\"}}'",
    ];
    let all: Vec<String> = cases.iter().map(|text| error(text)).collect();
    assert_snapshot!(all.join("\n\n"), @r#"
script demo.toml has no turns
a script is a list of [[turn]] tables with `reply` and optionally `title`, `agent`, `expect`, `reject`, `repeat` (true or a number) and `usage` (prompt_tokens, completion_tokens, cached_tokens)

invalid script demo.toml: TOML parse error at line 3, column 1
  |
3 | expects = 'y'
  | ^^^^^^^
unknown field `expects`, expected one of `title`, `agent`, `expect`, `reject`, `reply`, `repeat`, `usage`
a script is a list of [[turn]] tables with `reply` and optionally `title`, `agent`, `expect`, `reject`, `repeat` (true or a number) and `usage` (prompt_tokens, completion_tokens, cached_tokens)

invalid script demo.toml: TOML parse error at line 1, column 1
  |
1 | [[turn]]
  | ^^^^^^^^
missing field `reply`
a script is a list of [[turn]] tables with `reply` and optionally `title`, `agent`, `expect`, `reject`, `repeat` (true or a number) and `usage` (prompt_tokens, completion_tokens, cached_tokens)

invalid script demo.toml: TOML parse error at line 3, column 10
  |
3 | repeat = 0
  |          ^
invalid value: integer `0`, expected true, false, or the number of prompts that the turn answers (1 or more)
a script is a list of [[turn]] tables with `reply` and optionally `title`, `agent`, `expect`, `reject`, `repeat` (true or a number) and `usage` (prompt_tokens, completion_tokens, cached_tokens)

demo.toml:6: turn 2: invalid regular expression "(open" in `expect`:
regex parse error:
    (open
    ^
error: unclosed group

demo.toml:1: turn 1: `{{element push}}` has the unknown argument `push`; a placeholder is {{window "NAME"}}, {{agent "NAME"}}, {{element "ROLE" "NAME"}} (nth=2 selects the second match), {{var "NAME"}} or {{capture "GROUP"}} (as=json inserts JSON verbatim)

demo.toml:1: turn 1: `{{click "x"}}` starts with the unknown keyword `click`; a placeholder is {{window "NAME"}}, {{agent "NAME"}}, {{element "ROLE" "NAME"}} (nth=2 selects the second match), {{var "NAME"}} or {{capture "GROUP"}} (as=json inserts JSON verbatim)

demo.toml:1: turn 1: `{{window "x" nth=0}}` has the unknown argument `nth=0`; a placeholder is {{window "NAME"}}, {{agent "NAME"}}, {{element "ROLE" "NAME"}} (nth=2 selects the second match), {{var "NAME"}} or {{capture "GROUP"}} (as=json inserts JSON verbatim)

demo.toml:1: turn 1: the placeholder at `{{window "x}}` has an unclosed quote; a placeholder is {{window "NAME"}}, {{agent "NAME"}}, {{element "ROLE" "NAME"}} (nth=2 selects the second match), {{var "NAME"}} or {{capture "GROUP"}} (as=json inserts JSON verbatim)

demo.toml:1: turn 1: `{{var "output"}}` has no value; set it with --script-var output=VALUE (set: none)

demo.toml:1: turn 1: no `expect` pattern defines the group of `{{capture "rows"}}`; add (?<rows>…) (defined: row)
"#);
    let missing = Script::load("/no/such/script.toml".as_ref(), BTreeMap::new()).unwrap_err().to_string();
    assert_eq!(missing, "cannot read script /no/such/script.toml");
}
