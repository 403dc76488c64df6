//! Models of every provider: found, listed, tried, and at work on the main job.

use std::{fs, process::Output};

use deskhand_model::Script;
use deskhand_testkit::endpoint::{Behaviour, MockEndpoint};
use deskhand_testkit_models::wires::Spoken;
use serde_json::Value;

use crate::{
    main_job::{REQUEST, example},
    support::{World, has_desktop, has_programs},
};

/// Runs the binary beside the endpoint of the test.
async fn run(world: &World, arguments: &[&str]) -> Output {
    let mut command = world.command(arguments);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn models_of_a_provider_are_listed() {
    let world = World::new();
    let listed = r#"{"data": [{"id": "tiny"}, {"id": "big", "context_length": 128000}]}"#;
    let endpoint = MockEndpoint::start([
        Behaviour::status(200, listed),
        Behaviour::status(200, listed),
        Behaviour::error(401, "invalid_api_key", "bad key"),
    ])
    .await
    .unwrap();
    let url = endpoint.base_url();
    let shown = world.shown(&run(&world, &["model", "list", "openai", "--base-url", &url]).await);
    assert_eq!(shown, "exit 0\n--- out\nopenai\n  openai:big  reads 128000 tokens\n  openai:tiny\n");
    let shown = world.shown(&run(&world, &["model", "list", "openai", "--base-url", &url, "--json"]).await);
    assert!(
        shown.contains(r#"{"provider":"openai","model":"big","context_tokens":128000,"pictures":null}"#),
        "{shown}"
    );
    let shown = world.shown(&run(&world, &["model", "list", "openai", "--base-url", &url]).await);
    assert!(shown.starts_with("exit 1\n") && shown.contains("bad key"), "{shown}");
    let wrong = world.run(&["model", "list", "antropic"]);
    assert!(wrong.starts_with("exit 2\n") && wrong.contains("did you mean `anthropic`?"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_tried_with_a_question_and_a_picture() {
    let world = World::new();
    let spoken = Spoken::Messages;
    let endpoint = MockEndpoint::start([
        spoken.reply(r#"{"sum": 5}"#, true),
        spoken.reply(r#"{"colour": "Red"}"#, true),
        Behaviour::status(200, r#"{"data": [{"id": "claude-x", "context_length": 200000}]}"#),
        spoken.reply("Five.", false),
        spoken.error(400, "invalid_request_error", "this model takes no image input"),
        Behaviour::status(200, r#"{"data": [{"id": "claude-y"}]}"#),
        spoken.error(401, "authentication_error", "invalid x-api-key"),
    ])
    .await
    .unwrap();
    let url = endpoint.base_url();
    let arguments = ["model", "test", "--model", "anthropic:claude-x", "--base-url", &url];
    let good = world.shown(&run(&world, &arguments).await);
    assert!(good.starts_with("exit 0\n"), "{good}");
    for part in [
        "anthropic claude-x at http://",
        "m-1 after",
        "form      as asked",
        "pictures  seen",
        "context   200000 tokens",
    ] {
        assert!(good.contains(part), "{part}: {good}");
    }
    let poor = world.shown(&run(&world, &arguments).await);
    assert!(poor.contains("not as asked: Five.") && poor.contains("takes no image input"), "{poor}");
    assert!(poor.contains("the endpoint does not say how much it reads"), "{poor}");
    let none = world.shown(&run(&world, &arguments).await);
    assert!(none.starts_with("exit 1\n") && none.contains("invalid x-api-key"), "{none}");
}

#[test]
fn what_is_found_is_proposed_and_written_down() {
    let world = World::new();
    let with_key = |arguments: &[&str]| {
        let output = world.command(arguments).env("ANTHROPIC_API_KEY", "sk-canary").output().unwrap();
        world.shown(&output)
    };
    let shown = with_key(&["run", "do it"]);
    assert!(shown.starts_with("exit 2\n"), "{shown}");
    assert!(
        shown.contains("--model anthropic:MODEL") && shown.contains("ANTHROPIC_API_KEY is set"),
        "{shown}"
    );
    let written = with_key(&["config", "init"]);
    assert!(written.starts_with("exit 0\n") && !written.contains("canary"), "{written}");
    let file = fs::read_to_string(world.path().join(".config/deskhand/config.toml")).unwrap();
    assert!(file.contains("\nprovider = \"anthropic\"\n") && !file.contains("canary"), "{file}");
    let explained = with_key(&["config", "explain", "model.provider"]);
    assert!(explained.contains("\"anthropic\""), "{explained}");
}

/// The main job with a server that speaks a format, streams every other reply, and fails in between.
async fn job(spoken: Spoken, provider: &str) {
    let world = World::new();
    fs::copy(example("sales.odt"), world.path().join("sales.odt")).unwrap();
    let output = world.path().join("sales.ods");
    let variable = format!("output={}", output.display());
    let script = Script::load(
        &example("demo.script.toml"),
        [("output".to_owned(), output.display().to_string())].into(),
    )
    .unwrap();
    let mut asked = 0_u32;
    let endpoint = MockEndpoint::answering_requests(move |request| {
        asked += 1;
        let cut: String = spoken.streamed("{\"thought\": \"no end").into_iter().take(2).collect();
        match asked {
            1 => spoken.error(429, "rate_limit_error", "slow down").with_header("retry-after", "0"),
            3 => spoken.sends(&cut),
            5 => spoken.error(529, "overloaded_error", "Overloaded").with_header("retry-after", "0"),
            7 => Behaviour::CutBody,
            _ => match script.answer(&spoken.request(&request.body)) {
                Ok(reply) => spoken.reply(&reply.text, asked.is_multiple_of(4)),
                Err(failure) => spoken.error(400, "script", &failure.message),
            },
        }
    })
    .await
    .unwrap();
    let url = spoken.base_url(&endpoint);
    let model = format!("{provider}:m");
    let document = ["run", REQUEST, "--open", "sales.odt", "--desktop", "virtual", "--json"];
    let settings = ["--script-var", &variable, "--model", &model, "--base-url", &url];
    let ran = run(&world, &[document.as_slice(), &settings].concat()).await;
    let printed = String::from_utf8_lossy(&ran.stdout);
    let summary: Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
    assert_eq!(summary["outcome"], "finished", "{provider}: {}", String::from_utf8_lossy(&ran.stderr));
    assert!(fs::read(&output).unwrap().starts_with(b"PK"), "{provider}: the spreadsheet is there");
    let requests = endpoint.requests();
    assert_eq!((summary["model_calls"].as_u64(), requests.len()), (Some(9), 9), "{provider}: {summary}");
    assert!(requests.iter().all(|one| one.path == spoken.path(true)), "{provider}");
    assert!(world.run(&["replay", "last"]).starts_with("exit 0\n"), "{provider}");
    assert_eq!(world.orphans(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_main_job_is_done_in_every_wire_format() {
    if !has_programs(&["soffice"]) {
        return;
    }
    job(Spoken::Chat, "openai").await;
    job(Spoken::Responses, "openai_responses").await;
    job(Spoken::Messages, "anthropic").await;
    job(Spoken::Gemini, "gemini").await;
    job(Spoken::Ollama, "ollama").await;
}

/// A cassette holds the failures too, and is played on a desktop of its own, without the server. The replies name no element: ids
/// depend on what was read when.
#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_run_is_played_without_its_server() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    let note = world.path().join("note.txt");
    let typing = serde_json::json!({
        "thought": "type it", "status": "FINISH", "result": "typed",
        "action": [
            {"function": "type_text", "arguments": {"text": "from the wire"}},
            {"function": "save_as", "arguments": {"path": note}},
        ],
    });
    let replies = [
        r#"{"thought": "open the editor", "status": "ASSIGN", "current_subtask": "type the words",
            "function": "launch_application", "arguments": {"name": "mousepad"}}"#
            .to_owned(),
        typing.to_string(),
        r#"{"thought": "all done", "status": "FINISH", "result": "the words are written"}"#.to_owned(),
    ];
    let spoken = Spoken::Messages;
    let mut behaviours = vec![
        spoken.error(429, "rate_limit_error", "slow down").with_header("retry-after", "0"),
        spoken.reply(&replies[0], true),
        spoken.error(529, "overloaded_error", "Overloaded").with_header("retry-after", "0"),
        spoken.reply(&replies[1], false),
        Behaviour::CutBody,
        spoken.reply(&replies[2], true),
    ];
    // The request says whether it wants a stream; all of these do.
    let mut endpoint = MockEndpoint::answering_requests(move |_| behaviours.remove(0)).await.unwrap();
    let url = spoken.base_url(&endpoint);
    let asking = async |cassette: &str| {
        let settings = ["--model", "anthropic:m", "--base-url", &url, "--cassette", cassette];
        run(&world, &[["run", "write the words", "--desktop", "virtual"].as_slice(), &settings].concat())
            .await
    };
    let recorded = world.shown(&asking("record:wire.jsonl").await);
    assert!(recorded.starts_with("exit 0\n"), "{recorded}");
    assert_eq!(fs::read_to_string(&note).unwrap().trim(), "from the wire");
    let sent = endpoint.requests().len();
    endpoint.kill().await;
    fs::remove_file(&note).unwrap();
    let played = world.shown(&asking("play:wire.jsonl").await);
    assert!(played.starts_with("exit 0\n"), "{played}");
    assert_eq!(fs::read_to_string(&note).unwrap().trim(), "from the wire");
    let held = world.run(&["model", "cassette", "wire.jsonl"]);
    assert!(held.starts_with("exit 0\n") && held.contains("429") && held.contains("Overloaded"), "{held}");
    assert_eq!((held.matches("POST /messages").count(), sent), (6, 6), "{held}");
    let missing = world.shown(&asking("play:elsewhere.jsonl").await);
    assert!(missing.starts_with("exit 1\n") && missing.contains("elsewhere.jsonl"), "{missing}");
    assert_eq!(world.orphans(), Vec::<String>::new());
}

/// The HostAgent's model is down, so its backup answers; a prompt of one's own reaches it, and a wrong one is refused before anything
/// starts.
#[tokio::test(flavor = "multi_thread")]
async fn a_role_has_its_model_its_backup_and_its_prompt() {
    if !has_programs(&["Xvfb"]) {
        return;
    }
    let world = World::new();
    let down = MockEndpoint::start(vec![Behaviour::status(500, "on fire"); 2]).await.unwrap();
    let done = r#"{"thought": "nothing is asked", "status": "FINISH", "result": "nothing to do"}"#;
    let up = MockEndpoint::start([Behaviour::reply_with_usage(done, 900, 30)]).await.unwrap();
    let examples = world.path().join("examples.md");
    fs::write(&examples, "A canary sings.").unwrap();
    let configuration = |more: &str| {
        format!(
            "[model]\nprovider = \"openai\"\nmodel = \"unused\"\nbase_url = \"{}\"\n\
             [models.big]\nprovider = \"openai\"\nmodel = \"big-1\"\nbase_url = \"{}\"\nbackups = [\"small\"]\n\
             [models.small]\nprovider = \"openai\"\nmodel = \"small-1\"\nbase_url = \"{}\"\n\
             [roles.host]\nmodel = \"big\"\nexamples = \"{}\"\n{more}",
            down.base_url(),
            down.base_url(),
            up.base_url(),
            examples.display()
        )
    };
    world.configure(&configuration(""));
    let shown = world.shown(&run(&world, &["run", "do nothing", "--ask", "never"]).await);
    assert!(shown.starts_with("exit 0\n"), "{shown}");
    let told = [
        "big did not answer, so another one did",
        "HostAgent · big-1: 2 calls",
        "HostAgent · small-1: 1 call",
    ];
    for part in told {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!((down.requests().len(), up.requests().len()), (2, 1));
    assert_eq!(up.requests()[0].body["model"], "small-1");
    assert!(up.requests()[0].body.to_string().contains("A canary sings."), "the examples are in the prompt");
    let doctor = world.shown(&run(&world, &["doctor"]).await);
    for (name, of) in [("model ", "unused"), ("model big", "big-1"), ("model small", "small-1")] {
        assert!(
            doctor.lines().any(|line| line.contains(name) && line.contains(&format!("openai {of} at"))),
            "{doctor}"
        );
    }
    let prompt = world.path().join("app.md");
    fs::write(&prompt, "{{ request }} {{ subtask }} {{ surface }}").unwrap();
    world.configure(&configuration(&format!("[roles.app]\nuser_prompt = \"{}\"\n", prompt.display())));
    let refused = world.run(&["run", "do nothing", "--ask", "never"]);
    assert!(
        !refused.starts_with("exit 0") && refused.contains("there is no variable `surface`"),
        "{refused}"
    );
    assert_eq!(down.requests().len(), 2, "no model was asked");
}

/// The shell agent asks the model of its role; what it does is on the disk.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_without_a_window_has_a_model_of_its_own() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    world.file("work/empty", "");
    let usual = MockEndpoint::start([
        Behaviour::reply(
            r#"{"thought": "t", "status": "ASSIGN", "control_label": "a1", "current_subtask": "write it"}"#,
        ),
        Behaviour::reply(r#"{"thought": "t", "status": "FINISH", "result": "the note is there"}"#),
    ])
    .await
    .unwrap();
    let writes = r#"{"thought": "t", "status": "CONTINUE", "action": [{"function": "run_command",
        "arguments": {"program": "sh", "arguments": ["-c", "echo hello > note.txt"]}}]}"#;
    let coder = MockEndpoint::start([
        Behaviour::reply(writes),
        Behaviour::reply(r#"{"thought": "t", "status": "FINISH", "result": "note.txt"}"#),
    ])
    .await
    .unwrap();
    world.configure(&format!(
        "[model]\nprovider = \"openai\"\nmodel = \"usual-1\"\nbase_url = \"{}\"\n\
         [models.coder]\nprovider = \"openai\"\nmodel = \"coder-1\"\nbase_url = \"{}\"\n\
         [roles.agents.shell]\nmodel = \"coder\"\n\
         [agents]\nenabled = [\"shell\"]\n[agents.shell]\nfolder = \"{}\"\n[people]\napprovals = \"all\"\n",
        usual.base_url(),
        coder.base_url(),
        world.path().join("work").display()
    ));
    let shown = world.shown(&run(&world, &["run", "write a note", "--desktop", "virtual"]).await);
    assert!(shown.starts_with("exit 0\n"), "{shown}");
    assert_eq!(fs::read_to_string(world.path().join("work/note.txt")).unwrap(), "hello\n");
    for (endpoint, model) in [(&usual, "usual-1"), (&coder, "coder-1")] {
        let models: Vec<String> =
            endpoint.requests().iter().map(|one| one.body["model"].to_string()).collect();
        assert_eq!(models, vec![format!("\"{model}\""); 2]);
    }
    assert!(shown.contains("shell · coder-1: 2 calls"), "{shown}");
}
