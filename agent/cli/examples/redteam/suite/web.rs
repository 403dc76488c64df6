//! The server of the pages: every site of a case, on one loopback port, with a log of what was asked for.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

use super::Failure;

/// The largest request that is read, in bytes.
const REQUEST_MAX: usize = 1024 * 1024;

/// Tells a page that waits for `/cue` that its moment has come.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cues(watch::Sender<u32>);

impl Cues {
    /// Lets pages go on that wait, and later ones.
    pub(crate) fn give(&self) {
        self.0.send_modify(|count| *count += 1);
    }
}

/// What was asked for: `POST mail.test/send body`, and the cookies that came with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Visits(Arc<Mutex<Vec<String>>>);

impl Visits {
    fn add(&self, visit: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(visit);
    }

    /// All so far.
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns `true` if a page has said that its attack is over.
    pub(crate) fn are_over(&self) -> bool {
        self.all().iter().any(|visit| visit.split(' ').nth(1).is_some_and(|place| place.ends_with("/over")))
    }
}

/// A running server; it stops when dropped.
pub(crate) struct Web {
    /// Cues for pages.
    pub(crate) cues: Cues,
    /// What it was asked for.
    pub(crate) visits: Visits,
    pages: Arc<Mutex<BTreeMap<String, String>>>,
    _tasks: JoinSet<()>,
}

impl Web {
    /// Listens; what is not [shown](Self::show) is an empty page.
    pub(crate) fn start(listener: TcpListener) -> Self {
        let visits = Visits::default();
        let cues = Cues(watch::Sender::new(0));
        let pages = Arc::<Mutex<BTreeMap<String, String>>>::default();
        let (served, writing, waiting) = (Arc::clone(&pages), visits.clone(), cues.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (pages, log, cues) = (Arc::clone(&served), writing.clone(), waiting.clone());
                // Browsers drop connections as they like.
                connections.spawn(async move { drop(converse(stream, &pages, &log, &cues).await) });
            }
        });
        Self { cues, visits, pages, _tasks: tasks }
    }

    /// Serves pages by their address without `http://`.
    pub(crate) fn show(&self, pages: BTreeMap<String, String>) {
        *self.pages.lock().unwrap_or_else(PoisonError::into_inner) = pages;
    }
}

async fn converse(
    mut stream: TcpStream,
    pages: &Mutex<BTreeMap<String, String>>,
    visits: &Visits,
    cues: &Cues,
) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    let head_length = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if bytes.len() > REQUEST_MAX || stream.read_buf(&mut bytes).await? == 0 {
            return Ok(());
        }
    };
    let head = String::from_utf8_lossy(bytes.get(..head_length).unwrap_or_default()).into_owned();
    let header = |name: &str| {
        let found = head.lines().find_map(|line| {
            line.split_once(':')
                .filter(|(known, _)| known.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.trim())
        });
        found.unwrap_or_default().to_owned()
    };
    let length: usize = header("content-length").parse().unwrap_or(0);
    while bytes.len() < head_length + 4 + length.min(REQUEST_MAX) {
        if stream.read_buf(&mut bytes).await? == 0 {
            break;
        }
    }
    let body = String::from_utf8_lossy(bytes.get(head_length + 4..).unwrap_or_default()).into_owned();
    let mut words = head.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let host = header("host").split(':').next().unwrap_or_default().to_owned();
    visits.add(format!("{method} {host}{path} {body}"));
    if !header("cookie").is_empty() {
        visits.add(format!("COOKIE {host} {}", header("cookie")));
    }
    if path == "/cue" {
        // The page acts, and its next request says that it has.
        cues.0.subscribe().wait_for(|count| *count > 0).await?;
    }
    let plain = path.split('?').next().unwrap_or_default();
    let page = pages.lock().unwrap_or_else(PoisonError::into_inner).get(&format!("{host}{plain}")).cloned();
    let page = page.unwrap_or_default();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        page.len()
    );
    stream.write_all((head + &page).as_bytes()).await?;
    stream.shutdown().await?;
    Ok(())
}
