//! Properties of the machine under arbitrary events.

use deskhand_machine::{
    agent::{AgentRef, AgentReport},
    command::{CallResult, ToolCommand},
    model::{ModelFailureKind, ReplyKind, Usage},
    money::{Money, Price, PriceTable},
    observation::{DesktopView, Observation, ObserveFailure},
    policy::{Policy, PolicyDecision, PolicyRule},
    prompt::PromptSet,
    retrieval::{Hit, Retrieval, Retriever, RetrieverUse, Trust},
    session::{
        ApprovalScope, Effect, EventRecord, FollowerPlan, ModelRoles, NoAnswer, RoundLimits, Session,
        SessionConfig, SessionEvent, SessionLimits, StopReason, SubtaskStatus, Verify,
    },
};
use deskhand_ui::action::Verdict;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    harness::{Harness, config, tool},
    resuming::oven,
};

const STEPS_MAX: u32 = 14;
const CALLS_MAX: u32 = 24;
const TOKENS_MAX: u64 = 400_000;
const MONEY_MAX: Money = Money(200_000);
const SESSION_STEPS_MAX: u32 = 40;

/// `press_keys` is denied, `visit` asks, the rest is allowed; every budget has a limit.
fn bounded(verify: Verify) -> SessionConfig {
    let rule =
        |decision, tool: &str| PolicyRule { tool: tool.to_owned(), ..PolicyRule::new(decision, "rule") };
    let price = Price { prompt: Money(250_000), cached: None, completion: Money(2_000_000) };
    let mut config = config();
    config.app_tools.extend([tool("press_keys"), tool("visit")]);
    SessionConfig {
        limits: RoundLimits {
            steps_max: STEPS_MAX,
            model_calls_max: CALLS_MAX,
            tokens_max: Some(TOKENS_MAX),
            money_max: Some(MONEY_MAX),
            ..RoundLimits::default()
        },
        session_limits: SessionLimits { steps_max: Some(SESSION_STEPS_MAX), ..SessionLimits::default() },
        policy: Policy {
            rules: vec![rule(PolicyDecision::Deny, "press_keys"), rule(PolicyDecision::Ask, "visit")],
            ..Policy::default()
        },
        model: "m".to_owned(),
        prices: PriceTable { models: [("m".to_owned(), price)].into() },
        verify,
        agents: vec![oven()],
        retrieval: Retrieval {
            uses: Retriever::ALL
                .map(|retriever| RetrieverUse { retriever, agents: Vec::new(), applications: Vec::new() })
                .to_vec(),
            ..Retrieval::default()
        },
        ..config
    }
}

fn hit(number: u32) -> Hit {
    Hit {
        retriever: Retriever::Help,
        trust: Trust::Installed,
        score: 700,
        title: format!("Page {number}"),
        origin: "help.html".to_owned(),
        application: None,
        text: "Press the button.".to_owned(),
    }
}

/// What the model says, by a number: for the HostAgent and the AppAgents alike, sensible or not.
fn said(choice: u16) -> Value {
    const WORDS: [&str; 9] =
        ["CONTINUE", "ASSIGN", "FINISH", "FAIL", "PENDING", "CONFIRM", "ERROR", "SCREENSHOT", "nonsense"];
    const TOOLS: [&str; 5] = ["click_element", "press_keys", "visit", "read_table", "no_such_tool"];
    let pick = |from: &[&'static str], by: u16| from[usize::from(by) % from.len()];
    let (word, first, second) = (pick(&WORDS, choice), pick(&TOOLS, choice / 9), pick(&TOOLS, choice / 45));
    let action = |name: &str| json!({"function": name, "arguments": {"id": "e3"}, "expect": "done"});
    let actions = match choice / 225 % 3 {
        _ if word == "SCREENSHOT" && choice.is_multiple_of(2) => json!([]),
        0 => json!([action(first)]),
        _ => json!([action(first), action(second)]),
    };
    let target = pick(&["w1", "w9", "a1"], choice / 11);
    let mut reply = json!({"thought": "t", "status": word, "current_subtask": format!("part {}", choice % 5),
        "control_label": target, "questions": [{"question": "q", "required": choice.is_multiple_of(4)}], "action": actions});
    if choice.is_multiple_of(5) {
        reply["next"] = json!([{"subtask": "more", "launch": "x"}]);
    }
    if choice.is_multiple_of(3) {
        reply["notes"] = json!([format!("fact {choice}")]);
    }
    if choice.is_multiple_of(7) {
        reply["function"] = json!("launch_application");
        reply["arguments"] = json!({"name": "x"});
    }
    reply
}

/// What comes back for the wanted effect, by a number; sometimes what answers nothing.
fn answer(h: &Harness, choice: u16) -> SessionEvent {
    let failure = |window_gone| ObserveFailure {
        window_gone,
        desktop_gone: choice.is_multiple_of(101),
        message: "gone".to_owned(),
    };
    match h.effect() {
        _ if choice.is_multiple_of(97) => SessionEvent::Stopped { reason: StopReason::User },
        Effect::AwaitRequest => {
            let plan = FollowerPlan {
                object: Some("sales".to_owned()),
                steps: vec!["a".to_owned(), "b".to_owned()],
                ..FollowerPlan::default()
            };
            SessionEvent::Requested {
                text: "go on".to_owned(),
                plan: choice.is_multiple_of(3).then_some(plan),
            }
        }
        Effect::Observe { .. } if choice.is_multiple_of(13) => {
            SessionEvent::ObserveFailed { failure: failure(choice.is_multiple_of(2)) }
        }
        Effect::Observe { look } => h.seen(&look),
        Effect::Ask { .. } if choice.is_multiple_of(31) => h.no_reply(ModelFailureKind::Server),
        Effect::Rank { .. } if choice.is_multiple_of(3) => SessionEvent::Ranked { scores: Vec::new() },
        Effect::Rank { texts, .. } => {
            let scores = (0..).take(texts.len()).map(|place| place * i32::from(choice) % 2_001 - 1_000);
            SessionEvent::Ranked { scores: scores.collect() }
        }
        Effect::Retrieve { .. } => SessionEvent::Retrieved {
            hits: vec![hit(u32::from(choice))],
            problems: vec!["no answer".to_owned()],
        },
        Effect::Ask { request } => {
            let usage =
                Usage { prompt_tokens: Some(2_000), cached_tokens: None, completion_tokens: Some(200) };
            let is_small = [ReplyKind::SmallHost, ReplyKind::SmallApp].contains(&request.reply);
            let said = if is_small { chosen(&request.schema, choice) } else { said(choice) };
            h.replied(&said.to_string(), if choice.is_multiple_of(4) { Usage::default() } else { usage })
        }
        Effect::Call { .. } if choice.is_multiple_of(4) => {
            SessionEvent::Returned { result: CallResult::failure(Some(Verdict::NotSeen), "no effect") }
        }
        Effect::Call { .. } => SessionEvent::Returned {
            result: CallResult {
                status: deskhand_machine::command::CallStatus::Success,
                effect: (!choice.is_multiple_of(6)).then_some(Verdict::Seen),
                window: h.windows.first().cloned(),
                ..CallResult::failure(None, "done")
            },
        },
        Effect::AskUser { .. } if choice.is_multiple_of(2) => SessionEvent::Answered { answers: Vec::new() },
        Effect::AskUser { .. } => SessionEvent::Unanswered { why: NoAnswer::TimedOut },
        Effect::AwaitApproval { .. } => match choice % 5 {
            0 => SessionEvent::Approved { scope: ApprovalScope::Session },
            1 | 2 => SessionEvent::Approved { scope: ApprovalScope::Once },
            3 => SessionEvent::Rejected { instruction: Some("otherwise".to_owned()), is_message: false },
            _ => SessionEvent::Unanswered { why: NoAnswer::NoChannel },
        },
        Effect::Delegate { .. } => {
            let status = [SubtaskStatus::Finished, SubtaskStatus::Failed][usize::from(choice % 2)];
            SessionEvent::Delegated { report: AgentReport { status, result: "reported".to_owned() } }
        }
        Effect::Finish { .. } => SessionEvent::acknowledged(),
    }
}

/// What a small model chooses of what it is offered, by a number; sometimes something else.
fn chosen(schema: &Value, choice: u16) -> Value {
    let mut reply = json!({"needs": "n", "task": "t", "text": "t"});
    for (name, field) in schema["properties"].as_object().unwrap() {
        let Some(offered) = field["enum"].as_array() else { continue };
        let place = usize::from(choice / 3) % (offered.len() + 1);
        reply[name] = offered.get(place).cloned().unwrap_or(json!("something else"));
    }
    reply
}

/// Follows what may be sent: nothing denied, and nothing that was to be asked without a yes to exactly that.
#[derive(Default)]
struct Watch {
    /// What was approved and not sent yet.
    approved: Vec<ToolCommand>,
    /// What may be sent for the whole session, by tool; all act on the same element of the same application.
    granted: Vec<String>,
    /// Whether the model wanted an approval for what it proposed last.
    confirms: bool,
}

impl Watch {
    fn check(&mut self, before: &Effect, event: &SessionEvent, after: &Effect) -> Result<(), TestCaseError> {
        if let SessionEvent::Replied { reply, .. } = event {
            self.confirms = reply.text.contains("\"CONFIRM\"");
            self.approved.clear();
        }
        // A plan begins without the model.
        self.confirms &= !matches!(event, SessionEvent::Requested { .. });
        if let (Effect::AwaitApproval { approval }, SessionEvent::Approved { scope }) = (before, event) {
            self.approved.clone_from(&approval.commands);
            if *scope == ApprovalScope::Session {
                self.granted.extend(approval.commands.iter().map(|command| command.tool.clone()));
            }
        }
        let Effect::Call { command } = after else { return Ok(()) };
        prop_assert!(command.tool != "press_keys", "a denied command was sent");
        prop_assert!(command.tool != "no_such_tool");
        let mut asked = command.clone();
        if let Some(judged) = &mut asked.judged {
            judged.approved = false;
        }
        let approved = self.approved.iter().position(|known| *known == asked);
        if let Some(index) = approved {
            self.approved.remove(index);
        }
        let must_ask = command.tool == "visit" || self.confirms;
        let granted = self.granted.contains(&command.tool);
        prop_assert!(!must_ask || approved.is_some() || granted, "{} was sent unapproved", command.to_line());
        Ok(())
    }
}

fn check_budgets(session: &Session) -> Result<(), TestCaseError> {
    let tally = session.tally();
    prop_assert!(tally.steps <= STEPS_MAX);
    prop_assert!(tally.model_calls <= CALLS_MAX);
    prop_assert!(tally.prompt_tokens + tally.completion_tokens <= TOKENS_MAX);
    prop_assert!(tally.cost.known <= MONEY_MAX);
    prop_assert!(session.session_tally().steps <= SESSION_STEPS_MAX);
    Ok(())
}

fn reloaded(session: &Session) -> Session {
    serde_json::from_str(&serde_json::to_string(session).unwrap()).unwrap()
}

/// One of each event.
fn every_event() -> Vec<SessionEvent> {
    let failure = ObserveFailure { window_gone: false, desktop_gone: false, message: "m".to_owned() };
    let observation = Observation::Desktop(DesktopView::default());
    let model = Harness::started(config());
    let reply = |status: &str| {
        model.replied(&json!({"thought": "t", "status": status}).to_string(), Usage::default())
    };
    vec![
        SessionEvent::Ranked { scores: vec![1, 2] },
        SessionEvent::Requested { text: "t".to_owned(), plan: None },
        SessionEvent::Ended,
        SessionEvent::Observed { observation },
        SessionEvent::ObserveFailed { failure },
        reply("FINISH"),
        reply("nonsense"),
        SessionEvent::ModelFailed {
            failure: deskhand_machine::model::ModelFailure::new(ModelFailureKind::TimedOut, "m"),
        },
        SessionEvent::Returned { result: CallResult::failure(None, "m") },
        SessionEvent::Answered { answers: Vec::new() },
        SessionEvent::Unanswered { why: NoAnswer::TimedOut },
        SessionEvent::Approved { scope: ApprovalScope::Session },
        SessionEvent::Rejected { instruction: None, is_message: false },
        SessionEvent::Delegated {
            report: AgentReport { status: SubtaskStatus::Error, result: "m".to_owned() },
        },
        SessionEvent::acknowledged(),
        SessionEvent::Stopped { reason: StopReason::Signal },
        SessionEvent::Resumed { desktop_kept: true },
        SessionEvent::Resumed { desktop_kept: false },
    ]
}

/// Every event is either rejected without a change, or applied with a next effect.
fn check_every_pair(session: &Session) -> Result<(), TestCaseError> {
    let wanted = session.next().map(|record| record.id);
    for event in every_event() {
        for effect in [wanted, None] {
            let mut tried = session.clone();
            let record = EventRecord { effect, at_ms: 1_000_000, event: event.clone() };
            match tried.apply(&record) {
                Err(_) => prop_assert_eq!(&tried, session),
                Ok(()) => prop_assert!(tried.next().is_some() || tried.has_ended()),
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn approvals_budgets_termination_and_replay_hold(
        choices in proptest::collection::vec(any::<u16>(), 1..160),
        verify in prop_oneof![Just(Verify::Always), Just(Verify::Auto), Just(Verify::Never)],
        small in any::<bool>(),
    ) {
        let mut config = bounded(verify);
        if small {
            let tiny = || vec!["tiny".to_owned()];
            let names = [("tiny".to_owned(), "m".to_owned())].into();
            config.roles = ModelRoles { names, all: tiny(), small: tiny(), ..ModelRoles::default() };
            config.ranks = true;
            // More than a small model is offered, so that they are ranked.
            config.app_tools.extend(["a", "b", "c", "d", "e", "f", "g", "h"].map(tool));
        }
        let mut h = Harness::started(config.clone());
        let mut watch = Watch::default();
        for (index, choice) in choices.iter().copied().enumerate() {
            if h.session.next().is_none() {
                break;
            }
            let before = h.effect();
            if choice.is_multiple_of(59) && !matches!(before, Effect::AwaitRequest) {
                h.answer(SessionEvent::Resumed { desktop_kept: choice.is_multiple_of(2) });
                watch.confirms = false;
                watch.approved.clear();
            } else {
                let event = answer(&h, choice);
                h.answer(event.clone());
                if h.session.next().is_some() {
                    watch.check(&before, &event, &h.effect())?;
                }
            }
            check_budgets(&h.session)?;
            let back = reloaded(&h.session);
            prop_assert_eq!(&back, &h.session);
            // Continuing from the deserialized state must be equivalent.
            h.session = back;
            if index.is_multiple_of(25) {
                check_every_pair(&h.session)?;
            }
        }
        // Whatever goes on comes to its end by itself.
        for _ in 0..3_000 {
            if h.session.next().is_none() || matches!(h.effect(), Effect::Finish { .. } | Effect::AwaitRequest) {
                break;
            }
            let event = answer(&h, 5);
            h.answer(event);
        }
        if h.session.next().is_some() {
            prop_assert!(matches!(h.effect(), Effect::Finish { .. } | Effect::AwaitRequest), "{:?}", h.effect());
            // The end of a round is not changed by anything but its acknowledgement.
            if let Effect::Finish { outcome } = h.effect() {
                let mut late = h.session.clone();
                let stop = SessionEvent::Stopped { reason: StopReason::User };
                late.apply(&EventRecord { effect: None, at_ms: 2_000_000, event: stop }).unwrap();
                prop_assert_eq!(&late.next().unwrap().effect, &Effect::Finish { outcome });
            }
        }
        let mut again = Session::new(config, PromptSet::default());
        for (wanted, event) in &h.history {
            prop_assert_eq!(&serde_json::to_string(&again.next()).unwrap(), wanted);
            again.apply(event).unwrap();
        }
        prop_assert_eq!(again, h.session);
    }
}

/// A session of thousands of steps is no larger than one of hundreds.
#[test]
fn session_size_is_bounded() {
    let mut config = bounded(Verify::Auto);
    config.session_limits = SessionLimits::default();
    config.limits = RoundLimits { steps_max: 60, ..RoundLimits::default() };
    let mut h = Harness::started(config);
    let mut sizes = Vec::new();
    for round in 0_u32..40 {
        while !matches!(h.effect(), Effect::AwaitRequest) {
            let event = match h.effect() {
                // A sub-task of one action, again and again, each a little different.
                Effect::Ask { request } if request.agent == AgentRef::HostAgent => {
                    let mut reply = crate::harness::assign_reply("w1");
                    reply["current_subtask"] = json!(format!("part {:06}", h.session.session_tally().steps));
                    h.replied(&reply.to_string(), Usage::default())
                }
                Effect::Ask { .. } => h.replied(
                    &crate::harness::app("FINISH", &["click_element"]).to_string(),
                    Usage::default(),
                ),
                Effect::AwaitRequest
                | Effect::Observe { .. }
                | Effect::Rank { .. }
                | Effect::Retrieve { .. }
                | Effect::Call { .. }
                | Effect::AskUser { .. }
                | Effect::AwaitApproval { .. }
                | Effect::Delegate { .. }
                | Effect::Finish { .. } => answer(&h, 1),
            };
            h.answer(event);
            h.history.clear();
        }
        if round.is_multiple_of(10) || round == 39 {
            sizes.push(serde_json::to_string(&h.session).unwrap().len());
        }
        h.answer(SessionEvent::Requested { text: "go on".to_owned(), plan: None });
    }
    assert!(h.session.session_tally().steps > 2_000);
    let (early, late) = (sizes[1], sizes[sizes.len() - 1]);
    assert!(late < early + early / 10, "it held {early} bytes at first and {late} at the end");
}
