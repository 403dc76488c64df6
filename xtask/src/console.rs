//! All output of xtask: progress goes to stderr, results to stdout.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool prints")]

use std::{fs, path::Path, time::Duration};

use anyhow::{Context as _, Result};
use serde::Serialize;

/// Prints a result line.
pub fn result(line: &str) {
    println!("{line}");
}

/// Prints a progress line.
pub fn progress(line: &str) {
    eprintln!("{line}");
}

/// Prints an error line.
pub fn problem(line: &str) {
    eprintln!("error: {line}");
}

/// Writes figures as JSON to the file that `--json` gives, if it gives one.
pub fn write_figures(file: Option<&Path>, figures: &impl Serialize) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    let text = serde_json::to_string_pretty(figures)?;
    fs::write(file, text + "\n").with_context(|| format!("write {}", file.display()))
}

/// Formats a duration: `320 ms`, `4.1 s`, `2 min 05 s`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if duration < Duration::from_secs(1) {
        format!("{} ms", duration.as_millis())
    } else if seconds < 60 {
        format!("{:.1} s", duration.as_secs_f64())
    } else {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_use_suitable_units() {
        let check = |ms: u64, expected: &str| assert_eq!(duration(Duration::from_millis(ms)), expected);
        check(0, "0 ms");
        check(999, "999 ms");
        check(4_120, "4.1 s");
        check(125_000, "2 min 05 s");
    }
}
