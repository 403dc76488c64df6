//! A browser that goes from page to page: what is listed is the page that it shows.

use std::time::Duration;

use deskhand_desktop::{InputInjection as _, LaunchRequest, TreeLimits, UiTree};
use deskhand_desktop_act as act;
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_ui::{
    ElementQuery, Role, Tree,
    action::{Condition, Verdict},
    keys::KeyChord,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    task::JoinSet,
};

use crate::{fixtures::outline, programs::has_programs};

const BOUND: Duration = Duration::from_secs(30);

/// Serves pages whose title and button say where they are, such as `Page localhost/b`.
async fn serve(listener: TcpListener) {
    let mut answers = JoinSet::new();
    while let Ok((mut stream, _)) = listener.accept().await {
        answers.spawn(async move {
            let mut request = vec![0; 8_192];
            let Ok(count) = stream.read(&mut request).await else { return };
            let request = String::from_utf8_lossy(&request[..count]).into_owned();
            let path = request.split(' ').nth(1).unwrap_or("/").to_owned();
            let host = request.lines().find_map(|line| line.strip_prefix("Host: ")).unwrap_or_default();
            let name = format!("{}{path}", host.split(':').next().unwrap_or_default());
            let body = format!("<title>Page {name}</title><h1>Here</h1><button>Press {name}</button>");
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all((head + &body).as_bytes()).await;
        });
    }
}

/// The names of the pages in a tree.
fn pages(tree: &Tree) -> Vec<String> {
    let pages = tree.elements.iter().filter(|one| one.role == Role::DOCUMENT_WEB);
    pages.map(|page| page.name.clone()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_that_is_listed_is_the_page_that_is_shown() {
    if !has_programs(&["chromium"]) {
        return;
    }
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut server = JoinSet::new();
    server.spawn(serve(listener));
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await.unwrap();
    let request = LaunchRequest {
        program: "chromium".to_owned(),
        arguments: vec![format!("http://127.0.0.1:{port}/a"), "--window-size=1040,760".to_owned()],
    };
    let launched = act::launch(&desktop, &request, &ActLimits::default()).await.unwrap();
    let window = launched.window.clone().unwrap_or_else(|| panic!("{}", launched.summary())).id;
    let shows = async |name: &str| {
        let condition = Condition::Appears(ElementQuery::named(&format!("Press {name}")));
        let shown = act::wait_for(&desktop, window, &condition, BOUND).await.unwrap();
        let tree = desktop.tree(window, TreeLimits::default()).await.unwrap();
        let fresh = desktop.fresh_tree(window, TreeLimits::default()).await.unwrap();
        let (listed, there) = (outline(&tree), outline(&fresh));
        assert_eq!(shown.effect(), Verdict::Seen, "{name}: {}\n{listed}\nfresh:\n{there}", shown.summary());
        assert_eq!(pages(&tree), [format!("Page {name}")], "{listed}");
    };
    shows("127.0.0.1/a").await;
    for name in ["127.0.0.1/b", "localhost/c", "127.0.0.1/a", "localhost/d"] {
        let (host, path) = name.split_once('/').unwrap();
        let tree = desktop.tree(window, TreeLimits::default()).await.unwrap();
        let bar = tree.elements.iter().find(|one| one.name == "Address and search bar").unwrap().id;
        let text = format!("http://{host}:{port}/{path}");
        let request = act::TypeTextOptions { element: Some(bar), name: None, text, clear: true };
        let typed = act::type_text(&desktop, window, &request, &ActLimits::default()).await.unwrap();
        assert_eq!(typed.effect(), Verdict::Seen, "{name}: {}", typed.summary());
        desktop.press(&"Return".parse::<KeyChord>().unwrap()).await.unwrap();
        shows(name).await;
    }
    desktop.shut_down().await;
}
