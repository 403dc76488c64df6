//! `deskhand verify`: checks that a session was not modified.

use deskhand_runtime::{Proof, Unproven};
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
    /// No finding, and sealed with the key of this machine.
    intact: bool,
    /// No finding.
    consistent: bool,
    /// Why it is not proven.
    unproven: Option<String>,
    /// The first sealed record.
    sealed_since: Option<u64>,
    records: u64,
    pictures: u64,
    findings: Vec<String>,
}

pub(crate) fn verify(args: &VerifyArgs) -> CommandResult {
    let (folder, verified) = load(args.store.overrides())?.verify(&args.session)?;
    let out = Output::to(Stream::Out);
    let consistent = verified.findings.is_empty();
    let (sealed_since, unproven) = match &verified.proof {
        Proof::Sealed { since } => (Some(*since), None),
        Proof::Consistent(why) => (None, Some(why)),
    };
    let intact = consistent && unproven.is_none();
    if args.json {
        out.json(&Found {
            session: folder.name(),
            intact,
            consistent,
            unproven: unproven.map(ToString::to_string),
            sealed_since,
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
        out.line(&match (consistent, unproven) {
            (false, _) => Line::of(Tone::Faint, format!("of {looked}")),
            (true, Some(_)) => Line::of(Tone::Doubtful, "consistent with itself: ").with(Tone::Plain, looked),
            (true, None) => Line::of(Tone::Good, "intact: ").with(Tone::Plain, looked),
        });
        if let (true, Some(why)) = (consistent, unproven) {
            out.line(&Line::of(Tone::Faint, explained(why)));
        } else if let Some(since) = sealed_since.filter(|since| *since > 1) {
            let words = format!("records before {since} were accepted unsealed by a later resume");
            out.line(&Line::of(Tone::Faint, words));
        }
    }
    Ok(match (consistent, unproven) {
        (false, _) => Exit::Negative,
        (true, Some(_)) => Exit::Undecided,
        (true, None) => Exit::Success,
    })
}

/// Why a journal is not proven, and what that means.
fn explained(why: &Unproven) -> String {
    let meaning = match why {
        Unproven::NoKey { .. } | Unproven::OtherKey { .. } => {
            "whoever can write the journal can change it and recompute its hashes; only the key that sealed it shows that"
        }
        Unproven::NoAnchor { .. } => "no record was changed, but the last ones may have been removed",
    };
    format!("not proven: {why}; {meaning}")
}
