//! Tests of profiles: scripts try what is kept from applications.

use std::{
    os::unix::net::UnixListener,
    process::{Command, Output},
};

use super::*;

/// A home folder with secrets, documents, and files of ours.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        for name in [
            ".ssh/id",
            ".netrc",
            ".config/own/config.toml",
            "state/journal",
            "Documents/letter",
            "private/file",
        ] {
            fs::create_dir_all(home.path(name).parent().unwrap()).unwrap();
            fs::write(home.path(name), "the content").unwrap();
        }
        home
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn confine(&self) -> Confine {
        Confine {
            mode: ConfineMode::Required,
            hidden: vec![self.path(".config/own"), self.path(".config/missing")],
            read_only: vec![self.path("state"), self.path("state/missing")],
            ..Confine::default()
        }
    }

    fn profile(&self, confine: &Confine, files: &[String]) -> Result<Option<Profile>, String> {
        confine.profile(&SandboxEnvironment {
            home: Some(self.0.path().as_os_str()),
            path: &std::env::var_os("PATH").unwrap(),
            private: Some(&self.path("private")),
            display: Some(self.path("private/display")),
            files,
        })
    }

    /// Runs a script in a profile, in the home folder.
    fn run(&self, profile: &Profile, script: &str) -> Output {
        Command::new(profile.program())
            .args(profile.arguments(Path::new("/bin/sh"), vec!["-c".into(), script.into()]))
            .current_dir(self.0.path())
            .output()
            .unwrap()
    }
}

/// A home folder and its profile; none without bubblewrap.
fn confined_home() -> Option<(Home, Profile)> {
    let home = Home::new();
    let if_possible = Confine { mode: ConfineMode::IfPossible, ..home.confine() };
    let profile = home.profile(&if_possible, &[]).unwrap()?;
    Some((home, profile))
}

#[test]
fn secrets_and_our_own_files_are_out_of_reach() {
    let Some((home, profile)) = confined_home() else { return };
    let script = "cat .ssh/id .netrc .config/own/config.toml; ls .ssh; echo x >> .ssh/new; echo x >> .netrc; \
                  echo x >> .config/own/config.toml; mkdir .config/missing/x; \
                  echo x > state/missing/x; rmdir state/missing; echo x >> state/journal; rm state/journal; \
                  mv .ssh moved; rm -r .config/own; umount .ssh; cat state/journal";
    let output = home.run(&profile, script);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "the content");
    for name in [".ssh/id", ".netrc", ".config/own/config.toml", "state/journal"] {
        assert_eq!(fs::read_to_string(home.path(name)).unwrap(), "the content", "{name}");
    }
    for name in [".ssh/new", ".config/missing/x", "state/missing/x"] {
        assert!(!home.path(name).exists(), "{name}");
    }
    assert!(home.path("state/missing").exists());
}

#[test]
fn documents_are_opened_saved_and_created_anywhere_else() {
    let Some((home, profile)) = confined_home() else { return };
    let script = "set -e; echo more >> Documents/letter; echo lock > '.~lock.letter#'; cat '.~lock.letter#'; rm '.~lock.letter#'; \
                  echo new > new; mv new renamed; mkdir -p .config/editor; echo 1 > .config/editor/settings; echo ok";
    let output = home.run(&profile, script);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "lock\nok\n", "{output:?}");
    assert_eq!(fs::read_to_string(home.path("Documents/letter")).unwrap(), "the contentmore\n");
    assert_eq!(fs::read_to_string(home.path("renamed")).unwrap(), "new\n");
}

#[test]
fn the_system_is_read_only() {
    let Some((home, profile)) = confined_home() else { return };
    let output = home.run(
        &profile,
        "touch /etc/deskhand-test /usr/deskhand-test; cat /etc/passwd > /dev/null && echo read",
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), "read\n");
    assert!(!Path::new("/etc/deskhand-test").exists() && !Path::new("/usr/deskhand-test").exists());
}

#[test]
fn a_hidden_document_is_named_with_the_setting_that_lets_it_in() {
    let Some((home, _)) = confined_home() else { return };
    let file = home.path(".ssh/id").display().to_string();
    let refused = home.profile(&home.confine(), std::slice::from_ref(&file)).unwrap_err();
    assert!(refused.contains(".ssh") && refused.contains("desktop.allow"), "{refused}");
    let allowed = Confine { allow: vec!["~/.ssh".into()], ..home.confine() };
    let profile = home.profile(&allowed, &[file]).unwrap().unwrap();
    let output = home.run(&profile, "cat .ssh/id; cat .netrc");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "the content");
}

#[test]
fn without_bubblewrap_the_mode_decides() {
    let home = Home::new();
    let with = |mode: ConfineMode| {
        let confine = Confine { mode, ..home.confine() };
        confine.profile(&SandboxEnvironment {
            home: None,
            path: OsStr::new("/no-such-folder"),
            private: None,
            display: None,
            files: &[],
        })
    };
    assert!(with(ConfineMode::Required).unwrap_err().contains("install bubblewrap"));
    assert_eq!(with(ConfineMode::IfPossible), Ok(None));
    assert_eq!(with(ConfineMode::Off), Ok(None));
}

#[test]
fn folders_above_ours_cannot_be_moved_away() {
    let Some((home, profile)) = confined_home() else { return };
    let script = "mv .config elsewhere; mkdir -p .config/own; echo forged > .config/own/config.toml; \
                  echo 1 > .config/other; mv .config/other .config/moved; cat .config/moved; ls -A .config/own";
    let output = home.run(&profile, script);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n", "{output:?}");
    assert_eq!(fs::read_to_string(home.path(".config/own/config.toml")).unwrap(), "the content");
    assert!(!home.path("elsewhere").exists());
}

/// Renames a file into a folder above ours and back, as the trash does, which works within one mount only.
const RENAMES: &str = r#"
import os
os.rename("Documents/letter", ".config/letter")
os.rename(".config/letter", "Documents/letter")
print("renamed")
"#;

/// Moves the folder above ours away in a namespace of its own, in which it leaves every mount behind that it can.
const LEAVES_MOUNTS_BEHIND: &str = r#"
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
home = sys.argv[1].encode()
new = home + b"/new"
os.mkdir(new)
RECURSIVE, BIND, DETACH, PIVOT_ROOT = 16384, 4096, 2, 155
if libc.mount(home, new, None, BIND, None) == 0:
    print("copied without the mounts")
if libc.mount(home, new, None, BIND | RECURSIVE, None) != 0:
    sys.exit("cannot mount: " + os.strerror(ctypes.get_errno()))
os.mkdir(new + b"/old")
os.chdir(new)
if libc.syscall(PIVOT_ROOT, b".", b"old") != 0:
    sys.exit("cannot change the root: " + os.strerror(ctypes.get_errno()))
libc.umount2(b"/old", DETACH)
os.chdir("/")
try:
    os.rename("/.config", "/elsewhere")
    print("moved")
except OSError as error:
    print("kept:", error.errno)
"#;

#[test]
fn files_are_moved_in_and_out_of_folders_above_ours() {
    let Some((home, profile)) = confined_home() else { return };
    fs::write(home.path("renames.py"), RENAMES).unwrap();
    let output = home.run(&profile, "python3 renames.py");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "renamed\n", "{output:?}");
}

#[test]
fn a_namespace_of_an_application_does_not_free_folders_above_ours() {
    let Some((home, profile)) = confined_home() else { return };
    fs::write(home.path("attack.py"), LEAVES_MOUNTS_BEHIND).unwrap();
    let script = format!("exec unshare -Urm python3 attack.py {}", home.0.path().display());
    let output = home.run(&profile, &script);
    let printed = String::from_utf8_lossy(&output.stdout);
    // Root cannot make such a namespace in its profile, nor can users on some systems.
    assert!(printed.is_empty() || printed == format!("kept: {}\n", libc_busy()), "{output:?}");
    assert_eq!(fs::read_to_string(home.path(".config/own/config.toml")).unwrap(), "the content");
    assert!(!home.path("elsewhere").exists());
}

/// The number of the error for what is in use.
fn libc_busy() -> i32 {
    rustix::io::Errno::BUSY.raw_os_error()
}

#[test]
fn documents_elsewhere_are_written_beside_an_opened_one_or_where_it_is_allowed() {
    let outside = tempfile::tempdir_in("/var/lib").or_else(|_| tempfile::tempdir_in("/opt"));
    let (Some((home, profile)), Ok(outside)) = (confined_home(), outside) else { return };
    for name in ["opened/letter", "other/letter"] {
        fs::create_dir_all(outside.path().join(name).parent().unwrap()).unwrap();
        fs::write(outside.path().join(name), "read").unwrap();
    }
    let script = format!(
        "cd {}; cat opened/letter other/letter; echo new > opened/new; echo new > other/new",
        outside.path().display()
    );
    let check = |profile: &Profile, opened: bool, other: bool| {
        let output = home.run(profile, &script);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "readread", "{output:?}");
        assert_eq!(outside.path().join("opened/new").exists(), opened);
        assert_eq!(outside.path().join("other/new").exists(), other);
    };
    check(&profile, false, false);
    let opened = outside.path().join("opened/letter").display().to_string();
    let with_file = home.profile(&home.confine(), std::slice::from_ref(&opened)).unwrap().unwrap();
    check(&with_file, true, false);
    let allowed = Confine { allow: vec![outside.path().join("other")], ..home.confine() };
    check(&home.profile(&allowed, &[]).unwrap().unwrap(), true, true);
}

#[test]
fn a_document_opens_no_place_that_is_kept() {
    let Some((home, _)) = confined_home() else { return };
    let files = ["/etc/passwd".to_owned(), home.path("state/journal").display().to_string()];
    let profile = home.profile(&home.confine(), &files).unwrap().unwrap();
    let script = "echo x > /etc/deskhand-test; echo x > state/new; cat state/journal";
    assert_eq!(String::from_utf8_lossy(&home.run(&profile, script).stdout), "the content");
    assert!(!home.path("state/new").exists() && !Path::new("/etc/deskhand-test").exists());
}

/// A socket that counts as reached if somebody connects.
fn listener(path: &Path) -> UnixListener {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let listener = UnixListener::bind(path).unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

#[test]
fn sockets_of_services_and_of_the_user_are_out_of_reach() {
    let Some((home, _)) = confined_home() else { return };
    let id = uuid();
    let agent = tempfile::Builder::new().prefix("ssh-").tempdir_in("/tmp").unwrap();
    let mut places = vec![agent.path().join("agent.1"), home.path(".docker/run/docker.sock")];
    // Root alone can make the places of services.
    let mut made = Vec::new();
    for place in [
        format!("/run/user/{id}/bus"),
        format!("/run/podman-{id}/podman.sock"),
        format!("/tmp/.X11-unix/X{id}"),
    ] {
        let place = PathBuf::from(place);
        if rustix::process::geteuid().is_root() {
            made.push(place.clone());
            places.push(place);
        }
    }
    let own = home.path("private/bus");
    let _own_listener = listener(&own);
    let listeners: Vec<UnixListener> = places.iter().map(|path| listener(path)).collect();
    // As it is when an application starts.
    let profile = profile_of(&home);
    let connect = |path: &Path| {
        let script = format!(
            "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{}\")' && echo connected",
            path.display()
        );
        String::from_utf8_lossy(&home.run(&profile, &script).stdout).into_owned()
    };
    let reached: Vec<&PathBuf> = places.iter().filter(|path| connect(path).contains("connected")).collect();
    let own = connect(&own);
    for place in &made {
        fs::remove_file(place).unwrap();
        if !place.starts_with("/tmp") {
            fs::remove_dir(place.parent().unwrap()).unwrap();
        }
    }
    assert_eq!(reached, Vec::<&PathBuf>::new());
    assert!(listeners.iter().all(|listener| listener.accept().is_err()));
    assert!(own.contains("connected"), "{own}");
}

/// The profile of the places as they are now.
fn profile_of(home: &Home) -> Profile {
    home.profile(&home.confine(), &[]).unwrap().unwrap()
}

/// A number that no display and no user has.
fn uuid() -> u32 {
    1_000_000_000 + std::process::id()
}

#[test]
fn devices_and_settings_of_the_kernel_are_out_of_reach() {
    let Some((home, profile)) = confined_home() else { return };
    let script = "for file in /proc/sys/kernel/core_pattern /sys/kernel/uevent_helper; do (echo x > $file) 2> /dev/null && echo $file; done; \
                  find /dev -type b; ls /dev/mem /dev/uinput 2> /dev/null; echo x > /dev/null && head -c 1 /dev/zero | wc -c";
    assert_eq!(String::from_utf8_lossy(&home.run(&profile, script).stdout), "1\n");
}

#[test]
fn other_processes_open_no_way_around() {
    let Some((home, profile)) = confined_home() else { return };
    let mut sleeper = Command::new("sleep").arg("60").env("SECRET_OF_TEST", "hunter2").spawn().unwrap();
    let pid = sleeper.id();
    let script = format!(
        "cat /proc/{pid}/root{}/.ssh/id; cat /proc/{pid}/environ; ls /proc/{pid}/cwd/",
        home.0.path().display()
    );
    let output = home.run(&profile, &script);
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
}

/// A program in the namespaces of a desktop that keeps them, as the session bus does.
struct Bus {
    monitor: std::process::Child,
    pid: u32,
}

impl Bus {
    /// Starts it, and has it keep the namespaces that are made for this kind of user.
    fn start(home: &Home, profile: &mut Profile, superuser: bool) -> Self {
        let private = home.path("private");
        fs::create_dir(private.join(OWN_FOLDER)).unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let holder = profile.enter_new_namespaces(&private, &path, superuser).unwrap().unwrap();
        let script = vec!["-c".into(), "echo $$; exec sleep 600".into()];
        let mut monitor = Command::new(profile.program())
            .args(profile.arguments(Path::new("/bin/sh"), script))
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        io::BufRead::read_line(&mut io::BufReader::new(monitor.stdout.as_mut().unwrap()), &mut line).unwrap();
        let pid = line.trim().parse().unwrap();
        holder.leave_to(pid, monitor.id()).unwrap();
        Self { monitor, pid }
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.pid).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        // It ends with its program.
        self.monitor.wait().unwrap();
    }
}

/// The kinds of user that can be tried: root can do what others do.
fn kinds_of_user() -> &'static [bool] {
    if rustix::process::geteuid().is_root() { &[true, false] } else { &[false] }
}

#[test]
fn programs_of_a_desktop_look_into_each_other_and_not_outside() {
    for superuser in kinds_of_user() {
        let Some((home, mut profile)) = confined_home() else { return };
        let mut outside = Command::new("sleep").arg("600").spawn().unwrap();
        let bus = Bus::start(&home, &mut profile, *superuser);
        let profile = home.profile(&home.confine(), &[]).unwrap().unwrap();
        let secret = home.path(".ssh/id").display().to_string();
        let script = format!(
            "for pid in $PPID {} {} 1; do cat /proc/$pid/root{secret} /proc/$pid/environ; done; \
             ls -d /proc/{}/root/etc; cat /proc/{}/root{secret}; \
             umount .ssh; unshare --user --map-root-user --mount sh -c 'umount .ssh; cat .ssh/id'; \
             nsenter --user=/proc/self/fd/9 echo entered; nsenter --target $PPID --user echo entered",
            outside.id(),
            bus.monitor.id(),
            bus.pid,
            bus.pid,
        );
        let output = home.run(&profile, &script);
        outside.kill().unwrap();
        outside.wait().unwrap();
        let seen = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(seen, format!("/proc/{}/root/etc\n", bus.pid), "{output:?}");
    }
}

#[test]
fn programs_in_the_namespaces_of_a_desktop_keep_no_privileges_but_for_files() {
    for superuser in kinds_of_user() {
        let Some((home, mut profile)) = confined_home() else { return };
        let _bus = Bus::start(&home, &mut profile, *superuser);
        let profile = home.profile(&home.confine(), &[]).unwrap().unwrap();
        let letter = home.path("Documents/letter");
        let expected = if *superuser {
            std::os::unix::fs::chown(&letter, Some(1234), Some(1234)).unwrap();
            fs::set_permissions(&letter, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
            // CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID: capability.h of Linux.
            "CapEff:\t00000000000000fb\n"
        } else {
            ""
        };
        let output = home.run(&profile, "echo more >> Documents/letter; grep CapEff.*fb /proc/self/status");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{output:?}");
        assert_eq!(fs::read_to_string(&letter).unwrap(), "the contentmore\n", "{output:?}");
    }
}

#[test]
fn no_program_that_an_application_put_on_the_path_makes_the_namespaces() {
    let Some((home, mut profile)) = confined_home() else { return };
    fs::create_dir(home.path("private").join(OWN_FOLDER)).unwrap();
    fs::create_dir(home.path("bin")).unwrap();
    let log = home.path("log");
    for name in ["sh", "cat", "unshare", "nsenter", "setpriv", "bwrap"] {
        let planted = format!("#!/bin/sh\necho {name} >> {}\nexec /bin/{name} \"$@\"\n", log.display());
        fs::write(home.path("bin").join(name), planted).unwrap();
        fs::set_permissions(home.path("bin").join(name), std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
    }
    let usual = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths([home.path("bin")].into_iter().chain(std::env::split_paths(&usual)));
    let is_root = rustix::process::geteuid().is_root();
    let holder = profile.enter_new_namespaces(&home.path("private"), &path.unwrap(), is_root).unwrap();
    assert!(holder.is_some() && !log.exists(), "{:?}", fs::read_to_string(&log));
}
