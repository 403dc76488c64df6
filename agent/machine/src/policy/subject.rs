//! Subject that rules are matched with: a command in the light of the agent's observation.

use deskhand_ui::address::host_of_page;
use serde::Serialize;

use super::{
    flow::ValueFlow,
    keyed::Pressable,
    origin::{CommandValue, ValueKind, ValueOrigin},
    path::PathRoots,
    surroundings::TargetContext,
    values::address_now,
};
use crate::{
    command::ToolCommand,
    intent::{CommandAim, Does, JudgedElement},
    observation::Observation,
    secret,
};
use deskhand_ui::pattern::matches;
use deskhand_ui::{
    AppInfo, Element, ElementSource, InstalledApplication, Role, State, WindowInfo, WindowView,
    ids::ElementId,
    keys::{ChordKey, KeyChord, NamedKey},
};

/// Roles of input fields and choices: clicking one has no effect beyond itself, whatever its name.
pub(super) const HARMLESS: &str =
    "*text*|entry|paragraph|heading|label|document*|combo box|table cell|check box|radio button|page tab";

/// The properties of a command that rules match.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Subject {
    /// The tool.
    pub tool: String,
    /// Effect of the tool.
    pub does: Does,
    /// Display name of the application; empty if there is none.
    pub application: String,
    /// The application's short name.
    pub application_root: String,
    /// The process that owns the window.
    pub pid: Option<u32>,
    /// Title of the window, dialog or pop-up that shows the target; empty if there is none.
    pub window: String,
    /// Hosts of the page that shows the target, and of the addresses that it opens.
    pub hosts: Vec<String>,
    /// `true` if the target is in a page with an undetermined host.
    pub host_unknown: bool,
    /// `true` if the window shows a page, so that it may have a field for addresses.
    pub shows_page: bool,
    /// The files that it opens or saves, and the paths that it types, absolute.
    pub paths: Vec<String>,
    /// Values that it names, with their origins.
    pub values: Vec<CommandValue>,
    /// Role of the element; `None` if there is no element or its role is unknown.
    pub role: Option<String>,
    /// Names of the targets: elements as the desktop names them, items and menu entries.
    pub labels: Vec<String>,
    /// The key chords to press, in order and in canonical form. Rules match each of them as a name, and all together.
    pub keys: Vec<String>,
    /// The arguments of the program that it starts, the files that it opens, or what a tool of another source is given, in order.
    pub arguments: Vec<String>,
    /// Source of its tool, if that is none of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The program that it starts, if that is no installed application.
    pub stranger: Option<String>,
    /// The elements that the command is aimed at, as they were shown.
    pub elements: Vec<JudgedElement>,
    /// `true` if it presses Return, by a key or by a line break in a text.
    pub presses_return: bool,
    /// Surroundings of the element.
    pub surroundings: TargetContext,
    /// The recipients in the fields of the window, to whom its message goes when it is sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub standing: Vec<CommandValue>,
    /// The file that it writes or names, if that is run or read without being opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes_executed: Option<String>,
    /// `true` if it types into a field that may accept the location of a file.
    #[serde(skip)]
    pub types_place: bool,
    /// The file that it may replace, if the user has not named it and the session has not made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overwrites: Option<CommandValue>,
    /// The file that it opens, if that is in a place of secrets and the user has not named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opens_secret: Option<CommandValue>,
    /// The file of the document that the window shows, absolute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// `true` if that document is run or read without being opened.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub document_runs: bool,
    /// The descriptions of the targets, such as their tooltips.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub descriptions: Vec<String>,
    /// Elements that its keys may press without naming them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub may_press: Vec<Pressable>,
    /// `true` if its target is an editable text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub editable: bool,
    /// The message that it sends, if the user has dictated it to somebody whom the user has named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dictated: Option<String>,
    /// `true` if its labels were read in a picture at the place of its click.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drawn_there: bool,
    /// `true` if its keys end or paste a line in a terminal.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub feeds_terminal: bool,
    /// `true` if it deletes by a key the selection in a list of files or messages.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deletes_chosen: bool,
    /// The file that it opens where files are shown, if opening it runs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<String>,
    /// `true` if it enters a line where lines are run, though nothing there identifies a terminal.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub enters_line: bool,
    /// The application that it goes to, if a text from outside names that, and neither the user nor the plan does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<CommandValue>,
    /// The file that it gives to a page, if the user has not named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uploads: Option<CommandValue>,
    /// Place of the text that it enters into a password field, if the user has not provided it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fills_password: Option<String>,
    /// The name of what it presses, if a text from outside has that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told: Option<CommandValue>,
    /// The value that it carries away from where a step of a workflow has read it, if nobody was shown that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<ValueFlow>,
    /// An element that the command names by id and that the agent was not shown.
    pub unknown: Option<String>,
}

impl Subject {
    /// The subject of a command whose intent was read, given what the agent was shown. An element is named as the desktop
    /// names it, not as the model does. Only for an element outside of the view the model's name is used, because
    /// the tool refuses an element with another name.
    pub fn of(command: &ToolCommand, observation: &Observation) -> Self {
        Self::after(&[], command, observation)
    }

    /// The same for a command that follows others without an observation in between: keys go to the element that
    /// these have focused.
    pub fn after(before: &[ToolCommand], command: &ToolCommand, observation: &Observation) -> Self {
        let mut subject = Self::unaimed(command);
        match observation {
            Observation::Window(view) => subject.in_window(before, command, view),
            Observation::Desktop(view) => subject.on_desktop(command, &view.windows),
            // An agent without a window has no elements but may run programs.
            Observation::Agent(_) => {}
        }
        subject.keys = command.intent.chords().map(ToString::to_string).collect();
        if subject.keys.len() > 1 {
            subject.keys.push(subject.keys.join(" "));
        }
        for aimed in &command.intent.aims {
            match aimed {
                CommandAim::Path { names } => subject.label(names.last().map_or("", String::as_str)),
                CommandAim::Item { name } | CommandAim::Program { name } => subject.label(name),
                CommandAim::Files { files } => subject.arguments.extend(files.iter().cloned()),
                // These have been looked up, or are no names.
                CommandAim::Element { .. }
                | CommandAim::Name { .. }
                | CommandAim::Place { .. }
                | CommandAim::Keys { .. }
                | CommandAim::Text { .. }
                | CommandAim::Secret { .. }
                | CommandAim::Window { .. }
                | CommandAim::Replaces => {}
            }
        }
        if subject.names().next().is_none() {
            for aimed in &command.intent.aims {
                if let CommandAim::Name { name } = aimed {
                    subject.label(name);
                }
            }
        }
        if !subject.labels.is_empty() {
            subject.unknown = None;
        }
        subject
    }

    /// The subject of the same command on an element that is there now, for a last look before input goes out.
    pub fn live(command: &ToolCommand, element: &Element, inside: &[String]) -> Self {
        let mut subject = Self::unaimed(command);
        if let Some(judged) = &command.judged {
            subject.shows_page = judged.shows_page;
            subject.application.clone_from(&judged.application);
            subject.application_root.clone_from(&judged.application_root);
            subject.pid = judged.pid;
            subject.window.clone_from(&judged.window);
            subject.hosts.clone_from(&judged.hosts);
            subject.paths.clone_from(&judged.paths);
            subject.values.clone_from(&judged.values);
            // What stands in for an element that is gone may be in another page.
            let is_other =
                !judged.elements.is_empty() && judged.elements.iter().all(|one| one.id != element.id);
            // Something else may stand there by now.
            let text = element.text.as_deref().map(str::trim);
            subject.dictated =
                judged.dictated.clone().filter(|message| text.is_none_or(|text| text == message));
            subject.host_unknown = judged.host_unknown || (is_other && !judged.hosts.is_empty());
            subject.values.extend(address_now(&subject, judged, element));
        }
        subject.role = Some(element.role.to_string());
        subject.label(&element.name);
        inside.iter().for_each(|name| subject.label(name));
        subject
    }

    /// The subject of the same command with the files that its paths lead to by links, for a last look before it runs. `lead` tells
    /// where a path leads, if that is elsewhere.
    pub fn led(command: &ToolCommand, places: &PathRoots, lead: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut subject = Self::unaimed(command);
        let Some(judged) = &command.judged else { return subject };
        subject.application.clone_from(&judged.application);
        subject.application_root.clone_from(&judged.application_root);
        subject.window.clone_from(&judged.window);
        subject.labels.clone_from(&judged.names);
        subject.keys = command.intent.chords().map(ToString::to_string).collect();
        subject.hosts.clone_from(&judged.hosts);
        subject.role = judged.elements.first().map(|one| one.role.to_string());
        let led = |path: &String| lead(path).unwrap_or_else(|| path.clone());
        subject.paths = judged.paths.iter().map(led).collect();
        subject.document = judged.document.as_ref().map(led);
        subject.values.clone_from(&judged.values);
        let files = subject.values.iter_mut().filter(|value| value.kind == ValueKind::Path);
        for value in files {
            if let Some(elsewhere) = lead(&value.text) {
                // Whoever named the link has not named the file.
                (value.text, value.origin) = (elsewhere, ValueOrigin::Model);
            }
        }
        subject.types_place = true;
        subject.writes(command, places, &[]);
        subject
    }

    /// Creates the subject of a command without its targets.
    fn unaimed(command: &ToolCommand) -> Self {
        let presses =
            |chord: &KeyChord| matches!(chord.key, ChordKey::Named(NamedKey::Return) | ChordKey::Char('\n'));
        Self {
            tool: command.tool.clone(),
            does: command.intent.does,
            presses_return: command.intent.presses_return()
                || secret::presses_return(command)
                || command.intent.chords().any(presses),
            ..Self::default()
        }
    }

    /// Returns `true` if it has no effect beyond the field or the choice that it goes to, whatever its name is. A page can make any text a
    /// button, and what was found in a picture may be one.
    pub(super) fn is_harmless(&self) -> bool {
        let Some(role) = self.role.as_deref().filter(|role| matches(HARMLESS, role)) else { return false };
        let shown = [Role::PARAGRAPH, Role::HEADING, Role::LABEL].iter().any(|one| one.name() == role);
        let in_page = self.elements.first().is_some_and(|one| one.in_page);
        let may_be_button = role == Role::DRAWN_TEXT.name() || (in_page && shown && !self.editable);
        !(may_be_button || self.does == Does::Drag)
    }

    /// Returns `true` if it submits a form: by a button, by Return in a field, or by something that a page shows as a button.
    pub(super) fn submits(&self) -> bool {
        let shown = [
            Role::PUSH_BUTTON,
            Role::LINK,
            Role::TOGGLE_BUTTON,
            Role::ICON,
            Role::IMAGE,
            Role::SECTION,
            Role::PANEL,
            Role::STATIC,
        ];
        self.presses_return || shown.iter().any(|role| self.role.as_deref() == Some(role.name()))
    }

    /// Every text that the name pattern is matched against.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.labels.iter().chain(&self.keys).map(String::as_str)
    }

    fn in_window(&mut self, before: &[ToolCommand], command: &ToolCommand, view: &WindowView) {
        if let Some(surface) = view.surfaces.first() {
            self.on(&surface.window.app);
            let active = view.surfaces.iter().rev().find(|surface| surface.window.active);
            self.window.clone_from(&active.unwrap_or(surface).window.title);
        }
        for aimed in &command.intent.aims {
            match aimed {
                CommandAim::Element { id } => match shown(*id, view) {
                    Some(element) => self.element(element, view),
                    None => self.unknown = Some(id.to_string()),
                },
                CommandAim::Place { x, y } => match element_at(*x, *y, view) {
                    Some(element) => self.element(element, view),
                    None => self.unknown = Some("known to be at that position".to_owned()),
                },
                CommandAim::Name { .. }
                | CommandAim::Path { .. }
                | CommandAim::Item { .. }
                | CommandAim::Keys { .. }
                | CommandAim::Text { .. }
                | CommandAim::Secret { .. }
                | CommandAim::Window { .. }
                | CommandAim::Program { .. }
                | CommandAim::Files { .. }
                | CommandAim::Replaces => {}
            }
        }
        // Return and Space activate the focused element.
        let keys: Vec<&KeyChord> = command.intent.chords().collect();
        if keys.iter().any(|chord| activates(chord)) || self.presses_return {
            self.focused(before, &keys, view);
        }
        self.amounts_to(command, view);
    }

    /// Sets the element that `keys` activate: the one focused by the commands before, else the one observed with focus.
    fn focused(&mut self, before: &[ToolCommand], keys: &[&KeyChord], view: &WindowView) {
        let mut element = view.elements().filter(|element| element.states.has(State::Focused)).last();
        let mut left_by = None;
        for command in before {
            if let Some(given) = command.intent.elements().last().and_then(|id| shown(id, view)) {
                (element, left_by) = (Some(given), None);
            }
            left_by = command.intent.chords().find_map(|chord| moves_focus(chord, element)).or(left_by);
        }
        let last = keys.iter().rposition(|chord| activates(chord)).unwrap_or(0);
        left_by = keys.iter().take(last).find_map(|chord| moves_focus(chord, element)).or(left_by);
        if let Some(key) = left_by {
            self.unknown = Some(format!("known to have the focus after {key}"));
        } else if let Some(element) = element {
            self.element(element, view);
        }
    }

    fn on_desktop(&mut self, command: &ToolCommand, windows: &[WindowInfo]) {
        for aimed in &command.intent.aims {
            match aimed {
                CommandAim::Window { id } => {
                    if let Some(window) = windows.iter().find(|window| window.id == *id) {
                        self.on(&window.app);
                        self.window.clone_from(&window.title);
                        self.label(&window.title);
                    }
                }
                CommandAim::Program { name } => {
                    self.application.clone_from(name);
                    self.application_root.clone_from(name);
                }
                CommandAim::Element { .. }
                | CommandAim::Name { .. }
                | CommandAim::Place { .. }
                | CommandAim::Path { .. }
                | CommandAim::Item { .. }
                | CommandAim::Keys { .. }
                | CommandAim::Text { .. }
                | CommandAim::Secret { .. }
                | CommandAim::Files { .. }
                | CommandAim::Replaces => {}
            }
        }
    }

    /// An element that the agent was shown.
    fn element(&mut self, element: &Element, view: &WindowView) {
        self.role.get_or_insert_with(|| element.role.to_string());
        self.label_of(element, view);
        self.editable |= element.states.has(State::Editable);
        if !element.description.trim().is_empty() {
            self.descriptions.push(element.description.trim().to_owned());
        }
        let surface = view.surfaces.iter().find(|surface| surface.tree.find(element.id).is_some());
        if let Some(surface) = surface {
            self.surroundings = TargetContext::of(element.id, surface);
            self.window.clone_from(&surface.window.title);
            let page = surface.tree.page_of(element.id);
            if let Some(page) = page {
                let host = host_of_page(page);
                self.host_unknown |= host.is_none();
                self.hosts.extend(host);
            }
            self.elements.push(JudgedElement {
                id: element.id,
                role: element.role.clone(),
                name: element.name.clone(),
                window: surface.window.id,
                drawn: element.source != ElementSource::AtSpi,
                in_page: page.is_some(),
            });
        }
    }

    fn on(&mut self, app: &AppInfo) {
        self.application.clone_from(&app.name);
        self.application_root.clone_from(&app.root);
        self.pid = app.pid;
    }

    /// Adds the name of an element; for an unnamed one that is pressed as a whole, the names of its descendants.
    fn label_of(&mut self, element: &Element, view: &WindowView) {
        self.label(&element.name);
        if element.is_named_by_parts() {
            let inside = view.surfaces.iter().flat_map(|surface| surface.tree.descendants(element.id));
            for inner in inside.take(Element::PARTS_MAX) {
                self.label(&inner.name);
            }
        }
    }

    /// Notes whether the program that a command starts is an installed application; `None` if that is not known.
    #[must_use]
    pub(crate) fn among(mut self, applications: Option<&[InstalledApplication]>) -> Self {
        let (Does::Open, Some(applications)) = (self.does, applications) else { return self };
        let program = self.labels.first();
        self.stranger = program.filter(|name| !applications.iter().any(|one| one.is_named(name))).cloned();
        self
    }

    /// Returns the started command, as a person would type it.
    pub(super) fn command_line(&self) -> String {
        let words = self.labels.first().into_iter().chain(&self.arguments);
        words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    pub(super) fn label(&mut self, label: &str) {
        if !label.trim().is_empty() {
            self.labels.push(label.trim().to_owned());
        }
    }
}

/// A word of a command line, in quotes if it is not plain.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=+,@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{word}'") }
}

/// Returns `true` if a chord activates the focused element, with any modifiers.
pub(super) fn activates(chord: &KeyChord) -> bool {
    matches!(chord.key, ChordKey::Named(NamedKey::Return | NamedKey::Space) | ChordKey::Char(' ' | '\n'))
}

/// The key, if it moves the focus to a control that was not named: Tab, or an arrow between buttons or menu items. In
/// harmless elements such as text and tables, an arrow stays inside.
fn moves_focus(chord: &KeyChord, focused: Option<&Element>) -> Option<&'static str> {
    use NamedKey::{Down, End, Home, Left, PageDown, PageUp, Right, Tab, Up};
    match chord.key {
        ChordKey::Named(Tab) => Some("Tab"),
        ChordKey::Named(Up | Down | Left | Right | Home | End | PageUp | PageDown)
            if focused.is_some_and(|element| !matches(HARMLESS, element.role.name())) =>
        {
            Some("an arrow key")
        }
        ChordKey::Named(_) | ChordKey::Char(_) => None,
    }
}

fn shown(id: ElementId, view: &WindowView) -> Option<&Element> {
    view.elements().find(|element| element.id == id)
}

/// The element at these fractions of the window, as far as it was shown: the smallest actionable one, else the
/// smallest.
pub(crate) fn element_at(x: f64, y: f64, view: &WindowView) -> Option<&Element> {
    let point = view.surfaces.first()?.window.bounds.at_fraction(x, y)?;
    let surface = view.surfaces.iter().rev().find(|surface| surface.window.bounds.contains(&point))?;
    let covers = |element: &&Element| element.bounds.is_some_and(|bounds| bounds.contains(&point));
    let size = |element: &&Element| {
        let area = element.bounds.map_or(i64::MAX, |at| i64::from(at.width) * i64::from(at.height));
        (!element.role.is_interactive(), area, std::cmp::Reverse(element.depth))
    };
    surface.tree.elements.iter().filter(covers).min_by_key(size)
}
