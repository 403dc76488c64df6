//! What a desktop in memory is made of, as plain data.

use deskhand_ui::{
    ElementCapability, Role, State, States, ValueRange, WindowKind,
    geometry::{Rect, Screen},
    ids::ElementId,
};

use crate::sheet::FakeSheet;

/// What happens when a control is activated, a chord is pressed or a window is asked to close.
#[derive(Debug, Clone, Default)]
pub enum Behaviour {
    /// Nothing: an inert control.
    #[default]
    Nothing,
    /// Toggles the checked state of the control.
    Toggle,
    /// Selects the control among its siblings.
    Select,
    /// Opens a window; a dialog belongs to the window of the control.
    Open(Box<FakeWindow>),
    /// Closes the window of the control.
    CloseWindow,
    /// Closes the owner of the dialog, and the dialog with it.
    CloseOwner,
    /// Renames a control; the control itself without a key.
    Rename {
        /// The key of the control.
        key: Option<String>,
        /// Its new name.
        name: String,
    },
    /// Changes the text of a control.
    SetText {
        /// The key of the control.
        key: String,
        /// Its new text.
        text: String,
    },
    /// Enables or disables a control; the control itself without a key.
    Enable {
        /// The key of the control.
        key: Option<String>,
        /// Whether it is enabled.
        enabled: bool,
    },
    /// Removes a control; the control itself without a key.
    Remove {
        /// The key of the control.
        key: Option<String>,
    },
    /// Adds a control at the end of the window.
    Add(Box<FakeElement>),
    /// Changes the title of the window of the control, or of its owner if it is a dialog.
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
    /// Writes a file.
    WriteFile {
        /// Its path.
        path: String,
        /// Its content.
        content: String,
    },
    /// Runs a behaviour after this many milliseconds of virtual time.
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

/// How a control responds to its accessibility action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Semantic {
    /// It acts like a click.
    #[default]
    Works,
    /// It reports success and does nothing.
    Ignored,
    /// It refuses.
    Fails,
    /// It has no action.
    NotOffered,
}

/// What an editor makes of typed text by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Corrects {
    /// It takes it as it is.
    #[default]
    Nothing,
    /// It turns small letters into capital ones.
    Case,
    /// It turns two hyphens into a dash.
    Dashes,
    /// It closes each opened bracket behind the caret.
    Brackets,
}

/// A control with its behaviours and children.
#[derive(Debug, Clone)]
pub struct FakeElement {
    /// The name by which behaviours refer to it; unique within its application if used.
    pub key: String,
    /// Its role.
    pub role: Role,
    /// Its accessible name.
    pub name: String,
    /// Its text.
    pub text: Option<String>,
    /// Its numeric value.
    pub value: Option<ValueRange>,
    /// Its states except `Showing` and `Focused`, which the desktop computes.
    pub states: States,
    /// Its bounds relative to its window; laid out in rows if absent.
    pub bounds: Option<Rect<Screen>>,
    /// Its patterns.
    pub patterns: Vec<ElementCapability>,
    /// Its children. Those of menus and combo boxes show while these are open.
    pub children: Vec<FakeElement>,
    /// The effect of a click.
    pub on_click: Behaviour,
    /// The effect of Return in an entry.
    pub on_enter: Option<Behaviour>,
    /// How it responds to its accessibility action.
    pub semantic: Semantic,
    /// Whether real clicks reach it.
    pub deaf: bool,
    /// The kind of the window of its tool tip, which opens when the pointer moves onto it.
    pub tool_tip: Option<WindowKind>,
    /// How many typed characters it drops, once.
    pub swallows: u32,
    /// What it makes of typed text.
    pub corrects: Corrects,
    /// Whether it tells where its caret is and what is selected.
    pub tells_caret: bool,
    /// The cells of a table.
    pub sheet: Option<FakeSheet>,
}

impl FakeElement {
    /// A control with the defaults of a toolkit: enabled, visible, with the patterns of its role.
    pub fn new(role: Role, name: &str) -> Self {
        let mut states: States = [State::Enabled, State::Sensitive, State::Visible].into_iter().collect();
        if role.is_interactive() {
            states.insert(State::Focusable);
        }
        let (patterns, on_click): (&[ElementCapability], Behaviour) =
            if role == Role::CHECK_BOX || role == Role::TOGGLE_BUTTON || role == Role::CHECK_MENU_ITEM {
                states.insert(State::Checkable);
                (&[ElementCapability::Action], Behaviour::Toggle)
            } else if role == Role::ENTRY || role == Role::TEXT {
                states.insert(State::Editable);
                (&[ElementCapability::EditableText, ElementCapability::Text], Behaviour::Nothing)
            } else if role == Role::LIST_ITEM || role == Role::PAGE_TAB {
                states.insert(State::Selectable);
                (&[], Behaviour::Select)
            } else if role == Role::SPIN_BUTTON || role == Role::SLIDER {
                (&[ElementCapability::Value], Behaviour::Nothing)
            } else if role == Role::LIST || role == Role::LIST_BOX || role == Role::PAGE_TAB_LIST {
                (&[ElementCapability::Selection], Behaviour::Nothing)
            } else if role == Role::COMBO_BOX {
                (&[ElementCapability::Action, ElementCapability::Selection], Behaviour::Nothing)
            } else if role.is_interactive() {
                (&[ElementCapability::Action], Behaviour::Nothing)
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
            tool_tip: None,
            swallows: 0,
            corrects: Corrects::Nothing,
            tells_caret: true,
            sheet: None,
        }
    }

    /// Sets the key.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        key.clone_into(&mut self.key);
        self
    }

    /// Sets the effect of a click.
    #[must_use]
    pub fn on_click(mut self, behaviour: Behaviour) -> Self {
        self.on_click = behaviour;
        self
    }

    /// Sets the effect of Return.
    #[must_use]
    pub fn on_enter(mut self, behaviour: Behaviour) -> Self {
        self.on_enter = Some(behaviour);
        self
    }

    /// Sets the text.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.text = Some(text.to_owned());
        self
    }

    /// Sets the value.
    #[must_use]
    pub fn value(mut self, current: f64, minimum: f64, maximum: f64) -> Self {
        self.value = Some(ValueRange { current, minimum, maximum, increment: 1.0 });
        self
    }

    /// Sets the children.
    #[must_use]
    pub fn children(mut self, children: impl IntoIterator<Item = FakeElement>) -> Self {
        self.children.extend(children);
        self
    }

    /// Adds a state.
    #[must_use]
    pub fn state(mut self, state: State) -> Self {
        self.states.insert(state);
        self
    }

    /// Disables it.
    #[must_use]
    pub fn disabled(mut self) -> Self {
        self.states.remove(State::Enabled);
        self.states.remove(State::Sensitive);
        self
    }

    /// Sets how it responds to its accessibility action.
    #[must_use]
    pub fn semantic(mut self, semantic: Semantic) -> Self {
        self.semantic = semantic;
        if semantic == Semantic::NotOffered {
            self.patterns.retain(|pattern| *pattern != ElementCapability::Action);
        }
        self
    }

    /// Makes it unreachable for real clicks.
    #[must_use]
    pub fn deaf(mut self) -> Self {
        self.deaf = true;
        self
    }

    /// Sets its bounds relative to its window.
    #[must_use]
    pub fn at(mut self, x: i32, y: i32, width: i32, height: i32) -> Self {
        self.bounds = Some(Rect::new(x, y, width, height));
        self
    }

    /// Sets the cells.
    #[must_use]
    pub fn sheet(mut self, sheet: FakeSheet) -> Self {
        self.patterns = vec![ElementCapability::Table, ElementCapability::Selection];
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
    /// The names that it cycles through.
    pub names: Vec<String>,
}

/// A window with its elements.
#[derive(Debug, Clone)]
pub struct FakeWindow {
    /// Its title.
    pub title: String,
    /// Its kind.
    pub kind: WindowKind,
    /// Its bounds on the screen.
    pub bounds: Rect<Screen>,
    /// Whether it blocks the other windows of its application.
    pub modal: bool,
    /// Whether it exposes its elements.
    pub accessible: bool,
    /// The role of its root.
    pub role: Role,
    /// Its elements.
    pub elements: Vec<FakeElement>,
    /// The effects of chords in it, such as `ctrl+s`.
    pub chords: Vec<(String, Behaviour)>,
    /// The key of the button that Return presses.
    pub default_button: Option<String>,
    /// The key of the control that is focused first.
    pub focus: Option<String>,
    /// The effect of closing; closes the window if absent.
    pub on_close: Option<Behaviour>,
    /// Its self-changing elements.
    pub noise: Vec<Noise>,
    /// The milliseconds after which it closes by itself, such as a splash screen.
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

    /// Sets the elements.
    #[must_use]
    pub fn elements(mut self, elements: impl IntoIterator<Item = FakeElement>) -> Self {
        self.elements.extend(elements);
        self
    }

    /// Adds the effect of a chord.
    #[must_use]
    pub fn chord(mut self, chord: &str, behaviour: Behaviour) -> Self {
        self.chords.push((chord.to_owned(), behaviour));
        self
    }

    /// Sets its bounds on the screen.
    #[must_use]
    pub fn at(mut self, x: i32, y: i32, width: i32, height: i32) -> Self {
        self.bounds = Rect::new(x, y, width, height);
        self
    }

    /// Sets the focused control.
    #[must_use]
    pub fn focus(mut self, key: &str) -> Self {
        self.focus = Some(key.to_owned());
        self
    }

    /// Sets the button that Return presses.
    #[must_use]
    pub fn default_button(mut self, key: &str) -> Self {
        self.default_button = Some(key.to_owned());
        self
    }

    /// Adds a self-changing element.
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
    /// The display name.
    pub name: String,
    /// Its application root: the window class.
    pub root: String,
    /// The names by which it can be launched.
    pub programs: Vec<String>,
    /// Its windows; open from the start if it is running, else after a launch.
    pub windows: Vec<FakeWindow>,
    /// The milliseconds between a launch and its windows.
    pub launch_ms: u64,
    /// Whether a launch hands over to a running instance: the started process exits, and the window belongs to the
    /// process that already runs.
    pub single_instance: bool,
    /// A splash screen without elements that shows before the first window.
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

/// Something that really happened because of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truth {
    /// When, in milliseconds of virtual time.
    pub at_ms: u64,
    /// The control with the behaviour; `None` for chords.
    pub element: Option<ElementId>,
    /// What happened, as one word.
    pub what: &'static str,
}
