//! The gate between deciding and acting.
//!
//! A step can only execute [`ClearedCommands`] commands, and only this module creates them: because the policy allows them, or
//! from the [`ApprovalToken`] that an [`SessionEvent::Approved`] yields for exactly that approval. So the types rule out
//! sending a denied or unapproved command.

use std::{collections::VecDeque, fmt};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    effect::{Approval, AskedBy},
    entries::may_move_keyboard,
    event::{ApprovalScope, SessionEvent},
};
use crate::{
    command::{CallResult, ToolCommand, ToolSpec},
    intent::{self, Does, JudgementBasis, Takes},
    observation::Observation,
    policy::{
        PathRoots, Policy, PolicyDecision, PolicyRuling, Subject, Texts, ValueContext, ValueOrigin,
        chooses_file, enters_at_focus, field_for_dots,
    },
    secret,
};
use deskhand_ui::{
    Description, InstalledApplication, NotDescribed, action::Verdict, ids::EffectId, secret::SecretPermit,
};

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

/// Why the intent of a command was not read.
pub(super) enum IntentReadError {
    /// The target may exist only once the commands before it have run.
    Later,
    /// The intent cannot be read, or the target does not exist.
    Refused(String),
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

/// An approval that holds until the session ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Grant {
    tool: String,
    application: String,
    /// Name of the element, or its id if it has no name; without an element, all arguments.
    on: String,
    /// All other arguments.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    with: String,
}

/// The approvals that hold until the session ends. Bounded: the oldest is dropped and asked for again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Grants(VecDeque<Grant>);

impl Grants {
    const MAX: usize = 100;

    fn holds(&self, grant: &Grant) -> bool {
        self.0.contains(grant)
    }

    fn remember(&mut self, grants: Vec<Grant>) {
        for grant in grants {
            if self.holds(&grant) {
                continue;
            }
            while self.0.len() >= Self::MAX {
                self.0.pop_front();
            }
            self.0.push_back(grant);
        }
    }
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

/// Context in which a proposal is judged.
pub(super) struct GateContext<'a> {
    /// The rules.
    pub(super) policy: &'a Policy,
    /// Approvals for the session.
    pub(super) grants: &'a Grants,
    /// Observation that the agent received.
    pub(super) observation: &'a Observation,
    /// The tools that it may use.
    pub(super) tools: &'a [ToolSpec],
    /// The applications that may be started without a question.
    pub(super) applications: Option<&'a [InstalledApplication]>,
    /// Permits for typing secrets.
    pub(super) secrets: &'a [SecretPermit],
    /// Folders that paths are relative to.
    pub(super) places: &'a PathRoots,
    /// Texts in which the values of commands are looked up.
    pub(super) texts: &'a dyn Texts,
    /// The id that the approval request would get.
    pub(super) effect: EffectId,
}

impl GateContext<'_> {
    /// The subject of a command whose intent was read, after others of the same step.
    pub(super) fn subject(&self, before: &[ToolCommand], command: &ToolCommand) -> Subject {
        let reading = self.reading(before);
        let subject = Subject::after(before, command, self.observation).among(self.applications);
        subject.with_values(command, &reading)
    }

    /// Returns the context from which the values of a command are read, after others of the same step.
    pub(super) fn reading<'b>(&'b self, before: &'b [ToolCommand]) -> ValueContext<'b> {
        let GateContext { observation, tools, applications, places, texts, .. } = *self;
        ValueContext { tools, before, observation, places, applications, texts }
    }

    /// Reads a command into its intent, after others of the same step. An element that is described gets its id. One that types a
    /// password by its dots gets the field that has the keyboard.
    pub(super) fn read(
        &self,
        before: &[ToolCommand],
        command: &mut ToolCommand,
    ) -> Result<(), IntentReadError> {
        self.resolve(before, command)?;
        intent::read(command, self.tools).map_err(IntentReadError::Refused)?;
        let Some(id) = field_for_dots(command, &self.reading(before)) else {
            return Ok(());
        };
        let argument = command.takes_in(self.tools).iter().find(|(_, takes)| *takes == Takes::Element);
        if let Some((name, _)) = argument {
            command.arguments.insert(name.clone(), Value::String(id.to_string()));
            intent::read(command, self.tools).map_err(IntentReadError::Refused)?;
        }
        Ok(())
    }

    /// Puts the ids of elements in the place of their descriptions, as far as the window shows them. What stands there now is not
    /// what is meant once a command before has gone on to another page or dialog.
    fn resolve(&self, before: &[ToolCommand], command: &mut ToolCommand) -> Result<(), IntentReadError> {
        let Observation::Window(view) = self.observation else { return Ok(()) };
        let goes_on = before.iter().any(|one| one.intent.may_go_on());
        let acts = before.iter().any(|one| one.intent.does.acts());
        if enters_at_focus(command, self.tools) && before.iter().any(|one| may_move_keyboard(one, view)) {
            return Err(IntentReadError::Later);
        }
        for (name, takes) in command.takes_in(self.tools) {
            let Some(value) = command.arguments.get_mut(name) else { continue };
            match takes {
                Takes::Element if value.is_object() => {
                    let refused = |problem: &dyn fmt::Display| {
                        IntentReadError::Refused(format!("`{name}`: {problem}; nothing was done"))
                    };
                    let description =
                        Description::deserialize(&*value).map_err(|problem| refused(&problem))?;
                    match description.find(&view.surfaces) {
                        _ if goes_on => return Err(IntentReadError::Later),
                        Ok(id) => *value = Value::String(id.to_string()),
                        Err(NotDescribed::Empty) => return Err(refused(&NotDescribed::Empty)),
                        Err(_) if acts => return Err(IntentReadError::Later),
                        Err(problem) => return Err(refused(&problem)),
                    }
                }
                Takes::Chosen if goes_on => return Err(IntentReadError::Later),
                Takes::Chosen if !view.surfaces.iter().any(chooses_file) => {
                    let reason = "no dialog for a file is open; press what opens it first; nothing was done";
                    return Err(IntentReadError::Refused(reason.to_owned()));
                }
                Takes::Element
                | Takes::Chosen
                | Takes::Name
                | Takes::Path
                | Takes::Item
                | Takes::Items
                | Takes::Keys
                | Takes::Text
                | Takes::Value
                | Takes::Pasted
                | Takes::Across
                | Takes::Down
                | Takes::Window
                | Takes::Program
                | Takes::Files
                | Takes::File
                | Takes::Address
                | Takes::Question
                | Takes::Accepts
                | Takes::Replaces => {}
            }
        }
        Ok(())
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

impl Grant {
    fn of(command: &ToolCommand, subject: &Subject, tools: &[ToolSpec]) -> Self {
        let names: Vec<&str> = subject.names().collect();
        let all = || Value::Object(command.arguments.clone()).to_string();
        let on = match (names.as_slice(), subject.role.as_ref(), command.arguments.get("id")) {
            // A program, or a call of an agent without a window: the grant covers only identical arguments.
            _ if command.agent.is_some() || subject.does == Does::Open => all(),
            // A line that is run, or a password: the grant covers no other text.
            _ if subject.enters_line || subject.fills_password.is_some() => all(),
            // An unnamed element, such as the text of an editor, is identified by its id.
            ([], Some(role), Some(id)) => format!("{role} {id}"),
            ([], _, _) => all(),
            (names, _, _) => names.join(" › "),
        };
        // And what it enters there, or does there besides.
        let with = with_what(command, tools);
        // An approval covers the hosts, recipients and files that it named.
        let values =
            subject.values.iter().chain(&subject.standing).filter(|value| value.origin != ValueOrigin::User);
        let mut named: Vec<&str> = values.map(|value| value.text.as_str()).collect();
        named.extend(subject.writes_executed.as_deref());
        // And the dialog, the page, the document and the program that it was asked in.
        let texts = subject.surroundings.texts.iter().chain(&subject.hosts);
        let files = subject.runs.iter().chain(&subject.document);
        named.extend(texts.chain(files).map(String::as_str));
        let values = subject.elsewhere.iter().chain(&subject.uploads);
        named.extend(values.map(|value| value.text.as_str()));
        // One for a secret covers no other secret in the same field.
        let secret = secret::secret_of(command).map(|(name, _)| secret::mark(name));
        named.extend(secret.as_deref());
        let on = if named.is_empty() { on } else { format!("{on} ({})", named.join(", ")) };
        Self { tool: command.tool.clone(), application: subject.application.clone(), on, with }
    }
}

/// Formats the approved action, for the person who approves it.
impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.tool, self.on)?;
        if !self.with.is_empty() {
            write!(f, " with {}", self.with)?;
        }
        if !self.application.is_empty() {
            write!(f, " in {}", self.application)?;
        }
        Ok(())
    }
}

/// The arguments of a command besides the element that it is aimed at.
fn with_what(command: &ToolCommand, tools: &[ToolSpec]) -> String {
    let takes = command.takes_in(tools);
    let is_aim = |name: &String| {
        takes.iter().any(|(known, takes)| known == name && matches!(takes, Takes::Element | Takes::Name))
    };
    let given = command.arguments.iter().filter(|(name, value)| !is_aim(name) && !value.is_null());
    given.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}
