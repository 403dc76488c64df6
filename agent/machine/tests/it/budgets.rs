//! Budgets are checked before they would be exceeded; unknown costs never count as zero.

use deskhand_machine::{
    model::{ModelFailureKind, ModelRequest, Usage},
    money::{Money, Price, PriceTable},
    outcome::OutcomeKind,
    session::{Effect, RoundLimits, SessionConfig, SessionEvent, SessionLimits},
};
use serde_json::{Value, json};

use crate::harness::{Harness, config, host};

fn priced(limits: RoundLimits, session_limits: SessionLimits) -> SessionConfig {
    let price = Price { prompt: Money(250_000), cached: Some(Money(25_000)), completion: Money(2_000_000) };
    SessionConfig {
        limits,
        session_limits,
        model: "gpt-5-mini".to_owned(),
        prices: PriceTable { models: [("gpt-5-mini".to_owned(), price)].into() },
        ..config()
    }
}

fn asked(h: &Harness) -> ModelRequest {
    let Effect::Ask { request } = h.effect() else { panic!("{:?}", h.effect()) };
    request
}

const fn usage(read: u64, written: u64) -> Usage {
    Usage { prompt_tokens: Some(read), cached_tokens: None, completion_tokens: Some(written) }
}

/// Goes on in another way each time.
fn goes_on(h: &Harness) -> Value {
    json!({"thought": "t", "status": "CONTINUE", "function": "launch_application",
        "arguments": {"name": format!("try {}", h.session.tally().steps)}})
}

/// Asks the model again and again, each time for so much, until the round ends.
fn run(mut h: Harness, taking: Usage) -> Harness {
    loop {
        match h.effect() {
            Effect::Observe { .. } => h.look(),
            Effect::Ask { .. } => {
                let reply = goes_on(&h);
                h.reply_taking(&reply, taking);
            }
            Effect::Call { .. } => h.fails("no"),
            Effect::Finish { .. } => return h,
            other @ (Effect::AwaitRequest
            | Effect::Rank { .. }
            | Effect::Retrieve { .. }
            | Effect::AskUser { .. }
            | Effect::AwaitApproval { .. }
            | Effect::Delegate { .. }) => panic!("{other:?}"),
        }
    }
}

#[test]
fn token_limit_is_checked_against_the_upper_bound_before_a_call() {
    let limit = 60_000;
    let h = run(
        Harness::started(priced(
            RoundLimits { tokens_max: Some(limit), ..RoundLimits::default() },
            SessionLimits::default(),
        )),
        usage(6_000, 1_000),
    );
    let outcome = h.outcome();
    assert_eq!(outcome.kind, OutcomeKind::BudgetExhausted);
    assert!(outcome.reason.starts_with("the next model call may take "), "{}", outcome.reason);
    let tally = h.session.tally();
    let used = tally.prompt_tokens + tally.completion_tokens;
    assert!(used <= limit && used > limit / 2, "{used} of {limit} tokens were used");
}

#[test]
fn unreported_usage_is_charged_at_the_upper_bound() {
    let limits = RoundLimits { tokens_max: Some(60_000), ..RoundLimits::default() };
    let said = run(Harness::started(priced(limits.clone(), SessionLimits::default())), usage(100, 10));
    let unsaid = run(Harness::started(priced(limits, SessionLimits::default())), Usage::default());
    assert_eq!(unsaid.session.tally().prompt_tokens, 0, "what is shown is what was said");
    assert!(unsaid.session.tally().model_calls < said.session.tally().model_calls / 2);
    assert_eq!(unsaid.session.tally().cost.to_string(), "unknown");
}

#[test]
fn cost_limit_is_never_exceeded_and_unknown_price_is_an_error() {
    let limits = RoundLimits { money_max: Some(Money(50_000)), ..RoundLimits::default() };
    let h = run(Harness::started(priced(limits.clone(), SessionLimits::default())), usage(6_000, 1_000));
    let outcome = h.outcome();
    assert_eq!(outcome.kind, OutcomeKind::BudgetExhausted);
    assert!(outcome.reason.contains("of the limit of $0.05"), "{}", outcome.reason);
    // 6,000 tokens read at 0.25 and 1,000 written at 2 dollars a million.
    let cost = h.session.tally().cost;
    assert_eq!(cost.known, Money(3_500 * u64::from(h.session.tally().model_calls)));
    assert!(cost.known <= Money(50_000) && cost.unknown_calls == 0);

    let mut config = priced(limits, SessionLimits::default());
    config.model = "no-such-model".to_owned();
    let mut h = Harness::started(config.clone());
    h.look();
    let outcome = h.outcome();
    assert_eq!(outcome.kind, OutcomeKind::BudgetExhausted);
    assert!(
        outcome.reason.contains("the price of the model `no-such-model` is unknown"),
        "{}",
        outcome.reason
    );
    assert_eq!(h.session.tally().model_calls, 0, "it was not asked");
    // Without a limit any cost is allowed, and it is reported as unknown, not as zero.
    config.limits.money_max = None;
    let mut h = Harness::started(config);
    h.step(&host("FINISH"));
    assert_eq!(h.session.tally().cost.to_string(), "unknown");
}

#[test]
fn retries_are_limited_by_the_remaining_budget() {
    let mut h = Harness::started(priced(
        RoundLimits { model_calls_max: 2, ..RoundLimits::default() },
        SessionLimits::default(),
    ));
    h.look();
    assert_eq!(asked(&h).attempts_max, 2);
    h.model_fails_with(ModelFailureKind::Server);
    assert_eq!((h.outcome().kind, h.session.tally().model_calls), (OutcomeKind::Error, 2));
    // A failing server may still charge; an unreachable one does not.
    assert_eq!(h.session.tally().cost.unknown_calls, 2);
    let mut h = Harness::started(priced(RoundLimits::default(), SessionLimits::default()));
    h.look();
    h.model_fails();
    assert_eq!((h.session.tally().model_calls, h.session.tally().cost.to_string()), (3, "$0.00".to_owned()));
    // Tokens and money bound the repetition as well.
    let mut h = Harness::started(priced(
        RoundLimits { tokens_max: Some(25_000), ..RoundLimits::default() },
        SessionLimits::default(),
    ));
    h.look();
    assert!((1..=5).contains(&asked(&h).attempts_max), "{}", asked(&h).attempts_max);
}

#[test]
fn session_limits_apply_across_rounds() {
    let rounds = |session_limits: SessionLimits| {
        let mut h = Harness::started(priced(RoundLimits::default(), session_limits));
        for count in 1..=20 {
            while !matches!(h.effect(), Effect::Finish { .. }) {
                h.look();
                if matches!(h.effect(), Effect::Ask { .. }) {
                    h.reply_taking(&host("FINISH"), usage(6_000, 1_000));
                }
            }
            if h.outcome().kind == OutcomeKind::BudgetExhausted {
                return (count, h.outcome().reason, h);
            }
            h.answer(SessionEvent::acknowledged());
            h.wait_ms(1_000_000);
            h.answer(SessionEvent::Requested { text: "again".to_owned(), plan: None });
        }
        panic!("no limit held")
    };
    let none = SessionLimits::default;
    let (count, reason, h) = rounds(SessionLimits { steps_max: Some(3), ..none() });
    assert_eq!((count, reason.as_str()), (4, "the session's limit of 3 steps is reached"));
    assert_eq!(h.session.session_tally().steps, 3);
    let (count, reason, _) = rounds(SessionLimits { model_calls_max: Some(2), ..none() });
    assert_eq!((count, reason.as_str()), (3, "the session's limit of 2 model calls is reached"));
    let (_, reason, h) = rounds(SessionLimits { tokens_max: Some(60_000), ..none() });
    assert!(reason.contains("of the session's limit of 60000 tokens"), "{reason}");
    let tally = h.session.session_tally();
    assert!(tally.prompt_tokens + tally.completion_tokens <= 60_000);
    let (_, reason, h) = rounds(SessionLimits { money_max: Some(Money(50_000)), ..none() });
    assert!(reason.contains("of the session's limit of $0.05"), "{reason}");
    assert!(h.session.session_tally().cost.known <= Money(50_000));
    // Only the time of the rounds counts, not that between them. A round takes some 30 ms here.
    let (count, reason, _) = rounds(SessionLimits { wall_ms_max: Some(100), ..none() });
    assert_eq!(reason, "the session's time limit of 0 s is reached");
    assert!((3..=6).contains(&count), "{count}");
}
