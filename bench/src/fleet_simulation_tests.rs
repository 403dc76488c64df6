//! What `bench fleet-simulation` prints and writes, of a small fleet.

use std::env;

use super::*;

fn arguments(json: PathBuf) -> FleetSimulationArguments {
    // It is built with the tests of all packages.
    let program = env::current_exe().unwrap();
    let simulator = program.ancestors().nth(2).map(|folder| folder.join("examples/fleet_simulation"));
    FleetSimulationArguments {
        workers: 20,
        tasks: vec![100, 150],
        seed: vec![3],
        load: 0.8,
        faults: None,
        ignore_fences: false,
        debug: true,
        simulator: simulator.filter(|program| program.exists()),
        json: Some(json),
    }
}

#[test]
fn each_run_is_a_row_of_the_table_and_can_be_repeated_from_its_json() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.json");
    let arguments = arguments(file.clone());
    assert_eq!(run(&arguments).unwrap(), ExitCode::SUCCESS);
    let written: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let runs = written["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for (value, tasks) in runs.iter().zip([100, 150]) {
        let run = Run::deserialize(value).unwrap();
        let row = row(&run);
        assert_eq!(row.len(), HEADER.len(), "{HEADER}\n{row}");
        let report = &value["report"];
        let cells: Vec<&str> = row.split_whitespace().collect();
        let expected = [tasks.to_string(), "3".to_owned(), report["accounted"].to_string()];
        assert_eq!(cells.get(..3).unwrap(), expected, "{row}");
        assert_eq!((report["accounted"].as_u64(), &report["over_limit"]), (Some(tasks), &json!(0)));
        assert_eq!(
            cells.get(3..9).unwrap(),
            ["0"; 6],
            "nothing twice, late, missing, early, over a limit or lost: {row}"
        );
        assert!(value["memory_mib"].as_u64().unwrap() > 0 && run.took_s > 0.0, "{value}");
    }
    let again = simulate(&arguments, &runs[0]["report"]["setting"]).unwrap();
    assert_eq!(again["report"], runs[0]["report"]);
}
