//! Asks the questions, and counts.

use std::{collections::BTreeMap, time::Instant};

use deskhand_desktop_act::ActLimits;
use deskhand_desktop_linux::LinuxDesktop;
use deskhand_machine::{
    command::{CallResult, CallStatus, ToolCommand},
    model::{ModelReply, Usage},
    observation::Observation,
    prompt::PromptSet,
    session::{Effect, EventRecord, ModelRoles, Session, SessionConfig, SessionEvent},
};
use deskhand_model::{AnyModel, Model as _, NoModelSigns, NoPictures};
use deskhand_runtime::Ranker;
use deskhand_runtime::Toolbox;
use deskhand_ui::text::one_line;
use serde::Serialize;
use serde_json::json;

use crate::prompts::{Choice, Kind, full_title};

/// How a model is asked.
#[derive(Clone, Copy)]
pub(crate) enum Mode<'a> {
    /// As any other.
    Usual,
    /// As a small one, with what shares most words.
    Words,
    /// As a small one, with what is nearest in meaning.
    Embeddings(&'a Ranker),
}

impl Mode<'_> {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Usual => "usual",
            Self::Words => "words",
            Self::Embeddings(_) => "embeddings",
        }
    }
}

/// What came of a question.
#[derive(Default)]
pub(crate) struct Asked {
    /// The reply, or why there is none.
    reply: String,
    /// Whether it could be used.
    is_valid: bool,
    right: bool,
    prompt_tokens: u64,
    ms: u128,
}

impl Asked {
    pub(crate) fn said(&self) -> String {
        let verdict = if self.right { "right" } else { "WRONG" };
        format!("{verdict}  {} tokens, {} ms  {}", self.prompt_tokens, self.ms, one_line(&self.reply))
    }
}

/// Figures by kind of choice.
#[derive(Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Table(BTreeMap<&'static str, Figures>);

#[derive(Default, Serialize)]
struct Figures {
    right: u32,
    of: u32,
    /// Replies that could not be used.
    invalid: u32,
    prompt_tokens: u64,
    ms: u128,
}

impl Table {
    pub(crate) fn add(&mut self, kind: Kind, asked: &Asked) {
        let name = match kind {
            Kind::Window => "window",
            Kind::Element => "element",
        };
        let figures = self.0.entry(name).or_default();
        figures.right += u32::from(asked.right);
        figures.of += 1;
        figures.invalid += u32::from(!asked.is_valid);
        figures.prompt_tokens += asked.prompt_tokens;
        figures.ms += asked.ms;
    }
}

/// The most tokens of a reply, as in the small-model mode: some models never come to an end.
const REPLY_TOKENS_MAX: u32 = 400;

/// A session that is led to the question.
struct Led<'a> {
    session: Session,
    mode: Mode<'a>,
}

impl Led<'_> {
    fn answer(&mut self, event: SessionEvent) {
        let effect = self.session.next().map(|record| record.id);
        self.session.apply(&EventRecord { effect, at_ms: 1, event }).expect("the event fits");
        if let (Effect::Rank { wanted, texts }, Mode::Embeddings(embedder)) = (self.effect(), self.mode) {
            let near = embedder(&wanted, &texts).expect("numbers");
            #[expect(clippy::cast_possible_truncation, reason = "at most a thousand")]
            let scores = near.iter().map(|near| (near * 1_000.0) as i32).collect();
            self.answer(SessionEvent::Ranked { scores });
        }
    }

    fn effect(&self) -> Effect {
        self.session.next().expect("the session goes on").effect.clone()
    }

    fn says(&mut self, text: String) {
        self.answer(SessionEvent::replied(ModelReply {
            text,
            model: "m".to_owned(),
            attempts: 1,
            ..ModelReply::default()
        }));
    }
}

/// Asks a question and compares the first thing that is done.
pub(crate) async fn ask(model: &AnyModel, choice: &Choice, mode: Mode<'_>) -> Asked {
    let mut led = Led { session: Session::new(config(mode), PromptSet::default()), mode };
    led.answer(SessionEvent::Requested { text: choice.wanted().to_owned(), plan: None });
    match choice {
        Choice::Window { desktop, .. } => {
            led.answer(SessionEvent::Observed { observation: Observation::Desktop(desktop.clone()) });
        }
        Choice::Element { task, view, .. } => lead_into(&mut led, task, view),
    }
    let Effect::Ask { request } = led.effect() else { panic!("no question but {:?}", led.effect()) };
    let begun = Instant::now();
    let replied = model.ask(&request, &NoPictures, &NoModelSigns).await;
    let ms = begun.elapsed().as_millis();
    let mut asked = match &replied {
        Ok(reply) => {
            Asked { reply: reply.text.clone(), prompt_tokens: tokens(reply.usage), ms, ..Asked::default() }
        }
        Err(failure) => {
            let (reply, prompt_tokens) = (failure.message.clone(), tokens(failure.usage));
            return Asked { reply, prompt_tokens, ms, ..Asked::default() };
        }
    };
    led.answer(SessionEvent::replied(replied.expect("a reply")));
    let commands = match led.effect() {
        Effect::Call { command } => vec![command],
        Effect::AwaitApproval { approval } => approval.commands,
        // It is asked to repair its reply.
        Effect::Ask { .. } => return asked,
        // It reads again, asks the user, or gives up.
        Effect::AwaitRequest
        | Effect::Observe { .. }
        | Effect::Rank { .. }
        | Effect::Retrieve { .. }
        | Effect::AskUser { .. }
        | Effect::Delegate { .. }
        | Effect::Finish { .. } => Vec::new(),
    };
    let chosen = commands.first().map(|command| chosen(choice, command)).unwrap_or_default();
    asked.is_valid = true;
    asked.right = match choice {
        Choice::Window { right, .. } => chosen.contains(right),
        Choice::Element { right, keys, .. } => {
            chosen.iter().any(|name| right.contains(name) || keys.contains(name))
        }
    };
    asked
}

fn tokens(usage: Usage) -> u64 {
    usage.prompt_tokens.unwrap_or_default()
}

/// Gives the task to the AppAgent of a window, and shows it the window.
fn lead_into(led: &mut Led<'_>, task: &str, view: &deskhand_ui::WindowView) {
    let window = view.surfaces.first().expect("a window").window.clone();
    let desktop =
        deskhand_machine::observation::DesktopView { windows: vec![window.clone()], ..Default::default() };
    led.answer(SessionEvent::Observed { observation: Observation::Desktop(desktop) });
    let reply = match led.mode {
        Mode::Usual => {
            json!({"thought": "t", "status": "ASSIGN", "current_subtask": task, "control_label": window.id})
        }
        Mode::Words | Mode::Embeddings(_) => {
            json!({"needs": "n", "window": full_title(&window), "task": task})
        }
    };
    led.says(reply.to_string());
    let result = CallResult {
        status: CallStatus::Success,
        window: Some(window),
        ..CallResult::failure(None, "selected")
    };
    led.answer(SessionEvent::Returned { result });
    led.answer(SessionEvent::Observed { observation: Observation::Window(view.clone()) });
}

/// What a command is aimed at: the title of a window; the name of an element, the last one of a path, or keys.
fn chosen(choice: &Choice, command: &ToolCommand) -> Vec<String> {
    let id = command.arguments.get("id").and_then(|id| id.as_str());
    let aims = match choice {
        Choice::Window { desktop, .. } => {
            let window = desktop.windows.iter().find(|window| Some(window.id.to_string().as_str()) == id);
            vec![window.map(full_title)]
        }
        Choice::Element { view, .. } => {
            let element = view.elements().find(|element| Some(element.id.to_string().as_str()) == id);
            let path = command.arguments.get("path").and_then(|path| path.as_array()?.last()?.as_str());
            let keys = command.arguments.get("keys").and_then(|keys| keys.as_str());
            vec![
                element.map(|element| element.name.clone()),
                path.map(str::to_owned),
                keys.map(str::to_owned),
            ]
        }
    };
    aims.into_iter().flatten().collect()
}

fn config(mode: Mode<'_>) -> SessionConfig {
    let tools = Toolbox::<LinuxDesktop>::standard(ActLimits::default()).expect("tools");
    let mut config = SessionConfig {
        host_tools: tools.host_specs(),
        app_tools: tools.app_specs(),
        applications: Some(Vec::new()),
        marks_secret: "choices".to_owned(),
        ..SessionConfig::default()
    };
    config.limits.completion_tokens_max = REPLY_TOKENS_MAX;
    if !matches!(mode, Mode::Usual) {
        let one = || vec!["model".to_owned()];
        config.roles = ModelRoles { all: one(), small: one(), ..ModelRoles::default() };
        config.ranks = matches!(mode, Mode::Embeddings(_));
    }
    config
}
