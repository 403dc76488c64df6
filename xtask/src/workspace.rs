//! The workspace: its root, its files, and how to run cargo in it.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

/// The workspace root: the parent of this crate.
pub fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

/// The cargo that runs xtask, in the workspace root.
///
/// Variables set by `cargo run` are removed: build scripts such as ring's watch them and would rerun whenever the outer
/// and inner cargo alternate.
pub fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(is_set_by_cargo_run) {
            command.env_remove(name);
        }
    }
    command
}

fn is_set_by_cargo_run(name: &str) -> bool {
    name.starts_with("CARGO_PKG_")
        || name.starts_with("CARGO_MANIFEST_")
        || matches!(
            name,
            "CARGO" | "CARGO_BIN_NAME" | "CARGO_CRATE_NAME" | "CARGO_PRIMARY_PACKAGE" | "OUT_DIR"
        )
}

/// All files that git tracks or would track, sorted, relative to the root.
pub fn files() -> Result<Vec<PathBuf>> {
    // The checkout may belong to another user, as in a container; listing files is harmless.
    let listing = stdout(Command::new("git").current_dir(root()).args([
        "-c",
        "safe.directory=*",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]))?;
    let mut paths: Vec<PathBuf> = listing
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
        // Deleted but not committed.
        .filter(|path| root().join(path).is_file())
        .collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// Returns the output of a command, or an error with its stderr.
pub fn stdout(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("run {name}"))?;
    ensure!(
        output.status.success(),
        "{name} exited with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    String::from_utf8(output.stdout).with_context(|| format!("decode the output of {name}"))
}

/// Returns `true` if a program is on `PATH`.
pub fn is_program(name: &str) -> bool {
    find_program(name).is_some()
}

/// Finds a program on `PATH`. Nothing of the product is used for it: set-up runs before that can be built.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_of_cargo_run_are_removed() {
        let check = |name: &str, expected: bool| assert_eq!(is_set_by_cargo_run(name), expected, "{name}");
        check("CARGO_PKG_VERSION", true);
        check("CARGO_MANIFEST_DIR", true);
        check("CARGO", true);
        check("CARGO_HOME", false);
        check("CARGO_TARGET_DIR", false);
        check("CARGO_NET_OFFLINE", false);
        check("PATH", false);
    }

    #[test]
    fn lists_workspace_files() {
        let files = files().unwrap();
        assert!(files.contains(&PathBuf::from("Cargo.toml")));
        assert!(files.contains(&PathBuf::from("xtask/src/workspace.rs")));
        assert!(!files.iter().any(|path| path.starts_with("target")));
    }

    #[test]
    fn a_failed_command_shows_its_stderr() {
        let error = stdout(Command::new("git").arg("no-such-subcommand")).unwrap_err();
        assert!(error.to_string().contains("no-such-subcommand"), "{error}");
    }
}
