//! Simulates a fleet: `fleet_simulation SETTING` with the setting as JSON prints what became of it as one line of JSON, with the time that
//! took and the most memory. Without `faults`, everything goes wrong that can. Run by `cargo xtask bench fleet-simulation`.
#![expect(clippy::print_stdout, reason = "a command line tool prints")]

use std::{error::Error, fs, time::Instant};

use deskhand_fleet::sim::{Faults, SimSettings, simulate};
use serde_json::{Map, Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let asked =
        std::env::args().nth(1).ok_or("missing SETTING; usage: fleet_simulation '{\"tasks\": 1000}'")?;
    let asked: Map<String, Value> = serde_json::from_str(&asked)?;
    let Value::Object(mut setting) = serde_json::to_value(SimSettings::new(100, 1_000, Faults::all()))?
    else {
        return Err("a setting is no object".into());
    };
    setting.extend(asked);
    let setting: SimSettings = serde_json::from_value(Value::Object(setting))?;
    let began = Instant::now();
    let report = simulate(&setting)?;
    let took_s = began.elapsed().as_secs_f64();
    let is_sound = report.is_sound();
    let figures =
        json!({ "took_s": took_s, "memory_mib": most_memory(), "is_sound": is_sound, "report": report });
    println!("{figures}");
    Ok(())
}

/// The most memory that this process had, in MiB; `None` where that is not known.
fn most_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib / 1024)
}
