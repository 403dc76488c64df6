//! A random desktop with injected faults.

use deskhand_desktop_fake::{Behaviour, FakeApp, FakeDesktop, FakeElement, FakeSheet, FakeWindow, Semantic};
use deskhand_machine::{
    record::{JournalEntry, JournalRecord},
    session::Effect,
};
use deskhand_ui::{
    Role,
    ids::{ElementId, WindowId},
};

use super::{Counts, chance::Chance};

/// The keys of controls that a safe guard asks about.
const GUARDED: [&str; 3] = ["delete", "send", "discard"];
/// A part of the window titles of each application.
const APPS: [&str; 3] = ["Notes", "Mail", "Paint"];
/// A launch delay longer than a tool waits for a window.
const LATE_MS: u64 = 45_000;

/// A desktop with initial faults.
pub(super) struct Stage {
    pub(super) desktop: FakeDesktop,
    /// The guarded controls, with their keys.
    pub(super) guarded: Vec<(&'static str, ElementId)>,
    /// Faulty controls, with their fault.
    odd: Vec<(ElementId, &'static str)>,
    late: bool,
    silenced: Option<WindowId>,
    chance: Chance,
    /// Faults per 1000 effects.
    trouble: usize,
}

fn button(
    chance: &mut Chance,
    name: &str,
    key: &str,
    does: Behaviour,
) -> (FakeElement, Option<&'static str>) {
    let element = FakeElement::new(Role::PUSH_BUTTON, name).key(key);
    match chance.below(16) {
        0 => (element, Some("inert control")),
        1 => (element.on_click(does).disabled(), Some("disabled control")),
        2 => (element.on_click(does).semantic(Semantic::Ignored), Some("control that ignores its action")),
        3 => (element.on_click(does).semantic(Semantic::Fails), Some("control that fails")),
        4 => (element.on_click(does).deaf(), Some("control that ignores clicks")),
        5 => (element.on_click(does.after(900)), Some("slow control")),
        6 => (element.on_click(Behaviour::Remove { key: None }), Some("control that goes away")),
        _ => (element.on_click(does), None),
    }
}

fn tells(text: &str) -> Behaviour {
    Behaviour::SetText { key: "log".to_owned(), text: text.to_owned() }
}

fn options() -> FakeWindow {
    FakeWindow::dialog("Options of Notes").elements([
        FakeElement::new(Role::CHECK_BOX, "Spelling"),
        FakeElement::new(Role::PUSH_BUTTON, "OK").key("ok").on_click(Behaviour::CloseWindow),
        FakeElement::new(Role::PUSH_BUTTON, "Cancel").on_click(Behaviour::CloseWindow),
    ])
}

impl Stage {
    pub(super) fn new(mut chance: Chance) -> Self {
        let mut odd = Vec::new();
        let mut make = |name: &str, key: &'static str, does: Behaviour| {
            let (element, wrong) = button(&mut chance, name, key, does);
            odd.extend(wrong.map(|wrong| (key, wrong)));
            element
        };
        let notes = FakeWindow::normal("Notes").elements([
            FakeElement::new(Role::ENTRY, "Subject").key("subject"),
            FakeElement::new(Role::CHECK_BOX, "Urgent"),
            FakeElement::new(Role::TEXT, "Body").key("body"),
            make("Save", "save", Behaviour::Title("saved in Notes".to_owned())),
            make("Delete", "delete", tells("deleted")),
            make("Options…", "options", Behaviour::Open(Box::new(options()))),
            make("Rename", "rename", Behaviour::Rename { key: None, name: "Renamed".to_owned() }),
            FakeElement::new(Role::LIST, "Folders")
                .children(["Inbox", "Work"].map(|name| FakeElement::new(Role::LIST_ITEM, name))),
            FakeElement::new(Role::TABLE, "Figures")
                .sheet(FakeSheet::of(&[&["a", "b"], &["1", "2"]]))
                .at(10, 600, 300, 100),
            FakeElement::new(Role::LABEL, "Log").key("log").text("nothing yet"),
        ]);
        let mail = FakeWindow::normal("Mail")
            .elements([
                FakeElement::new(Role::ENTRY, "To").key("to"),
                make("Send", "send", tells("sent")),
                make("Discard", "discard", tells("discarded")),
                FakeElement::new(Role::PUSH_BUTTON, "Draft").key("shifty").on_click(tells("kept")),
                FakeElement::new(Role::LABEL, "Log").key("log").text("nothing yet"),
            ])
            .noise("shifty", 700, &["Draft", "Archive", "Outbox"]);
        let paint = FakeWindow::normal("Paint").elements([
            FakeElement::new(Role::PUSH_BUTTON, "Brush").on_click(tells("painted")),
            FakeElement::new(Role::LABEL, "Log").key("log"),
        ]);
        odd.push(("shifty", "control that renames itself"));
        let mut paint = FakeApp::new("Paint", "paint", [paint]);
        paint.launch_ms = chance.pick(&[300, 800, 4_000, LATE_MS]);
        paint.splash_ms = chance.percent(30).then_some(200);
        let late = paint.launch_ms == LATE_MS;
        let notes = FakeApp::new("Notes", "notes", [notes]);
        let mail = FakeApp::new("Mail", "mail", [mail]);
        let desktop = FakeDesktop::new([notes, mail], [paint]);
        let odd = odd.into_iter().map(|(key, wrong)| (desktop.find_key(key).unwrap(), wrong)).collect();
        let trouble = chance.pick(&[0, 30, 90, 200]);
        let guarded = GUARDED.map(|key| (key, desktop.find_key(key).unwrap())).to_vec();
        Self { desktop, guarded, odd, late, silenced: None, chance, trouble }
    }

    /// Perhaps injects a fault before the effect in a line is performed.
    pub(super) fn meddle(&mut self, desktop: &FakeDesktop, line: &JournalEntry, counts: &mut Counts) {
        let JournalRecord::Effect(record) = &line.record else { return };
        let mut acted_on = None;
        match &record.effect {
            Effect::Call { command } => {
                let id = command.arguments.get("id").and_then(|id| id.as_str());
                acted_on = id.and_then(|id| id.strip_prefix('e')?.parse().ok()).map(ElementId);
                for (_, wrong) in self.odd.iter().filter(|(id, _)| Some(*id) == acted_on) {
                    counts.note("fault", wrong);
                }
                if self.late && command.arguments.get("name").is_some_and(|name| name == "Paint") {
                    counts.note("fault", "delayed window");
                }
            }
            Effect::Observe { .. } => {}
            Effect::AwaitRequest
            | Effect::Rank { .. }
            | Effect::Retrieve { .. }
            | Effect::Ask { .. }
            | Effect::AskUser { .. }
            | Effect::AwaitApproval { .. }
            | Effect::Delegate { .. }
            | Effect::Finish { .. } => return,
        }
        if self.chance.per_mille(self.trouble) {
            let fault = self.fault(desktop, acted_on);
            counts.note("fault", fault.unwrap_or("none: there was nothing to break"));
        }
    }

    fn fault(&mut self, desktop: &FakeDesktop, acted_on: Option<ElementId>) -> Option<&'static str> {
        let app = self.chance.pick(&APPS);
        let window = desktop.find_window(app);
        match self.chance.below(20) {
            0..2 => {
                desktop.break_window(window?);
                Some("window closes")
            }
            2..4 => {
                window?;
                while let Some(window) = desktop.find_window(app) {
                    desktop.break_window(window);
                }
                Some("application vanishes")
            }
            4..8 => {
                let dialog = FakeWindow::dialog(&format!("Notice of {app}")).elements([
                    FakeElement::new(Role::LABEL, "Something happened"),
                    FakeElement::new(Role::PUSH_BUTTON, "OK").on_click(Behaviour::CloseWindow),
                    FakeElement::new(Role::PUSH_BUTTON, "Close all").on_click(Behaviour::CloseOwner),
                ]);
                desktop.open(window?, &dialog);
                Some("modal dialog opens")
            }
            8..16 => {
                desktop.break_element(acted_on?);
                Some("stale control")
            }
            16..19 => match self.silenced.take() {
                Some(window) => {
                    desktop.set_answering(window, true);
                    Some("application responds again")
                }
                None => {
                    desktop.set_answering(window?, false);
                    self.silenced = window;
                    Some("application does not respond")
                }
            },
            _ if self.chance.percent(40) => {
                desktop.break_display();
                Some("display gone")
            }
            _ => None,
        }
    }
}
