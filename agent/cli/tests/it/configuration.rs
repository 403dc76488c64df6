//! `deskhand config`.

use insta::assert_snapshot;

use crate::support::World;

#[test]
fn a_key_is_explained_with_its_source() {
    let world = World::new();
    assert_snapshot!(world.run(&["config", "explain", "model.structured_output"]), @r#"
    exit 0
    --- out
    model.structured_output = "auto"
      meaning      Method for requesting the format of a reply from the endpoint.
      comes from   the default
      default      "auto"
      must be      one of "auto", "schema", "object", "off"
                   "auto": Send a JSON schema; fall back to less if the endpoint rejects it.
                   "schema": Send a JSON schema; fail if the endpoint rejects it.
                   "object": Ask for a JSON object of any form.
                   "off": Send nothing; only the prompt describes the format.
      environment  DESKHAND__MODEL__STRUCTURED_OUTPUT
    "#);
    world.configure("[limits]\nsteps_max = 9\n");
    let mut command = world.command(&["config", "explain", "limits.steps_max"]);
    assert_snapshot!(world.shown(&command.output().unwrap()), @r"
    exit 0
    --- out
    limits.steps_max = 9
      meaning      The most steps of all agents together.
      comes from   [home]/.config/deskhand/config.toml:2
      default      50
      must be      a whole number from 1
      environment  DESKHAND__LIMITS__STEPS_MAX
    ");
    let output = command.env("DESKHAND__LIMITS__STEPS_MAX", "12").output().unwrap();
    assert_snapshot!(world.shown(&output), @r"
    exit 0
    --- out
    limits.steps_max = 12
      meaning      The most steps of all agents together.
      comes from   the environment variable DESKHAND__LIMITS__STEPS_MAX
      default      50
      must be      a whole number from 1
      environment  DESKHAND__LIMITS__STEPS_MAX
    ");
    let output = command.args(["--max-steps", "7"]).output().unwrap();
    assert_snapshot!(world.shown(&output), @r"
    exit 0
    --- out
    limits.steps_max = 7
      meaning      The most steps of all agents together.
      comes from   the flag --max-steps
      default      50
      must be      a whole number from 1
      environment  DESKHAND__LIMITS__STEPS_MAX
    ");
    assert_snapshot!(world.run(&["config", "explain", "limits.step_max"]), @r"
    exit 2
    --- error
    error: there is no key `limits.step_max`
    help: did you mean `limits.steps_max`?
    ");
}

/// Every flag of `run` that is a setting, with the key that it sets.
#[test]
fn flags_are_explained_as_the_source_of_their_values() {
    let world = World::new();
    for (flag, value, key) in [
        ("--model", Some("openai:gpt-5-mini"), "model.model"),
        ("--base-url", Some("http://127.0.0.1:8000/v1"), "model.base_url"),
        ("--api-key-env", Some("MY_KEY"), "model.api_key_env"),
        ("--api-key-file", Some("key.txt"), "model.api_key_file"),
        ("--no-pictures", None, "view.pictures"),
        ("--desktop", Some("current"), "desktop.kind"),
        ("--size", Some("800x600"), "desktop.size"),
        ("--max-model-calls", Some("3"), "limits.model_calls_max"),
        ("--max-tokens", Some("3"), "limits.tokens_max"),
        ("--max-cost", Some("0.5"), "limits.cost_max"),
        ("--max-minutes", Some("3"), "limits.minutes_max"),
        ("--ask", Some("never"), "people.ask_questions"),
        ("--approve", Some("none"), "people.approvals"),
        ("--question-timeout", Some("3"), "people.question_timeout_s"),
        ("--approval-timeout", Some("3"), "people.approval_timeout_s"),
        ("--no-safe-guard", None, "policy.safe_guard"),
        ("--verify", Some("always"), "work.verify"),
        ("--evaluate", None, "evaluation.enabled"),
        ("--state-dir", Some("sessions"), "sessions.dir"),
    ] {
        let shown = world.run(&[&["config", "explain", key, flag][..], value.as_slice()].concat());
        assert!(shown.contains(&format!("comes from   the flag {flag}\n")), "{shown}");
    }
}

#[test]
fn every_key_is_listed() {
    let shown = World::new().run(&["config", "explain"]);
    for key in ["model.base_url", "models.NAME.vision", "desktop.size", "limits.tokens_max", "sessions.dir"] {
        assert!(shown.contains(&format!("\n{key} ")), "{key} in {shown}");
    }
}

#[test]
fn a_file_is_written_once_and_works() {
    let world = World::new();
    assert_snapshot!(world.run(&["config", "init"]), @r"
    exit 0
    --- out
    wrote [home]/.config/deskhand/config.toml
    fill in the section [model], then run `deskhand doctor`
    ");
    assert_snapshot!(world.run(&["config", "init"]), @r"
    exit 1
    --- error
    error: [home]/.config/deskhand/config.toml already exists; it was not changed
    help: `deskhand config explain` shows the current values
    ");
    assert_snapshot!(world.run(&["config", "path"]), @r"
    exit 0
    --- out
    [home]/.config/deskhand/config.toml
    ");
    assert!(world.run(&["config", "explain", "model.model"]).starts_with("exit 0\n"));
    let output =
        world.command(&["config", "path"]).env("DESKHAND_CONFIG", "/elsewhere/c.toml").output().unwrap();
    assert_snapshot!(world.shown(&output), @r"
    exit 0
    --- out
    /elsewhere/c.toml
    ");
}

#[test]
fn the_schema_is_json() {
    let world = World::new();
    let output = world.command(&["config", "schema"]).output().unwrap();
    let schema: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(schema["properties"]["limits"]["properties"]["steps_max"]["default"], 50);
}
