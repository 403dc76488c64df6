//! Workflows on real applications: the demo is learnt from one scripted session, and done again with another document without a model.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::{
    main_job::{REQUEST, example},
    support::{World, has_programs},
};

/// The rows of another document than the one that was learnt from: more of them, and other values.
pub(crate) const OTHER_ROWS: [[&str; 3]; 6] = [
    ["Town", "Sold", "Money"],
    ["Oslo", "7", "70"],
    ["Rome", "9", "90"],
    ["Bern", "4", "40"],
    ["Kyiv", "6", "60"],
    ["Lima", "8", "80"],
];

/// The last line of a run with `--json`.
fn summary(output: &std::process::Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().last().unwrap_or_else(|| panic!("nothing was printed; {errors}"));
    serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {last}; {errors}"))
}

pub(crate) fn run(mut command: Command) -> (Value, String) {
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    (summary(&output), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The cells of the first sheet of a spreadsheet, as the office suite itself converts it.
pub(crate) fn cells(world: &World, file: &Path) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir_in(world.path()).unwrap();
    let profile = format!("-env:UserInstallation=file://{}/profile", folder.path().display());
    let done = Command::new("soffice")
        .args([&profile, "--headless", "--convert-to", "csv", "--outdir"])
        .arg(folder.path())
        .arg(file)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let csv = folder.path().join(Path::new(file.file_stem().unwrap()).with_extension("csv"));
    let text = fs::read_to_string(csv).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// A Writer document with a table of this name, made by the office suite out of HTML.
pub(crate) fn document(world: &World, name: &str, rows: &[[&str; 3]]) -> PathBuf {
    let cell = |text: &&str| format!("<td>{text}</td>");
    let row = |row: &[&str; 3]| format!("<tr>{}</tr>", row.iter().map(cell).collect::<String>());
    let html = format!(
        "<html><body><p>Report</p><table>{}</table></body></html>",
        rows.iter().map(row).collect::<String>()
    );
    let page = world.path().join(format!("{name}.html"));
    fs::write(&page, html).unwrap();
    let profile = format!("-env:UserInstallation=file://{}/profile-of-{name}", world.path().display());
    let done = Command::new("soffice")
        .args([
            &profile,
            "--headless",
            "--convert-to",
            "odt:writer8",
            "--infilter=HTML (StarWriter)",
            "--outdir",
        ])
        .arg(world.path())
        .arg(&page)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    world.path().join(format!("{name}.odt"))
}

#[test]
fn the_demo_is_learnt_and_done_again_with_another_document_without_a_model() {
    if !has_programs(&["soffice"]) {
        return;
    }
    let world = World::new();
    fs::copy(example("sales.odt"), world.path().join("sales.odt")).unwrap();
    let first = world.path().join("sales.ods");
    let mut command =
        world.command(&["run", REQUEST, "--open", "sales.odt", "--desktop", "virtual", "--json"]);
    command.args(["--script-var", &format!("output={}", first.display())]);
    command.args(["--model", &format!("script:{}", example("demo.script.toml").display())]);
    let (ran, errors) = run(command);
    assert_eq!((&ran["outcome"], &ran["model_calls"]), (&"finished".into(), &5.into()), "{errors}");

    let learnt = world.run(&["learn", "last", "--name", "sales-chart", "--no"]);
    assert!(learnt.starts_with("exit 0\n") && learnt.contains("sales-chart.toml"), "{learnt}");
    let shown = world.run(&["workflow", "show", "sales-chart"]);
    for part in [
        "call = \"read_table\"",
        "rows = \"{read1.rows}\"",
        "range = \"{read1.range}\"",
        "[parameters.document]",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    let list = world.run(&["workflow", "list"]);
    assert!(
        list.contains("sales-chart") && list.contains("--document") && list.contains("--output"),
        "{list}"
    );

    let other = document(&world, "other", &OTHER_ROWS);
    let second = world.path().join("second.ods");
    let mut command = world.command(&["do", "--desktop", "virtual", "--json", "sales-chart"]);
    command.arg("--document").arg(&other).arg("--output").arg(&second).args(["--name", "Table1"]);
    let (done, errors) = run(command);
    assert_eq!(done["outcome"], "finished", "{errors}\n{shown}");
    assert_eq!(done["model_calls"], 0, "{errors}");
    assert_eq!(cells(&world, &second), OTHER_ROWS.map(|row| row.map(str::to_owned).to_vec()).to_vec());
    assert!(
        fs::read(&first).is_ok_and(|first| first != fs::read(&second).unwrap()),
        "the first result is as it was"
    );
    let replay = world.run(&["replay", "last"]);
    assert!(replay.starts_with("exit 0\n") && replay.contains("effects equal"), "{replay}");
    assert_eq!(world.orphans(), Vec::<String>::new());
}

#[test]
fn what_is_wrong_with_a_workflow_or_its_values_is_said() {
    let world = World::new();
    let none = world.run(&["do", "chart"]);
    assert!(
        none.contains("there is no workflow `chart`") && none.contains("`deskhand learn SESSION`"),
        "{none}"
    );
    let folder = world.path().join(".local/share/deskhand/workflows");
    fs::create_dir_all(&folder).unwrap();
    let text = "format = 1\nname = \"chart\"\nabout = \"Chart it.\"\nrequest = \"Chart {quarter}.\"\n\n\
                [parameters.quarter]\nexample = \"Q2\"\n\n[[steps]]\nabout = \"type\"\ncall = \"type_text\"\n\
                in = { application = \"mousepad\", name = \"Mousepad\" }\nwith = { text = \"{quarter}\" }\n";
    fs::write(folder.join("chart.toml"), text).unwrap();
    let missing = world.run(&["do", "chart"]);
    assert!(missing.starts_with("exit 2\n") && missing.contains("give it as --quarter \"Q2\""), "{missing}");
    let other = world.run(&["do", "chart", "--month", "May"]);
    assert!(other.contains("`month` is no parameter of chart; its parameters: quarter"), "{other}");
    let near = world.run(&["do", "chrt"]);
    assert!(near.contains("did you mean `chart`?"), "{near}");
    let fine = world.run(&["workflow", "test", "chart"]);
    assert!(fine.contains("chart is fine: 1 calls, 1 parameters"), "{fine}");
    assert!(world.run(&["workflow", "diff", "chart"]).contains("no run of `chart` proposes a change"));
    fs::write(folder.join("chart.toml"), text.replace("{quarter}\" }", "{month}\" }")).unwrap();
    let unknown = world.run(&["workflow", "test", "chart"]);
    assert!(unknown.contains("step 1 names `{month}`, which is no parameter"), "{unknown}");
    fs::write(folder.join("chart.toml"), text.replace("call =", "cal =")).unwrap();
    let key = world.run(&["workflow", "test", "chart"]);
    assert!(key.contains("is no workflow") && key.contains("cal"), "{key}");
}

/// A workflow that types a text into the editor and saves it.
const NOTE: &str = r#"format = 1
name = "note"
about = "Note a text in a file."
request = "Note {text} in the file {file}"

[parameters.text]
example = "Hello"
[parameters.file]
kind = "file"
example = "/tmp/note.txt"

[[steps]]
about = "type it"
call = "type_text"
in = { application = "mousepad", name = "Mousepad" }
with = { text = "{text}" }

[[steps]]
about = "save it"
call = "save_as"
in = { application = "mousepad", name = "Mousepad" }
with = { path = "{file}" }
"#;

/// The home of a user who has the workflow, and the file that it is to write.
fn with_note() -> (World, PathBuf) {
    let world = World::new();
    world.file(".local/share/deskhand/workflows/note.toml", NOTE);
    world.run(&["workflow", "trust", "note"]);
    let file = world.path().join("greeting.txt");
    (world, file)
}

#[test]
fn the_host_agent_runs_a_workflow_and_goes_on() {
    if !has_programs(&["mousepad"]) {
        return;
    }
    let (world, file) = with_note();
    let script = format!(
        r#"
[[turn]]
agent = "HostAgent"
expect = ['\[workflow:note\] Note a text in a file', 'run_workflow']
reply = '''
{{"observation": "an empty desktop", "thought": "a workflow does it", "status": "ASSIGN", "current_subtask": "note it",
 "control_label": "workflow:note", "function": "run_workflow",
 "arguments": {{"name": "note", "parameters": {{"text": "Hello Ann", "file": "{}"}}}}}}
'''

[[turn]]
agent = "HostAgent"
expect = ['The workflow `note` is done', 'calls that were done: 2']
reply = '''
{{"observation": "the text is saved", "thought": "the workflow is done", "status": "FINISH", "result": "noted"}}
'''
"#,
        file.display()
    );
    let script = format!("script:{}", world.file("turns.toml", &script).display());
    // The values are the model's.
    world.configure("[people]\napprovals = \"all\"\n");
    let mut command = world.command(&["run", "Write a greeting to Ann", "--desktop", "virtual", "--json"]);
    command.args(["--model", &script]);
    let (ran, errors) = run(command);
    assert_eq!((&ran["outcome"], &ran["reason"]), (&"finished".into(), &"noted".into()), "{errors}");
    assert_eq!(ran["model_calls"], 2, "its steps ask no model: {errors}");
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), "Hello Ann");
    assert!(errors.contains("2 calls of note done"), "{errors}");
    let replay = world.run(&["replay", "last"]);
    assert!(replay.starts_with("exit 0\n") && replay.contains("effects equal"), "{replay}");
    assert_eq!(world.orphans(), Vec::<String>::new());
}

#[test]
fn a_request_in_the_words_of_a_workflow_is_proposed_or_run_without_a_model() {
    if !has_programs(&["mousepad"]) {
        return;
    }
    let (world, file) = with_note();
    let request = format!("Note “two words” in the file {}.", file.display());
    let usage = format!("deskhand do note --file '{}' --text 'two words'", file.display());
    let proposed = world.command(&["run", &request]).output().unwrap();
    let errors = String::from_utf8_lossy(&proposed.stderr).into_owned();
    assert!(errors.contains(&format!("this can be done without a model: {usage}")), "{errors}");
    assert!(errors.contains("no model is configured"), "it goes on as any other request: {errors}");

    let mut command =
        world.command(&["run", &request, "--workflow", "auto", "--desktop", "virtual", "--json"]);
    command.env_remove("OPENAI_API_KEY");
    let (ran, errors) = run(command);
    assert_eq!(ran["outcome"], "finished", "{errors}");
    assert_eq!(ran["model_calls"], 0, "{errors}");
    assert!(errors.contains(&format!("without a model: {usage}")), "the values are shown first: {errors}");
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), "two words");

    // What was begun without a model is gone on with without one.
    fs::remove_file(&file).unwrap();
    let (ran, errors) = run(world.command(&["fork", "last", "--at", "3", "--json"]));
    assert_eq!((&ran["outcome"], &ran["model_calls"]), (&"finished".into(), &0.into()), "{errors}");
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), "two words");

    // Options can stand after the name, too.
    let other = world.path().join("other.txt");
    let mut command = world.command(&["do", "note", "--text", "Hi", "--desktop", "virtual", "--json"]);
    command.arg("--file").arg(&other);
    let (ran, errors) = run(command);
    assert_eq!(ran["outcome"], "finished", "{errors}");
    assert_eq!(fs::read_to_string(&other).unwrap().trim(), "Hi");

    // Something is missing, so the agents would do it.
    let lacks =
        NOTE.replace("[parameters.text]", "[parameters.colour]\nexample = \"red\"\n[parameters.text]");
    world.file(".local/share/deskhand/workflows/note.toml", &lacks);
    world.run(&["workflow", "trust", "note"]);
    let missing = world.command(&["run", &request, "--workflow", "auto"]).output().unwrap();
    let errors = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(
        errors.contains("the parameter `colour` is missing") && errors.contains("agents do it"),
        "{errors}"
    );
    assert_eq!(world.orphans(), Vec::<String>::new());
}
