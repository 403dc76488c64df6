//! A step of the framework without model time: from one reply to the next request.

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use deskhand_desktop::{TreeLimits, UiTree as _};
use deskhand_desktop_act::ActLimits;
use deskhand_machine::{
    model::{ModelFailure, ModelReply, ModelRequest},
    prompt::PromptSet,
    session::{RoundLimits, SessionConfig},
};
use deskhand_model::{Model, ModelSigns, PictureSource};
use deskhand_runtime::{
    SessionRunOptions, SessionStore, StopSwitch, Toolbox, Waits, agents::EnabledAgents, people::People, run,
};
use serde_json::{Value, json};

use crate::{Failure, median, stage::Stage};

/// The number of measured steps, including warm-up.
const STEPS: usize = 24;
const WARM_UP: usize = 4;

/// A model that replies at once and records when it was called.
struct Instantly {
    window: String,
    /// The ids of elements that are read in turn.
    elements: Vec<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    asked: usize,
    answered_at: Option<Instant>,
    steps: Vec<f64>,
}

impl Model for Instantly {
    async fn ask(
        &self,
        _: &ModelRequest,
        _: &dyn PictureSource,
        _: &dyn ModelSigns,
    ) -> Result<ModelReply, ModelFailure> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answered_at) = state.answered_at {
            let step = answered_at.elapsed().as_secs_f64() * 1e3;
            state.steps.push(step);
        }
        let asked = state.asked;
        state.asked += 1;
        let thought = json!({ "observation": "as it was", "thought": format!("step {asked}") });
        let mut reply = thought;
        if asked == 0 {
            reply["status"] = json!("ASSIGN");
            reply["current_subtask"] = json!("read the controls");
            reply["control_label"] = json!(self.window);
        } else if asked <= STEPS {
            let element = self.elements.get(asked % self.elements.len().max(1));
            reply["status"] = json!("CONTINUE");
            reply["action"] = json!([{ "function": "read_text", "arguments": { "id": element } }]);
        } else {
            reply["status"] = json!("FINISH");
            reply["result"] = json!("done");
        }
        state.answered_at = Some(Instant::now());
        Ok(ModelReply {
            text: reply.to_string(),
            model: "instant".to_owned(),
            attempts: 1,
            ..ModelReply::default()
        })
    }

    fn name(&self) -> &str {
        "instant"
    }
}

/// Milliseconds per step, without and with a picture.
pub(crate) async fn measure(stage: &Stage) -> Result<Value, Failure> {
    let folder = tempfile::tempdir()?;
    let text = steps(stage, folder.path(), false).await?;
    let picture = steps(stage, folder.path(), true).await?;
    Ok(json!({
        "text_p50_ms": median(text.clone()),
        "picture_p50_ms": median(picture.clone()),
        "text_ms": text,
        "picture_ms": picture,
        "window": stage.window.title,
    }))
}

async fn steps(stage: &Stage, folder: &Path, pictures: bool) -> Result<Vec<f64>, Failure> {
    let tree = stage.desktop.tree(stage.window.id, TreeLimits::default()).await?;
    let named = tree
        .elements
        .iter()
        .filter(|element| !element.name.is_empty() && element.role == deskhand_ui::Role::PUSH_BUTTON);
    let model = Instantly {
        window: stage.window.id.to_string(),
        elements: named.map(|element| element.id.to_string()).collect(),
        state: Mutex::default(),
    };
    let store = SessionStore::at(folder.join("sessions"), folder.join("seals"));
    let tools = Toolbox::standard(ActLimits::default())?;
    let limits = RoundLimits { steps_max: 200, ..RoundLimits::default() };
    let config = SessionConfig { limits, pictures, ..SessionConfig::default() };
    let options = SessionRunOptions {
        id: None,
        store: &store,
        desktop: &stage.desktop,
        desktop_name: "virtual".to_owned(),
        model: &model,
        tools: &tools,
        agents: EnabledAgents::default(),
        config,
        prompts: PromptSet::default(),
        requests: vec!["read the controls".into()],
        people: People::nobody(),
        stop: StopSwitch::new(),
        waits: Waits::default(),
        ranker: None,
        retrieve: None,
        program: "perception".to_owned(),
        setup: Value::Null,
    };
    run(options, &mut |_: &_| {}).await?;
    let state = model.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if state.asked <= STEPS {
        return Err(format!("only {} steps ran", state.asked).into());
    }
    Ok(state.steps.into_iter().skip(WARM_UP).take(STEPS - WARM_UP).collect())
}
