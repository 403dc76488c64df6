//! The prompts: which window or which element is meant.

use std::{collections::BTreeMap, fs::File, io, path::Path};

use deskhand_machine::{
    observation::{DesktopView, Observation},
    record::JournalRecord,
    session::SessionEvent,
};
use deskhand_runtime::Ranker;
use deskhand_runtime::SessionStore;
use deskhand_ui::{
    AppInfo, WindowInfo, WindowKind, WindowState, WindowView,
    geometry::Rect,
    ids::{SessionId, WindowId},
};
use flate2::read::GzDecoder;
use serde::Deserialize;

/// What is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Window,
    Element,
}

/// A question with its right answers.
pub(crate) enum Choice {
    /// Which window is meant, by its title and application.
    Window { request: String, desktop: DesktopView, right: String },
    /// Which element is meant, by its name; a chord of keys is as good.
    Element { task: String, view: WindowView, right: Vec<String>, keys: Vec<String> },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prompts {
    desktops: Vec<Desktop>,
    windows: Vec<Window>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Desktop {
    windows: Vec<Title>,
    prompts: Vec<WindowPrompt>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Title {
    title: String,
    application: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WindowPrompt {
    request: String,
    right: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Window {
    /// A recorded session.
    recording: String,
    /// The line of its journal, from 0, with the observation.
    line: usize,
    prompts: Vec<ElementPrompt>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ElementPrompt {
    task: String,
    right: Vec<String>,
    #[serde(default)]
    keys: Vec<String>,
}

/// All prompts.
pub(crate) fn all(recordings: &Path) -> Vec<Choice> {
    let Prompts { desktops, windows } =
        serde_json::from_str(include_str!("prompts.json")).expect("the prompts of this program");
    let mut choices = Vec::new();
    for Desktop { windows, prompts } in desktops {
        let windows: Vec<WindowInfo> =
            (1..).zip(&windows).map(|(number, title)| window(number, title)).collect();
        let desktop = DesktopView { windows, ..DesktopView::default() };
        for WindowPrompt { request, right } in prompts {
            choices.push(Choice::Window { request, desktop: desktop.clone(), right });
        }
    }
    let mut read: BTreeMap<String, BTreeMap<usize, WindowView>> = BTreeMap::new();
    for Window { recording, line, prompts } in windows {
        let views = read.entry(recording.clone()).or_insert_with(|| views(recordings, &recording));
        let view = views.get(&line).unwrap_or_else(|| panic!("{recording}: no window in line {line}"));
        for ElementPrompt { task, right, keys } in prompts {
            let known = view.elements().any(|element| right.contains(&element.name));
            assert!(known, "{recording}: no element {right:?}");
            choices.push(Choice::Element { task, view: view.clone(), right, keys });
        }
    }
    choices
}

/// The windows that a recorded session saw, by the line of its journal.
fn views(recordings: &Path, recording: &str) -> BTreeMap<usize, WindowView> {
    let home = tempfile::tempdir().expect("a folder");
    let store = SessionStore::at(home.path().join("sessions"), home.path().join("seals"));
    let folder = store.create(&SessionId(recording.to_owned())).expect("a folder of a session");
    let packed = File::open(recordings.join(format!("{recording}.jsonl.gz"))).expect("a recording");
    let mut journal = File::create(folder.journal_path()).expect("a journal");
    io::copy(&mut GzDecoder::new(packed), &mut journal).expect("a recording");
    let (mut views, mut line) = (BTreeMap::new(), 0);
    let mut take = |read: &deskhand_machine::record::JournalEntry| {
        if let JournalRecord::Event(record) = &read.record
            && let SessionEvent::Observed { observation: Observation::Window(view) } = &record.event
        {
            views.insert(line, WindowView { picture: None, ..view.clone() });
        }
        line += 1;
    };
    folder.read_lines(&mut take).expect("a journal");
    views
}

fn window(number: u32, title: &Title) -> WindowInfo {
    let root = title.application.to_lowercase().replace(' ', "-");
    WindowInfo {
        id: WindowId(number),
        title: title.title.clone(),
        app: AppInfo { name: title.application.clone(), root, pid: Some(1) },
        bounds: Rect::new(0, 0, 800, 600),
        kind: WindowKind::Normal,
        owner: None,
        active: number == 1,
        accessible: true,
        document: None,
        state: WindowState::default(),
        monitor: None,
    }
}

/// The title of a window with its application, as the small-model mode has it.
pub(crate) fn full_title(window: &WindowInfo) -> String {
    if window.title.to_lowercase().contains(&window.app.name.to_lowercase()) {
        return window.title.clone();
    }
    format!("{} - {}", window.title, window.app.name)
}

impl Choice {
    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::Window { .. } => Kind::Window,
            Self::Element { .. } => Kind::Element,
        }
    }

    pub(crate) fn wanted(&self) -> &str {
        match self {
            Self::Window { request, .. } => request,
            Self::Element { task, .. } => task,
        }
    }

    /// Returns `true` if the text that is nearest in meaning is the right one.
    pub(crate) fn nearest_is_right(&self, embedder: &Ranker) -> bool {
        let (texts, right): (Vec<String>, Vec<bool>) = match self {
            Self::Window { desktop, right, .. } => {
                desktop.windows.iter().map(full_title).map(|title| (title.clone(), title == *right)).unzip()
            }
            Self::Element { view, right, .. } => {
                let front = view.surfaces.last().expect("a window");
                let named = front.tree.elements.iter().filter(|element| !element.name.is_empty());
                named.map(|one| (format!("{} \"{}\"", one.role, one.name), right.contains(&one.name))).unzip()
            }
        };
        let near = embedder(self.wanted(), &texts).expect("numbers");
        let best = near.iter().zip(&right).max_by(|one, other| one.0.total_cmp(other.0));
        best.is_some_and(|(_, right)| *right)
    }
}
