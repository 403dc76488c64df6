//! The files in `packaging/fleet` are what systemd, Kubernetes and the server understand, and name options and figures that there are.
//!
//! Parts are skipped without `systemd-analyze`, `python3` with `yaml`, or `curl`, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use deskhand_testkit::{nats_server::Server, programs::can_run};
use serde_json::{Value, json};

use crate::support::World;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/fleet").join(name)
}

/// The documents of a file of YAML, by a reader that is not ours.
fn yaml(name: &str) -> Option<Vec<Value>> {
    const READ: &str =
        "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))";
    if !can_run(Vec::new(), &["python3"]) {
        return None;
    }
    let output = Command::new("python3").args(["-c", READ]).arg(file(name)).output().unwrap();
    if String::from_utf8_lossy(&output.stderr).contains("No module named 'yaml'") {
        return None;
    }
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn systemd_understands_the_unit() {
    let text = fs::read_to_string(file("deskhand-worker.service")).unwrap();
    let world = World::new();
    // The program is elsewhere here.
    let unit = world.file("deskhand-worker.service", &text.replace("/usr/bin/deskhand", "/usr/bin/env"));
    if can_run(Vec::new(), &["systemd-analyze"]) {
        let checked = Command::new("systemd-analyze").arg("verify").arg(&unit).output().unwrap();
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        let ours: Vec<&str> = said.lines().filter(|line| line.contains("deskhand-worker.service:")).collect();
        assert!(ours.is_empty(), "{said}");
    }
    let command = text.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/deskhand ")).unwrap();
    names_options(&world, command.split_whitespace());
    for variable in text.lines().filter_map(|line| line.strip_prefix("#   DESKHAND")?.split('=').next()) {
        names_variable(&world, &format!("DESKHAND{variable}"));
    }
}

/// The help of a worker, in which all options and variables are.
fn help(world: &World) -> String {
    world.run(&["worker", "--help"])
}

fn names_options<'a>(world: &World, words: impl Iterator<Item = &'a str>) {
    let help = help(world);
    for option in words.filter(|word| word.starts_with("--")) {
        assert!(help.contains(option), "{option} is no option of a worker");
    }
}

fn names_variable(world: &World, name: &str) {
    assert!(help(world).contains(name), "{name} is no variable of a worker");
}

#[test]
fn the_manifest_fits_together_and_scales_by_what_the_server_says() {
    let Some(documents) = yaml("kubernetes.yaml") else { return };
    let [deployment, scaled] = documents.as_slice() else { panic!("{documents:?}") };
    assert_eq!((&deployment["apiVersion"], &deployment["kind"]), (&json!("apps/v1"), &json!("Deployment")));
    let (spec, pod) = (&deployment["spec"], &deployment["spec"]["template"]["spec"]);
    assert_eq!(spec["selector"]["matchLabels"], spec["template"]["metadata"]["labels"]);
    let container = &pod["containers"][0];
    let names = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&container["volumeMounts"]), names(&pod["volumes"]));
    let world = World::new();
    names_options(&world, container["args"].as_array().unwrap().iter().filter_map(Value::as_str));
    for variable in names(&container["env"]) {
        names_variable(&world, &variable);
    }
    assert_eq!(scaled["kind"], "ScaledObject");
    assert_eq!(scaled["spec"]["scaleTargetRef"]["name"], deployment["metadata"]["name"]);
    assert_eq!(scaled["spec"]["minReplicaCount"], 1, "somebody has to put tasks into the queue");
    let trigger = &scaled["spec"]["triggers"][0];
    assert_eq!(trigger["type"], "metrics-api");
    // The figure is where the server has it.
    let path = trigger["metadata"]["valueLocation"].as_str().unwrap();
    assert_eq!(path, r#"account_details.0.stream_detail.#(name=="deskhand-queue").state.messages"#);
    let url = trigger["metadata"]["url"].as_str().unwrap();
    let (_, query) = url.split_once(":8222/").unwrap();
    let data = tempfile::tempdir().unwrap();
    let Some(server) = Server::start(data.path(), "http: \"127.0.0.1:-1\"").unwrap() else { return };
    if !can_run(Vec::new(), &["curl"]) {
        return;
    }
    let address = format!("nats://127.0.0.1:{}", server.port);
    assert!(world.run(&["fleet", "status", "--fleet", &address]).starts_with("exit 0"));
    let monitoring = server.monitoring().unwrap();
    let output = Command::new("curl").args(["--silent", "--fail", &format!("{monitoring}/{query}")]).output();
    let said: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    let streams = said["account_details"][0]["stream_detail"].as_array().unwrap();
    let queue = streams.iter().find(|stream| stream["name"] == "deskhand-queue").unwrap();
    assert_eq!(queue["state"]["messages"], 0, "{said}");
}

#[test]
fn prometheus_is_told_where_the_figures_are() {
    let Some(documents) = yaml("prometheus.yaml") else { return };
    let job = &documents[0]["scrape_configs"][0];
    let target = job["static_configs"][0]["targets"][0].as_str().unwrap();
    let unit = fs::read_to_string(file("deskhand-worker.service")).unwrap();
    assert!(unit.contains(&format!("--metrics {target}")), "{target}");
    assert!(job["authorization"]["credentials_file"].as_str().unwrap().ends_with("/metrics.token"));
}

#[test]
fn the_image_starts_a_worker_as_a_user_without_rights() {
    let text = fs::read_to_string(file("Containerfile")).unwrap();
    let has = |line: &str| text.lines().any(|other| other == line);
    assert!(
        has("USER deskhand")
            && has(r#"ENTRYPOINT ["/usr/bin/deskhand", "worker"]"#)
            && has("STOPSIGNAL SIGTERM")
    );
    let stages: Vec<&str> = text.lines().filter(|line| line.starts_with("FROM ")).collect();
    assert_eq!(stages.len(), 2, "the compiler is not in the image");
}
