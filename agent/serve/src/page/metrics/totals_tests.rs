//! Counters over restarts and removed sessions.

use super::{MetricFamily, Totals};

fn counted(totals: &mut Totals, values: &[(&str, f64)]) -> Vec<(String, f64)> {
    let mut figure = MetricFamily::counter("deskhand_calls", "Calls");
    values.iter().for_each(|(verdict, value)| figure.add(&[("verdict", verdict)], *value));
    let mut figures = [figure];
    totals.keep(&mut figures);
    let [figure] = figures;
    let mut counted: Vec<(String, f64)> =
        figure.values.into_iter().map(|(labels, value)| (labels[0].1.clone(), value)).collect();
    counted.sort_by(|one, two| one.0.cmp(&two.0));
    counted
}

#[test]
fn counters_never_go_backwards() {
    let folder = tempfile::tempdir().unwrap();
    let mut totals = Totals::in_folder(folder.path());
    let pair = |name: &str, value: f64| (name.to_owned(), value);
    assert_eq!(
        counted(&mut totals, &[("seen", 10.0), ("read", 4.0)]),
        [pair("read", 4.0), pair("seen", 10.0)]
    );
    // A session with 6 of them is removed, and one with all that were read; then the service is started again.
    assert_eq!(counted(&mut totals, &[("seen", 4.0)]), [pair("read", 4.0), pair("seen", 10.0)]);
    let mut totals = Totals::in_folder(folder.path());
    assert_eq!(counted(&mut totals, &[("seen", 5.0)]), [pair("read", 4.0), pair("seen", 11.0)]);
    assert_eq!(
        counted(&mut totals, &[("seen", 5.0), ("read", 1.0)]),
        [pair("read", 5.0), pair("seen", 11.0)]
    );
}
