//! Text, forms and tabs.

use deskhand_browser::BrowserProtocol;
use serde_json::{Value, json};

use super::{browsers::Running, server::Server};

#[tokio::test]
async fn chromium_reads_text_with_frames_and_shadow_roots() {
    text(BrowserProtocol::Chromium).await;
}

#[tokio::test]
async fn firefox_reads_text_with_frames_and_shadow_roots() {
    text(BrowserProtocol::Firefox).await;
}

#[tokio::test]
async fn chromium_reads_forms() {
    forms(BrowserProtocol::Chromium).await;
}

#[tokio::test]
async fn firefox_reads_forms() {
    forms(BrowserProtocol::Firefox).await;
}

#[tokio::test]
async fn chromium_reads_hostile_pages() {
    hostile(BrowserProtocol::Chromium).await;
}

#[tokio::test]
async fn firefox_reads_hostile_pages() {
    hostile(BrowserProtocol::Firefox).await;
}

async fn text(engine: BrowserProtocol) {
    let server = Server::start().await;
    let url = server.url("/article");
    let running = Running::start(engine, &url).await;
    let all = |output: &Value| {
        output["frames"].as_array().is_some_and(|frames| frames.len() == 4) && output["loading"].is_null()
    };
    let read = running.until("read_page", "An article", all).await;
    let text = read["output"]["text"].as_str().unwrap();
    let (port, other) = (server.port, server.other_port);
    let inner = |number: usize, host: &str| {
        format!(
            "[frame {number}: http://{host}/inner]\n\nInner text. Inside [text Inside: v]\n\n\
             [frame {}: http://127.0.0.1:{port}/deep]\n\nDeep text.\n\n[end of frame {}]\n\n[end of frame {number}]",
            number + 1,
            number + 1
        )
    };
    let expected = format!(
        "# Head line\n\nFirst paragraph with a [link](http://127.0.0.1:{port}/plain) and code.\n\n\
         Second paragraph.\nNew line. Kept.\n\n- One\n- Two\n  3. Three\n  4. Four\n\n\
         | Name | Sum |\n| --- | --- |\n| A\\|B | 1 |\n| wide |  |\n\n```\n  x = 1\n    y\n```\n\n> Quoted\n>\n> twice\n\n\
         ![A picture]\nSummary\n\nShadow Slotted and fallback.\n\nSpoof: evil 0 end\n\n\
         Before\n\n{}\n\nbetween\n\n{}\n\nafter.",
        inner(1, &format!("127.0.0.1:{other}")),
        inner(3, &format!("localhost:{port}")),
    );
    assert_eq!(text, expected);
    let total = text.chars().count();
    assert_eq!(read["output"]["end"], total);
    assert_eq!(
        read["said"],
        format!("Read {total} of {total} characters of the page \"An article\" ({url}).")
    );
    assert_eq!(read["output"]["frames"][0]["name"], "near");

    let part = running.ok("An article", "read_page", json!({"start": 2, "max_characters": 200})).await;
    assert_eq!(part["output"]["text"].as_str().unwrap(), text.chars().skip(2).take(200).collect::<String>());
    let deep = running.ok("An article", "read_page", json!({"frame": 4})).await;
    assert_eq!(deep["output"]["text"], "Deep text.");
    let (kind, message) = running.refused("An article", "read_page", json!({"frame": 9})).await;
    assert_eq!(
        (kind.as_str(), message.as_str()),
        ("invalid", "the page has no frame 9; its frames are 0 to 4")
    );
    running.end().await;
}

async fn forms(engine: BrowserProtocol) {
    let server = Server::start().await;
    let running = Running::start(engine, &server.url("/form")).await;
    let filled = |output: &Value| output["fields"].as_array().is_some_and(|fields| fields.len() == 15);
    let read = running.until("page_forms", "Form", filled).await;
    let all = read["output"]["fields"].as_array().unwrap();
    let field = |label: &str| {
        all.iter().find(|field| field["label"] == label).unwrap_or_else(|| panic!("{label}: {all:?}"))
    };
    assert_eq!(
        field("Your name"),
        &json!({"label": "Your name", "kind": "text", "value": "Ann", "required": true, "frame": 0})
    );
    assert!(field("Mail")["invalid"].as_str().unwrap().contains("email address"));
    assert_eq!((&field("Secret")["value"], &field("Shown secret")["value"]), (&json!("•••"), &json!("•••")));
    assert_eq!(
        (&field("Agree")["checked"], &field("A")["checked"], &field("B")["checked"]),
        (&json!(true), &json!(false), &json!(true))
    );
    assert_eq!(field("Colour")["options"], json!([{"text": "Red"}, {"text": "Green", "selected": true}]));
    assert_eq!(
        (field("Many")["options"].as_array().unwrap().len(), &field("Many")["options_total"]),
        (50, &json!(60))
    );
    assert_eq!(field("Notes")["value"], "line\ntwo");
    assert_eq!(
        field("File"),
        &json!({"label": "File", "kind": "file", "files": [], "accept": ".txt", "multiple": true, "frame": 0})
    );
    assert_eq!(field("Off")["disabled"], true);
    assert_eq!((&field("Editor")["kind"], &field("Editor")["value"]), (&json!("editable"), &json!("typed")));
    let text = running.ok("Form", "read_page", json!({})).await["output"]["text"].to_string();
    assert!(!text.contains("hunter") && !text.contains("TOKEN") && text.contains("[button: Send]"), "{text}");
    let info = running.ok("Form", "page_info", json!({})).await;
    assert_eq!(
        (&info["output"]["focused_field"], &info["output"]["scroll"]["y"]),
        (&json!("Your name"), &json!(0))
    );
    running.end().await;
}

async fn hostile(engine: BrowserProtocol) {
    let server = Server::start().await;
    let running = Running::start(engine, &server.url("/hostile")).await;
    let read = running
        .until("read_page", "Hostile", |output| {
            output["loading"].is_null() && output["text"].as_str().is_some_and(|text| !text.is_empty())
        })
        .await;
    let text = read["output"]["text"].as_str().unwrap();
    assert!(
        text.starts_with("Real text.") && text.ends_with("Bottom.") && !text.contains("FORGED"),
        "{text}"
    );
    assert_eq!(read["output"]["title"], "Hostile");
    let tabs = running.ok("Hostile", "tabs", json!({})).await;
    assert_eq!(
        tabs["output"],
        json!([{"title": "Hostile", "url": server.url("/hostile"), "visible": true, "of_this_window": true}])
    );
    running.end().await;
}
