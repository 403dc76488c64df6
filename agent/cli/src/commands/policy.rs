//! `deskhand policy`: judges a recorded session by today's rules.

use deskhand_machine::{
    policy::{PolicyDecision, PolicyRuling, Subject},
    session::ReviewedCommand,
};
use deskhand_runtime::PolicyReview;

use super::host::load;
use crate::{
    args::{PolicyArgs, PolicyCommand, PolicyReviewArgs},
    exit::{CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
    render::number,
};

pub(crate) fn policy(args: &PolicyArgs) -> CommandResult {
    match &args.command {
        PolicyCommand::Explain(args) => {
            print(args, &review(args)?, |_| true);
            Ok(Exit::Success)
        }
        PolicyCommand::Test(args) => {
            let review = review(args)?;
            print(args, &review, ReviewedCommand::changes);
            let changes = review.commands.iter().any(ReviewedCommand::changes);
            Ok(if changes { Exit::Negative } else { Exit::Success })
        }
    }
}

fn review(args: &PolicyReviewArgs) -> Result<PolicyReview, crate::exit::CliError> {
    Ok(load(args.policy.add_to(args.store.overrides()))?.review(&args.session)?)
}

/// Prints the commands that are wanted, then how many there are.
fn print(args: &PolicyReviewArgs, review: &PolicyReview, is_wanted: impl Fn(&ReviewedCommand) -> bool) {
    let out = Output::to(OutputStream::Out);
    let wanted = review.commands.iter().filter(|one| is_wanted(one));
    if args.json {
        wanted.for_each(|one| out.json(one));
    } else {
        wanted.flat_map(lines).for_each(|line| out.line(&line));
    }
    let summed = Output::to(if args.json { OutputStream::Error } else { OutputStream::Out });
    if let Some((record, why)) = &review.stopped {
        let told = format!("the journal cannot be followed from record {record}: {why}");
        summed.line(&StyledLine::of(OutputTone::Bad, "stopped: ").with(OutputTone::Plain, told));
    }
    let count = |count: usize| number(u64::try_from(count).unwrap_or(u64::MAX));
    let all = review.commands.len();
    let changed = review.commands.iter().filter(|one| one.changes()).count();
    let tone = if changed == 0 { OutputTone::Good } else { OutputTone::Doubtful };
    let told = format!("{} of {} commands would be decided otherwise", count(changed), count(all));
    summed.line(&StyledLine::of(tone, told));
}

/// One command: what it is, how it is decided, and what that is based on.
fn lines(one: &ReviewedCommand) -> Vec<StyledLine> {
    let step = format!("step {} · {} · ", one.step.number, one.step.agent);
    let mut lines =
        vec![StyledLine::of(OutputTone::Faint, step).with(OutputTone::Strong, one.command.to_line())];
    if one.changes() {
        lines.push(
            StyledLine::of(OutputTone::Faint, "  then  ").with(tone(one.then.decision), told(&one.then)),
        );
    }
    lines.push(StyledLine::of(OutputTone::Faint, "  now   ").with(tone(one.now.decision), told(&one.now)));
    for (name, value) in based_on(&one.subject) {
        lines.push(StyledLine::of(OutputTone::Faint, format!("  {name:<12}")).with(OutputTone::Plain, value));
    }
    lines
}

const fn tone(decision: PolicyDecision) -> OutputTone {
    match decision {
        PolicyDecision::Allow => OutputTone::Good,
        PolicyDecision::Ask => OutputTone::Doubtful,
        PolicyDecision::Deny => OutputTone::Bad,
    }
}

/// A decision and the rule that made it.
fn told(ruling: &PolicyRuling) -> String {
    let word = match ruling.decision {
        PolicyDecision::Allow => "allowed",
        PolicyDecision::Ask => "asks",
        PolicyDecision::Deny => "denied",
    };
    if ruling.why.is_empty() { format!("{word}: no rule matches") } else { format!("{word}: {}", ruling.why) }
}

/// Returns the properties that rules are matched with, as far as they are set.
fn based_on(subject: &Subject) -> Vec<(&'static str, String)> {
    let values = subject
        .values
        .iter()
        .map(|value| format!("`{}` ({}): {}", value.text, value.origin.word(), value.origin));
    let host = if subject.host_unknown { "not known".to_owned() } else { subject.hosts.join(", ") };
    let all = [
        ("does", subject.does.word().to_owned()),
        ("application", subject.application.clone()),
        ("window", subject.window.clone()),
        ("role", subject.role.clone().unwrap_or_default()),
        ("label", subject.names().collect::<Vec<_>>().join(" | ")),
        ("arguments", subject.arguments.join(" ")),
        ("host", host),
        ("path", subject.paths.join(" | ")),
        ("from", values.collect::<Vec<_>>().join(" | ")),
    ];
    all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}
