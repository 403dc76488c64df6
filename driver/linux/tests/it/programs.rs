//! Which tests can run on this machine.
use deskhand_desktop_linux::diagnose;
use deskhand_testkit::programs::can_run;

/// Returns `true` if a virtual desktop with these programs can be started here. Otherwise a test prints a message and passes,
/// unless `DESKHAND_ALL_TESTS` is set: then it runs, and fails.
pub(crate) fn has_programs(programs: &[&str]) -> bool {
    let findings = diagnose().into_iter().filter(|finding| finding.required && !finding.ok);
    can_run(findings.map(|finding| finding.name).collect(), programs)
}
