//! The protocol of `deskhand mcp`: questions in both forms, structured results, refusals with their reasons, and clients that send nonsense.

use std::{
    collections::BTreeSet,
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
};

use serde_json::{Value, json};

use crate::{
    mcp_peer::{Peer, meta, text, typing},
    support::{World, has_desktop, has_programs},
};

const TYPING_IS_ASKED: &str =
    "[[policy.rules]]\ntool = \"type_text\"\ndecision = \"ask\"\nreason = \"typing is asked about\"\n";

fn forms() -> Value {
    json!({"elicitation": {"form": {}}})
}

#[test]
fn since_2026_07_28_the_user_approves_by_a_second_request() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    world.configure(TYPING_IS_ASKED);
    let file = world.path().join("note.txt");
    let mut peer = Peer::modern(&world, forms());
    let offered = peer.request("server/discover", json!({}));
    let versions = offered["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{offered}");
    peer.with_editor();
    let asked = peer.call("act", typing("wanted"));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["approval"];
    assert_eq!(question["method"], "elicitation/create", "{asked}");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("“wanted”") && message.contains("typing is asked about"), "{message}");
    let state = asked["requestState"].clone();
    let retry = |answers: Value, state: &Value| json!({"name": "act", "arguments": typing("wanted"), "inputResponses": answers, "requestState": state});
    // What is no answer is asked for again, what is no state of ours is refused, and a state belongs to its request.
    for nonsense in [json!({}), json!({"approval": 7}), json!({"approval": {"action": "maybe"}})] {
        let again = peer.request("tools/call", retry(nonsense, &state));
        assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    }
    let yes = json!({"approval": {"action": "accept", "content": {}}, "other": {"action": "accept"}});
    let forged = peer.request("tools/call", retry(yes.clone(), &json!("0123456789abcdef")));
    assert_eq!(forged["error"]["code"], -32602, "{forged}");
    let mut moved = retry(yes.clone(), &state);
    moved["arguments"] = typing("unwanted");
    let moved = peer.request("tools/call", moved);
    assert_eq!(moved["error"]["code"], -32602, "{moved}");
    let done = peer.request("tools/call", retry(yes.clone(), &state));
    assert!(text(&done["result"]).contains("1. type_text: seen"), "{done}");
    // A client that lost the answer asks again.
    let again = peer.request("tools/call", retry(yes, &state));
    assert_eq!(again["result"], done["result"]);
    let asked = peer.call("act", typing("unwanted"));
    let no = json!({"approval": {"action": "decline"}});
    let refused = peer.request(
        "tools/call",
        json!({"name": "act", "arguments": typing("unwanted"), "inputResponses": no, "requestState": asked["requestState"]}),
    );
    let refused = text(&refused["result"]);
    assert!(
        refused.contains("the user did not approve it") && refused.contains("typing is asked about"),
        "{refused}"
    );
    // A question that the client lets go does not hold the desktop.
    peer.call("act", typing("forgotten"));
    peer.does("act", json!({"actions": [{"tool": "save_as", "arguments": {"path": file}}]}));
    assert_eq!(fs::read_to_string(&file).unwrap().trim_end(), "wanted");
    assert_eq!(peer.close(), (Some(0), String::new()));
    let listed = world.run(&["show", "last"]);
    assert!(listed.contains("MCP client a modern test"), "{listed}");
}

/// Sends a request of a browser to a page; the status and the body.
fn browse(url: &str, method: &str, headers: &str, body: &str) -> (u16, String) {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let host_line = if headers.contains("Host: ") { String::new() } else { format!("Host: {host}\r\n") };
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "{method} /{path} HTTP/1.1\r\n{host_line}{headers}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

#[test]
fn a_client_that_opens_addresses_has_the_user_decide_on_a_page() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    world.configure(TYPING_IS_ASKED);
    let mut peer = Peer::start(&world, json!({"elicitation": {"url": {}}}));
    peer.with_editor();
    let ask = |peer: &mut Peer, text: &str| {
        let call = peer.post_call("act", typing(text), json!({}));
        let (_, question) = peer.wait("question", |message| message["method"] == "elicitation/create");
        assert_eq!(question["params"]["mode"], "url", "{question}");
        let url = question["params"]["url"].as_str().unwrap().to_owned();
        (call, question["id"].clone(), url)
    };
    let agree = |peer: &mut Peer, id: Value, action: &str| {
        peer.send(json!({"jsonrpc": "2.0", "id": id, "result": {"action": action}}));
    };
    let (call, id, url) = ask(&mut peer, "<b>wanted</b>");
    agree(&mut peer, id, "accept");
    let (status, page) = browse(&url, "GET", "", "");
    assert_eq!(status, 200, "{page}");
    assert!(page.contains("“&lt;b&gt;wanted&lt;") && page.contains("typing is asked about"), "{page}");
    // Who guesses, names another host or comes from another page decides nothing.
    let guess = format!("{}{}", &url[..url.len() - 8], "0".repeat(8));
    for (url, headers, expected) in [
        (&guess, "", 404),
        (&url, "Host: attacker.example\r\n", 403),
        (&url, "Origin: http://attacker.example\r\n", 403),
        (&url, "Origin: null\r\n", 403),
    ] {
        assert_eq!(browse(url, "POST", headers, "decision=accept").0, expected, "{headers}");
    }
    let (status, page) = browse(&url, "POST", "", "decision=accept");
    assert!(status == 200 && page.contains("Thank you"), "{page}");
    let done = peer.answer(call);
    assert!(text(&done["result"]).contains("1. type_text: seen"), "{done}");
    assert!(TcpStream::connect(url.strip_prefix("http://").unwrap().split_once('/').unwrap().0).is_err());
    let (call, id, url) = ask(&mut peer, "unwanted");
    // The user can be faster than the client.
    assert_eq!(browse(&url, "POST", "", "decision=reject").0, 200);
    agree(&mut peer, id, "accept");
    let refused = peer.answer(call);
    assert!(text(&refused["result"]).contains("the user did not approve it"), "{refused}");
    let (call, id, _) = ask(&mut peer, "unopened");
    agree(&mut peer, id, "decline");
    let refused = peer.answer(call);
    assert!(text(&refused["result"]).contains("the user did not approve it"), "{refused}");
    assert_eq!(peer.close(), (Some(0), String::new()));
}

#[test]
fn since_2026_07_28_the_page_decides_after_the_second_request() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    world.configure(TYPING_IS_ASKED);
    let mut peer = Peer::modern(&world, json!({"elicitation": {"url": {}}}));
    peer.with_editor();
    let asked = peer.call("act", typing("wanted"));
    let url = asked["inputRequests"]["approval"]["params"]["url"].as_str().unwrap().to_owned();
    let again = json!({
        "name": "act", "arguments": typing("wanted"), "requestState": asked["requestState"],
        "inputResponses": {"approval": {"action": "accept"}},
    });
    let call = peer.post("tools/call", again);
    assert_eq!(browse(&url, "POST", "", "decision=accept").0, 200);
    let done = peer.answer(call);
    assert!(text(&done["result"]).contains("1. type_text: seen"), "{done}");
    assert_eq!(peer.close(), (Some(0), String::new()));
}

#[test]
fn what_needs_approval_is_refused_with_the_reason_of_the_policy() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    let denied = "[[policy.rules]]\ntool = \"press_keys\"\ndecision = \"deny\"\nreason = \"no keys here\"\n";
    world.configure(&format!("{TYPING_IS_ASKED}{denied}"));
    for mut peer in [Peer::modern(&world, json!({})), Peer::start(&world, json!({}))] {
        peer.with_editor();
        let refused = peer.fails("act", typing("unwanted"));
        assert!(
            refused.contains("this client cannot ask") && refused.contains("typing is asked about"),
            "{refused}"
        );
        let keys = json!({"actions": [{"tool": "press_keys", "arguments": {"keys": "a"}}]});
        let refused = peer.fails("act", keys);
        assert!(refused.contains("no keys here"), "{refused}");
        assert_eq!(peer.close().0, Some(0));
    }
}

#[test]
fn without_a_window_the_one_that_was_used_last_is_meant() {
    if !has_desktop() || !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let world = World::new();
    let file = world.file("second.txt", "the second\n");
    let mut peer = Peer::start(&world, json!({}));
    peer.with_editor();
    let opened = peer.call("open", json!({"application": "LibreOffice Writer"}));
    let windows = opened["structuredContent"]["windows"].as_array().unwrap().clone();
    assert!(windows.len() >= 2, "{opened}");
    // The one that was opened.
    let seen = peer.call("look", json!({}));
    assert!(text(&seen).contains("Writer"), "{seen}");
    peer.does("look", json!({"window": windows[0]}));
    peer.does("windows", json!({}));
    // The one that was worked in, also after the list.
    let seen = peer.call("look", json!({}));
    assert_eq!(seen["structuredContent"]["window"], windows[0], "{seen}");
    peer.does("open", json!({"application": "mousepad", "files": [file]}));
    let done = peer.call("act", typing("in "));
    assert!(text(&done).contains("second.txt"), "{done}");
    assert_eq!(peer.close().0, Some(0));
}

#[test]
fn results_are_structured_as_their_schemas_say() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    let mut peer = Peer::start(&world, json!({}));
    let listed = peer.request("tools/list", json!({}));
    let schemas: Vec<(String, Value)> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool["outputSchema"].clone()))
        .collect();
    let fits = |tool: &str, result: &Value| {
        let (_, schema) = schemas.iter().find(|(name, _)| name == tool).unwrap();
        let known: BTreeSet<&String> = schema["properties"].as_object().unwrap().keys().collect();
        let given: BTreeSet<&String> = result["structuredContent"].as_object().unwrap().keys().collect();
        assert_eq!(known, given, "{tool}");
        assert_eq!(
            result["structuredContent"]["text"].as_str(),
            result["content"][0]["text"].as_str(),
            "{tool}"
        );
    };
    let started = peer.call("start_desktop", json!({"task": "write a note"}));
    fits("start_desktop", &started);
    assert_eq!(started["structuredContent"]["desktop"], "d1");
    fits("desktops", &peer.call("desktops", json!({})));
    fits("open", &peer.call("open", json!({"application": "mousepad"})));
    fits("windows", &peer.call("windows", json!({})));
    fits("look", &peer.call("look", json!({})));
    let done = peer.call("act", typing("structured"));
    fits("act", &done);
    assert_eq!(done["structuredContent"]["actions"], json!([{"tool": "type_text", "verdict": "seen"}]));
    assert_eq!(done["structuredContent"]["not_run"], 0);
    fits("screenshot", &peer.call("screenshot", json!({})));
    let completed = peer.request(
        "completion/complete",
        json!({"ref": {"type": "ref/resource", "uri": "deskhand://desktops/{desktop}/tree"}, "argument": {"name": "desktop", "value": "d"}}),
    );
    assert_eq!(completed["result"]["completion"]["values"], json!(["d1"]), "{completed}");
    let watched = peer.request("resources/subscribe", json!({"uri": "deskhand://desktops/d1/tree"}));
    assert_eq!(watched["result"], json!({}), "{watched}");
    peer.does("act", typing(" more"));
    let (_, updated) = peer.wait("update", |message| message["method"] == "notifications/resources/updated");
    assert_eq!(updated["params"]["uri"], "deskhand://desktops/d1/tree");
    fits("end_desktop", &peer.call("end_desktop", json!({})));
    assert!(!peer.notified("notifications/resources/list_changed").is_empty());
    let page = peer.request("resources/list", json!({"cursor": "from-50"}));
    assert_eq!(page["error"]["code"], -32602, "{page}");
    assert_eq!(peer.close(), (Some(0), String::new()));
}

#[test]
fn each_wrong_message_gets_its_code_and_none_ends_the_server() {
    let world = World::new();
    let mut peer = Peer::start(&world, json!({}));
    let without_id = |message: &Value| message["id"].is_null() && !message["error"].is_null();
    for (line, code) in [
        ("garbage", -32700),
        ("{\"jsonrpc\": \"2.0\", ", -32700),
        (
            &format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{}}}", "[".repeat(100_000)),
            -32700,
        ),
        ("[]", -32600),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600),
        (&format!("\"{}\"", "x".repeat(9 << 20)), -32600),
    ] {
        peer.write(line);
        let (_, refused) = peer.wait("refusal", without_id);
        assert_eq!(refused["error"]["code"], code, "{refused}");
    }
    for (method, params, code) in [
        ("tools/call", json!({"name": 7}), -32602),
        ("tools/call", json!({}), -32602),
        ("tools/call", json!({"name": "look", "arguments": []}), -32602),
        ("tools/call", json!({"name": "fly"}), -32602),
        ("prompts/get", json!({"name": "fly"}), -32602),
        ("prompts/get", json!({"name": {}}), -32602),
        ("resources/read", json!({"uri": 7}), -32602),
        ("completion/complete", json!({"ref": 1}), -32602),
        ("logging/setLevel", json!({"level": "loud"}), -32602),
        ("tools/list", json!({"cursor": 7}), -32602),
        ("tools/list", json!({"cursor": "from-7000"}), -32602),
        ("resources/read", json!({"uri": "deskhand://no/such"}), -32002),
        ("tools/fly", json!({}), -32601),
        ("", json!({}), -32601),
    ] {
        let refused = peer.request(method, params);
        assert_eq!(refused["error"]["code"], code, "{method}: {refused}");
    }
    let missing = peer.request("tools/call", json!({"arguments": {}}));
    assert!(missing["error"]["message"].as_str().unwrap().contains("`name`"), "{missing}");
    assert_eq!(peer.request("ping", json!({}))["result"], json!({}));
    assert_eq!(peer.close(), (Some(0), String::new()));
}

#[test]
fn a_client_that_asks_for_too_much_gets_answers_and_the_server_lives() {
    let world = World::new();
    let mut peer = Peer::start(&world, json!({}));
    // Nobody has to have been greeted for this.
    peer.send(json!({"jsonrpc": "2.0", "id": 99, "result": {}}));
    peer.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}}));
    peer.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}}));
    peer.send(json!({"jsonrpc": "2.0", "method": "notifications/nonsense"}));
    let large = peer.call("look", json!({"words": "x".repeat(5 << 20)}));
    assert!(large["isError"] == true && large.to_string().len() < 2_000, "{} bytes", large.to_string().len());
    let ids: Vec<u64> = (0..1_000).map(|_| peer.post_call("windows", json!({}), json!({}))).collect();
    for id in ids {
        let answer = peer.answer(id);
        let is_told = answer["result"]["isError"] == true || answer["error"]["code"] == 429;
        assert!(is_told, "{answer}");
    }
    // The same id twice at once: one answer at least, and no other effect.
    let twice = json!({"jsonrpc": "2.0", "id": "twice", "method": "tools/call", "params": {"name": "desktops", "arguments": {}}});
    peer.send(twice.clone());
    peer.send(twice);
    peer.wait("answer", |message| message["id"] == "twice");
    assert_eq!(peer.request("ping", json!({}))["result"], json!({}));
    assert_eq!(peer.close(), (Some(0), String::new()));
    assert_eq!(world.processes(), [], "processes are left");
}

#[test]
fn a_request_of_2026_07_28_carries_what_it_needs() {
    let world = World::new();
    let mut peer = Peer::modern(&world, json!({}));
    let mut wrong = meta(json!({}));
    wrong["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    peer.send(json!({"jsonrpc": "2.0", "id": "v", "method": "tools/list", "params": {"_meta": wrong}}));
    let (_, refused) = peer.wait("refusal", |message| message["id"] == "v");
    assert_eq!(refused["error"]["code"], -32022, "{refused}");
    let listed = peer.request("tools/list", json!({}));
    assert!(listed["result"]["ttlMs"].is_u64() && listed["result"]["tools"].is_array(), "{listed}");
    for removed in ["ping", "logging/setLevel", "resources/subscribe"] {
        let params = json!({"level": "info", "uri": "deskhand://desktops/d1/tree"});
        assert_eq!(peer.request(removed, params)["error"]["code"], -32601, "{removed}");
    }
    let read = peer.request("resources/read", json!({"uri": "deskhand://no/such"}));
    assert_eq!(read["error"]["code"], -32602, "{read}");
    assert_eq!(peer.close(), (Some(0), String::new()));
}

#[test]
fn what_a_refusal_quotes_is_not_said_by_the_user() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    world.configure("[desktop]\nconfine = \"off\"\n");
    world.file(".ssh/id_work", "the key");
    let file = world.path().join(".ssh/id_work");
    let mut peer = Peer::start(&world, json!({}));
    peer.does("start_desktop", json!({"task": "look at what is there"}));
    // The first refusal names the file, in words of ours.
    for attempt in 1..=3 {
        let opened = peer.call("open", json!({"application": "mousepad", "files": [file]}));
        assert!(text(&opened).contains("a place of secrets"), "{attempt}: {opened}");
    }
    peer.does("open", json!({"application": "mousepad"}));
    for attempt in 1..=2 {
        let act = json!({"actions": [{"tool": "read_file", "arguments": {"path": file}}]});
        let read = peer.call("act", act);
        assert!(!text(&read).contains("the key"), "{attempt}: {read}");
    }
    assert_eq!(peer.close(), (Some(0), String::new()));
}
