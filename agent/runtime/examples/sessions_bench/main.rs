//! Measures sessions on the in-memory desktop: `sessions_bench SESSIONS STEPS` runs that many concurrent sessions with that
//! many steps each and prints the results as one line of JSON. Run by `cargo xtask bench sessions`.
#![expect(clippy::print_stdout, reason = "a command line tool prints")]

mod measure;

use measure::{Failure, measure};

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |name: &str| -> Result<u32, Failure> {
        Ok(arguments
            .next()
            .ok_or_else(|| format!("missing {name}; usage: sessions_bench SESSIONS STEPS"))?
            .parse()?)
    };
    let (sessions, steps) = (number("SESSIONS")?, number("STEPS")?);
    println!("{}", serde_json::to_string(&measure(sessions, steps).await?)?);
    Ok(())
}
