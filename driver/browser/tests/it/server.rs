//! A small HTTP server on two ports. Its log says what pages and browsers did.

use std::sync::Arc;

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

/// The pages by their paths.
const PAGES: &[(&str, &str)] = &[
    ("/article", include_str!("pages/article.html")),
    ("/inner", include_str!("pages/inner.html")),
    ("/deep", include_str!("pages/deep.html")),
    ("/form", include_str!("pages/form.html")),
    ("/hostile", include_str!("pages/hostile.html")),
    ("/alerts", include_str!("pages/alerts.html")),
    ("/confirm", include_str!("pages/confirm.html")),
    ("/prompt", include_str!("pages/prompt.html")),
    ("/leaving", include_str!("pages/leaving.html")),
    ("/automated", include_str!("pages/automated.html")),
    ("/leads_on", "<title>Leads on</title><script>location.replace('/plain')</script>"),
    ("/plain", "<title>Plain</title><p>Plain text."),
    ("/twin", "<title>Twin</title><p>Twin text."),
    (
        "/fetches",
        "<title>Fetches</title><p>It downloads.<script>onload = () => { location = '/file' }</script>",
    ),
];

pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) other_port: u16,
    log: watch::Receiver<Vec<String>>,
    _tasks: JoinSet<()>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let one = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let other = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (port, other_port) = (one.local_addr().unwrap().port(), other.local_addr().unwrap().port());
        let (log, read) = watch::channel(Vec::new());
        let log = Arc::new(log);
        let mut tasks = JoinSet::new();
        for listener in [one, other] {
            let log = log.clone();
            tasks.spawn(async move {
                let mut clients = JoinSet::new();
                while let Ok((stream, _)) = listener.accept().await {
                    clients.spawn(answer(stream, log.clone(), (port, other_port)));
                }
            });
        }
        Self { port, other_port, log: read, _tasks: tasks }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Returns `true` if a request was made.
    pub(crate) fn has(&self, entry: &str) -> bool {
        self.log.borrow().iter().any(|line| line == entry)
    }

    /// Waits until a request was made.
    pub(crate) async fn until(&self, entry: &str) {
        let mut log = self.log.clone();
        let has = |log: &Vec<String>| log.iter().any(|line| line == entry);
        let waited = tokio::time::timeout(super::browsers::BOUND, log.wait_for(has)).await;
        assert!(waited.is_ok(), "no {entry:?} in {:?}", self.log.borrow());
    }
}

async fn answer(stream: TcpStream, log: Arc<watch::Sender<Vec<String>>>, ports: (u16, u16)) {
    let mut stream = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
            return;
        }
        if line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_owned());
    }
    let length = head.iter().find_map(|line| {
        line.to_lowercase().strip_prefix("content-length:").map(|n| n.trim().parse().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    if stream.read_exact(&mut body).await.is_err() {
        return;
    }
    let mut words = head[0].split(' ');
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    log.send_modify(|log| {
        log.push(format!("{method} {path} {}", String::from_utf8_lossy(&body)).trim().to_owned());
    });
    let page = PAGES.iter().find(|(known, _)| *known == path).map(|(_, page)| *page);
    let (status, headers, text) = match (path, page) {
        ("/redirect", _) => ("302 Found", "Location: /plain\r\n", ""),
        ("/file", _) => {
            ("200 OK", "Content-Disposition: attachment; filename=\"report.txt\"\r\n", "twelve bytes")
        }
        (_, Some(page)) => ("200 OK", "Content-Type: text/html; charset=utf-8\r\n", page),
        (_, None) => ("404 Not Found", "Content-Type: text/html\r\n", "<title>Missing</title>Not here."),
    };
    let text = text.replace("PORT_OTHER", &ports.1.to_string()).replace("PORT", &ports.0.to_string());
    let answer = format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}
