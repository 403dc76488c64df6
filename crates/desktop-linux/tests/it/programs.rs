//! Which tests can run here.
use deskhand_desktop_linux::diagnose;
use deskhand_testkit::programs::can_run;

/// Whether a virtual desktop with these programs can be started here. A test without them is passed over with a
/// message, unless `DESKHAND_ALL_TESTS` is set: then it runs, and fails.
pub(crate) fn has_programs(programs: &[&str]) -> bool {
    let findings = diagnose().into_iter().filter(|finding| finding.required && !finding.ok);
    can_run(findings.map(|finding| finding.name).collect(), programs)
}
