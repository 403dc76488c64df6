//! What a desktop in memory is made of, as plain data.

use deskhand_core::{
    geometry::{Rect, Screen},
    ids::ElementId,
    ui::{Pattern, Role, State, States, ValueRange, WindowKind},
};

use crate::sheet::FakeSheet;

/// What happens when a control is activated, a chord is pressed or a window is asked to close.
#[derive(Debug, Clone, Default)]
pub enum Behaviour {
    /// Nothing at all: an inert control.
    #[default]
    Nothing,
    /// The checked state of the control changes.
    Toggle,
    /// The control is selected among its siblings.
    Select,
    /// A window opens; a dialog belongs to the window of the control.
    Open(Box<FakeWindow>),
    /// The window of the control closes.
    CloseWindow,
    /// The owner of the dialog closes, and the dialog with it.
    CloseOwner,
    /// A control gets another name; the control itself where no key is given.
    Rename {
        /// The key of the control.
        key: Option<String>,
        /// Its new name.
        name: String,
    },
    /// A control gets another text.
    SetText {
        /// The key of the control.
        key: String,
        /// Its new text.
        text: String,
    },
    /// A control takes input, or does not; the control itself where no key is given.
    Enable {
        /// The key of the control.
        key: Option<String>,
        /// Whether it takes input.
        enabled: bool,
    },
    /// A control goes away; the control itself where no key is given.
    Remove {
        /// The key of the control.
        key: Option<String>,
    },
    /// A control comes into the window, after all that are there.
    Add(Box<FakeElement>),
    /// The window of the control, or its owner if it is a dialog, gets another title.
    Title(String),
    /// Moves the cursor of the sheet with this key to the cell or range that the control's text names.
    GoToCell {
        /// The key of the sheet.
        sheet: String,
    },
    /// Writes the sheets of the owner of the dialog to the path in an entry, as comma separated lines, closes
    /// the dialog and gives the owner a title in which `{file}` stands for the file's name.
    Save {
        /// The key of the entry.
        entry: String,
        /// The new title.
        title: String,
    },
    /// Happens after so many milliseconds of virtual time.
    After(u64, Box<Behaviour>),
    /// Several, in order.
    All(Vec<Behaviour>),
}

impl Behaviour {
    /// The same, after a delay.
    #[must_use]
    pub fn after(self, milliseconds: u64) -> Self {
        Self::After(milliseconds, Box::new(self))
    }
}

/// How a control answers to its accessibility action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Semantic {
    /// It acts like a click.
    #[default]
    Works,
    /// It says yes and does nothing.
    Ignored,
    /// It says no.
    Fails,
    /// It has none.
    NotOffered,
}

/// A control with its behaviours and children.
#[derive(Debug, Clone)]
pub struct FakeElement {
    /// How behaviours refer to it; unique within its application where it is used.
    pub key: String,
    /// What kind of control it is.
    pub role: Role,
    /// Its accessible name.
    pub name: String,
    /// Its text.
    pub text: Option<String>,
    /// Its numeric value.
    pub value: Option<ValueRange>,
    /// Its states without `Showing` and `Focused`, which the desktop knows.
    pub states: States,
    /// Where it is, from the top left of its window; laid out in rows where it is not said.
    pub bounds: Option<Rect<Screen>>,
    /// What it offers.
    pub patterns: Vec<Pattern>,
    /// What it holds. The children of menus and combo boxes show while these are open.
    pub children: Vec<FakeElement>,
    /// What a click does.
    pub on_click: Behaviour,
    /// What Return does in an entry.
    pub on_enter: Option<Behaviour>,
    /// How it answers to its accessibility action.
    pub semantic: Semantic,
    /// Whether real clicks reach it.
    pub deaf: bool,
    /// Whether a tool tip pops up when the pointer is moved onto it.
    pub tool_tip: bool,
    /// How many typed characters it loses, once.
    pub swallows: u32,
    /// The cells, for tables.
    pub sheet: Option<FakeSheet>,
}

impl FakeElement {
    /// A control as a toolkit would make it: enabled, visible, with the patterns of its role.
    pub fn new(role: Role, name: &str) -> Self {
        let mut states: States = [State::Enabled, State::Sensitive, State::Visible].into_iter().collect();
        if role.is_interactive() {
            states.insert(State::Focusable);
        }
        let (patterns, on_click): (&[Pattern], Behaviour) =
            if role == Role::CHECK_BOX || role == Role::TOGGLE_BUTTON || role == Role::CHECK_MENU_ITEM {
                states.insert(State::Checkable);
                (&[Pattern::Action], Behaviour::Toggle)
            } else if role == Role::ENTRY || role == Role::TEXT {
                states.insert(State::Editable);
                (&[Pattern::EditableText, Pattern::Text], Behaviour::Nothing)
            } else if role == Role::LIST_ITEM || role == Role::PAGE_TAB {
                states.insert(State::Selectable);
                (&[], Behaviour::Select)
            } else if role == Role::SPIN_BUTTON || role == Role::SLIDER {
                (&[Pattern::Value], Behaviour::Nothing)
            } else if role == Role::LIST || role == Role::LIST_BOX || role == Role::PAGE_TAB_LIST {
                (&[Pattern::Selection], Behaviour::Nothing)
            } else if role == Role::COMBO_BOX {
                (&[Pattern::Action, Pattern::Selection], Behaviour::Nothing)
            } else if role.is_interactive() {
                (&[Pattern::Action], Behaviour::Nothing)
            } else {
                (&[], Behaviour::Nothing)
            };
        let text = (role == Role::ENTRY || role == Role::TEXT).then(String::new);
        Self {
            key: String::new(),
            role,
            name: name.to_owned(),
            text,
            value: None,
            states,
            bounds: None,
            patterns: patterns.to_vec(),
            children: Vec::new(),
            on_click,
            on_enter: None,
            semantic: Semantic::Works,
            deaf: false,
            tool_tip: false,
            swallows: 0,
            sheet: None,
        }
    }

    /// With a key.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        key.clone_into(&mut self.key);
        self
    }

    /// With something that a click does.
    #[must_use]
    pub fn on_click(mut self, behaviour: Behaviour) -> Self {
        self.on_click = behaviour;
        self
    }

    /// With something that Return does.
    #[must_use]
    pub fn on_enter(mut self, behaviour: Behaviour) -> Self {
        self.on_enter = Some(behaviour);
        self
    }

    /// With text.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.text = Some(text.to_owned());
        self
    }

    /// With a value.
    #[must_use]
    pub fn value(mut self, current: f64, minimum: f64, maximum: f64) -> Self {
        self.value = Some(ValueRange { current, minimum, maximum, increment: 1.0 });
        self
    }

    /// With children.
    #[must_use]
    pub fn children(mut self, children: impl IntoIterator<Item = FakeElement>) -> Self {
        self.children.extend(children);
        self
    }

    /// With a state.
    #[must_use]
    pub fn state(mut self, state: State) -> Self {
        self.states.insert(state);
        self
    }

    /// That takes no input.
    #[must_use]
    pub fn disabled(mut self) -> Self {
        self.states.remove(State::Enabled);
        self.states.remove(State::Sensitive);
        self
    }

    /// That answers so to its accessibility action.
    #[must_use]
    pub fn semantic(mut self, semantic: Semantic) -> Self {
        self.semantic = semantic;
        if semantic == Semantic::NotOffered {
            self.patterns.retain(|pattern| *pattern != Pattern::Action);
        }
        self
    }

    /// That real clicks do not reach.
    #[must_use]
    pub fn deaf(mut self) -> Self {
        self.deaf = true;
        self
    }

    /// At a place in its window.
    #[must_use]
    pub fn at(mut self, x: i32, y: i32, width: i32, height: i32) -> Self {
        self.bounds = Some(Rect::new(x, y, width, height));
        self
    }

    /// With cells.
    #[must_use]
    pub fn sheet(mut self, sheet: FakeSheet) -> Self {
        self.patterns = vec![Pattern::Table, Pattern::Selection];
        self.sheet = Some(sheet);
        self
    }
}

/// A self-changing element, such as a clock, which no verdict may attribute to an action.
#[derive(Debug, Clone)]
pub struct Noise {
    /// The key of the control.
    pub key: String,
    /// The milliseconds between two changes.
    pub every_ms: u64,
    /// The names it cycles through.
    pub names: Vec<String>,
}

/// A window with its elements.
#[derive(Debug, Clone)]
pub struct FakeWindow {
    /// Its title.
    pub title: String,
    /// What it is for.
    pub kind: WindowKind,
    /// Where it is on the screen.
    pub bounds: Rect<Screen>,
    /// Whether it blocks the other windows of its application.
    pub modal: bool,
    /// Whether its elements can be seen.
    pub accessible: bool,
    /// The role of its root.
    pub role: Role,
    /// What it shows.
    pub elements: Vec<FakeElement>,
    /// What chords do in it, such as `ctrl+s`.
    pub chords: Vec<(String, Behaviour)>,
    /// The key of the button that Return presses.
    pub default_button: Option<String>,
    /// The key of the control that has the focus at first.
    pub focus: Option<String>,
    /// What closing does; the window closes where it is not said.
    pub on_close: Option<Behaviour>,
    /// What changes by itself in it.
    pub noise: Vec<Noise>,
    /// The milliseconds after which it goes away by itself, such as a splash screen.
    pub lives_ms: Option<u64>,
}

impl FakeWindow {
    /// A normal window.
    pub fn normal(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            kind: WindowKind::Normal,
            bounds: Rect::new(0, 0, 1200, 1000),
            modal: false,
            accessible: true,
            role: Role::FRAME,
            elements: Vec::new(),
            chords: Vec::new(),
            default_button: None,
            focus: None,
            on_close: None,
            noise: Vec::new(),
            lives_ms: None,
        }
    }

    /// A modal dialog.
    pub fn dialog(title: &str) -> Self {
        Self {
            kind: WindowKind::Dialog,
            bounds: Rect::new(300, 200, 500, 500),
            modal: true,
            role: Role::DIALOG,
            ..Self::normal(title)
        }
    }

    /// With elements.
    #[must_use]
    pub fn elements(mut self, elements: impl IntoIterator<Item = FakeElement>) -> Self {
        self.elements.extend(elements);
        self
    }

    /// With something that a chord does.
    #[must_use]
    pub fn chord(mut self, chord: &str, behaviour: Behaviour) -> Self {
        self.chords.push((chord.to_owned(), behaviour));
        self
    }

    /// At a place on the screen.
    #[must_use]
    pub fn at(mut self, x: i32, y: i32, width: i32, height: i32) -> Self {
        self.bounds = Rect::new(x, y, width, height);
        self
    }

    /// With the focus on a control.
    #[must_use]
    pub fn focus(mut self, key: &str) -> Self {
        self.focus = Some(key.to_owned());
        self
    }

    /// With a button that Return presses.
    #[must_use]
    pub fn default_button(mut self, key: &str) -> Self {
        self.default_button = Some(key.to_owned());
        self
    }

    /// With something that changes by itself.
    #[must_use]
    pub fn noise(mut self, key: &str, every_ms: u64, names: &[&str]) -> Self {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        self.noise.push(Noise { key: key.to_owned(), every_ms, names });
        self
    }
}

/// An application.
#[derive(Debug, Clone)]
pub struct FakeApp {
    /// The name that people use.
    pub name: String,
    /// Its root: the window class.
    pub root: String,
    /// The names under which it can be launched.
    pub programs: Vec<String>,
    /// Its windows; opened at once where it runs already, else when it is launched.
    pub windows: Vec<FakeWindow>,
    /// The milliseconds between a launch and its windows.
    pub launch_ms: u64,
    /// Whether a launch hands over to a running instance: the started process ends, and the window belongs to
    /// the process that runs already.
    pub single_instance: bool,
    /// A window without elements that shows before the first one.
    pub splash_ms: Option<u64>,
}

impl FakeApp {
    /// An application with windows.
    pub fn new(name: &str, root: &str, windows: impl IntoIterator<Item = FakeWindow>) -> Self {
        Self {
            name: name.to_owned(),
            root: root.to_owned(),
            programs: vec![name.to_owned()],
            windows: windows.into_iter().collect(),
            launch_ms: 300,
            single_instance: false,
            splash_ms: None,
        }
    }
}

/// One thing that really happened because of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truth {
    /// When, in milliseconds of virtual time.
    pub at_ms: u64,
    /// The control whose behaviour it was; none for chords.
    pub element: Option<ElementId>,
    /// What happened, in a word.
    pub what: &'static str,
}
