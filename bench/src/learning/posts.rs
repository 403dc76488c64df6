//! A server for the form of a page: it writes down what is sent.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, Result};

/// How long a browser may take for a request.
const REQUEST_BOUND: Duration = Duration::from_secs(10);
/// The most orders that are kept; a run sends one.
const ORDERS_MAX: usize = 1000;
/// The path that the form sends to.
const PATH: &str = "/order?";

/// The server. Its thread ends with the process.
#[derive(Debug)]
pub(super) struct Posts {
    port: u16,
    orders: Arc<Mutex<Vec<String>>>,
}

impl Posts {
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("listen for the orders of a page")?;
        let port = listener.local_addr().context("find the port of the server")?.port();
        let orders = Arc::<Mutex<Vec<String>>>::default();
        let received = Arc::clone(&orders);
        std::thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                if let Some(order) = answer(stream).as_deref().and_then(order_in) {
                    let mut received = received.lock().unwrap_or_else(PoisonError::into_inner);
                    if received.len() < ORDERS_MAX {
                        received.push(order);
                    }
                }
            }
        });
        Ok(Self { port, orders })
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// What was sent since the last look, an order a line.
    pub(super) fn take(&self) -> String {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *orders).join("\n")
    }
}

/// Answers a request; its first line.
fn answer(mut stream: TcpStream) -> Option<String> {
    stream.set_read_timeout(Some(REQUEST_BOUND)).ok()?;
    let mut line = String::new();
    BufReader::new(stream.try_clone().ok()?).read_line(&mut line).ok()?;
    let page = "<!doctype html><title>Thank you</title><h1>The order is in</h1>";
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length:";
    write!(stream, "{head} {}\r\n\r\n{page}", page.len()).ok()?;
    Some(line)
}

/// The fields of an order in the first line of a request.
fn order_in(line: &str) -> Option<String> {
    let address = line.split_whitespace().nth(1)?;
    address.strip_prefix(PATH).map(|fields| fields.replace('+', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_an_order_are_kept() {
        let fields = order_in("GET /order?customer=Ann+Lee&pieces=3 HTTP/1.1\r\n");
        assert_eq!(fields.as_deref(), Some("customer=Ann Lee&pieces=3"));
        assert_eq!(order_in("GET /favicon.ico HTTP/1.1"), None);
        let posts = Posts::start().unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", posts.port())).unwrap();
        stream.write_all(b"GET /order?size=Large HTTP/1.1\r\n\r\n").unwrap();
        let reply: Vec<String> = BufReader::new(stream).lines().map(Result::unwrap).collect();
        assert!(reply.concat().contains("The order is in"), "{reply:?}");
    }
}
