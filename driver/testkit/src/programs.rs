//! Skips tests whose programs are not installed.

use std::{env, path::Path};

use deskhand_process::find_program;

/// Variables that forbid skipping: CI services set the first, `cargo xtask test` the second.
const ALL_MUST_RUN: [&str; 2] = ["CI", "DESKHAND_ALL_TESTS"];

/// Returns `true` if a test that needs these programs can run; `missing` lists what else is missing. The only way to skip a test: a
/// skipped test prints the reason.
///
/// # Panics
/// If something is missing while skipping is forbidden by `CI` or `DESKHAND_ALL_TESTS`.
pub fn can_run(mut missing: Vec<String>, programs: &[&str]) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let is_missing = |program: &str| find_program(program, &path, Path::new("")).is_none();
    missing.extend(programs.iter().filter(|program| is_missing(program)).map(|&program| program.to_owned()));
    decide(&missing, ALL_MUST_RUN.into_iter().find(|name| is_set(&env::var(name).unwrap_or_default())))
}

/// Returns `true` if a variable is set to anything but a false value.
fn is_set(value: &str) -> bool {
    !["", "0", "false"].contains(&value)
}

#[expect(clippy::print_stdout, reason = "a skipped test prints the reason")]
fn decide(missing: &[String], must_run_by: Option<&str>) -> bool {
    if missing.is_empty() {
        return true;
    }
    let missing = missing.join(", ");
    assert!(
        must_run_by.is_none(),
        "not installed: {missing}; {} forbids skipping tests; run `cargo xtask setup` to install what they need",
        must_run_by.unwrap_or_default()
    );
    println!("skipped: not installed: {missing}");
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_if_the_programs_are_installed() {
        assert!(can_run(Vec::new(), &["sh"]));
        assert!(decide(&[], Some("CI")));
    }

    #[test]
    fn skips_if_allowed() {
        assert!(!decide(&["Xvfb".to_owned()], None));
    }

    #[test]
    #[should_panic(expected = "not installed: Xvfb, soffice; CI forbids skipping tests")]
    fn fails_if_skipping_is_forbidden() {
        decide(&["Xvfb".to_owned(), "soffice".to_owned()], Some("CI"));
    }

    #[test]
    fn false_values_do_not_count() {
        let check = |value: &str, expected: bool| assert_eq!(is_set(value), expected, "{value:?}");
        check("true", true);
        check("1", true);
        check("", false);
        check("0", false);
        check("false", false);
    }
}
