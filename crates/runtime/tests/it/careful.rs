//! A model that plays a script, and does what a careful one does when the process ended under it: it looks what became
//! of the action that was out, and goes on from there.

use std::sync::{Arc, Mutex};

use deskhand_core::model::{ModelFailure, ModelReply, ModelRequest, Part};
use deskhand_desktop_fake::FakeDesktop;
use deskhand_model::{Model, PictureSource, Script};
use serde_json::{Value, json};

/// What was out when the process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Out {
    /// Which action of the step.
    pub(crate) index: usize,
    /// Whether it was carried out.
    pub(crate) done: bool,
}

#[derive(Default)]
struct State {
    last: Option<(ModelRequest, ModelReply)>,
    out: Option<Out>,
}

/// The model. It lives elsewhere, so that it survives the process that asks.
pub(crate) struct Careful {
    script: Script,
    desktop: Arc<FakeDesktop>,
    state: Mutex<State>,
}

impl Careful {
    pub(crate) fn new(script: Script, desktop: Arc<FakeDesktop>) -> Self {
        Self { script, desktop, state: Mutex::default() }
    }

    /// The process ended while this was out.
    pub(crate) fn interrupted(&self, out: Option<Out>) {
        self.state.lock().unwrap().out = out;
    }

    /// The last reply once more, without what is done.
    fn go_on(&self, last: &ModelReply, out: Out) -> ModelReply {
        let mut reply: Value = serde_json::from_str(&last.text).unwrap();
        if let Some(Value::Array(actions)) = reply.get_mut("action") {
            actions.drain(..out.index);
            // What only reads is read again.
            let reads = actions[0]["function"].as_str().unwrap().starts_with("read_");
            if out.done && !reads {
                actions.remove(0);
            }
        } else if out.done && reply["function"] == "launch_application" {
            let window = self.desktop.find_window("Calc").unwrap().to_string();
            let fields = reply.as_object_mut().unwrap();
            fields.remove("function");
            fields.remove("arguments");
            fields.insert("control_label".to_owned(), json!(window));
        }
        ModelReply { text: reply.to_string(), ..last.clone() }
    }
}

impl Model for Careful {
    async fn ask(&self, request: &ModelRequest, _: &dyn PictureSource) -> Result<ModelReply, ModelFailure> {
        let mut state = self.state.lock().unwrap();
        let asked_before = state.last.as_ref().filter(|(last, _)| last == request);
        if let Some((_, reply)) = asked_before {
            return Ok(reply.clone());
        }
        let reply = match (state.out.take(), &state.last) {
            (Some(out), Some((_, last))) => {
                let told =
                    request.messages.iter().flat_map(|message| &message.parts).any(
                        |part| matches!(part, Part::Text { text } if text.contains("it may be half done")),
                    );
                assert!(told, "the agent is told of the action that was out");
                self.go_on(last, out)
            }
            _ => self.script.answer(request)?,
        };
        state.last = Some((request.clone(), reply.clone()));
        Ok(reply)
    }

    fn name(&self) -> &'static str {
        "careful"
    }
}
