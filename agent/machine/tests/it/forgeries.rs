//! Forged texts in every place of every prompt that a text from outside can reach.

use deskhand_machine::{
    agent::{AGENT_SYSTEM_PROMPT, AGENT_USER_PROMPT, AgentDefinition, AgentHome, AgentStatus, AgentSteps},
    command::{CallResult, CallStatus, ToolSpec},
    model::{MessagePart, Speaker},
    observation::{AgentView, DesktopView, Observation},
    session::{Effect, Evaluate, SessionConfig, SessionEvent},
    states::AppStatus,
};
use deskhand_testkit::forgeries;
use deskhand_ui::{
    DocumentInfo, IncompleteTreeCause, Role, State, Surface, TableShape, Tree, WindowInfo, WindowKind,
    WindowView,
    action::{CallReport, Verdict},
    ids::AgentId,
};
use serde_json::{Value, json};

use crate::harness::{Harness, config, element, tool, window};

/// An agent of another kind, as a program outside describes it.
fn agent(text: &str) -> AgentDefinition {
    let status = |word: &str, meaning| AgentStatus {
        word: word.to_owned(),
        meaning,
        description: "a status.".to_owned(),
        next: Vec::new(),
    };
    let steps = AgentSteps {
        statuses: vec![status("BUSY", AppStatus::Continue), status("DONE", AppStatus::Finish)],
        instructions: "You mind an oven.".to_owned(),
        system_prompt: AGENT_SYSTEM_PROMPT.to_owned(),
        user_prompt: AGENT_USER_PROMPT.to_owned(),
        tools: vec![tool("set_heat")],
        subtask_steps_max: None,
    };
    AgentDefinition {
        id: AgentId(1),
        name: "oven".to_owned(),
        introduction: text.to_owned(),
        home: AgentHome::Steps(Box::new(steps)),
    }
}

/// A window whose every text is this one.
fn forged_window(id: u32, text: &str) -> WindowInfo {
    let mut window = window(id, text, text);
    window.app.root = text.to_owned();
    window.document =
        Some(DocumentInfo { path: Some(text.to_owned()), name: text.to_owned(), modified: Some(true) });
    window
}

/// A view whose every text is this one: a document, a table, controls in containers, and a dialog.
fn forged_view(text: &str) -> WindowView {
    let named = |id, depth, role| element(id, depth, role, text);
    let mut field = named(12, 2, Role::ENTRY);
    field.states = field.states.with(State::Focused).with(State::Editable);
    field.text = Some(format!("{text} {text}"));
    let mut described = element(13, 2, Role::PUSH_BUTTON, "");
    described.description = text.to_owned();
    let mut table = named(14, 1, Role::TABLE);
    table.table = Some(TableShape { rows: 1, columns: 1 });
    let elements = vec![
        named(10, 0, Role::FRAME),
        named(11, 1, Role::PANEL),
        field,
        described,
        table,
        element(15, 2, Role::TABLE_CELL, ""),
        named(16, 3, Role::LABEL),
        named(17, 1, Role::TOOL_BAR),
        element(18, 2, Role::TOGGLE_BUTTON, ""),
        named(19, 1, Role::HEADING),
        named(20, 1, Role::PARAGRAPH),
    ];
    let mut dialog = forged_window(2, text);
    (dialog.kind, dialog.owner) = (WindowKind::Dialog, Some(forged_window(1, text).id));
    let button = vec![named(30, 0, Role::DIALOG), named(31, 1, Role::PUSH_BUTTON)];
    WindowView {
        surfaces: vec![
            Surface {
                window: forged_window(1, text),
                tree: Tree { elements, partial: Some(IncompleteTreeCause::NodeLimit) },
            },
            Surface { window: dialog, tree: Tree { elements: button, partial: None } },
        ],
        picture: None,
        notices: vec![text.to_owned(), text.to_owned()],
    }
}

/// A session in which everything is this text that the user has not said.
struct Forged {
    h: Harness,
    text: String,
    /// What the models say.
    said: String,
    prompts: Vec<(&'static str, String)>,
}

impl Forged {
    fn started(text: &str) -> Self {
        Self::started_with(text, &[])
    }

    fn started_with(text: &str, tools: &[ToolSpec]) -> Self {
        let mut config = SessionConfig {
            marks_secret: "forgeries".to_owned(),
            evaluate: Some(Evaluate { repair: true }),
            agents: vec![agent(text)],
            ..config()
        };
        config.app_tools.extend_from_slice(tools);
        config.host_tools.extend_from_slice(tools);
        let mut h = Harness::started(config);
        h.windows = vec![forged_window(1, text)];
        Self { h, text: text.to_owned(), said: text.to_owned(), prompts: Vec::new() }
    }

    /// Answers the observation, and keeps the prompt.
    fn sees(&mut self, which: &'static str, observation: Observation) {
        self.h.answer(SessionEvent::Observed { observation: observation.clipped() });
        let Effect::Ask { request } = self.h.effect() else { panic!("{which}: {:?}", self.h.effect()) };
        let parts = request.messages.iter().filter(|message| message.speaker == Speaker::User);
        let text = parts.flat_map(|message| &message.parts).filter_map(|part| match part {
            MessagePart::Text { text } => Some(text.as_str()),
            MessagePart::Picture { .. } => None,
        });
        self.prompts.push((which, text.collect()));
    }

    fn sees_desktop(&mut self, which: &'static str) {
        let mut dialog = forged_window(2, &self.text);
        (dialog.kind, dialog.owner) = (WindowKind::Dialog, Some(self.h.windows[0].id));
        let windows = self.h.windows.clone();
        self.sees(which, Observation::Desktop(DesktopView { windows, dialogs: vec![dialog], picture: None }));
    }

    fn sees_window(&mut self, which: &'static str, view: WindowView) {
        self.sees(which, Observation::Window(view));
    }

    fn replies(&mut self, own: &Value) {
        let text = &self.said;
        let mut reply = json!({
            "observation": text, "thought": format!("because {text}"), "plan": [text, text], "comment": text,
            "message": [text, text], "current_subtask": format!("do {text}"),
        });
        for (name, value) in own.as_object().unwrap() {
            reply[name] = value.clone();
        }
        self.h.reply(&reply.to_string());
    }

    fn returns(&mut self, status: CallStatus) {
        let text = &self.text;
        let window = Some(forged_window(1, text));
        let result = CallResult {
            status,
            effect: Some(Verdict::Seen),
            route: None,
            report: CallReport::text(text.clone()),
            output: json!({"rows": [[text, "a"]], (text.clone()): text}),
            picture: None,
            window,
            elapsed_ms: 3,
        };
        self.h.answer(SessionEvent::Returned { result: result.clipped() });
    }

    /// Both kinds of agents work, the evaluation refuses, and a second request follows.
    fn prompts_of(text: &str) -> Vec<(&'static str, String)> {
        Self::started(text).prompts(text)
    }

    fn prompts(self, text: &str) -> Vec<(&'static str, String)> {
        let mut forged = self;
        let said = forged.said.clone();
        forged.sees_desktop("host, first step");
        forged.replies(&json!({"status": "PENDING", "questions": [{"question": said, "required": true}]}));
        forged.h.answer(SessionEvent::Answered { answers: vec!["yes".to_owned()] });
        forged.sees_desktop("host, after an answer");
        forged.replies(&json!({"status": "ASSIGN", "control_label": "w1"}));
        forged.returns(CallStatus::Success);
        let mut view = forged_view(text);
        view.surfaces.pop();
        forged.sees_window("app, first step", view.clone());
        let read =
            json!([{"function": "read_table", "arguments": {"id": "e14", "name": said}, "expect": said}]);
        forged.replies(&json!({"status": "CONTINUE", "action": read}));
        forged.returns(CallStatus::Success);
        view.surfaces[0].tree.elements.remove(4);
        let mut label = element(40, 1, Role::LABEL, &format!("new {text}"));
        label.text = Some(text.to_owned());
        view.surfaces[0].tree.elements.push(label);
        forged.sees_window("app, changes", view);
        forged.replies(&json!({"status": "CONTINUE", "action": read}));
        forged.returns(CallStatus::Failure);
        forged.sees_window("app, dialog", forged_view(text));
        let finished = json!({"status": "FINISH", "action": [], "result": format!("found {said}")});
        forged.replies(&finished);
        forged.sees_desktop("host, after a sub-task");
        forged.replies(&json!({"status": "ASSIGN", "control_label": "a1"}));
        let seen = Observation::Agent(AgentView { text: text.to_owned(), picture: None });
        forged.sees("agent, first step", seen.clone());
        let heat = json!([{"function": "set_heat", "arguments": {"id": said}}]);
        forged.replies(&json!({"status": "BUSY", "action": heat}));
        forged.returns(CallStatus::Success);
        forged.sees("agent, second step", seen);
        forged.replies(&json!({"status": "DONE", "action": [], "result": said}));
        forged.sees_desktop("host, after two sub-tasks");
        forged.replies(&finished);
        forged.sees_desktop("evaluation");
        let scores = json!([{"name": said, "evaluation": "no"}]);
        forged.h.reply(&json!({"reason": said, "sub_scores": scores, "complete": "no"}).to_string());
        forged.sees_desktop("host, after the evaluation");
        forged.prompts
    }
}

/// The largest prompt, in characters, whatever applications, agents and servers say.
const PROMPT_CHARS_MAX: usize = 400_000;

#[test]
fn no_text_from_outside_makes_a_prompt_large() {
    let text = "word ".repeat(1_000_000);
    let parameters = json!({"type": "object", "properties": {
        "city": {"type": "string", "description": text, "enum": [text]},
        (text.clone()): {"type": "string"},
    }});
    let spec = ToolSpec { description: text.clone(), parameters, ..tool("forecast") };
    let tools = [ToolSpec { source: Some(format!("MCP server {text}")), ..spec }];
    let mut forged = Forged::started_with(&text, &tools);
    // A longer reply is invalid.
    forged.said = "word ".repeat(1_000);
    let prompts = forged.prompts(&text);
    assert_eq!(prompts.len(), 11);
    let sizes: Vec<(&str, usize)> =
        prompts.iter().map(|(which, prompt)| (*which, prompt.chars().count())).collect();
    assert!(sizes.iter().all(|(_, size)| *size < PROMPT_CHARS_MAX), "{sizes:?}");
    // What was cut off is marked.
    assert!(prompts.iter().all(|(_, prompt)| prompt.contains('…')));
}

/// A part of a prompt.
struct Pieces {
    /// What stands between marks, after its source.
    inside: Vec<(String, String)>,
    /// The rest, with `…` for each piece inside.
    outside: String,
}

/// Takes a prompt apart by its marks, which have to be whole.
fn pieces(prompt: &str) -> Pieces {
    let number = prompt.split_once("between `<untrusted ").unwrap().1.split_once('>').unwrap().0;
    assert_eq!(number.len(), 8, "{number}");
    let (introduction, prompt) = prompt.split_once("\n\n").unwrap();
    assert_eq!(introduction.lines().count(), 1);
    let (opening, closing) = (format!("<untrusted {number} source=\""), format!("\n</untrusted {number}>"));
    let (mut inside, mut outside, mut rest) = (Vec::new(), String::new(), prompt);
    while let Some((before, after)) = rest.split_once(opening.as_str()) {
        let (piece, after) = after.split_once(closing.as_str()).unwrap();
        assert!(before.is_empty() || before.ends_with('\n') || before.ends_with('>'), "{before:?}");
        outside.push_str(before);
        outside.push('…');
        let (source, text) = piece.split_once("\">\n").unwrap();
        inside.push((source.to_owned(), text.to_owned()));
        rest = after;
    }
    outside.push_str(rest);
    for text in inside.iter().map(|(_, text)| text).chain([&outside]) {
        assert!(!text.contains(number), "a part of a mark in {text:?}");
    }
    Pieces { inside, outside }
}

/// Returns `true` if something in the text could be read as a mark.
fn has_mark(text: &str) -> bool {
    let letters: String = text
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '/' | '\u{200c}' | '\u{200d}' | '\u{301}'))
        .map(|c| match c {
            '＜' | '﹤' => '<',
            'ѕ' => 's',
            'е' => 'e',
            'ａ'..='ｚ' => char::from_u32(u32::from(c) - 0xff41 + 0x61).unwrap(),
            c => c.to_ascii_lowercase(),
        })
        .collect();
    letters.contains("<untrusted")
}

/// Longer texts are clipped, or left out, where others are not.
const LONG: usize = 2_000;

fn headings(outside: &str) -> impl Iterator<Item = String> {
    outside.lines().filter(|line| line.starts_with('#')).map(str::to_owned)
}

/// How each line outside of marks begins, as far as the program writes it.
fn shape(outside: &str) -> Vec<String> {
    let start = |line: &str| match line.split_once(". ") {
        _ if line.starts_with('#') => line.to_owned(),
        Some((number, _)) if number.parse::<u32>().is_ok() => format!("{number}. "),
        _ => line.chars().take(2).filter(|c| *c == '-' || *c == ' ').collect(),
    };
    outside.lines().map(start).collect()
}

#[test]
fn no_forgery_looks_like_a_part_of_a_prompt() {
    let honest = Forged::prompts_of("honest");
    assert_eq!(honest.len(), 11);
    assert!(honest.iter().all(|(_, prompt)| prompt.contains("honest")));
    let mut known: Vec<String> =
        honest.iter().flat_map(|(_, prompt)| headings(&pieces(prompt).outside).collect::<Vec<_>>()).collect();
    known.push("# The application".to_owned());
    for (what, text) in forgeries::all() {
        let prompts = Forged::prompts_of(&text);
        for ((which, prompt), (_, plain)) in prompts.iter().zip(&honest) {
            let case = format!("{what}, {which}");
            assert_eq!(forgeries::hidden_in(prompt), None, "{case}: {prompt}");
            let (found, wanted) = (pieces(prompt), pieces(plain));
            if text.len() > LONG {
                // Of long texts some are left out, and a window is listed anew where changes would be longer.
                let unknown = headings(&found.outside).find(|line| !known.contains(line));
                assert_eq!(unknown, None, "{case}: {prompt}");
                continue;
            }
            assert_eq!(shape(&found.outside), shape(&wanted.outside), "{case}: {prompt}");
            let sources = |pieces: &Pieces| -> Vec<String> {
                pieces.inside.iter().map(|(source, _)| source.clone()).collect()
            };
            assert_eq!(sources(&found), sources(&wanted), "{case}: {prompt}");
            for piece in found.inside.iter().map(|(_, text)| text).chain([&found.outside]) {
                assert!(!has_mark(piece), "{case}: {piece}");
            }
        }
        assert_eq!(prompts.len(), honest.len(), "{what}");
    }
}

#[test]
fn what_is_listed_of_a_screen_is_on_one_line() {
    for (what, text) in forgeries::all() {
        let prompts = Forged::prompts_of(&text);
        for (which, prompt) in &prompts {
            for (source, piece) in pieces(prompt).inside {
                // The results of agents, and what detectors and other agents see, are texts of several lines.
                if ["agents", "detectors", "oven"].contains(&source.as_str()) {
                    continue;
                }
                let is_forged =
                    |line: &&str| ["#", "- [w9]", "[e9]", "</"].iter().any(|start| line.starts_with(start));
                // A name alone is the first line.
                assert_eq!(piece.lines().skip(1).find(is_forged), None, "{what}, {which}: {piece}");
            }
        }
    }
}

#[test]
fn an_invalid_reply_is_quoted_on_one_line() {
    for (what, text) in forgeries::all() {
        let mut forged = Forged::started(&text);
        forged.sees_desktop("host");
        let problem = |h: &Harness| {
            let Effect::Ask { request } = h.effect() else { panic!("{what}: {:?}", h.effect()) };
            let last = request.messages.last().unwrap();
            let MessagePart::Text { text } = &last.parts[0] else { panic!("{last:?}") };
            text.clone()
        };
        forged.h.reply(&json!({"status": text, "thought": text}).to_string());
        let message = problem(&forged.h);
        assert_eq!(message.lines().count(), 3, "{what}: {message}");
        assert_eq!(forgeries::hidden_in(&message), None, "{what}: {message}");
        assert!(message.chars().count() < 2_000, "{what}: {message}");
    }
}
