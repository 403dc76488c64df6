//! Tests of the work that a look-up takes.

use super::*;
use crate::experience::{index::CANDIDATES_MAX, sample};

/// The most work of some look-ups in a store with this many experiences.
fn work(count: usize) -> ExperienceLookupCost {
    let folder = tempfile::tempdir().unwrap();
    let store = ExperienceStore::open(folder.path()).unwrap();
    store.add_all((0..count).map(sample).collect()).unwrap();
    // Some that are not in the index yet.
    for number in 0..10 {
        store.add(sample(count + number)).unwrap();
    }
    let mut most = ExperienceLookupCost::default();
    for number in (0..count).step_by(count / 20) {
        let one = sample(number);
        let (hits, work) = store.find_counted(&one.request, Some(&one.applications[0]), 200).unwrap();
        assert!(hits.iter().any(|hit| hit.origin == one.id), "{}", one.request);
        most = ExperienceLookupCost {
            bytes: most.bytes.max(work.bytes),
            compared: most.compared.max(work.compared),
        };
    }
    assert_eq!(store.list().unwrap().len(), count + 10);
    most
}

#[test]
fn a_look_up_in_many_experiences_takes_no_more_work_than_in_few() {
    let (few, many) = (work(200), work(10_000));
    assert!(many.compared <= few.compared.max(CANDIDATES_MAX) + UNINDEXED_MAX, "{few:?} {many:?}");
    assert!(many.bytes <= few.bytes * 2, "{few:?} {many:?}");
    assert!(few.compared > 0 && few.bytes > 0);
}
