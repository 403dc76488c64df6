//! What rules are matched with: a command in the light of what the agent was shown.

use serde_json::Value;

use super::pattern::matches;
use crate::{
    command::Command,
    ids::{ElementId, WindowId},
    keys::{Key, KeyChord, NamedKey},
    observation::{Observation, WindowView},
    ui::{AppInfo, Element, Role, State, WindowInfo},
};

/// The arguments that hold positions.
const PLACES: [(&str, &str); 3] = [("x", "y"), ("start_x", "start_y"), ("end_x", "end_y")];

/// Roles of input fields and choices: clicking one has no effect beyond itself, whatever its name.
pub(super) const HARMLESS: &str =
    "*text*|entry|paragraph|heading|label|document*|combo box|table cell|check box|radio button|page tab";

/// The properties of a command that rules match.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subject {
    /// The tool.
    pub tool: String,
    /// Display name of the application; empty if there is none.
    pub application: String,
    /// The application's short name.
    pub application_root: String,
    /// Role of the element; `None` if there is no element or its role is unknown.
    pub role: Option<String>,
    /// Names of the targets: elements as the desktop names them, items and menu entries.
    pub labels: Vec<String>,
    /// The key chords to press, in order and in canonical form. Rules match each of them as a name, and all together. Text that
    /// is no chord is kept as it is; the tool refuses it.
    pub keys: Vec<String>,
    /// An element that the command names by id and that the agent was not shown.
    pub unknown: Option<String>,
}

impl Subject {
    /// The subject of a command, given what the agent was shown. An element is named as the desktop names it, not as
    /// the model does. Only for an element outside of the view the model's name is used, because the tool
    /// refuses an element with another name.
    pub fn of(command: &Command, observation: &Observation) -> Self {
        Self::after(&[], command, observation)
    }

    /// The same for a command that follows others without an observation in between: keys go to the element that
    /// these have focused.
    pub fn after(before: &[Command], command: &Command, observation: &Observation) -> Self {
        let mut subject = Self { tool: command.tool.clone(), ..Self::default() };
        match observation {
            Observation::Window(view) => subject.in_window(before, command, view),
            Observation::Desktop(view) => subject.on_desktop(command, &view.windows),
            // An agent without a window has no elements but may run programs.
            Observation::Agent(_) => subject.label(&text(command, "program").unwrap_or_default()),
        }
        let path = command.arguments.get("path").and_then(Value::as_array);
        subject.label(path.and_then(|path| path.last()).and_then(Value::as_str).unwrap_or_default());
        subject.label(&text(command, "item").unwrap_or_default());
        subject.keys = chords(command).iter().map(Said::text).collect();
        if subject.keys.len() > 1 {
            subject.keys.push(subject.keys.join(" "));
        }
        if subject.names().next().is_none() {
            subject.label(&text(command, "name").unwrap_or_default());
        }
        if !subject.labels.is_empty() {
            subject.unknown = None;
        }
        subject
    }

    /// Every text that the name pattern is matched against.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.labels.iter().chain(&self.keys).map(String::as_str)
    }

    fn in_window(&mut self, before: &[Command], command: &Command, view: &WindowView) {
        if let Some(surface) = view.surfaces.first() {
            self.on(&surface.window.app);
        }
        for name in ["id", "from", "to"] {
            let Some(said) = id_text(command, name) else { continue };
            match shown(&said, view) {
                Some(element) => {
                    self.role.get_or_insert_with(|| element.role.to_string());
                    self.label_of(element, view);
                }
                None => self.unknown = Some(said),
            }
        }
        for (x, y) in PLACES {
            let fraction = |name: &str| command.arguments.get(name).and_then(Value::as_f64);
            let (Some(x), Some(y)) = (fraction(x), fraction(y)) else { continue };
            match element_at(x, y, view) {
                Some(element) => {
                    self.role.get_or_insert_with(|| element.role.to_string());
                    self.label_of(element, view);
                }
                None => self.unknown = Some("known to be at that position".to_owned()),
            }
        }
        // Return and Space activate the focused element.
        let keys = chords(command);
        let typed = command.arguments.get("text").and_then(Value::as_str).unwrap_or_default();
        if keys.iter().any(Said::activates) || typed.contains('\n') {
            self.focused(before, &keys, view);
        }
    }

    /// Sets the element that `keys` activate: the one focused by the commands before, else the one observed with focus.
    fn focused(&mut self, before: &[Command], keys: &[Said], view: &WindowView) {
        let mut element = view.elements().filter(|element| element.states.has(State::Focused)).last();
        let mut left_by = None;
        for command in before {
            if let Some(given) = id_text(command, "id").and_then(|id| shown(&id, view)) {
                (element, left_by) = (Some(given), None);
            }
            left_by = chords(command).iter().find_map(|chord| chord.moves_focus(element)).or(left_by);
        }
        let last = keys.iter().rposition(Said::activates).unwrap_or(0);
        left_by = keys.iter().take(last).find_map(|chord| chord.moves_focus(element)).or(left_by);
        if let Some(key) = left_by {
            self.unknown = Some(format!("known to have the focus after {key}"));
        } else if let Some(element) = element {
            self.role.get_or_insert_with(|| element.role.to_string());
            self.label_of(element, view);
        }
    }

    fn on_desktop(&mut self, command: &Command, windows: &[WindowInfo]) {
        let id: Option<WindowId> = id_text(command, "id").and_then(|id| id.parse().ok());
        match windows.iter().find(|window| Some(window.id) == id) {
            Some(window) => {
                self.on(&window.app);
                self.label(&window.title);
            }
            None => {
                self.application = text(command, "name").unwrap_or_default();
                self.application_root.clone_from(&self.application);
            }
        }
    }

    fn on(&mut self, app: &AppInfo) {
        self.application.clone_from(&app.name);
        self.application_root.clone_from(&app.root);
    }

    /// Adds the name of an element; for an unnamed one that is pressed as a whole, the names of its descendants.
    fn label_of(&mut self, element: &Element, view: &WindowView) {
        const INSIDE_MAX: usize = 8;
        const WHOLE: [Role; 6] = [
            Role::LINK,
            Role::LIST_ITEM,
            Role::PUSH_BUTTON,
            Role::TABLE_CELL,
            Role::TOGGLE_BUTTON,
            Role::TREE_ITEM,
        ];
        self.label(&element.name);
        if element.name.trim().is_empty() && WHOLE.contains(&element.role) {
            let inside = view.surfaces.iter().flat_map(|surface| surface.tree.descendants(element.id));
            for inner in inside.take(INSIDE_MAX) {
                self.label(&inner.name);
            }
        }
    }

    fn label(&mut self, label: &str) {
        if !label.trim().is_empty() {
            self.labels.push(label.trim().to_owned());
        }
    }
}

/// A key chord as a model said it.
enum Said {
    Chord(KeyChord),
    /// No chord; the tool refuses it.
    Other(String),
}

/// The chords of a command, read as the tool reads them.
fn chords(command: &Command) -> Vec<Said> {
    let keys = text(command, "keys").unwrap_or_default();
    let said = |text: &str| match text.parse::<KeyChord>() {
        Ok(chord) => Said::Chord(chord.canonical()),
        Err(_) => Said::Other(text.to_owned()),
    };
    keys.split_whitespace().map(said).collect()
}

impl Said {
    fn text(&self) -> String {
        match self {
            Self::Chord(chord) => chord.to_string(),
            Self::Other(text) => text.clone(),
        }
    }

    fn key(&self) -> Option<Key> {
        match self {
            Self::Chord(chord) => Some(chord.key),
            Self::Other(_) => None,
        }
    }

    /// Whether it activates the focused element, with any modifiers.
    fn activates(&self) -> bool {
        matches!(self.key(), Some(Key::Named(NamedKey::Return | NamedKey::Space) | Key::Char(' ' | '\n')))
    }

    /// The key, if it moves the focus to a control that was not named: Tab, or an arrow between buttons or menu items. In
    /// harmless elements such as text and tables, an arrow stays inside.
    fn moves_focus(&self, focused: Option<&Element>) -> Option<&'static str> {
        use NamedKey::{Down, End, Home, Left, PageDown, PageUp, Right, Tab, Up};
        match self.key()? {
            Key::Named(Tab) => Some("Tab"),
            Key::Named(Up | Down | Left | Right | Home | End | PageUp | PageDown)
                if focused.is_some_and(|element| !matches(HARMLESS, element.role.name())) =>
            {
                Some("an arrow key")
            }
            Key::Named(_) | Key::Char(_) => None,
        }
    }
}

/// The element with an id in any of the forms that tools accept: `e17`, `17` or a number.
fn shown<'a>(said: &str, view: &'a WindowView) -> Option<&'a Element> {
    let digits = said.strip_prefix(['e', 'E']).unwrap_or(said);
    let id = digits.parse().ok().map(ElementId)?;
    view.elements().find(|element| element.id == id)
}

/// The element at these fractions of the window, as far as it was shown: the smallest actionable one, else the
/// smallest.
fn element_at(x: f64, y: f64, view: &WindowView) -> Option<&Element> {
    let point = view.surfaces.first()?.window.bounds.at_fraction(x, y)?;
    let surface = view.surfaces.iter().rev().find(|surface| surface.window.bounds.contains(&point))?;
    let covers = |element: &&Element| element.bounds.is_some_and(|bounds| bounds.contains(&point));
    let size = |element: &&Element| {
        let area = element.bounds.map_or(i64::MAX, |at| i64::from(at.width) * i64::from(at.height));
        (!element.role.is_interactive(), area, std::cmp::Reverse(element.depth))
    };
    surface.tree.elements.iter().filter(covers).min_by_key(size)
}

fn text(command: &Command, name: &str) -> Option<String> {
    let text = command.arguments.get(name)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn id_text(command: &Command, name: &str) -> Option<String> {
    text(command, name).or_else(|| command.arguments.get(name)?.as_u64().map(|id| id.to_string()))
}
