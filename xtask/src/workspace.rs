//! Where the workspace is, what is in it, and how its cargo is called.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

/// The root of the workspace: the folder above this crate.
pub(crate) fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

/// The cargo that runs these commands, in the root of the workspace.
///
/// What `cargo run` sets for its program is taken out again: build scripts such as ring's watch these variables,
/// and would run anew each time the outer and the inner cargo take turns.
pub(crate) fn cargo() -> Command {
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

/// Every file that git tracks or would track, by its path below the root, in order.
pub(crate) fn files() -> Result<Vec<PathBuf>> {
    // A checkout may belong to another user, as in a container; reading the list of its files is harmless.
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
        // Deleted, but not yet committed.
        .filter(|path| root().join(path).is_file())
        .collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// What a command prints, or an error with what it complains about.
pub(crate) fn stdout(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("run {name}"))?;
    ensure!(
        output.status.success(),
        "{name} ended with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    String::from_utf8(output.stdout).with_context(|| format!("read what {name} printed"))
}

/// Whether a program is found on `PATH`.
pub(crate) fn is_program(name: &str) -> bool {
    find_program(name).is_some()
}

/// The file of a program, as found on `PATH`.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cargo_run_sets_is_taken_out() {
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
    fn the_files_of_the_workspace_are_listed() {
        let files = files().unwrap();
        assert!(files.contains(&PathBuf::from("Cargo.toml")));
        assert!(files.contains(&PathBuf::from("xtask/src/workspace.rs")));
        assert!(!files.iter().any(|path| path.starts_with("target")));
    }

    #[test]
    fn a_failed_command_tells_its_complaint() {
        let error = stdout(Command::new("git").arg("no-such-subcommand")).unwrap_err();
        assert!(error.to_string().contains("no-such-subcommand"), "{error}");
    }
}
