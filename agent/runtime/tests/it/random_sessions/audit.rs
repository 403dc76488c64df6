//! Checks the invariants of any journal. Of the code that makes the decisions it shares the rules of the policy and the
//! reading of replies; what was asked, approved, spent and sent it works out by itself.

use std::collections::{BTreeSet, VecDeque};

use deskhand_machine::{
    agent::AgentRef,
    command::ToolCommand,
    observation::Observation,
    policy::{Policy, PolicyDecision, Subject},
    record::{JournalEntry, JournalRecord},
    reply::{parse_app_reply, parse_host_reply},
    session::{ApprovalScope, Effect, EffectRecord, RoundLimits, SessionConfig, SessionEvent, Suspension},
    states::{AppStatus, HostStatus},
};

use super::Counts;

/// The audit state after each line.
struct Audit<'a> {
    policy: &'a Policy,
    limits: &'a RoundLimits,
    counts: &'a mut Counts,
    /// The effect in the last record.
    wanted: Option<EffectRecord>,
    observation: Option<Observation>,
    /// Whether the model requested confirmation in the current step.
    confirms: bool,
    /// The commands that approval was requested for in the current step, and the decision.
    asked: Option<(VecDeque<ToolCommand>, bool)>,
    /// Approvals for the session.
    granted: Vec<(ToolCommand, Subject)>,
    /// The commands dispatched in the current step.
    before: Vec<ToolCommand>,
    calls: BTreeSet<u64>,
    steps: BTreeSet<u32>,
    model_calls: u32,
    tokens: u64,
    open_rounds: u32,
    /// Whether a person took over since the last look.
    taken_over: bool,
}

/// Audits a journal; panics on a violation.
pub(super) fn audit(lines: &[JournalEntry], config: &SessionConfig, counts: &mut Counts) {
    let mut audit = Audit {
        policy: &config.policy,
        limits: &config.limits,
        counts,
        wanted: None,
        observation: None,
        confirms: false,
        asked: None,
        granted: Vec::new(),
        before: Vec::new(),
        calls: BTreeSet::new(),
        steps: BTreeSet::new(),
        model_calls: 0,
        tokens: 0,
        open_rounds: 0,
        taken_over: false,
    };
    for line in lines {
        match &line.record {
            JournalRecord::Header(_) | JournalRecord::Changed(_) => {}
            JournalRecord::Effect(record) => audit.effect(line.seq, record),
            JournalRecord::Event(record) => audit.event(&record.event),
        }
    }
    assert_eq!(audit.open_rounds, 0, "round without an outcome");
}

impl Audit<'_> {
    fn effect(&mut self, seq: u64, record: &EffectRecord) {
        self.wanted = Some(record.clone());
        let decides = matches!(
            record.effect,
            Effect::Ask { .. } | Effect::AwaitApproval { .. } | Effect::Call { .. } | Effect::Delegate { .. }
        );
        assert!(!(decides && self.taken_over), "record {seq}: decided without a look at what a person did");
        if let Some(step) = &record.step {
            self.steps.insert(step.number);
            let steps = u32::try_from(self.steps.len()).unwrap();
            assert!(steps <= self.limits.steps_max, "record {seq}: step {steps} of the round");
        }
        match &record.effect {
            // A step starts with an observation; approvals of the previous step no longer apply.
            Effect::Observe { .. } => {
                self.taken_over = false;
                (self.asked, self.confirms) = (None, false);
                self.before.clear();
            }
            Effect::Ask { request } => {
                assert!(self.model_calls < self.limits.model_calls_max, "record {seq}: too many model calls");
                assert!(
                    request.attempts_max <= self.limits.model_calls_max - self.model_calls,
                    "record {seq}"
                );
                let tokens_max = self.limits.tokens_max.unwrap_or(u64::MAX);
                assert!(self.tokens < tokens_max, "record {seq}: {} tokens used", self.tokens);
            }
            Effect::AwaitApproval { approval } => {
                for (index, command) in approval.commands.iter().enumerate() {
                    let ruling = self.ruling(&approval.commands[..index], command);
                    assert_ne!(
                        ruling,
                        PolicyDecision::Deny,
                        "record {seq}: requests approval of a denied action"
                    );
                }
                self.asked = Some((approval.commands.iter().cloned().collect(), false));
            }
            Effect::Call { command } => {
                assert!(self.calls.insert(record.id.0), "record {seq}: call dispatched twice");
                self.call(seq, command);
            }
            Effect::Finish { outcome } => self.counts.note("outcome", outcome.kind.word()),
            Effect::AwaitRequest
            | Effect::Rank { .. }
            | Effect::Retrieve { .. }
            | Effect::AskUser { .. }
            | Effect::Delegate { .. } => {}
        }
    }

    fn call(&mut self, seq: u64, command: &ToolCommand) {
        let what = format!("record {seq}: {}", command.to_line());
        let ruling = self.ruling(&self.before, command);
        assert_ne!(ruling, PolicyDecision::Deny, "{what}: denied");
        if let Some((approved, yes)) = &mut self.asked {
            assert!(*yes, "{what}: dispatched without approval");
            let stamp = |command: &mut ToolCommand| {
                let judged = command.judged.as_mut().expect("the gate stamps what it judged");
                std::mem::replace(&mut judged.approved, true)
            };
            assert!(stamp(&mut command.clone()), "{what}: not stamped as approved");
            let mut asked = approved.pop_front();
            asked.as_mut().map(stamp);
            assert_eq!(asked.as_ref(), Some(command), "{what}: differs from the approved command");
            self.counts.note("call", "approved");
        } else if ruling == PolicyDecision::Ask || (self.confirms && self.policy.safe_guard) {
            let subject = self.subject(&self.before, command);
            let holds = |(other, before): &(ToolCommand, Subject)| is_same(command, &subject, other, before);
            assert!(self.granted.iter().any(holds), "{what}: missing approval");
            self.counts.note("call", "approved for the session");
        } else {
            self.counts.note("call", "free");
        }
        self.before.push(command.clone());
    }

    fn event(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::Requested { .. } => {
                self.open_rounds += 1;
                self.steps.clear();
                (self.model_calls, self.tokens) = (0, 0);
            }
            SessionEvent::Observed { observation } => self.observation = Some(observation.clone()),
            SessionEvent::Replied { reply, .. } => {
                self.used(reply.attempts, reply.usage);
                self.confirms = self.confirms(&reply.text);
            }
            SessionEvent::ModelFailed { failure } => {
                self.used(failure.attempts, failure.usage);
                self.counts.note("fault", "model error");
            }
            SessionEvent::Approved { scope } => {
                let (commands, _) = self.asked.take().expect("a pending approval request");
                if *scope == ApprovalScope::Session {
                    let all: Vec<ToolCommand> = commands.iter().cloned().collect();
                    let of = |(index, command): (usize, &ToolCommand)| {
                        (command.clone(), self.subject(&all[..index], command))
                    };
                    let granted: Vec<_> = all.iter().enumerate().map(of).collect();
                    self.granted.extend(granted);
                }
                self.asked = Some((commands, true));
                self.counts.note("person", "approved");
            }
            SessionEvent::Rejected { instruction, .. } => {
                let how = if instruction.is_some() { "rejected with an instruction" } else { "rejected" };
                self.counts.note("person", how);
            }
            SessionEvent::Unanswered { why } => self.counts.note("person", &format!("no answer: {why:?}")),
            SessionEvent::Answered { .. } => self.counts.note("person", "answered"),
            SessionEvent::Returned { result } => {
                let verdict = result.effect.map_or("none", |effect| effect.word());
                self.counts.note("verdict", verdict);
            }
            SessionEvent::ObserveFailed { .. } => self.counts.note("fault", "failed observation"),
            SessionEvent::Stopped { reason } => self.counts.note("stop", &format!("{reason:?}")),
            SessionEvent::Suspended { reason: Suspension::Signal } => self.counts.note("stop", "Signal"),
            SessionEvent::Suspended { reason: Suspension::Elsewhere } => {
                self.counts.note("stop", "Elsewhere");
            }
            SessionEvent::Suspended { reason: Suspension::Model { failure } } => {
                self.used(failure.attempts, failure.usage);
                self.counts.note("stop", "Model");
            }
            SessionEvent::Resumed { desktop_kept } => {
                let how = if *desktop_kept { "same desktop" } else { "new desktop" };
                self.counts.note("resumed", how);
            }
            SessionEvent::Told { .. } => self.counts.note("person", "said something"),
            SessionEvent::TakenOver { .. } => {
                self.counts.note("person", "took over");
                (self.asked, self.taken_over) = (None, true);
            }
            SessionEvent::HandedBack { .. } => self.counts.note("person", "handed back"),
            SessionEvent::Acknowledged { .. } => self.open_rounds -= 1,
            SessionEvent::Ranked { .. }
            | SessionEvent::Retrieved { .. }
            | SessionEvent::Delegated { .. }
            | SessionEvent::Disclosed { .. }
            | SessionEvent::Ended => {}
        }
    }

    fn used(&mut self, attempts: u32, usage: deskhand_machine::model::Usage) {
        self.model_calls += attempts;
        assert!(self.model_calls <= self.limits.model_calls_max, "too many model calls");
        self.tokens += usage.prompt_tokens.unwrap_or(0) + usage.completion_tokens.unwrap_or(0);
    }

    fn confirms(&self, reply: &str) -> bool {
        let step = self.wanted.as_ref().and_then(|record| record.step.as_ref());
        if step.is_some_and(|step| step.agent == AgentRef::HostAgent) {
            parse_host_reply(reply).is_ok_and(|reply| reply.status == HostStatus::Confirm)
        } else {
            parse_app_reply(reply).is_ok_and(|reply| reply.status == AppStatus::Confirm)
        }
    }

    fn subject(&self, before: &[ToolCommand], command: &ToolCommand) -> Subject {
        Subject::after(before, command, self.observation.as_ref().unwrap())
    }

    /// The policy's decision on a command. Where the rules are unambiguous without the target, the decision is checked
    /// against them.
    fn ruling(&self, before: &[ToolCommand], command: &ToolCommand) -> PolicyDecision {
        let decided = self.policy.decide(&self.subject(before, command)).decision;
        if let Some(sure) = self.surely(command) {
            assert_eq!(decided, sure, "{}: the policy disagrees", command.to_line());
        }
        decided
    }

    /// The decision by tool and id alone, if unambiguous.
    fn surely(&self, command: &ToolCommand) -> Option<PolicyDecision> {
        for rule in &self.policy.rules {
            if rule.tool != "*" && rule.tool != command.tool {
                continue;
            }
            if rule.application != "*" || rule.role != "*" {
                return None;
            }
            let named = self.element_name(command).is_some_and(|name| name == rule.label);
            if rule.label == "*" || (named && rule.decision != PolicyDecision::Allow) {
                return Some(rule.decision);
            }
            return None;
        }
        None
    }

    fn element_name(&self, command: &ToolCommand) -> Option<&str> {
        let Some(Observation::Window(view)) = &self.observation else { return None };
        let id = command.arguments.get("id")?.as_str()?;
        view.elements().find(|element| element.id.to_string() == id).map(|element| element.name.as_str())
    }
}

/// Returns `true` if a session approval of `before` covers a command: same tool, application and target.
fn is_same(command: &ToolCommand, subject: &Subject, before: &ToolCommand, about: &Subject) -> bool {
    let names: Vec<&str> = subject.names().collect();
    let thing = if !names.is_empty() {
        names == about.names().collect::<Vec<_>>()
    } else {
        about.names().next().is_none()
            && (command.arguments == before.arguments
                || command.arguments.get("id").is_some_and(|id| Some(id) == before.arguments.get("id")))
    };
    command.tool == before.tool && subject.application == about.application && thing
}
