//! Measures sessions on the desktop in memory: `sessions_bench SESSIONS STEPS` runs so many at once, each of so many
//! steps, and prints what they took as one line of JSON. `cargo xtask bench sessions` starts it.
#![expect(clippy::print_stdout, reason = "a command line tool prints")]

mod measure;

use measure::{Failure, measure};

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |name: &str| -> Result<u32, Failure> {
        Ok(arguments.next().ok_or_else(|| format!("give {name}: sessions_bench SESSIONS STEPS"))?.parse()?)
    };
    let (sessions, steps) = (number("SESSIONS")?, number("STEPS")?);
    println!("{}", serde_json::to_string(&measure(sessions, steps).await?)?);
    Ok(())
}
