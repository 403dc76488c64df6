//! `deskhand replay`: checks that a journal produces the same effects again.

use super::host::load;
use crate::{
    args::ReplayArgs,
    exit::{CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
    render::number,
};

pub(crate) fn replay(args: &ReplayArgs) -> CommandResult {
    let replay = load(args.store.overrides())?.replay(&args.session)?;
    let out = Output::to(OutputStream::Out);
    let equal = format!("{} effects equal", number(replay.effects_equal));
    match replay.difference {
        Some(difference) => {
            out.line(
                &StyledLine::of(OutputTone::Bad, "different: ")
                    .with(OutputTone::Plain, difference.to_string()),
            );
            out.line(&StyledLine::of(OutputTone::Faint, format!("{equal} before it")));
            Ok(Exit::Negative)
        }
        None => {
            let line = StyledLine::of(OutputTone::Good, equal);
            let end = if replay.complete { "" } else { "; the journal ends before the session did" };
            out.line(&line.with(OutputTone::Plain, end));
            Ok(Exit::Success)
        }
    }
}
