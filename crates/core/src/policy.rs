//! What may be done: rules over tools, applications and the names of elements.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    command::Command,
    ids::{ElementId, WindowId},
    observation::{Observation, WindowView},
    ui::{AppInfo, Element, Role, State, WindowInfo},
};

/// What a rule decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It is run.
    Allow,
    /// A person is asked first.
    Ask,
    /// It is never run.
    Deny,
}

/// One rule. Its patterns must all fit: `*` stands for any text, `?` for one character, `|` stands between alternatives,
/// case does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The name of the tool.
    #[serde(default = "any")]
    pub tool: String,
    /// The application that is acted on: its name as people know it, or its short name.
    #[serde(default = "any")]
    pub application: String,
    /// The role of the element that is acted on: `push button`.
    #[serde(default = "any")]
    pub role: String,
    /// The name of what is acted on: an element, a menu item, keys.
    #[serde(default = "any")]
    pub label: String,
    /// What follows.
    pub decision: Decision,
    /// Why, for the agent and the person who is asked.
    #[serde(default)]
    pub reason: String,
}

fn any() -> String {
    "*".to_owned()
}

/// What may be done. The first rule that fits decides; what no rule speaks of is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// The rules, in order.
    pub rules: Vec<Rule>,
    /// Whether a person is asked when a model says CONFIRM, and before what usually cannot be undone.
    pub safe_guard: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self { rules: Vec::new(), safe_guard: true }
    }
}

/// What a command is about, as rules see it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subject {
    /// The tool.
    pub tool: String,
    /// The application that is acted on, as people know it; empty where none is.
    pub application: String,
    /// The application's short name.
    pub application_root: String,
    /// The role of the element; none where there is no element, or it is not known.
    pub role: Option<String>,
    /// The names of what is acted on: of elements as the desktop shows them, of items and menu entries.
    pub labels: Vec<String>,
    /// The keys that are pressed. Rules take them for a name too.
    pub keys: Option<String>,
    /// An element that the command names by its id alone, and that the agent was not shown.
    pub unknown: Option<String>,
}

impl Subject {
    /// What a command is about, as far as the agent was shown it. The name of an element is the one that the desktop
    /// shows, not the one that the model says; the model's is taken for an element that is not in the view, because the
    /// tool refuses an element of another name.
    pub fn of(command: &Command, observation: &Observation) -> Self {
        Self::after(&[], command, observation)
    }

    /// The same for a command that follows others without a look between them: keys press what those have given the
    /// focus to.
    pub fn after(before: &[Command], command: &Command, observation: &Observation) -> Self {
        let mut subject = Self { tool: command.tool.clone(), ..Self::default() };
        match observation {
            Observation::Window(view) => subject.in_window(before, command, view),
            Observation::Desktop(view) => subject.on_desktop(command, &view.windows),
            // An agent without a window has no elements, but may run programs.
            Observation::Agent(_) => subject.label(&text(command, "program").unwrap_or_default()),
        }
        let path = command.arguments.get("path").and_then(Value::as_array);
        subject.label(path.and_then(|path| path.last()).and_then(Value::as_str).unwrap_or_default());
        subject.label(&text(command, "item").unwrap_or_default());
        subject.keys = text(command, "keys");
        if subject.names().next().is_none() {
            subject.label(&text(command, "name").unwrap_or_default());
        }
        if !subject.labels.is_empty() {
            subject.unknown = None;
        }
        subject
    }

    /// Everything that the pattern for a name is held against.
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
            match lies_at(x, y, view) {
                Some(element) => {
                    self.role.get_or_insert_with(|| element.role.to_string());
                    self.label_of(element, view);
                }
                None => self.unknown = Some("known to lie at that place".to_owned()),
            }
        }
        // Return and the space bar press what has the focus.
        let keys = text(command, "keys").unwrap_or_default().to_lowercase();
        let typed = command.arguments.get("text").and_then(Value::as_str).unwrap_or_default();
        if keys.split_whitespace().any(presses) || typed.contains('\n') {
            self.focused(before, &keys, view);
        }
    }

    /// What has the focus when `keys` press it: what the commands before gave it to, else what was seen to have it.
    fn focused(&mut self, before: &[Command], keys: &str, view: &WindowView) {
        let mut element = view.elements().filter(|element| element.states.has(State::Focused)).last();
        let mut left_by = None;
        for command in before {
            if let Some(given) = id_text(command, "id").and_then(|id| shown(&id, view)) {
                (element, left_by) = (Some(given), None);
            }
            let keys = text(command, "keys").unwrap_or_default();
            left_by = keys.split_whitespace().find_map(|key| leaves(key, element)).or(left_by);
        }
        let chords: Vec<&str> = keys.split_whitespace().collect();
        let last = chords.iter().rposition(|chord| presses(chord)).unwrap_or(0);
        left_by = chords.iter().take(last).find_map(|chord| leaves(chord, element)).or(left_by);
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

    /// The name of an element; of one that has none and is pressed as a whole, the names of what lies in it.
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

/// The key, where it gives the focus to a control that nobody has named: Tab, and an arrow between buttons or the items of
/// a menu. In what is harmless, a text or a table, an arrow moves to more of the same.
fn leaves(key: &str, focused: Option<&Element>) -> Option<&'static str> {
    match key.to_lowercase().as_str() {
        "tab" | "shift+tab" => Some("Tab"),
        "up" | "down" | "left" | "right" | "home" | "end"
            if focused.is_some_and(|element| !matches(HARMLESS, element.role.name())) =>
        {
            Some("an arrow key")
        }
        _ => None,
    }
}

/// Whether a key presses what has the focus.
fn presses(key: &str) -> bool {
    matches!(key, "return" | "enter" | "space")
}

/// The element with an id as the tools read it: `e17`, `17` or a number.
fn shown<'a>(said: &str, view: &'a WindowView) -> Option<&'a Element> {
    let digits = said.strip_prefix(['e', 'E']).unwrap_or(said);
    let id = digits.parse().ok().map(ElementId)?;
    view.elements().find(|element| element.id == id)
}

/// What a press at these fractions of the window meets, as far as it was shown: the smallest element there that can be
/// acted on, else the smallest.
fn lies_at(x: f64, y: f64, view: &WindowView) -> Option<&Element> {
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

/// What a policy says of a subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// What follows.
    pub decision: Decision,
    /// The rule in words; empty where none fits.
    pub why: String,
}

impl Policy {
    /// What the rules say: the first that fits, then the safe guard's own, else it is allowed.
    pub fn decide(&self, subject: &Subject) -> Ruling {
        let own = self.rules.iter().find(|rule| rule.fits(subject)).map(Rule::ruling);
        own.or_else(|| self.safe_guard.then(|| guard(subject)).flatten())
            .unwrap_or(Ruling { decision: Decision::Allow, why: String::new() })
    }

    /// Whether something of this tool may be asked about or denied because of its name, so that the name must be known.
    pub fn looks_at_names(&self, tool: &str) -> bool {
        let own = |rule: &Rule| rule.label != "*" && rule.decision != Decision::Allow && rule.is_about(tool);
        self.rules.iter().any(own) || (self.safe_guard && matches(PRESSES, tool))
    }
}

impl Rule {
    /// A rule of one decision that fits everything, to be narrowed.
    pub fn new(decision: Decision, reason: impl Into<String>) -> Self {
        Self { tool: any(), application: any(), role: any(), label: any(), decision, reason: reason.into() }
    }

    /// Whether it is about this. A rule that asks or denies fits when one of several names does, a rule that allows only
    /// when all of them do; and a role that is not known fits the former and not the latter.
    pub fn fits(&self, subject: &Subject) -> bool {
        let allows = self.decision == Decision::Allow;
        let mut names = subject.names().peekable();
        let labels = match names.peek() {
            None => self.label == "*",
            Some(_) if allows => names.all(|name| matches(&self.label, name)),
            Some(_) => names.any(|name| matches(&self.label, name)),
        };
        let role = match &subject.role {
            Some(role) => matches(&self.role, role),
            None => self.role == "*" || !allows,
        };
        let application = matches(&self.application, &subject.application)
            || matches(&self.application, &subject.application_root);
        self.is_about(&subject.tool) && application && labels && role
    }

    /// Whether it is about a tool. What is like typing is asked about and denied as typing is; to be allowed it must be
    /// named itself.
    fn is_about(&self, tool: &str) -> bool {
        let as_typing = self.decision != Decision::Allow && LIKE_TYPING.contains(&tool);
        matches(&self.tool, tool) || (as_typing && matches(&self.tool, TYPES))
    }

    fn ruling(&self) -> Ruling {
        let why = if self.reason.is_empty() { self.to_string() } else { self.reason.clone() };
        Ruling { decision: self.decision, why }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("tool", &self.tool),
            ("application", &self.application),
            ("role", &self.role),
            ("label", &self.label),
        ];
        let decision = match self.decision {
            Decision::Allow => "allow",
            Decision::Ask => "ask",
            Decision::Deny => "deny",
        };
        f.write_str(decision)?;
        for (name, pattern) in parts.into_iter().filter(|(_, pattern)| *pattern != "*") {
            write!(f, " {name} `{pattern}`")?;
        }
        Ok(())
    }
}

/// What the safe guard asks about first: what usually cannot be undone, by the names that applications give it. Few on
/// purpose, because a question too many is answered without reading.
const GUARDED: [(&str, &str); 5] = [
    (
        "Delete|Delete All|Delete Permanently*|Delete File*|Delete Folder*|Delete Account*|Empty Trash*|Erase*|Move to Trash|Uninstall*",
        "it deletes something",
    ),
    (
        "Don't Save|Don’t Save|Discard|Discard Changes*|Close without Saving|Exit without Saving|Quit without Saving",
        "what is not saved would be lost",
    ),
    ("Overwrite*|Replace|Replace File*|Replace Existing*", "it may overwrite something"),
    (
        "Send|Send Now|Send Message|Send Email|Publish|Publish Now|Submit Order*|Place Order*|Buy|Buy Now|Pay|Pay Now",
        "it goes out to others and cannot be taken back",
    ),
    ("Shut Down*|Power Off*|Restart Now|Log Out*", "it ends the work of the whole computer"),
];

/// The tool that runs programs.
const RUN_COMMAND: &str = "run_command";
/// The tool that types.
const TYPES: &str = "type_text";
/// The tools that bring a text where typing would, by way of the clipboard: who must not type must not do that either.
const LIKE_TYPING: [&str; 2] = ["paste_text", "write_clipboard"];
/// The tools that press whatever lies at a place.
const PRESSES_PLACES: &str = "click_on_coordinates|drag_on_coordinates";
/// The arguments that name places.
const PLACES: [(&str, &str); 3] = [("x", "y"), ("start_x", "start_y"), ("end_x", "end_y")];
/// The tools that press something by its name.
const PRESSES: &str = "click_element|invoke_action|visit|select|press_keys|type_text|paste_text";

/// The roles of what is written into or chosen, which do nothing when they are clicked, whatever their name.
const HARMLESS: &str =
    "*text*|entry|paragraph|heading|label|document*|combo box|table cell|check box|radio button|page tab";

fn guard(subject: &Subject) -> Option<Ruling> {
    if subject.role.as_ref().is_some_and(|role| matches(HARMLESS, role)) {
        return None;
    }
    let asks = |why: &str| Ruling { decision: Decision::Ask, why: format!("safe guard: {why}") };
    if subject.tool == RUN_COMMAND {
        return Some(asks("it runs a program"));
    }
    if subject.keys.as_ref().is_some_and(|keys| matches("shift+delete", keys)) {
        return Some(asks("it deletes something for good"));
    }
    if !matches(PRESSES, &subject.tool) && !matches(PRESSES_PLACES, &subject.tool) {
        return None;
    }
    let fits = |labels: &str| {
        subject.labels.iter().any(|label| matches(labels, label.trim_end_matches(['.', '…', ' '])))
    };
    GUARDED.iter().find(|(labels, _)| fits(labels)).map(|(_, why)| asks(why))
}

/// Whether a text fits a pattern: alternatives with `|`, `*` for any text, `?` for one character; case does not matter.
pub fn matches(pattern: &str, text: &str) -> bool {
    let text: Vec<char> = text.trim().chars().flat_map(char::to_lowercase).collect();
    pattern.split('|').any(|pattern| {
        let pattern: Vec<char> = pattern.trim().chars().flat_map(char::to_lowercase).collect();
        glob(&pattern, &text)
    })
}

/// Goes back to the last `*` only, so that it takes no more than pattern times text.
fn glob(pattern: &[char], text: &[char]) -> bool {
    let (mut p, mut t) = (0_usize, 0_usize);
    let mut back: Option<(usize, usize)> = None;
    while t < text.len() {
        match (pattern.get(p), text.get(t)) {
            (Some('*'), _) => {
                back = Some((p, t));
                p += 1;
            }
            (Some(wanted), Some(found)) if *wanted == '?' || wanted == found => {
                p += 1;
                t += 1;
            }
            _ => match &mut back {
                Some((star, from)) => {
                    *from += 1;
                    p = *star + 1;
                    t = *from;
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).is_none_or(|rest| rest.iter().all(|c| *c == '*'))
}
