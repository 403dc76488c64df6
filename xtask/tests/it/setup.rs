//! `cargo xtask setup` on simulated systems: `PATH` contains only small scripts.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    process::{Command, Output},
};

use tempfile::TempDir;

/// All packages are installed except those listed in the file `missing`.
const DPKG_QUERY: &str = r#"
shift 3
for package in "$@"; do
    case " $(cat "$HERE/missing" 2>/dev/null) " in
        *" $package "*) ;;
        *) echo "$package installed" ;;
    esac
done
exit 1
"#;

/// Logs its calls and reports sizes; fails to install if the file `broken` exists.
const APT_GET: &str = r#"
echo "$DEBIAN_FRONTEND apt-get $*" >> "$HERE/calls"
case "$*" in
    *--assume-no*) echo "Need to get 1,234 kB of archives."; exit 1 ;;
    *install*) if [ -e "$HERE/broken" ]; then echo "E: no space left"; exit 100; fi ;;
esac
"#;

/// Reports every tool in the wanted version except those listed in the file `missing`, and logs installs; fails if the file
/// `broken` exists.
const CARGO: &str = r#"
case "$1 $2" in
    "nextest --version") tool="cargo-nextest 0.9.143" ;;
    "deny --version") tool="cargo-deny 0.20.2" ;;
    install*) echo "cargo $*" >> "$HERE/calls"; [ ! -e "$HERE/broken" ]; exit ;;
esac
case " $(cat "$HERE/missing" 2>/dev/null) " in
    *" ${tool%% *} "*) exit 101 ;;
    *) echo "$tool" ;;
esac
"#;

const MDBOOK: &str = "echo mdbook v0.5.4\n";

const SUDO: &str = "shift; exec \"$@\"\n";

/// A system with these scripts, a shell, and the tools that scripts need.
fn system(scripts: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, body) in scripts {
        let path = folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for name in ["env", "cat"] {
        symlink(Path::new("/usr/bin").join(name), folder.path().join(name)).unwrap();
    }
    folder
}

fn debian() -> TempDir {
    system(&[
        ("dpkg-query", DPKG_QUERY),
        ("apt-get", APT_GET),
        ("sudo", SUDO),
        ("cargo", CARGO),
        ("mdbook", MDBOOK),
    ])
}

fn setup(system: &TempDir, arguments: &[&str]) -> (Output, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("setup")
        .args(arguments)
        .env("PATH", system.path())
        .env("HERE", system.path())
        .env("CARGO", system.path().join("cargo"))
        .env("CARGO_HOME", system.path())
        .env_remove("DEBIAN_FRONTEND")
        .output()
        .unwrap();
    let text = [output.stdout.clone(), output.stderr.clone()].concat();
    (output, String::from_utf8(text).unwrap())
}

fn calls(system: &TempDir) -> String {
    fs::read_to_string(system.path().join("calls")).unwrap_or_default()
}

#[test]
fn a_complete_system_is_unchanged() {
    let system = debian();
    let (output, text) = setup(&system, &[]);
    assert!(output.status.success(), "{text}");
    assert_eq!(calls(&system), "");
    let (output, text) = setup(&system, &["--check"]);
    assert!(output.status.success(), "{text}");
    assert_eq!(text, "nothing is missing\n");
}

#[test]
fn missing_packages_are_listed_and_installed() {
    let system = debian();
    fs::write(system.path().join("missing"), "xvfb mousepad").unwrap();
    let (output, text) = setup(&system, &[]);
    assert!(output.status.success(), "{text}");
    let announced = text.find("the screen of a virtual desktop").unwrap();
    let sized = text.find("Need to get 1,234 kB").unwrap();
    let installed = text.find("apt-get install xvfb mousepad").unwrap();
    assert!(announced < sized && sized < installed, "{text}");
    let expected = "noninteractive apt-get -qq update\n \
                    apt-get install --assume-no --no-install-recommends xvfb mousepad\n\
                    noninteractive apt-get -qq install --yes --no-install-recommends xvfb mousepad\n";
    assert_eq!(calls(&system), expected);
}

#[test]
fn missing_and_outdated_tools_are_built() {
    let system = debian();
    fs::write(system.path().join("missing"), "cargo-deny").unwrap();
    fs::write(system.path().join("mdbook"), "#!/bin/sh\necho mdbook v0.4.52\n").unwrap();
    let (output, text) = setup(&system, &[]);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("tools: cargo-deny is not installed; building version 0.20.2: checks"), "{text}");
    assert!(text.contains("tools: mdbook is version 0.4.52; building version 0.5.4: builds"), "{text}");
    let expected = "cargo install --quiet --locked --force --profile dev --version 0.20.2 cargo-deny\n\
                    cargo install --quiet --locked --force --profile dev --version 0.5.4 mdbook \
                    --no-default-features --features search\n";
    assert_eq!(calls(&system), expected);

    let (output, text) = setup(&system, &["--check"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("cargo-deny           checks licences"), "{text}");
    let advice = "run:\n  cargo install --locked cargo-deny --version 0.20.2\n  \
                  cargo install --locked mdbook --version 0.5.4\n";
    assert!(text.ends_with(advice), "{text}");
    assert_eq!(calls(&system), expected, "a check installs nothing");
}

#[test]
fn a_failed_tool_build_gives_advice() {
    let system = debian();
    fs::write(system.path().join("missing"), "cargo-nextest").unwrap();
    fs::write(system.path().join("broken"), "").unwrap();
    let (output, text) = setup(&system, &[]);
    assert_eq!(output.status.code(), Some(1));
    let expected = "error: `cargo install --locked cargo-nextest --version 0.9.143` exited with exit status: 1; \
                    install version 0.9.143 manually and retry\n";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn a_check_only_prints_the_command() {
    let system = debian();
    fs::write(system.path().join("missing"), "openbox").unwrap();
    let (output, text) = setup(&system, &["--check"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("openbox              the window manager"), "{text}");
    assert!(text.contains("apt-get update && apt-get install --no-install-recommends openbox\n"), "{text}");
    assert_eq!(calls(&system), "");
}

#[test]
fn a_failed_installation_shows_apt_output() {
    let system = debian();
    fs::write(system.path().join("missing"), "dbus").unwrap();
    fs::write(system.path().join("broken"), "").unwrap();
    let (output, text) = setup(&system, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("E: no space left"), "{text}");
    assert!(
        text.contains(
            "error: apt-get install --yes --no-install-recommends dbus exited with exit status: 100"
        ),
        "{text}"
    );
}

#[test]
fn a_system_without_apt_lists_the_programs() {
    let system = system(&[("Xvfb", ""), ("openbox", ""), ("dbus-daemon", ""), ("grep", ""), ("setpriv", "")]);
    let (output, text) = setup(&system, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("install these programs manually"), "{text}");
    assert!(text.contains("\n  soffice ") && text.contains("\n  mousepad "), "{text}");
    assert!(!text.contains("Xvfb"), "{text}");
}
