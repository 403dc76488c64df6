//! Questions to models.

use serde_json::Value;

use super::{ledgers::Ledgers, phases::ObservedStep};
use crate::{
    agent::AgentRef,
    model::{ModelRequest, ReplyKind},
};
use deskhand_ui::text::one_line;

/// The most tokens of a small model's reply: one that repeats itself is stopped soon.
const SMALL_REPLY_TOKENS_MAX: u32 = 400;

/// The model request, or why it may not be sent.
pub(super) fn model_request(
    ledgers: &Ledgers,
    (reply, schema): (ReplyKind, Value),
    observed: &ObservedStep,
) -> Result<ModelRequest, String> {
    let application = observed.observation.application().map(|app| app.name.as_str());
    // A model that repairs texts may not see what an operator works in.
    let repairs = observed.repairs > 0 && reply != ReplyKind::Operator;
    let mut request = ModelRequest {
        agent: observed.step.agent.clone(),
        messages: observed.messages.clone(),
        reply,
        schema,
        completion_tokens_max: match observed.offer {
            Some(_) => ledgers.config.limits.completion_tokens_max.min(SMALL_REPLY_TOKENS_MAX),
            None => ledgers.config.limits.completion_tokens_max,
        },
        attempts_max: 0,
        models: ledgers.config.roles.of(&observed.step.agent, application, repairs).to_vec(),
    };
    let nested = ledgers.plans.is_nested();
    request.attempts_max = ledgers.budget.requests_allowed(&ledgers.config, nested, &request)?;
    Ok(request)
}

/// A conversation with all words of the user that came since it began.
pub(super) fn with_words(ledgers: &mut Ledgers, observed: ObservedStep) -> ObservedStep {
    if observed.step.agent == AgentRef::HostAgent {
        ledgers.round.heard();
    }
    let (marks, count) = (ledgers.marks("words"), ledgers.people.remarks_count());
    let line = |text: &str| format!("- {}", marks.said(&one_line(text)));
    let words: Vec<String> = ledgers.people.remarks_after(observed.words).map(line).collect();
    observed.with_words(&words, count)
}
