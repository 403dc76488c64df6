//! Many stored sessions: a few that were really run, and copies of their journals.

use std::{collections::BTreeMap, fs, path::Path};

use deskhand_desktop_act::ActLimits;
use deskhand_desktop_fake::office;
use deskhand_machine::{
    prompt::PromptSet,
    session::{RoundLimits, SessionConfig},
};
use deskhand_model::Script;
use deskhand_runtime::{
    SessionFolder, SessionRunOptions, SessionStore, StopSwitch, Toolbox, Waits, now_ms,
    people::{People, UserRequest},
    run,
};
use serde_json::Value;
use uuid::{NoContext, Timestamp, Uuid};

use crate::Failure;

const CHART: &str = include_str!("../../tests/it/office.script.toml");
const FAILS: &str = r#"
[[turn]]
reply = '{"observation": "o", "thought": "t", "status": "FAIL", "result": "there is no such table"}'
"#;
const LAUNCHES: &str = r#"
[[turn]]
reply = '''{"observation": "o", "thought": "t", "status": "CONTINUE", "function": "launch_application",
  "arguments": {"name": "LibreOffice Calc"}}'''
[[turn]]
reply = '{"observation": "o", "thought": "t", "status": "FINISH", "result": "it is open"}'
"#;

/// The sessions that are run: script, request, the most steps, and how many of ten copies are of it.
const KINDS: [(&str, &str, u32, usize); 4] = [
    (CHART, "Chart the sales table in Calc", 20, 1),
    (CHART, "Chart the sales table, but soon", 3, 2),
    (FAILS, "Sum up the costs table", 20, 3),
    (LAUNCHES, "Open Calc", 20, 4),
];
/// The time between two sessions, in milliseconds.
const APART_MS: u64 = 13 * 60 * 1_000;

/// A store with that many sessions; those of an earlier run are kept.
pub(crate) async fn stored(folder: &Path, count: usize) -> Result<SessionStore, Failure> {
    let store = SessionStore::at(folder.join("sessions"), folder.join("seals"));
    let there = store.list()?.len();
    if there > 0 {
        return if there == count {
            Ok(store)
        } else {
            Err("the folder has another number of sessions".into())
        };
    }
    let models = SessionStore::at(folder.join("models"), folder.join("seals"));
    let mut journals = Vec::new();
    for (script, request, steps_max, of_ten) in KINDS {
        let session = session(&models, script, request, steps_max).await?;
        let journal = fs::read_to_string(session.journal_path())?;
        journals.extend((0..of_ten).map(|_| (session.name(), journal.clone())));
    }
    let now_ms = now_ms();
    for number in 0..count {
        let (id, journal) = journals.get(number % journals.len()).ok_or("no journals")?;
        let begun_ms = now_ms.saturating_sub(APART_MS.saturating_mul(u64::try_from(count - number)?));
        copy(&store, id, journal, begun_ms)?;
    }
    fs::remove_dir_all(folder.join("models"))?;
    Ok(store)
}

/// Stores a journal under a new id and with another time.
fn copy(store: &SessionStore, id: &str, journal: &str, begun_ms: u64) -> Result<(), Failure> {
    let time =
        Timestamp::from_unix(NoContext, begun_ms / 1_000, u32::try_from(begun_ms % 1_000)? * 1_000_000);
    let new = Uuid::new_v7(time).to_string();
    let (header, rest) = journal.split_once('\n').ok_or("no header")?;
    let was: Value = serde_json::from_str(header)?;
    let created = was.pointer("/record/created_ms").and_then(Value::as_u64).ok_or("no time")?;
    let header = header
        .replace(id, &new)
        .replace(&format!("\"created_ms\":{created}"), &format!("\"created_ms\":{begun_ms}"));
    let folder = store.root().join(&new);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(SessionFolder::JOURNAL), format!("{header}\n{rest}"))?;
    Ok(())
}

async fn session(
    store: &SessionStore,
    script: &str,
    request: &str,
    steps_max: u32,
) -> Result<SessionFolder, Failure> {
    let desktop = office();
    let variables = BTreeMap::from([("output".to_owned(), "/srv/sales.ods".to_owned())]);
    let model = Script::parse("bench.script.toml", script, variables)?;
    let tools = Toolbox::standard(ActLimits::default())?;
    let limits = RoundLimits { steps_max, ..RoundLimits::default() };
    let options = SessionRunOptions {
        id: None,
        store,
        desktop: &desktop,
        desktop_name: "fake".to_owned(),
        model: &model,
        tools: &tools,
        agents: deskhand_runtime::agents::EnabledAgents::default(),
        config: SessionConfig { limits, pictures: false, ..SessionConfig::default() },
        prompts: PromptSet::default(),
        requests: vec![UserRequest::from(request.to_owned())],
        people: People::nobody(),
        stop: StopSwitch::new(),
        waits: Waits::default(),
        ranker: None,
        retrieve: None,
        program: "bench".to_owned(),
        setup: Value::Null,
    };
    Ok(run(options, &mut |_| ()).await?.folder)
}
