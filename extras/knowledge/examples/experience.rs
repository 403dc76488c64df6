//! Measures the store of experiences and prints the figures as JSON: `experience FOLDER COUNT`. The folder must be empty.

use std::{env, error::Error, path::Path};

use deskhand_knowledge::experience::measure;

#[expect(clippy::print_stdout, reason = "it shows what it measured")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let folder = arguments.next().ok_or("name an empty folder")?;
    let count = arguments.next().map_or(Ok(10_000), |count| count.parse())?;
    let measured = measure(Path::new(&folder), count)?;
    println!("{}", serde_json::to_string(&measured)?);
    Ok(())
}
