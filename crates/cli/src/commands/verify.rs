//! `deskhand verify`: checks that a session was not modified.

use serde::Serialize;

use super::host::load;
use crate::{
    args::VerifyArgs,
    exit::{CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
    render::number,
};

#[derive(Serialize)]
struct Found {
    session: String,
    intact: bool,
    records: u64,
    pictures: u64,
    findings: Vec<String>,
}

pub(crate) fn verify(args: &VerifyArgs) -> CommandResult {
    let (folder, verified) = load(args.store.overrides())?.verify(&args.session)?;
    let out = Output::to(Stream::Out);
    let intact = verified.findings.is_empty();
    if args.json {
        out.json(&Found {
            session: folder.name(),
            intact,
            records: verified.records,
            pictures: verified.pictures,
            findings: verified.findings.iter().map(ToString::to_string).collect(),
        });
    } else {
        for finding in &verified.findings {
            out.line(&Line::of(Tone::Bad, "not intact: ").with(Tone::Plain, finding.to_string()));
        }
        let looked = format!(
            "{} records, {} pictures and the prompts",
            number(verified.records),
            number(verified.pictures)
        );
        out.line(&if intact {
            Line::of(Tone::Good, "intact: ").with(Tone::Plain, looked)
        } else {
            Line::of(Tone::Faint, format!("of {looked}"))
        });
    }
    Ok(if intact { Exit::Success } else { Exit::Negative })
}
