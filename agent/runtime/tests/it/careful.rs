//! A scripted model that handles a resume: it checks whether the interrupted action took effect and continues from there.

use std::sync::{Arc, Mutex};

use deskhand_desktop_fake::FakeDesktop;
use deskhand_machine::model::{MessagePart, ModelFailure, ModelReply, ModelRequest};
use deskhand_model::{Model, ModelSigns, PictureSource, Script};
use serde_json::{Value, json};

/// The command in progress when the process died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Out {
    /// Its index in the step.
    pub(crate) index: usize,
    /// Whether it was performed.
    pub(crate) done: bool,
}

#[derive(Default)]
struct State {
    last: Option<(ModelRequest, ModelReply)>,
    out: Option<Out>,
}

/// The model. It survives the process that queries it.
pub(crate) struct Careful {
    script: Script,
    desktop: Arc<FakeDesktop>,
    state: Mutex<State>,
}

impl Careful {
    pub(crate) fn new(script: Script, desktop: Arc<FakeDesktop>) -> Self {
        Self { script, desktop, state: Mutex::default() }
    }

    /// Records that the process died during this command.
    pub(crate) fn interrupted(&self, out: Option<Out>) {
        self.state.lock().unwrap().out = out;
    }

    /// The last reply without the actions already done.
    fn remaining_actions(&self, last: &ModelReply, out: Out) -> ModelReply {
        let mut reply: Value = serde_json::from_str(&last.text).unwrap();
        if let Some(Value::Array(actions)) = reply.get_mut("action") {
            actions.drain(..out.index);
            // Reads are repeated.
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
    async fn ask(
        &self,
        request: &ModelRequest,
        _: &dyn PictureSource,
        _: &dyn ModelSigns,
    ) -> Result<ModelReply, ModelFailure> {
        let mut state = self.state.lock().unwrap();
        let asked_before = state.last.as_ref().filter(|(last, _)| last == request);
        if let Some((_, reply)) = asked_before {
            return Ok(reply.clone());
        }
        let reply = match (state.out.take(), &state.last) {
            (Some(out), Some((_, last))) => {
                let told = request.messages.iter().flat_map(|message| &message.parts).any(
                    |part| matches!(part, MessagePart::Text { text } if text.contains("it may be half done")),
                );
                assert!(told, "the prompt mentions the interrupted action");
                self.remaining_actions(last, out)
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
