//! All printing of these commands: progress goes to standard error, results to standard output.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool prints")]

use std::time::Duration;

/// A line of the result.
pub(crate) fn result(line: &str) {
    println!("{line}");
}

/// A line that says what is going on.
pub(crate) fn progress(line: &str) {
    eprintln!("{line}");
}

/// A line that says what went wrong.
pub(crate) fn problem(line: &str) {
    eprintln!("error: {line}");
}

/// A duration for a person: `320 ms`, `4.1 s`, `2 min 05 s`.
pub(crate) fn duration(duration: Duration) -> String {
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
    fn durations_read_well() {
        let check = |ms: u64, expected: &str| assert_eq!(duration(Duration::from_millis(ms)), expected);
        check(0, "0 ms");
        check(999, "999 ms");
        check(4_120, "4.1 s");
        check(125_000, "2 min 05 s");
    }
}
