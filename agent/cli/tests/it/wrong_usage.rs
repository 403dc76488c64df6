//! Wrong usage is reported before anything starts, with the next step.

use std::fs;

use insta::assert_snapshot;

use crate::support::World;

const SCRIPT: &str = "
[[turn]]
title = 'never asked'
expect = 'x'
reply = '{}'
";

#[test]
fn an_empty_request() {
    assert_snapshot!(World::new().run(&["run", "  "]), @r#"
    exit 2
    --- error
    error: the request is empty
    help: describe what to do: deskhand run "Make a chart of the sales table" --open sales.ods
    "#);
}

#[test]
fn no_model() {
    let shown = World::new().run(&["run", "do it"]);
    // What else it says depends on the servers that run on this machine.
    assert!(
        shown.starts_with("exit 2\n--- error\nerror: no model is configured\nhelp: use `--model "),
        "{shown}"
    );
}

/// A worker without one would fail the tasks that others can do.
#[test]
fn no_model_for_a_worker() {
    let shown = World::new().run(&["worker", "--fleet", "nats://127.0.0.1:1"]);
    assert!(shown.starts_with("exit 2\n--- error\nerror: no model is configured\nhelp: "), "{shown}");
}

#[test]
fn a_log_in_a_file_has_no_colours_and_no_password() {
    let world = World::new();
    let mut fleet = world.command(&["fleet", "status", "--fleet", "nats://me:correct-horse@127.0.0.1:1"]);
    let output = fleet.env("DESKHAND_LOG", "trace").output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("DEBUG") && !errors.contains('\u{1b}'), "{errors}");
    assert!(errors.contains("127.0.0.1") && !errors.contains("correct-horse"), "{errors}");
    let shown = world.run(&["fleet", "status", "--fleet", "nats://127.0.0.1:1"]);
    assert!(shown.starts_with("exit 1\n--- error\nerror: cannot connect to the server"), "{shown}");
}

#[test]
fn unknown_model() {
    let world = World::new();
    world.configure("[models.local]\nprovider = \"openai\"\nmodel = \"tiny\"\n");
    assert_snapshot!(world.run(&["run", "do it", "--model", "locl"]), @r"
    exit 2
    --- error
    error: there is no model `locl`
    help: did you mean `local`?
    ");
    assert_snapshot!(world.run(&["run", "do it", "--model", "magic"]), @r"
    exit 2
    --- error
    error: there is no model `magic`
    help: use `PROVIDER:MODEL` (such as `openai:gpt-5-mini`, `anthropic:…`, `gemini:…`, `ollama:…`), `script:FILE`, or a name from [models.NAME] (configured: local)
    ");
}

#[test]
fn model_without_a_name_or_key() {
    let world = World::new();
    assert_snapshot!(world.run(&["run", "do it", "--model", "openai"]), @r"
    exit 2
    --- error
    error: no model is configured for https://api.openai.com/v1
    help: use `--model PROVIDER:MODEL`, or set `model.model`; `deskhand model list PROVIDER` lists them
    ");
    assert_snapshot!(world.run(&["run", "do it", "--model", "openai:tiny"]), @r"
    exit 1
    --- error
    error: no key for https://api.openai.com/v1: the environment variable OPENAI_API_KEY is not set; set it to the API key
    help: `export OPENAI_API_KEY=…`, or use `--api-key-file FILE`
    ");
    assert_snapshot!(world.run(&["run", "do it", "--model", "openai:tiny", "--api-key-file", "key"]), @r"
    exit 1
    --- error
    error: no key for https://api.openai.com/v1: the file key cannot be read: No such file or directory (os error 2)
    help: write the API key into the first line of key
    ");
    assert_snapshot!(world.run(&["run", "do it", "--model", "openai:tiny", "--base-url", "not a url"]), @r"
    exit 1
    --- error
    error: `not a url` is not a base URL (relative URL without a base); use a form like `https://api.openai.com/v1`
    help: fix `--base-url` or `model.base_url`
    ");
}

#[test]
fn missing_or_invalid_script() {
    let world = World::new();
    assert_snapshot!(world.run(&["run", "do it", "--model", "script:turns.toml"]), @r"
    exit 1
    --- error
    error: failed to read the script turns.toml: no such file
    help: check the path after `--model script:`
    ");
    assert_snapshot!(world.run(&["run", "do it", "--model", "script"]), @r"
    exit 2
    --- error
    error: the provider `script` needs a script
    help: use `--model script:FILE`, or set `model.script`
    ");
    assert_snapshot!(world.run(&["run", "do it", "--model", "script:x", "--script-var", "out"]), @r"
    exit 2
    --- error
    error: invalid value 'out' for '--script-var <NAME=VALUE>': `out` is not NAME=VALUE

    For more information, try '--help'.
    ");
    world.file("turns.toml", "[[turn]]\nexpects = 'x'\n");
    let shown = world.run(&["run", "do it", "--model", "script:turns.toml"]);
    assert!(
        shown.starts_with("exit 1\n") && shown.contains("turns.toml") && shown.contains("help: "),
        "{shown}"
    );
}

#[test]
fn no_display() {
    let world = World::new();
    assert_snapshot!(world.run(&["windows", "--desktop", "current"]), @r"
    exit 1
    --- error
    error: no display to work on: neither WAYLAND_DISPLAY nor DISPLAY is set
    help: use a private desktop with `--desktop virtual`, or run this in a graphical session
    ");
}

#[test]
fn document_that_cannot_be_opened() {
    let world = World::new();
    world.file("turns.toml", SCRIPT);
    world.file("sales.odt", "");
    let open = |file: &str| world.run(&["run", "do it", "--model", "script:turns.toml", "--open", file]);
    assert_snapshot!(open("slaes.odt"), @r"
    exit 1
    --- error
    error: failed to open slaes.odt: No such file or directory (os error 2)
    help: did you mean sales.odt? `touch slaes.odt` begins a new document
    ");
    // The option takes exactly one file.
    let before = world.run(&["run", "--model", "script:turns.toml", "--open", "slaes.odt", "do it"]);
    assert_eq!(before, open("slaes.odt"));
    assert_snapshot!(open("nowhere/other.txt"), @r"
    exit 1
    --- error
    error: failed to open nowhere/other.txt: the folder nowhere does not exist
    help: check the path, or make the folder: `mkdir -p nowhere`; nothing was started
    ");
    let pdf = open("new.pdf");
    assert!(
        pdf.contains("cannot begin one of type application/pdf") || pdf.contains("no installed"),
        "{pdf}"
    );
    fs::write(world.path().join("bytes.bin"), [0, 1, 2]).unwrap();
    assert_snapshot!(open("bytes.bin"), @r"
    exit 1
    --- error
    error: failed to open bytes.bin: no installed application opens application/octet-stream
    help: install one, or choose one that is: `xdg-mime default NAME.desktop application/octet-stream`
    ");
    assert_snapshot!(open("ftp://example.org/x"), @r"
    exit 1
    --- error
    error: failed to open ftp://example.org/x: addresses with `ftp:` are not opened
    help: open a file, a folder, or an address with `https:`, `http:` or `file:`
    ");
    world.file(".~lock.sales.odt#", ",ada,desk7,20.11.2026 10:15,file:///home/ada/.config/libreoffice/4;");
    assert_snapshot!(open("sales.odt"), @r"
    exit 1
    --- error
    error: sales.odt is locked: ada on desk7 (since 20.11.2026 10:15) has it open
    help: close it there; if that program is gone, remove [home]/.~lock.sales.odt#
    ");
}

#[test]
fn invalid_configuration() {
    let world = World::new();
    world.configure("[model]\nprovidr = \"openai\"\n");
    assert_snapshot!(world.run(&["run", "do it"]), @r"
    exit 2
    --- error
    error: unknown key `model.providr` in [home]/.config/deskhand/config.toml:2
    help: did you mean `model.provider`? `deskhand config explain model.provider` describes it
    ");
    world.configure("[limits]\nsteps_max = \"many\"\n");
    assert_snapshot!(world.run(&["sessions"]), @r#"
    exit 2
    --- error
    error: `limits.steps_max` in [home]/.config/deskhand/config.toml:2 is "many", but it must be a whole number from 1
    help: `deskhand config explain limits.steps_max` describes it
    "#);
}

#[test]
fn invalid_flags() {
    let world = World::new();
    assert_snapshot!(world.run(&["run", "do it", "--size", "huge"]), @r"
    exit 2
    --- error
    error: invalid value 'huge' for '--size <WxH>': `huge` is not a size such as 1920x1080 (each side 320 to 16384)

    For more information, try '--help'.
    ");
    assert_snapshot!(world.run(&["run", "do it", "--max-steps", "0"]), @r"
    exit 2
    --- error
    error: invalid value '0' for '--max-steps <N>': 0 is not in 1..=4294967295

    For more information, try '--help'.
    ");
    assert_snapshot!(world.run(&["act", "press", "ctrl+nokey"]), @r"
    exit 2
    --- error
    error: invalid value 'ctrl+nokey' for '<CHORDS>...': `ctrl+nokey` is not a key chord; write modifiers (ctrl, shift, alt, super) and one key joined by `+`, such as `ctrl+s`, `alt+F4`, `Return`, `Page_Down`

    For more information, try '--help'.
    ");
}

#[test]
fn unwritable_state_folder() {
    let world = World::new();
    world.file("state", "a file, not a folder");
    let shown = world.run(&["sessions", "--state-dir", "state"]);
    assert!(shown.starts_with("exit 1\n"), "{shown}");
}
