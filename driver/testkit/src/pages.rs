//! A server of pages that tell what happens in them.

use std::{
    io::{self, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// How long a page may take to tell something.
const BOUND: Duration = Duration::from_secs(60);

/// A server on loopback. What a page sends by POST is kept as a line of its log. It serves until the process ends.
pub struct PageServer {
    port: u16,
    log: Arc<Mutex<Vec<String>>>,
}

impl PageServer {
    /// Starts a server: `page` gives the media type and the content for a path, and is told the port.
    ///
    /// # Errors
    /// There is no port.
    pub fn start(
        page: impl Fn(&str, u16) -> (&'static str, String) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let (kept, page) = (Arc::clone(&log), Arc::new(page));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (log, page) = (Arc::clone(&kept), Arc::clone(&page));
                thread::spawn(move || answer(stream, &log, |path| page(path, port)));
            }
        });
        Ok(Self { port, log })
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Waits until a page has told a line like this, and returns it.
    ///
    /// # Panics
    /// If none does in time.
    pub fn told(&self, is_it: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + BOUND;
        loop {
            let log = self.log.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(line) = log.iter().find(|line| is_it(line)) {
                return line.clone();
            }
            assert!(Instant::now() < until, "it was not told: {log:?}");
            thread::yield_now();
        }
    }
}

fn answer(mut stream: TcpStream, log: &Mutex<Vec<String>>, page: impl Fn(&str) -> (&'static str, String)) {
    let Some((head, body)) = request(&mut stream) else { return };
    if head.starts_with("POST") {
        log.lock().unwrap_or_else(PoisonError::into_inner).push(body);
    }
    let (kind, content) = page(head.split(' ').nth(1).unwrap_or("/"));
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        content.len()
    );
    // A browser may close a connection that it has no use for.
    let _ = stream.write_all((head + &content).as_bytes());
}

/// The head and the body of a request; `None` if the connection was closed before.
fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut request = Vec::new();
    let mut part = [0; 8_192];
    loop {
        let count = stream.read(&mut part).ok()?;
        request.extend_from_slice(part.get(..count)?);
        let text = String::from_utf8_lossy(&request);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = |line: &str| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok();
            if count == 0 || body.len() >= head.lines().find_map(length).unwrap_or(0) {
                return Some((head.to_owned(), body.to_owned()));
            }
        } else if count == 0 {
            return None;
        }
    }
}
