//! What programs may use is bounded.

use std::fs;

use crate::world::{World, text};

#[test]
fn a_fork_bomb_ends_at_the_limit() {
    World::each(|mut world| {
        world.confinement.limits.processes = 60;
        let script = "
import errno, os, signal, sys
children = 0
try:
    while children < 5000:
        if os.fork() == 0:
            signal.pause()
        children += 1
except OSError as error:
    print(children, errno.errorcode[error.errno])
";
        let unique = world.path("work/bomb").display().to_string();
        let output = world.run("python3", &["-c", script, &unique]);
        let shown = text(&output);
        let stdout = String::from_utf8_lossy(&output.stdout);
        let (children, error) = stdout.trim().split_once(' ').unwrap_or_else(|| panic!("{shown}"));
        // Without a group or namespace, other processes of the user that end meanwhile make room for more.
        assert!(children.parse::<u32>().unwrap() < 1_000 && error == "EAGAIN", "{shown}");
        assert_eq!(world.processes("/usr/bin/python3", "work/bomb"), Vec::<String>::new());
    });
}

#[test]
fn a_shell_bomb_is_ended_with_its_program() {
    World::each(|mut world| {
        world.confinement.limits.processes = 100;
        // Each one starts two more in sessions of their own, and the first one leaves them behind.
        let script = r#"echo x >> begun; if [ "$(wc -l < begun)" -lt 300 ]; then setsid -f sh "$0"; setsid -f sh "$0"; fi; tail -f "$0" & :"#;
        let bomb = world.file("work/bomb.sh", script).display().to_string();
        let output = world.run("sh", &[&bomb]);
        assert!(world.path("work/begun").exists(), "{}", text(&output));
        assert_eq!(world.processes("tail", "work/bomb.sh"), Vec::<String>::new());
    });
}

#[test]
fn large_files_are_cut_off() {
    World::each(|mut world| {
        world.confinement.limits.file_mb = 1;
        let output = world.run("dd", &["if=/dev/zero", "of=large", "bs=65536", "count=1000"]);
        assert!(!output.status.success(), "{}", text(&output));
        assert!(fs::metadata(world.path("work/large")).unwrap().len() <= 1024 * 1024);
        let script = "import os; f = open('sparse', 'w'); os.truncate(f.fileno(), 1 << 40)";
        let output = world.run("python3", &["-c", script]);
        assert!(text(&output).contains("File too large"), "{}", text(&output));
    });
}

#[test]
fn memory_is_bounded_private_and_shared() {
    World::each(|mut world| {
        world.confinement.limits.memory_mb = 96;
        let check = |script: &str| {
            let output = world.run("python3", &["-c", script]);
            let shown = text(&output);
            // A group ends the program with a signal; a limit of the process refuses the memory.
            let refused =
                shown.contains("MemoryError") || shown.contains("Cannot allocate") || shown.contains("137");
            assert!(!output.status.success() && refused, "{shown}");
        };
        check("x = bytearray(200 << 20); print(len(x))");
        check("import mmap; x = mmap.mmap(-1, 4 << 30); print(len(x))");
        let output = world.run("python3", &["-c", "x = bytearray(20 << 20); print('fits')"]);
        assert!(text(&output).contains("fits"), "{}", text(&output));
    });
}

#[test]
fn there_are_no_core_files_and_few_descriptors() {
    World::each(|mut world| {
        world.confinement.limits.open_files = 50;
        let output = world.run("sh", &["-c", "ulimit -c; ulimit -n; exec cat /proc/self/oom_score_adj"]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "0\n50\n1000\n", "{}", text(&output));
    });
}
