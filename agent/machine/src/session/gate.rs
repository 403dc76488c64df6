//! The gate between deciding and acting.
//!
//! A step can only execute [`ClearedCommands`] commands, and only this module creates them: because the policy allows them, or
//! from the [`ApprovalToken`] that an [`SessionEvent::Approved`] yields for exactly that approval. So the types rule out
//! sending a denied or unapproved command.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{
    effect::{Approval, AskedBy},
    event::{ApprovalScope, SessionEvent},
    grants::{Grant, Grants},
    judging::{GateContext, IntentReadError},
};
use crate::{
    command::{CallResult, ToolCommand},
    intent::{Does, JudgementBasis},
    policy::{Policy, PolicyDecision, PolicyRuling, Subject},
    secret,
};
use deskhand_ui::{action::Verdict, ids::EffectId};

/// The commands that an agent proposes in a step.
pub(super) struct Proposal {
    /// The commands, in order.
    pub(super) commands: Vec<ToolCommand>,
    /// `true` if its model requests an approval.
    pub(super) confirm: bool,
    /// The reason.
    pub(super) reason: String,
}

/// The gate's decision.
pub(super) enum GateVerdict {
    /// The step continues.
    Cleared(ClearedCommands),
    /// A person has to approve first.
    Asks(ParkedCommands, Approval),
}

/// Commands that may be sent, up to the first refused one, which is returned with its result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ClearedCommands {
    queue: VecDeque<GatedCommand>,
    /// `true` if a person approved them.
    approved: bool,
}

/// A command after the gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum GatedCommand {
    /// Send it.
    Send(ToolCommand),
    /// Do not send it; report this result.
    Refuse(ToolCommand, Box<CallResult>),
    /// Judge it after another look at the window: what it is aimed at is not there yet.
    Later(ToolCommand),
}

/// Commands that wait for an approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ParkedCommands {
    /// The effect that asks for the approval.
    effect: EffectId,
    queue: VecDeque<GatedCommand>,
    /// The grants of an approval for the whole session.
    grants: Vec<Grant>,
}

/// The approval of exactly one parked proposal. Created only here, from an event.
struct ApprovalToken {
    effect: EffectId,
    scope: ApprovalScope,
}

impl ApprovalToken {
    const fn of(answers: EffectId, event: &SessionEvent) -> Option<Self> {
        if let SessionEvent::Approved { scope } = event {
            Some(Self { effect: answers, scope: *scope })
        } else {
            None
        }
    }
}

impl ClearedCommands {
    /// A refused proposal: no command is sent, the first one gets `result`.
    pub(super) fn refused(proposal: Proposal, result: CallResult) -> Self {
        let mut queue: VecDeque<GatedCommand> = VecDeque::new();
        let mut result = Some(result);
        for command in proposal.commands {
            queue.push_back(match result.take() {
                Some(result) => GatedCommand::Refuse(command, Box::new(result)),
                None => GatedCommand::Refuse(command, Box::new(CallResult::skipped())),
            });
        }
        Self { queue, approved: false }
    }

    /// The next command.
    pub(super) fn pop(&mut self) -> Option<GatedCommand> {
        self.queue.pop_front()
    }

    /// Takes out the commands that are to be judged after another look, if the next one is such a command.
    pub(super) fn take_later(&mut self) -> Vec<ToolCommand> {
        let mut later = Vec::new();
        while let Some(GatedCommand::Later(_)) = self.queue.front() {
            if let Some(GatedCommand::Later(command)) = self.queue.pop_front() {
                later.push(command);
            }
        }
        later
    }

    /// Adds commands that were judged after another look.
    pub(super) fn extend(&mut self, more: Self) {
        self.queue.extend(more.queue);
        self.approved |= more.approved;
    }

    /// Returns `true` if a person approved the commands.
    pub(super) const fn approved(&self) -> bool {
        self.approved
    }
}

impl ParkedCommands {
    /// The commands as text for a person.
    pub(super) fn what(&self) -> String {
        self.sendable().map(ToolCommand::to_line).collect::<Vec<_>>().join(", ")
    }

    fn sendable(&self) -> impl Iterator<Item = &ToolCommand> {
        self.queue.iter().filter_map(|passage| match passage {
            GatedCommand::Send(command) => Some(command),
            GatedCommand::Refuse(..) | GatedCommand::Later(_) => None,
        })
    }
}

/// Decides on a proposal: reads each command into its intent, matches the rules with it, and stamps what it was judged on.
/// `refusal` refuses commands regardless of the policy, such as those with an unknown tool.
pub(super) fn judge(
    proposal: Proposal,
    by: &GateContext<'_>,
    refusal: &dyn Fn(&ToolCommand) -> Option<CallResult>,
) -> GateVerdict {
    let GateContext { policy, grants, tools, applications, effect, .. } = *by;
    let mut queue = VecDeque::new();
    let mut asked: Option<AskedBy> = None;
    let mut reason = proposal.reason;
    let mut wanted = Vec::new();
    let mut stopped = false;
    let mut later = false;
    let mut before = Vec::new();
    for command in proposal.commands {
        if stopped {
            queue.push_back(GatedCommand::Refuse(command, Box::new(CallResult::skipped())));
            continue;
        }
        if later {
            queue.push_back(GatedCommand::Later(command));
            continue;
        }
        let mut command = command;
        // A delegation is made by this crate, with its intent.
        let is_read = command.intent.does == Does::Delegate;
        let read = if is_read { Ok(()) } else { by.read(&before, &mut command) };
        let unreadable = match read {
            Ok(()) => None,
            Err(IntentReadError::Later) => {
                later = true;
                queue.push_back(GatedCommand::Later(command));
                continue;
            }
            Err(IntentReadError::Refused(problem)) => {
                Some(CallResult::failure(Some(Verdict::Refused), problem))
            }
        };
        let subject = by.subject(&before, &command);
        let ruling = policy.decide(&subject);
        let secret = || secret::refusal(&command, tools, by.observation, by.secrets);
        let refused = refusal(&command).or_else(secret).or(unreadable);
        let refused = refused.or_else(|| forbidden(policy, &command, &subject, &ruling));
        let refused = refused.or_else(|| applications.and_then(|_| no_file(&subject)));
        if let Some(result) = refused {
            stopped = true;
            queue.push_back(GatedCommand::Refuse(command, Box::new(result)));
            continue;
        }
        let grant = Grant::of(&command, &subject, tools);
        let granted = grants.holds(&grant);
        if !granted {
            if ruling.decision == PolicyDecision::Ask {
                reason.clone_from(&ruling.why);
                asked.get_or_insert(AskedBy::Policy { rule: ruling.why });
            } else if proposal.confirm && policy.safe_guard {
                asked.get_or_insert(AskedBy::Model);
            }
            wanted.push(grant);
        }
        command.judged = Some(Box::new(JudgementBasis { approved: granted, ..JudgementBasis::of(subject) }));
        before.push(command.clone());
        queue.push_back(GatedCommand::Send(command));
    }
    let Some(asked_by) = asked else {
        return GateVerdict::Cleared(ClearedCommands { queue, approved: false });
    };
    let covers = wanted.iter().map(Grant::to_string).collect();
    let parked = ParkedCommands { effect, queue, grants: wanted };
    let commands = parked.sendable().cloned().collect();
    GateVerdict::Asks(parked, Approval { commands, reason, asked_by, covers })
}

/// Refuses a command that no approval can release.
fn forbidden(
    policy: &Policy,
    command: &ToolCommand,
    subject: &Subject,
    ruling: &PolicyRuling,
) -> Option<CallResult> {
    let refused = |why: String| Some(CallResult::failure(Some(Verdict::Refused), why));
    match &subject.unknown {
        _ if ruling.decision == PolicyDecision::Deny => {
            refused(format!("not run: denied by the policy ({})", ruling.why))
        }
        Some(id) if policy.depends_on_names(&subject.tool, &command.intent) => {
            refused(format!("not run: no element {id} in your view; use an element that is listed"))
        }
        Some(_) | None => None,
    }
}

/// Refuses what an application would take for something else than a file: an option, or an address other than that of a page.
/// A program that is no installed application was asked about with its whole command line.
fn no_file(subject: &Subject) -> Option<CallResult> {
    let is_scheme = |scheme: &str| {
        scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    let is_page = |file: &str| {
        let start = file.get(..8).unwrap_or(file).to_lowercase();
        ["http://", "https://", "file://"].iter().any(|page| start.starts_with(page))
    };
    let is_other = |file: &&String| {
        let address = file.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme));
        file.starts_with('-') || (address && !is_page(file))
    };
    let opens = subject.does == Does::Open && subject.stranger.is_none();
    let other = subject.arguments.iter().find(is_other).filter(|_| opens)?;
    let why = format!(
        "not run: `{other}` is no file and no http address; applications are started with files alone"
    );
    Some(CallResult::failure(Some(Verdict::Refused), why))
}

/// Releases the parked commands, if the event approves exactly these.
pub(super) fn open(
    parked: ParkedCommands,
    answers: EffectId,
    event: &SessionEvent,
    grants: &mut Grants,
) -> Option<ClearedCommands> {
    let token = ApprovalToken::of(answers, event)?;
    if token.effect != parked.effect {
        return None;
    }
    match token.scope {
        ApprovalScope::Once => {}
        ApprovalScope::Session => grants.remember(parked.grants),
    }
    let mut queue = parked.queue;
    for passage in &mut queue {
        if let GatedCommand::Send(ToolCommand { judged: Some(judged), .. }) = passage {
            judged.approved = true;
        }
    }
    Some(ClearedCommands { queue, approved: true })
}
