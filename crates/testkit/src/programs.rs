//! Which tests can run here.

use std::env;

/// Variables that say that every test must run: GitHub and others set the first, `cargo xtask test` the second.
const ALL_MUST_RUN: [&str; 2] = ["CI", "DESKHAND_ALL_TESTS"];

/// Whether a test can run that needs these programs, where `missing` is what else it lacks. The only way to skip a test:
/// one that cannot run says so and is passed over.
///
/// # Panics
/// When something is missing although every test must run: with `CI` or `DESKHAND_ALL_TESTS` in the environment.
pub fn can_run(mut missing: Vec<String>, programs: &[&str]) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let installed = |program: &str| env::split_paths(&path).any(|folder| folder.join(program).is_file());
    missing.extend(programs.iter().filter(|program| !installed(program)).map(|&program| program.to_owned()));
    decide(&missing, ALL_MUST_RUN.into_iter().find(|name| is_set(&env::var(name).unwrap_or_default())))
}

/// Whether a variable is set to anything but a word for no.
fn is_set(value: &str) -> bool {
    !["", "0", "false"].contains(&value)
}

#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn decide(missing: &[String], must_run_by: Option<&str>) -> bool {
    if missing.is_empty() {
        return true;
    }
    let missing = missing.join(", ");
    assert!(
        must_run_by.is_none(),
        "not installed: {missing}; with {} in the environment no test is skipped; `cargo xtask setup` installs what they need",
        must_run_by.unwrap_or_default()
    );
    println!("skipped: not installed: {missing}");
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_whose_programs_are_there_runs() {
        assert!(can_run(Vec::new(), &["sh"]));
        assert!(decide(&[], Some("CI")));
    }

    #[test]
    fn a_test_is_skipped_where_it_may_be() {
        assert!(!decide(&["Xvfb".to_owned()], None));
    }

    #[test]
    #[should_panic(expected = "not installed: Xvfb, soffice; with CI in the environment no test is skipped")]
    fn a_test_that_must_run_fails_instead_of_being_skipped() {
        decide(&["Xvfb".to_owned(), "soffice".to_owned()], Some("CI"));
    }

    #[test]
    fn a_variable_counts_unless_it_says_no() {
        let check = |value: &str, expected: bool| assert_eq!(is_set(value), expected, "{value:?}");
        check("true", true);
        check("1", true);
        check("", false);
        check("0", false);
        check("false", false);
    }
}
