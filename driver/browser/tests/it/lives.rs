//! How long holder, browser and clients live.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, time::Duration};

use deskhand_browser::{BrowserProtocol, hold};
use futures_util::{SinkExt as _, StreamExt as _};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::{
    io::AsyncWriteExt as _,
    net::TcpStream,
    process::{Child, Command},
    time::timeout,
};
use tokio_tungstenite::{client_async, tungstenite::Message};

use super::{
    browsers::{self, BOUND, Running},
    server::Server,
};

#[tokio::test]
async fn clients_do_not_disturb_each_other() {
    let server = Server::start().await;
    let running = Running::start(BrowserProtocol::Chromium, &server.url("/plain")).await;
    assert_eq!(fs::metadata(running.socket()).unwrap().permissions().mode() & 0o777, 0o600);
    running.until("read_page", "Plain", |output| output["text"] == "Plain text.").await;
    let request = json!({"id": 1, "window": {"xid": 0, "title": "Plain - Chromium"}, "tool": "read_page", "arguments": {}});
    for _ in 0..20 {
        // It goes before its answer comes.
        let mut dies = running.client().await;
        dies.writing.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        drop(dies);
    }
    let mut half = running.client().await;
    half.writing.write_all(b"{\"id\":").await.unwrap();
    let (mut one, mut other) = (running.client().await, running.client().await);
    for _ in 0..10 {
        let (one, other) =
            tokio::join!(one.call("Plain", "read_page", json!({})), other.call("Plain", "tabs", json!({})));
        assert_eq!(one["ok"]["output"]["text"], "Plain text.", "{one}");
        assert_eq!(other["ok"]["output"][0]["title"], "Plain", "{other}");
    }
    for (line, part) in [
        ("no json", "cannot be read"),
        ("{\"id\":1}", "missing field `window`"),
        (&"x".repeat((1 << 20) + 1), "more than 1048576 bytes"),
    ] {
        let answer = one.line(line).await;
        assert_eq!(answer["error"]["kind"], "invalid");
        assert!(answer["error"]["message"].as_str().unwrap().contains(part), "{answer}");
    }
    assert_eq!(one.call("Plain", "read_page", json!({})).await["ok"]["output"]["text"], "Plain text.");
    running.end().await;
}

/// Starts a browser twice with one profile: the second start hands its page over to the first and ends.
async fn a_second_start_hands_over(engine: BrowserProtocol) {
    let server = Server::start().await;
    let running = Running::start(engine, &server.url("/plain")).await;
    let code = timeout(BOUND, hold(running.hold(engine, &server.url("/twin")))).await.unwrap().unwrap();
    assert_eq!(code, 0);
    running
        .until("tabs", "", |tabs| {
            tabs.as_array().is_some_and(|tabs| tabs.iter().any(|tab| tab["title"] == "Twin"))
        })
        .await;
    running.end().await;
}

#[tokio::test]
async fn a_second_start_hands_over_and_keeps_the_socket() {
    a_second_start_hands_over(BrowserProtocol::Chromium).await;
}

#[tokio::test]
async fn a_socket_that_was_left_is_replaced_and_removed_in_the_end() {
    let server = Server::start().await;
    let mut running = Running::start(BrowserProtocol::Chromium, &server.url("/plain")).await;
    running.held.shutdown().await;
    // Its holder was dropped, so the socket is left.
    assert!(running.socket().exists());
    let mut program = running.hold(BrowserProtocol::Chromium, "");
    program.arguments = vec!["sh".into(), "-c".into(), "exit 7".into()];
    assert_eq!(timeout(BOUND, hold(program)).await.unwrap().unwrap(), 7);
    assert!(!running.socket().exists());
}

#[tokio::test]
async fn a_browser_without_protocol_goes_on() {
    let server = Server::start().await;
    let running = Running::start(BrowserProtocol::Chromium, &server.url("/plain")).await;
    let folder = tempfile::tempdir().unwrap();
    let mut program = running.hold(BrowserProtocol::Chromium, "");
    program.socket = folder.path().join("socket");
    // It closes the pipes at once and waits for the end of a client's call.
    let wait =
        format!("exec 3<&- 4>&-; until [ -e {0}/go ]; do sleep 0.05; done; exit 5", folder.path().display());
    program.arguments = vec!["sh".into(), "-c".into(), wait.into()];
    let mut held = tokio::task::JoinSet::new();
    held.spawn(hold(program));
    let socket = folder.path().join("socket");
    let connected = async {
        loop {
            match tokio::net::UnixStream::connect(&socket).await {
                Ok(stream) => return stream,
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
            }
        }
    };
    let mut stream = timeout(BOUND, connected).await.unwrap();
    // The answer waits until it is clear that the browser cannot be asked.
    stream.write_all(b"{\"id\":1,\"window\":{},\"tool\":\"tabs\"}\n").await.unwrap();
    let mut answer = [0; 30];
    timeout(BOUND, tokio::io::AsyncReadExt::read_exact(&mut stream, &mut answer)).await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&answer).starts_with("{\"id\":1,\"error\":{\"kind\":\"no_p"));
    fs::write(folder.path().join("go"), "").unwrap();
    assert_eq!(timeout(BOUND, held.join_next()).await.unwrap().unwrap().unwrap().unwrap(), 5);
    running.end().await;
}

#[tokio::test]
async fn a_second_client_of_firefox_can_do_nothing() {
    let server = Server::start().await;
    let running = Running::start(BrowserProtocol::Firefox, &server.url("/plain")).await;
    let announced = fs::read(running.folder.path().join("profile/WebDriverBiDiServer.json")).unwrap();
    let announced: Value = serde_json::from_slice(&announced).unwrap();
    let address = format!("127.0.0.1:{}", announced["ws_port"]);
    let stream = TcpStream::connect(&address).await.unwrap();
    let (mut other, _) = client_async(format!("ws://{address}/session"), stream).await.unwrap();
    for (id, method, error) in [
        (1, "session.new", "session not created"),
        (2, "browsingContext.getTree", "invalid session id"),
        (3, "script.evaluate", "invalid session id"),
        (4, "session.end", "invalid session id"),
        (5, "browser.close", "invalid session id"),
    ] {
        let message = json!({"id": id, "method": method, "params": {"capabilities": {}}});
        other.send(Message::text(message.to_string())).await.unwrap();
        let answer = timeout(BOUND, other.next()).await.unwrap().unwrap().unwrap();
        let answer: Value = serde_json::from_str(answer.to_text().unwrap()).unwrap();
        assert_eq!(
            (&answer["type"], &answer["error"]),
            (&json!("error"), &json!(error)),
            "{method}: {answer}"
        );
    }
    let stream = TcpStream::connect(&address).await.unwrap();
    // The path of a session that is not its own.
    assert!(client_async(format!("ws://{address}/session/0"), stream).await.is_err());
    running.ok("Plain", "read_page", json!({})).await;
    running.end().await;
}

#[tokio::test]
async fn a_second_start_of_firefox_hands_over_and_keeps_the_socket() {
    a_second_start_hands_over(BrowserProtocol::Firefox).await;
}

/// Not a test: the holder of the next ones.
#[tokio::test]
async fn holder_process() {
    let Ok(described) = std::env::var("DESKHAND_TEST_HOLD") else { return };
    let described: Vec<String> = serde_json::from_str(&described).unwrap();
    let [folder, display, url] = described.as_slice() else { panic!("{described:?}") };
    let code =
        hold(browsers::described(BrowserProtocol::Chromium, Path::new(folder), display, url)).await.unwrap();
    std::process::exit(code.into());
}

async fn held_elsewhere(server: &Server) -> (Running, Child, Pid) {
    let running = Running::prepared(BrowserProtocol::Chromium).await;
    let url = server.url("/plain");
    let described = json!([running.folder.path(), running.display, url]).to_string();
    let holder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "lives::holder_process", "--nocapture"])
        .env("DESKHAND_TEST_HOLD", described)
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    running.until_shown(&url).await;
    let lock = fs::read_link(running.folder.path().join("profile/SingletonLock")).unwrap();
    let pid = lock.to_str().unwrap().rsplit('-').next().unwrap().parse().unwrap();
    (running, holder, Pid::from_raw(pid).unwrap())
}

async fn until_ended(pid: Pid) {
    let ended = async {
        while Path::new(&format!("/proc/{}", pid.as_raw_nonzero())).exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(BOUND, ended).await.expect("the browser ends");
}

#[tokio::test]
async fn a_holder_passes_on_the_request_to_end_and_no_other_signal() {
    let server = Server::start().await;
    let (running, mut holder, browser) = held_elsewhere(&server).await;
    let pid = Pid::from_raw(holder.id().unwrap().try_into().unwrap()).unwrap();
    for signal in [Signal::HUP, Signal::INT, Signal::QUIT] {
        kill_process(pid, signal).unwrap();
    }
    running.until("read_page", "Plain", |output| output["text"] == "Plain text.").await;
    kill_process(pid, Signal::TERM).unwrap();
    let status = timeout(BOUND, holder.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(0));
    until_ended(browser).await;
    assert!(!running.socket().exists());
}

#[tokio::test]
async fn chromium_ends_with_its_holder() {
    let server = Server::start().await;
    let (_running, mut holder, browser) = held_elsewhere(&server).await;
    holder.start_kill().unwrap();
    holder.wait().await.unwrap();
    until_ended(browser).await;
}

#[tokio::test]
async fn pages_of_chromium_see_that_a_program_may_ask_it() {
    let server = Server::start().await;
    let running = Running::start(BrowserProtocol::Chromium, &server.url("/automated")).await;
    server.until("POST /got automated true").await;
    running.end().await;
}

#[tokio::test]
async fn pages_of_firefox_see_that_a_program_may_ask_it() {
    let server = Server::start().await;
    let running = Running::start(BrowserProtocol::Firefox, &server.url("/automated")).await;
    server.until("POST /got automated true").await;
    running.end().await;
}
