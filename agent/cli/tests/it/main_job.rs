//! The main job on real Writer and Calc: with a script, with an endpoint that first returns invalid replies, and with the
//! office killed halfway.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use deskhand_model::Script;
use deskhand_testkit::endpoint::{Behaviour, MockEndpoint};
use deskhand_testkit_models::request::model_request;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{World, has_programs};

pub(crate) const REQUEST: &str =
    "Extract the sales table from the Writer document and create a bar chart of it in Calc";

pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sales").join(name)
}

/// The job in its own world, with the document and without the result.
struct Job {
    world: World,
    output: PathBuf,
}

impl Job {
    fn new() -> Option<Self> {
        if !has_programs(&["soffice"]) {
            return None;
        }
        let world = World::new();
        fs::copy(example("sales.odt"), world.path().join("sales.odt")).unwrap();
        let output = world.path().join("sales.ods");
        Some(Self { world, output })
    }

    fn command(&self, model: &[&str]) -> Command {
        let variable = format!("output={}", self.output.display());
        let mut command =
            self.world.command(&["run", REQUEST, "--open", "sales.odt", "--desktop", "virtual"]);
        command.args(["--json", "--script-var", &variable]).args(model);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn scripted(&self) -> Command {
        let script = format!("script:{}", example("demo.script.toml").display());
        self.command(&["--model", &script])
    }
}

fn summary(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().last().unwrap_or_else(|| panic!("nothing was printed; {errors}"));
    let summary: Value = serde_json::from_str(last).unwrap();
    assert_eq!(summary["kind"], "summary", "{errors}");
    assert_eq!(summary["exit_code"], output.status.code().unwrap(), "{errors}");
    summary
}

#[test]
fn table_becomes_a_saved_chart_and_the_session_replays_offline() {
    let Some(job) = Job::new() else { return };
    let output = job.scripted().output().unwrap();
    let summary = summary(&output);
    assert_eq!(summary["outcome"], "finished", "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(summary["model_calls"], 5);
    assert!(fs::read(&job.output).unwrap().starts_with(b"PK"), "the spreadsheet is there");
    assert_eq!(job.world.orphans(), Vec::<String>::new());

    let replay = job.world.run(&["replay", "last"]);
    assert!(replay.starts_with("exit 0\n") && replay.contains("effects equal"), "{replay}");
    let journal = Path::new(summary["session_path"].as_str().unwrap()).join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let changed = text.replacen("One call reads the whole table", "One call reads the hole table", 1);
    let record = text.lines().position(|line| line.contains("One call reads the whole table")).unwrap() + 1;
    fs::write(&journal, changed).unwrap();
    let replay = job.world.run(&["replay", "last"]);
    assert!(!replay.starts_with("exit 0\n") && replay.contains(&format!("record {record}")), "{replay}");
}

/// An endpoint that follows the script of the demo after two replies that violate the schema.
async fn endpoint(job: &Job) -> MockEndpoint {
    let variables = [("output".to_owned(), job.output.display().to_string())].into();
    let script = Script::load(&example("demo.script.toml"), variables).unwrap();
    let mut asked = 0;
    MockEndpoint::answering(move |body| {
        asked += 1;
        match asked {
            1 => Behaviour::reply("Of course! I will open the document and get back to you."),
            2 => Behaviour::reply(r#"{"observation": "o", "thought": "t", "status": "DELEGATE"}"#),
            _ => match script.answer(&model_request(body)) {
                Ok(reply) => Behaviour::reply_with_usage(format!("```json\n{}\n```", reply.text), 900, 80),
                Err(failure) => Behaviour::error(400, "script", &failure.message),
            },
        }
    })
    .await
    .unwrap()
}

async fn wait(child: Child) -> Output {
    tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn job_works_with_an_endpoint_that_violates_the_schema_first() {
    let Some(job) = Job::new() else { return };
    let endpoint = endpoint(&job).await;
    let child = job.command(&["--model", "openai:mock", "--base-url", &endpoint.base_url()]).spawn().unwrap();
    let output = wait(child).await;
    let summary = summary(&output);
    assert_eq!(summary["outcome"], "finished", "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!((summary["steps"].as_u64(), summary["model_calls"].as_u64()), (Some(6), Some(7)));
    assert_eq!(endpoint.requests().len(), 7, "one request a reply");
    assert!(job.output.is_file());
    assert_eq!(job.world.orphans(), Vec::<String>::new());
}

/// Reads the lines of a run until one contains `mark`.
fn read_until(child: &mut Child, mark: &str) -> std::io::BufReader<std::process::ChildStdout> {
    use std::io::BufRead as _;
    let mut reader = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains(mark) {
        line.clear();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the run ended before `{mark}`");
    }
    reader
}

/// Runs the job and kills a program of its desktop while the table is written.
fn killed_in_the_middle(program: &str) {
    let Some(job) = Job::new() else { return };
    let mut child = job.scripted().spawn().unwrap();
    let mut reader = read_until(&mut child, "\"tool\":\"write_table\"");
    let mut killed = 0;
    for (pid, line) in job.world.processes() {
        if line.contains(program) {
            killed += usize::from(kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).is_ok());
        }
    }
    assert!(killed > 0, "{program} runs");
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut reader, &mut rest).unwrap();
    let status = child.wait().unwrap();
    let summary: Value = serde_json::from_str(rest.lines().last().unwrap()).unwrap();
    // The agents see that the office is gone, and the script has no turn for that; it is never a success.
    assert_eq!((summary["outcome"].as_str(), status.code()), (Some("error"), Some(13)), "{rest}");
    assert!(!job.output.exists(), "nothing was saved");
    let show = job.world.run(&["show", "last"]);
    assert!(show.starts_with("exit 0\n") && show.contains("write_table"), "{show}");
    let replay = job.world.run(&["replay", "last"]);
    assert!(replay.starts_with("exit 0\n"), "{replay}");
    assert_eq!(job.world.orphans(), Vec::<String>::new());
}

#[test]
fn killed_office_is_a_typed_outcome_and_leaves_nothing_behind() {
    killed_in_the_middle("soffice.bin");
}

#[test]
fn killed_display_is_a_typed_outcome_and_leaves_nothing_behind() {
    killed_in_the_middle("Xvfb -displayfd");
}
