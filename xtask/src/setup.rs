//! `cargo xtask setup`: lists missing packages and tools with reasons, then installs them.

use std::{
    io::Write,
    process::{Command, ExitCode, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::{
    console,
    extras::Extra,
    packages::{LOCALES, PACKAGES, Package},
    tools::{TOOLS, Tool},
    wheels, workspace,
};

/// Options of `cargo xtask setup`.
#[derive(Args)]
pub struct SetupArguments {
    /// Only list what is missing; exit 1 if anything is.
    #[arg(long)]
    check: bool,
    /// Also build and install programs that Deskhand starts when they are needed: `local` for text in pictures and the meaning of texts.
    #[arg(long, value_name = "PROGRAMS", value_delimiter = ',')]
    with: Vec<Extra>,
}

/// Runs the command.
pub fn run(arguments: &SetupArguments) -> Result<ExitCode> {
    if arguments.check {
        return check();
    }
    ensure_installed()?;
    TOOLS.iter().try_for_each(Tool::ensure_installed)?;
    wheels::ensure_downloaded()?;
    arguments.with.iter().try_for_each(|extra| extra.install())?;
    let (packages, tools) = (PACKAGES.len(), TOOLS.len());
    console::progress(&format!("setup: all {packages} packages and {tools} tools are installed"));
    Ok(ExitCode::SUCCESS)
}

/// Lists what is missing and how to install it.
fn check() -> Result<ExitCode> {
    let packages = missing()?;
    let tools: Vec<&Tool> = TOOLS.iter().filter(|tool| !tool.is_installed()).collect();
    let wheels: Vec<_> = wheels::missing().collect();
    if packages.is_empty() && tools.is_empty() && wheels.is_empty() {
        console::result("nothing is missing");
        return Ok(ExitCode::SUCCESS);
    }
    for package in &packages {
        console::result(&format!("{:20} {}", package.name, package.reason));
    }
    for tool in &tools {
        console::result(&format!("{:20} {}", tool.name, tool.reason));
    }
    for (wheel, reason) in &wheels {
        console::result(&format!("{wheel:20} {reason}; `cargo xtask setup` downloads it"));
    }
    if !packages.is_empty() {
        console::result(&format!("\n{}", advice(&packages, is_debian())));
    }
    if !tools.is_empty() {
        let commands: Vec<String> = tools.iter().map(|tool| format!("\n  {}", tool.advice())).collect();
        console::result(&format!("\nrun:{}", commands.concat()));
    }
    Ok(ExitCode::FAILURE)
}

/// Whether all of these packages are installed, as dpkg says.
pub fn are_installed(names: &[&str]) -> Result<bool> {
    let output = Command::new("dpkg-query")
        .args(["--show", "--showformat", "${Package} ${db:Status-Status}\n"])
        .args(names)
        .stderr(Stdio::null())
        .output()
        .context("run dpkg-query")?;
    let listing = String::from_utf8_lossy(&output.stdout);
    Ok(names.iter().all(|name| listing.lines().any(|line| line == format!("{name} installed"))))
}

/// Installs packages.
pub fn install_packages(names: &[&str]) -> Result<()> {
    let prefix = rights()
        .with_context(|| format!("cannot install packages as this user; install {}", names.join(" ")))?;
    apt(prefix, &[&["install", "--yes", "--no-install-recommends"][..], names].concat())
}

/// Installs missing packages.
pub fn ensure_installed() -> Result<()> {
    let missing = missing()?;
    if missing.is_empty() {
        return generate_locales();
    }
    ensure!(is_debian(), "missing {} programs\n{}", missing.len(), advice(&missing, false));
    console::progress("setup: missing packages:");
    for package in &missing {
        console::progress(&format!("  {:20} {}", package.name, package.reason));
    }
    let Some(prefix) = rights() else {
        anyhow::bail!(
            "installing packages requires root, or sudo without a password\n{}",
            advice(&missing, true)
        );
    };
    console::progress("setup: installing");
    install(prefix, &missing)?;
    generate_locales()
}

/// Generates the missing locales where that is possible; tests that need them are skipped elsewhere.
fn generate_locales() -> Result<()> {
    let listed = locales();
    let missing: Vec<_> = LOCALES.iter().filter(|(name, _)| !has_locale(&listed, name)).collect();
    if missing.is_empty() || !is_debian() || !workspace::is_program("localedef") {
        return Ok(());
    }
    let Some(prefix) = rights() else { return Ok(()) };
    for (name, definition) in missing {
        console::progress(&format!("setup: localedef {name}"));
        let words = [prefix, &["localedef", "-i", definition, "-f", "UTF-8", name][..]].concat();
        let (program, arguments) = words.split_first().context("a command has a program")?;
        let status = Command::new(program).args(arguments).status().context("run localedef")?;
        ensure!(status.success(), "localedef cannot generate {name}: {status}");
    }
    Ok(())
}

/// The generated locales in lower case, one a line; none if the system cannot list them.
fn locales() -> String {
    let listed = Command::new("locale").arg("-a").stderr(Stdio::null()).output();
    listed.map(|output| String::from_utf8_lossy(&output.stdout).to_lowercase()).unwrap_or_default()
}

fn has_locale(listed: &str, name: &str) -> bool {
    // It lists `UTF-8` as `utf8`.
    listed.lines().any(|line| line == name.to_lowercase().replace("utf-8", "utf8"))
}

/// The missing packages; on systems without dpkg, those whose program is not found.
fn missing() -> Result<Vec<&'static Package>> {
    if !is_debian() {
        return Ok(PACKAGES
            .iter()
            .filter(|package| !package.program.is_empty() && !workspace::is_program(package.program))
            .collect());
    }
    // Exits with 1 for unknown packages, but the listing is still correct.
    let output = Command::new("dpkg-query")
        .args(["--show", "--showformat", "${Package} ${db:Status-Status}\n"])
        .args(PACKAGES.iter().map(|package| package.name))
        .stderr(Stdio::null())
        .output()
        .context("run dpkg-query")?;
    let listing = String::from_utf8_lossy(&output.stdout);
    Ok(not_installed(PACKAGES, &listing))
}

fn not_installed<'a>(packages: &'a [Package], listing: &str) -> Vec<&'a Package> {
    packages
        .iter()
        .filter(|package| !listing.lines().any(|line| line == format!("{} installed", package.name)))
        .collect()
}

fn is_debian() -> bool {
    workspace::is_program("dpkg-query") && workspace::is_program("apt-get")
}

/// The command prefix to run as root; `None` if not possible.
fn rights() -> Option<&'static [&'static str]> {
    if rustix::process::geteuid().is_root() {
        return Some(&[]);
    }
    let sudo = Command::new("sudo")
        .args(["--non-interactive", "true"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    sudo.is_ok_and(|status| status.success()).then_some(&["sudo", "--non-interactive"])
}

fn install(prefix: &[&str], missing: &[&Package]) -> Result<()> {
    let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
    let start = Instant::now();
    console::progress("setup: apt-get update");
    apt(prefix, &["update"])?;
    if let Some(size) = size_of(&names) {
        console::progress(&format!("setup: {size}"));
    }
    console::progress(&format!("setup: apt-get install {}", names.join(" ")));
    let install = ["install", "--yes", "--no-install-recommends"];
    apt(prefix, &[&install[..], &names].concat())?;
    console::progress(&format!("setup: installed in {}", console::duration(start.elapsed())));
    Ok(())
}

/// Runs apt-get quietly; its output is shown on failure.
fn apt(prefix: &[&str], arguments: &[&str]) -> Result<()> {
    // `env` is needed because sudo does not pass variables on.
    let words = [prefix, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"], arguments].concat();
    let Some((program, rest)) = words.split_first() else {
        anyhow::bail!("no command to run");
    };
    let output = Command::new(program)
        .args(rest)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("run {program}"))?;
    if !output.status.success() {
        std::io::stderr().write_all(&output.stdout)?;
        std::io::stderr().write_all(&output.stderr)?;
    }
    ensure!(output.status.success(), "apt-get {} exited with {}", arguments.join(" "), output.status);
    Ok(())
}

/// The installation size as reported by a simulated apt-get run.
fn size_of(names: &[&str]) -> Option<String> {
    let output = Command::new("apt-get")
        .env("LC_ALL", "C")
        .args(["install", "--assume-no", "--no-install-recommends"])
        .args(names)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    size_in(&String::from_utf8_lossy(&output.stdout))
}

fn size_in(listing: &str) -> Option<String> {
    let lines: Vec<&str> = listing
        .lines()
        .filter(|line| {
            line.starts_with("Need to get ")
                || line.starts_with("After this operation")
                || line.trim_start().starts_with("Download size:")
                || line.trim_start().starts_with("Space needed:")
        })
        .map(str::trim)
        .collect();
    (!lines.is_empty()).then(|| lines.join(" "))
}

/// Instructions to install what is missing.
fn advice(missing: &[&Package], debian: bool) -> String {
    if debian {
        let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
        return format!(
            "run as root:\n  apt-get update && apt-get install --no-install-recommends {}",
            names.join(" ")
        );
    }
    let mut text = "apt-get not found; install these programs manually:".to_owned();
    for package in missing {
        text.push_str(&format!("\n  {:12} {}", package.program, package.reason));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[Package] = &[
        Package { name: "xvfb", program: "Xvfb", reason: "a screen" },
        Package { name: "dbus", program: "dbus-daemon", reason: "a bus" },
    ];

    #[test]
    fn only_fully_installed_packages_count() {
        let check = |listing: &str, expected: &[&str]| {
            let missing = not_installed(TWO, listing);
            assert_eq!(missing.iter().map(|package| package.name).collect::<Vec<_>>(), expected, "{listing}");
        };
        check("xvfb installed\ndbus installed\n", &[]);
        check("xvfb installed\n", &["dbus"]);
        check("xvfb config-files\ndbus installed\n", &["xvfb"]);
        check("xvfb half-installed\ndbus-x11 installed\n", &["xvfb", "dbus"]);
        check("", &["xvfb", "dbus"]);
    }

    #[test]
    fn the_size_is_parsed_from_both_apt_formats() {
        let old = "0 upgraded\nNeed to get 120 MB of archives.\nAfter this operation, 400 MB of additional disk \
                   space will be used.\nDo you want to continue? [Y/n] N\n";
        assert_eq!(
            size_in(old).unwrap(),
            "Need to get 120 MB of archives. After this operation, 400 MB of additional disk space will be used."
        );
        let new = "Summary:\n  Download size: 120 MB\n  Space needed: 400 MB / 10 GB available\n";
        assert_eq!(size_in(new).unwrap(), "Download size: 120 MB Space needed: 400 MB / 10 GB available");
        assert_eq!(size_in("E: Unable to locate package\n"), None);
    }

    #[test]
    fn the_advice_is_a_complete_command() {
        let all: Vec<&Package> = TWO.iter().collect();
        assert_eq!(
            advice(&all, true),
            "run as root:\n  apt-get update && apt-get install --no-install-recommends xvfb dbus"
        );
        assert!(advice(&all, false).contains("\n  Xvfb         a screen\n  dbus-daemon  a bus"));
    }

    #[test]
    fn every_package_is_listed_once_with_a_reason() {
        for (index, package) in PACKAGES.iter().enumerate() {
            assert!(!package.reason.is_empty(), "{} has no reason", package.name);
            assert!(
                PACKAGES[..index].iter().all(|other| other.name != package.name),
                "{} twice",
                package.name
            );
        }
    }
}
