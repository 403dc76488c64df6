//! Workers that are killed, stopped and cut off on a virtual clock: each task ends once, and each action is done once.

use deskhand_fleet::sim::{Faults, Fences, SimReport, SimSettings, simulate};

/// A day so bad that a few hundred tasks suffer from all that can go wrong.
fn bad() -> Faults {
    Faults::all().times(10.0)
}

fn run(setting: &SimSettings) -> SimReport {
    let report = simulate(setting).unwrap();
    println!("{}", serde_json::to_string(&report).unwrap());
    report
}

#[test]
fn each_task_ends_and_each_action_is_done_once() {
    for seed in 0..8 {
        let report = run(&SimSettings { seed, ..SimSettings::new(30, 300, bad()) });
        assert!(report.is_sound(), "seed {seed}: {report:#?}");
        assert!(report.taken_over > 0 && report.befell.len() == bad().mishaps.len(), "{report:#?}");
    }
}

#[test]
fn without_fences_actions_are_done_twice() {
    let is_found = |seed| {
        let setting = SimSettings { seed, fences: Fences::Ignored, ..SimSettings::new(30, 300, bad()) };
        !run(&setting).is_sound()
    };
    assert!((0..8).any(is_found), "the simulator does not find what fences are for");
}

#[test]
fn a_seed_gives_the_same_run_again() {
    let report = |seed| run(&SimSettings { seed, ..SimSettings::new(20, 100, bad()) });
    assert_eq!(report(3), report(3));
    assert_ne!(report(3).requests, report(4).requests);
}

#[test]
fn no_more_tasks_with_a_label_run_at_once_than_its_limit() {
    // More tasks than a leader reads at once, and leaders that are lost while it does.
    for seed in 0..2 {
        let report =
            run(&SimSettings { seed, limited: 50_000, load: 0.5, ..SimSettings::new(60, 1_500, bad()) });
        assert!(report.is_sound(), "seed {seed}: {report:#?}");
    }
}
