//! Looks at real programs.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    process::{Child, Command, Stdio},
    time::Instant,
};

use super::*;

/// Kills and awaits its process.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Program {
    /// Starts Python code and waits until it has printed a line.
    fn start(code: &str) -> Self {
        let mut command = Command::new("/usr/bin/python3");
        command.args(["-c", code]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Self(child)
    }

    /// Looks until the answer is as wanted, for 20 seconds at most, and returns it.
    fn until(&self, since: Duration, wanted: impl Fn(Option<Duration>) -> bool) -> Option<Duration> {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let sleeps = sleeps_for(self.0.id(), since);
            if wanted(sleeps) || Instant::now() > end {
                return sleeps;
            }
            std::thread::yield_now();
        }
    }
}

const SECOND: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(600);

#[test]
fn a_program_sleeps_until_its_first_timer() {
    let waits = Program::start("import select; print(flush=True); select.poll().poll(60_000)");
    let sleeps = waits.until(LONG, |sleeps| sleeps.is_some_and(|one| one > 30 * SECOND)).unwrap();
    assert!(sleeps <= 60 * SECOND, "{sleeps:?}");
    // A thread with an earlier timer of its own.
    let two = "import threading, time\n\
               threading.Thread(target=lambda: threading.Event().wait(20), daemon=True).start()\n\
               print(flush=True); time.sleep(60)";
    let sleeps =
        Program::start(two).until(LONG, |sleeps| sleeps.is_some_and(|one| one < 21 * SECOND)).unwrap();
    assert!(sleeps > 2 * SECOND, "{sleeps:?}");
    let reads = Program::start("import sys; print(flush=True); sys.stdin.read()");
    assert_eq!(reads.until(LONG, |sleeps| sleeps.is_some()), Some(Duration::MAX));
}

#[test]
fn a_program_that_works_or_whose_child_works_does_not_sleep() {
    let works = Program::start("print(flush=True)\nwhile True: pass");
    assert_eq!(works.until(LONG, |sleeps| sleeps.is_none()), None);
    let child = "import subprocess, sys\n\
                 child = subprocess.Popen([sys.executable, '-c', 'while True: pass'])\n\
                 print(flush=True); sys.stdin.read(); child.kill()";
    let mut parent = Program::start(child);
    assert_eq!(parent.until(LONG, |sleeps| sleeps.is_none()), None);
    assert!(!is_at_rest(parent.0.id()));
    drop(parent.0.stdin.take());
    parent.0.wait().unwrap();
}

#[test]
fn a_program_that_asked_over_the_network_waits_for_the_answer() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let asks = Program::start(&format!(
        "import socket; one = socket.create_connection(('127.0.0.1', {port}))\n\
         one.sendall(b'question'); print(flush=True); one.recv(9); one.recv(9)"
    ));
    let (mut server, _) = listener.accept().unwrap();
    server.read_exact(&mut [0; 8]).unwrap();
    assert_eq!(asks.until(LONG, |sleeps| sleeps.is_none()), None);
    // An old question is none of the last input.
    let sleeps = asks.until(Duration::ZERO, |sleeps| sleeps.is_some());
    assert_eq!(sleeps, Some(Duration::MAX));
    server.write_all(b"an answer").unwrap();
    assert_eq!(asks.until(LONG, |sleeps| sleeps.is_some()), Some(Duration::MAX));
}

#[test]
fn a_thread_that_only_watches_over_others_keeps_nothing_awake() {
    let named = |name: &str| {
        format!(
            "import threading, time\n\
             def watch():\n\
             \x20   open('/proc/thread-self/comm', 'w').write('{name}')\n\
             \x20   print(flush=True)\n\
             \x20   threading.Event().wait(20)\n\
             threading.Thread(target=watch, daemon=True).start()\n\
             threading.Event().wait(60)"
        )
    };
    let least = |name: &str, wanted: fn(Duration) -> bool| {
        let program = Program::start(&named(name));
        program.until(LONG, |sleeps| sleeps.is_some_and(wanted)).unwrap()
    };
    assert!(least("HangWatcher", |sleeps| sleeps > 30 * SECOND) <= 60 * SECOND);
    assert!(least("Worker", |sleeps| sleeps < 30 * SECOND) <= 20 * SECOND);
}
