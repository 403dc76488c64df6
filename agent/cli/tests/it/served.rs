//! `deskhand serve` as a service: with a certificate, under other names, and as a unit of systemd.
//!
//! Parts are skipped without `openssl`, `python3` or `systemd-analyze`, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
};

use deskhand_testkit::programs::can_run;

use crate::{page::Service, support::World};

/// Asks over TLS, with code that shares nothing with the service: host, origin, method, path; prints status, cookie and body.
const CLIENT: &str = r#"
import http.client, ssl, sys
address, port, ca, token, host, origin, method, path = sys.argv[1:]
connection = http.client.HTTPSConnection(address, int(port), context=ssl.create_default_context(cafile=ca), timeout=60)
headers = {"Host": host, "Authorization": "Bearer " + token, "Content-Type": "application/json"}
if origin:
    headers["Origin"] = origin
connection.request(method, path, "{}" if method == "POST" else None, headers)
answer = connection.getresponse()
print(answer.status, answer.getheader("set-cookie"))
"#;

/// A certificate for these names that nobody signed, and its key.
fn certificate(world: &World) -> (PathBuf, PathBuf) {
    let (certificate, key) = (world.path().join("desk.pem"), world.path().join("desk.key"));
    let mut command = Command::new("openssl");
    command.args([
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    ]);
    command.args(["-subj", "/CN=desk", "-addext", "subjectAltName=DNS:desk.example.org,IP:127.0.0.1"]);
    let made = command.arg("-keyout").arg(&key).arg("-out").arg(&certificate).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    (certificate, key)
}

#[test]
fn another_address_needs_a_certificate_and_names() {
    let world = World::new();
    let refused = |arguments: &[&str]| {
        let shown = world.run(&[&["serve", "--port", "0"], arguments].concat());
        assert!(!shown.starts_with("exit 0"), "{shown}");
        shown
    };
    let shown = refused(&["--address", "0.0.0.0"]);
    assert!(shown.contains("--tls-certificate") && shown.contains("SSH"), "{shown}");
    let shown = refused(&["--address", "0.0.0.0", "--tls-certificate", "x"]);
    assert!(shown.contains("--tls-key"), "{shown}");
    let shown = refused(&["--address", "0.0.0.0", "--tls-certificate", "no.pem", "--tls-key", "no.key"]);
    assert!(shown.contains("--host"), "{shown}");
    let shown = refused(&["--tls-certificate", "no.pem", "--tls-key", "no.key"]);
    assert!(shown.contains("no.pem"), "{shown}");
}

#[test]
fn what_goes_over_tls_is_for_its_names_alone() {
    if !can_run(Vec::new(), &["openssl", "python3"]) {
        return;
    }
    let world = World::new();
    let (certificate, key) = certificate(&world);
    let mut command =
        world.command(&["serve", "--port", "0", "--host", "desk.example.org", "--tls-certificate"]);
    command.arg(&certificate).arg("--tls-key").arg(&key).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let url = BufReader::new(child.stdout.take().unwrap()).lines().next().unwrap().unwrap();
    let (named, token) = url.strip_prefix("https://").unwrap().split_once("/?token=").unwrap();
    let port = named.strip_prefix("desk.example.org:").unwrap().to_owned();
    let service = Service { child, address: format!("127.0.0.1:{port}"), token: token.to_owned() };
    let asks = |host: &str, origin: &str, method: &str, path: &str| {
        let mut command = Command::new("python3");
        command.args(["-c", CLIENT, "127.0.0.1", &port]).arg(&certificate);
        let output = command.args([token, host, origin, method, path]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(asks(named, "", "GET", "/").starts_with("200 "));
    assert!(asks(&service.address, "", "GET", "/").starts_with("200 "));
    assert!(asks(&format!("evil.example:{port}"), "", "GET", "/").starts_with("421 "));
    let let_in = asks(named, "", "GET", &format!("/?token={token}"));
    assert!(
        let_in.starts_with("303 ") && let_in.contains("; Secure") && let_in.contains("HttpOnly"),
        "{let_in}"
    );
    assert!(asks(named, &format!("https://{named}"), "POST", "/api/sessions").starts_with("400 "));
    assert!(asks(named, &format!("http://{named}"), "POST", "/api/sessions").starts_with("403 "));
    // Who speaks without TLS gets nothing.
    let plain = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| service.get("/").status));
    assert!(plain.is_err(), "{plain:?}");
    let shown = world.run(&["serve", "--url"]);
    assert!(shown.contains(&format!("https://{named}/?token={token}")), "{shown}");
    service.kill();
    let shown = world.run(&["serve", "--url"]);
    assert!(shown.contains("no service runs") && !shown.contains(token), "{shown}");
}

#[test]
fn a_unit_is_written_and_removed() {
    let world = World::new();
    let run = |arguments: &[&str]| {
        let mut command = world.command(arguments);
        // Whoever runs this test keeps their own units.
        let output = command.env_remove("DBUS_SESSION_BUS_ADDRESS").output().unwrap();
        world.shown(&output)
    };
    let arguments = ["serve", "--install", "--port", "4599", "--", "--model", "script:a b%$.toml"];
    let shown = run(&arguments);
    let file = world.path().join(".config/systemd/user/deskhand.service");
    assert!(shown.starts_with("exit 0") && shown.contains("deskhand.service"), "{shown}");
    assert!(
        shown.contains("systemctl --user enable --now deskhand.service"),
        "no systemd answers here: {shown}"
    );
    let unit = fs::read_to_string(&file).unwrap();
    let words = r#""serve" "--port=4599" "--address=127.0.0.1" "--" "--model" "script:a b%%$$.toml""#;
    assert!(
        unit.contains(words) && unit.contains("KillMode=process") && !unit.contains("PrivateTmp"),
        "{unit}"
    );
    if can_run(Vec::new(), &["systemd-analyze"]) {
        let mut command = Command::new("systemd-analyze");
        command.args(["verify", "--user"]).arg(&file);
        let checked =
            command.env("HOME", world.path()).env("XDG_RUNTIME_DIR", world.path()).output().unwrap();
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(checked.status.success() && !said.contains("deskhand.service:"), "{said}");
    }
    let shown = run(&["serve", "--uninstall"]);
    assert!(shown.starts_with("exit 0") && !file.exists(), "{shown}");
    assert!(!run(&["serve", "--uninstall"]).starts_with("exit 0"));
}
