//! Attacks on `deskhand serve` over bare sockets: each is refused, or bounded in time, memory and disk, and who has the cookie is served
//! all the while.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    net::TcpStream,
    path::PathBuf,
    thread::park_timeout,
    time::{Duration, Instant},
};

use crate::{
    page::{Answer, BOUND, Service},
    support::World,
};

/// How much memory an attack may cost the service, in kB.
const MEMORY_MAX_KB: u64 = 96 * 1024;
/// How soon somebody with the cookie is served, whatever else comes.
const SOON: Duration = Duration::from_secs(5);

/// What comes back for these bytes until the connection ends; nothing if it ends without an answer.
fn raw(service: &Service, bytes: &[u8]) -> Option<Answer> {
    let mut stream = TcpStream::connect(&service.address).ok()?;
    stream.set_read_timeout(Some(BOUND)).unwrap();
    // The answer may come before everything was sent.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer.starts_with(b"HTTP/1.1 ").then(|| Answer::of(&answer))
}

/// The most memory that the service ever had, in kB, by the kernel's word.
fn memory_kb(service: &Service) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", service.child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

/// The documents that are kept, whole or not.
fn documents(world: &World) -> Vec<PathBuf> {
    let folder = world.path().join(".local/state/deskhand/documents");
    fs::read_dir(folder).map(|found| found.map(|one| one.unwrap().path()).collect()).unwrap_or_default()
}

/// Somebody with a cookie asks for a page, again if the connection breaks, and has it soon.
fn is_served(service: &Service, cookie: &str) {
    let begun = Instant::now();
    let head = format!(
        "GET / HTTP/1.1\r\nHost: {}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n",
        service.address
    );
    while raw(service, head.as_bytes()).is_none_or(|answer| answer.status != 200) {
        assert!(begun.elapsed() < SOON, "who has the cookie is kept out");
        park_timeout(Duration::from_millis(10));
    }
}

/// Addresses that a stranger may try.
const ADDRESSES: &str =
    "/ /nothing /assets/page.css /api/sessions /sessions/0 /metrics /compare?left=a&right=b";
const METHODS: &str = "GET HEAD POST PUT DELETE OPTIONS TRACE PATCH";
/// Names that resolve to this machine, and others that look like it.
const HOSTS: &str = "localhost.evil.example 127.0.0.1.example evil.example 127.0.0.1 127.0.0.2 0.0.0.0";
/// What changes something.
const CHANGES: [&str; 4] =
    ["POST /api/sessions", "POST /api/documents?name=x", "DELETE /api/sessions/0", "POST /api/sessions/0/do"];
/// Names that would lead somewhere else.
const NAMES: &str = r"
    .. ../.. ../serve ../outside ../serve/keys ..%2foutside %2e%2e/outside %2e%2e%2foutside ..%5coutside . %2e last
    %252e%252e%252foutside ....//outside ..;/outside %c0%ae%c0%ae/outside /etc/passwd %2fetc%2fpasswd x%00
    deadbeef0/../../outside %u002e%u002e/outside file:///etc/passwd";
/// Where names of sessions and files stand. `NAME` is one.
const PLACES: &str = "
    /sessions/NAME /sessions/NAME/moments /sessions/NAME/report /sessions/NAME/pictures/NAME /sessions/0199c0de-0000/pictures/NAME
    /assets/NAME /api/sessions/NAME/moments /api/sessions/NAME/moments/1 /api/sessions/NAME/events /api/sessions/NAME/watch
    /api/sessions/NAME/screen /compare?left=NAME&right=NAME /NAME /?q=NAME /api/sessions?application=NAME";

#[test]
fn strangers_learn_nothing_and_keep_nobody_out() {
    let world = World::new();
    let service = Service::start(&world, &[]);
    let (bearer, cookie) = (service.bearer(), service.cookie());
    let same = service.asks("GET /", &[], "");
    assert_eq!((same.status, same.body.contains(&service.token)), (401, false));
    // What exists is not told from what does not.
    for path in ADDRESSES.split(' ') {
        for method in METHODS.split(' ') {
            assert_eq!(service.status(&format!("{method} {path}"), &[]), 401, "{method} {path}");
        }
    }
    // Guesses and floods of strangers are cut off; who has the token or the cookie does not notice.
    let refused: Vec<u16> = (0..600).map(|_| service.status("GET /?token=guess", &[])).collect();
    assert!(refused.iter().all(|status| [401, 429].contains(status)) && refused.contains(&429));
    assert_eq!(service.status("GET /", &[("Authorization", &bearer)]), 200);
    assert_eq!(service.status(&format!("GET /?token={}", service.token), &[]), 303);
    is_served(&service, &cookie);
}

#[test]
fn other_names_and_other_pages_are_refused() {
    let world = World::new();
    let service = Service::start(&world, &[]);
    let (bearer, cookie) = (service.bearer(), service.cookie());
    let (own, port) = (format!("http://{}", service.address), service.address.split_once(':').unwrap().1);
    let hosts = HOSTS.split(' ').flat_map(|host| [host.to_owned(), format!("{host}:{port}")]);
    for host in hosts.chain([String::new()]).filter(|host| *host != service.address) {
        for shown in [("Authorization", &*bearer), ("Cookie", &*cookie)] {
            assert_eq!(service.status("GET /", &[("Host", &host), shown]), 421, "{host}");
        }
    }
    let twice = format!(
        "GET / HTTP/1.1\r\nHost: {}\r\nHost: evil.example\r\nCookie: {cookie}\r\n\r\n",
        service.address
    );
    let twice = raw(&service, twice.as_bytes());
    assert!(twice.is_none_or(|answer| [400, 421].contains(&answer.status)), "two hosts");

    let (secure, longer) = (own.replace("http", "https"), format!("{own}.evil.example"));
    for origin in
        ["http://evil.example", "null", "", "https://127.0.0.1:1", &secure, &longer, "http://127.0.0.1"]
    {
        for line in CHANGES {
            let headers = [("Cookie", &*cookie), ("Origin", origin), ("Content-Type", "text/plain")];
            assert_eq!(service.asks(line, &headers, "{}").status, 403, "{line} from {origin}");
        }
        for path in ["watch", "screen"] {
            let line = format!("GET /api/sessions/0/{path}");
            let mut headers = vec![("Cookie", &*cookie), ("Origin", origin), ("Upgrade", "websocket")];
            headers.extend([("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13")]);
            headers.push(("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="));
            assert_eq!(service.status(&line, &headers), 403, "{path} from {origin}");
        }
    }
}

#[test]
fn no_name_leads_out_of_its_folder() {
    let world = World::new();
    let service = Service::start(&world, &[]);
    let (host, bearer) = (&service.address, service.bearer());
    let secret = world.file(".local/state/deskhand/serve/secret.txt", "the secret of the house");
    let shown = secret.display().to_string();
    // A folder beside those of the sessions that looks like one.
    world.file(".local/state/deskhand/outside/journal.jsonl", "the secret of the house");
    let asks = |line: &str, body: &str| {
        let more =
            format!("Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close", body.len());
        raw(
            &service,
            format!("{line} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {bearer}\r\n{more}\r\n\r\n{body}")
                .as_bytes(),
        )
    };
    for name in NAMES.split_whitespace() {
        for path in PLACES.split_whitespace().map(|place| place.replace("NAME", name)) {
            let Some(answer) = asks(&format!("GET {path}"), "") else { continue };
            // Words to look for, and the first page.
            let is_fine =
                path.contains("?q=") || path.contains("?application=") || ["/.", "/%2e"].contains(&&*path);
            assert!(
                (400..500).contains(&answer.status) || (is_fine && answer.status == 200),
                "{path}: {}",
                answer.status
            );
            let leaks = ["the secret", "root:", &shown].iter().any(|text| answer.body.contains(text));
            assert!(!leaks, "{path}: {}", answer.body);
        }
        for change in ["DELETE ID", "POST ID/fork", "POST ID/resume", "POST ID/do"] {
            let line = change.replace("ID", &format!("/api/sessions/{name}"));
            let Some(answer) = asks(&line, r#"{"at":1,"do":"stop"}"#) else { continue };
            assert!((400..500).contains(&answer.status), "{line}: {}", answer.status);
        }
        let Some(answer) = asks(&format!("POST /api/documents?name={name}"), "text") else { continue };
        if answer.status == 201 {
            let kept = world.path().join(".local/state/deskhand/documents").canonicalize().unwrap();
            let path = PathBuf::from(answer.json()["path"].as_str().unwrap()).canonicalize().unwrap();
            assert!(path.starts_with(kept), "{name}: {}", path.display());
        }
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "the secret of the house");
    assert!(world.path().join(".local/state/deskhand/outside/journal.jsonl").is_file());
}

#[test]
fn large_things_are_refused_and_leave_nothing() {
    let world = World::new();
    let service = Service::start(&world, &[]);
    let (cookie, before) = (service.cookie(), memory_kb(&service));
    let part = vec![b'x'; 1 << 20];
    let head = |line: &str, more: &str| {
        format!(
            "{line} HTTP/1.1\r\nHost: {}\r\nAuthorization: {}\r\n{more}\r\n",
            service.address,
            service.bearer()
        )
    };
    // A gigabyte that is announced, and one that is not.
    for line in ["POST /api/documents?name=big.bin", "POST /api/sessions"] {
        let mut stream = TcpStream::connect(&service.address).unwrap();
        stream.set_read_timeout(Some(BOUND)).unwrap();
        stream
            .write_all(
                head(line, "Content-Type: application/json\r\nContent-Length: 1073741824\r\n").as_bytes(),
            )
            .unwrap();
        let sent = (0..1024).take_while(|_| stream.write_all(&part).is_ok()).count();
        assert!(sent < 1024, "{line} was not refused");
    }
    let chunked = head("POST /api/documents?name=big.bin", "Transfer-Encoding: chunked\r\n");
    assert_eq!(raw(&service, chunked.as_bytes()).unwrap().status, 411);
    // What breaks off, with and without a farewell.
    for abrupt in [false, true] {
        let mut stream = TcpStream::connect(&service.address).unwrap();
        stream
            .write_all(head("POST /api/documents?name=half.bin", "Content-Length: 8000000\r\n").as_bytes())
            .unwrap();
        stream.write_all(&part).unwrap();
        wait_for("the document to come", || !documents(&world).is_empty());
        if abrupt {
            rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
        }
        drop(stream);
        wait_for("the half document to go", || documents(&world).is_empty());
    }
    // Heads without end: one long header, many short ones, a long address.
    let long = "x".repeat(1 << 20);
    let many: String = (0..20_000).map(|number| format!("X-{number}: y\r\n")).collect();
    for request in [
        head("GET /", &format!("X-Long: {long}\r\n")),
        head("GET /", &many),
        head(&format!("GET /?q={long}"), ""),
        head("GET /", &format!("Cookie: {long}\r\n")),
    ] {
        let answer = raw(&service, request.as_bytes());
        assert!(
            answer.as_ref().is_none_or(|answer| [400, 414, 431].contains(&answer.status)),
            "{}",
            answer.unwrap().status
        );
    }
    is_served(&service, &cookie);
    let cost = memory_kb(&service) - before;
    assert!(cost < MEMORY_MAX_KB, "{cost} kB");
}

#[test]
fn requests_have_one_end() {
    let world = World::new();
    let service = Service::start(&world, &[]);
    let hidden = format!(
        "DELETE /api/sessions/0 HTTP/1.1\r\nHost: {}\r\nAuthorization: {}\r\n\r\n",
        service.address,
        service.bearer()
    );
    let bodies = [
        format!("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!(
            "Transfer-Encoding: chunked\r\nContent-Length: {}\r\n\r\n0\r\n\r\n{hidden}",
            hidden.len() + 5
        ),
        format!("Content-Length: 0\r\nContent-Length: {}\r\n\r\n{hidden}", hidden.len()),
        format!("Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n{hidden}"),
        format!("Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!("Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!("Content-Length: +2\r\n\r\n{{}}{hidden}"),
        format!("Content-Length: 2, 2\r\n\r\n{{}}{hidden}"),
    ];
    for body in bodies {
        let request = format!(
            "POST /api/sessions HTTP/1.1\r\nHost: {}\r\nAuthorization: {}\r\n{body}",
            service.address,
            service.bearer()
        );
        let mut stream = TcpStream::connect(&service.address).unwrap();
        stream.set_read_timeout(Some(BOUND)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answers = String::new();
        let _ = stream.read_to_string(&mut answers);
        let statuses: Vec<&str> = answers.lines().filter(|line| line.starts_with("HTTP/1.1 ")).collect();
        assert!(statuses.len() <= 1 && !answers.contains("HTTP/1.1 2"), "{body}: {statuses:?}");
        assert!(
            statuses.iter().all(|line| line.starts_with("HTTP/1.1 400") || line.starts_with("HTTP/1.1 411")),
            "{body}: {statuses:?}"
        );
    }
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < BOUND, "waited for {what}");
        park_timeout(Duration::from_millis(10));
    }
}

/// Connections that send a little at a time, until the service ends them; how long that took.
fn trickles(service: &Service, head: &str, bound: Duration) -> Duration {
    let mut stream = TcpStream::connect(&service.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < bound, "it may go on for ever: {head}");
        let mut answer = [0; 4096];
        match stream.read(&mut answer) {
            Err(error) if [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut].contains(&error.kind()) => {}
            Ok(0) | Err(_) => return begun.elapsed(),
            Ok(_) => continue,
        }
        if stream.write_all(b"x").is_err() {
            return begun.elapsed();
        }
    }
}

#[test]
fn who_is_slow_is_not_waited_for() {
    let world = World::new();
    let service = Service::start(&world, &[]);
    let cookie = service.cookie();
    let (host, bearer) = (&service.address, service.bearer());
    let length = "Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n";
    let slow = [
        format!("GET / HTTP/1.1\r\nHost: {host}\r\nX-Slow: "),
        String::new(),
        format!("POST /api/sessions HTTP/1.1\r\nHost: {host}\r\n{length}"),
        format!("POST /api/sessions HTTP/1.1\r\nHost: {host}\r\nAuthorization: {bearer}\r\n{length}"),
    ];
    std::thread::scope(|scope| {
        for head in &slow {
            scope.spawn(|| trickles(&service, head, Duration::from_secs(60)));
        }
        for _ in 0..20 {
            is_served(&service, &cookie);
            park_timeout(Duration::from_millis(100));
        }
    });
}

#[test]
fn ten_thousand_connections_keep_nobody_out() {
    let world = World::new();
    let service = Service::start(&world, &[]);
    let (cookie, before) = (service.cookie(), memory_kb(&service));
    // Somebody has been there before, with a connection that stays open.
    let mut page = TcpStream::connect(&service.address).unwrap();
    page.set_read_timeout(Some(BOUND)).unwrap();
    let head =
        format!("GET /assets/ask.js HTTP/1.1\r\nHost: {}\r\nCookie: {cookie}\r\n\r\n", service.address);
    let asks_again = |page: &mut TcpStream| {
        page.write_all(head.as_bytes()).unwrap();
        let mut answer = [0; 12];
        page.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
        let mut rest = [0; 65_536];
        page.set_nonblocking(true).unwrap();
        while page.read(&mut rest).is_ok_and(|read| read > 0) {}
        page.set_nonblocking(false).unwrap();
    };
    asks_again(&mut page);
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    rustix::process::setrlimit(
        rustix::process::Resource::Nofile,
        rustix::process::Rlimit { current: limit.maximum, ..limit },
    )
    .unwrap();
    let count =
        limit.maximum.map_or(10_000, |most| usize::try_from(most).unwrap().saturating_sub(200).min(10_000));
    let mut open = Vec::new();
    for number in 0..count {
        // Some say nothing, some begin to.
        let Ok(mut stream) = TcpStream::connect(&service.address) else { continue };
        if number % 2 == 0 {
            let _ = stream.write_all(b"GET / HTTP/1.1\r\n");
        }
        open.push(stream);
        if number % 1_000 == 999 {
            is_served(&service, &cookie);
            asks_again(&mut page);
        }
    }
    assert!(open.len() > count / 2, "{} of {count} connections", open.len());
    is_served(&service, &cookie);
    asks_again(&mut page);
    let descriptors = fs::read_dir(format!("/proc/{}/fd", service.child.id())).unwrap().count();
    assert!(descriptors < 500, "{descriptors} descriptors");
    let cost = memory_kb(&service) - before;
    assert!(cost < MEMORY_MAX_KB, "{cost} kB");
    drop(open);
    is_served(&service, &cookie);
}
