//! Runs concurrent sessions and measures their cost.

use std::{
    error::Error,
    fs,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Instant,
};

use deskhand_desktop_act::ActLimits;
use deskhand_desktop_fake::{FakeApp, FakeDesktop, FakeElement, FakeWindow};
use deskhand_machine::{
    model::{ModelFailure, ModelReply, ModelRequest, Usage},
    outcome::OutcomeKind,
    prompt::PromptSet,
    session::{RoundLimits, SessionConfig},
};
use deskhand_model::{Model, ModelSigns, PictureSource};
use deskhand_runtime::{
    SessionRunOptions, SessionStore, StopSwitch, Toolbox, Waits,
    people::{People, UserRequest},
    run,
    side_by_side::side_by_side,
};
use deskhand_ui::Role;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::Barrier;

/// Why a measurement failed.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// The number of other controls in the window.
const CONTROLS: usize = 60;

/// A model that sets a field to a new value in each step, and waits in the last one for all other sessions.
struct Busy {
    steps: u32,
    asked: AtomicU32,
    desktop: Arc<FakeDesktop>,
    at_end: Arc<Barrier>,
}

impl Model for Busy {
    async fn ask(
        &self,
        _: &ModelRequest,
        _: &dyn PictureSource,
        _: &dyn ModelSigns,
    ) -> Result<ModelReply, ModelFailure> {
        // The event log of the in-memory desktop does not count as memory of the session.
        self.desktop.forget_history();
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        let id = |found: Option<String>| found.unwrap_or_default();
        let reply = if asked == 0 {
            let window = id(self.desktop.find_window("Form").map(|window| window.to_string()));
            json!({"thought": "go", "status": "ASSIGN", "current_subtask": "fill in the form", "control_label": window})
        } else if asked + 1 < self.steps {
            let field = id(self.desktop.find_key("field").map(|field| field.to_string()));
            let value = format!("value {asked}");
            json!({"thought": "the next value", "status": "CONTINUE",
                   "action": [{"function": "set_value", "arguments": {"id": field, "value": value}}]})
        } else if asked + 1 == self.steps {
            // All sessions reach this point, are measured, and then end.
            self.at_end.wait().await;
            self.at_end.wait().await;
            json!({"thought": "done", "status": "FINISH", "result": "filled in"})
        } else {
            json!({"thought": "done", "status": "FINISH", "result": "done"})
        };
        let usage = Usage { prompt_tokens: Some(1), cached_tokens: None, completion_tokens: Some(1) };
        Ok(ModelReply {
            text: reply.to_string(),
            model: "busy".to_owned(),
            usage,
            attempts: 1,
            ..ModelReply::default()
        })
    }

    fn name(&self) -> &'static str {
        "busy"
    }
}

fn desktop() -> FakeDesktop {
    let label = |number: usize| FakeElement::new(Role::LABEL, &format!("Label {number}"));
    let field = FakeElement::new(Role::ENTRY, "Name").key("field").text("");
    let elements = std::iter::once(field).chain((0..CONTROLS).map(label));
    let window = FakeWindow::normal("Form").elements(elements);
    FakeDesktop::new([FakeApp::new("Form", "form", [window])], [])
}

async fn session(store: SessionStore, steps: u32, at_end: Arc<Barrier>) -> Result<(), Failure> {
    let desktop = Arc::new(desktop());
    let model = Busy { steps, asked: AtomicU32::new(0), desktop: Arc::clone(&desktop), at_end };
    let tools = Toolbox::standard(ActLimits::default())?;
    let limits = RoundLimits {
        steps_max: u32::MAX,
        model_calls_max: u32::MAX,
        tokens_max: None,
        ..RoundLimits::default()
    };
    let options = SessionRunOptions {
        id: None,
        store: &store,
        desktop: &*desktop,
        desktop_name: "fake".to_owned(),
        model: &model,
        tools: &tools,
        agents: deskhand_runtime::agents::EnabledAgents::default(),
        config: SessionConfig { limits, pictures: false, ..SessionConfig::default() },
        prompts: PromptSet::default(),
        requests: vec![UserRequest::from("Fill in the form".to_owned())],
        people: People::nobody(),
        stop: StopSwitch::new(),
        waits: Waits::default(),
        ranker: None,
        retrieve: None,
        program: "bench".to_owned(),
        setup: Value::Null,
    };
    let end = run(options, &mut |_| ()).await?;
    match end.outcome {
        Some(outcome) if outcome.kind == OutcomeKind::Finished => Ok(()),
        other => Err(format!("the session did not finish: {other:?}").into()),
    }
}

/// The resident memory of this process, in KiB.
fn resident_kib() -> Result<u64, Failure> {
    let text = fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}

/// The CPU time of this process, in milliseconds.
fn processor_ms() -> Result<u64, Failure> {
    /// Clock ticks per second, as Linux reports them.
    const TICKS: u64 = 100;
    let text = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let field = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).ok_or("no times");
    Ok((field(11)? + field(12)?) * 1000 / TICKS)
}

/// The measurements.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// The number of concurrent sessions.
    pub(crate) sessions: u32,
    /// The number of steps of each.
    pub(crate) steps: u32,
    /// Memory per session at its end.
    pub(crate) kib_per_session: f64,
    /// CPU time.
    pub(crate) processor_us_per_step: f64,
    /// Elapsed time.
    pub(crate) elapsed_us_per_step: f64,
}

/// Measures concurrent sessions with at least 3 steps each.
///
/// # Errors
/// If a session does not finish, or the figures of this process cannot be read.
pub(crate) async fn measure(sessions: u32, steps: u32) -> Result<Figures, Failure> {
    let steps = steps.max(3);
    let folder = tempfile::tempdir()?;
    let store = SessionStore::at(folder.path().join("sessions"), folder.path().join("seals"));
    // One-time allocations are made before measuring.
    session(store.clone(), 10, Arc::new(Barrier::new(1))).await?;
    let (before_kib, begun_ms, begun) = (resident_kib()?, processor_ms()?, Instant::now());
    let count = usize::try_from(sessions)?;
    let at_end = Arc::new(Barrier::new(count + 1));
    let all = (0..count).map(|_| session(store.clone(), steps, Arc::clone(&at_end)));
    let work = side_by_side(count, all);
    let look = async {
        at_end.wait().await;
        let seen = (resident_kib(), processor_ms(), begun.elapsed());
        at_end.wait().await;
        seen
    };
    let (results, (resident, processor, elapsed)) = tokio::join!(work, look);
    for result in results {
        result??;
    }
    let done = u64::from(sessions) * u64::from(steps);
    Ok(Figures {
        sessions,
        steps,
        kib_per_session: resident?.saturating_sub(before_kib) as f64 / f64::from(sessions),
        processor_us_per_step: (processor?.saturating_sub(begun_ms) * 1000) as f64 / done as f64,
        elapsed_us_per_step: elapsed.as_micros() as f64 / done as f64,
    })
}
