//! Budgets of a round and a session, checked before a step or call would exceed them.
//!
//! The tokens of a model call are unknown until it returns, so the upper bound counts: one token per two bytes of
//! text (models need one per three to four), [`PICTURE_TOKENS_MAX`] per picture, and the maximum length of the
//! reply. The number of requests, retries included, is limited to what fits into the rest of the budget. If a
//! provider does not report usage, the same bound is charged.

use serde::{Deserialize, Serialize};

use super::{
    config::{RoundLimits, SessionConfig, SessionLimits},
    round::{RoundTally, SpentBudget},
};
use crate::{
    model::{MessagePart, ModelFailure, ModelReply, ModelRequest, ReplyKind, Usage},
    money::{Money, Price},
};

/// The fewest bytes of text per token.
const BYTES_PER_TOKEN_MIN: u64 = 2;
/// The most tokens per picture, for all known providers at the size that is sent.
const PICTURE_TOKENS_MAX: u64 = 3_000;

/// The most tokens that the protocol for an operator adds: the declaration of its tool, or how to reply without one.
const OPERATOR_TOKENS_MAX: u64 = 2_000;

/// The upper bound of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RequestCostCeiling {
    tokens: u64,
    /// `None` if the price is unknown.
    money: Option<Money>,
}

/// The budget of a round or a session.
struct BudgetCheck<'a> {
    /// The owner of the limits, as it precedes `limit` in messages.
    whose: &'static str,
    spent: &'a SpentBudget,
    elapsed_ms: u64,
    /// The steps that do not count for the limit on them.
    free_steps: u32,
    steps_max: Option<u32>,
    model_calls_max: Option<u32>,
    tokens_max: Option<u64>,
    money_max: Option<Money>,
    wall_ms_max: Option<u64>,
}

impl RequestCostCeiling {
    /// Of a request that models of these prices may answer: the most that one of them may cost.
    fn of(request: &ModelRequest, prices: &[Option<&Price>]) -> Self {
        let size = |text: &str| u64::try_from(text.len()).unwrap_or(u64::MAX);
        let parts = request.messages.iter().flat_map(|message| &message.parts);
        let prompt = parts.fold(size(&request.schema.to_string()), |sum, part| {
            sum.saturating_add(match part {
                MessagePart::Text { text } => size(text),
                MessagePart::Picture { .. } => PICTURE_TOKENS_MAX.saturating_mul(BYTES_PER_TOKEN_MIN),
            })
        });
        let added = if request.reply == ReplyKind::Operator { OPERATOR_TOKENS_MAX } else { 0 };
        let read = prompt.div_ceil(BYTES_PER_TOKEN_MIN).saturating_add(added);
        let written = u64::from(request.completion_tokens_max);
        let usage =
            Usage { prompt_tokens: Some(read), cached_tokens: None, completion_tokens: Some(written) };
        let money = prices.iter().map(|price| price.and_then(|price| price.of(usage)));
        let most = money.reduce(|most, money| Some(most?.max(money?))).flatten();
        Self { tokens: read.saturating_add(written), money: most }
    }
}

impl SpentBudget {
    const fn tokens(&self) -> u64 {
        self.tally
            .prompt_tokens
            .saturating_add(self.tally.completion_tokens)
            .saturating_add(self.assumed_tokens)
    }

    const fn money(&self) -> Money {
        self.tally.cost.known.plus(self.assumed_money)
    }

    /// Charges the upper bound for requests whose usage the provider did not report.
    fn assume(&mut self, attempts: u32, usage: Usage, need: RequestCostCeiling, price: Option<&Price>) {
        if usage.prompt_tokens.is_some() && usage.completion_tokens.is_some() {
            return;
        }
        let said = usage.prompt_tokens.unwrap_or(0).saturating_add(usage.completion_tokens.unwrap_or(0));
        let most = need.tokens.saturating_mul(u64::from(attempts));
        self.assumed_tokens = self.assumed_tokens.saturating_add(most.saturating_sub(said));
        if price.is_some() {
            let money = need.money.unwrap_or_default().0.saturating_mul(u64::from(attempts));
            self.assumed_money = self.assumed_money.plus(Money(money));
        }
    }

    fn add_reply(&mut self, reply: &ModelReply, need: RequestCostCeiling, price: Option<&Price>) {
        self.tally.add_reply(reply, price);
        self.assume(reply.attempts, reply.usage, need, price);
    }

    fn add_failure(&mut self, failure: &ModelFailure, need: RequestCostCeiling, price: Option<&Price>) {
        self.tally.add_model_failure(failure, price);
        if failure.kind.may_be_charged() {
            self.assume(failure.attempts, failure.usage, need, price);
        }
    }
}

impl BudgetCheck<'_> {
    fn no_time(&self) -> Option<String> {
        let limit = self.wall_ms_max.filter(|limit| self.elapsed_ms >= *limit)?;
        Some(time_text(self.whose, limit))
    }

    fn no_step(&self) -> Option<String> {
        let counted = self.spent.tally.steps.saturating_sub(self.free_steps);
        let limit = self.steps_max.filter(|limit| counted >= *limit);
        limit
            .map(|limit| format!("the {}limit of {limit} steps is reached", self.whose))
            .or_else(|| self.no_time())
    }

    /// Returns the number of requests with this upper bound that may be sent.
    ///
    /// # Errors
    /// The reason, if none.
    fn requests(&self, need: RequestCostCeiling, model: &str) -> Result<u32, String> {
        let whose = self.whose;
        let fits = |left: u64, need: u64| {
            u32::try_from(left.checked_div(need).unwrap_or(u64::MAX)).unwrap_or(u32::MAX)
        };
        let mut most = u32::MAX;
        if let Some(limit) = self.model_calls_max {
            most = most.min(limit.saturating_sub(self.spent.tally.model_calls));
            if most == 0 {
                return Err(format!("the {whose}limit of {limit} model calls is reached"));
            }
        }
        if let Some(limit) = self.tokens_max {
            let (used, tokens) = (self.spent.tokens(), need.tokens);
            most = most.min(fits(limit.saturating_sub(used), tokens));
            if most == 0 {
                return Err(format!(
                    "the next model call may take {tokens} tokens, and {used} of the {whose}limit of {limit} tokens are used"
                ));
            }
        }
        if let Some(limit) = self.money_max {
            let Some(money) = need.money else {
                return Err(format!(
                    "the price of the model `{model}` is unknown, so the {whose}limit of {limit} cannot be enforced; \
                     set its price in the configuration (prices), or remove the limit"
                ));
            };
            let used = self.spent.money();
            most = most.min(fits(limit.minus(used).0, money.0));
            if most == 0 {
                return Err(format!(
                    "the next model call may cost {money}, and {used} of the {whose}limit of {limit} is spent"
                ));
            }
        }
        self.no_time().map_or(Ok(most), Err)
    }
}

/// The message for a reached time limit.
fn time_text(whose: &str, limit_ms: u64) -> String {
    format!("the {whose}time limit of {} s is reached", limit_ms / 1000)
}

/// Time, steps and model calls that the session has used.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct BudgetLedger {
    /// The time of the last event.
    now_ms: u64,
    /// The start of the current round, without the time that is not the agents'.
    started_ms: u64,
    /// Steps of all rounds.
    steps: u32,
    /// Resources used by the current round.
    round: SpentBudget,
    /// The steps of workflows that agents run. They are as many as the workflow has, so they count for no limit of the round.
    nested_steps: u32,
    /// Resources used by all rounds.
    session: SpentBudget,
    /// Total time of the finished rounds, in milliseconds.
    rounds_ms: u64,
}

impl BudgetLedger {
    /// The time of the last event.
    pub(super) const fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// Notes the time of an event.
    pub(super) fn advance(&mut self, at_ms: u64) {
        self.now_ms = self.now_ms.max(at_ms);
    }

    /// Begins a round.
    pub(super) fn begin_round(&mut self) {
        self.round = SpentBudget::default();
        self.nested_steps = 0;
        self.started_ms = self.now_ms;
    }

    /// Ends a round.
    pub(super) const fn end_round(&mut self) {
        self.rounds_ms = self.rounds_ms.saturating_add(self.elapsed_ms());
        self.started_ms = self.now_ms;
    }

    /// Takes time out of the current round that is not the agents'.
    pub(super) const fn leave_out(&mut self, away_ms: u64) {
        self.started_ms = self.started_ms.saturating_add(away_ms);
    }

    /// The time of the current round up to the last event, in milliseconds.
    pub(super) const fn elapsed_ms(&self) -> u64 {
        self.now_ms.saturating_sub(self.started_ms)
    }

    /// The steps of all rounds.
    pub(super) const fn steps(&self) -> u32 {
        self.steps
    }

    /// The resources used by the current round.
    pub(super) const fn tally(&self) -> &RoundTally {
        &self.round.tally
    }

    /// The resources used by all rounds.
    pub(super) const fn session_tally(&self) -> &RoundTally {
        &self.session.tally
    }

    fn bounds(&self, config: &SessionConfig, nested: bool) -> [BudgetCheck<'_>; 2] {
        let RoundLimits { steps_max, model_calls_max, tokens_max, money_max, wall_ms_max, .. } =
            config.limits;
        let round = BudgetCheck {
            whose: "",
            spent: &self.round,
            elapsed_ms: self.elapsed_ms(),
            free_steps: self.nested_steps,
            steps_max: Some(steps_max).filter(|_| !nested),
            model_calls_max: Some(model_calls_max),
            tokens_max,
            money_max,
            wall_ms_max,
        };
        let SessionLimits { steps_max, model_calls_max, tokens_max, money_max, wall_ms_max } =
            config.session_limits;
        let session = BudgetCheck {
            whose: "session's ",
            spent: &self.session,
            elapsed_ms: self.rounds_ms.saturating_add(self.elapsed_ms()),
            free_steps: 0,
            steps_max,
            model_calls_max,
            tokens_max,
            money_max,
            wall_ms_max,
        };
        [round, session]
    }

    /// The time left in the current round, in milliseconds; `None` without a limit.
    pub(super) fn wall_ms_left(&self, config: &SessionConfig, nested: bool) -> Option<u64> {
        let left = |bounds: &BudgetCheck<'_>| Some(bounds.wall_ms_max?.saturating_sub(bounds.elapsed_ms));
        self.bounds(config, nested).iter().filter_map(left).min()
    }

    /// The message for the time limit that is reached first.
    pub(super) fn time_is_up(&self, config: &SessionConfig, nested: bool) -> String {
        let bounds = self.bounds(config, nested);
        let nearest = bounds
            .iter()
            .filter_map(|bounds| Some((bounds.wall_ms_max?, bounds)))
            .min_by_key(|(limit, bounds)| limit.saturating_sub(bounds.elapsed_ms));
        nearest.map_or_else(|| time_text("", 0), |(limit, bounds)| time_text(bounds.whose, limit))
    }

    /// Takes a step and returns its number.
    ///
    /// # Errors
    /// The reason, if no step is left.
    pub(super) fn take_step(&mut self, config: &SessionConfig, nested: bool) -> Result<u32, String> {
        if let Some(reason) = self.bounds(config, nested).iter().find_map(BudgetCheck::no_step) {
            return Err(reason);
        }
        self.count_step(nested);
        Ok(self.steps)
    }

    /// Counts a step; `nested` if it is one of a workflow that an agent runs.
    pub(super) fn count_step(&mut self, nested: bool) {
        self.steps = self.steps.saturating_add(1);
        if nested {
            self.nested_steps = self.nested_steps.saturating_add(1);
        }
        for spent in [&mut self.round, &mut self.session] {
            spent.tally.steps = spent.tally.steps.saturating_add(1);
        }
    }

    /// Why neither a step nor a model call is possible; `None` if both may be. The exact check follows once the call is
    /// known.
    pub(super) fn no_budget(&self, config: &SessionConfig, nested: bool) -> Option<String> {
        let least = RequestCostCeiling { tokens: 1, money: price(config, None).map(|_| Money(1)) };
        let model = &config.model;
        self.bounds(config, nested)
            .iter()
            .find_map(|bounds| bounds.no_step().or_else(|| bounds.requests(least, model).err()))
    }

    /// Returns the number of requests that may be sent for a model call.
    ///
    /// # Errors
    /// The reason, if none.
    pub(super) fn requests_allowed(
        &self,
        config: &SessionConfig,
        nested: bool,
        request: &ModelRequest,
    ) -> Result<u32, String> {
        let need = need(config, request);
        let [round, session] = self.bounds(config, nested);
        let SessionConfig { model, prices, roles, .. } = config;
        let unpriced = request.models.iter().map(|name| roles.priced(Some(name), model));
        let model = unpriced.into_iter().find(|name| prices.find(name).is_none()).unwrap_or(model);
        Ok(round.requests(need, model)?.min(session.requests(need, model)?))
    }

    /// Counts a call that is sent.
    pub(super) fn count_call(&mut self) {
        for spent in [&mut self.round, &mut self.session] {
            spent.tally.calls = spent.tally.calls.saturating_add(1);
        }
    }

    /// Takes back a call that was counted and is not sent.
    pub(super) fn uncount_call(&mut self) {
        for spent in [&mut self.round, &mut self.session] {
            spent.tally.calls = spent.tally.calls.saturating_sub(1);
        }
    }

    /// Counts a reply to a request.
    pub(super) fn count_reply(
        &mut self,
        config: &SessionConfig,
        asked: Option<&ModelRequest>,
        reply: &ModelReply,
    ) {
        let need = need_of(config, asked);
        reply.failed.iter().for_each(|failure| self.count_one_failure(config, failure, need));
        let price = price(config, reply.by.as_deref()).copied();
        for spent in [&mut self.round, &mut self.session] {
            spent.add_reply(reply, need, price.as_ref());
        }
    }

    /// Counts the failure of a request.
    pub(super) fn count_model_failure(
        &mut self,
        config: &SessionConfig,
        asked: Option<&ModelRequest>,
        failure: &ModelFailure,
    ) {
        let need = need_of(config, asked);
        failure.before.iter().for_each(|before| self.count_one_failure(config, before, need));
        self.count_one_failure(config, failure, need);
    }

    /// Counts the requests to one model.
    fn count_one_failure(
        &mut self,
        config: &SessionConfig,
        failure: &ModelFailure,
        need: RequestCostCeiling,
    ) {
        let price = price(config, failure.by.as_deref()).copied();
        for spent in [&mut self.round, &mut self.session] {
            spent.add_failure(failure, need, price.as_ref());
        }
    }
}

/// The price of a model, by its name among the session's models.
fn price<'a>(config: &'a SessionConfig, name: Option<&'a str>) -> Option<&'a Price> {
    config.prices.find(config.roles.priced(name, &config.model))
}

fn need(config: &SessionConfig, request: &ModelRequest) -> RequestCostCeiling {
    let SessionConfig { model, prices, roles, .. } = config;
    RequestCostCeiling::of(request, &roles.prices(request, model, prices))
}

/// The upper bound of the pending model call.
fn need_of(config: &SessionConfig, asked: Option<&ModelRequest>) -> RequestCostCeiling {
    asked.map_or(RequestCostCeiling { tokens: 0, money: None }, |request| need(config, request))
}
