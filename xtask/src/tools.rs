//! The programs that `cargo xtask` needs beyond cargo, with their versions and reasons. A missing one is built by
//! `cargo install`, so that no check is skipped.

use std::{
    env, fmt,
    path::PathBuf,
    process::{Command, ExitStatus, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, ensure};

use crate::{
    console,
    workspace::{self, cargo},
};

/// A program installed from the cargo registry.
#[derive(Debug, PartialEq, Eq)]
pub struct Tool {
    /// The package name, which is also the program name.
    pub name: &'static str,
    /// The version to install. A later compatible version is accepted.
    pub version: Version,
    /// `cargo install` options that disable unneeded features.
    features: &'static [&'static str],
    /// What it is for.
    pub reason: &'static str,
}

/// The test runner.
pub const NEXTEST: Tool = Tool {
    name: "cargo-nextest",
    version: Version(0, 9, 143),
    features: &["--no-default-features"],
    reason: "runs each test in its own process, with a timeout",
};

/// The dependency checker.
pub const DENY: Tool = Tool {
    name: "cargo-deny",
    version: Version(0, 20, 2),
    features: &[],
    reason: "checks licences, sources and banned crates of dependencies",
};

/// The book builder.
pub const MDBOOK: Tool = Tool {
    name: "mdbook",
    version: Version(0, 5, 4),
    features: &["--no-default-features", "--features", "search"],
    reason: "builds the documentation as a book",
};

/// All tools.
pub const TOOLS: &[Tool] = &[NEXTEST, DENY, MDBOOK];

/// Build settings: these programs run for seconds, so compile time matters more than speed.
const BUILD_SETTINGS: &[(&str, &str)] = &[("CARGO_PROFILE_DEV_DEBUG", "false"), ("CARGO_INCREMENTAL", "0")];

/// A version: major, minor, patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u64, u64, u64);

impl Version {
    /// Finds the first version in a program's output: `mdbook v0.5.4`.
    fn find(text: &str) -> Option<Self> {
        text.split_whitespace().find_map(|word| {
            let mut numbers = word.strip_prefix('v').unwrap_or(word).splitn(3, '.').map(str::parse);
            match (numbers.next(), numbers.next(), numbers.next()) {
                (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch))) => Some(Self(major, minor, patch)),
                _ => None,
            }
        })
    }

    /// Parses a version in a manifest, where the patch may be missing: `1.90`.
    #[cfg(test)]
    pub fn of_manifest(text: &str) -> Option<Self> {
        Self::find(text).or_else(|| Self::find(&format!("{text}.0")))
    }

    /// Returns `true` if this version satisfies the wanted one by cargo's compatibility rules.
    fn fits(self, wanted: Self) -> bool {
        let same_series = if wanted.0 == 0 { (self.0, self.1) == (0, wanted.1) } else { self.0 == wanted.0 };
        same_series && self >= wanted
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Tool {
    /// Returns `true` if a compatible version is installed.
    pub fn is_installed(&self) -> bool {
        self.installed_version().is_some_and(|version| version.fits(self.version))
    }

    /// The installed version, if the program is found and reports it.
    fn installed_version(&self) -> Option<Version> {
        let output = self.program()?.arg("--version").stderr(Stdio::null()).output().ok()?;
        Version::find(&String::from_utf8_lossy(&output.stdout))
    }

    /// The command for the program, if found: a cargo subcommand, or on `PATH` or in cargo's `bin` folder.
    fn program(&self) -> Option<Command> {
        if let Some(subcommand) = self.name.strip_prefix("cargo-") {
            let mut command = cargo();
            command.arg(subcommand);
            return Some(command);
        }
        let program = workspace::find_program(self.name)
            .or_else(|| Some(cargo_folder()?.join("bin").join(self.name)).filter(|file| file.is_file()))?;
        let mut command = Command::new(program);
        command.current_dir(workspace::root());
        Some(command)
    }

    /// The command for the program, run in the workspace root; installs it first if missing.
    pub fn command(&self) -> Result<Command> {
        self.ensure_installed()?;
        self.program().with_context(|| {
            format!("find {}: add the folder that `cargo install` writes to, to PATH", self.name)
        })
    }

    /// Installs the program unless a compatible version is installed.
    pub fn ensure_installed(&self) -> Result<()> {
        let found = self.installed_version();
        if found.is_some_and(|version| version.fits(self.version)) {
            return Ok(());
        }
        let found = found.map_or_else(|| "not installed".to_owned(), |version| format!("version {version}"));
        console::progress(&format!(
            "tools: {} is {found}; building version {}: {}",
            self.name, self.version, self.reason
        ));
        let start = Instant::now();
        let status = self.install().with_context(|| format!("run cargo install {}", self.name))?;
        ensure!(
            status.success(),
            "`{}` exited with {status}; install version {} manually and retry",
            self.advice(),
            self.version
        );
        console::progress(&format!("tools: built {} in {}", self.name, console::duration(start.elapsed())));
        Ok(())
    }

    fn install(&self) -> std::io::Result<ExitStatus> {
        // With its own lockfile and the registry as source, independent of this workspace.
        cargo()
            .args(["install", "--quiet", "--locked", "--force", "--profile", "dev"])
            .args(["--version", &self.version.to_string(), self.name])
            .args(self.features)
            .envs(BUILD_SETTINGS.iter().copied())
            .status()
    }

    /// The command to install it.
    pub fn advice(&self) -> String {
        format!("cargo install --locked {} --version {}", self.name, self.version)
    }
}

/// Cargo's home folder.
fn cargo_folder() -> Option<PathBuf> {
    env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_parsed_from_program_output() {
        let check =
            |text: &str, expected: Option<Version>| assert_eq!(Version::find(text), expected, "{text}");
        check("cargo-nextest 0.9.143 (60fa45f63 2026-08-04)\nrelease: 0.9.143\n", Some(Version(0, 9, 143)));
        check("mdbook v0.5.4\n", Some(Version(0, 5, 4)));
        check("cargo-deny 0.20\n", None);
        check("", None);
    }

    #[test]
    fn a_later_compatible_version_fits() {
        let check = |found: Version, wanted: Version, expected: bool| {
            assert_eq!(found.fits(wanted), expected, "{found} for {wanted}");
        };
        check(Version(0, 9, 143), Version(0, 9, 143), true);
        check(Version(0, 9, 151), Version(0, 9, 143), true);
        check(Version(0, 9, 98), Version(0, 9, 143), false);
        check(Version(0, 10, 0), Version(0, 9, 143), false);
        check(Version(1, 9, 150), Version(0, 9, 143), false);
        check(Version(1, 4, 0), Version(1, 2, 7), true);
        check(Version(2, 4, 0), Version(1, 2, 7), false);
    }

    #[test]
    fn every_tool_is_listed_once_with_a_reason() {
        for (index, tool) in TOOLS.iter().enumerate() {
            assert!(!tool.reason.is_empty(), "{} has no reason", tool.name);
            assert!(TOOLS[..index].iter().all(|other| other.name != tool.name), "{} twice", tool.name);
        }
    }
}
