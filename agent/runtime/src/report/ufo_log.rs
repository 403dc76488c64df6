//! The lines of `request.log` and `response.log`, with the field names of the reference implementation.

use std::path::{Path, PathBuf};

use deskhand_machine::{
    agent::AgentRef,
    command::{CallResult, CallStatus},
    model::{MessagePart, ModelMessage, Speaker},
    observation::Observation,
    retrieval::Retriever,
    target::TargetInfo,
};
use deskhand_ui::{Element, ElementSource, WindowView};
use serde_json::{Value, json};

use super::{
    overview::{ReportOverview, cost_of, total},
    target::{elements_of, windows_of},
    words::{NoteLine, TalkLine, is_of_person},
};
use crate::story::{ActStory, AskStory, Chapter, DecisionSummary, SessionNote, StepStory, Talk};

/// The pictures of a step; `None` if missing.
#[derive(Debug, Default)]
pub(super) struct PictureNames {
    pub(super) clean: Option<PathBuf>,
    pub(super) annotated: Option<PathBuf>,
    pub(super) selected: Option<PathBuf>,
}

impl PictureNames {
    fn name(path: Option<&PathBuf>) -> String {
        path.and_then(|path| Path::file_name(path)?.to_str()).unwrap_or_default().to_owned()
    }
}

/// Builds the lines; counts steps by round and agent like the reference.
pub(super) struct Logs<'a> {
    overview: &'a ReportOverview,
    round: u32,
    round_step: u32,
    agent_steps: std::collections::BTreeMap<String, u32>,
    /// The assigned sub-tasks.
    subtasks: Vec<String>,
    plan: Vec<String>,
    /// The message of the HostAgent for the current sub-task.
    host_message: Vec<String>,
    /// The last successful actions of the current sub-task.
    last_success: (String, Vec<Value>),
    /// Requests, and questions with their answers, as all agents see them.
    blackboard: Vec<String>,
}

impl<'a> Logs<'a> {
    pub(super) fn new(overview: &'a ReportOverview) -> Self {
        Self {
            overview,
            round: 0,
            round_step: 0,
            agent_steps: std::collections::BTreeMap::new(),
            subtasks: Vec::new(),
            plan: Vec::new(),
            host_message: Vec::new(),
            last_success: (String::new(), Vec::new()),
            blackboard: Vec::new(),
        }
    }

    /// Applies an event between steps that all agents see.
    pub(super) fn note(&mut self, chapter: &Chapter) {
        match chapter {
            Chapter::Talk(talk) => self.talk(talk),
            Chapter::Ended { round, .. } => {
                let request = self.overview.request_of(*round);
                self.blackboard.push(format!("request: {request}"));
            }
            Chapter::Note(note) => self.said(note),
            Chapter::Begun(_) | Chapter::Step(_) | Chapter::Left { .. } => {}
        }
    }

    /// Adds an unsolicited message or action of a person.
    fn said(&mut self, note: &SessionNote) {
        if is_of_person(note) {
            self.blackboard.push(NoteLine::of(note).text);
        }
    }

    fn talk(&mut self, talk: &Talk) {
        let line = TalkLine::of(talk);
        let pairs = line.asked.iter().zip(&line.answers);
        self.blackboard.extend(pairs.map(|(asked, answer)| format!("{asked}: {answer}")));
    }

    /// One line per model request.
    pub(super) fn requests(&self, step: &StepStory, pictures: &PictureNames) -> Vec<Value> {
        step.asks.iter().map(|ask| self.request(step, ask, pictures)).collect()
    }

    fn request(&self, step: &StepStory, ask: &AskStory, pictures: &PictureNames) -> Value {
        let images: Vec<String> = pictures.clean.iter().map(|path| PictureNames::name(Some(path))).collect();
        let mut line = json!({
            "step": step.number.saturating_sub(1),
            "image_list": images,
            "plan": self.plan,
            "prev_subtask": self.subtasks,
            "request": self.overview.request_of(step.round),
            "blackboard_prompt": self.blackboard,
            "prompt": ask.messages.iter().map(chat_message).collect::<Vec<_>>(),
        });
        let more = if step.subtask.is_empty() {
            json!({"os_info": {"desktop": self.overview.header.desktop, "targets": targets(step)}})
        } else {
            let controls: Vec<Value> = step.observation.iter().flat_map(elements_of).map(control).collect();
            json!({
                "dynamic_examples": [],
                "experience_examples": found(step, Retriever::Experience),
                "demonstration_examples": found(step, Retriever::Demonstration),
                "offline_docs": found(step, Retriever::Help).join("\n\n"),
                "online_docs": found(step, Retriever::Search).join("\n\n"),
                "dynamic_knowledge": "",
                "control_info": controls,
                "subtask": step.subtask,
                "current_application": application(step),
                "host_message": self.host_message,
                "last_success_actions": self.last_success_of(&step.subtask),
                "include_last_screenshot": has_picture(ask),
            })
        };
        if let (Some(line), Value::Object(more)) = (line.as_object_mut(), more) {
            line.extend(more);
        }
        line
    }

    /// The line of a step.
    pub(super) fn response(&mut self, step: &StepStory, pictures: &PictureNames) -> Value {
        if self.round != step.round {
            (self.round, self.round_step) = (step.round, 0);
        }
        let host = step.subtask.is_empty();
        let agent_step = self.agent_steps.entry(step.agent.to_string()).or_default();
        let said = step.decision.clone().unwrap_or_default();
        let actions: Vec<Value> = step.acts.iter().map(action).collect();
        let results: Vec<Value> = actions.iter().filter_map(|action| action.get("result").cloned()).collect();
        let representation: Vec<String> = step.acts.iter().map(representation).collect();
        let success = step
            .acts
            .iter()
            .all(|act| act.result.as_ref().is_some_and(|result| result.status == CallStatus::Success));
        let seconds = |ms: u64| json!(ms as f64 / 1000.0);
        let mut line = json!({
            "agent_type": step.agent.kind_word(),
            "agent_name": step.agent.to_string(),
            "session_step": step.number.saturating_sub(1),
            "round_step": self.round_step,
            "round_num": step.round.saturating_sub(1),
            "agent_step": *agent_step,
            "status": said.status,
            "request": self.overview.request_of(step.round),
            "llm_cost": cost_of(step).map(|micros| micros as f64 / 1e6),
            "observation": said.observation,
            "thought": said.thought,
            "plan": said.plan,
            "comment": said.comment,
            "result": said.result,
            "action": actions,
            "action_type": action_type(step),
            "action_representation": representation.join("\n"),
            "function_call": step.acts.iter().map(|act| act.command.tool.as_str()).collect::<Vec<_>>(),
            "arguments": step.acts.iter().map(|act| &act.command.arguments).collect::<Vec<_>>(),
            "results": results,
            "action_success": success,
            "last_error": error(step),
            "application": application(step),
            "application_process_name": process_name(step),
            "control_log": step.acts.iter().map(target).collect::<Vec<_>>(),
            "execution_times": {
                "DATA_COLLECTION": seconds(step.times.observe),
                "LLM_INTERACTION": seconds(step.times.ask),
                "ACTION_EXECUTION": seconds(step.times.act),
                "MEMORY_UPDATE": seconds(step.times.record),
            },
            "total_time": seconds(total(&step.times)),
            "clean_screenshot_path": PictureNames::name(pictures.clean.as_ref()),
            "annotated_screenshot_path": PictureNames::name(pictures.annotated.as_ref()),
            "concat_screenshot_path": "",
            "selected_control_screenshot_path": PictureNames::name(pictures.selected.as_ref()),
            "desktop_screenshot_path": if host { PictureNames::name(pictures.clean.as_ref()) } else { String::new() },
            "notes": said.notes,
        });
        let subtask = if host { said.subtask.clone() } else { step.subtask.clone() };
        if let Some(line) = line.as_object_mut() {
            let name = if host { "current_subtask" } else { "subtask" };
            line.insert(name.to_owned(), subtask.into());
            line.insert("message".to_owned(), said.message.clone().into());
            line.insert(
                "subtask_index".to_owned(),
                json!(i64::try_from(self.subtasks.len()).unwrap_or(0) - 1),
            );
        }
        *agent_step += 1;
        self.round_step += 1;
        self.remember(step, said);
        line
    }

    /// Keeps what later lines say of a step.
    fn remember(&mut self, step: &StepStory, said: DecisionSummary) {
        self.plan = said.plan;
        if !said.subtask.is_empty() {
            self.subtasks.push(said.subtask);
            self.host_message = said.message;
        }
        if !step.subtask.is_empty() {
            let succeeded = |act: &&ActStory| {
                act.result.as_ref().is_some_and(|result| result.status == CallStatus::Success)
            };
            let acts = step.acts.iter().filter(succeeded).map(action).collect();
            self.last_success = (step.subtask.clone(), acts);
        }
        step.talks.iter().for_each(|talk| self.talk(talk));
        step.notes.iter().for_each(|note| self.said(note));
    }

    fn last_success_of(&self, subtask: &str) -> &[Value] {
        if self.last_success.0 == subtask { &self.last_success.1 } else { &[] }
    }

    /// The elements of a window as a nested tree.
    pub(super) fn tree(&self, view: &WindowView) -> Value {
        let surfaces: Vec<Value> = view
            .surfaces
            .iter()
            .map(|surface| {
                let mut open: Vec<(u16, Value)> = Vec::new();
                let mut roots: Vec<Value> = Vec::new();
                for element in &surface.tree.elements {
                    fold(&mut open, &mut roots, element.depth);
                    open.push((element.depth, node(element)));
                }
                fold(&mut open, &mut roots, 0);
                json!({
                    "id": surface.window.id, "name": surface.window.title, "control_type": "Window",
                    "rectangle": rectangle(surface.window.bounds.into()), "children": roots,
                })
            })
            .collect();
        json!({"session": self.overview.header.session.0, "windows": surfaces})
    }
}

/// Renders the hits of a retriever before a step.
fn found(step: &StepStory, retriever: Retriever) -> Vec<String> {
    let hits = step.found.iter().filter(|hit| hit.retriever == retriever);
    hits.map(|hit| format!("{} ({})\n{}", hit.title, hit.origin, hit.text)).collect()
}

/// The targets that a HostAgent could choose among, with what is known of each.
fn targets(step: &StepStory) -> Vec<TargetInfo> {
    step.observation.iter().flat_map(windows_of).map(TargetInfo::from).collect()
}

/// Returns `true` if a question came with a picture.
fn has_picture(ask: &AskStory) -> bool {
    ask.messages
        .iter()
        .flat_map(|message| &message.parts)
        .any(|part| matches!(part, MessagePart::Picture { .. }))
}

/// Attaches nodes at least as deep as `depth` to their parents.
fn fold(open: &mut Vec<(u16, Value)>, roots: &mut Vec<Value>, depth: u16) {
    while open.last().is_some_and(|(known, _)| *known >= depth) {
        let Some((_, done)) = open.pop() else { return };
        match open.last_mut().and_then(|(_, parent)| parent.get_mut("children")?.as_array_mut()) {
            Some(children) => children.push(done),
            None => roots.push(done),
        }
    }
}

fn node(element: &Element) -> Value {
    json!({
        "id": element.id, "name": element.name, "control_type": element.role.to_string(),
        "rectangle": element.bounds.map(|bounds| rectangle(bounds.into())),
        "text": element.text, "children": [],
    })
}

fn rectangle([x, y, width, height]: [i32; 4]) -> Value {
    json!({"left": x, "top": y, "right": x.saturating_add(width), "bottom": y.saturating_add(height)})
}

fn control(element: &Element) -> Value {
    json!({
        "label": element.id, "control_text": element.name, "control_type": element.role.to_string(),
        "control_rect": element.bounds, "source": source(element.source),
    })
}

/// The source of an element in the reference's terms.
const fn source(source: ElementSource) -> &'static str {
    match source {
        ElementSource::AtSpi => "uia",
        ElementSource::Ocr => "ocr",
        ElementSource::Omniparser => "omniparser",
    }
}

fn chat_message(message: &ModelMessage) -> Value {
    let role = match message.speaker {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    };
    // Pictures are stored beside the log instead of inline.
    let content: Vec<Value> = message
        .parts
        .iter()
        .map(|part| match part {
            MessagePart::Text { text } => json!({"type": "text", "text": text}),
            MessagePart::Picture { picture } => json!({"type": "image", "sha256": picture.sha256}),
        })
        .collect();
    json!({"role": role, "content": content})
}

fn application(step: &StepStory) -> String {
    match &step.observation {
        Some(seen @ Observation::Window(_)) => {
            windows_of(seen).first().map(|window| window.app.name.clone()).unwrap_or_default()
        }
        Some(Observation::Desktop(_) | Observation::Agent(_)) | None => String::new(),
    }
}

/// Who performed the actions of a step: the host itself, another agent, or the tools.
fn action_type(step: &StepStory) -> &str {
    match &step.agent {
        AgentRef::HostAgent => "HostAgent",
        AgentRef::Agent { name } => name,
        AgentRef::AppAgent { .. } | AgentRef::EvaluationAgent | AgentRef::Unnamed => "MCP",
    }
}

/// The root of the application, which is the class of its windows.
fn process_name(step: &StepStory) -> String {
    let window = step.observation.iter().flat_map(windows_of).next();
    match &step.agent {
        AgentRef::AppAgent { application, .. } => application.clone(),
        AgentRef::HostAgent | AgentRef::Agent { .. } | AgentRef::EvaluationAgent | AgentRef::Unnamed => {
            window
                .filter(|_| !step.subtask.is_empty())
                .map(|window| window.app.root.clone())
                .unwrap_or_default()
        }
    }
}

fn error(step: &StepStory) -> Option<String> {
    let failed = step.acts.iter().filter_map(|act| act.result.as_ref());
    let mut failed = failed.filter(|result| result.status == CallStatus::Failure);
    failed.next().map(CallResult::summary).or_else(|| {
        let note = step.notes.iter().find(|note| !is_of_person(note))?;
        Some(NoteLine::of(note).text)
    })
}

fn target(act: &ActStory) -> Value {
    act.target.as_ref().map_or(json!({}), |target| {
        json!({
            "kind": if target.is_window { "window" } else { "control" },
            "id": target.id, "name": target.name, "type": target.kind,
            "rect": target.bounds,
        })
    })
}

fn action(act: &ActStory) -> Value {
    let status = act.result.as_ref().map_or("none", |result| match result.status {
        CallStatus::Success => "success",
        CallStatus::Failure => "failure",
        CallStatus::Skipped => "skipped",
    });
    let failed = act.result.as_ref().filter(|result| result.status == CallStatus::Failure);
    json!({
        "function": act.command.tool,
        "arguments": act.command.arguments,
        "target": target(act),
        "result": {
            "status": status,
            "error": failed.map(CallResult::summary),
            "result": act.result.as_ref().map(|result| if result.output.is_null() {
                Value::String(result.summary())
            } else {
                result.output.clone()
            }),
            "effect": act.result.as_ref().and_then(|result| result.effect),
        },
        "action_string": act.command.to_line(),
        "action_representation": representation(act),
    })
}

fn representation(act: &ActStory) -> String {
    let mut lines = vec![format!("[Action] {}", act.command.to_line())];
    lines.extend(act.target.as_ref().map(|target| format!("[Target] {}", target.label)));
    if let Some(result) = &act.result {
        let status = match result.status {
            CallStatus::Success => "success",
            CallStatus::Failure => "failure",
            CallStatus::Skipped => "skipped",
        };
        lines.push(format!("[Status] {status}"));
        lines.push(format!("[Result] {}", result.summary()));
    }
    lines.join("\n")
}
