//! `deskhand mcp`, driven by a client that shares no code with it: lines of JSON over the pipes of the process.
#![expect(clippy::needless_pass_by_value, reason = "values made by `json!` read better where they are made")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{World, has_desktop, has_programs};

/// How long an answer may take on a machine under load.
const BOUND: Duration = Duration::from_secs(180);

/// A client of the protocol.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<Value>,
    last: u64,
    /// What was told of progress.
    progress: Vec<String>,
    /// What the user of the client answers when asked: the action of an elicitation.
    pub(crate) says: &'static str,
    /// What the user was asked.
    pub(crate) asked: Vec<String>,
}

impl Client {
    /// Starts the server and initialises the protocol; `capabilities` are those of the client.
    pub(crate) fn start(world: &World, capabilities: Value) -> Self {
        Self::start_with(world, capabilities, &[])
    }

    /// The same with more arguments.
    fn start_with(world: &World, capabilities: Value, arguments: &[&str]) -> Self {
        let mut command = world.command(&["mcp"]);
        command.args(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a message: {line}"));
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        let mut client =
            Self { child, input, lines, last: 0, progress: Vec::new(), says: "decline", asked: Vec::new() };
        let greeting = client.request(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": capabilities,
                "clientInfo": {"name": "a test", "version": "1"},
            }),
        );
        assert_eq!(greeting["serverInfo"]["name"], "deskhand", "{greeting}");
        client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request and returns its result or its error.
    fn request(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let until = Instant::now() + BOUND;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.lines.recv_timeout(left).unwrap_or_else(|_| panic!("no answer to {method}"));
            if message["method"] == "elicitation/create" {
                self.asked.push(message["params"]["message"].as_str().unwrap().to_owned());
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"action": self.says, "content": {}}});
                self.send(answer);
            } else if message["method"] == "notifications/progress" {
                self.progress.push(message["params"]["message"].as_str().unwrap().to_owned());
            } else if message["id"] == id {
                return if message["error"].is_null() {
                    message["result"].clone()
                } else {
                    message["error"].clone()
                };
            }
        }
    }

    /// Calls a tool; its whole result.
    pub(crate) fn result(&mut self, tool: &str, arguments: Value) -> Value {
        let token = format!("progress of {tool}");
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": token}});
        self.request("tools/call", params)
    }

    /// The same; its text, and whether it failed.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let result = self.result(tool, arguments);
        let texts = result["content"].as_array().unwrap_or_else(|| panic!("{tool}: {result}")).iter();
        let text = texts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n");
        (text, result["isError"] == true)
    }

    /// The same for a call that must work.
    pub(crate) fn does(&mut self, tool: &str, arguments: Value) -> String {
        let (text, failed) = self.call(tool, arguments);
        assert!(!failed, "{tool}: {text}");
        text
    }

    /// The same for a call that must not work.
    fn fails(&mut self, tool: &str, arguments: Value) -> String {
        let (text, failed) = self.call(tool, arguments);
        assert!(failed, "{tool}: {text}");
        text
    }

    /// Closes the streams; the exit code of the server.
    pub(crate) fn close(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().unwrap().code()
    }
}

#[test]
fn a_client_writes_a_note_and_the_session_replays() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    let note = world.path().join("note.txt");
    let mut client = Client::start(&world, json!({}));
    client.does("start_desktop", json!({"task": "write a note and save it"}));
    let opened = client.does("open", json!({"application": "mousepad"}));
    assert!(opened.contains("Mousepad"), "{opened}");
    let seen = client.does("look", json!({}));
    assert!(seen.contains("text"), "{seen}");
    let actions = json!([
        {"tool": "type_text", "arguments": {"text": "from another agent"}},
        {"tool": "save_as", "arguments": {"path": note}},
    ]);
    let done = client.does("act", json!({"actions": actions, "why": "the user wants a note"}));
    assert!(done.contains("1. type_text: seen") && done.contains("2. save_as: seen"), "{done}");
    assert_eq!(fs::read_to_string(&note).unwrap().trim(), "from another agent");
    let windows = client.does("windows", json!({}));
    assert!(windows.contains("note.txt") && windows.contains("saved"), "{windows}");
    let shot = client.request("resources/read", json!({"uri": "deskhand://desktops/d1/screenshot"}));
    assert_eq!(shot["contents"][0]["mimeType"], "image/png", "{shot}");
    assert!(shot["contents"][0]["blob"].as_str().unwrap().starts_with("iVBOR"), "not a PNG file");
    let tree = client.request("resources/read", json!({"uri": "deskhand://desktops/d1/tree"}));
    assert!(tree["contents"][0]["text"].as_str().unwrap().contains("note.txt"), "{tree}");
    let ended = client.does("end_desktop", json!({"result": "the note is written"}));
    assert!(ended.contains("finished") && ended.contains("the note is written"), "{ended}");
    let listed = client.request("resources/list", json!({}));
    let report = listed["resources"]
        .as_array()
        .unwrap()
        .iter()
        .find_map(|one| one["uri"].as_str().filter(|uri| uri.ends_with("/report")).map(str::to_owned));
    let report = client.request("resources/read", json!({"uri": report.unwrap()}));
    assert!(report["contents"][0]["text"].as_str().unwrap().contains("from another agent"), "{report}");
    let others = client.request("resources/read", json!({"uri": "deskhand://sessions/last/report"}));
    assert!(others["message"].as_str().unwrap().contains("no resource"), "{others}");
    let prompt = client.request("prompts/get", json!({"name": "do", "arguments": {"task": "write a poem"}}));
    assert!(prompt["messages"][0]["content"]["text"].as_str().unwrap().contains("write a poem"), "{prompt}");
    assert_eq!(client.close(), Some(0));
    let replayed = world.run(&["replay", "last"]);
    assert!(replayed.starts_with("exit 0"), "{replayed}");
    let shown = world.run(&["show", "last"]);
    assert!(shown.contains("from another agent") && shown.contains("the user wants a note"), "{shown}");
    assert_eq!(world.processes(), [], "processes are left");
}

#[test]
fn what_cannot_be_done_is_said_and_the_session_goes_on() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    let mut client = Client::start(&world, json!({}));
    assert!(client.fails("windows", json!({})).contains("`start_desktop` starts one"));
    client.does("start_desktop", json!({"task": "try things"}));
    assert!(client.fails("look", json!({"window": "w99"})).contains("there is no window w99"));
    assert!(client.fails("look", json!({"window": "first"})).contains("not the id of a window"));
    // What is not installed needs approval, which this client cannot ask for.
    assert!(
        client.fails("open", json!({"application": "no-such-program"})).contains("this client cannot ask")
    );
    client.does("open", json!({"application": "mousepad"}));
    assert!(client.fails("act", json!({"actions": []})).contains("nothing was done"));
    assert!(client.fails("act", json!({"action": []})).contains("unknown field `action`"));
    let gone =
        client.fails("act", json!({"actions": [{"tool": "click_element", "arguments": {"id": "e99999"}}]}));
    assert!(gone.contains("1. click_element: refused"), "{gone}");
    let unknown = client.fails("act", json!({"actions": [{"tool": "fly", "arguments": {}}]}));
    assert!(unknown.contains("fly"), "{unknown}");
    assert!(client.fails("windows", json!({"desktop": "d7"})).contains("there is no desktop `d7`"));
    let error = client.request("tools/call", json!({"name": "fly", "arguments": {}}));
    assert!(error["message"].as_str().unwrap().contains("start_desktop"), "{error}");
    client.does("act", json!({"actions": [{"tool": "type_text", "arguments": {"text": "still here"}}]}));
    // Without a word of farewell: the desktop ends with its client.
    assert_eq!(client.close(), Some(0));
    assert_eq!(world.processes(), [], "processes are left");
}

#[test]
fn the_user_of_a_client_approves() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    world.configure(
        "[[policy.rules]]\ntool = \"type_text\"\ndecision = \"ask\"\nreason = \"typing is asked about\"\n",
    );
    let typing = |text: &str| json!({"actions": [{"tool": "type_text", "arguments": {"text": text}}]});
    let begin = |client: &mut Client| {
        client.does("start_desktop", json!({"task": "write a note"}));
        client.does("open", json!({"application": "mousepad"}));
    };
    let mut client = Client::start(&world, json!({"elicitation": {}}));
    begin(&mut client);
    let refused = client.fails("act", typing("unwanted"));
    assert!(refused.contains("the user did not approve it"), "{refused}");
    client.says = "accept";
    let done = client.does("act", typing("wanted"));
    assert!(done.contains("seen") && done.contains("wanted") && !done.contains("unwanted"), "{done}");
    assert_eq!(client.asked.len(), 2);
    assert!(
        client.asked[1].contains("“wanted”") && client.asked[1].contains("typing is asked about"),
        "{:?}",
        client.asked
    );
    assert_eq!(client.close(), Some(0));
    // A client that cannot ask gets the reason.
    let mut client = Client::start(&world, json!({}));
    begin(&mut client);
    let refused = client.fails("act", typing("unwanted"));
    assert!(refused.contains("this client cannot ask"), "{refused}");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn tools_are_described_in_few_tokens() {
    let world = World::new();
    let mut client = Client::start(&world, json!({}));
    let listed = client.request("tools/list", json!({}));
    let tools = listed["tools"].as_array().unwrap();
    assert!(tools.len() <= 12, "{} tools", tools.len());
    for tool in tools {
        assert!(tool["description"].as_str().unwrap().len() > 20, "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    }
    // Four characters a token is the usual estimate for English text and JSON.
    let tokens = listed["tools"].to_string().len() / 4;
    assert!(tokens < 4_000, "{tokens} tokens");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn a_client_makes_a_spreadsheet_with_a_chart_in_eight_calls() {
    if !has_desktop() || !has_programs(&["soffice"]) {
        return;
    }
    let world = World::new();
    let file = world.path().join("sales.ods");
    let mut client = Client::start(&world, json!({}));
    client.does("start_desktop", json!({"task": "make a chart of the sales and save it"}));
    client.does("open", json!({"application": "LibreOffice Calc"}));
    let rows = json!([["Region", "Units"], ["North", 120], ["South", 80]]);
    let dialog = client.does(
        "act",
        json!({"actions": [
            {"tool": "write_table", "arguments": {"start": "A1", "rows": rows}},
            {"tool": "select_cells", "arguments": {"range": "A1:B3"}},
            {"tool": "visit", "arguments": {"path": ["Insert", "Chart…"]}},
        ]}),
    );
    let (_, after) = dialog.split_once("push button \"Help\" | [").unwrap_or_else(|| panic!("{dialog}"));
    let (finish, _) = after.split_once("] \"Finish\"").unwrap_or_else(|| panic!("{dialog}"));
    client.does(
        "act",
        json!({"actions": [
            {"tool": "click_element", "arguments": {"id": finish, "name": "Finish"}},
            {"tool": "press_keys", "arguments": {"keys": "escape"}},
            {"tool": "save_as", "arguments": {"path": file}},
        ]}),
    );
    client.does("end_desktop", json!({}));
    let calls = client.last - 1;
    assert!(calls <= 8, "{calls} calls");
    assert_eq!(client.close(), Some(0));
    let mut archive = zip::ZipArchive::new(fs::File::open(&file).unwrap()).unwrap();
    let chart = std::io::read_to_string(archive.by_name("Object 1/content.xml").unwrap()).unwrap();
    assert!(chart.contains("office:chart"), "{chart}");
    let sheet = std::io::read_to_string(archive.by_name("content.xml").unwrap()).unwrap();
    assert!(sheet.contains(r#"office:value="120""#) && sheet.contains("South"), "{sheet}");
    let replayed = world.run(&["replay", "last"]);
    assert!(replayed.starts_with("exit 0"), "{replayed}");
}

const TURNS: &str = r#"
[[turn]]
title = "launch"
agent = "HostAgent"
reply = '''
{"thought": "open the editor", "status": "ASSIGN", "current_subtask": "type the word",
 "function": "launch_application", "arguments": {"name": "mousepad"}}
'''

[[turn]]
title = "type and save"
agent = "AppAgent"
reply = '''
{"thought": "type it", "status": "FINISH", "result": "typed", "action": [
 {"function": "type_text", "arguments": {"text": "by our own agents"}},
 {"function": "save_as", "arguments": {"path": "{{var "file"}}"}}]}
'''

[[turn]]
title = "done"
agent = "HostAgent"
repeat = true
reply = '{"thought": "all done", "status": "FINISH", "result": "the word is written"}'
"#;

#[test]
fn our_own_agents_do_a_whole_task_for_a_client() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    let file = world.path().join("word.txt");
    world.file("turns.toml", &TURNS.replace(r#"{{var "file"}}"#, file.to_str().unwrap()));
    let mut client = Client::start_with(&world, json!({}), &["--model", "script:turns.toml"]);
    let done = client.does("run_task", json!({"request": "write the word into a file"}));
    assert!(done.contains("finished"), "{done}");
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), "by our own agents");
    assert!(client.progress.iter().any(|told| told.contains("type the word")), "{:?}", client.progress);
    assert!(client.progress.iter().any(|told| told.contains("save as")), "{:?}", client.progress);
    assert_eq!(client.close(), Some(0));
    // Without a model it says so, and the server goes on.
    let world = World::new();
    let mut client = Client::start(&world, json!({}));
    let said = client.fails("run_task", json!({"request": "write the word into a file"}));
    assert!(said.contains("no model is configured"), "{said}");
    client.does("desktops", json!({}));
    assert_eq!(client.close(), Some(0));
}

#[test]
fn what_a_client_began_is_resumed_with_a_model_and_its_limits() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    let done = r#"{"thought": "seen", "status": "FINISH", "result": "nothing is left to do"}"#;
    world.file("turns.toml", &format!("[[turn]]\nrepeat = true\nreply = '{done}'\n"));
    let mut client = Client::start(&world, json!({}));
    client.does("start_desktop", json!({"task": "write a note"}));
    client.does("open", json!({"application": "mousepad"}));
    client.child.kill().unwrap();
    client.child.wait().unwrap();
    let resumed = world.run(&["resume", "last", "--model", "script:turns.toml"]);
    assert!(resumed.starts_with("exit 0\n") && resumed.contains("nothing is left to do"), "{resumed}");
    let sessions = world.store();
    let folder = sessions.find("last").unwrap();
    let mut limits = Vec::new();
    folder
        .read_lines(&mut |line| {
            let line = serde_json::to_value(line).unwrap();
            let config = [&line["record"]["config"], &line["record"]["change"]["config"]];
            limits.extend(config.into_iter().filter_map(|config| config["limits"]["steps_max"].as_u64()));
        })
        .unwrap();
    assert_eq!((limits.first(), limits.last()), (Some(&u64::from(u32::MAX)), Some(&50)), "{limits:?}");
    assert_eq!(world.orphans(), Vec::<String>::new());
}
