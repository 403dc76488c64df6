//! Tests of peer checks: real processes connect.

use std::{
    os::unix::net::{UnixListener, UnixStream},
    process::{Child, Command, Stdio},
};

use super::*;

/// Connects, says so by a line, and stays until its input ends.
const CLIENT: &str = "import os, socket, sys\n\
    client = socket.socket(socket.AF_UNIX)\n\
    client.connect(sys.argv[1])\n\
    client.send(b'x')\n\
    sys.stdin.read()\n";

struct Listener {
    folder: tempfile::TempDir,
    listener: UnixListener,
}

impl Listener {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("socket")).unwrap();
        Self { folder, listener }
    }

    /// The command of a client, below these words.
    fn client(&self, words: &[&str]) -> Command {
        let mut all = words.iter().copied().chain(["/usr/bin/python3", "-c", CLIENT]);
        let mut command = Command::new(all.next().unwrap());
        command.args(all).arg(self.folder.path().join("socket")).stdin(Stdio::piped());
        command
    }

    fn check(&self, child: &mut Child) -> Result<(), PeerRefusal> {
        let (mut stream, _) = self.listener.accept().unwrap();
        io::Read::read_exact(&mut stream, &mut [0]).unwrap();
        let checked = check_peer(&stream);
        drop(child.stdin.take());
        child.wait().unwrap();
        checked
    }
}

#[test]
fn a_process_of_the_user_is_admitted() {
    let listener = Listener::new();
    let mut child = listener.client(&[]).spawn().unwrap();
    listener.check(&mut child).unwrap();
    let (ours, theirs) = UnixStream::pair().unwrap();
    check_peer(&ours).unwrap();
    drop(theirs);
}

#[test]
fn what_was_started_without_new_privileges_is_refused_whatever_it_does() {
    let ways: [&[&str]; 4] = [
        &[],
        &["env", "-i", "PATH=/usr/bin:/bin"],
        &["setsid", "--fork"],
        &["unshare", "--user", "--map-root-user"],
    ];
    for words in ways {
        let listener = Listener::new();
        let mut command = listener.client(words);
        // `setsid` forks: its input is the one that the client reads.
        let mut child = without_new_privileges(|| command.spawn()).unwrap().unwrap();
        let refused = listener.check(&mut child).unwrap_err();
        assert!(matches!(refused, PeerRefusal::Confined { .. }), "{words:?}: {refused}");
    }
    // This thread can still start others.
    let listener = Listener::new();
    listener.check(&mut listener.client(&[]).spawn().unwrap()).unwrap();
}

#[test]
fn a_client_that_has_ended_proves_nothing() {
    let listener = Listener::new();
    let mut child = listener.client(&[]).spawn().unwrap();
    drop(child.stdin.take());
    child.wait().unwrap();
    let (stream, _) = listener.listener.accept().unwrap();
    let refused = check_peer(&stream).unwrap_err();
    assert!(matches!(refused, PeerRefusal::Ended), "{refused}");
}

#[test]
fn another_user_is_refused() {
    // Only root can start a process of somebody else.
    if rustix::process::geteuid().is_root() {
        refuses_another_user();
    }
}

fn refuses_another_user() {
    let listener = Listener::new();
    let open = std::os::unix::fs::PermissionsExt::from_mode;
    fs::set_permissions(listener.folder.path(), open(0o755)).unwrap();
    fs::set_permissions(listener.folder.path().join("socket"), open(0o666)).unwrap();
    let words = ["setpriv", "--reuid", "65534", "--clear-groups"];
    let mut child = listener.client(&words).spawn().unwrap();
    let refused = listener.check(&mut child).unwrap_err();
    assert!(matches!(refused, PeerRefusal::OtherUser { uid: 65534 }), "{refused}");
}
