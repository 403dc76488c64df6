//! The policy: rules over tools, applications and element names.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    command::Command,
    ids::{ElementId, WindowId},
    known_tools,
    observation::{Observation, WindowView},
    ui::{AppInfo, Element, Role, State, WindowInfo},
};

/// The decision of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Run it.
    Allow,
    /// Ask a person first.
    Ask,
    /// Never run it.
    Deny,
}

/// A rule. It matches if all its patterns match: `*` matches any text, `?` one character, `|` separates alternatives;
/// case-insensitive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Name of the tool.
    #[serde(default = "any")]
    pub tool: String,
    /// Application that is acted on: its display name or its short name.
    #[serde(default = "any")]
    pub application: String,
    /// Role of the target element, such as `push button`.
    #[serde(default = "any")]
    pub role: String,
    /// Name of the target: an element, a menu item, keys.
    #[serde(default = "any")]
    pub label: String,
    /// The decision if the rule matches.
    pub decision: Decision,
    /// The reason, shown to the agent and to the person who decides.
    #[serde(default)]
    pub reason: String,
}

fn any() -> String {
    "*".to_owned()
}

/// The policy. The first matching rule decides; without one the command is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// The rules, in order.
    pub rules: Vec<Rule>,
    /// Whether to ask a person if a model replies CONFIRM, and before actions that usually cannot be undone.
    pub safe_guard: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self { rules: Vec::new(), safe_guard: true }
    }
}

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
    /// The keys to press. Rules match them as a name too.
    pub keys: Option<String>,
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
        subject.keys = text(command, "keys");
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
        let keys = text(command, "keys").unwrap_or_default().to_lowercase();
        let typed = command.arguments.get("text").and_then(Value::as_str).unwrap_or_default();
        if keys.split_whitespace().any(activates) || typed.contains('\n') {
            self.focused(before, &keys, view);
        }
    }

    /// Sets the element that `keys` activate: the one focused by the commands before, else the one observed with focus.
    fn focused(&mut self, before: &[Command], keys: &str, view: &WindowView) {
        let mut element = view.elements().filter(|element| element.states.has(State::Focused)).last();
        let mut left_by = None;
        for command in before {
            if let Some(given) = id_text(command, "id").and_then(|id| shown(&id, view)) {
                (element, left_by) = (Some(given), None);
            }
            let keys = text(command, "keys").unwrap_or_default();
            left_by = keys.split_whitespace().find_map(|key| moves_focus(key, element)).or(left_by);
        }
        let chords: Vec<&str> = keys.split_whitespace().collect();
        let last = chords.iter().rposition(|chord| activates(chord)).unwrap_or(0);
        left_by = chords.iter().take(last).find_map(|chord| moves_focus(chord, element)).or(left_by);
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

/// The key, if it moves the focus to a control that was not named: Tab, or an arrow between buttons or menu items. In
/// harmless elements such as text and tables, an arrow stays inside.
fn moves_focus(key: &str, focused: Option<&Element>) -> Option<&'static str> {
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

/// Whether the key activates the focused element.
fn activates(key: &str) -> bool {
    matches!(key, "return" | "enter" | "space")
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

/// The policy's decision on a subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// The decision.
    pub decision: Decision,
    /// The rule as text; empty if no rule matches.
    pub why: String,
}

impl Policy {
    /// Decides by the first matching rule, then by the safe guard; allows otherwise.
    pub fn decide(&self, subject: &Subject) -> Ruling {
        let own = self.rules.iter().find(|rule| rule.matches(subject)).map(Rule::ruling);
        own.or_else(|| self.safe_guard.then(|| guard(subject)).flatten())
            .unwrap_or(Ruling { decision: Decision::Allow, why: String::new() })
    }

    /// Whether a rule may ask about or deny a command of this tool because of a name, so that the name must be known.
    pub fn depends_on_names(&self, tool: &str) -> bool {
        let own =
            |rule: &Rule| rule.label != "*" && rule.decision != Decision::Allow && rule.applies_to(tool);
        self.rules.iter().any(own) || (self.safe_guard && is_one_of(&PRESSES, tool))
    }
}

impl Rule {
    /// A rule that matches everything, to be narrowed.
    pub fn new(decision: Decision, reason: impl Into<String>) -> Self {
        Self { tool: any(), application: any(), role: any(), label: any(), decision, reason: reason.into() }
    }

    /// Whether the rule matches. Of several names, an ask or deny rule must match any, an allow rule all of them. An
    /// unknown role matches ask and deny rules only.
    pub fn matches(&self, subject: &Subject) -> bool {
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
        self.applies_to(&subject.tool) && application && labels && role
    }

    /// Whether the rule applies to the tool. Ask and deny rules for typing also apply to tools that enter text by other
    /// means; an allow rule must name these.
    fn applies_to(&self, tool: &str) -> bool {
        let as_typing = self.decision != Decision::Allow && LIKE_TYPING.contains(&tool);
        matches(&self.tool, tool) || (as_typing && matches(&self.tool, known_tools::TYPE))
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

/// What the safe guard asks about: names of actions that usually cannot be undone. The list is short because people
/// stop reading prompts that come too often.
const GUARDED: [(&str, &str); 5] = [
    (
        "Delete|Delete All|Delete Permanently*|Delete File*|Delete Folder*|Delete Account*|Empty Trash*|Erase*|Move to Trash|Uninstall*",
        "it deletes data",
    ),
    (
        "Don't Save|Don’t Save|Discard|Discard Changes*|Close without Saving|Exit without Saving|Quit without Saving",
        "unsaved changes would be lost",
    ),
    ("Overwrite*|Replace|Replace File*|Replace Existing*", "it may overwrite data"),
    (
        "Send|Send Now|Send Message|Send Email|Publish|Publish Now|Submit Order*|Place Order*|Buy|Buy Now|Pay|Pay Now",
        "it sends something to others and cannot be taken back",
    ),
    ("Shut Down*|Power Off*|Restart Now|Log Out*", "it ends the computer's session"),
];

/// The tools that enter text through the clipboard; ask and deny rules for typing apply to them too.
const LIKE_TYPING: [&str; 2] = [known_tools::PASTE, known_tools::WRITE_CLIPBOARD];
/// The tools that press whatever is at a position.
const PRESSES_PLACES: [&str; 2] = [known_tools::CLICK_PLACE, known_tools::DRAG_PLACES];
/// The arguments that hold positions.
const PLACES: [(&str, &str); 3] = [("x", "y"), ("start_x", "start_y"), ("end_x", "end_y")];
/// The tools that press an element by name.
const PRESSES: [&str; 7] = [
    known_tools::CLICK,
    known_tools::INVOKE,
    known_tools::VISIT,
    known_tools::SELECT,
    known_tools::PRESS_KEYS,
    known_tools::TYPE,
    known_tools::PASTE,
];

/// Roles of input fields and choices: clicking one has no effect beyond itself, whatever its name.
const HARMLESS: &str =
    "*text*|entry|paragraph|heading|label|document*|combo box|table cell|check box|radio button|page tab";

fn guard(subject: &Subject) -> Option<Ruling> {
    if subject.role.as_ref().is_some_and(|role| matches(HARMLESS, role)) {
        return None;
    }
    let asks = |why: &str| Ruling { decision: Decision::Ask, why: format!("safe guard: {why}") };
    if subject.tool == known_tools::RUN_COMMAND {
        return Some(asks("it runs a program"));
    }
    if subject.keys.as_ref().is_some_and(|keys| matches("shift+delete", keys)) {
        return Some(asks("it deletes data permanently"));
    }
    if !is_one_of(&PRESSES, &subject.tool) && !is_one_of(&PRESSES_PLACES, &subject.tool) {
        return None;
    }
    let fits = |labels: &str| {
        subject.labels.iter().any(|label| matches(labels, label.trim_end_matches(['.', '…', ' '])))
    };
    GUARDED.iter().find(|(labels, _)| fits(labels)).map(|(_, why)| asks(why))
}

/// Whether a tool is one of these, however a model spells its case.
fn is_one_of(names: &[&str], tool: &str) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(tool.trim()))
}

/// Whether a text matches a pattern: `|` separates alternatives, `*` matches any text, `?` one character;
/// case-insensitive.
pub fn matches(pattern: &str, text: &str) -> bool {
    let text: Vec<char> = text.trim().chars().flat_map(char::to_lowercase).collect();
    pattern.split('|').any(|pattern| {
        let pattern: Vec<char> = pattern.trim().chars().flat_map(char::to_lowercase).collect();
        glob(&pattern, &text)
    })
}

/// Backtracks to the last `*` only, so that the time is bounded by pattern times text.
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
