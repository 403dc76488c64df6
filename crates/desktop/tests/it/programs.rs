//! Which tests can run here.

use deskhand_desktop::linux::diagnose;

/// Whether a virtual desktop with these programs can be started here. A test without them is passed over with a
/// message, unless `DESKHAND_ALL_TESTS` is set: then it runs, and fails.
pub(crate) fn has_programs(programs: &[&str]) -> bool {
    let mut missing: Vec<String> = diagnose()
        .into_iter()
        .filter(|finding| finding.required && !finding.ok)
        .map(|finding| finding.name)
        .collect();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = |program: &str| std::env::split_paths(&path).any(|folder| folder.join(program).exists());
    missing.extend(programs.iter().filter(|program| !installed(program)).map(|&program| program.to_owned()));
    if missing.is_empty() || std::env::var_os("DESKHAND_ALL_TESTS").is_some() {
        return true;
    }
    println!("not run: {missing:?}");
    false
}
