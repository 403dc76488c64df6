//! Differences between agents with steps: what they see, how they decide, and what they propose.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    agent_desk::AgentDesk,
    effect::{AskedBy, StepRef},
    gate::Proposal,
    ledgers::Ledgers,
    phases::{Expects, ObservedStep},
    stall::{Did, ObservationFingerprint},
};
use crate::{
    command::{CallResult, ToolCommand, ToolSpec},
    model::{MessagePart, ModelMessage, ReplyKind, Speaker},
    observation::{Observation, ObservationTarget},
    prompt::PromptError,
    reply::ReplyError,
    retrieval::Lookup,
    small::{SmallModelDecision, SmallModelOffer},
};
use deskhand_ui::PictureRef;

/// The prompt of a step: system message and user message.
pub(super) struct StepPrompt {
    pub(super) system: String,
    /// Worked examples: what was shown, and the reply to it.
    pub(super) examples: Vec<(String, String)>,
    pub(super) user: String,
    /// Pictures that other agents stored for it, placed before its own picture.
    pub(super) kept: Vec<PictureRef>,
    pub(super) picture: Option<PictureRef>,
}

impl StepPrompt {
    /// The messages of a new step: system, worked examples, then user.
    pub(super) fn messages(self) -> Vec<ModelMessage> {
        let mut shown = ModelMessage::text(Speaker::User, self.user);
        shown.parts.extend(
            self.kept.into_iter().chain(self.picture).map(|picture| MessagePart::Picture { picture }),
        );
        let examples = self.examples.into_iter().flat_map(|(shown, reply)| {
            [ModelMessage::text(Speaker::User, shown), ModelMessage::text(Speaker::Assistant, reply)]
        });
        std::iter::once(ModelMessage::text(Speaker::System, self.system))
            .chain(examples)
            .chain([shown])
            .collect()
    }
}

/// Event of a proposal, for the status of its agent.
pub(super) enum ProposalEvent<'a> {
    /// Waits for an approval.
    Waits(&'a AskedBy),
    /// Withdrawn, or rejected with an instruction.
    Withdrawn,
}

/// An agent that takes steps. Its state is in the ledgers; what its steps lead to is decided by its machine.
pub(super) trait StepAgent: Copy {
    /// Its decision.
    type Reply: Expects;

    /// Its desk; `None` if the agent is gone.
    fn desk(self, ledgers: &Ledgers) -> Option<&AgentDesk>;
    /// Its desk, to work at.
    fn desk_mut(self, ledgers: &mut Ledgers) -> Option<&mut AgentDesk>;
    /// Its next step; `None` if the agent is gone.
    fn step(self, ledgers: &Ledgers, number: u32) -> Option<StepRef>;
    /// Moves its status.
    fn moves(self, ledgers: &mut Ledgers, event: ProposalEvent<'_>);
    /// Returns the view that it observes.
    fn look(self, ledgers: &Ledgers) -> ObservationTarget;
    /// Returns the request to retrievers before its next step; `None` if it was already made, or retrievers do not
    /// serve this agent.
    fn lookup(self, ledgers: &Ledgers) -> Option<Lookup>;
    /// Its decision without a model, if the observation suffices.
    fn decide_without_model(self, ledgers: &mut Ledgers, observation: &Observation) -> Option<Self::Reply>;
    /// Returns the choices for a small model; `None` if it uses another model.
    fn offer(self, ledgers: &Ledgers, observation: &Observation) -> Option<SmallModelOffer>;
    /// Its prompt, for a small model if there is an offer.
    fn asking(
        self,
        ledgers: &mut Ledgers,
        observation: &Observation,
        offer: Option<&SmallModelOffer>,
    ) -> Result<StepPrompt, PromptError>;
    /// The kind and schema of its replies.
    fn schema(self, ledgers: &Ledgers, offer: Option<&SmallModelOffer>) -> (ReplyKind, Value);
    /// Parses the reply to a question about what it observed.
    fn parse(
        self,
        ledgers: &Ledgers,
        observed: &ObservedStep,
        text: &str,
    ) -> Result<SmallModelDecision<Self::Reply>, ReplyError>;
    /// Its tools.
    fn tools(self, ledgers: &Ledgers) -> Cow<'_, [ToolSpec]>;
    /// The commands that a reply proposes.
    fn proposal(self, ledgers: &Ledgers, reply: &Self::Reply) -> Proposal;
    /// The commands that a policy could decide on, also where the one in force is not asked.
    fn reviewable(self, ledgers: &Ledgers, reply: &Self::Reply) -> Vec<ToolCommand> {
        self.proposal(ledgers, reply).commands
    }
    /// Refuses a command regardless of the policy; `tools` are those of the agent.
    fn refusal(self, ledgers: &Ledgers, tools: &[ToolSpec], command: &ToolCommand) -> Option<CallResult>;
    /// Its observation and intended actions, to detect repetition.
    fn progress(
        self,
        ledgers: &Ledgers,
        observation: &Observation,
        reply: &Self::Reply,
    ) -> (ObservationFingerprint, Did);
}
