//! The WebSocket of Firefox, whose port it writes into a file of its profile.

use std::{io, path::Path, time::Duration};

use futures_util::{SinkExt as _, StreamExt as _, stream::SplitStream};
use serde_json::Value;
use tokio::{
    fs,
    net::TcpStream,
    time::{MissedTickBehavior, interval, timeout},
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{self, Message},
};

use super::{first_messages, on_event};
use crate::link::{BrowserClient, drive, link};

/// The file of the profile that names the port.
const ANNOUNCEMENT: &str = "WebDriverBiDiServer.json";
/// Maximum time until Firefox has written [`ANNOUNCEMENT`].
const ANNOUNCEMENT_BOUND: Duration = Duration::from_secs(60);
/// Polling interval for [`ANNOUNCEMENT`]: the sooner the session is taken, the better.
const ANNOUNCEMENT_INTERVAL: Duration = Duration::from_millis(20);
/// Connection timeout.
const CONNECT_BOUND: Duration = Duration::from_secs(10);

/// The open WebSocket.
pub(crate) type Connection = WebSocketStream<TcpStream>;

/// Removes the file that an earlier start has left.
pub(crate) fn remove_announcement(profile: &Path) -> io::Result<()> {
    match std::fs::remove_file(profile.join(ANNOUNCEMENT)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Connects as soon as the port is known.
pub(crate) async fn connect(profile: &Path) -> io::Result<Connection> {
    let port = timeout(ANNOUNCEMENT_BOUND, announced(&profile.join(ANNOUNCEMENT))).await.map_err(|_| {
        io::Error::other(format!("it has not opened a port within {} seconds", ANNOUNCEMENT_BOUND.as_secs()))
    })?;
    let connected = async {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        let address = format!("ws://127.0.0.1:{port}/session");
        client_async(address, stream).await.map(|(connection, _)| connection).map_err(io::Error::other)
    };
    timeout(CONNECT_BOUND, connected).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

async fn announced(path: &Path) -> u16 {
    let mut looks = interval(ANNOUNCEMENT_INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        // It may be missing or half written.
        let Ok(text) = fs::read(path).await else { continue };
        let announced: Value = serde_json::from_slice(&text).unwrap_or_default();
        let port = announced.get("ws_port").and_then(Value::as_u64).and_then(|port| u16::try_from(port).ok());
        if let Some(port) = port.filter(|port| *port > 0) {
            return port;
        }
    }
}

/// The link to the browser, and the future that serves it until the browser closes the connection.
pub(crate) fn serve(connection: Connection) -> (BrowserClient, impl Future<Output = io::Result<()>>) {
    let (link, driver, mut outbound) = link(on_event);
    let served = async move {
        let (mut writing, reading) = connection.split();
        let write = async {
            while let Some(message) = outbound.recv().await {
                writing.send(text(message)).await.map_err(io::Error::other)?;
            }
            Ok(())
        };
        tokio::select! {
            done = drive(driver, first_messages(), inbound(reading)) => done,
            failed = write => failed,
        }
    };
    (link, served)
}

fn text(message: Vec<u8>) -> Message {
    Message::text(String::from_utf8(message).unwrap_or_default())
}

fn inbound(
    reading: SplitStream<Connection>,
) -> impl futures_util::Stream<Item = io::Result<Vec<u8>>> + Unpin {
    reading.filter_map(|message| std::future::ready(received(message)))
}

fn received(message: Result<Message, tungstenite::Error>) -> Option<io::Result<Vec<u8>>> {
    match message {
        Ok(Message::Text(text)) => Some(Ok(text.as_bytes().to_vec())),
        // The stream ends after a close; pings are answered by the library.
        Ok(
            Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_),
        ) => None,
        Err(error) => Some(Err(io::Error::other(error))),
    }
}
