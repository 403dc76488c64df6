//! Addresses and downloads.

use deskhand_browser::BrowserProtocol;
use serde_json::json;

use super::{
    browsers::{Running, click},
    server::Server,
};

#[tokio::test]
async fn chromium_opens_addresses() {
    addresses(BrowserProtocol::Chromium).await;
}

#[tokio::test]
async fn firefox_opens_addresses() {
    addresses(BrowserProtocol::Firefox).await;
}

#[tokio::test]
async fn chromium_lists_downloads() {
    downloads(BrowserProtocol::Chromium).await;
}

#[tokio::test]
async fn firefox_lists_downloads() {
    downloads(BrowserProtocol::Firefox).await;
}

#[tokio::test]
async fn chromium_asks_before_it_leaves_a_page() {
    leaving(BrowserProtocol::Chromium).await;
}

#[tokio::test]
async fn firefox_asks_before_it_leaves_a_page() {
    leaving(BrowserProtocol::Firefox).await;
}

async fn leaving(engine: BrowserProtocol) {
    let server = Server::start().await;
    let running = Running::start(engine, &server.url("/leaving")).await;
    running.until("read_page", "Leaving", |output| output["text"] == "Click here.").await;
    // Only pages that were used may ask.
    let mut clicks = 0;
    while !server.has("POST /got clicked") {
        click(&running.display, (300, 500));
        running.ok("Leaving", "page_info", json!({})).await;
        clicks += 1;
        assert!(clicks < 1000, "the page sees no click");
    }
    for (accept, title) in [(false, "Leaving"), (true, "Plain")] {
        let opened = running.ok("Leaving", "open_url", json!({"url": server.url("/plain")})).await;
        assert_eq!(opened["output"]["dialog"]["kind"], "beforeunload", "{opened}");
        assert_eq!(opened["effect"]["seen"], false);
        let answered = running.ok("Leaving", "answer_dialog", json!({"accept": accept})).await;
        assert_eq!(answered["effect"]["seen"], true, "{answered}");
        running
            .until("page_info", title, |output| output["title"] == title && output["loading"] == false)
            .await;
    }
    running.end().await;
}

async fn addresses(engine: BrowserProtocol) {
    let server = Server::start().await;
    let running = Running::start(engine, &server.url("/plain")).await;
    let opened = running.open("Plain", &server.url("/form")).await;
    assert_eq!(opened["said"], format!("Opened the page \"Form\" ({}).", server.url("/form")));
    assert_eq!(
        opened["effect"],
        json!({"seen": true, "proof": format!("the page has the address {}", server.url("/form"))})
    );

    let opened = running.open("Form", &server.url("/redirect")).await;
    assert_eq!(
        (&opened["output"]["url"], &opened["effect"]["seen"]),
        (&json!(server.url("/plain")), &json!(true))
    );
    assert!(opened["said"].as_str().unwrap().contains("/redirect leads"), "{opened}");

    let opened = running.open("Plain", &server.url("/leads_on")).await;
    assert_eq!(opened["effect"]["seen"], true, "{opened}");
    running.until("page_info", "Plain", |output| output["url"] == server.url("/plain")).await;

    let opened = running.open("Plain", &server.url("/none")).await;
    assert!(opened["said"].as_str().unwrap().contains("the server answered with the error 404"), "{opened}");

    // Nothing listens on this port any more.
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let opened = running.open("Missing", &format!("http://{closed}/")).await;
    assert_eq!(opened["effect"]["seen"], false, "{opened}");
    assert!(opened["output"]["error"].as_str().unwrap().contains("CONNECTION_REFUSED"), "{opened}");

    let opened = running.open("127.0.0.1", &server.url("/plain#part")).await;
    assert_eq!(opened["output"]["url"], server.url("/plain#part"));
    let opened = running.open("Plain", &server.url("/plain#other")).await;
    assert_eq!(
        (&opened["output"]["url"], &opened["effect"]["seen"]),
        (&json!(server.url("/plain#other")), &json!(true))
    );
    running.open("Plain", "about:blank").await;
    let (kind, _) = running.refused("about:blank", "open_url", json!({"url": "javascript:1"})).await;
    assert_eq!(kind, "invalid");
    running.open("about:blank", &server.url("/plain")).await;

    let opened = running.ok("Plain", "open_url", json!({"url": server.url("/twin"), "new_tab": true})).await;
    assert_eq!(opened["effect"]["seen"], true, "{opened}");
    let tabs =
        running.until("tabs", "Twin", |tabs| tabs[1]["visible"] == true || tabs[0]["title"] == "Twin").await;
    let visible: Vec<_> = tabs["output"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tab| (tab["title"].clone(), tab["visible"].clone()))
        .collect();
    assert!(
        visible.contains(&(json!("Twin"), json!(true))) && visible.contains(&(json!("Plain"), json!(false))),
        "{tabs}"
    );
    running.end().await;
}

async fn downloads(engine: BrowserProtocol) {
    let server = Server::start().await;
    let running = Running::start(engine, &server.url("/fetches")).await;
    let read = running
        .until("downloads", "Fetches", |output| {
            output[0]["state"] == "completed" && !output[0]["path"].is_null()
        })
        .await;
    let path = running.folder.path().join("downloads/report.txt");
    let total = match engine {
        BrowserProtocol::Chromium => json!(12),
        BrowserProtocol::Firefox => json!(null),
    };
    assert_eq!(
        read["output"],
        json!([{"file": "report.txt", "path": path, "url": server.url("/file"), "state": "completed", "bytes": 12, "total": total}])
    );
    assert_eq!(std::fs::read_to_string(path).unwrap(), "twelve bytes");
    let opened = running.open("Fetches", &server.url("/file")).await;
    assert_eq!(
        (&opened["effect"]["seen"], &opened["output"]["download"]),
        (&json!(false), &json!(true)),
        "{opened}"
    );
    running
        .until("downloads", "Fetches", |output| output.as_array().is_some_and(|list| list.len() == 2))
        .await;
    running.end().await;
}
