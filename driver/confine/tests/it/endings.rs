//! Nothing of a program remains after it.

use std::{
    fs,
    process::{Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::world::{World, text, until};

#[test]
fn exit_codes_are_passed_on() {
    World::each(|world| {
        let check = |script: &str, expected: i32| {
            let output = world.run("sh", &["-c", script]);
            assert_eq!(output.status.code(), Some(expected), "{}", text(&output));
        };
        check("exit 0", 0);
        check("exit 7", 7);
        check("kill -KILL $$", 137);
    });
}

#[test]
fn descendants_without_mark_session_or_parent_end_with_the_program() {
    World::each(|world| {
        let kept = world.file("work/kept", "").display().to_string();
        // The program ends once both of its descendants run.
        let script = r#"run='echo $$ > "$1"; exec tail -f "$0"'; env -i /usr/bin/setsid -f /bin/sh -c "$run" "$0" first
            (sh -c "$run" "$0" second &); until [ -s first ] && [ -s second ]; do :; done; exit 3"#;
        let output = world.run("bash", &["-c", script, &kept]);
        assert_eq!(output.status.code(), Some(3), "{}", text(&output));
        assert_eq!(world.processes("tail", "work/kept"), Vec::<String>::new());
    });
}

/// Starts a program with a descendant in a session of its own; returns the helper or its parent, once both run.
fn started(world: &World, command: &mut Command) -> std::process::Child {
    let child = command.stdout(Stdio::null()).spawn().unwrap();
    until("the descendants run", || world.processes("tail", "work/kept").len() >= 2);
    child
}

const TWO: &str = r#"env -i /usr/bin/setsid -f tail -f "$0"; exec tail -f "$0""#;

#[test]
fn a_termination_signal_ends_everything() {
    World::each(|world| {
        let kept = world.file("work/kept", "").display().to_string();
        let mut child = started(&world, &mut world.confined("sh", &["-c", TWO, &kept]));
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        child.wait().unwrap();
        assert_eq!(world.processes("tail", "work/kept"), Vec::<String>::new());
    });
}

#[test]
fn the_death_of_the_parent_ends_everything() {
    World::each(|world| {
        let kept = world.file("work/kept", "").display().to_string();
        let confined = world.confined("sh", &["-c", TWO, &kept]);
        let mut parent = Command::new("/bin/sh");
        parent.args(["-c", r#""$@" & wait"#, "sh"]).arg(confined.get_program()).args(confined.get_args());
        parent.current_dir(world.path("work")).stdin(Stdio::null());
        let mut parent = started(&world, &mut parent);
        parent.kill().unwrap();
        parent.wait().unwrap();
        until("the descendants have ended", || world.processes("tail", "work/kept").is_empty());
    });
}

#[test]
fn a_killed_supervisor_leaves_nothing() {
    World::each(|world| {
        let kept = world.file("work/kept", "").display().to_string();
        let helper = world.path("confined").display().to_string();
        let supervisors = if world.has_namespaces() { 1 } else { 2 };
        for killed in 0..supervisors {
            let mut child = started(&world, &mut world.confined("sh", &["-c", TWO, &kept]));
            let mut running: Vec<i32> =
                world.processes(&helper, "work/kept").iter().map(|pid| pid.parse().unwrap()).collect();
            running.sort_unstable();
            assert_eq!(running.len(), supervisors, "{running:?}");
            kill_process(Pid::from_raw(running[killed]).unwrap(), Signal::KILL).unwrap();
            child.wait().unwrap();
            until("everything has ended", || {
                world.processes("tail", "work/kept").is_empty()
                    && world.processes(&helper, "work/kept").is_empty()
            });
        }
    });
}

#[test]
fn no_control_group_is_left() {
    World::each(|world| {
        world.run("true", &[]);
        let leftover = |folder: &str| {
            let of_ended = |name: &str| {
                let pid = name.strip_prefix("deskhand-").and_then(|rest| rest.split('-').next());
                pid.is_some_and(|pid| !std::path::Path::new("/proc").join(pid).exists())
            };
            let names = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
            names.filter(|entry| entry.file_name().to_str().is_some_and(of_ended)).count()
        };
        for folder in ["/sys/fs/cgroup", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory"] {
            // A helper of another test may have ended just now, and its group is removed next.
            until(&format!("no group is left in {folder}"), || leftover(folder) == 0);
        }
    });
}

#[test]
fn nothing_starts_once_the_owner_has_died() {
    World::each(|mut world| {
        // Not the parent of the helper.
        world.confinement.owner = Some(1);
        let output = world.run("sh", &["-c", "echo started > started"]);
        assert!(text(&output).contains("the process that wanted it has ended"), "{}", text(&output));
        assert_eq!(output.status.code(), Some(125));
        assert!(!world.path("work/started").exists());
    });
}
