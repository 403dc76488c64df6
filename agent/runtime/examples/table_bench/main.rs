//! Measures the table of sessions: `table_bench SESSIONS [FOLDER]` stores that many sessions, asks for a page of them in several ways, and
//! prints the times as one line of JSON. The sessions are made by scripts on the in-memory desktop, and copied under new ids. In FOLDER
//! they are kept for the next time. Run by `cargo xtask bench table`.
#![expect(clippy::print_stdout, reason = "a command line tool prints")]

mod measure;
mod sessions;

use std::{error::Error, path::PathBuf};

/// Why a measurement failed.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let count: usize =
        arguments.next().ok_or("missing SESSIONS; usage: table_bench SESSIONS [FOLDER]")?.parse()?;
    let temporary = tempfile::tempdir()?;
    let folder = arguments.next().map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    let store = sessions::stored(&folder, count).await?;
    println!("{}", serde_json::to_string(&measure::measure(&store)?)?);
    Ok(())
}
