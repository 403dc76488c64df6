//! Runs sessions on the in-memory office suite with a scripted model.

use std::{collections::BTreeMap, fs, sync::Arc};

use deskhand_desktop_act::ActLimits;
use deskhand_desktop_fake::{FakeDesktop, office};
use deskhand_machine::{
    command::{CallResult, ToolCommand},
    prompt::PromptSet,
    record::{JournalEntry, JournalRecord},
    session::{Effect, RoundLimits, SessionConfig, SessionEvent},
};
use deskhand_model::{Model, Script};
use deskhand_runtime::{
    RunEnd, SessionFolder, SessionRunOptions, SessionStore, StopSwitch, Toolbox, Waits,
    agents::EnabledAgents,
    people::{Approvals, People, UserRequest},
    run,
};
use serde_json::Value;

pub(crate) const REQUEST: &str =
    "Extract the sales table from the Writer document and create a bar chart of it in Calc";

pub(crate) fn script(text: &str) -> Script {
    let variables = BTreeMap::from([("output".to_owned(), "/tmp/sales.ods".to_owned())]);
    Script::parse("office.script.toml", text, variables).unwrap()
}

pub(crate) fn office_script() -> Script {
    script(include_str!("office.script.toml"))
}

pub(crate) fn config() -> SessionConfig {
    SessionConfig {
        limits: RoundLimits { steps_max: 20, ..RoundLimits::default() },
        pictures: true,
        ..SessionConfig::default()
    }
}

/// A finished run and its results.
pub(crate) struct Ran {
    pub(crate) desktop: FakeDesktop,
    pub(crate) end: RunEnd,
    pub(crate) lines: Vec<JournalEntry>,
    /// Keeps the store alive.
    pub(crate) store: (SessionStore, tempfile::TempDir),
}

pub(crate) async fn run_office<M: Model>(model: &M) -> Ran {
    run_with(model, config(), office(), &StopSwitch::new(), |_, _| {}).await
}

/// Runs the main job; `watch` observes every line with the desktop and may modify the desktop.
pub(crate) async fn run_with<M: Model>(
    model: &M,
    config: SessionConfig,
    desktop: FakeDesktop,
    stop: &StopSwitch,
    watch: impl FnMut(&JournalEntry, &FakeDesktop) + Send,
) -> Ran {
    run_people(model, config, desktop, stop, People::nobody(), watch).await
}

/// Runs the main job with a user channel.
pub(crate) async fn run_people<M: Model>(
    model: &M,
    config: SessionConfig,
    desktop: FakeDesktop,
    stop: &StopSwitch,
    people: People<'_>,
    mut watch: impl FnMut(&JournalEntry, &FakeDesktop) + Send,
) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let store = SessionStore::at(folder.path().join("sessions"), folder.path().join("seals"));
    let tools = Toolbox::standard(ActLimits::default()).unwrap();
    let mut lines = Vec::new();
    let options = SessionRunOptions {
        id: None,
        store: &store,
        desktop: &desktop,
        desktop_name: "fake".to_owned(),
        model,
        tools: &tools,
        agents: EnabledAgents::default(),
        config,
        prompts: PromptSet::default(),
        requests: vec![REQUEST.into()],
        people,
        stop: stop.clone(),
        waits: Waits::default(),
        ranker: None,
        retrieve: None,
        program: "test".to_owned(),
        setup: serde_json::Value::Null,
    };
    let mut observer = |line: &JournalEntry| {
        watch(line, &desktop);
        lines.push(line.clone());
    };
    let end = run(options, &mut observer).await.unwrap();
    Ran { desktop, end, lines, store: (store, folder) }
}

pub(crate) fn events(lines: &[JournalEntry]) -> impl Iterator<Item = &SessionEvent> {
    lines.iter().filter_map(|line| match &line.record {
        JournalRecord::Event(record) => Some(&record.event),
        JournalRecord::Header(_) | JournalRecord::Effect(_) | JournalRecord::Changed(_) => None,
    })
}

/// The requested commands, with their record numbers.
pub(crate) fn commands(lines: &[JournalEntry]) -> impl Iterator<Item = (u64, &ToolCommand)> {
    lines.iter().filter_map(|line| match &line.record {
        JournalRecord::Effect(record) => {
            if let Effect::Call { command } = &record.effect {
                Some((line.seq, command))
            } else {
                None
            }
        }
        JournalRecord::Header(_) | JournalRecord::Event(_) | JournalRecord::Changed(_) => None,
    })
}

/// The results of calls.
pub(crate) fn results(lines: &[JournalEntry]) -> impl Iterator<Item = &CallResult> {
    events(lines)
        .filter_map(|event| if let SessionEvent::Returned { result } = event { Some(result) } else { None })
}

/// Leaves a session as if its process had died in the last write: half of the last line, and an anchor that does not know it.
/// Returns false, and changes nothing, if the line was anchored before that process.
pub(crate) fn tear_last_line(folder: &SessionFolder) -> bool {
    let anchor = folder.seals().anchor_path(&folder.name());
    let mut slots = fs::read(&anchor).unwrap();
    let written = |slot: &[u8]| {
        let slot: Value = serde_json::from_slice(slot).unwrap();
        let anchored: Value = serde_json::from_str(slot["anchored"].as_str().unwrap()).unwrap();
        anchored["written"]["seq"].as_u64().unwrap()
    };
    let (first, second) = (written(&slots[..SLOT]), written(&slots[SLOT..2 * SLOT]));
    // A journal needs its header.
    if first == second || first.max(second) == 1 {
        return false;
    }
    let (older, newer) = if first > second { (SLOT, 0) } else { (0, SLOT) };
    // The anchor is written after the record, so it holds the record before.
    slots.copy_within(older..older + SLOT, newer);
    fs::write(&anchor, slots).unwrap();
    let path = folder.journal_path();
    let bytes = fs::read(&path).unwrap();
    let start = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    fs::write(&path, &bytes[..start + (bytes.len() - start) / 2]).unwrap();
    true
}

/// The size of a slot of an anchor.
const SLOT: usize = 1_024;

/// What survives a process: desktop, model, and sessions on disk.
pub(crate) struct World<M> {
    pub(crate) desktop: Arc<FakeDesktop>,
    pub(crate) model: Arc<M>,
    pub(crate) store: SessionStore,
    pub(crate) tools: Arc<Toolbox<FakeDesktop>>,
    pub(crate) folder: Arc<tempfile::TempDir>,
}

impl<M> Clone for World<M> {
    fn clone(&self) -> Self {
        Self {
            desktop: Arc::clone(&self.desktop),
            model: Arc::clone(&self.model),
            store: self.store.clone(),
            tools: Arc::clone(&self.tools),
            folder: Arc::clone(&self.folder),
        }
    }
}

impl<M: Model> World<M> {
    pub(crate) fn new(model: M, desktop: Arc<FakeDesktop>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            desktop,
            model: Arc::new(model),
            store: SessionStore::at(folder.path().join("sessions"), folder.path().join("seals")),
            tools: Arc::new(Toolbox::standard(ActLimits::default()).unwrap()),
            folder: Arc::new(folder),
        }
    }

    pub(crate) fn options(&self, requests: Vec<String>) -> SessionRunOptions<'_, FakeDesktop> {
        SessionRunOptions {
            id: None,
            store: &self.store,
            desktop: &self.desktop,
            desktop_name: "fake".to_owned(),
            model: &*self.model,
            tools: &self.tools,
            agents: EnabledAgents::default(),
            // Encoding pictures dominates the cost of sessions on this desktop.
            config: SessionConfig { pictures: false, ..config() },
            prompts: PromptSet::default(),
            requests: requests.into_iter().map(UserRequest::from).collect(),
            people: People { approvals: Approvals::All, ..People::nobody() },
            stop: StopSwitch::new(),
            waits: Waits::default(),
            ranker: None,
            retrieve: None,
            program: "test".to_owned(),
            setup: serde_json::Value::Null,
        }
    }
}
