//! What must not get out: each attempt is refused, and leaves no trace outside.

use std::{
    fs,
    net::TcpListener,
    os::{
        linux::net::SocketAddrExt as _,
        unix::{
            fs::MetadataExt as _,
            net::{SocketAddr, UnixDatagram, UnixListener},
            process::CommandExt as _,
        },
    },
    process::{Child, Stdio},
};

use serde_json::{Value, json};

use crate::world::{World, found, text};

/// Attempts that are harmless in namespaces, because they only reach what is private there.
const PRIVATE_THERE: [&str; 2] = ["environment of the parent", "shared memory with a name"];

/// What a refusal is called: not permitted, not there, not supported, or, for a link, another file system.
const REFUSALS: [&str; 10] = [
    "EACCES",
    "EPERM",
    "ENOENT",
    "EROFS",
    "ENOSYS",
    "ESRCH",
    "EXDEV",
    "ENETUNREACH",
    "EAFNOSUPPORT",
    "ENOTTY",
];

/// Everything that a program may want to reach.
struct Targets {
    listeners: Vec<UnixListener>,
    datagrams: Vec<UnixDatagram>,
    network: TcpListener,
    victim: Child,
    described: Value,
}

impl Targets {
    fn of(world: &World) -> Self {
        let abstract_name = world.path("abstract").display().to_string();
        let named = |name: &str| SocketAddr::from_abstract_name(name).unwrap();
        let bus = world.path("outside/bus");
        let display = world.path("outside/X0");
        let listeners = vec![
            UnixListener::bind(world.path("outside/socket")).unwrap(),
            UnixListener::bind(world.path("work/socket")).unwrap(),
            UnixListener::bind(&bus).unwrap(),
            UnixListener::bind(&display).unwrap(),
            UnixListener::bind_addr(&named(&abstract_name)).unwrap(),
        ];
        let datagrams = vec![
            UnixDatagram::bind(world.path("work/datagram")).unwrap(),
            UnixDatagram::bind_addr(&named(&format!("{abstract_name}-datagram"))).unwrap(),
        ];
        listeners.iter().for_each(|socket| socket.set_nonblocking(true).unwrap());
        datagrams.iter().for_each(|socket| socket.set_nonblocking(true).unwrap());
        for name in ["outside/socket", "work/socket", "outside/bus", "outside/X0", "work/datagram"] {
            world.own(name);
        }
        let network = TcpListener::bind("127.0.0.1:0").unwrap();
        network.set_nonblocking(true).unwrap();
        // Leads a group of its own, as a signal to its group would reach the tests otherwise.
        let victim = world
            .as_user(found("sleep"))
            .arg("86400")
            .env("SECRET", "hunter2")
            .process_group(0)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let described = json!({
            "outside": world.path("outside"),
            "work": world.path("work"),
            "abstract": abstract_name,
            "display": display,
            "bus": bus,
            "port": network.local_addr().unwrap().port(),
            "victim": victim.id(),
            "tester": std::process::id(),
            "key": 0x0dec_0de0_u32,
            "x32": cfg!(target_arch = "x86_64"),
            "flags": {
                "NEWUSER": libc::CLONE_NEWUSER,
                "NEWNET": libc::CLONE_NEWNET,
                "NEWNS": libc::CLONE_NEWNS,
                "NEWPID": libc::CLONE_NEWPID,
            },
            "shared": shared_name(),
            "calls": {
                "clone": libc::SYS_clone,
                "clone3": libc::SYS_clone3,
                "pidfd_getfd": libc::SYS_pidfd_getfd,
                "prlimit64": libc::SYS_prlimit64,
                "process_vm_readv": libc::SYS_process_vm_readv,
                "ptrace": libc::SYS_ptrace,
                "rt_sigqueueinfo": libc::SYS_rt_sigqueueinfo,
                "shmget": libc::SYS_shmget,
                "tgkill": libc::SYS_tgkill,
                "unshare": libc::SYS_unshare,
            },
            "refused_calls": refused_calls(),
        });
        Self { listeners, datagrams, network, victim, described }
    }

    /// Nothing reached any of them.
    fn assert_untouched(&mut self) {
        for listener in &self.listeners {
            assert!(listener.accept().is_err(), "{listener:?} was connected to");
        }
        for datagram in &self.datagrams {
            assert!(datagram.recv(&mut [0; 8]).is_err(), "{datagram:?} got something");
        }
        assert!(self.network.accept().is_err(), "a connection over the network");
        assert_eq!(self.victim.try_wait().unwrap(), None, "the other process has ended");
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.victim.id())).unwrap();
        let own = fs::read_to_string("/proc/self/stat").unwrap();
        assert_eq!(
            stat.split(' ').nth(18),
            own.split(' ').nth(18),
            "the priority of the other process: {stat}"
        );
    }
}

/// Calls that are refused whatever their arguments are, and their numbers.
fn refused_calls() -> Value {
    json!({
        "acct": libc::SYS_acct,
        "add_key": libc::SYS_add_key,
        "bpf": libc::SYS_bpf,
        "chroot": libc::SYS_chroot,
        "clock_settime": libc::SYS_clock_settime,
        "delete_module": libc::SYS_delete_module,
        "fanotify_init": libc::SYS_fanotify_init,
        "fsopen": libc::SYS_fsopen,
        "init_module": libc::SYS_init_module,
        "io_uring_enter": libc::SYS_io_uring_enter,
        "io_uring_register": libc::SYS_io_uring_register,
        "io_uring_setup": libc::SYS_io_uring_setup,
        "kcmp": libc::SYS_kcmp,
        "kexec_load": libc::SYS_kexec_load,
        "keyctl": libc::SYS_keyctl,
        "memfd_secret": libc::SYS_memfd_secret,
        "mount": libc::SYS_mount,
        "move_mount": libc::SYS_move_mount,
        "name_to_handle_at": libc::SYS_name_to_handle_at,
        "open_by_handle_at": libc::SYS_open_by_handle_at,
        "open_tree": libc::SYS_open_tree,
        "perf_event_open": libc::SYS_perf_event_open,
        "pivot_root": libc::SYS_pivot_root,
        "process_madvise": libc::SYS_process_madvise,
        "request_key": libc::SYS_request_key,
        "sethostname": libc::SYS_sethostname,
        "setns": libc::SYS_setns,
        "swapon": libc::SYS_swapon,
        "syslog": libc::SYS_syslog,
        "umount2": libc::SYS_umount2,
        "userfaultfd": libc::SYS_userfaultfd,
    })
}

/// The name of a shared memory object of this test.
fn shared_name() -> String {
    format!("deskhand-test-{}", std::process::id())
}

impl Drop for Targets {
    fn drop(&mut self) {
        self.victim.kill().ok();
        self.victim.wait().ok();
    }
}

#[test]
fn every_way_out_is_refused() {
    World::each(|world| {
        let secret = world.file("outside/secret", "the secret");
        world.file("work/own", "");
        let before = fs::metadata(&secret).unwrap();
        let folder_before = fs::metadata(world.path("outside")).unwrap();
        let mut targets = Targets::of(&world);
        let script = include_str!("attempts.py");
        let output = world.run("python3", &["-c", script, &targets.described.to_string()]);
        assert!(output.status.success(), "{}", text(&output));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let attempts = found["attempts"].as_object().unwrap();
        assert!(attempts.len() > 100, "{attempts:?}");
        let is_private = |name: &str| world.has_namespaces() && PRIVATE_THERE.contains(&name);
        let done: Vec<_> = attempts
            .iter()
            .filter(|(name, result)| result.as_str().unwrap().starts_with("done") && !is_private(name))
            .collect();
        assert_eq!(done, Vec::new());
        // A wrong argument would be refused without a sandbox, too.
        let is_clear = |name: &str, result: &str| match name.strip_prefix("call ") {
            Some(_) => ["EPERM", "ENOSYS"].contains(&result),
            None => REFUSALS.contains(&result) || result.starts_with("done"),
        };
        let unclear: Vec<_> =
            attempts.iter().filter(|(name, result)| !is_clear(name, result.as_str().unwrap())).collect();
        assert_eq!(unclear, Vec::new());
        assert!(!std::path::Path::new("/dev/shm").join(shared_name()).exists());
        assert!(!found.to_string().contains("hunter2"), "{found}");
        let none = "0000000000000000";
        let expected = json!({
            "CapEff": none, "CapPrm": none, "CapInh": none, "CapBnd": none, "CapAmb": none, "NoNewPrivs": "1", "Seccomp": "2",
        });
        // An ordinary user cannot shrink the bounding set, and cannot gain anything from it either.
        let mut status = found["status"].clone();
        if rustix::process::geteuid().is_root() && world.user == crate::world::User::Own {
            assert_eq!(status["CapBnd"], none, "{status}");
        }
        status["CapBnd"] = none.into();
        assert_eq!(status, expected);
        let inherited = World::inherited();
        let ours = |name: &&Value| !inherited.iter().any(|known| name.as_str() == Some(known));
        let ours: Vec<&Value> = found["descriptors"].as_array().unwrap().iter().filter(ours).collect();
        assert_eq!(ours, Vec::<&Value>::new(), "descriptors of ours");

        targets.assert_untouched();
        let after = fs::metadata(&secret).unwrap();
        let state = |data: &fs::Metadata| {
            (data.mode(), data.uid(), data.mtime(), data.atime(), data.ctime(), data.nlink())
        };
        assert_eq!(state(&after), state(&before));
        assert_eq!(fs::metadata(world.path("outside")).unwrap().mode(), folder_before.mode());
        assert_eq!(fs::read_to_string(&secret).unwrap(), "the secret");
        let mut names: Vec<_> = fs::read_dir(world.path("outside"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["X0", "bus", "secret", "socket"]);
    });
}

#[test]
fn a_refusal_has_the_name_of_the_kernel() {
    World::each(|world| {
        world.file("outside/secret", "the secret");
        let check = |program: &str, arguments: &[&str], expected: &[&str]| {
            let output = world.run(program, arguments);
            let shown = text(&output);
            assert!(!output.status.success(), "{shown}");
            assert!(expected.iter().any(|expected| shown.contains(expected)), "{program}: {shown}");
        };
        let secret = world.path("outside/secret").display().to_string();
        check("cat", &[&secret], &["Permission denied", "No such file"]);
        check("chmod", &["600", &secret], &["Operation not permitted", "No such file"]);
        check("touch", &[&secret], &["Permission denied", "No such file", "Read-only"]);
        check("unshare", &["-U", "true"], &["Operation not permitted"]);
        check("no-such-program", &[], &["failed to start no-such-program"]);
    });
}

#[test]
fn the_network_is_reached_only_if_it_is_allowed() {
    World::each(|mut world| {
        world.confinement.network = true;
        let network = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = network.local_addr().unwrap().port();
        let script = format!("import socket; socket.create_connection(('127.0.0.1', {port}), 20).send(b'x')");
        let output = world.run("python3", &["-c", &script]);
        assert!(output.status.success(), "{}", text(&output));
        network.set_nonblocking(true).unwrap();
        assert!(network.accept().is_ok());
        let output = world.run("python3", &["-c", "import socket; socket.socket(socket.AF_UNIX)"]);
        assert!(text(&output).contains("PermissionError"), "{}", text(&output));
    });
}

#[test]
fn more_folders_are_readable_and_writable_if_they_are_named() {
    World::each(|mut world| {
        world.file("outside/document", "a document");
        fs::create_dir(world.path("outside/results")).unwrap();
        world.own("outside/results");
        world.confinement.read.push(world.path("outside"));
        world.confinement.write.push(world.path("outside/results"));
        let script = "cat ../outside/document; cp ../outside/document ../outside/results/copy; cp /bin/true ../outside/x";
        let output = world.run("sh", &["-c", script]);
        assert!(text(&output).contains("a document"), "{}", text(&output));
        assert_eq!(fs::read_to_string(world.path("outside/results/copy")).unwrap(), "a document");
        assert!(!world.path("outside/x").exists());
    });
}
