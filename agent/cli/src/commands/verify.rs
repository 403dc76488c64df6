//! `deskhand verify`: checks that a session was not modified.

use deskhand_runtime::{SealProof, Unproven};
use serde::Serialize;

use super::host::load;
use crate::{
    args::VerifyArgs,
    exit::{CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
    render::number,
};

#[derive(Serialize)]
struct VerifyReport {
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
    let out = Output::to(OutputStream::Out);
    let consistent = verified.findings.is_empty();
    let (sealed_since, unproven) = match &verified.proof {
        SealProof::Sealed { since } => (Some(*since), None),
        SealProof::Consistent(why) => (None, Some(why)),
    };
    let intact = consistent && unproven.is_none();
    if args.json {
        out.json(&VerifyReport {
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
            out.line(
                &StyledLine::of(OutputTone::Bad, "not intact: ").with(OutputTone::Plain, finding.to_string()),
            );
        }
        let looked = format!(
            "{} records, {} pictures and the prompts",
            number(verified.records),
            number(verified.pictures)
        );
        out.line(&match (consistent, unproven) {
            (false, _) => StyledLine::of(OutputTone::Faint, format!("of {looked}")),
            (true, Some(_)) => StyledLine::of(OutputTone::Doubtful, "consistent with itself: ")
                .with(OutputTone::Plain, looked),
            (true, None) => StyledLine::of(OutputTone::Good, "intact: ").with(OutputTone::Plain, looked),
        });
        if let (true, Some(why)) = (consistent, unproven) {
            out.line(&StyledLine::of(OutputTone::Faint, explained(why)));
        } else if let Some(since) = sealed_since.filter(|since| *since > 1) {
            let words = format!("records before {since} were accepted unsealed by a later resume");
            out.line(&StyledLine::of(OutputTone::Faint, words));
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
