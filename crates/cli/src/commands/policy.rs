//! `deskhand policy`: judges a recorded session by today's rules.

use deskhand_core::{
    policy::{Decision, Ruling, Subject},
    session::Reviewed,
};
use deskhand_runtime::Review;

use super::host::load;
use crate::{
    args::{PolicyArgs, PolicyCommand, PolicyReviewArgs},
    exit::{CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
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
            print(args, &review, Reviewed::changes);
            let changes = review.commands.iter().any(Reviewed::changes);
            Ok(if changes { Exit::Negative } else { Exit::Success })
        }
    }
}

fn review(args: &PolicyReviewArgs) -> Result<Review, crate::exit::CliError> {
    Ok(load(args.policy.add_to(args.store.overrides()))?.review(&args.session)?)
}

/// Prints the commands that are wanted, then how many there are.
fn print(args: &PolicyReviewArgs, review: &Review, is_wanted: impl Fn(&Reviewed) -> bool) {
    let out = Output::to(Stream::Out);
    let wanted = review.commands.iter().filter(|one| is_wanted(one));
    if args.json {
        wanted.for_each(|one| out.json(one));
    } else {
        wanted.flat_map(lines).for_each(|line| out.line(&line));
    }
    let summed = Output::to(if args.json { Stream::Error } else { Stream::Out });
    if let Some((record, why)) = &review.stopped {
        let told = format!("the journal cannot be followed from record {record}: {why}");
        summed.line(&Line::of(Tone::Bad, "stopped: ").with(Tone::Plain, told));
    }
    let count = |count: usize| number(u64::try_from(count).unwrap_or(u64::MAX));
    let all = review.commands.len();
    let changed = review.commands.iter().filter(|one| one.changes()).count();
    let tone = if changed == 0 { Tone::Good } else { Tone::Doubtful };
    let told = format!("{} of {} commands would be decided otherwise", count(changed), count(all));
    summed.line(&Line::of(tone, told));
}

/// One command: what it is, how it is decided, and what that is based on.
fn lines(one: &Reviewed) -> Vec<Line> {
    let step = format!("step {} · {} · ", one.step.number, one.step.agent);
    let mut lines = vec![Line::of(Tone::Faint, step).with(Tone::Strong, one.command.to_line())];
    if one.changes() {
        lines.push(Line::of(Tone::Faint, "  then  ").with(tone(one.then.decision), told(&one.then)));
    }
    lines.push(Line::of(Tone::Faint, "  now   ").with(tone(one.now.decision), told(&one.now)));
    for (name, value) in based_on(&one.subject) {
        lines.push(Line::of(Tone::Faint, format!("  {name:<12}")).with(Tone::Plain, value));
    }
    lines
}

const fn tone(decision: Decision) -> Tone {
    match decision {
        Decision::Allow => Tone::Good,
        Decision::Ask => Tone::Doubtful,
        Decision::Deny => Tone::Bad,
    }
}

/// A decision and the rule that made it.
fn told(ruling: &Ruling) -> String {
    let word = match ruling.decision {
        Decision::Allow => "allowed",
        Decision::Ask => "asks",
        Decision::Deny => "denied",
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
