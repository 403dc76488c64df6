//! Work that is started from the page: requests with options, plans, and workflows that are learnt there, judged by files on disk and by
//! what the program prints.
//!
//! Skipped if the programs of a virtual desktop or the editor are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::fs;

use serde_json::{Value, json};

use crate::{
    batches::until,
    page::{Answer, Ending, Service},
    support::{World, has_desktop},
};

/// Agents that write a greeting without asking anything.
pub(crate) const GREETS: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '''
{"observation": "an empty desktop", "thought": "the editor is not open", "status": "ASSIGN",
 "current_subtask": "type the greeting", "function": "launch_application", "arguments": {"name": "mousepad"}}
'''

[[turn]]
agent = "AppAgent"
reply = '''
{"observation": "an empty document", "thought": "type it", "status": "CONTINUE",
 "action": [{"function": "type_text", "arguments": {"id": "{{element "text" ""}}", "text": "Good morning"}}]}
'''

[[turn]]
agent = "AppAgent"
reply = '{"observation": "it stands there", "thought": "done", "status": "FINISH", "result": "typed"}'

[[turn]]
agent = "HostAgent"
reply = '{"observation": "it stands there", "thought": "all done", "status": "FINISH", "result": "the greeting is written"}'
"#;

/// A HostAgent that has its request again after its first step.
const LOOKS_AGAIN: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '''
{"observation": "an empty desktop", "thought": "the editor is not open", "status": "ASSIGN",
 "current_subtask": "type the greeting", "function": "launch_application", "arguments": {"name": "mousepad"}}
'''

[[turn]]
agent = "HostAgent"
reply = '{"observation": "an editor", "thought": "all done", "status": "FINISH", "result": "looked again"}'
"#;

/// A world whose model is a script, and in which nothing needs approval.
pub(crate) fn scripted(script: &str) -> World {
    let world = World::new();
    let file = world.file("turns.toml", script);
    world.configure(&format!(
        "[model]\nprovider = \"script\"\nscript = \"{}\"\n[people]\napprovals = \"all\"\n",
        file.display()
    ));
    world
}

/// The id of what was started.
pub(crate) fn started(answer: &Answer) -> String {
    assert_eq!(answer.status, 201, "{}", answer.body);
    answer.json()["id"].as_str().unwrap().to_owned()
}

/// What is wrong, and with which field.
pub(crate) fn wrong(answer: &Answer) -> (u16, String) {
    (answer.status, answer.json()["field"].as_str().unwrap_or_default().to_owned())
}

fn ended(service: &Service, id: &str) {
    service.waits_for(id, |_, data| data["running"] == false);
}

#[test]
fn what_cannot_be_is_said_about_its_field() {
    let world = scripted(GREETS);
    let service = Service::start(&world, &["--", "--max-cost", "1.25", "--size", "800x600"]);
    let start = |wanted: Value| wrong(&service.post("/api/sessions", &wanted));
    assert_eq!(start(json!({"request": "  "})), (400, "request".to_owned()));
    assert_eq!(start(json!({"request": "x", "size": "12"})), (409, "size".to_owned()));
    assert_eq!(start(json!({"request": "x", "max_cost": -1})), (400, "max_cost".to_owned()));
    assert_eq!(start(json!({"request": "x", "max_minutes": 0})), (400, "max_minutes".to_owned()));
    let misspelt = world.file("misspelt.toml", "[[rules]]\ntool = \"type_txt\"\ndecision = \"deny\"\n");
    for policy in ["misspelt.toml", "/nonexistent.toml", misspelt.to_str().unwrap()] {
        assert_eq!(start(json!({"request": "x", "policy": policy})), (409, "policy".to_owned()), "{policy}");
    }
    assert_eq!(service.post("/api/sessions", &json!({"request": "x", "approve": "maybe"})).status, 422);
    assert_eq!(service.post("/api/sessions", &json!({"request": "x", "sise": "800x600"})).status, 422);
    let page = service.get("/").body;
    assert!(page.contains("placeholder=\"1.25\"") && page.contains("placeholder=\"800x600\""), "{page}");
    drop(service);
    let mut bad = world.command(&["serve", "--port", "0", "--", "--max-cots", "1"]);
    let said = world.shown(&bad.output().unwrap());
    assert!(said.starts_with("exit 2\n") && said.contains("--max-cots"), "{said}");
}

#[test]
fn the_rules_of_a_file_hold_in_place_of_those_of_the_configuration() {
    if !has_desktop() {
        return;
    }
    let world = scripted(GREETS);
    let _ending = Ending(&world);
    let service = Service::start(&world, &[]);
    let rules = "[[rules]]\ntool = \"type_text\"\ndecision = \"deny\"\nreason = \"no typing today\"\n";
    let rules = world.file("rules.toml", rules);
    let id =
        started(&service.post("/api/sessions", &json!({"request": "write the greeting", "policy": rules})));
    ended(&service, &id);
    let shown = world.run(&["show", &id]);
    assert!(shown.contains("no typing today"), "{shown}");
    let journal = fs::read_to_string(world.store().root().join(&id).join("journal.jsonl")).unwrap();
    assert!(
        journal.contains("\"outcome\":\"refused\"") || journal.contains("denied by the policy"),
        "{journal}"
    );
}

#[test]
fn a_session_whose_budget_is_used_up_goes_on_with_another_one() {
    if !has_desktop() {
        return;
    }
    let world = scripted(LOOKS_AGAIN);
    let _ending = Ending(&world);
    let service = Service::start(&world, &[]);
    let start = json!({"request": "write the greeting", "max_steps": 1, "keep": "always"});
    let id = started(&service.post("/api/sessions", &start));
    ended(&service, &id);
    let comes_to = |outcome: &str| {
        until(outcome, || {
            let table = service.get("/api/sessions").json();
            (table["rows"][0]["facts"]["outcome"] == outcome).then_some(())
        });
    };
    comes_to("budget_exhausted");
    let resume = |wanted: Value| service.post(&format!("/api/sessions/{id}/resume"), &wanted);
    assert_eq!(wrong(&resume(json!({"max_steps": 0}))), (400, "max_steps".to_owned()));
    let page = service.get(&format!("/sessions/{id}")).body;
    assert!(page.contains("Another budget"), "{page}");
    assert_eq!(started(&resume(json!({"max_steps": 9}))), id);
    comes_to("finished");
}

#[test]
fn a_workflow_is_learnt_and_run_from_the_page_and_its_file_is_only_data() {
    if !has_desktop() {
        return;
    }
    let world = scripted(GREETS);
    let _ending = Ending(&world);
    let evil = r#"
format = 1
name = "evil"
about = "<script>alert(1)</script>"
request = "Do {what}<script>alert(2)</script>"
[parameters.what]
about = "\"><script>alert(3)</script>"
example = "\" autofocus onfocus=alert(4) \""
[parameters.count]
kind = "number"
default = "2"
[[steps]]
call = "save"
in = { application = "orders", name = "Orders" }
"#;
    world.file(".local/share/deskhand/workflows/evil.toml", evil);
    world.file("outside.toml", &evil.replace("\"evil\"", "\"outside\""));
    let service = Service::start(&world, &[]);
    let page = service.get("/workflows").body;
    assert!(!page.contains("<script>") && page.contains("&lt;script&gt;alert(1)"), "{page}");
    assert!(!page.contains("\" autofocus"), "{page}");
    let run = |name: &str, parameters: Value| {
        service.post(&format!("/api/workflows/{name}/run"), &json!({"parameters": parameters}))
    };
    for name in ["..%2f..%2f..%2foutside", "%2e%2e", "outside.toml", "nothing", "evil.toml", "-x"] {
        assert_eq!(run(name, json!({})).status, 404, "{name}");
    }
    for parameters in
        [json!({}), json!({"what": "x", "count": "many"}), json!({"what": "x", "open": "/etc/passwd"})]
    {
        assert_eq!(run("evil", parameters.clone()).status, 409, "{parameters}");
    }

    let id =
        started(&service.post("/api/sessions", &json!({"request": "write the greeting", "max_cost": 1})));
    ended(&service, &id);
    let learn = |lesson: Value| service.post(&format!("/api/sessions/{id}/learn"), &lesson);
    assert_eq!(wrong(&learn(json!({"name": "../greet"}))), (409, "name".to_owned()));
    let learnt = learn(json!({"name": "greet"}));
    assert_eq!((learnt.status, &learnt.json()["name"]), (201, &json!("greet")), "{}", learnt.body);
    let file = world.path().join(".local/share/deskhand/workflows/greet.toml");
    assert!(fs::read_to_string(file).unwrap().contains("Good morning"));
    assert_eq!(wrong(&learn(json!({"name": "greet"}))), (409, "name".to_owned()), "there is one already");
    assert_eq!(learn(json!({"name": "greet", "replace": true})).status, 201);
    assert!(service.get("/workflows").body.contains("id=\"greet\""));

    let again = started(&run("greet", json!({})));
    ended(&service, &again);
    let shown = world.run(&["show", &again]);
    assert!(shown.contains("Good morning") && shown.contains("0 model calls"), "{shown}");

    let plan = json!({"request": "write the greeting", "steps": ["type the greeting", " "], "max_steps": 9});
    let followed = started(&service.post("/api/sessions", &plan));
    ended(&service, &followed);
    let journal = world.store().root().join(&followed).join("journal.jsonl");
    assert!(fs::read_to_string(journal).unwrap().contains("\"steps\":[\"type the greeting\"]"));
    service.kill();
    assert_eq!(world.orphans(), Vec::<String>::new());
}
