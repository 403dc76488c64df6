//! Completion scripts and man pages.

use std::fs;

use crate::support::World;

/// The output of a command without the line with its exit code.
fn printed(arguments: &[&str]) -> String {
    let output = World::new().command(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_shell_completes_commands_and_options() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = printed(&["completions", shell]);
        for word in ["screenshot", "completions", "base-url"] {
            assert!(script.contains(word), "{shell} does not complete {word}");
        }
        for hidden in ["keep-desktop", "sandboxed", "watch-worker"] {
            assert!(!script.contains(hidden), "{shell} completes {hidden}");
        }
    }
}

#[test]
fn bash_completes_a_partial_command() {
    let world = World::new();
    fs::write(world.path().join("completions"), printed(&["completions", "bash"])).unwrap();
    let words = r#"
        . ./completions
        COMP_WORDS=(deskhand "$1") COMP_CWORD=1
        _deskhand deskhand "$1" deskhand
        echo "${COMPREPLY[@]}"
    "#;
    let mut bash = std::process::Command::new("bash");
    bash.args(["--noprofile", "--norc", "-c", words, "bash", "scr"]).current_dir(world.path());
    let output = bash.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "screenshot\n");
}

#[test]
fn unknown_shell() {
    let shown = World::new().run(&["completions", "tcsh"]);
    assert!(
        shown.starts_with("exit 2\n") && shown.contains("possible values: bash, elvish, fish"),
        "{shown}"
    );
    let output = World::new().command(&["completions"]).env("SHELL", "/bin/tcsh").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("help: name the shell: bash"), "{error}");
}

#[test]
fn there_is_a_page_for_each_command() {
    let world = World::new();
    let shown = world.run(&["man", "share/man1"]);
    assert!(shown.starts_with("exit 0\n") && shown.ends_with(" man pages to share/man1\n"), "{shown}");
    let folder = world.path().join("share/man1");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in ["deskhand.1", "deskhand-run.1", "deskhand-act-click.1", "deskhand-config-explain.1"] {
        assert!(names.iter().any(|found| found == name), "{name} is not in {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("keep-desktop")), "{names:?}");
    let page = fs::read_to_string(folder.join("deskhand.1")).unwrap();
    assert!(page.contains("deskhand\\-run(1)") && page.contains("Exit codes"), "{page}");
    assert!(fs::read_to_string(folder.join("deskhand-run.1")).unwrap().contains("\\-\\-model"));
}

#[test]
fn folder_that_cannot_be_created() {
    let world = World::new();
    fs::write(world.path().join("file"), "").unwrap();
    let shown = world.run(&["man", "file/man1"]);
    assert!(
        shown.starts_with("exit 1\n") && shown.contains("failed to write man pages to file/man1"),
        "{shown}"
    );
    assert!(shown.contains("help: use a writable folder"), "{shown}");
}
