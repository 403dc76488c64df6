//! `deskhand states`: prints the transition tables of both agents from the code.

use deskhand_machine::states::{app_transitions, host_transitions, mermaid, table};

use crate::{
    args::{StatesArgs, StatesFormat},
    exit::{CommandResult, Exit},
    output::{Output, OutputStream},
};

#[expect(clippy::unnecessary_wraps, reason = "every command has the same shape")]
pub(crate) fn states(args: &StatesArgs) -> CommandResult {
    let out = Output::to(OutputStream::Out);
    for (agent, transitions) in [("HostAgent", host_transitions()), ("AppAgent", app_transitions())] {
        let text = match args.format {
            StatesFormat::Table => format!("## {agent}\n\n{}", table(&transitions)),
            StatesFormat::Mermaid => format!("%% {agent}\n{}", mermaid(&transitions)),
        };
        out.text(text);
    }
    Ok(Exit::Success)
}
