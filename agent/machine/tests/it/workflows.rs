//! Workflows run by the session machine: without a model, through the gate, with healing where that is allowed.

use std::collections::BTreeMap;

use deskhand_machine::{
    command::{CallResult, CallStatus, ToolCommand},
    model::ReplyKind,
    observation::Observation,
    outcome::{Outcome, OutcomeKind},
    policy::{Policy, PolicyDecision, PolicyRule},
    provenance::Provenance,
    session::{Effect, FollowerPlan, SessionConfig, SessionEvent},
    workflow::{
        EachRow, Heal, Healer, Parameter, StepChange, StepExpectation, StepWindow, Workflow, WorkflowRun,
        WorkflowStep, selector::Selector,
    },
};
use deskhand_ui::{
    Element, Role, State, Surface, Tree, WindowInfo, WindowKind, WindowView, action::Verdict, ids::ElementId,
};
use serde_json::{Map, Value, json};

use crate::harness::{Harness, config, element, tool, window};

/// The elements of a form: an order with a field, a list and buttons.
pub(crate) fn form(names: &[(&str, Role)]) -> Vec<Element> {
    let mut elements = vec![element(1, 0, Role::FRAME, "Orders"), element(2, 1, Role::PANEL, "Order")];
    for (number, (name, role)) in (3..).zip(names) {
        elements.push(element(number, 2, role.clone(), name));
    }
    elements
}

pub(crate) const USUAL: &[(&str, Role)] = &[
    ("Customer", Role::ENTRY),
    ("Amount", Role::ENTRY),
    ("Add", Role::PUSH_BUTTON),
    ("Send", Role::PUSH_BUTTON),
];

pub(crate) fn shown(info: &WindowInfo, elements: Vec<Element>) -> WindowView {
    WindowView {
        surfaces: vec![Surface { window: info.clone(), tree: Tree { elements, partial: None } }],
        picture: None,
        notices: Vec::new(),
    }
}

pub(crate) fn orders() -> WindowInfo {
    window(1, "Orders", "Orders")
}

fn selector(id: u32) -> Selector {
    Selector::of(&shown(&orders(), form(USUAL)), ElementId(id)).unwrap()
}

pub(crate) fn step(call: &str, aim: Option<u32>, arguments: &Value) -> WorkflowStep {
    let aims = aim.map(|id| ("id".to_owned(), selector(id)));
    let arguments = arguments.as_object().cloned().unwrap_or_else(Map::new);
    WorkflowStep {
        about: format!("{call} it"),
        call: call.to_owned(),
        window: Some(StepWindow { application: "orders".to_owned(), name: "Orders".to_owned(), title: None }),
        aims: aims.into_iter().collect(),
        arguments,
        ..WorkflowStep::default()
    }
}

pub(crate) fn workflow(steps: Vec<WorkflowStep>) -> Workflow {
    Workflow {
        format: 1,
        name: "order".to_owned(),
        about: "Order something.".to_owned(),
        request: "Order for {customer}.".to_owned(),
        documents: Vec::new(),
        learnt: None,
        parameters: BTreeMap::from([("customer".to_owned(), Parameter::default())]),
        dialogs: Vec::new(),
        steps,
    }
}

/// A session that runs a workflow on a desktop whose window shows these elements.
struct Stage {
    h: Harness,
    elements: Vec<Element>,
    dialog: Option<Surface>,
    /// What was called, with the names of the elements.
    calls: Vec<String>,
    /// How many questions a model was asked, and what it replies.
    asked: u32,
    replies: Vec<Value>,
}

impl Stage {
    fn new(workflow: Workflow, heal: Heal, config: SessionConfig) -> Self {
        let values = BTreeMap::from([("customer".to_owned(), "Acme".to_owned())]);
        workflow.check().unwrap();
        let run = WorkflowRun { workflow, values, heal, provenance: Provenance::Made };
        let text = run.request().unwrap();
        let plan = FollowerPlan { workflow: Some(Box::new(run)), ..FollowerPlan::default() };
        let mut h = Harness::asked(config, &text, Some(plan));
        h.windows = vec![orders()];
        Self { h, elements: form(USUAL), dialog: None, calls: Vec::new(), asked: 0, replies: Vec::new() }
    }

    /// Runs it; `act` says what comes of a call.
    fn run(mut self, act: &mut dyn FnMut(&mut Self, &ToolCommand) -> CallResult) -> (Self, Outcome) {
        for _ in 0..200 {
            match self.h.effect() {
                Effect::Observe { look: deskhand_machine::observation::ObservationTarget::Window { .. } } => {
                    let mut view = shown(&orders(), self.elements.clone());
                    view.surfaces.extend(self.dialog.clone());
                    self.h.answer(SessionEvent::Observed { observation: Observation::Window(view) });
                }
                Effect::Observe { .. } => self.h.look(),
                Effect::Call { command } => {
                    let result = if command.tool == "select_application_window" {
                        CallResult { window: self.h.windows.first().cloned(), ..seen() }
                    } else {
                        self.note(&command);
                        act(&mut self, &command)
                    };
                    self.h.answer(SessionEvent::Returned { result });
                }
                Effect::Ask { request } => {
                    assert_eq!(request.reply, ReplyKind::Heal);
                    self.asked += 1;
                    let reply = self.replies.remove(0);
                    self.h.reply(&reply.to_string());
                }
                Effect::AwaitApproval { .. } => {
                    self.calls.push("(asked)".to_owned());
                    self.h.answer(SessionEvent::Approved {
                        scope: deskhand_machine::session::ApprovalScope::Once,
                    });
                }
                Effect::Finish { outcome } => return (self, outcome),
                other @ (Effect::AwaitRequest
                | Effect::Rank { .. }
                | Effect::Retrieve { .. }
                | Effect::AskUser { .. }
                | Effect::Delegate { .. }) => panic!("{other:?}"),
            }
        }
        panic!("the workflow does not end: {:?}", self.calls);
    }

    fn note(&mut self, command: &ToolCommand) {
        let id =
            command.arguments.get("id").and_then(Value::as_str).and_then(|id| id.parse::<ElementId>().ok());
        let dialog = self.dialog.iter().flat_map(|surface| &surface.tree.elements);
        let found = self.elements.iter().chain(dialog).find(|element| Some(element.id) == id);
        let name = found.map(|element| element.name.clone()).unwrap_or_default();
        let value = command.arguments.get("value").or_else(|| command.arguments.get("text"));
        let value = value.map(|value| format!(" {value}")).unwrap_or_default();
        self.calls.push(format!("{} {name}{value}", command.tool).trim().to_owned());
    }
}

pub(crate) fn seen() -> CallResult {
    CallResult {
        status: CallStatus::Success,
        effect: Some(Verdict::Seen),
        ..CallResult::failure(None, "done")
    }
}

pub(crate) fn tools() -> SessionConfig {
    let mut config = config();
    config.app_tools.extend([tool("set_value"), tool("wait_for"), tool("save")]);
    config.limits.steps_max = 1_000;
    config
}

pub(crate) fn usual() -> Vec<WorkflowStep> {
    vec![
        step("set_value", Some(3), &json!({"value": "{customer}"})),
        step("set_value", Some(4), &json!({"value": "12"})),
        step("click_element", Some(5), &json!({})),
    ]
}

#[test]
fn a_workflow_runs_without_a_model_and_replays() {
    let stage = Stage::new(workflow(usual()), Heal::Off, tools());
    let (stage, outcome) = stage.run(&mut |_, _| seen());
    assert_eq!(outcome.kind, OutcomeKind::Finished, "{}", outcome.reason);
    assert_eq!(stage.calls, ["set_value Customer \"Acme\"", "set_value Amount \"12\"", "click_element Add"]);
    let end = outcome.workflow.unwrap();
    assert_eq!((end.done, end.stopped_at, end.changes.len(), stage.asked), (3, None, 0, 0));
    assert_eq!(stage.h.session.tally().model_calls, 0);
    // The same events lead to the same effects.
    let mut again =
        deskhand_machine::session::Session::new(tools(), deskhand_machine::prompt::PromptSet::default());
    for (wanted, event) in &stage.h.history {
        assert_eq!(&serde_json::to_string(&again.next()).unwrap(), wanted);
        again.apply(event).unwrap();
    }
}

#[test]
fn the_application_is_started_if_no_window_of_it_is_open() {
    let mut stage = Stage::new(workflow(usual()), Heal::Off, tools());
    stage.h.windows.clear();
    let (stage, outcome) = stage.run(&mut |stage, command| {
        if command.tool == "launch_application" {
            assert_eq!(command.arguments.get("name"), Some(&json!("Orders")));
            stage.h.windows = vec![orders()];
        }
        seen()
    });
    assert_eq!(outcome.kind, OutcomeKind::Finished, "{}", outcome.reason);
    assert_eq!(stage.calls.first().unwrap(), "launch_application");
    // Without success it is started once.
    let mut stage = Stage::new(workflow(usual()), Heal::Off, tools());
    stage.h.windows.clear();
    let (stage, outcome) = stage.run(&mut |_, _| seen());
    assert_eq!(stage.calls, ["launch_application"]);
    assert_eq!(outcome.reason, "stopped at step 1: no window of Orders is open");
}

#[test]
fn a_denied_step_is_never_sent() {
    let rule =
        PolicyRule { tool: "click_element".to_owned(), ..PolicyRule::new(PolicyDecision::Deny, "no clicks") };
    let policy = Policy { rules: vec![rule], ..Policy::default() };
    let stage = Stage::new(workflow(usual()), Heal::Off, SessionConfig { policy, ..tools() });
    let (stage, outcome) = stage.run(&mut |_, _| seen());
    assert_eq!(outcome.kind, OutcomeKind::Failed);
    assert!(
        outcome.reason.contains("stopped at step 3: click_element") && outcome.reason.contains("no clicks"),
        "{}",
        outcome.reason
    );
    assert!(stage.calls.iter().all(|call| !call.starts_with("click")), "{:?}", stage.calls);
    // A guarded one is asked about, as it is for agents.
    let steps = vec![step("click_element", Some(6), &json!({}))];
    let (stage, outcome) = Stage::new(workflow(steps), Heal::Off, tools()).run(&mut |_, _| seen());
    assert_eq!(
        (stage.calls.as_slice(), outcome.kind),
        (&["(asked)".to_owned(), "click_element Send".to_owned()][..], OutcomeKind::Finished)
    );
}

#[test]
fn a_renamed_element_is_found_and_the_change_is_proposed() {
    let mut stage = Stage::new(workflow(usual()), Heal::Off, tools());
    stage.elements = form(&[
        ("Customer name", Role::ENTRY),
        ("Amount", Role::ENTRY),
        ("Add", Role::PUSH_BUTTON),
        ("Send", Role::PUSH_BUTTON),
    ]);
    // A field at the beginning has a neighbour on one side alone; the panel says where it is.
    let (stage, outcome) = stage.run(&mut |_, _| seen());
    let end = outcome.workflow.clone().unwrap();
    if outcome.kind == OutcomeKind::Finished {
        assert_eq!(stage.calls.first().unwrap(), "set_value Customer name \"Acme\"");
        let [StepChange::Selector { step, argument, by, now, .. }] = end.changes.as_slice() else {
            panic!("{:?}", end.changes)
        };
        assert_eq!((step.as_str(), argument.as_str(), *by), ("1", "id", Healer::Rule));
        assert_eq!(now.called(), "Customer name");
        let (changed, left_out) = workflow(usual()).changed(&end.changes);
        assert_eq!((left_out, changed.steps[0].aims["id"].called().as_str()), (0, "Customer name"));
    } else {
        assert!(outcome.reason.contains("Customer"), "{}", outcome.reason);
    }
}

/// The form without the button that step 3 presses, and with one whose name says something else.
fn replaced() -> Vec<Element> {
    form(&[
        ("Customer", Role::ENTRY),
        ("Amount", Role::ENTRY),
        ("Basket", Role::PUSH_BUTTON),
        ("Send", Role::PUSH_BUTTON),
    ])
}

#[test]
fn what_is_gone_stops_the_run_with_what_is_there() {
    let mut stage = Stage::new(workflow(usual()), Heal::Off, tools());
    stage.elements = replaced();
    let (stage, outcome) = stage.run(&mut |_, command| {
        if command.tool == "wait_for" { CallResult::failure(None, "it did not appear") } else { seen() }
    });
    assert_eq!(outcome.kind, OutcomeKind::Failed);
    assert!(
        outcome.reason.starts_with("stopped at step 3: Looked for push button \"Add\""),
        "{}",
        outcome.reason
    );
    assert!(outcome.reason.contains("Basket"), "it says what is there: {}", outcome.reason);
    assert_eq!(stage.calls[2..], ["wait_for"], "it is waited for once, and nothing else is pressed");
    assert_eq!(outcome.workflow.unwrap().stopped_at.as_deref(), Some("3"));
}

#[test]
fn a_model_is_asked_once_about_the_step_and_its_answer_is_a_proposed_change() {
    for heal in [Heal::Auto, Heal::Ask] {
        let mut stage = Stage::new(workflow(usual()), heal, tools());
        stage.elements = replaced();
        stage.replies = vec![json!({"thought": "Basket adds it", "choice": "USE", "element": "e5"})];
        let (stage, outcome) = stage.run(&mut |_, command| {
            if command.tool == "wait_for" { CallResult::failure(None, "no") } else { seen() }
        });
        assert_eq!(outcome.kind, OutcomeKind::Finished, "{}", outcome.reason);
        assert_eq!(stage.asked, 1);
        let asked = stage.calls.iter().any(|call| call == "(asked)");
        assert_eq!(asked, heal == Heal::Ask, "{:?}", stage.calls);
        assert_eq!(stage.calls.last().unwrap(), "click_element Basket");
        let [StepChange::Selector { step, by, why, now, .. }] =
            outcome.workflow.as_ref().unwrap().changes.as_slice()
        else {
            panic!("{:?}", outcome.workflow)
        };
        assert_eq!((step.as_str(), *by, why.as_str()), ("3", Healer::Model, "Basket adds it"));
        assert_eq!(now.called(), "Basket");
    }
}

#[test]
fn a_model_may_stop_skip_or_name_what_is_not_there() {
    let run = |replies: Vec<Value>| {
        let mut stage = Stage::new(workflow(usual()), Heal::Auto, tools());
        (stage.elements, stage.replies) = (replaced(), replies);
        stage.run(&mut |_, command| {
            if command.tool == "wait_for" { CallResult::failure(None, "no") } else { seen() }
        })
    };
    let (stage, outcome) = run(vec![json!({"thought": "nothing is certain", "choice": "STOP"})]);
    assert_eq!((outcome.kind, stage.asked), (OutcomeKind::Failed, 1));
    assert!(outcome.reason.contains("A model was asked: nothing is certain"), "{}", outcome.reason);
    let (stage, outcome) = run(vec![json!({"thought": "done already", "choice": "skip"})]);
    assert_eq!((outcome.kind, stage.asked), (OutcomeKind::Finished, 1), "{}", outcome.reason);
    // An id that is not there is asked about again, as any invalid reply.
    let (stage, outcome) = run(vec![
        json!({"thought": "this one", "choice": "USE", "element": "e99"}),
        json!({"thought": "Basket adds it", "choice": "USE", "element": "e5"}),
    ]);
    assert_eq!((outcome.kind, stage.asked), (OutcomeKind::Finished, 2), "{}", outcome.reason);
}

#[test]
fn rows_that_were_read_are_gone_through() {
    let read = WorkflowStep { save: Some("list".to_owned()), ..step("read_table", None, &json!({})) };
    let inner = vec![
        step("set_value", Some(3), &json!({"value": "{row.0} of {customer}"})),
        step("set_value", Some(4), &json!({"value": "{row.1}"})),
        step("click_element", Some(5), &json!({})),
    ];
    let each = EachRow { of: "list.rows".to_owned(), called: "row".to_owned(), skip: 1 };
    let repeated = WorkflowStep { each: Some(each), steps: inner, ..WorkflowStep::default() };
    let last = step("set_value", Some(3), &json!({"value": "end"}));
    let made = workflow(vec![read, repeated, last]);
    let rows = json!({"rows": [["who", "how much"], ["Ann", 3], ["Bob", 4.5]]});
    let stage = Stage::new(made.clone(), Heal::Off, tools());
    let (stage, outcome) = stage.run(&mut |_, command| match command.tool.as_str() {
        "read_table" => CallResult { effect: None, output: rows.clone(), ..seen() },
        _ => seen(),
    });
    assert_eq!(outcome.kind, OutcomeKind::Finished, "{}", outcome.reason);
    let expected = [
        "read_table",
        "set_value Customer \"Ann of Acme\"",
        "set_value Amount 3",
        "click_element Add",
        "set_value Customer \"Bob of Acme\"",
        "set_value Amount 4.5",
        "click_element Add",
        "set_value Customer \"end\"",
    ];
    assert_eq!(stage.calls, expected);
    // No rows: nothing is repeated. What is no list stops the run.
    let stage = Stage::new(made.clone(), Heal::Off, tools());
    let (stage, _) = stage.run(&mut |_, command| match command.tool.as_str() {
        "read_table" => CallResult { effect: None, output: json!({"rows": [["who"]]}), ..seen() },
        _ => seen(),
    });
    assert_eq!(stage.calls, ["read_table", "set_value Customer \"end\""]);
    let (_, outcome) = Stage::new(made, Heal::Off, tools()).run(&mut |_, _| seen());
    assert!(outcome.reason.contains("there is no value `list.rows`"), "{}", outcome.reason);
}

/// A modal dialog in front of the form.
fn dialog(title: &str, elements: &[(&str, Role)]) -> Surface {
    let info =
        WindowInfo { kind: WindowKind::Dialog, owner: Some(orders().id), ..window(7, title, "Orders") };
    let mut root = element(70, 0, Role::DIALOG, title);
    root.states = root.states.with(State::Modal);
    let mut all = vec![root];
    all.extend((71..).zip(elements).map(|(id, (name, role))| element(id, 1, role.clone(), name)));
    Surface { window: info, tree: Tree { elements: all, partial: None } }
}

#[test]
fn a_dialog_that_only_says_something_is_closed_and_noted() {
    let tip = [("Did you know?", Role::LABEL), ("OK", Role::PUSH_BUTTON)];
    let mut stage = Stage::new(workflow(usual()), Heal::Off, tools());
    stage.dialog = Some(dialog("Tip of the day", &tip));
    let (stage, outcome) = stage.run(&mut |stage, command| {
        if command.tool == "click_element" && command.arguments["id"] == json!("e72") {
            stage.dialog = None;
        }
        seen()
    });
    assert_eq!(outcome.kind, OutcomeKind::Finished, "{}", outcome.reason);
    assert_eq!(stage.calls[0], "click_element OK");
    let changes = outcome.workflow.unwrap().changes;
    let [StepChange::Dialog { press, by: Healer::Rule, .. }] = changes.as_slice() else {
        panic!("{changes:?}")
    };
    assert_eq!(press.called(), "OK");
    // The workflow with that change knows the dialog.
    let (learnt, _) = workflow(usual()).changed(&changes);
    let mut stage = Stage::new(learnt, Heal::Off, tools());
    stage.dialog = Some(dialog("Tip of the day", &tip));
    let (_, outcome) = stage.run(&mut |stage, _| {
        stage.dialog = None;
        seen()
    });
    assert_eq!((outcome.kind, outcome.workflow.unwrap().changes.len()), (OutcomeKind::Finished, 0));
}

#[test]
fn a_dialog_that_asks_something_is_not_answered() {
    let asks: [&[(&str, Role)]; 3] = [
        &[("Delete all orders?", Role::LABEL), ("OK", Role::PUSH_BUTTON), ("Cancel", Role::PUSH_BUTTON)],
        &[("Name", Role::ENTRY), ("OK", Role::PUSH_BUTTON)],
        &[("Delete", Role::PUSH_BUTTON)],
    ];
    for elements in asks {
        let mut stage = Stage::new(workflow(usual()), Heal::Off, tools());
        stage.dialog = Some(dialog("Question", elements));
        let (stage, outcome) = stage.run(&mut |_, command| {
            if command.tool == "wait_for" { CallResult::failure(None, "no") } else { seen() }
        });
        assert_eq!(outcome.kind, OutcomeKind::Failed, "{elements:?}");
        assert!(stage.calls.iter().all(|call| !call.starts_with("click")), "{:?}", stage.calls);
        assert!(outcome.reason.contains("Question"), "{}", outcome.reason);
    }
    // A model may press it away; that is one question, and the step is done.
    let mut stage = Stage::new(workflow(usual()), Heal::Auto, tools());
    stage.dialog = Some(dialog("Question", asks[0]));
    stage.replies =
        vec![json!({"thought": "it asks about something else", "choice": "PRESS", "element": "e73"})];
    let (stage, outcome) = stage.run(&mut |stage, command| {
        if command.arguments.get("id") == Some(&json!("e73")) {
            stage.dialog = None;
        }
        seen()
    });
    assert_eq!((outcome.kind, stage.asked), (OutcomeKind::Finished, 1), "{}", outcome.reason);
    assert!(stage.calls.contains(&"click_element Cancel".to_owned()), "{:?}", stage.calls);
}

#[test]
fn a_step_that_may_be_left_out_is() {
    let mut steps = usual();
    steps.insert(1, WorkflowStep { maybe: true, ..step("click_element", Some(6), &json!({})) });
    let mut stage = Stage::new(workflow(steps), Heal::Off, tools());
    stage.elements.truncate(5);
    let (stage, outcome) = stage.run(&mut |_, _| seen());
    assert_eq!(outcome.kind, OutcomeKind::Finished, "{}", outcome.reason);
    assert_eq!(stage.calls, ["set_value Customer \"Acme\"", "set_value Amount \"12\"", "click_element Add"]);
}

#[test]
fn what_was_refused_is_tried_once_more_and_what_was_not_seen_is_not() {
    let fails = |verdict: Verdict| {
        let mut clicks = 0;
        let (stage, outcome) = Stage::new(workflow(usual()), Heal::Off, tools()).run(&mut |_, command| {
            if command.tool != "click_element" {
                return seen();
            }
            clicks += 1;
            CallResult::failure(Some(verdict), "it did not work")
        });
        let pressed = stage.calls.iter().filter(|call| call.starts_with("click")).count();
        (pressed, outcome)
    };
    let (pressed, outcome) = fails(Verdict::Refused);
    assert_eq!((pressed, outcome.kind), (2, OutcomeKind::Failed));
    let (pressed, outcome) = fails(Verdict::NotSeen);
    assert_eq!((pressed, outcome.kind), (1, OutcomeKind::Failed));
    assert!(
        outcome.reason.contains("stopped at step 3") && outcome.reason.contains("it did not work"),
        "{}",
        outcome.reason
    );
}

#[test]
fn a_dialog_that_was_to_open_has_to() {
    let mut steps = usual();
    steps[2].expect = StepExpectation { opens: Some("Details of {customer}".to_owned()), unseen: false };
    let run = |title: &str| {
        let opened = WindowInfo { kind: WindowKind::Dialog, ..window(8, title, "Orders") };
        Stage::new(workflow(steps.clone()), Heal::Off, tools()).run(&mut |_, command| CallResult {
            window: (command.tool == "click_element").then(|| opened.clone()),
            ..seen()
        })
    };
    assert_eq!(run("Details of Acme").1.kind, OutcomeKind::Finished);
    let (_, outcome) = run("Something else");
    assert!(outcome.reason.contains("“Details of Acme” was to open, and did not"), "{}", outcome.reason);
}

#[test]
fn a_workflow_is_checked_before_it_runs() {
    let problem = |change: &dyn Fn(&mut Workflow)| {
        let mut made = workflow(usual());
        change(&mut made);
        made.check().unwrap_err().to_string()
    };
    let unknown = problem(&|made| made.steps[0].arguments["value"] = json!("{buyer}"));
    assert_eq!(unknown, "step 1 names `{buyer}`, which is no parameter and was not saved before");
    let brace = problem(&|made| made.steps[1].arguments["value"] = json!("{open"));
    assert!(brace.starts_with("step 2: a brace of `{open` has no partner"), "{brace}");
    assert!(problem(&|made| made.format = 9).contains("format 9 is newer"));
    assert!(problem(&|made| made.steps.clear()).contains("no steps"));
    assert!(problem(&|made| made.name = "../x".to_owned()).contains("is no name of a workflow"));
    assert!(problem(&|made| made.steps[0].call.clear()).contains("step 1 has no `call`"));
    let values = |given: &[(&str, &str)]| {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        workflow(usual()).values(&given)
    };
    assert_eq!(
        values(&[]).unwrap_err().to_string(),
        "the parameter `customer` is missing; give it as --customer \"VALUE\""
    );
    let other = values(&[("customer", "a"), ("color", "b")]).unwrap_err().to_string();
    assert_eq!(other, "`color` is no parameter of order; its parameters: customer");
    assert_eq!(values(&[("customer", "a")]).unwrap()["customer"], "a");
}

/// The form in a window that scrolls, of which the buttons are out of sight.
fn cut_off() -> Vec<Element> {
    let mut elements = form(USUAL.get(..2).unwrap());
    elements[1].child_count = 4;
    let mut bar = element(20, 1, Role::SCROLL_BAR, "");
    bar.bounds = Some(deskhand_ui::geometry::Rect::new(90, 10, 12, 200));
    elements.push(bar);
    elements
}

#[test]
fn a_window_is_scrolled_for_what_is_out_of_sight_down_and_then_up() {
    let mut config = tools();
    config.app_tools.push(tool("scroll"));
    let mut stage = Stage::new(workflow(usual()), Heal::Off, config.clone());
    stage.elements = cut_off();
    let mut turns = 0;
    let (stage, outcome) = stage.run(&mut |stage, command| {
        if command.tool == "scroll" {
            let notches = json!(if turns % 2 == 0 { 4 } else { 5 });
            assert_eq!((&command.arguments["id"], &command.arguments["down"]), (&json!("e20"), &notches));
            turns += 1;
            if turns == 6 {
                stage.elements = form(USUAL);
            }
        }
        seen()
    });
    assert_eq!(outcome.kind, OutcomeKind::Finished, "{}", outcome.reason);
    assert_eq!((turns, stage.calls.last().unwrap().as_str()), (6, "click_element Add"));
    assert_eq!(outcome.workflow.unwrap().done, 3, "turns of the wheel are no steps");

    // At the end of the window, and at its start, it is seen as a whole.
    let mut stage = Stage::new(workflow(usual()), Heal::Off, config);
    stage.elements = cut_off();
    let mut turned = Vec::new();
    let (_, outcome) = stage.run(&mut |_, command| {
        if command.tool == "scroll" {
            turned.push(command.arguments["down"].as_i64().unwrap());
            return CallResult { effect: Some(Verdict::NotSeen), ..seen() };
        }
        seen()
    });
    assert_eq!(turned, [4, -4]);
    assert_eq!(outcome.kind, OutcomeKind::Failed);
    assert!(outcome.reason.contains("stopped at step 3"), "{}", outcome.reason);
}

#[test]
fn a_window_that_shows_everything_is_not_scrolled() {
    let mut config = tools();
    config.app_tools.push(tool("scroll"));
    let mut stage = Stage::new(workflow(usual()), Heal::Off, config);
    stage.elements = cut_off();
    stage.elements[1].child_count = 2;
    let (stage, outcome) = stage.run(&mut |_, _| seen());
    assert!(!stage.calls.iter().any(|call| call.starts_with("scroll")), "{:?}", stage.calls);
    assert_eq!(outcome.kind, OutcomeKind::Failed);
}
