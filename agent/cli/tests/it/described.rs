//! The API of the page is as its OpenAPI document says: Schemathesis, which shares no code with the service, makes requests that the
//! document allows and requests that it does not allow, and finds nothing wrong with the answers.
//!
//! Skipped if `cargo xtask setup` has not installed it, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use crate::{
    page::{Ending, Service},
    support::World,
};

/// What `cargo xtask setup` installs.
const SCHEMATHESIS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/wheels/schemathesis/bin/schemathesis");
/// The most requests of one kind for each operation, and how long all may take together, in seconds.
const EXAMPLES_MAX: &str = "8";
const SECONDS_MAX: &str = "90";
/// Operations that answer until somebody goes away: streams and WebSockets.
const ENDLESS: &str = "/(run|lines|events|watch|screen)$";

#[test]
fn the_api_is_as_its_description_says() {
    if !Path::new(SCHEMATHESIS).is_file() {
        let all = std::env::var_os("DESKHAND_ALL_TESTS").is_some();
        assert!(!all, "{SCHEMATHESIS} is missing: run `cargo xtask setup`");
        return;
    }
    let world = World::new();
    let _ending = Ending(&world);
    // No model is configured, so that no session begins.
    let service = Service::start(&world, &[]);
    let output = Command::new(SCHEMATHESIS)
        .args(["run", &format!("http://{}/api/openapi.json", service.address), "--no-color", "--seed", "52"])
        .args(["-H", &format!("Authorization: {}", service.bearer()), "--max-examples", EXAMPLES_MAX])
        .args([
            "--max-time",
            SECONDS_MAX,
            "--phases",
            "examples,coverage,fuzzing",
            "--exclude-path-regex",
            ENDLESS,
        ])
        .args(["--generation-database", "none"])
        .current_dir(world.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(output.status.success(), "{said}");
    // It has tried what there is.
    assert!(said.contains("Coverage") && said.contains("Fuzzing"), "{said}");
}

#[test]
fn a_method_that_is_not_there_is_answered_with_those_that_are() {
    let world = World::new();
    let service = Service::start(&world, &[]);
    let bearer = service.bearer();
    for (path, allowed) in [
        ("/api/sessions", "POST"),
        ("/api/sessions/0/do", "POST"),
        ("/api/sessions/0/fork", "POST"),
        ("/api/sessions/0/resume", "POST"),
        ("/api/workflows", "GET"),
        ("/", "GET"),
    ] {
        for method in ["TRACE", "PUT", "PATCH"] {
            for key in ["one", "", &"k".repeat(300)] {
                let headers = [("Authorization", bearer.as_str()), ("Idempotency-Key", key)];
                let answer = service.asks(&format!("{method} {path}"), &headers, "");
                assert_eq!(answer.status, 405, "{method} {path}: {}", answer.body);
                let allow = answer.head.lines().find_map(|line| line.strip_prefix("allow: "));
                assert!(
                    allow.is_some_and(|allow| allow.contains(allowed)),
                    "{method} {path}: {}",
                    answer.head
                );
            }
        }
    }
}

#[test]
fn the_scheme_of_the_token_is_the_same_in_any_case() {
    let world = World::new();
    let service = Service::start(&world, &[]);
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let token = format!("{scheme} {}", service.token);
        assert_eq!(service.status("GET /api/sessions", &[("Authorization", &token)]), 200, "{scheme}");
    }
    let basic = format!("Basic {}", service.token);
    assert_eq!(service.status("GET /api/sessions", &[("Authorization", &basic)]), 401);
}
