//! Which tests can run here.

/// Whether a test can run that needs these programs, where `missing` is what else it lacks. One that cannot is passed over
/// with a message, unless `DESKHAND_ALL_TESTS` is set: then it runs, and fails.
#[expect(clippy::print_stdout, reason = "a test that is passed over says so")]
pub fn can_run(mut missing: Vec<String>, programs: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = |program: &str| std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    missing.extend(programs.iter().filter(|program| !installed(program)).map(|&program| program.to_owned()));
    if missing.is_empty() || std::env::var_os("DESKHAND_ALL_TESTS").is_some() {
        return true;
    }
    println!("skipped: not installed: {}", missing.join(", "));
    false
}
