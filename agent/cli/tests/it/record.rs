//! `deskhand record`: what is done by another program on a real desktop becomes a workflow, which is run with another document.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::park_timeout,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    main_job::example,
    passwords::no_file_has_it,
    support::{World, has_programs},
    workflows::{OTHER_ROWS, cells, document, run},
};

const FORM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/secrets/login.py");
const PASSWORD: &str = "hunter2-Zaun";

/// How long a person looks before the next click.
const GLANCE: Duration = Duration::from_millis(600);
/// How long anything may take.
const BOUND: Duration = Duration::from_secs(120);

/// A person at a desktop that is being watched. Their hands are another process, whose mouse and keyboard are those of XTEST.
struct Person<'a> {
    world: &'a World,
    recorder: Child,
    variables: BTreeMap<String, String>,
}

impl<'a> Person<'a> {
    /// Begins to be watched.
    fn watched(world: &'a World, arguments: &[&str]) -> Self {
        let mut command = world.command(arguments);
        let errors = fs::File::create(world.path().join("errors.txt")).unwrap();
        let mut recorder = command.stdout(Stdio::piped()).stderr(errors).spawn().unwrap();
        let mut output = BufReader::new(recorder.stdout.take().unwrap()).lines();
        let mut variables = BTreeMap::new();
        while variables.len() < 4 {
            let line = output.next().expect("the desktop starts").unwrap();
            let (name, value) = line.trim_start_matches("export ").split_once('=').unwrap();
            variables.insert(name.to_owned(), value.trim_matches('\'').to_owned());
        }
        let person = Self { world, recorder, variables };
        person.until("watching");
        person
    }

    fn errors(&self) -> String {
        fs::read_to_string(self.world.path().join("errors.txt")).unwrap()
    }

    fn until(&self, text: &str) {
        let begun = Instant::now();
        while !self.errors().contains(text) {
            assert!(begun.elapsed() < BOUND, "no {text} in {}", self.errors());
            park_timeout(Duration::from_millis(50));
        }
    }

    /// Acts, and looks at what comes of it.
    fn acts(&self, arguments: &[&str]) {
        let mut command = self.world.command(&["act"]);
        command.args(arguments).envs(&self.variables).env("DESKHAND__DESKTOP__KIND", "current");
        let shown = self.world.shown(&command.output().unwrap());
        assert!(!shown.contains("error:"), "{arguments:?}: {shown}");
        park_timeout(GLANCE);
    }

    /// Ends it as with Ctrl-C, and returns the file of the workflow.
    fn ends(mut self) -> (PathBuf, String) {
        let pid = rustix::process::Pid::from_raw(self.recorder.id().try_into().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let status = self.recorder.wait().unwrap();
        let errors = self.errors();
        assert!(status.success(), "{errors}");
        let folder = self.world.path().join(".local/share/deskhand/workflows");
        let file = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
        (file, errors)
    }
}

/// The class and the ranges of the only chart of a spreadsheet, as its file has them.
fn chart(world: &World, file: &Path) -> String {
    let folder = tempfile::tempdir_in(world.path()).unwrap();
    let unpacked =
        Command::new("python3").args(["-m", "zipfile", "-e"]).arg(file).arg(folder.path()).status();
    assert!(unpacked.unwrap().success());
    let objects = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
    let charts: Vec<String> = objects
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("Object ") && entry.path().is_dir())
        .filter_map(|entry| fs::read_to_string(entry.path().join("content.xml")).ok())
        .collect();
    let [chart] = charts.as_slice() else { panic!("{} charts", charts.len()) };
    let attributes = chart
        .split(['<', '>', ' '])
        .filter(|part| part.starts_with("chart:class=\"chart:bar") || part.contains("cell-range-address="));
    attributes.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_demo_is_shown_by_hand_and_done_again_with_another_document() {
    if !has_programs(&["soffice", "python3"]) {
        return;
    }
    let world = World::new();
    fs::copy(example("sales.odt"), world.path().join("sales.odt")).unwrap();
    let first = world.path().join("first.ods");
    let request = format!("Make a bar chart of the table of sales.odt and save it as {}", first.display());
    let person = Person::watched(
        &world,
        &["record", &request, "--name", "sales", "--desktop", "virtual", "--open", "sales.odt", "--yes"],
    );
    person.acts(&["--window", "Writer", "click", "A1"]);
    person.acts(&["--window", "Writer", "press", "ctrl+a", "ctrl+a", "ctrl+c"]);
    for item in ["File", "menu \"New\"", "menu item \"Spreadsheet\""] {
        person.acts(&["--window", "Writer", "click", item]);
    }
    person.acts(&["--window", "Calc", "press", "ctrl+v"]);
    for item in ["menu \"Insert\"", "menu item \"Chart...\""] {
        person.acts(&["--window", "Calc", "click", item]);
    }
    person.acts(&["--window", "Calc", "click", "Finish"]);
    person.acts(&["--window", "Calc", "press", "Escape", "Escape"]);
    person.acts(&["--window", "Calc", "press", "ctrl+s"]);
    person.acts(&["--window", "Calc", "press", "ctrl+a"]);
    person.acts(&["--window", "Calc", "type", &first.to_string_lossy()]);
    person.acts(&["--window", "Calc", "press", "Return"]);
    let (file, errors) = person.ends();
    let shown = fs::read_to_string(&file).unwrap();
    for part in ["call = \"visit\"", "[parameters.document]", "[parameters.output]", "demonstrated = true"] {
        assert!(shown.contains(part), "{part} in {shown}; {errors}");
    }
    assert_eq!(cells(&world, &first)[4], ["West", "140", "5600"]);
    assert!(chart(&world, &first).contains("chart:bar"), "the person made a chart");

    let other = document(&world, "other", &OTHER_ROWS);
    let second = world.path().join("second.ods");
    let mut command = world.command(&["do", "--desktop", "virtual", "--json", "sales"]);
    command.arg("--document").arg(&other).arg("--output").arg(&second);
    let (done, said) = run(command);
    let expected: (Value, Value) = ("finished".into(), 0.into());
    assert_eq!((done["outcome"].clone(), done["model_calls"].clone()), expected, "{errors}\n{said}\n{shown}");
    let story = world.run(&["show", "last"]);
    let expected = OTHER_ROWS.map(|row| row.map(str::to_owned).to_vec()).to_vec();
    assert_eq!(cells(&world, &second), expected, "{errors}\n{story}\n{shown}");
    let chart = chart(&world, &second);
    let ranges = ["Sheet1.A2:Sheet1.A6", "Sheet1.B2:Sheet1.B6", "Sheet1.C2:Sheet1.C6"];
    assert!(chart.contains("chart:bar") && ranges.iter().all(|range| chart.contains(range)), "{chart}");
    let examples = world.run(&["experience", "list", "--json"]);
    assert!(
        examples.contains("\"demonstration\"") && examples.contains("\"workflow\":\"sales\""),
        "{examples}"
    );
    assert_eq!(world.orphans(), Vec::<String>::new());
}

#[test]
fn a_password_that_is_shown_is_never_kept() {
    if !has_programs(&["python3"]) {
        return;
    }
    let world = World::new();
    let log = world.file("oracle/log.json", "");
    let form = world.file("form", &format!("#!/bin/sh\nexec /usr/bin/python3 {FORM} {}\n", log.display()));
    fs::set_permissions(&form, fs::Permissions::from_mode(0o755)).unwrap();
    let launch = form.to_string_lossy().into_owned();
    let person = Person::watched(
        &world,
        &["record", "log in as ada", "--name", "login", "--desktop", "virtual", "--launch", &launch, "--yes"],
    );
    person.acts(&["--window", "Log in", "click", "User"]);
    person.acts(&["--window", "Log in", "type", "ada"]);
    person.acts(&["--window", "Log in", "click", "Password"]);
    person.acts(&["--window", "Log in", "type", PASSWORD]);
    person.acts(&["--window", "Log in", "click", "Show"]);
    person.acts(&["--window", "Log in", "click", "Send"]);
    // The title of the window has the password now.
    person.acts(&["--window", "Done", "click", "Token"]);
    person.acts(&["--window", "Done", "type", "blue"]);
    let (file, errors) = person.ends();
    let arrived: Value = serde_json::from_str(&fs::read_to_string(&log).unwrap()).unwrap();
    assert_eq!(arrived["password"], PASSWORD, "the person typed it");
    let shown = fs::read_to_string(file).unwrap();
    assert!(
        shown.contains("value = \"secret:password\"") || shown.contains("text = \"secret:password\""),
        "{shown}"
    );
    assert!(shown.contains("[parameters.user]") && shown.contains("blue"), "{shown}");
    assert!(errors.contains("a password was typed into “Password”"), "{errors}");
    no_file_has_it(world.path(), &log);
}

#[test]
fn what_cannot_be_recorded_is_explained() {
    let world = World::new();
    let empty = world.run(&["record", "  ", "--desktop", "virtual"]);
    assert!(empty.starts_with("exit 2\n") && empty.contains("say in a sentence"), "{empty}");
    let name = world.run(&["record", "Order", "--name", "no/name", "--desktop", "virtual"]);
    assert!(name.starts_with("exit 2\n") && name.contains("is no name of a workflow"), "{name}");
    world.file(".local/share/deskhand/workflows/order.toml", "");
    let taken = world.run(&["record", "Order", "--name", "order", "--desktop", "virtual"]);
    assert!(taken.contains("there is already a workflow `order`") && taken.contains("--force"), "{taken}");
}
